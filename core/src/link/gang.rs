//! Who waited for whom in a gang: that the others gave up on a collective operation is about
//! the member that did not, too.

use std::collections::HashMap;

use super::index::Index;
use crate::death::{Death, WAITED};
use crate::graph::{EntityGraph, Fact, Task};
use crate::resolve::Run;

/// Members with the first such fact of each.
type First = Vec<(u32, Vec<usize>)>;

/// The first of these of two members of each attempt: one of them is another's.
pub(super) struct GangTimeouts {
    first: HashMap<(usize, u32), First>,
}

impl GangTimeouts {
    pub(super) fn of(graph: &EntityGraph, runs: &[Run], deaths: &[Death], index: &Index) -> Self {
        let mut first = HashMap::new();
        let Some(waited) = graph.evidence.symbols.find(WAITED) else {
            return Self { first };
        };
        let fact = |number: &usize| -> Option<&Fact> {
            let fact = graph.facts.get(*number)?;
            (fact.signal == waited).then_some(fact)
        };
        for death in deaths {
            let key = (death.run, death.attempt);
            first.entry(key).or_insert_with(|| {
                let number = (death.attempt as usize).saturating_sub(1);
                let attempt = runs.get(death.run).and_then(|run| run.attempts.get(number));
                let pods = attempt.into_iter().flat_map(|attempt| &attempt.pods);
                let mut found: First = pods
                    .filter_map(|pod| {
                        let facts = index.pod.get(pod)?;
                        let first = facts.iter().find(|number| fact(number).is_some())?;
                        Some((*pod, vec![*first]))
                    })
                    .collect();
                // Facts are in order of time.
                found.sort_by_key(|(pod, facts)| (facts.first().copied(), *pod));
                found.truncate(2);
                found
            });
        }
        Self { first }
    }

    /// What another member wrote first.
    pub(super) fn beside(&self, death: &Death) -> Option<&Vec<usize>> {
        let of_attempt = self.first.get(&(death.run, death.attempt))?;
        let other = of_attempt.iter().find(|(pod, _)| *pod != death.pod);
        other.map(|(_, facts)| facts)
    }
}

/// The members of a death's attempt beside the one that it is about.
pub(super) fn others<'a>(
    graph: &'a EntityGraph,
    runs: &'a [Run],
    death: &'a Death,
) -> impl Iterator<Item = (u32, &'a Task)> {
    let number = (death.attempt as usize).saturating_sub(1);
    let attempt = runs.get(death.run).and_then(|run| run.attempts.get(number));
    let pods = attempt.into_iter().flat_map(|attempt| &attempt.pods);
    pods.filter(|pod| **pod != death.pod)
        .filter_map(|pod| Some((*pod, graph.pods.get(*pod as usize)?)))
}
