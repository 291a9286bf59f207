//! Whom an end of which nothing else is known may have waited for.

use whathappened_core::death::DeathState;
use whathappened_model::time::Nanos;

use super::{Grouping, MISSED};
use crate::explain::bounds::CLOCKS;
use crate::explain::gang::silence::last_written;
use crate::explain::machine_facts::is_of_machine;

/// SIGABRT: the watchdog of a collective ends its process with it, and so does an assertion.
const ABORTED: i32 = 134;

impl Grouping<'_> {
    /// Whether a member on a machine in trouble, which had written nothing since and was then taken away with what was left, may
    /// be whom one waited for that aborted itself, and of which no more is known than that.
    pub(super) fn may_be_missed(&self, first: usize, other: usize) -> bool {
        let aborted = self.deaths.get(first).filter(|one| {
            one.exit_code == Some(ABORTED) && self.exited(first) && self.best(first).is_none()
        });
        let trouble = self
            .best(other)
            .and_then(|best| self.graph.facts.get(best.root()));
        let (Some(aborted), Some(trouble)) = (aborted, trouble) else {
            return false;
        };
        let waited = |since: Nanos| since.saturating_add(MISSED) <= aborted.time.lo;
        let pod = self.graph.pods.get(self.pod(other));
        let wrote_on = pod
            .and_then(last_written)
            .is_some_and(|wrote| wrote > trouble.time.hi.saturating_add(CLOCKS));
        self.state(other) == Some(DeathState::Died)
            && self.is_torn_down(other)
            && !self.is_hang(other)
            && is_of_machine(trouble)
            && waited(trouble.time.hi)
            && !wrote_on
    }
}
