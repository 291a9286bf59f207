//! Whom an end of which nothing else is known may have waited for.

use whathappened_core::death::DeathState;
use whathappened_model::time::{CLOCKS, Nanos};

use super::{Grouping, MISSED};
use crate::explain::gang::silence::last_written;
use crate::explain::machine_facts::is_of_machine;

/// SIGABRT: the watchdog of a collective ends its process with it, and so does an assertion.
const ABORTED: i32 = 134;

impl Grouping<'_> {
    /// The member that had waited in vain and ended itself for that before the first one that ended lost touch with it.
    pub(super) fn gave_up_before(&self, first: usize, others: &[usize]) -> Option<(usize, Nanos)> {
        let end = self.stamp(first).lo;
        let gave_up = |other: &usize| {
            let best = self.best(*other)?;
            let rule = self.rules.get(best.rule)?;
            let root = self.graph.facts.get(best.root())?;
            let waited = rule.cause == "hang.collective_timeout" && self.exited(*other);
            (waited && root.pod == self.pod(*other) && root.time.lo < end)
                .then_some((*other, root.time.lo))
        };
        let lost = self.lost_touch(first) && !self.is_waiting(first);
        let others = others.iter().filter(|_| lost);
        others
            .filter_map(gave_up)
            .min_by_key(|(other, time)| (*time, *other))
    }

    /// Whether a member waited in vain itself.
    fn is_waiting(&self, death: usize) -> bool {
        let rule = self.best(death).and_then(|best| self.rules.get(best.rule));
        rule.is_some_and(|rule| rule.cause.starts_with("hang."))
    }

    /// Whether a member on a machine in trouble, which had written nothing since and was then taken away with what was left, may
    /// be whom one waited for that aborted itself, and of which no more is known than that.
    pub(super) fn may_be_missed(&self, first: usize, other: usize) -> bool {
        let aborted = self.deaths.get(first).filter(|one| {
            one.exit_code == Some(ABORTED) && self.exited(first) && self.best(first).is_none()
        });
        let fault = self
            .best(other)
            .and_then(|best| self.graph.facts.get(best.root()));
        let (Some(aborted), Some(fault)) = (aborted, fault) else {
            return false;
        };
        let waited = |since: Nanos| since.saturating_add(MISSED) <= aborted.time.lo;
        let pod = self.graph.pods.get(self.pod(other));
        let wrote_on = pod
            .and_then(last_written)
            .is_some_and(|wrote| wrote > fault.time.hi.saturating_add(CLOCKS));
        self.state(other) == Some(DeathState::Died)
            && self.is_torn_down(other)
            && !self.is_hang(other)
            && is_of_machine(fault)
            && waited(fault.time.hi)
            && !wrote_on
    }
}
