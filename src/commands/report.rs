//! `whathappened report`

use std::sync::Arc;

use whathappened_model::time::Nanos;
use whathappened_store::Store;

use super::{arguments, clock, common, experiments, pager, piped, settings, stored};
use crate::answer::FleetReport;
use crate::cli::{InputArgs, OutputArgs};
use crate::config::parse_duration;
use crate::error::Error;
use crate::fetch;
use crate::render;
use crate::sql::{FleetScope, Session, StoredTables, fleet, window};

/// Reports what was lost in a period: by cause, day, owner, node pool and machine
///
/// Incidents and GPU-hours, time between failures by size of run, machines that fail again and
/// again, how sure the verdicts are and what was missing most often. Each figure comes with its
/// definition and, in --format json, md and html, the SQL that computes it.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("format", crate::cli::report_formats))]
pub struct Args {
    /// Length of the period, which ends with the latest record: 24h, 7d, 4w.
    #[arg(long, value_name = "TIME", default_value = "7d")]
    pub since: String,
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
    let length = parse_duration(&args.since).filter(|length| *length > 0);
    let length = length.ok_or_else(|| {
        Error::misused(
            format!("--since {} is not a length of time", args.since),
            "write 24h, 7d or 4w",
        )
    })?;
    let args = &Args {
        input: piped::beside(&args.input).await?,
        ..args.clone()
    };
    let report = if args.input.from.is_empty() {
        of_store(args, length).await?
    } else {
        of_recording(args, length).await?
    };
    let style = common::style(&args.output);
    pager::show(&args.output, |out| {
        render::fleet(&report, args.output.format, &style, out)
    })
}

async fn of_recording(args: &Args, length: Nanos) -> Result<FleetReport, Error> {
    let rules = common::rules(&args.input)?;
    let case = Arc::new(common::recorded(&args.input, Arc::clone(&rules))?);
    let (from, to) = window(case.graph.now.unwrap_or_else(clock::now), length);
    // All of a recording is explained when the figures are computed.
    let scope = FleetScope {
        from,
        to,
        runs: case.runs.len(),
        explained: case.runs.len(),
        ruleset: rules.version.clone(),
    };
    fleet(&Session::new(case)?, &scope).await
}

async fn of_store(args: &Args, length: Nanos) -> Result<FleetReport, Error> {
    let rules = common::rules(&args.input)?;
    let config = settings::of_all(&args.input.stored, &args.input.live)?;
    let about = stored::CaseScope::CLUSTERS;
    let (store, _) = stored::refreshed(&config, &args.input, &about, &rules, clock::now()).await?;
    let latest = store.latest()?.unwrap_or_else(clock::now);
    let (from, to) = window(latest, length);
    let quiet = args.input.quiet;
    let done = experiments::explain(&store, &config, (from, to), &rules, quiet).await?;
    if let Some(hint) = done.and_then(|done| done.hint()).filter(|_| !quiet) {
        note!("{}.", arguments::with_own_options(&hint));
    }
    let root = store.root().to_owned();
    let snapshot = Store::open_to_read(&root)?;
    let runs = fetch::listed(&snapshot.snapshot()?, (from, to))?;
    let scope = FleetScope {
        from,
        to,
        runs: runs.len(),
        explained: runs.iter().filter(|run| run.state.is_some()).count(),
        ruleset: rules.version.clone(),
    };
    fleet(&Session::of_store(StoredTables::new(root, rules))?, &scope).await
}
