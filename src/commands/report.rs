//! `whathappened report`

use std::sync::Arc;
use std::time::{Duration, Instant};

use whathappened_model::time::{Nanos, rfc3339};
use whathappened_store::Store;

use super::question::{moment, moment_of_store};
use super::{arguments, clock, common, experiments, output_file, pager, piped, settings, stored};
use crate::answer::{FleetReport, ListedRun};
use crate::cli::{InputArgs, OutputArgs};
use crate::config::parse_duration;
use crate::error::Error;
use crate::render;
use crate::sql::{FleetScope, Session, StoredTables, fleet, window};
use crate::{fetch, report};

/// Reports what was lost in a period: by cause, day, owner, node pool and machine
///
/// Use --namespace to report on some namespaces only.
///
/// Incidents and GPU-hours, time between failures by size of run, time to detect and to restart,
/// machines that fail again and again, how sure the verdicts are and what was missing most often. Each
/// figure comes with its definition and, in --format json, md and html, the SQL that computes it and the
/// SQL that lists its incidents. --format slack writes a message for Slack's incoming webhooks and for
/// chat.postMessage. The report covers the runs that are explained, and says how many that is.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("format", crate::cli::report_formats))]
pub struct Args {
    /// Start of the period: a length before its end (24h, 7d, 4w), RFC 3339, a date or yesterday.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub since: String,
    /// End of the period, exclusive: RFC 3339, a date or today; the latest record by default.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
    /// Only incidents and runs of this owner: the full name or the part before the @.
    #[arg(long, value_name = "NAME")]
    pub owner: Option<String>,
    /// Explain runs of the period that are not explained yet, the newest first, for at most this long (30s,
    /// 10m) before the report.
    #[arg(long, value_name = "LENGTH")]
    pub explain: Option<String>,
    /// Write the report to this file.
    #[arg(long = "output", short = 'o', value_name = "FILE")]
    pub file: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// Writes the report.
///
/// # Errors
/// When the period is none, or the data cannot be read.
pub async fn run(args: &Args) -> Result<(), Error> {
    let args = &Args {
        input: piped::beside(&args.input).await?,
        ..args.clone()
    };
    let report = if args.input.from.is_empty() {
        Box::pin(of_store(args)).await?
    } else {
        Box::pin(of_recording(args)).await?
    };
    let mut style = common::style(&args.output);
    if let Some(file) = &args.file {
        return output_file::write(file, |out| {
            // A file has no colours.
            style.color = false;
            render::fleet(&report, args.output.format, &style, out)
        });
    }
    pager::show(&args.output, |out| {
        render::fleet(&report, args.output.format, &style, out)
    })
}

/// The period that is asked for; `latest` is the latest record.
fn period(args: &Args, latest: Nanos, is_stored: bool) -> Result<(Nanos, Nanos), Error> {
    let read = if is_stored { moment_of_store } else { moment };
    let tz = args.output.tz;
    let until = args.until.as_deref();
    let until = until.map(|text| read(text, Some(latest), tz)).transpose()?;
    let length = parse_duration(&args.since).filter(|length| *length > 0);
    let (from, to) = match (length, until) {
        (Some(length), Some(until)) => (until.saturating_sub(length), until),
        (Some(length), None) => window(latest, length),
        (None, _) => {
            let from = read(&args.since, Some(latest), tz)?;
            (from, until.unwrap_or(window(latest, 0).1))
        }
    };
    if from < to {
        return Ok((from, to));
    }
    let shown = |at: Nanos| tz.rfc3339(&rfc3339(at));
    Err(Error::misused(
        format!(
            "the period from {} to {} is empty: --since is not before {}",
            shown(from),
            shown(to),
            if until.is_some() {
                "--until"
            } else {
                "the latest record"
            }
        ),
        "choose an earlier time for --since, or a later one for --until",
    ))
}

/// What the figures are of.
fn scope(args: &Args, (from, to): (Nanos, Nanos), ruleset: &str) -> FleetScope {
    FleetScope {
        from,
        to,
        namespaces: args.input.live.namespaces.clone(),
        owner: args.owner.clone(),
        ruleset: ruleset.to_owned(),
        ..FleetScope::default()
    }
}

/// Of the runs of the period, those that are asked for, and how many of them are explained.
fn counted<'a>(scope: FleetScope, runs: impl Iterator<Item = &'a ListedRun>) -> FleetScope {
    let names = &scope.namespaces;
    let is_asked = |run: &&ListedRun| {
        let own = run.namespace.as_deref();
        let here = names.is_empty() || names.iter().any(|name| own == Some(name));
        here && run.is(scope.owner.as_deref(), None, None)
    };
    let asked: Vec<&ListedRun> = runs.filter(is_asked).collect();
    FleetScope {
        runs: asked.len(),
        explained: asked.iter().filter(|run| run.state.is_some()).count(),
        ..scope
    }
}

/// How long to explain what is not explained yet, where that is asked for.
fn length_of_explaining(args: &Args) -> Result<Option<Duration>, Error> {
    let Some(text) = &args.explain else {
        return Ok(None);
    };
    let length = parse_duration(text).and_then(|length| u64::try_from(length).ok());
    let length = length.ok_or_else(|| {
        Error::misused(
            format!("--explain {text:?} is not a length of time"),
            "write how long to explain at most: 30s, 10m or 1h",
        )
    });
    length.map(|length| Some(Duration::from_nanos(length)))
}

/// The command that explains all runs of a period.
fn explained_by(from: Nanos, to: Nanos) -> String {
    format!(
        "whathappened explain --since {} --until {}",
        rfc3339(from),
        rfc3339(to)
    )
}

async fn of_recording(args: &Args) -> Result<FleetReport, Error> {
    let rules = common::rules(&args.input)?;
    let case = Arc::new(common::recorded(&args.input, Arc::clone(&rules))?);
    let latest = case.graph.now.unwrap_or_else(clock::now);
    let scope = scope(args, period(args, latest, false)?, &rules.version);
    let some = !scope.namespaces.is_empty() || scope.owner.is_some();
    // All of a recording is explained when the figures are computed.
    let scope = if some {
        counted(scope, report::listing(&case).await?.iter())
    } else {
        FleetScope {
            runs: case.runs.len(),
            explained: case.runs.len(),
            ..scope
        }
    };
    fleet(&Session::new(case)?, &scope).await
}

async fn of_store(args: &Args) -> Result<FleetReport, Error> {
    let rules = common::rules(&args.input)?;
    let config = settings::of_all(&args.input.stored, &args.input.live)?;
    let about = stored::CaseScope::CLUSTERS;
    let (store, _) = stored::refreshed(&config, &args.input, &about, &rules, clock::now()).await?;
    let latest = store.latest()?.unwrap_or_else(clock::now);
    let (from, to) = period(args, latest, true)?;
    let quiet = args.input.quiet;
    if let Some(length) = length_of_explaining(args)? {
        let until = Instant::now().checked_add(length);
        let window = (from, to);
        let bounds = (usize::MAX, until);
        experiments::explain(&store, &config, window, &rules, bounds, quiet).await?;
    }
    let root = store.root().to_owned();
    let snapshot = Store::open_to_read(&root)?;
    let runs = fetch::listed(&snapshot.snapshot()?, (Nanos::MIN, Nanos::MAX))?;
    let of_period = runs.iter().filter(|run| run.is_seen_in((from, to)));
    let scope = FleetScope {
        explained_by: arguments::with_own_options(&explained_by(from, to)),
        site: config.serve.public_url.clone(),
        ..counted(scope(args, (from, to), &rules.version), of_period)
    };
    let tables = StoredTables::new(root, rules).with_runs(runs);
    fleet(&Session::of_store(tables)?, &scope).await
}
