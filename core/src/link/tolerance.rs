//! Taints that a pod stands: they send it nowhere.

use crate::death::Death;
use crate::graph::{EntityGraph, Fact, Task, Tolerations};
use whathappened_model::time::CLOCKS;

/// What a pod tolerates, of taints that send pods away.
pub(super) struct Tolerance(Option<Tolerations>);

impl Tolerance {
    pub(super) fn of(graph: &EntityGraph, pod: &Task) -> Self {
        let body = graph.template(pod);
        Self(body.map(Tolerations::of))
    }

    /// Whether a fact is a taint that the pod still stood when it ended.
    pub(super) fn covers(&self, graph: &EntityGraph, fact: &Fact, death: &Death) -> bool {
        if !graph.name(fact.signal).starts_with("k8s.node.tainted") {
            return false;
        }
        // A request names all taints that are to be there, of which only one is new.
        let row = graph.evidence.rows().get(fact.row);
        let kind = row.map(|row| graph.evidence.symbols.name(row.fact));
        if kind != Some("k8s.node.taint") {
            return false;
        }
        let all = self.0.as_ref();
        let lasts = all.and_then(|all| all.stands(graph.name(fact.detail)));
        let granted = death.time.hi.saturating_add(CLOCKS);
        lasts.is_some_and(|lasts| fact.time.lo.saturating_add(lasts) > granted)
    }
}
