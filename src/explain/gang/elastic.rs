//! Gangs that go on with fewer members: whoever made steps long after another had ended did not wait for it, and ended
//! of something else.

use whathappened_core::death::DeathState;
use whathappened_model::time::{Nanos, SECOND};

use super::Grouping;
use super::member::begins_with_act;
use crate::answer::Level;

/// Steps that were under way, or in a buffer, are told within this long.
const UNDER_WAY: Nanos = 120 * SECOND;
/// And a program of slow steps makes no more than so many without a member.
const STEPS: Nanos = 3;
/// Whoever looks at a run that does not get on, and ends it, takes a while; whoever ends one this much later may
/// have found it at work.
const LATER: Nanos = 600 * SECOND;

/// Who ends this long after another pod had come in the place of the missing one may have worked with it.
const JOINED: Nanos = 300 * SECOND;

impl Grouping<'_> {
    /// Whether a member made steps long after another had ended.
    pub(super) fn outlived(&self, ended: usize, member: usize) -> bool {
        let (pod, end) = (self.pod(member), self.stamp(member));
        let progress = self
            .graph
            .pods
            .get(pod)
            .and_then(|pod| pod.progress.as_deref());
        let first = self.stamp(ended);
        pod != self.pod(ended)
            && self.state(ended) == Some(DeathState::Died)
            && progress.is_some_and(|steps| {
                let late = UNDER_WAY.max(steps.usual().saturating_mul(STEPS));
                // Steps behind its own end are of a clock that is wrong.
                steps.last.lo > first.hi.saturating_add(late) && steps.last.lo <= end.hi
            })
    }

    /// Whether the gang went on without a member: another that ended for something else had outlived it.
    pub(super) fn went_on_without(&self, ended: usize, left: &[usize]) -> bool {
        left.iter().any(|other| self.outlived(ended, *other))
    }

    /// Whether a member ended with a code of its own choice long after another had ended, or had been made anew: it had waited
    /// for that in vain, or had worked without it, or with the new one, and failed of something else.
    pub(super) fn failed_later(&self, ended: usize, others: &[usize]) -> bool {
        let (since, late) = match self.replaced_at(ended) {
            Some(made) => (made, JOINED),
            // Of a run that was made smaller the rest was to go on.
            None if self.was_trimmed(ended) => (self.stamp(ended).hi, 0),
            None => (self.stamp(ended).hi, LATER),
        };
        self.state(ended) == Some(DeathState::Died)
            && others.iter().any(|other| {
                let code = self.deaths.get(*other).and_then(|one| one.exit_code);
                let chosen = code.is_some_and(|code| matches!(code, 1..=125));
                let later = self.time(*other).saturating_sub(since) > late;
                self.pod(*other) != self.pod(ended)
                    && self.exited(*other)
                    && chosen
                    && later
                    && !self.lost_touch(*other)
            })
    }

    /// Whether all that is known of the others is that somebody took them away much later: that they waited for the one
    /// that had ended nobody says.
    pub(super) fn were_taken_later(&self, ended: usize, left: &[usize]) -> bool {
        let first = self.stamp(ended);
        let later = |other: &usize| {
            let proven = self.best(*other);
            let proven =
                proven.is_some_and(|best| best.level >= Level::Supported && begins_with_act(best));
            proven && self.time(*other).saturating_sub(first.hi) > LATER
        };
        self.state(ended) == Some(DeathState::Died) && !left.is_empty() && left.iter().all(later)
    }
}
