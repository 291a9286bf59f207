//! The training steps that one log tells of: how many, how fast, and whether they went on.

use crate::evidence::EvidenceRow;
use whathappened_model::event::EventId;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

/// Training steps as one pod's log tells them.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// When the first was told.
    pub first: Stamp,
    /// When the last was told.
    pub last: Stamp,
    /// The record of the last.
    pub id: EventId,
    /// Its row in the evidence.
    pub row: EvidenceRow,
    /// Which step the first was, where it says.
    pub first_step: Option<i64>,
    /// Which step the last was, where it says.
    pub step: Option<i64>,
    /// How many steps there are to be, where it says.
    pub total: Option<i64>,
    /// How many were told.
    pub reported: u64,
    /// When the last of them were told and by which rank, the latest first; [`Nanos::MIN`] where
    /// there were fewer.
    pub(in crate::graph) recent: [(Nanos, Option<i32>); RECENT],
}

/// A program that has missed some steps, and this long, has stopped making any.
const OVERDUE: Nanos = 60 * SECOND;

/// Times of steps that are kept.
pub(in crate::graph) const RECENT: usize = 16;

impl Progress {
    /// Whether the last step was the last that was to be.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.total
            .is_some_and(|total| total > 0 && self.step >= Some(total))
    }

    /// Pauses between the latest steps: from one to the next, the latest first.
    pub fn pauses(&self) -> impl Iterator<Item = (Nanos, Nanos)> {
        let times = self.recent.iter().map(|(time, _)| *time);
        let before = times.clone().skip(1);
        before.zip(times).filter(|(from, _)| *from != Nanos::MIN)
    }

    /// Whether so many steps are known that their absence tells something.
    #[must_use]
    pub fn are_known(&self) -> bool {
        const ENOUGH: u64 = 5;
        self.reported >= ENOUGH
    }

    /// The usual time between two steps that were told, in nanoseconds.
    #[must_use]
    pub fn usual(&self) -> Nanos {
        let steps = i64::try_from(self.reported).unwrap_or(Nanos::MAX) - 1;
        self.last.lo.saturating_sub(self.first.lo) / steps.max(1)
    }

    /// For how long a program that goes on may be silent: some of its usual steps, and `least` at the least.
    #[must_use]
    pub fn may_be_silent(progress: Option<&Self>, least: Nanos) -> Nanos {
        const STEPS: Nanos = 3;
        let usual = progress.map_or(0, Self::usual);
        least.max(usual.saturating_mul(STEPS))
    }

    /// Whether `time` is when the steps stopped, of a program that was ended at `end`, long after its
    /// last step. `None` where no such standstill is known. What no program goes on after, as
    /// `is_final` says of it, is seen to have stopped the steps much sooner.
    #[must_use]
    pub fn stopped_at(&self, time: Stamp, end: Stamp, is_final: bool) -> Option<bool> {
        /// Evaluating and saving take a while.
        const STANDSTILL: Nanos = 300 * SECOND;
        const STEPS: Nanos = 10;
        /// What has hung misses its next step; a buffer may hold back one more.
        const AT_ONCE: Nanos = 120 * SECOND;
        let usual = self.usual();
        let from = self.last.lo.saturating_sub(CLOCKS);
        let to = self
            .last
            .hi
            .saturating_add(AT_ONCE.max(usual.saturating_mul(2)));
        let is_then = (from..to).contains(&time.lo);
        let quiet = end.lo.saturating_sub(self.last.hi);
        // Since that, and not only since the last step, steps must have been missed.
        let missed = quiet.min(end.lo.saturating_sub(time.hi));
        let stood = quiet >= STANDSTILL.max(usual.saturating_mul(STEPS))
            || is_final && is_then && missed > Self::may_be_silent(Some(self), OVERDUE);
        (self.are_known() && stood).then_some(is_then)
    }

    /// The instant after which steps were made that were told after a line, as the line's log orders
    /// them: one that has no time of its own stands before the next one that has.
    #[must_use]
    pub fn written_by(line: Stamp) -> Nanos {
        /// What a time that a line states is less exact than.
        const STATED: Nanos = 2 * SECOND;
        if line.width() > STATED {
            line.hi.saturating_sub(SECOND)
        } else {
            line.hi
        }
    }

    /// Whether the program worked on after `time`, or that rank of it: it told of two steps at
    /// least that it cannot have written together, or of one that stands for many. One may have been under way, and its line in a
    /// buffer.
    #[must_use]
    pub fn went_on_after(&self, time: Nanos, rank: Option<i32>) -> bool {
        /// Of so many, two are made in the time that [`Self::made_a_step_after`] leaves for a part of them.
        const MANY: i64 = 6;
        self.steps_after(time, rank) >= 2
            || self.each() >= MANY && self.made_a_step_after(time, rank)
    }

    /// How many steps are made for each that is told, at least: many programs tell of every tenth.
    fn each(&self) -> i64 {
        let intervals = i64::try_from(self.reported).unwrap_or(i64::MAX) - 1;
        let made = self.step.zip(self.first_step);
        let made = made.map_or(0, |(last, first)| last.saturating_sub(first));
        made / intervals.max(1)
    }

    /// Whether at least one step of a rank was told after a time, and no part of the one before.
    #[must_use]
    pub fn made_a_step_after(&self, time: Nanos, rank: Option<i32>) -> bool {
        self.steps_after(time.saturating_add(self.usual() / 3), rank) >= 1
    }

    /// How many of the latest steps of a rank were told after a time.
    fn steps_after(&self, time: Nanos, rank: Option<i32>) -> usize {
        /// What several ranks write of one step, or a buffer lets go of at once.
        const TOGETHER: Nanos = 500_000_000;
        let apart = (self.usual() / 3).min(TOGETHER);
        let of_rank = |other: Option<i32>| rank.is_none() || other.is_none() || rank == other;
        let after = self.recent.iter();
        let after = after.filter(|(step, other)| *step > time && of_rank(*other));
        let mut last = None::<Nanos>;
        let mut steps = 0;
        for (step, _) in after {
            if last.is_none_or(|last| last.saturating_sub(*step) > apart) {
                steps += 1;
                last = Some(*step);
            }
        }
        steps
    }
}
