//! What a run's workload says of how it stands.

use whathappened_model::time::{CLOCKS, Nanos};

use super::is_there;
use crate::graph::{EntityGraph, Fact, WorkloadRow};
use crate::resolve::{Root, Run};
use crate::signals::named;

/// What is said of a workload that failed.
pub(in crate::death) const FAILED: [&str; 3] = [
    named::K8S_WORKLOAD_FAILED,
    named::K8S_WORKLOAD_BACKOFF_LIMIT,
    named::K8S_WORKLOAD_DEADLINE,
];

/// Whether a run's root object says of itself that it failed, and nothing was begun after that: what is
/// given up gets no more pods, so that one made later is of another object of that name.
#[must_use]
pub fn has_failed(graph: &EntityGraph, run: &Run) -> bool {
    failed_at(graph, run).is_some()
}

/// Whether a word for a run's completion is about another one of that name: a workload that is done makes no pod, and
/// does not fail. Of an object that says so itself there is no doubt.
pub(super) fn is_made_anew_since(
    graph: &EntityGraph,
    run: &Run,
    root: WorkloadRow,
    completed: Nanos,
) -> bool {
    let object = graph.workloads.get(root);
    if object.is_some_and(|object| object.body.is_some()) {
        return false;
    }
    let later = completed.saturating_add(CLOCKS);
    let mut failed = FAILED
        .iter()
        .filter_map(|signal| graph.last_signal_at(root, signal));
    failed.any(|failed| failed > later) || begun(graph, run).any(|begun| begun > later)
}

/// When those of a run's pods began that are there.
pub(super) fn begun(graph: &EntityGraph, run: &Run) -> impl Iterator<Item = Nanos> {
    let there = run.pods.iter().filter(|pod| is_there(graph, **pod));
    there.filter_map(|pod| graph.pods.get(*pod)?.known_begin())
}

/// When it said so.
pub(super) fn failed_at(graph: &EntityGraph, run: &Run) -> Option<Nanos> {
    let root = run.root.workload()?;
    let times = FAILED.iter();
    let failed = times
        .filter_map(|signal| graph.last_signal_at(root, signal))
        .max()?;
    // Its own last word, of which nobody knows since when it is so, is later than whatever it made.
    const GIVEN_UP: [&str; 6] = [
        "Aborted",
        "Error",
        "FAILED",
        "Failed",
        "STOPPED",
        "Terminated",
    ];
    if own_word(graph, root).is_some_and(|word| GIVEN_UP.contains(&word)) {
        return Some(failed);
    }
    let is_made_since = begun(graph, run).any(|begun| begun >= failed);
    // An object that says later that it runs is another one of that name.
    let root = graph.workloads.get(root);
    let runs_since = root.is_some_and(|root| root.says_it_runs_after(failed));
    (!is_made_since && !runs_since).then_some(failed)
}

/// Whether a workload said last that it is suspended.
pub(super) fn says_it_is_suspended(graph: &EntityGraph, run: &Run) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    let suspended = graph.last_signal_at(root, named::K8S_WORKLOAD_SUSPENDED);
    let resumed = graph.last_signal_at(root, named::K8S_WORKLOAD_RESUMED);
    suspended.is_some() && suspended > resumed
}

/// Whether an object of which no pods are known says of itself that it runs.
pub(super) fn says_it_runs(graph: &EntityGraph, run: &Run) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    // Of a Job `kubectl` says so whether or not it has pods: one that was refused its pods has none.
    let job = graph.workloads.get(root);
    let is_job = job.is_some_and(|job| graph.name(job.kind) == "Job");
    let is_refusal = |fact: &Fact| {
        let signal = graph.name(fact.signal);
        fact.workload == Some(root) && signal.starts_with(named::K8S_WORKLOAD_CREATE_FAILED)
    };
    if is_job && graph.facts.iter().any(is_refusal) {
        return false;
    }
    matches!(own_word(graph, root), Some("Running" | "RUNNING"))
}

/// What a workload's object says of how it stands, where its kind has a word for that.
pub(super) fn own_word(graph: &EntityGraph, workload: WorkloadRow) -> Option<&str> {
    let workload = graph.workloads.get(workload)?;
    workload.body.as_ref()?.phase.as_deref()
}
