//! A machine's history from the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use whathappened_connectors::coverage::Coverage;
use whathappened_connectors::time::Nanos;
use whathappened_core::resolve::Name;
use whathappened_store::Snapshot;

use super::node::{Asked, Verdicts, node};
use super::past::Past;
use crate::answer::NodeHistory;
use crate::case::{Case, Rules};
use crate::error::Error;
use crate::gather;

/// Pods on one machine that are read, the newest.
const MOST_GUESTS: usize = 500;

/// What befell a machine and what ran on it, as far as a snapshot shows it. `now`
/// is the moment to speak from; the latest record where it is not known.
///
/// # Errors
/// [`Error::UnknownName`] with the nearest names, or when the store cannot be read.
pub async fn of_store(
    snapshot: &Snapshot<'_>,
    asked: &Asked,
    coverage: Vec<Coverage>,
    now: Option<Nanos>,
    rules: &Arc<Rules>,
) -> Result<NodeHistory, Error> {
    let name = Name::parse(&asked.name).name;
    let window = (
        asked.since.unwrap_or(Nanos::MIN),
        asked.until.unwrap_or(Nanos::MAX),
    );
    let names = BTreeSet::from([name.clone()]);
    let mut found = snapshot.of_machines(&names, window)?;
    for node in nodes(&name, &found) {
        snapshot.add_guests(&mut found, &node, MOST_GUESTS)?;
    }
    let left_out = found.left_out;
    if found.facts.is_empty() && found.objects.is_empty() {
        return Err(Error::UnknownName {
            name: asked.name.clone(),
            nearest: snapshot.nearest_machines(&name)?,
        });
    }
    let coverage = snapshot.coverage_of(coverage);
    let mut case = gather::of_found(found, coverage, Arc::clone(rules))?;
    case.world.now = now.or(case.world.now);
    let past = Past::of_store(snapshot, &names, window, rules)?;
    let verdicts = Verdicts::Kept(kept(snapshot, &case)?);
    let mut told = node(&case, asked, past, verdicts).await?;
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
    let mut kept = gather::visible(snapshot, &snapshot.incidents_of_runs(&runs)?);
    kept.retain(|one| !one.incident.cause.starts_with("none."));
    Ok(kept)
}
