//! Whether a node took new pods at some time: who evicts from a node that does is not draining it.

use std::collections::HashMap;

use whathappened_connectors::time::{Nanos, Stamp};

use super::EntityGraph;
use crate::symbols::Symbol;

/// What is known of all nodes: when they were closed and opened, and when their objects were last seen open.
#[derive(Debug, Default)]
pub struct Cordons {
    /// Closings (`true`) and openings of each node, in time order.
    changes: HashMap<Symbol, Vec<(Stamp, bool)>>,
    /// When an object of the node last showed that it took pods.
    open: HashMap<Symbol, Nanos>,
}

impl Cordons {
    /// Reads the facts and objects of nodes.
    #[must_use]
    pub fn of(graph: &EntityGraph) -> Self {
        let mut known = Self::default();
        for fact in &graph.facts {
            let signal = graph.name(fact.signal);
            let closed = signal.starts_with("k8s.node.cordoned");
            if fact.node.is_some() && (closed || signal.starts_with("k8s.node.uncordoned")) {
                let changes = known.changes.entry(fact.node).or_default();
                changes.push((fact.time, closed));
            }
        }
        for (key, versions) in graph.evidence.objects.iter() {
            let shows = |one: &&crate::evidence::Version| !one.body.unschedulable;
            let last = versions.iter().rev().find(shows);
            if key.kind == "Node"
                && let Some(name) = graph.evidence.symbols.find(&key.name)
                && let Some(at) = last.and_then(|last| last.at)
            {
                let open = known.open.entry(name).or_insert(at.lo);
                *open = at.lo.max(*open);
            }
        }
        known
    }

    /// Whether a node took new pods at a time; `None` where no record tells.
    #[must_use]
    pub fn was_open(&self, node: Symbol, at: Stamp) -> Option<bool> {
        let changes = self.changes.get(&node).map_or(&[][..], Vec::as_slice);
        let before = changes.iter().rev().find(|(time, _)| time.lo <= at.hi);
        if let Some((_, closed)) = before {
            return Some(!closed);
        }
        if let Some((_, closed)) = changes.first() {
            return Some(*closed);
        }
        self.open
            .get(&node)
            .filter(|seen| **seen >= at.lo)
            .map(|_| true)
    }
}

#[cfg(test)]
mod tests {
    use whathappened_connectors::time::SECOND;

    use super::*;

    #[test]
    fn the_last_change_before_counts_and_else_what_was_seen_later() {
        let mut symbols = crate::symbols::SymbolTable::default();
        let (a, b, c) = (
            symbols.number("a"),
            symbols.number("b"),
            symbols.number("c"),
        );
        let at = |second: Nanos| Stamp::second(second * SECOND);
        let known = Cordons {
            changes: HashMap::from([(a, vec![(at(10), true), (at(20), false)])]),
            open: HashMap::from([(b, 50 * SECOND), (a, 50 * SECOND)]),
        };
        assert_eq!(known.was_open(a, at(15)), Some(false));
        assert_eq!(known.was_open(a, at(30)), Some(true));
        assert_eq!(known.was_open(a, at(5)), Some(true), "it was closed later");
        assert_eq!(known.was_open(b, at(40)), Some(true));
        assert_eq!(known.was_open(b, at(60)), None, "seen before only");
        assert_eq!(known.was_open(c, at(1)), None);
    }
}
