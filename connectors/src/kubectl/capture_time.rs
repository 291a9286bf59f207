//! When a capture was made, as far as it can be known.

use super::age::Age;
use crate::time::{Nanos, SECOND, Stamp};

/// Bounds on the moment of a capture: not before `lo`, before `hi`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct CaptureTime {
    pub(super) lo: Option<Nanos>,
    pub(super) hi: Option<Nanos>,
    /// Two bounds contradict each other: a clock is wrong, or a text was edited.
    broken: bool,
}

/// How far the clocks of two machines of one cluster may differ.
pub(super) const SKEW: Nanos = 2 * SECOND;

impl CaptureTime {
    /// It was at or after this.
    pub(super) fn not_before(&mut self, at: Nanos) {
        self.lo = Some(self.lo.map_or(at, |lo| lo.max(at)));
        self.check();
    }

    /// It was before this.
    pub(super) fn before(&mut self, at: Nanos) {
        self.hi = Some(self.hi.map_or(at, |hi| hi.min(at)));
        self.check();
    }

    /// Something of this age was at or after `at`.
    pub(super) fn aged_not_before(&mut self, at: Nanos, age: Age) {
        self.not_before(at.saturating_add(age.lo));
    }

    /// Something of this age was before `at`.
    pub(super) fn aged_before(&mut self, at: Nanos, age: Age) {
        self.before(at.saturating_add(age.hi));
    }

    /// Something of this age was in that interval.
    pub(super) fn aged(&mut self, at: Stamp, age: Age) {
        if at != Stamp::OPEN {
            self.aged_not_before(at.lo, age);
            self.aged_before(at.hi, age);
        }
    }

    fn check(&mut self) {
        self.broken |= matches!((self.lo, self.hi), (Some(lo), Some(hi)) if lo >= hi);
    }

    /// What is known of it, where that does not contradict itself.
    pub(super) fn bounds(&self) -> (Option<Nanos>, Option<Nanos>) {
        if self.broken {
            (None, None)
        } else {
            (self.lo, self.hi)
        }
    }

    /// The moment as an interval, where it is bounded on both sides.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        match (self.lo, self.hi) {
            (Some(lo), Some(hi)) if !self.broken => Some(Stamp { lo, hi }),
            _ => None,
        }
    }

    /// A moment at which what was printed was so: as exact as it is known, else the earliest.
    pub(super) fn shown(&self) -> Option<Stamp> {
        let earliest = || {
            let (lo, _) = self.bounds();
            lo.map(|lo| Stamp {
                lo,
                hi: lo.saturating_add(SECOND),
            })
        };
        self.stamp().or_else(earliest)
    }

    /// When something of this age was; open where the moment is not known.
    pub(super) fn minus(&self, age: Option<Age>) -> Stamp {
        match (self.stamp(), age) {
            (Some(moment), Some(age)) => Stamp {
                lo: moment.lo.saturating_sub(age.hi),
                hi: moment.hi.saturating_sub(age.lo),
            },
            _ => Stamp::OPEN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_anchors_are_intersected() {
        let at = Stamp::second(100 * SECOND);
        let mut moment = CaptureTime::default();
        assert_eq!(moment.minus(Age::parse("5s")), Stamp::OPEN);
        moment.aged(at, Age::parse("2m").unwrap());
        moment.aged(Stamp::second(150 * SECOND), Age::parse("100s").unwrap());
        let found = moment.stamp().unwrap();
        assert_eq!((found.lo / SECOND, found.hi / SECOND), (250, 252));
        let then = moment.minus(Age::parse("10s"));
        assert_eq!((then.lo / SECOND, then.hi / SECOND), (239, 242));
    }

    #[test]
    fn anchors_that_contradict_each_other_tell_nothing() {
        let mut moment = CaptureTime::default();
        moment.not_before(100);
        moment.before(50);
        assert_eq!(moment.stamp(), None);
        moment.before(500);
        assert_eq!(moment.stamp(), None);
    }
}
