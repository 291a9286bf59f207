//! Whether a node took new pods at some time: who evicts from a node that does is not draining it.

use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::EntityGraph;
use crate::symbols::Symbol;

/// The object of a node that nothing happens to tells of a time this long before it was read: its kubelet
/// reports every five minutes, and a report may be late.
const SILENCE: Nanos = 600 * SECOND;

/// A taint is put on a node by a controller, some seconds after somebody closed it.
const UNORDERED: Nanos = 30 * SECOND;

/// Servers of one cluster keep the same time to the second: an audit log tells which of two requests came first.
const SERVERS: Nanos = SECOND;

/// Who drains a node may wait for its pods for as long.
const DRAINS: Nanos = 3_600 * SECOND;

/// When nodes were closed and opened, as far as records tell. That a node takes pods later says nothing: who drains
/// opens it again.
#[derive(Debug, Default)]
pub struct Cordons {
    /// Closings (`true`) and openings of each node, in time order.
    changes: HashMap<Symbol, Vec<(Stamp, bool)>>,
    /// When an audit log tells that a node was first closed, on whose request.
    requested: HashMap<Symbol, Stamp>,
    /// When the last version of a node's own object took new pods.
    open: HashMap<Symbol, Nanos>,
    /// When somebody changed a node, maybe so: a log of metadata does not say how.
    patched: HashMap<Symbol, Vec<Stamp>>,
}

impl Cordons {
    /// Reads the facts and objects of nodes.
    #[must_use]
    pub fn of(graph: &EntityGraph) -> Self {
        let mut known = Self::default();
        for fact in &graph.facts {
            let signal = graph.name(fact.signal);
            let closed = signal.starts_with(named::K8S_NODE_CORDONED);
            if fact.node.is_some() && signal == named::K8S_NODE_CHANGED_BY_USER {
                known.patched.entry(fact.node).or_default().push(fact.time);
            }
            if fact.node.is_some() && (closed || signal.starts_with(named::K8S_NODE_UNCORDONED)) {
                let changes = known.changes.entry(fact.node).or_default();
                changes.push((fact.time, closed));
                if closed && fact.source_kind == SourceKind::KubernetesAudit {
                    known.requested.entry(fact.node).or_insert(fact.time);
                }
            }
        }
        let objects = graph.evidence.objects.iter();
        for (key, versions) in objects.filter(|(key, _)| key.kind == "Node") {
            let last = versions.iter().rfind(|version| version.at.is_some());
            let open = last.filter(|version| !version.deleted && !version.body.unschedulable);
            let node = graph.evidence.symbols.find(&key.name);
            if let (Some(node), Some(at)) = (node, open.and_then(|version| version.at)) {
                known.open.insert(node, at.lo);
            }
        }
        known
    }

    /// Whether a node took new pods at a time; `None` where no record tells.
    #[must_use]
    pub fn was_open(&self, node: Symbol, at: Stamp) -> Option<bool> {
        let changes = self.changes.get(&node)?;
        let before = changes.iter().rev().find(|(time, _)| time.lo <= at.hi);
        before.map(|(_, closed)| !closed)
    }

    /// Whether a node was seen to take new pods about a time or later, and no record tells that it was
    /// closed or opened before: whoever drains one leaves it closed until somebody opens it.
    #[must_use]
    pub fn was_never_closed(&self, node: Symbol, at: Stamp) -> bool {
        let seen = |open: &Nanos| open.saturating_add(SILENCE) > at.lo;
        match self.changes.get(&node).and_then(|changes| changes.first()) {
            // What is closed later was open until then; records of one act may be some seconds apart.
            Some((first, closed)) => {
                let requested = self.requested.get(&node).is_some_and(|requested| {
                    requested.lo > at.hi.saturating_add(SERVERS) && first.lo > at.hi
                });
                *closed && (requested || first.lo > at.hi.saturating_add(UNORDERED))
            }
            None => self.open.get(&node).is_some_and(seen) && !self.may_be_closed(node, at),
        }
    }

    /// Whether somebody may have closed a node shortly before, as who drains it does.
    fn may_be_closed(&self, node: Symbol, at: Stamp) -> bool {
        let mut patched = self.patched.get(&node).into_iter().flatten();
        let before = |time: &Stamp| {
            time.lo <= at.hi.saturating_add(SERVERS) && time.lo.saturating_add(DRAINS) > at.lo
        };
        patched.any(before)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_change_before_counts() {
        let mut symbols = crate::symbols::SymbolTable::default();
        let (a, b) = (symbols.number("a"), symbols.number("b"));
        let at = |second: Nanos| Stamp::second(second * SECOND);
        let known = Cordons {
            changes: HashMap::from([(a, vec![(at(10), true), (at(20), false)])]),
            open: HashMap::from([(a, 40 * SECOND), (b, 40 * SECOND)]),
            ..Cordons::default()
        };
        assert_eq!(known.was_open(a, at(15)), Some(false));
        assert_eq!(known.was_open(a, at(30)), Some(true));
        assert_eq!(known.was_open(a, at(5)), None, "closed later");
        assert_eq!(known.was_open(b, at(1)), None);
        assert!(known.was_never_closed(b, at(30)));
        assert!(!known.was_never_closed(b, at(700)), "not seen since");
        assert!(!known.was_never_closed(a, at(30)), "closed once");
        let later = Cordons {
            changes: HashMap::from([(a, vec![(at(100), true)])]),
            ..Cordons::default()
        };
        assert!(
            later.was_never_closed(a, at(30)),
            "closed for something else"
        );
        assert!(!later.was_never_closed(a, at(90)));
        let requested = Cordons {
            requested: HashMap::from([(a, at(100))]),
            ..later
        };
        assert!(
            requested.was_never_closed(a, at(90)),
            "one clock tells both"
        );
        assert!(!requested.was_never_closed(a, at(99)));
    }
}
