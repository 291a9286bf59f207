//! When workloads were deleted of which no version of the object shows it: an audit log of metadata
//! tells of the request alone.

use crate::graph::{TaskRow, WorkloadRow};
use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::EntityGraph;
use super::workload::{Leaving, owners};
use crate::symbols::Symbol;

/// Deletions of what was over: they tell nothing of how it ended.
const TIDIES: &str = named::K8S_WORKLOAD_DELETED_BY_TTL;

/// Clocks of two components of one cluster differ by as much.
const CLOCKS: Nanos = SECOND;

/// Notes when workloads were deleted, by themselves or with their namespace, unless they were seen later.
pub(super) fn note(graph: &mut EntityGraph) {
    let mut own: HashMap<WorkloadRow, Stamp> = HashMap::new();
    let mut changed: HashMap<WorkloadRow, Nanos> = HashMap::new();
    let mut of_namespace: HashMap<Symbol, Vec<Stamp>> = HashMap::new();
    for fact in &graph.facts {
        let signal = graph.name(fact.signal);
        if let Some(workload) = fact.workload
            && signal.starts_with("k8s.workload.deleted_by_")
            && signal != TIDIES
        {
            own.entry(workload).or_insert(fact.time);
        } else if let Some(workload) = fact.workload
            && signal == named::K8S_WORKLOAD_UPDATED_BY_USER
        {
            // Nobody can change what is gone: facts are in time order, the last counts.
            changed.insert(workload, fact.time.lo);
        } else if signal.starts_with("k8s.namespace.deleted_by_") {
            let row = graph.evidence.rows().get(fact.row);
            let name = row.map_or(Symbol::NONE, |row| row.workload);
            of_namespace.entry(name).or_default().push(fact.time);
        }
    }
    for (number, workload) in graph.workloads.numbered_mut() {
        let begun = workload.created.map_or(Nanos::MIN, |created| created.lo);
        let with_it = of_namespace.get(&workload.namespace).into_iter().flatten();
        let deleted = own.get(&number).into_iter().chain(with_it).copied();
        let seen = workload.unasked.max(changed.get(&number).copied());
        let after = seen.map_or(begun, |seen| seen.max(begun));
        let deleted = deleted.filter(|deleted| deleted.hi >= after.saturating_sub(CLOCKS));
        // One that was shown to wait for its end has not met it.
        let waits = workload.leaving.is_some_and(Leaving::is_shown);
        let gone = deleted.min().filter(|_| !waits);
        workload.gone = workload.gone.or(gone);
    }
    forget_ends(graph);
}

/// The Job controller takes its mark off the pods of a Job that is deleted, whether or not they have ended or are to end, and
/// off one that it deletes itself: that it did tells of an end only while the Job was there, and of no pod that it took away.
fn forget_ends(graph: &mut EntityGraph) {
    /// It takes its mark off a pod that it deletes, before or just after that.
    const AT_ONCE: Nanos = 2 * SECOND;
    let mut taken: HashMap<TaskRow, Vec<Stamp>> = HashMap::new();
    for fact in &graph.facts {
        if let Some(pod) = fact.pod.filter(|_| graph.is_own_deletion(fact)) {
            taken.entry(pod).or_default().push(fact.time);
        }
    }
    let gone_above = |owner: Option<WorkloadRow>| {
        let above = owners(&graph.workloads, owner);
        above
            .flat_map(|(_, one)| [one.gone, one.orphaned])
            .flatten()
            .min()
    };
    for (number, pod) in graph.pods.numbered_mut() {
        let gone = gone_above(pod.owner);
        let is_after = |ended: &Stamp| gone.is_some_and(|gone| gone.lo <= ended.hi);
        let was_taken = |ended: &Stamp| {
            let mut taken = taken.get(&number).into_iter().flatten();
            taken.any(|taken| taken.lo.abs_diff(ended.lo) <= AT_ONCE.unsigned_abs())
        };
        pod.untracked = pod
            .untracked
            .filter(|ended| !is_after(ended) && !was_taken(ended));
    }
}
