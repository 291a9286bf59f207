//! `whathappened node`

use std::collections::BTreeSet;
use std::sync::Arc;

use whathappened_connectors::connector::Window;
use whathappened_connectors::time::{Nanos, SECOND};
use whathappened_core::resolve::Name;
use whathappened_store::Snapshot;

use super::question::moment;
use super::{clock, common, settings, stored};
use crate::answer::NodeHistory;
use crate::case::Case;
use crate::cli::{InputArgs, OutputArgs};
use crate::error::Error;
use crate::gather;
use crate::history::{self, Asked, Past, Verdicts};
use crate::render::{self, Format};

/// Says what befell a machine over all experiments, and what ran on it
///
/// Its faults, drains, reboots, maintenance and upgrades in order of time, how
/// often it failed, and how each run that was on it ended. From recordings, or
/// from the store after live sources were asked.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Name of a node or host, or the id of a cloud instance; of recordings also gpu/ID.
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// Only what happened at or after this time (RFC 3339, or 7d before the latest record);
    /// of the store 30d by default.
    #[arg(long, value_name = "TIME")]
    pub since: Option<String>,
    /// Only what happened before this time.
    #[arg(long, value_name = "TIME")]
    pub until: Option<String>,
}

/// Pods on one machine that are read, the newest.
const MOST_GUESTS: usize = 500;

/// Tells the history.
///
/// # Errors
/// When nothing bears the name, a time is none, or the store cannot be used.
pub async fn run(args: &Args) -> Result<(), Error> {
    let format = args.output.format;
    if !matches!(format, Format::Table | Format::Json) {
        return Err(Error::Usage(format!(
            "node has the formats table and json, not {}",
            format.as_str()
        )));
    }
    let told = if args.input.from.is_empty() {
        of_store(args).await?
    } else {
        let rules = common::rules(&args.input)?;
        let case = common::recorded(&args.input, rules)?;
        let asked = asked(args, case.world.now)?;
        let past = Past::of_case(&case)?;
        history::node(&case, &asked, past, Verdicts::Explain).await?
    };
    let style = common::style(&args.output);
    let out = &mut std::io::stdout().lock();
    render::node(&told, format, &style, out)?;
    Ok(())
}

fn asked(args: &Args, now: Option<Nanos>) -> Result<Asked, Error> {
    let time = |text: &Option<String>| text.as_deref().map(|text| moment(text, now)).transpose();
    Ok(Asked {
        name: args.name.clone(),
        since: time(&args.since)?,
        until: time(&args.until)?,
    })
}

async fn of_store(args: &Args) -> Result<NodeHistory, Error> {
    let rules = common::rules(&args.input)?;
    let config = settings::of_all(&args.input.kept, &args.input.live)?;
    let name = Name::parse(&args.name);
    if name.kind.is_some() && name.is_kind("GPU") {
        return Err(Error::Usage(
            "GPUs are found in recordings only; ask the store for the machine that the GPU is in"
                .to_owned(),
        ));
    }
    let about = stored::About {
        name: Some(Name {
            kind: Some("Node".to_owned()),
            ..name.clone()
        }),
        window: Window::default(),
    };
    let now = clock::now();
    let (store, live) = stored::refreshed(&config, &args.input, &about, &rules, now).await?;
    let last = store.status()?.to;
    let mut asked = asked(args, last)?;
    let back = Nanos::from(history::DAYS) * 86_400 * SECOND;
    asked.since = asked.since.or(last.map(|last| last.saturating_sub(back)));
    let window = (
        asked.since.unwrap_or(Nanos::MIN),
        asked.until.unwrap_or(Nanos::MAX),
    );
    let snapshot = store.snapshot()?;
    let names = BTreeSet::from([name.name.clone()]);
    let mut found = snapshot.of_machines(&names, window)?;
    for node in nodes(&name.name, &found) {
        snapshot.add_guests(&mut found, &node, MOST_GUESTS)?;
    }
    let left_out = found.left_out;
    if found.facts.is_empty() && found.objects.is_empty() {
        return Err(Error::UnknownName {
            name: args.name.clone(),
            nearest: snapshot.nearest_machines(&name.name)?,
        });
    }
    let coverage = match &live {
        Some(live) => live.coverage.clone(),
        None => store.coverage()?,
    };
    let mut case = gather::of_found(found, coverage, Arc::clone(&rules))?;
    case.world.now = if live.is_some_and(|live| live.clusters > 0) {
        Some(now)
    } else {
        last.or(case.world.now)
    };
    let past = Past::of_store(&snapshot, &names, window, &rules)?;
    let verdicts = Verdicts::Kept(kept(&snapshot, &case)?);
    let mut told = history::node(&case, &asked, past, verdicts).await?;
    if left_out > 0 {
        told.notes.push(format!(
            "{left_out} pods that were on it before are left out; name a shorter time with --since and --until"
        ));
    }
    Ok(told)
}

/// The names that an instance bore, and the name asked for.
fn nodes(name: &str, found: &whathappened_store::Found) -> BTreeSet<String> {
    let of_objects = found
        .objects
        .iter()
        .map(|one| &one.version.key)
        .filter(|key| key.kind == "Instance" || key.kind == "Node")
        .map(|key| key.name.clone());
    let of_facts = found
        .facts
        .iter()
        .filter_map(|fact| fact.event.entities.node.clone());
    let mut names: BTreeSet<String> = of_objects.chain(of_facts).collect();
    names.insert(name.to_owned());
    names.remove("");
    names
}

/// What was explained of the runs of a case.
fn kept(snapshot: &Snapshot<'_>, case: &Case) -> Result<Vec<gather::Kept>, Error> {
    let runs: BTreeSet<String> = case.runs.iter().map(|run| run.id(&case.world)).collect();
    Ok(gather::visible(
        snapshot,
        &snapshot.incidents_of_runs(&runs)?,
    ))
}
