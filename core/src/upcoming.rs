//! What is announced for the machines of a run, or for one machine.

use std::collections::BTreeSet;

use whathappened_connectors::time::{Nanos, SECOND, Stamp};

use crate::life::End;
use crate::resolve::{Place, Run};
use crate::symbols::Sym;
use crate::world::{Fact, Kind, Phase, World};

/// An announcement that does not say for when is for soon, and forgotten after this.
const SOON: Nanos = 3_600 * SECOND;

/// Whose announcements count.
#[derive(Clone, Debug, Default)]
pub struct Machines {
    nodes: BTreeSet<Sym>,
    instances: BTreeSet<Sym>,
    place: Option<Place>,
}

impl Machines {
    /// Where the members of runs are that have not ended.
    #[must_use]
    pub fn of_runs<'a>(
        world: &World,
        runs: impl Iterator<Item = &'a Run>,
        ends: &[End],
        now: Nanos,
    ) -> Self {
        let mut found = Self::default();
        let members: BTreeSet<u32> = runs.flat_map(|run| run.pods.iter().copied()).collect();
        for number in members {
            let ended = ends
                .get(number as usize)
                .and_then(End::final_time)
                .is_some_and(|end| end.lo <= now);
            let Some(one) = world.pods.get(number as usize).filter(|_| !ended) else {
                continue;
            };
            if one.kind == Kind::Instance {
                found.instances.insert(one.uid);
            }
            if one.node.is_some() {
                found.nodes.insert(one.node);
                let carrier = world.carrier(one.node, now);
                found
                    .instances
                    .extend(carrier.map(|carrier| carrier.instance));
            }
        }
        found
    }

    /// One machine.
    #[must_use]
    pub fn at(place: Place) -> Self {
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

    fn hold(&self, world: &World, fact: &Fact) -> bool {
        let told = |names: &BTreeSet<Sym>, name: Sym| name.is_some() && names.contains(&name);
        if let Some(place) = &self.place {
            return place.holds(world, fact);
        }
        // An instance that bore the node's name before is another one.
        if fact.instance.is_some() && !self.instances.is_empty() {
            return told(&self.instances, fact.instance);
        }
        told(&self.nodes, fact.node)
    }
}

/// Numbers of the facts that announce something for the machines in `[from, to)`,
/// in order of when it is due: each announcement once, the last word on it.
#[must_use]
pub fn upcoming(world: &World, machines: &Machines, from: Nanos, to: Nanos) -> Vec<usize> {
    let mut found: Vec<(Stamp, usize)> = Vec::new();
    for (number, fact) in world.facts.iter().enumerate() {
        let is_told = fact.time.lo <= from || is_undated(fact);
        if !announces(world, fact) || !is_told || !machines.hold(world, fact) {
            continue;
        }
        let due = fact.due.unwrap_or(Stamp {
            lo: fact.time.lo,
            hi: fact.time.hi.saturating_add(SOON),
        });
        if due.lo < to && due.hi > from && !is_past(world, fact, from) {
            found.push((due, number));
        }
    }
    // A record that means several things is one announcement; of several records of one
    // thing the last counts.
    let mut records = BTreeSet::new();
    found.retain(|(_, number)| {
        let fact = world.facts.get(*number);
        fact.is_some_and(|fact| records.insert(fact.id))
    });
    let same = |a: &Fact, b: &Fact| {
        let place = (a.node, a.instance) == (b.node, b.instance);
        place && a.signal == b.signal && (a.operation == b.operation || a.due == b.due)
    };
    let fact = |number: usize| world.facts.get(number);
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
    last.sort_unstable();
    last.into_iter().map(|(_, number)| number).collect()
}

/// Whether a record says when a thing is due and not when it was announced, so that it
/// stands at the time of the thing itself: it counts from when it was read.
#[must_use]
pub fn is_undated(fact: &Fact) -> bool {
    fact.due.is_some_and(|due| due.lo == fact.time.lo)
}

/// Whether a fact says that something is to come.
fn announces(world: &World, fact: &Fact) -> bool {
    world.name(fact.signal).ends_with(".announced") || fact.phase == Phase::Announced
}

/// Whether what was announced has been done or called off since.
fn is_past(world: &World, announced: &Fact, now: Nanos) -> bool {
    announced.operation.is_some()
        && world.facts.iter().any(|fact| {
            fact.operation == announced.operation
                && matches!(fact.phase, Phase::Acted | Phase::Ended)
                && fact.time.lo >= announced.time.lo
                && fact.time.lo <= now
        })
}
