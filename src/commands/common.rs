//! What the verbs share: opening a case, the style of the terminal, progress.

use std::io::{IsTerminal as _, Write as _};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tokio::signal::unix::{Signal, SignalKind, signal};
use whathappened_connectors::recording::{FileStatus, Input, Options, Summary};
use whathappened_core::resolve::Name;
use whathappened_model::connector::{Clock, Window};
use whathappened_model::terminal;
use whathappened_store::Store;

use super::{settings, stored};
use crate::case::{Case, Rules};
use crate::cli::{InputArgs, OutputArgs};
use crate::config::{Config, parse_duration};
use crate::error::Error;
use crate::fetch;
use crate::render::Style;
use crate::serve::collect::{self, CollectTargets};

/// What facts of recordings take in memory, with all that is made of them; beside it
/// stands what the program takes itself.
const HELD: u64 = 720 << 20;
/// Rejected records that the closing count shows one by one.
const SHOWN: usize = 5;

/// Opens what a question is about: the recordings that are named, else the
/// store after live sources were asked. `window` is the time that the person
/// named, if any.
///
/// # Errors
/// When a rule is wrong, not a single input could be read, or nothing bears the name.
pub async fn open(args: &InputArgs, about: &str, window: Window) -> Result<OpenedCase, Error> {
    named(about)?;
    let rules = rules(args)?;
    if args.from.is_empty() {
        return stored::open(args, about, window, rules).await;
    }
    Ok(OpenedCase {
        case: recorded(args, rules)?,
        stored: None,
    })
}

/// Nobody is asked for what can be no name.
///
/// # Errors
/// When the text can be the name of nothing.
pub fn named(text: &str) -> Result<(), Error> {
    match Name::flaw(text) {
        Some(flaw) => Err(Error::Usage(flaw.to_owned())),
        None => Ok(()),
    }
}

/// A case and the store that it is of, where it is of one.
#[derive(Debug)]
pub struct OpenedCase {
    /// The case.
    pub case: Case,
    /// Where its incidents are kept.
    pub stored: Option<Store>,
}

/// The rules that the options and the configuration name.
///
/// # Errors
/// When a rule is wrong.
pub fn rules(args: &InputArgs) -> Result<Arc<Rules>, Error> {
    let folder = match &args.rules {
        Some(folder) => Some(folder.clone()),
        None => settings::of_store(&args.stored)?.rules,
    };
    Ok(Arc::new(Rules::load(&own_rules(folder.as_deref())?)?))
}

/// Says of a named pipe that is silent that it is waited for.
pub fn waiting(quiet: bool) -> Option<fn(&str)> {
    let say: fn(&str) = |name| {
        note!(
            "Waiting for {}: it is a named pipe, and ends once its writer closes it.",
            terminal::line(name)
        );
    };
    (!quiet).then_some(say)
}

/// How long reading may take, where that is said.
///
/// # Errors
/// When it is no length of time.
pub fn read_time(text: Option<&str>) -> Result<Option<Duration>, Error> {
    let Some(text) = text else {
        return Ok(None);
    };
    let nanos = parse_duration(text).filter(|nanos| *nanos > 0);
    let nanos = nanos.and_then(|nanos| u64::try_from(nanos).ok());
    nanos
        .map(|nanos| Some(Duration::from_nanos(nanos)))
        .ok_or_else(|| {
            Error::misused(
                format!("--max-read-time {text} is not valid"),
                "write a value such as 30s or 2h",
            )
        })
}

/// Reads the recordings, with a bar on a terminal and a closing count.
///
/// # Errors
/// When not a single input could be read.
pub fn recorded(args: &InputArgs, rules: Arc<Rules>) -> Result<Case, Error> {
    let inputs = inputs(&args.from);
    let live = &args.live;
    if !args.quiet && (live.kubeconfig.is_some() || !live.contexts.is_empty()) {
        note!("No cluster is queried with --from: --context and --kubeconfig have no effect.");
    }
    let bar = bar(args.quiet);
    let defaults = Options::default();
    let options = Options {
        max_weight: Some(HELD),
        max_time: read_time(args.max_read_time.as_deref())?.or(defaults.max_time),
        waiting: waiting(args.quiet),
        ..defaults
    };
    let case = Case::read(&inputs, &options, rules, &mut |done, total| {
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    // What the error says need not be said twice.
    nothing_read(&case.summary)?;
    nothing_there(&case.summary, &args.from)?;
    if !args.quiet {
        let facts = case.counts.reported - case.counts.duplicates;
        let again = match case.counts.duplicates {
            0 => String::new(),
            again => format!(" ({again} more were reported again)"),
        };
        report(
            &case.summary,
            &format!("{} found{again}", count(facts, "fact")),
        );
    }
    Ok(case)
}

/// A number and what is counted: `1 run`, `8 runs`.
#[must_use]
pub fn count(number: u64, what: &str) -> String {
    let s = if number == 1 { "" } else { "s" };
    format!("{number} {what}{s}")
}

/// Writes to standard output.
///
/// # Errors
/// When it cannot be written; a reader who has enough is one of these.
pub fn print(text: &str) -> Result<(), Error> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Error::Io {
            path: "standard output".to_owned(),
            error,
        })
}

/// Paths as people name them; `-` is standard input.
#[must_use]
pub fn inputs(paths: &[String]) -> Vec<Input> {
    let input = |path: &String| match path.as_str() {
        "-" => Input::Stdin,
        path => Input::Path(path.into()),
    };
    paths.iter().map(input).collect()
}

/// Rules of the user's own folder, as (name, text).
///
/// # Errors
/// Names the file that cannot be read.
pub fn own_rules(folder: Option<&Path>) -> Result<Vec<(String, String)>, Error> {
    let Some(folder) = folder else {
        return Ok(Vec::new());
    };
    let failed = |path: &Path, error| Error::Io {
        path: path.display().to_string(),
        error,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if name.ends_with(".sql") || name.ends_with(".toml") {
            let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
            files.push((name.to_owned(), text));
        }
    }
    files.sort();
    Ok(files)
}

/// A bar of bytes on a terminal.
#[must_use]
pub fn bar(quiet: bool) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    };
    let bar = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template(
        "reading {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
    );
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// A bar of things that are done one after the other, on a terminal.
#[must_use]
pub fn counting(quiet: bool, what: &str) -> ProgressBar {
    let bar = bar(quiet);
    let style = ProgressStyle::with_template(&format!("{what} {{bar:30}} {{pos}} of {{len}}"));
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The closing count: what was read, kept, told again, rejected and why.
pub fn report(summary: &Summary, facts: &str) {
    let mut out = anstream::AutoStream::auto(std::io::stderr()).lock();
    // Nobody reads a closed stderr; there is nothing else to tell it to.
    let _closed = write_report(&mut out, summary, facts);
}

fn write_report(
    out: &mut dyn std::io::Write,
    summary: &Summary,
    facts: &str,
) -> std::io::Result<()> {
    let total = &summary.total;
    let records = count(total.records, "record");
    // The records add up; one record may tell several facts.
    let unused = total.irrelevant + total.left_out + total.rejected;
    let used = total.records.saturating_sub(unused);
    let mut line = format!("Read {records} from {}: {used} used", total.form);
    for (number, what) in [
        (total.irrelevant, "irrelevant"),
        (total.left_out, "log lines left out"),
        (total.rejected, "rejected"),
    ] {
        if number > 0 {
            line.push_str(&format!(", {number} {what}"));
        }
    }
    writeln!(out, "{line}; {facts}.")?;
    for file in &summary.files {
        match &file.status {
            FileStatus::Complete => {}
            FileStatus::Truncated(why) => writeln!(out, "  incomplete: {}: {why}", file.name)?,
            FileStatus::Failed(why) => writeln!(out, "  not used: {}: {why}", file.name)?,
        }
    }
    for record in summary.rejected.iter().take(SHOWN) {
        writeln!(out, "  rejected: {}: {}", record.origin, record.why)?;
    }
    let rest = total.rejected.saturating_sub(SHOWN as u64);
    if rest > 0 {
        writeln!(out, "  and {rest} more:")?;
        for (why, count) in &summary.reasons {
            writeln!(out, "    {count} × {why}")?;
        }
    }
    out.flush()
}

/// Whoever names a folder without files, or files without a byte, has named the wrong ones.
fn nothing_there(summary: &Summary, from: &[String]) -> Result<(), Error> {
    if summary.files.iter().any(|file| file.bytes > 0) || summary.total.records > 0 {
        return Ok(());
    }
    if from == ["-"] {
        return Err(Error::NothingPiped);
    }
    let name = |path: &String| match path.as_str() {
        "-" => "standard input".to_owned(),
        path => path.to_owned(),
    };
    let names: Vec<String> = from.iter().map(name).collect();
    let be = if names.len() == 1 { "is" } else { "are" };
    Err(Error::Usage(format!(
        "nothing could be read: {} {be} empty",
        names.join(", ")
    )))
}

/// An input of which nothing could be used is an error, not an empty answer.
///
/// # Errors
/// Names the files and why.
pub fn nothing_read(summary: &Summary) -> Result<(), Error> {
    match fetch::unusable(summary) {
        Some(why) => Err(Error::misused(
            why,
            "give logs, the output of kubectl, or what docs/files.md lists",
        )),
        None => Ok(()),
    }
}

/// Until Ctrl-C or SIGTERM, which count from this call on, whenever they are waited for.
pub fn stop_requested() -> impl Future<Output = ()> + Send {
    let heard = [SignalKind::interrupt(), SignalKind::terminate()].map(|kind| signal(kind).ok());
    async move {
        let [interrupted, terminated] = heard.map(next);
        tokio::select! {
            () = interrupted => {}
            () = terminated => {}
        }
    }
}

/// Until a signal comes; one that cannot be heard never does.
async fn next(heard: Option<Signal>) {
    match heard {
        Some(mut signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}

/// What a collector of this configuration collects.
///
/// # Errors
/// When the kubeconfig cannot be used.
pub async fn to_collect(config: &Config, clock: &Clock) -> Result<CollectTargets, Error> {
    let options = fetch::options(&config.kubernetes);
    let followed = config.kubernetes.enabled && collect::are_there(&options)?;
    let env = |name: &str| std::env::var(name).ok();
    Ok(CollectTargets {
        clusters: followed.then_some(options),
        sources: fetch::sources(config, &env, Clock::clone(clock)).await,
        ..CollectTargets::default()
    })
}

/// A number that differs from start to start and from machine to machine.
#[must_use]
pub fn seed(clock: &Clock) -> u64 {
    clock().unsigned_abs() ^ (u64::from(std::process::id()) << 32)
}

/// The style that the options and the terminal ask for.
#[must_use]
pub fn style(output: &OutputArgs) -> Style {
    let terminal = std::io::stdout().is_terminal();
    let color = match output.color {
        clap::ColorChoice::Always => true,
        clap::ColorChoice::Never => false,
        clap::ColorChoice::Auto => {
            let is_dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
            let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
            terminal && !is_dumb && !refused
        }
    };
    let columns = || {
        std::env::var("COLUMNS")
            .ok()
            .and_then(|text| text.parse().ok())
    };
    let width = output
        .width
        .or_else(terminal_width)
        .or_else(columns)
        .unwrap_or(100);
    Style {
        width,
        color,
        tz: output.tz,
        ..Style::default()
    }
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
