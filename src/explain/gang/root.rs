//! Whether the ends of two members come of one root, or the one follows the other.

use whathappened_core::death::DeathState;
use whathappened_core::graph::{Fact, Task};
use whathappened_core::signals::{SignalClass, named};
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::{Grouping, TEARDOWN};
use crate::answer::Level;
use crate::explain::candidate::{Candidate, Step};
use crate::explain::edge::Role;

/// Acts of one actor within this long are one act.
const ONE_ACT: Nanos = 600 * SECOND;

/// Nobody looks at a run, and acts, within this long of what happened to it.
const IN_HASTE: Nanos = 15 * SECOND;

/// Whoever is left of a run that was made smaller is stopped with the rest, or goes on.
const GOES_ON: Nanos = 60 * SECOND;

impl Grouping<'_> {
    /// Whether all that is known is that somebody, who is not, asked for the end: so does whoever
    /// takes away what is left.
    pub(super) fn is_of_nobody(&self, root: &Candidate) -> bool {
        let rule = self.rules.get(root.rule);
        let act = self.graph.facts.get(root.root());
        root.level <= Level::Hypothesis
            && rule.is_some_and(|rule| rule.cause == "ops.manual_delete")
            && act.is_some_and(|act| {
                // A kubelet obeys, whoever asked.
                !act.actor.is_some() || self.graph.name(act.signal) == named::K8S_CONTAINER_KILLING
            })
    }

    /// Whether a death has a tie of its own to the same root.
    pub(super) fn same_root(&self, root: &Candidate, primary: usize, death: usize) -> bool {
        let cause = |candidate: &Candidate| {
            self.rules
                .get(candidate.rule)
                .map(|rule| rule.cause.as_str())
        };
        let own = self.candidates.get(death).into_iter().flatten();
        let Some(own) = own
            .filter(|own| own.level > Level::Hypothesis || root.level == Level::Hypothesis)
            .find(|own| cause(own) == cause(root))
        else {
            return false;
        };
        // A weaker tie of its own must not hide a stronger other root.
        if self
            .best(death)
            .is_some_and(|best| cause(best) != cause(root) && best.level > own.level)
        {
            return false;
        }
        let (Some(a), Some(b)) = (
            self.graph.facts.get(root.root()),
            self.graph.facts.get(own.root()),
        ) else {
            return false;
        };
        let best = self.best(death);
        let other_hand = |best: &Candidate| self.is_of_other_hand(root, best);
        if self.is_of_other_hand(root, own)
            || best.is_some_and(|best| best.level >= own.level && other_hand(best))
        {
            return false;
        }
        let near = a.time.lo.saturating_sub(b.time.lo).saturating_abs() <= ONE_ACT;
        let same_actor = a.actor == b.actor && is_act(root) && is_act(own);
        let same_node = a.node.is_some() && a.node == b.node && self.graph.is_of_machine(a);
        let same_detail = a.detail == b.detail
            && self.deaths.get(primary).map(|one| one.state)
                == self.deaths.get(death).map(|one| one.state);
        let at_once = self.stamp(primary).overlaps(self.stamp(death));
        // An exception of its own at another time is the echo of the first one.
        let echoes = matches!(
            cause(root),
            Some("code.exception" | "hang.collective_timeout")
        );
        // Nor is what another program printed its own: who failed of something else was not struck by the same.
        let is_other_error = cause(root) == Some("code.exception")
            && a.detail.is_some()
            && b.detail.is_some()
            && a.detail != b.detail;
        let at_once = at_once && !is_other_error;
        // Those that wait do not wait for one another: what holds each up is in its own record.
        let is_other_wait = self.waits(primary) && self.waits(death) && a.signal != b.signal;
        root.root() == own.root()
            || (near
                && !is_other_wait
                && (at_once || (!echoes && (same_actor || same_node || same_detail))))
    }

    /// Whether two roots are acts of two that are known.
    fn is_of_other_hand(&self, one: &Candidate, other: &Candidate) -> bool {
        let actor = |candidate: &Candidate| {
            let fact = self.graph.facts.get(candidate.root())?;
            Some(fact.actor).filter(|actor| actor.is_some() && is_act(candidate))
        };
        matches!((actor(one), actor(other)), (Some(one), Some(other)) if one != other)
    }

    /// Whether somebody whom a record names asked for a member's end, and had not brought about the
    /// other's.
    fn is_of_own_hand(&self, root: &Candidate, own: &Candidate) -> bool {
        let deed = self.graph.facts.get(own.root());
        let named = deed.is_some_and(|deed| deed.actor.is_some());
        is_act(own) && named && !is_act(root)
    }

    /// Whether a member met an end of its own just after another: somebody else had asked for it
    /// before anybody can have looked at what the first one did, or it was at its limit of memory.
    fn is_unmoved(&self, primary: usize, death: usize, after: Nanos) -> bool {
        let (Some(root), Some(own)) = (self.best(primary), self.best(death)) else {
            return false;
        };
        // Who is asked to stop may need more memory to save its work.
        let at_limit = || {
            self.deaths.get(death).is_some_and(|one| {
                let pod = self.graph.pods.get(one.pod);
                let asked = pod.and_then(Task::first_asked);
                self.graph.name(one.reason) == "OOMKilled"
                    && asked.is_none_or(|asked| asked.lo > one.time.hi)
            })
        };
        // No member's end takes down the machine of another.
        let start = self.time(death).saturating_sub(after);
        let rule = self.rules.get(own.rule);
        let panicked = rule.is_some_and(|rule| rule.cause == "node.kernel_panic");
        let took_it = |fact: &Fact| {
            let first = self.graph.pods.get(self.pod(primary));
            let signal = self.graph.name(fact.signal);
            (panicked || self.graph.traits.is(signal, SignalClass::TakesDown))
                && self.graph.is_of_machine(fact)
                && first.is_none_or(|first| first.machines().all(|one| one != fact.node))
                && fact.time.lo.saturating_sub(start) <= IN_HASTE
        };
        let went_down = || {
            let mut told = own.path.iter().chain(&own.context);
            let is_it = |step: &Step| self.graph.facts.get(step.fact).is_some_and(took_it);
            !is_act(own) && told.any(is_it)
        };
        own.level >= Level::Supported
            && root.root() != own.root()
            && (went_down()
                || after <= IN_HASTE
                    && (self.is_of_other_hand(root, own)
                        || self.is_of_own_hand(root, own)
                        || at_limit()))
    }

    /// When a pod was made in the place of one that died.
    pub(super) fn replaced_at(&self, death: usize) -> Option<Nanos> {
        let death = self.deaths.get(death)?;
        let rank = self.graph.pods.get(death.pod)?.rank?;
        let later = self.runs.get(death.run)?.attempt(death.attempt + 1)?;
        let pods = later.pods.iter();
        pods.filter_map(|pod| self.graph.pods.get(*pod))
            .filter(|pod| pod.rank == Some(rank))
            .filter_map(Task::known_begin)
            .min()
    }

    /// Whether a death belongs to the teardown of a gang whose first one died at `start`.
    pub(super) fn followed(&self, primary: usize, start: Nanos, death: usize) -> bool {
        let Some(one) = self.deaths.get(death) else {
            return false;
        };
        if !matches!(
            one.state,
            DeathState::Died | DeathState::CrashLoop | DeathState::Restarted
        ) {
            return false;
        }
        if self.is_cleared(death) && !self.is_cleared(primary) {
            return one.time.hi > start;
        }
        let own_cause = self
            .best(death)
            .is_some_and(|best| best.level >= Level::Supported);
        let after = one.time.lo.saturating_sub(start);
        // Where another had taken the place of the first, who fails then of its own fault does not
        // follow it.
        let of_its_own = own_cause
            && !self.is_symptom(death)
            && (self
                .replaced_at(primary)
                .is_some_and(|made| made.saturating_add(CLOCKS) < one.time.lo)
                || self.was_trimmed(primary) && after > CLOCKS)
            // What its run goes on without, nobody ends of.
            || self.was_trimmed(primary) && after > GOES_ON;
        let unmoved = self.is_unmoved(primary, death, after);
        let by_somebody = self.waits(primary) && self.was_taken(death);
        let out_of_time = self.exited(primary) && self.is_out_of_time(death);
        let apart =
            of_its_own || unmoved || by_somebody || out_of_time || self.outlived(primary, death);
        one.time.hi > start && (after <= TEARDOWN || !own_cause) && !apart
    }
}

/// Whether a root is somebody's act.
#[must_use]
pub(in crate::explain) fn is_act(candidate: &Candidate) -> bool {
    candidate.path.iter().any(|step| step.role == Role::Act)
}
