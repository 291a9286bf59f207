//! `whathappened <experiment>`

use std::io::{IsTerminal as _, Write};
use std::time::Duration;

use chrono::{DateTime, NaiveDateTime};
use whathappened_core::evidence::Row;
use whathappened_core::resolve::{Name, resolve};
use whathappened_model::connector::Window;
use whathappened_model::time::{Nanos, rfc3339};
use whathappened_store::{Limits, Store};

use super::common::{self, OpenedCase};
use super::{clock, output_file, owners, pager, piped};
use crate::answer::Answer;
use crate::case::Case;
use crate::cli::{InputArgs, OutputArgs};
use crate::config::{parse_duration, parse_local, parse_moment, parse_relative};
use crate::error::Error;
use crate::render::{Format, Style, Tz};
use crate::report::{self, Question};
use crate::{fetch, history, render};

/// The question's own arguments.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Experiment, workload, pod, or kind/[namespace/]name; `*` for everything.
    #[arg(value_name = "EXPERIMENT")]
    pub experiment: Option<String>,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Only runs that were active, and events that happened, at or after this time: RFC 3339, a date,
    /// a date and time, 15:20, today, yesterday, or 2h, 30m, 1d12h before the latest record.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what happened before this time; later records are not read.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Answer as of this time; later records are not read. The latest record by default.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Only incidents that affect this pod, and its own lines of the timeline.
    #[arg(long, value_name = "POD")]
    pub pod: Option<String>,
    /// Only this run: its number as shown in answers, or the beginning of its ID.
    #[arg(long, value_name = "NUMBER|ID")]
    pub run: Option<String>,
    /// Show the evidence for and against, and how each step is proven.
    #[arg(long)]
    pub explain: bool,
    /// Write the answer to this file.
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    pub file: Option<std::path::PathBuf>,
    /// Number of timeline lines to show, 0 for all; none by default, 30 with --explain.
    #[arg(long, value_name = "LINES", value_parser = lines, allow_negative_numbers = true)]
    pub timeline: Option<usize>,
    /// Ask again every 10 s, or at the interval given, and show the answer whenever it changes, until
    /// nothing is running under that name any more.
    #[arg(long, value_name = "TIME", num_args = 0..=1, require_equals = true, default_missing_value = "10s",
        conflicts_with = "file")]
    pub watch: Option<String>,
}

/// A number of lines as typed.
fn lines(text: &str) -> Result<usize, &'static str> {
    text.parse()
        .map_err(|_| "write 0 for all lines, or how many")
}

/// Answers the question.
///
/// # Errors
/// See [`Error`].
pub async fn run(args: &Args) -> Result<(), Error> {
    let piped = args.experiment.is_none();
    let input = if piped {
        of_pipe(args)
    } else {
        piped::beside(&args.input).await?
    };
    let args = &Args {
        input,
        ..args.clone()
    };
    let Some(every) = &args.watch else {
        return show(args, &ask(args, piped).await?);
    };
    if args.input.from.iter().any(|path| path == "-") {
        return Err(Error::misused(
            "standard input cannot be read again and again",
            "name files or folders with --from, or ask without --watch",
        ));
    }
    if every.parse::<u64>().is_ok() {
        return Err(Error::misused(
            format!("--watch={every} has no unit"),
            format!("write --watch={every}s or --watch={every}m"),
        ));
    }
    let every = parse_duration(every).and_then(|nanos| u64::try_from(nanos).ok());
    let every = every
        .filter(|nanos| *nanos >= 1_000_000_000)
        .ok_or_else(|| Error::misused("--watch needs a time of at least 1s", "write 10s or 1m"))?;
    watch(args, Duration::from_nanos(every)).await
}

/// Shows the answer whenever it is another one, until nothing is running under its name any more.
async fn watch(args: &Args, every: Duration) -> Result<(), Error> {
    let is_terminal = std::io::stdout().is_terminal();
    let mut last = Vec::new();
    loop {
        let answer = Box::pin(ask(args, false)).await?;
        let mut text = Vec::new();
        written(args, &answer, &mut text)?;
        if text != last {
            // A terminal is cleared; elsewhere one answer follows the other.
            if is_terminal {
                common::print("\x1b[2J\x1b[H")?;
            } else if !last.is_empty() && args.output.format == Format::Table {
                common::print("\n")?;
            }
            common::print(&String::from_utf8_lossy(&text))?;
            last = text;
        }
        if !answer.runs.iter().any(|run| run.state.goes_on()) {
            return Ok(());
        }
        tokio::time::sleep(every).await;
    }
}

/// Finds the answer.
async fn ask(args: &Args, piped: bool) -> Result<Answer, Error> {
    let experiment = args.experiment.as_deref().unwrap_or("*");
    let asked = |text: &Option<String>| {
        let text = text.as_deref();
        text.map(|text| moment(text, Some(clock::now()), args.output.tz))
            .transpose()
    };
    let mut window = Window {
        from: asked(&args.since)?,
        to: asked(&args.until)?,
    };
    // What counts from the latest record has no place in time before that is known.
    if args.input.from.is_empty() && !counts_back(&args.since) && !counts_back(&args.until) {
        in_order(window, args.output.tz)?;
    } else if in_order(window, args.output.tz).is_err() {
        window.from = None;
    }
    let OpenedCase { case, stored } = common::open(&args.input, experiment, window).await?;
    let tz = args.output.tz;
    let at = args
        .at
        .as_deref()
        .map(|text| moment(text, case.graph.now, tz))
        .transpose()?
        // Nothing is known of what comes after the last record.
        .map(|at| case.graph.now.map_or(at, |last| at.min(last)));
    let now = at.or(case.graph.now);
    if piped && case.summary.total.records == 0 {
        return Err(Error::NothingPiped);
    }
    let only = only_run(&case).filter(|_| piped);
    let time = |text: &Option<String>| {
        let read = if stored.is_some() {
            moment_of_store
        } else {
            moment
        };
        text.as_deref().map(|text| read(text, now, tz)).transpose()
    };
    let question = Question {
        name: only.unwrap_or_else(|| experiment.to_owned()),
        run: args.run.clone(),
        pod: args.pod.clone(),
        since: time(&args.since)?,
        until: time(&args.until)?,
        at,
    };
    let named = Window {
        from: question.since,
        to: question.until,
    };
    in_order(named, tz)?;
    let answer = report::answer(&case, &question).await;
    let mut answer = answer.map_err(|error| {
        let error = counted(error, &case);
        let owned = case.runs.iter();
        let owners: Vec<String> = owned
            .filter_map(|run| report::owner(&case.graph, run))
            .collect();
        owners::hinted(error, owners.iter().map(String::as_str))
    })?;
    if piped && has_no_evidence(&case) {
        let what = match case.summary.total.records {
            1 => "The line that was piped in was not".to_owned(),
            lines => format!("None of the {lines} lines that were piped in was"),
        };
        answer.notes.push(format!(
            "{what} recognised: pipe in the output of kubectl, the log of a program, or dmesg"
        ));
    }
    let snapshot = stored.as_ref().map(Store::snapshot).transpose()?;
    history::remember(&mut answer, &case, snapshot.as_ref())?;
    drop(snapshot);
    if args.output.format == Format::Html {
        let rows = render::rows_with_records(&answer, timeline_limit(args));
        answer.drawn.records = report::records(&case, rows)?;
    }
    keep(stored, args, &case, &answer);
    Ok(answer)
}

/// Which runs there are, where one is asked for that is none of them.
fn counted(error: Error, case: &Case) -> Error {
    let Error::UnknownRun { run, name } = error else {
        return error;
    };
    let found = resolve(&case.graph, &case.runs, &Name::parse(&name));
    let runs = common::count(found.runs.len() as u64, "run");
    let unknown = Error::UnknownRun {
        run: run.clone(),
        name: name.clone(),
    };
    Error::NoneLeft {
        why: format!("{name:?} has no run {run:?}: it has {runs}"),
        hint: unknown.hints().join("; "),
    }
}

/// Whether a time is a distance before the latest record.
fn counts_back(text: &Option<String>) -> bool {
    text.as_deref().and_then(parse_duration).is_some()
}

/// Refuses a time that ends before it begins.
fn in_order(window: Window, tz: Tz) -> Result<(), Error> {
    let (Some(from), Some(to)) = (window.from, window.to) else {
        return Ok(());
    };
    if from < to {
        return Ok(());
    }
    let (from, to) = (tz.rfc3339(&rfc3339(from)), tz.rfc3339(&rfc3339(to)));
    Err(Error::misused(
        format!("--since ({from}) is not before --until ({to})"),
        "give the earlier time to --since",
    ))
}

fn style(args: &Args) -> Style {
    let mut style = common::style(&args.output);
    style.explain = args.explain;
    style.timeline_limit = timeline_limit(args);
    style
}

fn written(args: &Args, answer: &Answer, out: &mut dyn Write) -> Result<(), Error> {
    Ok(render::answer(
        answer,
        args.output.format,
        &style(args),
        out,
    )?)
}

/// Shows the answer, or writes it to a file.
fn show(args: &Args, answer: &Answer) -> Result<(), Error> {
    let mut style = style(args);
    if let Some(file) = &args.file {
        return output_file::write(file, |out| {
            // A file has no colours.
            style.color = false;
            render::answer(answer, args.output.format, &style, out)
        });
    }
    pager::show(&args.output, |out| {
        render::answer(answer, args.output.format, &style, out)
    })
}

/// Whether text was read of which no line means anything, and none bears a time: a question, or
/// what a tool prints for people.
fn has_no_evidence(case: &Case) -> bool {
    let evidence = &case.graph.evidence;
    let is_undated = |row: &Row| !row.has_signal && row.time.hi == Nanos::MAX;
    let has_steps = case.graph.pods.iter().any(|pod| pod.progress.is_some());
    !evidence.rows().is_empty()
        && evidence.objects.is_empty()
        && !has_steps
        && evidence.rows().iter().all(is_undated)
}

/// Without a name and a place to look it is about what is piped in.
fn of_pipe(args: &Args) -> InputArgs {
    let mut input = args.input.clone();
    if args.experiment.is_none() && input.from.is_empty() {
        input.from.push("-".to_owned());
    }
    input
}

/// The name of what a case is of, where it is one run.
fn only_run(case: &Case) -> Option<String> {
    let [run] = case.runs.as_slice() else {
        return None;
    };
    let (_, kind, namespace, name) = run.names(&case.graph);
    Some(match namespace {
        "" => format!("{kind}/{name}"),
        namespace => format!("{kind}/{namespace}/{name}"),
    })
}

/// The answer fits a screen where nobody asks for more; a page in Markdown is one to keep.
fn timeline_limit(args: &Args) -> Option<usize> {
    match args.timeline {
        Some(0) => None,
        Some(lines) => Some(lines),
        // Its rows are folded, and it keeps what fits.
        None if args.output.format == Format::Html => None,
        None if args.explain || args.output.format != Format::Table => Some(30),
        None => Some(0),
    }
}

/// Keeps the incidents for those who ask later. A question about less than
/// whole runs tells less than is known already; a store that may only be read
/// keeps nothing.
fn keep(store: Option<Store>, args: &Args, case: &Case, answer: &Answer) {
    let whole = [&args.since, &args.until, &args.at, &args.pod, &args.run]
        .iter()
        .all(|option| option.is_none());
    let Some(store) = store.filter(|_| whole) else {
        return;
    };
    let stored = Store::open(store.root(), Limits::default())
        .map_err(Error::from)
        .and_then(|mut store| fetch::store_incidents(&mut store, case, answer, clock::now()));
    match stored {
        Err(Error::Store(error)) if error.is_read_only() => {
            tracing::debug!("the incidents were not stored: {error}");
        }
        Err(error) => tracing::warn!("the incidents could not be stored: {error}"),
        Ok(()) => {}
    }
}

/// A time as typed: RFC 3339, a date or time in a zone, or a distance before `now`.
pub(super) fn moment(text: &str, now: Option<Nanos>, tz: Tz) -> Result<Nanos, Error> {
    let seen_from = || Some(tz.at(DateTime::from_timestamp_nanos(now?)).naive_local());
    let relative = || parse_relative(text, seen_from()?);
    if text.trim().eq_ignore_ascii_case("now")
        && let Some(now) = now
    {
        return Ok(now);
    }
    if let Some(local) = parse_local(text).or_else(relative) {
        let instant = tz.instant(local).and_then(|at| at.timestamp_nanos_opt());
        return instant.ok_or_else(|| {
            Error::Usage(format!("{text:?} does not exist in the time zone of --tz"))
        });
    }
    let is_relative = || parse_relative(text, NaiveDateTime::default()).is_some();
    if now.is_none() && (parse_duration(text).is_some() || is_relative()) {
        return Err(Error::Usage(format!(
            "{text:?} is relative to the end of the input, which has no timestamps"
        )));
    }
    parse_moment(text, now.unwrap_or_default()).ok_or_else(|| {
        Error::misused(
            format!("{text:?} is not a valid time"),
            "write 2026-11-21T15:20:00Z, 2026-11-21, \"2026-11-21 15:20\", 15:20, now, today or yesterday, or 30m, 2h, 1d12h before the latest record",
        )
    })
}

/// A time as typed about a store: `today` and `15:21` are those of the clock on the wall,
/// and a distance counts back from the latest record, as with recordings.
pub(super) fn moment_of_store(text: &str, latest: Option<Nanos>, tz: Tz) -> Result<Nanos, Error> {
    let is_by_clock = parse_relative(text, NaiveDateTime::default()).is_some();
    let from = if is_by_clock {
        Some(clock::now())
    } else {
        latest
    };
    moment(text, from, tz)
}

/// Where the newest record of a store lies, for those who looked after it, and how to ask for it.
pub(super) fn newest(latest: Nanos, tz: Tz) -> String {
    let at = tz.rfc3339(&rfc3339(latest));
    let day = at.get(..10).unwrap_or(&at);
    format!(
        "the newest record is from {at}: use --since {day}, or --since 1d, which counts back from it"
    )
}

#[cfg(test)]
mod tests {
    use whathappened_model::time::SECOND;

    use super::*;

    #[test]
    fn moments_are_absolute_or_count_back() {
        let read = |text, now| moment(text, now, Tz::Utc);
        assert_eq!(read("1970-01-01T00:00:02Z", None).unwrap(), 2 * SECOND);
        assert_eq!(read("2m", Some(300 * SECOND)).unwrap(), 180 * SECOND);
        for wrong in ["", "m", "2x", "tomorrow", "12"] {
            assert!(read(wrong, Some(0)).is_err(), "{wrong}");
        }
        assert!(read("2m", None).is_err());
        let hour = 3_600 * SECOND;
        assert_eq!(read("1970-01-02", None).unwrap(), 24 * hour);
        let cairo = "+02:00".parse().unwrap();
        assert_eq!(moment("1970-01-02", None, cairo).unwrap(), 22 * hour);
    }
}
