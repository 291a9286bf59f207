//! Who waited for whom in a gang: that the others gave up on a collective operation is about
//! the member that did not, too.

use std::collections::HashMap;

use super::index::Index;
use crate::death::{Death, WAITED};
use crate::resolve::Run;
use crate::world::{Fact, World};

/// Members with the first such fact of each.
type First = Vec<(u32, Vec<usize>)>;

/// The first of these of two members of each attempt: one of them is another's.
pub(super) struct Waited {
    first: HashMap<(usize, u32), First>,
}

impl Waited {
    pub(super) fn of(world: &World, runs: &[Run], deaths: &[Death], index: &Index) -> Self {
        let mut first = HashMap::new();
        let Some(waited) = world.evidence.symbols.find(WAITED) else {
            return Self { first };
        };
        let fact = |number: &usize| -> Option<&Fact> {
            let fact = world.facts.get(*number)?;
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
