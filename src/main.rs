//! The command: parses, runs one verb, prints errors, sets the exit code.

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory as _, Parser as _};
use whathappened::cli::{Cli, Command};
use whathappened::commands::{
    accuracy, arguments, batch, collect, completions, doctor, experiments, explain, features,
    import, init, lakes, man, node, question, report, rules, serve, sql, statement, store,
    upcoming,
};
use whathappened::error::Error;
use whathappened_model::terminal;

/// Reading makes small texts by the million in some threads and drops them in
/// another; this allocator gives them back.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Tells what is wrong with the arguments, without what would reach the terminal through one of them.
fn misused(reported: &clap::Error, typed: &[OsString]) -> ExitCode {
    if let Some((what, feature)) = features::lacking(typed) {
        let hint = format!("build it with `cargo build --release --features {feature}`");
        report_error(&format!("this build has no `{what}`"), &[hint]);
        return ExitCode::from(2);
    }
    let plain = reported.render().to_string();
    if let Some((what, hint)) = arguments::second_name(&plain) {
        report_error(&what, &[hint]);
        return ExitCode::from(2);
    }
    let is_clean = plain.chars().all(|sign| sign == '\n' || !sign.is_control());
    if is_clean {
        reported.exit();
    }
    eprint!("{}", terminal::lines(&plain));
    ExitCode::from(2)
}

fn main() -> ExitCode {
    let mut typed: Vec<OsString> = std::env::args_os().collect();
    let program = arguments::program(&typed);
    // Usage lines name the program by the first word.
    if let Some(called) = typed.first_mut() {
        *called = program.into();
    }
    let cli = match Cli::try_parse_from(arguments::verb_first(typed.clone())) {
        Ok(cli) => cli,
        Err(reported) if reported.use_stderr() => return misused(&reported, &typed),
        Err(help) => return printed(&help.render().ansi().to_string(), ExitCode::SUCCESS),
    };
    if asks_nothing(&cli) {
        return help(program);
    }
    log(&cli);
    if !matches!(cli.command, Some(Command::Serve(_)))
        && std::env::var_os("RUST_BACKTRACE").is_none()
    {
        std::panic::set_hook(Box::new(report_bug));
    }
    let is_bare = cli.command.is_none()
        && cli.question.experiment.is_none()
        && cli.question.input.from.is_empty();
    let is_quiet = typed.iter().any(|word| word == "--quiet" || word == "-q");
    // A statement that was cancelled may take its time to notice; nobody waits for it.
    let leaves_at_once = matches!(cli.command, Some(Command::Sql(_)));
    // Behind its report the service reads nothing.
    let is_of_service = matches!(cli.command, Some(Command::Statement(_)));
    let done = deep(move || {
        runtime().and_then(|runtime| {
            let done = runtime.block_on(run(cli));
            if leaves_at_once {
                runtime.shutdown_timeout(Duration::from_secs(1));
            }
            done
        })
    });
    if let Some(text) = lakes::traffic().filter(|_| !is_quiet && !is_of_service && done.is_ok()) {
        whathappened::note!("{text}");
    }
    match done {
        Ok(code) => ExitCode::from(code),
        // Whoever ended told why.
        Err(Error::Ended(code)) => ExitCode::from(code),
        // Whoever reads the output has enough of it.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let mut hints = error.hints();
            // As from cron: nothing was asked, and nothing piped in.
            if is_bare && matches!(error, Error::NothingPiped) {
                hints = vec![
                    USAGE.to_owned(),
                    format!("everything else: {program} --help"),
                ];
            }
            if is_of_a_name(&error)
                && let Some(verb) = arguments::mistyped_verb(&typed)
            {
                hints.insert(0, format!("did you mean the command {verb}?"));
            }
            let hints: Vec<String> = hints
                .iter()
                .map(|hint| arguments::with_own_options(hint))
                .collect();
            report_error(&error.to_string(), &hints);
            ExitCode::from(error.exit_code())
        }
    }
}

/// How to ask, for who asked nothing.
const USAGE: &str =
    "name an experiment: whathappened EXPERIMENT --from FOLDER, or pipe in the output of kubectl";

/// Whether nothing is asked, and nobody pipes anything in.
fn asks_nothing(cli: &Cli) -> bool {
    let question = &cli.question;
    let named = question.experiment.is_some() || !question.input.from.is_empty();
    cli.command.is_none() && !named && std::io::stdin().is_terminal()
}

fn help(program: &str) -> ExitCode {
    let mut command = Cli::command().bin_name(program);
    let help = command.render_help().ansi().to_string();
    printed(&help, ExitCode::from(2))
}

/// Help that cannot be written is an error, unless its reader has enough of it.
fn printed(text: &str, done: ExitCode) -> ExitCode {
    let mut out = anstream::AutoStream::auto(std::io::stdout()).lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            report_error(&format!("standard output: {error}"), &[]);
            ExitCode::from(1)
        }
        _ => done,
    }
}

/// Logs on stderr: for whoever works on the tool where `WHATHAPPENED_LOG` says
/// what, and for those who run the service.
fn log(cli: &Cli) {
    let served = match &cli.command {
        Some(Command::Serve(args)) => Some(args),
        _ => None,
    };
    let filter = tracing_subscriber::EnvFilter::try_from_env("WHATHAPPENED_LOG");
    let filter = match (filter, served) {
        (Ok(filter), _) => filter,
        (Err(_), Some(_)) => tracing_subscriber::EnvFilter::new("warn,whathappened=info"),
        (Err(_), None) => return,
    };
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        // It would be told on standard error, which is what cannot be written.
        .log_internal_errors(false)
        .with_writer(std::io::stderr);
    if served.is_some_and(|args| args.log_json) {
        log.json().flatten_event(true).init();
    } else {
        log.init();
    }
}

/// Bytes of stack for what nests as deep as a person writes it; only what is used
/// takes memory.
const STACK: usize = 1 << 30;

/// Runs something with a deep stack.
fn deep<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Error> + Send + 'static,
) -> Result<T, Error> {
    let thread = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(STACK)
        .spawn(work);
    let failed = |error| Error::Io {
        path: "starting a thread".to_owned(),
        error,
    };
    match thread.map_err(failed)?.join() {
        Ok(done) => done,
        // The hook told what broke.
        Err(_) => Err(Error::Ended(BROKE)),
    }
}

/// Tells what went wrong, and what helps: no secret, and nothing that a terminal obeys.
fn report_error(error: &str, hints: &[String]) {
    let error = whathappened_model::redact::redact(error);
    whathappened::note!(
        "{}error:{} {}",
        anstyle::AnsiColor::Red.on_default().bold(),
        anstyle::Reset,
        terminal::lines(&error)
    );
    for hint in hints {
        whathappened::note!(
            "{}hint:{} {}",
            anstyle::AnsiColor::Cyan.on_default().bold(),
            anstyle::Reset,
            terminal::lines(hint)
        );
    }
}

/// The exit code of a program with a bug (`EX_SOFTWARE` of sysexits.h).
const BROKE: u8 = 70;

/// What a person reads instead of a backtrace.
fn report_bug(panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("no message");
    let place = panic
        .location()
        .map(|at| format!(" at {at}"))
        .unwrap_or_default();
    let hint = format!(
        "this is a bug in whathappened, not a problem with your input; report it with this \
         line, the version ({}) and the output of RUST_BACKTRACE=1",
        env!("CARGO_PKG_VERSION")
    );
    report_error(&format!("whathappened crashed{place}: {what}"), &[hint]);
}

fn runtime() -> Result<tokio::runtime::Runtime, Error> {
    let failed = |error| Error::Io {
        path: "starting threads".to_owned(),
        error,
    };
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // Statements are optimised and run on these threads, too.
        .thread_stack_size(STACK / 4)
        .build()
        .map_err(failed)
}

/// Runs one verb; gives the exit code where nothing failed.
async fn run(cli: Cli) -> Result<u8, Error> {
    let done = match cli.command {
        Some(Command::Experiments(args)) => experiments::run(&args).await,
        Some(Command::Sql(args)) => Box::pin(sql::run(&args)).await,
        Some(Command::Statement(args)) => statement::run(&args).await,
        #[cfg(feature = "distributed")]
        Some(Command::Ballista(args)) => whathappened::commands::ballista::run(&args).await,
        Some(Command::Import(args)) => import::run(&args),
        Some(Command::Collect(args)) => collect::run(&args).await,
        Some(Command::Serve(args)) => serve::run(&args).await,
        Some(Command::Explain(args)) => explain::run(&args).await,
        Some(Command::Store(args)) => store::run(&args).await,
        Some(Command::Doctor(args)) => doctor::run(&args).await,
        Some(Command::Init(args)) => init::run(&args),
        Some(Command::Rules(args)) => rules::run(&args).await,
        Some(Command::Accuracy(args)) => accuracy::run(&args).await,
        Some(Command::Batch(args)) => batch::run(&args).await,
        Some(Command::Completions(args)) => completions::run(&args),
        Some(Command::Man(args)) => man::run(&args),
        Some(Command::Node(args)) => node::run(&args).await,
        Some(Command::Report(args)) => report::run(&args).await,
        Some(Command::Upcoming(args)) => return upcoming::run(&args).await,
        None => question::run(&cli.question).await,
    };
    done.map(|()| 0)
}

/// Whether it may come from a verb that was taken for a name.
fn is_of_a_name(error: &Error) -> bool {
    matches!(
        error,
        Error::UnknownName { .. }
            | Error::NoneLeft { .. }
            | Error::Misused { .. }
            | Error::NothingPiped
            | Error::Store(_)
    )
}

fn is_broken_pipe(error: &Error) -> bool {
    match error {
        Error::Render(error) => error.is_broken_pipe(),
        Error::Io { error, .. } => error.kind() == std::io::ErrorKind::BrokenPipe,
        _ => false,
    }
}
