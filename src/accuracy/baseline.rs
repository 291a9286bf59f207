//! What people do without this tool, over the same facts.

use std::collections::BTreeMap;

use whathappened_core::evidence::SpillError;
use whathappened_core::graph::{EntityGraph, Task, TaskRow};
use whathappened_core::resolve::Run;
use whathappened_model::event::Event;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::Nanos;

use super::named::{by_exit, by_reason};
use crate::case::Case;

/// The baselines, in the order of `guesses`.
pub const BASELINES: [&str; 3] = [
    "most frequent warning",
    "last warning before",
    "container's exit",
];

/// A Warning Event: when, how often, and its reason.
struct Warning {
    time: Nanos,
    count: u64,
    reason: String,
}

/// The cause that each baseline names for some runs; `None` where it has nothing to say.
///
/// # Errors
/// When facts cannot be read back.
pub(super) fn guesses(
    case: &Case,
    runs: &[usize],
    failed_at: Option<Nanos>,
) -> Result<[Option<&'static str>; 3], SpillError> {
    let runs: Vec<&Run> = runs.iter().filter_map(|run| case.runs.get(*run)).collect();
    let warnings = warnings(&case.graph, &runs)?;
    Ok([
        most_frequent(&warnings),
        last_before(&warnings, failed_at),
        exit(&case.graph, &runs),
    ])
}

/// The Warnings about the pods of some runs, and about what owns them.
fn warnings(graph: &EntityGraph, runs: &[&Run]) -> Result<Vec<Warning>, SpillError> {
    let pods: std::collections::BTreeSet<TaskRow> = runs
        .iter()
        .flat_map(|run| run.pods.iter().copied())
        .collect();
    let names: std::collections::BTreeSet<(&str, &str)> = runs
        .iter()
        .map(|run| run.names(graph))
        .map(|(_, _, namespace, name)| (namespace, name))
        .collect();
    let is_event = graph.evidence.symbols.find("k8s.event");
    let mut found = Vec::new();
    let rows = graph.evidence.rows().numbered();
    for (number, row) in rows.filter(|(_, row)| Some(row.fact) == is_event) {
        let pod = graph.pod_of_row.get(number).copied().flatten();
        let of_owner = || names.contains(&(graph.name(row.namespace), graph.name(row.workload)));
        if !(pods.has(pod) || row.workload.is_some() && of_owner()) {
            continue;
        }
        let event = graph.evidence.event(number)?;
        if event.severity.as_deref() == Some("Warning") {
            found.push(warning(event));
        }
    }
    // Evidence is in no order that may show.
    found.sort_by(|a, b| (a.time, &a.reason).cmp(&(b.time, &b.reason)));
    Ok(found)
}

fn warning(event: Event) -> Warning {
    Warning {
        time: event.time.lo,
        count: event.count.unwrap_or(1),
        reason: event.reason.unwrap_or_default(),
    }
}

fn most_frequent(warnings: &[Warning]) -> Option<&'static str> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for warning in warnings {
        *counts.entry(&warning.reason).or_default() += warning.count.max(1);
    }
    let (reason, _) = counts
        .into_iter()
        .max_by_key(|(reason, count)| (*count, std::cmp::Reverse(*reason)))?;
    by_reason(reason)
}

/// What never started has no time of failure; all its Warnings count.
fn last_before(warnings: &[Warning], failed_at: Option<Nanos>) -> Option<&'static str> {
    let before = |warning: &&Warning| failed_at.is_none_or(|at| warning.time <= at);
    by_reason(&warnings.iter().rfind(before)?.reason)
}

/// The earliest end of a container that was not well, else what a container waits for.
fn exit(graph: &EntityGraph, runs: &[&Run]) -> Option<&'static str> {
    let pods: Vec<&Task> = runs
        .iter()
        .flat_map(|run| &run.pods)
        .filter_map(|pod| graph.pods.get(*pod))
        .collect();
    let exits = pods.iter().flat_map(|pod| &pod.exits);
    let earliest = exits.min_by_key(|exit| (exit.exit_code == Some(0), exit.time, exit.exit_code));
    let waits = || {
        pods.iter()
            .flat_map(|pod| &pod.waits)
            .find_map(|wait| by_exit(wait, None))
    };
    earliest
        .and_then(|exit| by_exit(graph.name(exit.reason), exit.exit_code))
        .or_else(waits)
}
