//! The curves of one file: values by step, thinned out evenly where there are many.
//!
//! Which values matter is known only in the end, when all names were seen, so each point keeps a
//! few of them.

use std::collections::{BTreeMap, VecDeque};

use super::metric::{Metric, metric};
use crate::time::Nanos;

/// Points that are kept of a file; of more, every second, fourth, … point.
pub(super) const MOST_POINTS: usize = 2_048;

/// The latest points, which are all kept: how fast a run went last, and where it stopped, is asked first.
pub(super) const LATEST: usize = 64;

/// Names of values that are followed in one file.
const NAMES: usize = 32;

/// Values of one point that are kept.
const VALUES: usize = 12;

/// What was logged of one step.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Point {
    /// Where the record stands.
    pub(super) record: u64,
    pub(super) step: i64,
    /// When the first value of the step was logged, and the last.
    pub(super) first: Nanos,
    pub(super) last: Nanos,
    /// Values by the number of their name.
    pub(super) values: Vec<(u16, f64)>,
}

/// A value that was no number any more.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct NotFinite {
    pub(super) name: String,
    pub(super) value: f64,
    pub(super) record: u64,
    pub(super) step: i64,
    pub(super) time: Nanos,
}

/// Where a curve left the numbers, for as long as it did not come back to them.
#[derive(Clone, Debug, Default)]
struct Gone {
    was_finite: bool,
    first: Option<NotFinite>,
    last: Option<NotFinite>,
}

/// The curves of one file, while it is read.
#[derive(Debug, Default)]
pub(super) struct Curves {
    names: BTreeMap<String, (u16, Metric)>,
    gone: BTreeMap<u16, Gone>,
    kept: Vec<(u64, Point)>,
    latest: VecDeque<(u64, Point)>,
    /// Kept are points whose number 2 to this power divides.
    thinned: u32,
    open: Option<Point>,
    count: u64,
}

/// What a file told in the end.
#[derive(Debug, Default)]
pub(super) struct FileCurves {
    /// In the file's order.
    pub(super) points: Vec<Point>,
    /// How many there were.
    pub(super) count: u64,
    /// Names by number.
    pub(super) names: BTreeMap<u16, (String, Metric)>,
    /// Losses and gradients that were no numbers to the end: where that began, and the last.
    pub(super) not_finite: Vec<(NotFinite, Option<NotFinite>)>,
}

impl Curves {
    /// Takes a value.
    pub(super) fn value(&mut self, record: u64, step: i64, time: Nanos, name: &str, value: f64) {
        let same = self.open.as_ref().is_some_and(|open| open.step == step);
        if !same {
            self.close();
        }
        let known = self.names.get(name).copied().or_else(|| {
            let kind = metric(name)?;
            let number = u16::try_from(self.names.len()).ok()?;
            (self.names.len() < NAMES).then(|| {
                self.names.insert(name.to_owned(), (number, kind));
                (number, kind)
            })
        });
        let open = self.open.get_or_insert_with(|| Point {
            record,
            step,
            first: time,
            last: time,
            values: Vec::new(),
        });
        open.first = open.first.min(time);
        open.last = open.last.max(time);
        let Some((number, kind)) = known else {
            return;
        };
        if open.values.len() < VALUES {
            open.values.push((number, value));
        }
        if kind.may_diverge() {
            let found = NotFinite {
                name: name.to_owned(),
                value,
                record,
                step,
                time,
            };
            self.gone.entry(number).or_default().note(found);
        }
    }

    fn close(&mut self) {
        let Some(point) = self.open.take() else {
            return;
        };
        let number = self.count;
        self.count += 1;
        self.latest.push_back((number, point));
        let Some((number, point)) = (self.latest.len() > LATEST)
            .then(|| self.latest.pop_front())
            .flatten()
        else {
            return;
        };
        if !number.is_multiple_of(1 << self.thinned) {
            return;
        }
        self.kept.push((number, point));
        while self.kept.len() > MOST_POINTS && self.thinned < 62 {
            self.thinned += 1;
            let every = 1_u64 << self.thinned;
            self.kept.retain(|(number, _)| number.is_multiple_of(every));
        }
    }

    /// What all of it says.
    pub(super) fn finish(&mut self) -> FileCurves {
        self.close();
        let points = std::mem::take(&mut self.kept).into_iter();
        let points = points.chain(std::mem::take(&mut self.latest));
        let not_finite = std::mem::take(&mut self.gone).into_values();
        FileCurves {
            points: points.map(|(_, point)| point).collect(),
            count: self.count,
            names: std::mem::take(&mut self.names)
                .into_iter()
                .map(|(name, (number, kind))| (number, (name, kind)))
                .collect(),
            not_finite: not_finite.filter_map(Gone::reportable).collect(),
        }
    }
}

impl Gone {
    fn note(&mut self, found: NotFinite) {
        if found.value.is_finite() {
            *self = Self {
                was_finite: true,
                ..Self::default()
            };
        } else if self.first.is_none() {
            self.first = Some(found);
        } else {
            self.last = Some(found);
        }
    }

    /// What was never a number may not have been meant to be one.
    fn reportable(self) -> Option<(NotFinite, Option<NotFinite>)> {
        let first = self.first.filter(|_| self.was_finite)?;
        Some((first, self.last))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(values: impl Iterator<Item = (i64, f64)>) -> FileCurves {
        let mut curves = Curves::default();
        for (record, (step, value)) in (1..).zip(values) {
            curves.value(record, step, step * 1_000, "train/loss", value);
            curves.value(record, step, step * 1_000 + 7, "lr", 0.1);
        }
        curves.finish()
    }

    #[test]
    fn many_points_are_thinned_out_evenly_and_the_last_are_kept() {
        let told = read((0..1_000_000).map(|step| (step, 1.0)));
        assert_eq!(told.count, 1_000_000);
        assert!(told.points.len() <= MOST_POINTS + LATEST && told.points.len() > MOST_POINTS / 2);
        let steps: Vec<i64> = told.points.iter().map(|point| point.step).collect();
        assert!(steps.is_sorted());
        assert_eq!(
            steps[steps.len() - LATEST..],
            (999_936..1_000_000).collect::<Vec<_>>()
        );
        assert_eq!(told.points[0].values.len(), 2);
        assert_eq!(
            (
                told.points[1].first,
                told.points[1].last - told.points[1].first
            ),
            (steps[1] * 1_000, 7)
        );
    }

    #[test]
    fn a_loss_that_stays_no_number_is_told_and_one_that_comes_back_is_not() {
        let nan = f64::NAN;
        let told = read([(1, 2.0), (2, nan), (3, nan), (4, nan)].into_iter());
        let (first, last) = &told.not_finite[0];
        assert_eq!((first.step, last.as_ref().unwrap().step), (2, 4));
        assert!(
            read([(1, 2.0), (2, nan), (3, 1.0)].into_iter())
                .not_finite
                .is_empty()
        );
        assert!(read([(1, nan), (2, nan)].into_iter()).not_finite.is_empty());
    }

    #[test]
    fn names_and_values_without_end_take_no_memory() {
        let mut curves = Curves::default();
        for number in 0..100_000_i64 {
            curves.value(1, 7, 0, &format!("loss/{number}"), 1.0);
        }
        let told = curves.finish();
        assert_eq!((told.count, told.names.len()), (1, NAMES));
        assert_eq!(told.points[0].values.len(), VALUES);
    }
}
