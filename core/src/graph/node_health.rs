//! Whether a node answered all the time about some moment: who evicts from one that does has
//! another reason than its silence.

use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::EntityGraph;
use crate::symbols::Symbol;

/// A node is given up this long after its last word at most.
const GIVEN_UP: Nanos = 120 * SECOND;

/// When nodes were ready and when not, as far as records tell.
#[derive(Debug, Default)]
pub struct NodeHealth {
    /// Since when each was ready (`true`) or not, in time order.
    changes: HashMap<Symbol, Vec<(Stamp, bool)>>,
    /// Until when each is known: the last time that its own object shows.
    known: HashMap<Symbol, Nanos>,
}

impl NodeHealth {
    /// Reads the facts and objects of nodes.
    #[must_use]
    pub fn of(graph: &EntityGraph) -> Self {
        let mut health = Self::default();
        for fact in &graph.facts {
            let signal = graph.name(fact.signal);
            let ready = signal == named::K8S_NODE_READY;
            let change =
                ready || matches!(signal, named::K8S_NODE_NOT_READY | named::K8S_NODE_SILENT);
            if change && fact.node.is_some() && fact.time != Stamp::OPEN {
                let changes = health.changes.entry(fact.node).or_default();
                changes.push((fact.time, ready));
            }
        }
        let objects = graph.evidence.objects.iter();
        for (key, versions) in objects.filter(|(key, _)| key.kind == "Node") {
            let last = versions.iter().filter_map(|version| version.at).max();
            let node = graph.evidence.symbols.find(&key.name);
            if let (Some(node), Some(last)) = (node, last) {
                let known = health.known.entry(node).or_insert(last.lo);
                *known = (*known).max(last.lo);
            }
        }
        health
    }

    /// Whether a node was ready before, at and after a time; `None` where no record tells.
    #[must_use]
    pub fn was_ready(&self, node: Symbol, at: Stamp) -> Option<bool> {
        let changes = self.changes.get(&node)?;
        let known = self.known.get(&node)?;
        let until = at.hi.saturating_add(GIVEN_UP);
        let (_, ready) = changes.iter().rev().find(|(time, _)| time.lo <= at.lo)?;
        let broken = changes.iter().any(|(time, ready)| {
            !ready && time.lo > at.lo.saturating_sub(GIVEN_UP) && time.lo <= until
        });
        (*ready && !broken && *known >= at.hi).then_some(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ready_throughout_is_ready_before_and_seen_after() {
        let mut symbols = crate::symbols::SymbolTable::default();
        let node = symbols.number("a");
        let at = |second: Nanos| Stamp::second(second * SECOND);
        let health = |changes: Vec<(Stamp, bool)>, known: Nanos| NodeHealth {
            changes: HashMap::from([(node, changes)]),
            known: HashMap::from([(node, known * SECOND)]),
        };
        let always = health(vec![(at(10), true)], 5_000);
        assert_eq!(always.was_ready(node, at(1_000)), Some(true));
        assert_eq!(always.was_ready(node, at(6_000)), None, "not seen since");
        assert_eq!(always.was_ready(node, at(5)), None, "not known before");
        let gone = health(vec![(at(10), true), (at(1_050), false)], 5_000);
        assert_eq!(gone.was_ready(node, at(1_000)), None, "found silent after");
        let back = health(vec![(at(900), false), (at(950), true)], 5_000);
        assert_eq!(back.was_ready(node, at(1_000)), None, "away just before");
    }
}
