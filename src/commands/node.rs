//! `whathappened node`

use whathappened_core::resolve::Name;
use whathappened_model::connector::Window;
use whathappened_model::time::Nanos;

use super::question::{moment, moment_of_store};
use super::{clock, common, pager, piped, settings, stored};
use crate::answer::NodeHistory;
use crate::cli::{InputArgs, OutputArgs};
use crate::error::Error;
use crate::history::{self, NodeQuery, PastFaults, Verdicts};
use crate::render::{self, Tz};

/// Shows the history of a machine across all experiments, and what ran on it
///
/// Its faults, drains, reboots, maintenance and upgrades in chronological order, how often it
/// failed, and how each run that was on it ended. Reads recordings, or queries the live sources and
/// then reads the store.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("format", crate::cli::table_or_json))]
pub struct Args {
    /// Name of a node or host, or the ID of a cloud instance; with recordings also gpu/ID.
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Only what happened at or after this time (RFC 3339, a date, today, or 7d before the latest record); with
    /// the store 30d by default.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what happened before this time.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
}

/// Tells the history.
///
/// # Errors
/// When nothing bears the name, a time is none, or the store cannot be used.
pub async fn run(args: &Args) -> Result<(), Error> {
    let format = args.output.format;
    common::named(&args.name)?;
    let args = &Args {
        input: piped::beside(&args.input).await?,
        ..args.clone()
    };
    let reported = if args.input.from.is_empty() {
        of_store(args).await?
    } else {
        let rules = common::rules(&args.input)?;
        let case = common::recorded(&args.input, rules)?;
        let asked = asked(args, case.graph.now, moment)?;
        let past = PastFaults::of_case(&case)?;
        history::node(&case, &asked, past, Verdicts::Explain).await?
    };
    let style = common::style(&args.output);
    pager::show(&args.output, |out| {
        render::node(&reported, format, &style, out)
    })
}

/// Reads a time as it is typed.
type ReadMoment = fn(&str, Option<Nanos>, Tz) -> Result<Nanos, Error>;

fn asked(args: &Args, now: Option<Nanos>, read: ReadMoment) -> Result<NodeQuery, Error> {
    let tz = args.output.tz;
    let time = |text: &Option<String>| text.as_deref().map(|text| read(text, now, tz)).transpose();
    Ok(NodeQuery {
        name: args.name.clone(),
        since: time(&args.since)?,
        until: time(&args.until)?,
    })
}

async fn of_store(args: &Args) -> Result<NodeHistory, Error> {
    let rules = common::rules(&args.input)?;
    let config = settings::of_all(&args.input.stored, &args.input.live)?;
    let name = Name::parse(&args.name);
    if name.kind.is_some() && name.is_kind("GPU") {
        return Err(Error::misused(
            "GPUs can be looked up in recordings only",
            "with the store, ask about the machine that the GPU is in",
        ));
    }
    let about = stored::CaseScope {
        name: Some(Name {
            kind: Some("Node".to_owned()),
            ..name.clone()
        }),
        window: Window::default(),
    };
    let now = clock::now();
    let (store, live) = stored::refreshed(&config, &args.input, &about, &rules, now).await?;
    let last = store.latest()?;
    let asked = asked(args, last, moment_of_store)?;
    let snapshot = store.snapshot()?;
    let coverage = match &live {
        Some(live) => live.coverage.clone(),
        None => store.coverage()?,
    };
    let answered = live.is_some_and(|live| live.clusters > 0);
    let now = if answered { Some(now) } else { last };
    history::of_store_lately(&snapshot, asked, coverage, (last, now), &rules).await
}
