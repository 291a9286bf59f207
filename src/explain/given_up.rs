//! Removals of nodes that an autoscaler began and gave up.

use whathappened_core::graph::{EntityGraph, Fact};
use whathappened_core::signals::named;

/// Taints by which autoscalers close the nodes that they remove.
const CLOSES: [&str; 3] = [
    "ToBeDeletedByClusterAutoscaler",
    "karpenter.sh/disrupted",
    "karpenter.sh/disruption",
];

/// Whether an autoscaler said that it could not remove the node, and did not begin anew; or the node was seen
/// later, open to pods and without its taint.
pub(super) fn was_given_up(graph: &EntityGraph, fact: &Fact) -> bool {
    if graph.name(fact.signal) != named::AUTOSCALER_SCALE_DOWN || !fact.node.is_some() {
        return false;
    }
    let later = |one: &&Fact| one.node == fact.node && one.time.lo >= fact.time.lo;
    let signals = graph.facts.iter().filter(later);
    let mut failed = false;
    // Facts are in time order.
    for signal in signals.map(|one| graph.name(one.signal)) {
        match signal {
            named::AUTOSCALER_SCALE_DOWN_FAILED => failed = true,
            named::AUTOSCALER_SCALE_DOWN => failed = false,
            _ if signal.starts_with(named::K8S_NODE_DELETED) => return false,
            _ => {}
        }
    }
    failed || is_open_after(graph, fact)
}

fn is_open_after(graph: &EntityGraph, fact: &Fact) -> bool {
    let name = graph.name(fact.node);
    let nodes = graph.evidence.objects.iter();
    let mut versions = nodes
        .filter(|(key, _)| key.kind == "Node" && key.name == name)
        .flat_map(|(_, versions)| versions);
    versions.any(|version| {
        let mut taints = version.body.taints.iter();
        version.at.is_some_and(|at| at.lo > fact.time.hi)
            && !version.deleted
            && !version.body.unschedulable
            && !taints.any(|taint| CLOSES.contains(&taint.key.as_str()))
    })
}
