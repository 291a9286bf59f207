//! `whathappened sql`

use std::io::{IsTerminal as _, Read as _};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::RecordBatch;
use futures::{FutureExt as _, StreamExt as _};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use whathappened_model::time::{Nanos, rfc3339};
use whathappened_store::Store;

use super::supervised::{self, Limits, Running};
use super::{arguments, clock, common, experiments, piped, settings, stored};
use crate::case::Rules;
use crate::cli::{InputArgs, OutputArgs};
use crate::config::{Config, parse_duration, parse_size};
use crate::error::Error;
use crate::render::{self, Format, RowWriter, Style, Tz};
#[cfg(feature = "distributed")]
use crate::sql::Ballista;
use crate::sql::prompt::{self, Command, Prompt, PromptInput};
use crate::sql::{
    LAST_DAY, Session, Statement, StoredTables, note_on_last_day, rests_on_explaining,
};

/// Runs SQL over the data that was read: statements, or an interactive prompt
///
/// Tables: events, objects, tenures, runs, experiments, coverage, incidents,
/// collateral.
/// Table functions: timeline('NAME') and why('NAME').
/// `whathappened sql '\d events' --from …` lists the columns and what they mean.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Statements, separated by semicolons; `-` reads them from standard input. Without any, a
    /// prompt opens if this is a terminal.
    #[arg(value_name = "STATEMENT")]
    pub statement: Option<String>,
    /// How much memory one statement may use, such as 512MiB or 4GiB.
    #[arg(long, value_name = "SIZE", default_value = "1GiB")]
    pub max_memory: String,
    /// Ballista's scheduler, df://HOST:PORT: what reads much of the lake given to --store runs on
    /// its executors. `[store] ballista` in the configuration and `WHATHAPPENED_BALLISTA` do the same.
    #[cfg(feature = "distributed")]
    #[arg(long, value_name = "URL")]
    pub ballista: Option<String>,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Runs the statements, or asks for them.
///
/// # Errors
/// See [`Error`].
pub async fn run(args: &Args) -> Result<(), Error> {
    let limits = limits(args)?;
    if args
        .statement
        .as_deref()
        .is_some_and(|text| text.trim().is_empty())
    {
        return Err(Error::misused(
            "the statement is empty",
            "write one, such as 'SELECT * FROM runs'; `whathappened sql help` lists the tables",
        ));
    }
    // What can be typed needs no data.
    let command = args.statement.as_deref().and_then(Command::parse);
    if command == Some(Command::Help) {
        return common::print(&format!("{}\n", prompt::HELP));
    }
    if !supervised::is_child() && supervised::is_possible() {
        return supervised::run(limits).await;
    }
    supervised::begin();
    // Without a statement, standard input holds the statements.
    let given = args.statement.as_deref().is_some_and(|text| text != "-");
    let input = if given {
        piped::beside(&args.input).await?
    } else {
        args.input.clone()
    };
    let args = &Args {
        input,
        ..args.clone()
    };
    let text = statements(args)?;
    let (session, stored) = match elsewhere(args).await? {
        Some(session) => (session, None),
        None => here(args).await?,
    };
    let runner = StatementRunner {
        session,
        stored,
        format: args.output.format,
        style: common::style(&args.output),
        quiet: args.input.quiet,
    };
    if args.output.tz != Tz::Utc && !args.input.quiet {
        note!("Times in SQL are in UTC; --tz does not change them.");
    }
    match text {
        Some(text) => runner.until_interrupted(&text).await,
        None => Box::pin(runner.prompt()).await,
    }
}

/// How long a statement may take where nothing is said.
const TIMEOUT: &str = "5m";

/// What one statement may take.
fn limits(args: &Args) -> Result<Limits, Error> {
    let wrong = |option: &str, text: &str, such: &str| {
        Error::misused(
            format!("{option} {text} is not valid"),
            format!("write a value such as {such}"),
        )
    };
    let timeout = args.input.live.timeout.as_deref().unwrap_or(TIMEOUT);
    let timeout = parse_duration(timeout)
        .and_then(|nanos| u64::try_from(nanos).ok())
        .ok_or_else(|| wrong("--timeout", timeout, "30s or 10m"))?;
    let memory = parse_size(&args.max_memory)
        .ok_or_else(|| wrong("--max-memory", &args.max_memory, "512MiB or 4GiB"))?;
    Ok(Limits {
        timeout: Duration::from_nanos(timeout),
        memory,
    })
}

/// Tables over recordings or the local store.
async fn here(args: &Args) -> Result<(Session, Option<UnexplainedStore>), Error> {
    let rules = common::rules(&args.input)?;
    if args.input.from.is_empty() {
        let config = settings::of_all(&args.input.stored, &args.input.live)?;
        let (store, _) = stored::refreshed(
            &config,
            &args.input,
            &stored::CaseScope::CLUSTERS,
            &rules,
            clock::now(),
        )
        .await?;
        let tables = StoredTables::new(store.root().to_owned(), Arc::clone(&rules));
        #[cfg(feature = "distributed")]
        let session = match on_ballista(args, &config)? {
            Some(ballista) => Session::on_ballista(tables, ballista)?,
            None => Session::of_store(tables)?,
        };
        #[cfg(not(feature = "distributed"))]
        let session = Session::of_store(tables)?;
        let rest = UnexplainedStore {
            store,
            config,
            rules,
        };
        Ok((session, Some(rest)))
    } else {
        let session = Session::new(Arc::new(common::recorded(&args.input, rules)?))?;
        Ok((session, None))
    }
}

/// The scheduler that is named, where one is.
#[cfg(feature = "distributed")]
fn on_ballista(args: &Args, config: &Config) -> Result<Option<Ballista>, Error> {
    let named = args.ballista.as_ref().or(config.store.ballista.as_ref());
    let Some(scheduler) = named else {
        return Ok(None);
    };
    // A little less than whoever watches this process allows: there is a job to be ended.
    let timeout = limits(args)?.timeout;
    let timeout = timeout.saturating_sub((timeout / 10).min(Duration::from_secs(2)));
    Ballista::at(scheduler, timeout).map(Some)
}

/// What a list of signals does not show, where somebody has signals of their own.
const AS_STORED: &str = "Signals in `events` are those that the rules knew when a fact was stored; answers, `links` and `why` use \
the current rules. Lines of machine logs that matched no signal at the time were not stored: `whathappened import` reads their files again.";

/// A store of which not every run need be explained.
struct UnexplainedStore {
    store: Store,
    config: Config,
    rules: Arc<Rules>,
}

impl UnexplainedStore {
    /// What a statement has to know of tables that do not cover all of the store.
    fn note(&self, text: &str) -> Result<Option<String>, Error> {
        let Some(latest) = self.store.latest()? else {
            return Ok(None);
        };
        let begin = latest.saturating_sub(LAST_DAY);
        let Some(note) = note_on_last_day(text, &rfc3339(begin)) else {
            return Ok(None);
        };
        let from = self.store.status()?.from;
        Ok(from.is_some_and(|from| from < begin).then_some(note))
    }

    /// Explains some of what is not yet where a statement asks for it; says what is left.
    async fn explain(&self, text: &str, quiet: bool) -> Result<(), Error> {
        let text = text.to_lowercase();
        if self.rules.own_signals && text.contains("signals") && !quiet {
            note!("{AS_STORED}");
        }
        if !quiet && let Some(note) = self.note(&text)? {
            note!("{note}");
        }
        if !rests_on_explaining(&text) {
            return Ok(());
        }
        let always = (Nanos::MIN, Nanos::MAX);
        let (store, config, rules) = (&self.store, &self.config, &self.rules);
        let bounds = (experiments::MOST, None);
        let done = experiments::explain(store, config, always, rules, bounds, quiet).await?;
        let hint = done.and_then(|done| done.hint());
        if let Some(hint) = hint.filter(|_| !quiet) {
            note!("{}.", arguments::with_own_options(&hint));
        }
        Ok(())
    }
}

/// Tables over a copy of a store on an object store, where one is named.
#[cfg(all(feature = "object-store", not(feature = "lake")))]
async fn elsewhere(args: &Args) -> Result<Option<Session>, Error> {
    let name = args
        .input
        .stored
        .store
        .as_deref()
        .and_then(|path| path.to_str());
    let Some(url) = name.filter(|name| name.contains("://")) else {
        return Ok(None);
    };
    let remote = crate::remote::Remote::open(url)?;
    Session::of_remote(remote).await.map(Some)
}

/// A lake is a store like others, whose index is on this machine.
#[cfg(not(all(feature = "object-store", not(feature = "lake"))))]
#[expect(
    clippy::unused_async,
    reason = "one signature with and without object stores"
)]
async fn elsewhere(_args: &Args) -> Result<Option<Session>, Error> {
    Ok(None)
}

/// The statements given, `None` where a person is to be asked.
fn statements(args: &Args) -> Result<Option<String>, Error> {
    let stdin = std::io::stdin();
    let records_there = args.input.from.iter().any(|path| path == "-");
    match args.statement.as_deref() {
        Some("-") | None if records_there => Err(Error::misused(
            "standard input cannot hold both the records and the statements",
            "give the statements as an argument",
        )),
        None if stdin.is_terminal() => Ok(None),
        Some("-") | None => {
            let mut text = String::new();
            let failed = |error| Error::Io {
                path: "standard input".to_owned(),
                error,
            };
            stdin.lock().read_to_string(&mut text).map_err(failed)?;
            Ok(Some(text))
        }
        Some(text) => Ok(Some(text.to_owned())),
    }
}

/// Every Ctrl-C from now on. They are heard on a thread of their own: a statement can keep
/// all threads of the engine so busy that none of them looks at signals.
fn interruptions() -> std::io::Result<watch::Receiver<()>> {
    let (reported, heard) = watch::channel(());
    let listening = tokio::runtime::Builder::new_current_thread()
        .enable_io()
        .build()?;
    let mut caught = {
        let _inside = listening.enter();
        signal(SignalKind::interrupt())?
    };
    std::thread::spawn(move || {
        listening.block_on(async {
            while caught.recv().await.is_some() && reported.send(()).is_ok() {}
        });
    });
    Ok(heard)
}

/// What a panic of the engine means.
fn too_large() -> Error {
    Error::halted(
        "the result of the statement is too large for the engine",
        "shorten its texts, or narrow it with WHERE",
    )
}

/// Runs statements and shows what they answer.
struct StatementRunner {
    session: Session,
    stored: Option<UnexplainedStore>,
    format: Format,
    style: Style,
    quiet: bool,
}

impl StatementRunner {
    /// Runs statements. What runs on other machines has to be told when nobody waits any more.
    async fn until_interrupted(&self, text: &str) -> Result<(), Error> {
        #[cfg(feature = "distributed")]
        if let Some(ballista) = self.session.ballista() {
            return tokio::select! {
                done = self.text(text) => done,
                _ = tokio::signal::ctrl_c() => {
                    ballista.cancel().await;
                    Err(Error::Ended(supervised::INTERRUPTED))
                }
            };
        }
        self.text(text).await
    }

    async fn text(&self, text: &str) -> Result<(), Error> {
        if let Some(command) = Command::parse(text) {
            return self.command(&command);
        }
        let statements = {
            // Taking it apart counts as much as answering it.
            let _running = Running::begin();
            Session::parse(text)?
        };
        if let Some(stored) = &self.stored {
            stored.explain(text, self.quiet).await?;
        }
        if statements.len() > 1 && matches!(self.format, Format::Parquet) {
            return Err(Error::Usage(
                "a Parquet file can hold the rows of one statement only".to_owned(),
            ));
        }
        for statement in statements {
            self.statement(statement).await?;
        }
        Ok(())
    }

    async fn statement(&self, statement: Statement) -> Result<(), Error> {
        let _running = Running::begin();
        // Some functions of the engine panic where their result is too large.
        let rows = AssertUnwindSafe(self.rows(statement)).catch_unwind().await;
        let rows = rows.unwrap_or_else(|_| Err(too_large()))?;
        self.count(rows);
        // That rows were left out is no matter of progress: it is said to those who asked for quiet, too.
        for row in self.session.damage() {
            note!("{}.", row.detail.unwrap_or_default());
        }
        Ok(())
    }

    async fn rows(&self, statement: Statement) -> Result<u64, Error> {
        let mut rows = self.session.run(statement).await?;
        let mut out = std::io::stdout().lock();
        let mut writer = RowWriter::new(&rows.schema(), self.format, &self.style, &mut out)?;
        // In a task of its own, so that Ctrl-C is heard however long a batch takes; the
        // task goes with the set.
        let (ready, mut batches) = tokio::sync::mpsc::channel(2);
        let mut working = tokio::task::JoinSet::new();
        working.spawn(async move {
            while let Some(batch) = rows.next().await {
                if ready.send(batch).await.is_err() {
                    break;
                }
            }
        });
        while let Some(batch) = batches.recv().await {
            writer.write(&batch.map_err(|error| self.session.failed(error))?)?;
        }
        if let Some(Err(broken)) = working.join_next().await {
            tracing::debug!("the statement broke: {broken}");
            return Err(too_large());
        }
        Ok(writer.finish()?)
    }

    fn count(&self, rows: u64) {
        if !self.quiet {
            note!("({rows} {})", if rows == 1 { "row" } else { "rows" });
        }
    }

    fn command(&self, command: &Command) -> Result<(), Error> {
        match command {
            Command::Quit => Ok(()),
            Command::Help => common::print(&format!("{}\n", prompt::HELP)),
            Command::Tables => self.show(&self.session.table_rows()?),
            Command::Columns(name) => self.show(&self.session.column_rows(name)?),
            Command::Unknown(word) => Err(Error::misused(
                format!("{word} is not a command"),
                "list the commands with: help",
            )),
        }
    }

    fn show(&self, batch: &RecordBatch) -> Result<(), Error> {
        let out = &mut std::io::stdout().lock();
        render::rows(
            &batch.schema(),
            std::slice::from_ref(batch),
            self.format,
            &self.style,
            out,
        )?;
        Ok(())
    }

    /// Asks until the person goes; a statement that fails ends nothing.
    async fn prompt(&self) -> Result<(), Error> {
        let failed = |error| Error::Io {
            path: "the terminal".to_owned(),
            error,
        };
        let mut prompt =
            Prompt::new(&self.session, prompt::data_folder().as_deref()).map_err(failed)?;
        if !self.quiet {
            note!(
                "Statements end with a semicolon; \\d lists the tables, help shows more, \\q quits."
            );
        }
        // Caught from now on: whatever else is done when Ctrl-C comes, it does not end the prompt.
        let mut interrupted = interruptions().map_err(failed)?;
        while let PromptInput::Text(text) = prompt.ask().map_err(failed)? {
            if Command::parse(&text) == Some(Command::Quit) {
                break;
            }
            // What came before this statement is not meant for it.
            interrupted.mark_unchanged();
            let done = tokio::select! {
                done = self.text(&text) => done,
                Ok(()) = interrupted.changed() => {
                    note!("cancelled");
                    continue;
                }
            };
            if let Err(error) = done {
                note!(
                    "{}error:{} {error}",
                    anstyle::AnsiColor::Red.on_default().bold(),
                    anstyle::Reset
                );
                for hint in error.hints() {
                    note!(
                        "{}hint:{} {hint}",
                        anstyle::AnsiColor::Cyan.on_default().bold(),
                        anstyle::Reset
                    );
                }
            }
        }
        Ok(())
    }
}
