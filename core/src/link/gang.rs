//! Who complains of whom in a gang: that the others gave up on a collective operation, or lost touch with a member,
//! is about the member that did not, too.

use std::collections::HashMap;

use super::index::Index;
use crate::death::{Death, WAITED};
use crate::graph::{EntityGraph, Task, TaskRow};
use crate::resolve::Run;
use crate::signals::SignalClass;
use crate::symbols::Symbol;

/// Members with the first such fact of each.
type First = Vec<(TaskRow, Vec<usize>)>;

/// What members of each attempt wrote first of others: that they waited in vain, or that they are gone. Of two members
/// each, as one of them is another than the member that it is about.
pub(super) struct GangComplaints {
    first: HashMap<(usize, u32), [First; 2]>,
}

impl GangComplaints {
    pub(super) fn of(graph: &EntityGraph, runs: &[Run], deaths: &[Death], index: &Index) -> Self {
        let find = |signal: &&str| graph.evidence.symbols.find(signal);
        let waited: Vec<Symbol> = [WAITED].iter().filter_map(find).collect();
        let gone = graph.traits.of(SignalClass::PeerGone).iter();
        let gone: Vec<Symbol> = gone
            .filter_map(|signal| graph.evidence.symbols.find(signal))
            .collect();
        let mut first = HashMap::new();
        if waited.is_empty() && gone.is_empty() {
            return Self { first };
        }
        for death in deaths {
            let key = (death.run, death.attempt);
            first.entry(key).or_insert_with(|| {
                let run = runs.get(death.run);
                let attempt = run.and_then(|run| run.attempt(death.attempt));
                let pods = attempt.map_or(&[][..], |attempt| attempt.pods.as_slice());
                [&waited, &gone].map(|signals| first_of(graph, pods, signals, index))
            });
        }
        Self { first }
    }

    /// What another member wrote first, of each kind.
    pub(super) fn beside(&self, death: &Death) -> impl Iterator<Item = &Vec<usize>> {
        let of_attempt = self.first.get(&(death.run, death.attempt));
        let kinds = of_attempt.into_iter().flatten();
        kinds.filter_map(|first| {
            let other = first.iter().find(|(pod, _)| Some(*pod) != death.pod);
            other.map(|(_, facts)| facts)
        })
    }
}

/// The first fact with one of some signals of each of two pods, the earliest.
fn first_of(graph: &EntityGraph, pods: &[TaskRow], signals: &[Symbol], index: &Index) -> First {
    let says = |number: &&usize| {
        let fact = graph.facts.get(**number);
        fact.is_some_and(|fact| signals.contains(&fact.signal))
    };
    let mut found: First = pods
        .iter()
        .filter_map(|pod| Some((*pod, vec![*index.pod.get(pod)?.iter().find(says)?])))
        .collect();
    // Facts are in order of time.
    found.sort_by_key(|(pod, facts)| (facts.first().copied(), *pod));
    found.truncate(2);
    found
}

/// The members of a death's attempt beside the one that it is about.
pub(super) fn others<'a>(
    graph: &'a EntityGraph,
    runs: &'a [Run],
    death: &'a Death,
) -> impl Iterator<Item = (TaskRow, &'a Task)> {
    let run = runs.get(death.run);
    let attempt = run.and_then(|run| run.attempt(death.attempt));
    let pods = attempt.into_iter().flat_map(|attempt| &attempt.pods);
    pods.filter(|pod| Some(**pod) != death.pod)
        .filter_map(|pod| Some((*pod, graph.pods.get(*pod)?)))
}
