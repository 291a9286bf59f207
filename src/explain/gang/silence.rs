//! Machines that fell silent: whoever was on one was gone before anybody could find that out.

use whathappened_core::death::DeathState;
use whathappened_core::graph::Task;
use whathappened_core::signals::{SignalClass, named};
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::{BLUR, Grouping};
use crate::answer::Level;

/// A node is found to be silent forty seconds after the last word of its kubelet at the earliest, and a kubelet that is there
/// says one every ten.
const GONE_FOR: Nanos = 30 * SECOND;

/// A node is found to be silent this long after what was on it is taken to have ended, at most.
const FOUND_WITHIN: Nanos = 60 * SECOND;

impl Grouping<'_> {
    /// The member that was gone with its machine before what ended the first one had begun, and by when: the end of the
    /// others, and that the machine is silent, are on record first, which is not the order in which they failed.
    pub(super) fn gone_before(&self, first: usize, others: &[usize]) -> Option<(usize, Nanos)> {
        let began = self.began_apart(first)?;
        self.lost_but(first, others)
            .filter_map(|other| Some((other, self.gone_by(other)?)))
            .filter(|(_, gone)| *gone < began.lo)
            .min_by_key(|(other, gone)| (*gone, *other))
    }

    /// Whether a member on another machine may have been gone with that before what ended the first one had begun, and may
    /// as well have been there until later.
    pub(super) fn may_be_gone_before(&self, first: usize, others: &[usize]) -> bool {
        let machine = |death: usize| self.task(death).map(|task| task.node);
        let Some(began) = self.began_apart(first) else {
            return false;
        };
        self.lost_but(first, others)
            .filter(|other| machine(*other) != machine(first))
            .filter_map(|other| Some((other, self.gone_by(other)?)))
            .any(|(other, gone)| {
                let wrote = self.task(other).and_then(last_written);
                let since = gone.saturating_sub(GONE_FOR);
                wrote.map_or(since, |wrote| wrote.max(since)) < began.hi && began.lo <= gone
            })
    }

    /// When what ended a member began, where that is known and not that another one was missing: by its end at the latest, which
    /// is all that is known of what was found to have changed between two versions of an object.
    fn began_apart(&self, first: usize) -> Option<Stamp> {
        if !self.had_own_reason(first) && !self.was_taken(first) {
            return None;
        }
        let root = self.graph.facts.get(self.best(first)?.root())?;
        let end = self.stamp(first);
        let lo = root.time.lo.min(end.lo);
        // Of what is dated to the second its beginning counts.
        let is_stretch = root.time.width() >= BLUR.start;
        let hi = if is_stretch {
            root.time.hi.min(end.hi)
        } else {
            lo
        };
        Some(Stamp { lo, hi: hi.max(lo) })
    }

    /// The others that were lost with their machines.
    fn lost_but(&self, first: usize, others: &[usize]) -> impl Iterator<Item = usize> {
        others.iter().copied().filter(move |other| {
            let is_lost = self.state(*other) == Some(DeathState::Died) && self.was_lost(*other);
            is_lost && *other != first
        })
    }

    /// When a member that was lost with its machine was gone at the latest: well before anybody found the machine to be
    /// silent, or when the machine itself says that it went down.
    fn gone_by(&self, death: usize) -> Option<Nanos> {
        let one = self.deaths.get(death)?;
        let pod = self.task(death)?;
        let is_silence = |signal: &str, detail: &str| {
            signal == named::K8S_NODE_SILENT
                || signal == named::K8S_NODE_UNREACHABLE && detail.ends_with("/unreachable")
        };
        let on_node = self.graph.facts.iter();
        let on_node = on_node.filter(|fact| pod.node.is_some() && fact.node == pod.node);
        let found = on_node
            .filter(|fact| is_silence(self.graph.name(fact.signal), self.graph.name(fact.detail)))
            .map(|fact| fact.time)
            .filter(|found| {
                found.lo >= one.time.lo && found.lo.saturating_sub(one.time.hi) <= FOUND_WITHIN
            })
            .map(|found| found.hi.saturating_sub(GONE_FOR));
        let went_down = self.went_down(death);
        let gone = found.chain(went_down).min()?;
        let wrote_on = last_written(pod).is_some_and(|wrote| wrote > gone.saturating_add(CLOCKS));
        (!wrote_on).then_some(gone)
    }

    fn task(&self, death: usize) -> Option<&Task> {
        self.graph.pods.get(self.deaths.get(death)?.pod)
    }

    /// When the machine of a member says that it went down, where that is known to have ended it, or is a step on the way there.
    fn went_down(&self, death: usize) -> Option<Nanos> {
        let best = self.best(death)?;
        let says = best.path.iter().filter_map(|step| {
            let fact = self.graph.facts.get(step.fact)?;
            let signal = self.graph.name(fact.signal);
            let is_word = self.graph.traits.is(signal, SignalClass::GoesDown);
            is_word.then_some(fact.time.hi)
        });
        let first = says
            .min()
            .filter(|_| best.level >= Level::Supported && self.was_lost(death))?;
        Some(first.saturating_add(CLOCKS))
    }
}

/// When a member last wrote: who writes is alive, however seldom its kubelet says so.
pub(super) fn last_written(pod: &Task) -> Option<Nanos> {
    let step = pod.progress.as_deref().map(|progress| progress.last);
    let wrote = step.into_iter().chain(pod.last_line);
    wrote.map(|wrote| wrote.lo).max()
}
