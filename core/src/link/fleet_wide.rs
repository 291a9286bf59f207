//! What befalls many machines at once and names none: troubles of a region or
//! zone, and what is done to a whole node pool. They touch the deaths that
//! happened while they lasted, on machines that they were about.

use std::collections::BTreeSet;

use whathappened_model::time::{Nanos, SECOND};

use super::ECHO;
use super::index::Index;
use crate::death::Death;
use crate::graph::{EntityGraph, Fact, Location, Phase, PlaceKind, TaskKind};

/// Clouds say when a trouble began to some minutes.
const ABOUT: Nanos = 300 * SECOND;

/// A group of machines has carried out what it was asked for within this.
const CARRIED_OUT: Nanos = 900 * SECOND;

/// What nobody told the end of is taken to be over after this.
const LONGEST: Nanos = 86_400 * SECOND;

/// Numbers of the facts, each with what it shares with the death: `region`,
/// `zone` or `pool`.
pub(super) fn about(
    graph: &EntityGraph,
    index: &Index,
    death: &Death,
) -> Vec<(usize, &'static str)> {
    if index.places.is_empty() && index.pools.is_empty() {
        return Vec::new();
    }
    let machines = machines(graph, death);
    let places = index.places.iter().filter_map(|number| {
        let fact = graph.facts.get(*number)?;
        let names = graph.name(fact.places);
        let own = machines.iter().map(|(_, place)| place);
        let via = match own.filter_map(|place| place.within(names)).max()? {
            PlaceKind::Zone => "zone",
            PlaceKind::Region => "region",
        };
        let lasts = lasts(graph, &index.places, fact, (death, ABOUT));
        lasts.then_some((*number, via))
    });
    let pools = index.pools.iter().filter_map(|number| {
        let fact = graph.facts.get(*number)?;
        let (cluster, pool) = graph.name(fact.pool).split_once('/')?;
        let alone = is_alone(graph, index, pool);
        let mut own = machines.iter();
        let holds = own.any(|(name, place)| place.member.is_in(name, cluster, pool, alone));
        let lasts = holds && lasts(graph, &index.pools, fact, (death, SECOND));
        lasts.then_some((*number, "pool"))
    });
    places.chain(pools).collect()
}

/// The machines that the member was on, by name; a run that got none has the
/// region where all nodes are.
fn machines<'w>(graph: &'w EntityGraph, death: &Death) -> Vec<(&'w str, Location)> {
    let Some(pod) = graph.pods.get(death.pod) else {
        let everywhere = graph.topology.everywhere();
        return everywhere.into_iter().map(|place| ("", place)).collect();
    };
    let (from, _) = pod.stay();
    let mut found = Vec::new();
    for node in pod.machines() {
        let instance = match pod.kind {
            TaskKind::Instance => Some(pod.uid),
            // Of some instances nothing was heard before their end.
            _ => graph
                .node_instance(node, from)
                .or_else(|| graph.last_instance(node, death.time.hi))
                .map(|node_instance| node_instance.instance),
        };
        let name = graph.name(node);
        let before = found.len();
        let reported = graph.topology.find(graph, node, instance);
        found.extend(reported.map(|place| (name, place.clone())));
        if found.len() == before {
            found.push((name, Location::default()));
        }
    }
    found
}

/// Whether all that is told of pools of this name is of one cluster.
fn is_alone(graph: &EntityGraph, index: &Index, pool: &str) -> bool {
    let facts = index
        .pools
        .iter()
        .filter_map(|number| graph.facts.get(*number));
    let reported = facts.filter_map(|fact| graph.name(fact.pool).split_once('/'));
    let clusters: BTreeSet<&str> = reported
        .filter(|(_, other)| *other == pool || other.is_empty())
        .map(|(cluster, _)| cluster)
        .collect();
    clusters.len() == 1
}

/// Whether it lasted when the death happened, or had only just ended: the end
/// of a machine is told late. `early` is how much sooner than told it may have begun.
fn lasts(
    graph: &EntityGraph,
    others: &[usize],
    fact: &Fact,
    (death, early): (&Death, Nanos),
) -> bool {
    if fact.time.lo.saturating_sub(early) > death.time.hi {
        return false;
    }
    let ends = others.iter().filter_map(|number| {
        let other = graph.facts.get(*number)?;
        let same = fact.operation.is_some() && fact.operation == other.operation;
        let over = other.phase == Phase::Ended || graph.name(other.signal).ends_with(".done");
        (same && over && other.time.lo >= fact.time.lo).then_some(other.time.hi)
    });
    let reported = fact.end.map(|end| end.hi).into_iter().chain(ends).min();
    // What is answered at once is carried out afterwards: how long that took no record says.
    let is_only_record = others.iter().all(|number| {
        let other = graph.facts.get(*number);
        other.is_none_or(|other| other.row == fact.row || other.operation != fact.operation)
    });
    let carried_out = fact.time.hi.saturating_add(CARRIED_OUT);
    let reported = reported.map(|end| {
        if is_only_record {
            end.max(carried_out)
        } else {
            end
        }
    });
    let end = reported.unwrap_or(fact.time.hi.saturating_add(LONGEST));
    end.saturating_add(ECHO) >= death.time.lo
}
