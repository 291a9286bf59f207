//! Since when machines were down that booted.

use crate::signals::named;
use std::collections::{HashMap, HashSet};

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::EntityGraph;
use super::task::Task;
use crate::symbols::Symbol;

/// A boot ends whatever runs on its machine, so it was at no time at which a container ran without a break. Versions of a node
/// often tell no more than that it was between two of them.
pub(super) fn set_apart_from_lives(graph: &mut EntityGraph) {
    let Some(booted) = graph.evidence.symbols.find(named::K8S_NODE_REBOOTED) else {
        return;
    };
    let between = |fact: &super::Fact| fact.signal == booted && fact.time.hi > fact.time.lo;
    let nodes: HashSet<Symbol> = graph
        .facts
        .iter()
        .filter(|fact| between(fact) && fact.node.is_some())
        .map(|fact| fact.node)
        .collect();
    if nodes.is_empty() {
        return;
    }
    let mut lives: HashMap<Symbol, Vec<Stamp>> = HashMap::new();
    for task in graph.pods.iter().filter(|task| nodes.contains(&task.node)) {
        lives.entry(task.node).or_default().extend(unbroken(task));
    }
    for fact in graph.facts.iter_mut().filter(|fact| between(fact)) {
        for life in lives.get(&fact.node).into_iter().flatten() {
            if fact.time.lo < life.lo && life.lo < fact.time.hi && fact.time.hi <= life.hi {
                fact.time.hi = life.lo;
            } else if life.lo <= fact.time.lo && fact.time.lo < life.hi && life.hi < fact.time.hi {
                fact.time.lo = life.hi;
                fact.onset = fact.onset.max(life.hi);
            }
        }
    }
}

/// The stretches during which containers of a task ran. Of one that a boot ended the runtime says later that it ended with
/// 255, at a time when it was gone for long.
fn unbroken(task: &Task) -> impl Iterator<Item = Stamp> {
    const NOT_KNOWN: i32 = 255;
    task.starts.iter().filter_map(|start| {
        let ends = task.exits.iter().filter(|exit| !exit.init);
        let end = ends
            .filter(|exit| exit.time != Stamp::OPEN && exit.time.lo > start.hi)
            .min_by_key(|exit| exit.time)?;
        let is_known = end.exit_code.is_some_and(|code| code != NOT_KNOWN);
        is_known.then_some(Stamp {
            lo: start.hi,
            hi: end.time.lo,
        })
    })
}

/// When machines went down that were up again later. Their kubelets tell of a boot once
/// they run, however long it took; a machine that was down for long had fallen silent
/// before, which somebody else told.
pub(super) fn set_onsets(graph: &mut EntityGraph) {
    const DOWN: [&str; 3] = [
        named::K8S_NODE_NOT_READY,
        named::K8S_NODE_SILENT,
        named::K8S_NODE_SHUTDOWN,
    ];
    /// Nobody notices that a node is silent sooner.
    const UNNOTICED: Nanos = 120 * SECOND;
    /// A machine that was silent for no longer than this was so because it booted.
    const BOOT: Nanos = 300 * SECOND;
    let symbols = &graph.evidence.symbols;
    let (Some(booted), up) = (
        symbols.find(named::K8S_NODE_REBOOTED),
        symbols.find(named::K8S_NODE_READY),
    ) else {
        return;
    };
    let down = DOWN.map(|signal| symbols.find(signal));
    // When each fell silent last, and when it was heard of again.
    let mut silent: HashMap<Symbol, (Nanos, Option<Nanos>)> = HashMap::new();
    // When each said that it shuts down.
    let mut announced: HashSet<(Symbol, Nanos)> = HashSet::new();
    let shutdown = symbols.find(named::K8S_NODE_SHUTDOWN);
    for fact in graph.facts.iter_mut().filter(|fact| fact.node.is_some()) {
        let signal = Some(fact.signal);
        if signal == shutdown && fact.onset == fact.time.lo {
            announced.insert((fact.node, fact.onset));
        }
        if down.contains(&signal) {
            let stretch = silent.entry(fact.node).or_insert((fact.onset, None));
            if stretch.1.is_some() {
                *stretch = (fact.onset, None);
            }
        } else if signal == up {
            if let Some(stretch) = silent.get_mut(&fact.node) {
                stretch.1.get_or_insert(fact.time.lo);
            }
        } else if fact.signal == booted {
            let unnoticed = fact.time.lo.saturating_sub(UNNOTICED);
            let fell = silent
                .get(&fact.node)
                // It is told of with the first words of a node that is up again.
                .filter(|(_, again)| again.is_none_or(|again| again >= unnoticed))
                .map(|(fell, _)| *fell);
            // A node that said when it shuts down was up until then.
            let foretold = fell.filter(|fell| announced.contains(&(fact.node, *fell)));
            fact.onset = match foretold.or(fell.map(|fell| fell.min(unnoticed))) {
                Some(down) if fact.time.lo.saturating_sub(down) < BOOT => down,
                down => fact.onset.max(down.unwrap_or(unnoticed)),
            };
        }
    }
}
