//! What was done to a queue touches the workloads that it had let in.

use crate::graph::{EntityGraph, WorkloadRow};
use crate::symbols::Symbol;

/// The label by which a job names the queue of its namespace.
const LABEL: &str = "kueue.x-k8s.io/queue-name";

/// Those of some facts about queues that are about one of the queues of some workloads: the one of the namespace, which the job
/// names itself, or the one of the cluster, which Kueue names when it lets a workload in.
pub(super) fn about(graph: &EntityGraph, facts: &[usize], workloads: &[WorkloadRow]) -> Vec<usize> {
    let is_about = |fact: &usize| {
        let row = graph.facts.get(*fact)?.row;
        let row = graph.evidence.rows().get(row)?;
        let names = |number: &WorkloadRow| names(graph, *number, row.namespace, row.workload);
        workloads.iter().any(names).then_some(*fact)
    };
    facts.iter().filter_map(is_about).collect()
}

fn names(graph: &EntityGraph, workload: WorkloadRow, namespace: Symbol, queue: Symbol) -> bool {
    let Some(workload) = graph.workloads.get(workload) else {
        return false;
    };
    if !namespace.is_some() {
        return workload.queue.is_some() && workload.queue == queue;
    }
    let body = workload.body.as_ref();
    let label = body.and_then(|body| body.labels.get(LABEL));
    workload.namespace == namespace && label.is_some_and(|label| label == graph.name(queue))
}
