//! How fast each pod trained, as the steps in its log tell, and since when it is slower.
//!
//! A run is measured against its own past here: what a step should take, nobody says. Its ranks are measured against each
//! other in `peers`.

use std::collections::BTreeMap;

use crate::evidence::{Evidence, EvidenceRow};
use crate::signals::named;
use whathappened_model::event::Event;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::fact::Fact;
use super::own_time::OwnTimes;
use super::task::Task;
use crate::symbols::SymbolTable;

/// What is derived where steps take longer until the log's end.
const SLOW: &str = named::LOG_SLOW;

/// What is derived where they did for a while.
const PASSED: &str = named::LOG_SLOW_PASSED;

/// Steps that are kept of one log; of more, every second, fourth, … step.
const MOST_STEPS: usize = 512;

/// Logs give times to the second, and some steps are shorter: paces are measured over this
/// long at least.
const MEASURED: Nanos = 10 * SECOND;

/// Paces that must be known before the change, and after it.
const ENOUGH: usize = 10;

/// The least time that a slowdown lasts; saving and evaluating take a while.
const LASTS: Nanos = 300 * SECOND;

/// A step takes so many times as long, as the median goes.
const MEDIAN: f64 = 1.5;

/// What a step takes at most where it takes as long as before again.
const RECOVERED: f64 = 1.2;

/// And so many times as long in nine of ten paces after the change.
const MOST: f64 = 1.3;

/// One step that a log tells of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Point {
    time: Nanos,
    step: i64,
    row: EvidenceRow,
    /// What the line says of its throughput, in thousandths of its own unit.
    rate: Option<u64>,
    /// The rank that wrote it, where its line says so.
    rank: Option<i32>,
    /// What of the step was the rank's own work, where its line says so.
    own: OwnTimes,
}

/// The steps of one pod's log, thinned out evenly. What is kept does not depend on the order
/// of lines.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pace {
    points: Vec<Point>,
    /// Kept are steps that 2 to this power divides.
    thinned: u32,
}

/// What one rank says of its steps between two lines of a log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Sample {
    /// From when.
    pub(super) from: Nanos,
    /// To when.
    pub(super) to: Nanos,
    /// The step at its end.
    pub(super) step: i64,
    /// The line at its end.
    pub(super) row: EvidenceRow,
    /// Seconds a step.
    pub(super) pace: f64,
    /// What the line at its end says of the rank's own work.
    pub(super) own: OwnTimes,
}

/// Time a step took between two lines of a log.
struct Interval {
    from: Point,
    to: Point,
    /// Seconds a step.
    pace: f64,
}

/// Steps that take longer than before, to the end of the log or until they take as long as before again.
#[derive(Debug, PartialEq)]
struct Slowdown {
    /// The line that tells of the first slow step.
    row: EvidenceRow,
    /// The step after which it began.
    after: i64,
    begin: Nanos,
    end: Nanos,
    /// The step from which on they took as long as before again.
    until: Option<i64>,
    /// Seconds a step, the median before and since.
    paces: (f64, f64),
}

impl Pace {
    /// When each step was first told of.
    pub(super) fn times(&self) -> BTreeMap<i64, Nanos> {
        let mut times = BTreeMap::new();
        for point in &self.points {
            let first = times.entry(point.step).or_insert(point.time);
            *first = point.time.min(*first);
        }
        times
    }
}

/// Notes a training step told by a row at a known time.
pub(super) fn note(event: &Event, row: EvidenceRow, step: i64, pod: &mut Task) {
    pod.pace.add(Point {
        time: event.time.lo,
        step,
        row,
        rate: rate_of(event),
        rank: event.rank,
        own: OwnTimes::of(event.message.as_deref().unwrap_or_default()),
    });
}

/// The throughput that a line tells of: the more, the faster.
fn rate_of(event: &Event) -> Option<u64> {
    let text = event.attribute("throughput")?;
    let number: String = text
        .chars()
        .take_while(|sign| sign.is_ascii_digit() || matches!(sign, '.' | ','))
        .filter(|sign| *sign != ',')
        .collect();
    let number: f64 = number.parse().ok().filter(|number| *number > 0.0)?;
    let rate = if text.contains("s/it") {
        1.0 / number
    } else {
        number
    };
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "positive, and cut off where it is too large"
    )]
    Some((rate * 1000.0) as u64)
}

/// Facts of pods whose steps take longer than they did, from the first such step to the last.
pub(super) fn slowed(
    evidence: &Evidence,
    pods: &Table<Task>,
    symbols: &mut SymbolTable,
) -> Vec<Fact> {
    let mut found = Vec::new();
    for (number, pod) in pods.numbered() {
        let slow = pod.pace.slowdown().or_else(|| pod.pace.passed());
        let Some((slow, row)) = slow.and_then(|slow| {
            let row = evidence.rows().get(slow.row)?;
            Some((slow, row))
        }) else {
            continue;
        };
        let at = |time| Stamp { lo: time, hi: time };
        let words = slow.words();
        let signal = if slow.until.is_some() { PASSED } else { SLOW };
        found.push(Fact {
            pod: Some(number),
            time: at(slow.begin),
            onset: slow.begin,
            end: Some(at(slow.end)),
            detail: symbols.number(&words),
            ..Fact::of_row(slow.row, row, symbols.number(signal))
        });
    }
    found
}

impl Pace {
    /// The steps that are kept, in order of time: when, which, and the record that tells of it.
    #[must_use]
    pub fn steps(&self) -> Vec<(Nanos, i64, EvidenceRow)> {
        let mut points = self.points.clone();
        points.sort_unstable();
        let points = points.into_iter();
        points
            .map(|point| (point.time, point.step, point.row))
            .collect()
    }

    /// What each rank that wrote into the log says of its steps; of a log in which none is named, the one that wrote it.
    pub(super) fn by_rank(&self) -> BTreeMap<Option<i32>, Vec<Sample>> {
        let mut ranks: BTreeMap<Option<i32>, Self> = BTreeMap::new();
        for point in &self.points {
            let one = ranks.entry(point.rank).or_default();
            one.points.push(*point);
        }
        if ranks.len() > 1 {
            ranks.remove(&None);
        }
        let samples = |(rank, one): (Option<i32>, Self)| {
            let samples = one.intervals().into_iter().map(|one| Sample {
                from: one.from.time,
                to: one.to.time,
                step: one.to.step,
                row: one.to.row,
                pace: one.pace,
                own: one.to.own,
            });
            (rank, samples.collect())
        };
        ranks.into_iter().map(samples).collect()
    }

    fn add(&mut self, point: Point) {
        if !self.keeps(&point) {
            return;
        }
        self.points.push(point);
        while self.points.len() > MOST_STEPS && self.thinned < 62 {
            self.thinned += 1;
            let every = 1_i64 << self.thinned;
            self.points.retain(|point| point.step % every == 0);
        }
    }

    fn keeps(&self, point: &Point) -> bool {
        point.step % (1_i64 << self.thinned) == 0
    }

    /// Paces in order of time. Where steps were counted anew, nothing is known.
    fn intervals(&self) -> Vec<Interval> {
        let mut points = self.points.clone();
        points.sort_unstable();
        let mut found = Vec::new();
        let Some(mut from) = points.first().copied() else {
            return found;
        };
        for to in points {
            if to.step < from.step {
                from = to;
            }
            let took = to.time.saturating_sub(from.time);
            if to.step > from.step && took >= MEASURED {
                let pace = took as f64 / SECOND as f64 / (to.step - from.step) as f64;
                found.push(Interval { from, to, pace });
                from = to;
            }
        }
        found
    }

    fn slowdown(&self) -> Option<Slowdown> {
        let intervals = self.intervals();
        let paces: Vec<f64> = intervals.iter().map(|one| one.pace).collect();
        // Most logs tell of no change, which their last paces show.
        let last = paces.get(paces.len().checked_sub(ENOUGH)?..)?;
        if quantile(last, 0.5) < MOST * least_usual(&paces) {
            return None;
        }
        let changes = ENOUGH..=paces.len().checked_sub(ENOUGH)?;
        let (first, before, after) = changes.into_iter().find_map(|change| {
            let (before, after) = paces.split_at(change);
            let usual = quantile(before, 0.5);
            let slow =
                quantile(after, 0.5) >= MEDIAN * usual && quantile(after, 0.1) >= MOST * usual;
            // A tenth of the paces since may be the usual ones, but not the first.
            let begins = after.iter().position(|pace| *pace >= MOST * usual)?;
            slow.then(|| (change + begins, usual, quantile(after, 0.5)))
        })?;
        let (begin, end) = (intervals.get(first)?, intervals.last()?);
        let (early, late) = intervals.split_at(first);
        if keeps_its_rate(early, late) {
            return None;
        }
        (end.to.time.saturating_sub(begin.from.time) >= LASTS).then_some(Slowdown {
            row: begin.to.row,
            after: begin.from.step,
            begin: begin.from.time,
            end: end.to.time,
            until: None,
            paces: (before, after),
        })
    }

    /// A stretch of slow steps that is over: steps take as long as before again. Of several the last.
    fn passed(&self) -> Option<Slowdown> {
        let intervals = self.intervals();
        let paces: Vec<f64> = intervals.iter().map(|one| one.pace).collect();
        let least = MOST * least_usual(&paces);
        // Most logs have no such stretch, which needs as many slow paces.
        if paces.iter().filter(|pace| **pace >= least).count() < ENOUGH * 9 / 10 {
            return None;
        }
        let mut found = None;
        let mut first = ENOUGH;
        while first + 2 * ENOUGH <= paces.len() {
            let (before, rest) = paces.split_at(first);
            let usual = quantile(before, 0.5);
            let begins = rest.first().is_some_and(|pace| *pace >= MOST * usual);
            let stretch = begins.then(|| slow_stretch(rest, usual)).flatten();
            let Some(length) = stretch else {
                first += 1;
                continue;
            };
            let (slow, again) = rest.split_at(length);
            let next = first + length;
            let recovered = again.len() >= ENOUGH && quantile(again, 0.5) <= RECOVERED * usual;
            let (begin, end) = (intervals.get(first)?, intervals.get(next - 1)?);
            let lasts = end.to.time.saturating_sub(begin.from.time) >= LASTS;
            let (early, late) = intervals.split_at(first);
            let late = late.get(..length).unwrap_or(late);
            if recovered && lasts && !keeps_its_rate(early, late) {
                found = Some(Slowdown {
                    row: begin.to.row,
                    after: begin.from.step,
                    begin: begin.from.time,
                    end: end.to.time,
                    until: Some(end.to.step),
                    paces: (usual, quantile(slow, 0.5)),
                });
            }
            first = next;
        }
        found
    }
}

/// How many paces at the beginning of some are slow: nine of ten of them, until half as many as would tell are not.
fn slow_stretch(paces: &[f64], usual: f64) -> Option<usize> {
    let (mut slow, mut last, mut quick) = (0_usize, 0_usize, 0_usize);
    for (place, pace) in paces.iter().enumerate() {
        if *pace >= MOST * usual {
            (slow, last, quick) = (slow + 1, place + 1, 0);
        } else {
            quick += 1;
            if quick * 2 >= ENOUGH {
                break;
            }
        }
    }
    let stretch = paces.get(..last)?;
    let most = slow * 10 >= last * 9;
    (last >= ENOUGH && most && quantile(stretch, 0.5) >= MEDIAN * usual).then_some(last)
}

/// Whether a log says itself that it goes on as fast as before: it pauses between its steps.
fn keeps_its_rate(before: &[Interval], after: &[Interval]) -> bool {
    let median = |intervals: &[Interval]| {
        let mut rates: Vec<u64> = intervals.iter().filter_map(|one| one.to.rate).collect();
        rates.sort_unstable();
        rates.get(rates.len() / 2).copied()
    };
    match (median(before), median(after)) {
        (Some(before), Some(after)) => after.saturating_mul(5) >= before.saturating_mul(4),
        _ => false,
    }
}

impl Slowdown {
    fn words(&self) -> String {
        let (before, since) = self.paces;
        if let Some(until) = self.until {
            let (usual, slow) = (seconds(before), seconds(since));
            return format!(
                "a step took {usual} until step {}, {slow} from then to step {until}, and about {usual} again after that",
                self.after
            );
        }
        format!(
            "a step took {} until step {} and {} since",
            seconds(before),
            self.after,
            seconds(since)
        )
    }
}

/// A pace with three digits: `0.412 s`, `4.12 s`, `41.2 s`, `412 s`.
pub(super) fn seconds(pace: f64) -> String {
    match pace {
        ..1.0 => format!("{pace:.3} s"),
        ..10.0 => format!("{pace:.2} s"),
        ..100.0 => format!("{pace:.1} s"),
        _ => format!("{pace:.0} s"),
    }
}

/// No usual pace is less than this one, however few of a log's paces were usual: of those before a change, which are [`ENOUGH`]
/// at least, more than half as many are at most their median.
fn least_usual(paces: &[f64]) -> f64 {
    let mut sorted = paces.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.get(ENOUGH / 2).copied().unwrap_or(f64::INFINITY)
}

/// A part of some paces, in their order of size, not all of them.
pub(super) fn quantile(paces: &[f64], part: f64) -> f64 {
    let mut sorted = paces.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let place = (sorted.len().saturating_sub(1) as f64 * part).round() as usize;
    sorted.get(place).copied().unwrap_or(f64::INFINITY)
}

#[cfg(test)]
mod tests;
