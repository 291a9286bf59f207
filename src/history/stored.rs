//! A machine's history from the store.

use std::collections::BTreeSet;
use std::sync::Arc;

use whathappened_core::resolve::Name;
use whathappened_model::coverage::Coverage;
use whathappened_model::time::{Nanos, SECOND};
use whathappened_store::Snapshot;

use super::earlier_faults::DAYS;
use super::node::{NodeQuery, Verdicts, node};
use super::past_faults::PastFaults;
use crate::answer::NodeHistory;
use crate::case::{Case, Rules};
use crate::error::{Error, unread};
use crate::fetch;

/// Pods on one machine that are read, the newest.
const MOST_GUESTS: usize = 500;

/// What happened to a machine and what ran on it lately, as far as a snapshot shows it: in the thirty days before the store's
/// latest record, where nobody asks for another window. Of one that has no record that young it is all there is. The moments
/// are that of the latest record, and the one to speak from.
///
/// # Errors
/// [`Error::UnknownName`] with the nearest names, or when the store cannot be read.
pub async fn of_store_lately(
    snapshot: &Snapshot<'_>,
    mut asked: NodeQuery,
    coverage: Vec<Coverage>,
    (latest, now): (Option<Nanos>, Option<Nanos>),
    rules: &Arc<Rules>,
) -> Result<NodeHistory, Error> {
    let back = Nanos::from(DAYS) * 86_400 * SECOND;
    let latest = latest.filter(|_| asked.since.is_none());
    let Some(latest) = latest else {
        return of_store(snapshot, &asked, coverage, now, rules).await;
    };
    asked.since = Some(latest.saturating_sub(back));
    match of_store(snapshot, &asked, coverage.clone(), now, rules).await {
        // An old incident leads to a machine that has no younger record.
        Err(Error::UnknownName { .. }) => {
            asked.since = None;
            of_store(snapshot, &asked, coverage, now, rules).await
        }
        answered => answered,
    }
}

/// What happened to a machine and what ran on it, as far as a snapshot shows it. `now`
/// is the moment to speak from; the latest record where it is not known.
///
/// # Errors
/// [`Error::UnknownName`] with the nearest names, or when the store cannot be read.
async fn of_store(
    snapshot: &Snapshot<'_>,
    asked: &NodeQuery,
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
    for node in found.machine_names(&name) {
        snapshot.add_guests(&mut found, &node, MOST_GUESTS)?;
    }
    let left_out = found.left_out;
    if found.facts.is_empty() && found.objects.is_empty() {
        return Err(Error::UnknownName {
            name: asked.name.clone(),
            nearest: snapshot.nearest_machines(&name)?,
            unread: unread(&coverage),
        });
    }
    let coverage = snapshot.coverage_of(coverage);
    let mut case = fetch::of_found(found, coverage, Arc::clone(rules))?;
    case.graph.now = now.or(case.graph.now);
    let past = PastFaults::of_store(snapshot, &names, window, rules)?;
    let verdicts = Verdicts::Stored(stored(snapshot, &case)?);
    let mut reported = node(&case, asked, past, verdicts).await?;
    if left_out > 0 {
        reported.notes.push(format!(
            "{left_out} earlier pods on it are left out; choose a shorter time window with --since and --until"
        ));
    }
    Ok(reported)
}

/// What was explained of the runs of a case.
fn stored(snapshot: &Snapshot<'_>, case: &Case) -> Result<Vec<fetch::IncidentOfRun>, Error> {
    let runs: BTreeSet<String> = case.runs.iter().map(|run| run.id(&case.graph)).collect();
    let mut stored = fetch::visible(snapshot, &snapshot.incidents_of_runs(&runs)?);
    stored.retain(|one| !one.incident.cause.starts_with("none."));
    Ok(stored)
}
