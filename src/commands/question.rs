//! `whathappened <experiment>`

use chrono::{DateTime, NaiveDateTime};
use whathappened_connectors::connector::Window;
use whathappened_connectors::time::Nanos;
use whathappened_store::{Limits, Store};

use super::common::{self, Opened};
use super::{clock, pager};
use crate::answer::Answer;
use crate::assemble::{self, Question};
use crate::case::Case;
use crate::cli::{InputArgs, OutputArgs};
use crate::config::{parse_duration, parse_local, parse_moment, parse_relative};
use crate::error::Error;
use crate::render::{Format, Tz};
use crate::{gather, history, render};

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
    /// Only runs that lived, and what happened, at or after this time: RFC 3339, a date,
    /// a date and time, 15:20, today, yesterday, or 2h, 30m, 1d12h before the latest record.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what happened before this time; later records are not read.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// The moment to speak from; later records are not read. The latest record by default.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
    /// Only incidents that touch this pod, and its own lines of the timeline.
    #[arg(long, value_name = "POD")]
    pub pod: Option<String>,
    /// Only this run: its number, as answers count them, or the beginning of its id.
    #[arg(long, value_name = "NUMBER|ID")]
    pub run: Option<String>,
    /// Show the evidence, what speaks against, and how each step is proven.
    #[arg(long)]
    pub explain: bool,
    /// Timeline lines to show, 0 for all; none by default, 30 with --explain.
    #[arg(long, value_name = "LINES")]
    pub timeline: Option<usize>,
}

/// Answers the question.
///
/// # Errors
/// See [`Error`].
pub async fn run(args: &Args) -> Result<(), Error> {
    let piped = args.experiment.is_none();
    if !piped && common::is_piped_in(&args.input.from).await {
        return Err(Error::Usage(
            "something is piped in beside a name, and it is not said whether it is to be read: \
             add --from - to read it, or < /dev/null to leave it"
                .to_owned(),
        ));
    }
    let args = &Args {
        input: of_pipe(args),
        ..args.clone()
    };
    let experiment = args.experiment.as_deref().unwrap_or("*");
    let asked = |text: &Option<String>| {
        let text = text.as_deref();
        text.map(|text| moment(text, Some(clock::now()), args.output.tz))
            .transpose()
    };
    let window = Window {
        from: asked(&args.since)?,
        to: asked(&args.until)?,
    };
    let Opened { case, kept } = common::open(&args.input, experiment, window).await?;
    let tz = args.output.tz;
    let at = args
        .at
        .as_deref()
        .map(|text| moment(text, case.world.now, tz))
        .transpose()?;
    let now = at.or(case.world.now);
    if piped && case.summary.total.records == 0 {
        return Err(Error::Usage(
            "nothing came in on standard input: name an experiment, or pipe in what kubectl printed"
                .to_owned(),
        ));
    }
    let only = only_run(&case).filter(|_| piped);
    let time = |text: &Option<String>| {
        text.as_deref()
            .map(|text| moment(text, now, tz))
            .transpose()
    };
    let question = Question {
        name: only.unwrap_or_else(|| experiment.to_owned()),
        run: args.run.clone(),
        pod: args.pod.clone(),
        since: time(&args.since)?,
        until: time(&args.until)?,
        at,
    };
    let mut answer = assemble::answer(&case, &question).await?;
    let snapshot = kept.as_ref().map(Store::snapshot).transpose()?;
    history::remember(&mut answer, &case, snapshot.as_ref())?;
    drop(snapshot);
    keep(kept, args, &case, &answer);
    let mut style = common::style(&args.output);
    style.explain = args.explain;
    style.timeline_limit = timeline_limit(args);
    pager::show(&args.output, |out| {
        render::answer(&answer, args.output.format, &style, out)
    })
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
    let (_, kind, namespace, name) = run.names(&case.world);
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
    let kept = Store::open(store.root(), Limits::default())
        .map_err(Error::from)
        .and_then(|mut store| gather::keep(&mut store, case, answer, clock::now()));
    if let Err(error) = kept {
        tracing::warn!("the incidents are not kept: {error}");
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
        return instant
            .ok_or_else(|| Error::Usage(format!("{text:?} does not exist in the zone of --tz")));
    }
    let is_relative = || parse_relative(text, NaiveDateTime::default()).is_some();
    if now.is_none() && (parse_duration(text).is_some() || is_relative()) {
        return Err(Error::Usage(format!(
            "{text:?} counts back from the end of the input, which has no times"
        )));
    }
    parse_moment(text, now.unwrap_or_default()).ok_or_else(|| {
        Error::Usage(format!(
            "{text:?} is no time: write 2026-11-21T15:20:00Z, 2026-11-21, \"2026-11-21 15:20\", 15:20, now, today or yesterday, or 30m, 2h, 1d12h before the latest record"
        ))
    })
}

#[cfg(test)]
mod tests {
    use whathappened_connectors::time::SECOND;

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
