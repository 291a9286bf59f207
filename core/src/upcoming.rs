//! What is announced for the machines of a run, or for one machine.

use std::collections::BTreeSet;

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::graph::{EntityGraph, Fact, NodeInstance, Phase, Task, TaskKind, TaskRow};
use crate::lifecycle::End;
use crate::resolve::{MachineMatch, Run};
use crate::symbols::Symbol;

/// An announcement that does not say for when is for soon, and forgotten after this.
const SOON: Nanos = 3_600 * SECOND;

/// Whose announcements count.
#[derive(Clone, Debug, Default)]
pub struct Machines {
    nodes: BTreeSet<Symbol>,
    instances: BTreeSet<Symbol>,
    place: Option<MachineMatch>,
}

impl Machines {
    /// Where the members of runs are that have not ended.
    #[must_use]
    pub fn of_runs<'a>(
        graph: &EntityGraph,
        runs: impl Iterator<Item = &'a Run>,
        ends: &Table<Task, End>,
        now: Nanos,
    ) -> Self {
        let mut found = Self::default();
        let members: BTreeSet<TaskRow> = runs.flat_map(|run| run.pods.iter().copied()).collect();
        for number in members {
            let ended = ends
                .get(number)
                .and_then(End::final_time)
                .is_some_and(|end| end.lo <= now);
            let Some(one) = graph.pods.get(number).filter(|_| !ended) else {
                continue;
            };
            if one.kind == TaskKind::Instance {
                found.instances.insert(one.uid);
            }
            if one.node.is_some() {
                found.nodes.insert(one.node);
                let node_instance = graph.node_instance(one.node, now);
                found
                    .instances
                    .extend(node_instance.map(|node_instance| node_instance.instance));
            }
        }
        found
    }

    /// One machine.
    #[must_use]
    pub fn at(place: MachineMatch) -> Self {
        Self {
            place: Some(place),
            ..Self::default()
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty() && self.instances.is_empty() && self.place.is_none()
    }

    fn hold(&self, graph: &EntityGraph, fact: &Fact, now: Nanos) -> bool {
        let reported =
            |names: &BTreeSet<Symbol>, name: Symbol| name.is_some() && names.contains(&name);
        if let Some(place) = &self.place {
            return place.holds(graph, fact);
        }
        // An instance that bore the node's name before is another one.
        if fact.instance.is_some() && !self.instances.is_empty() {
            return reported(&self.instances, fact.instance);
        }
        reported(&self.nodes, fact.node) && !is_namesake(graph, fact, now)
    }
}

/// Whether a fact is about an instance that has a node's name and does not carry that node now: the same name in
/// another zone or account.
fn is_namesake(graph: &EntityGraph, fact: &Fact, now: Nanos) -> bool {
    let all = graph.node_instances.get(&fact.node);
    let does =
        |one: &NodeInstance| one.instance == fact.instance && one.from <= now && now <= one.to;
    let carries = all.is_some_and(|all| all.iter().any(does));
    let is_it = |one: &Task| {
        one.kind == TaskKind::Instance && one.uid == fact.instance && one.name == fact.node
    };
    fact.instance.is_some() && !carries && graph.pods.iter().any(is_it)
}

/// Numbers of the facts that announce something for the machines in `[from, to)`,
/// in order of when it is due: each announcement once, the last word on it.
#[must_use]
pub fn upcoming(graph: &EntityGraph, machines: &Machines, from: Nanos, to: Nanos) -> Vec<usize> {
    let mut found: Vec<(Stamp, usize)> = Vec::new();
    for (number, fact) in graph.facts.iter().enumerate() {
        let is_recorded = fact.time.lo <= from || is_undated(fact);
        let stands = fact.withdrawn.is_none_or(|at| at > from);
        if !announces(graph, fact) || !is_recorded || !stands || !machines.hold(graph, fact, from) {
            continue;
        }
        let due = fact.due.unwrap_or(Stamp {
            lo: fact.time.lo,
            hi: fact.time.hi.saturating_add(SOON),
        });
        if due.lo < to && due.hi > from && !is_past(graph, fact, from) {
            found.push((due, number));
        }
    }
    // A record that means several things is one announcement; of several records of one
    // thing the last counts.
    let mut records = BTreeSet::new();
    found.retain(|(_, number)| {
        let fact = graph.facts.get(*number);
        fact.is_some_and(|fact| records.insert(fact.id))
    });
    let same = |a: &Fact, b: &Fact| {
        let place = (a.node, a.instance) == (b.node, b.instance);
        place && a.signal == b.signal && (a.operation == b.operation || a.due == b.due)
    };
    let fact = |number: usize| graph.facts.get(number);
    let mut last: Vec<(Stamp, usize)> = Vec::new();
    for (due, number) in found {
        let known = last.iter_mut().find(
            |(_, other)| matches!((fact(*other), fact(number)), (Some(a), Some(b)) if same(a, b)),
        );
        match known {
            Some(slot) => *slot = (due, number),
            None => last.push((due, number)),
        }
    }
    // What is due at one time comes by name.
    let machine = |number: usize| {
        let fact = graph.facts.get(number);
        fact.map(|fact| (graph.name(fact.node), graph.name(fact.instance)))
    };
    last.sort_by_key(|(due, number)| (*due, machine(*number), *number));
    last.into_iter().map(|(_, number)| number).collect()
}

/// Whether a record says when a thing is due and not when it was announced, so that it
/// stands at the time of the thing itself: it counts from when it was read.
#[must_use]
pub fn is_undated(fact: &Fact) -> bool {
    fact.due.is_some_and(|due| due.lo == fact.time.lo)
}

/// Whether a fact says that something is to come.
fn announces(graph: &EntityGraph, fact: &Fact) -> bool {
    graph.name(fact.signal).ends_with(".announced") || fact.phase == Phase::Announced
}

/// Whether what was announced has been done or called off since.
fn is_past(graph: &EntityGraph, announced: &Fact, now: Nanos) -> bool {
    announced.operation.is_some()
        && graph.facts.iter().any(|fact| {
            fact.operation == announced.operation
                && matches!(fact.phase, Phase::Acted | Phase::Ended)
                && fact.time.lo >= announced.time.lo
                && fact.time.lo <= now
        })
}
