//! Gives every line a time, from its own text or from its neighbours.

use chrono::{DateTime, Datelike as _};

use super::clock::{self, Clock};
use super::line::Line;
use crate::time::{Nanos, SECOND, Stamp};

/// A line with its place in time.
#[derive(Clone, Debug)]
pub(crate) struct PlacedLine {
    pub(crate) line: Line,
    pub(crate) stamp: Stamp,
    /// How the time was inferred, where the line does not state it in full.
    pub(crate) inferred: Option<&'static str>,
}

/// How long a program may have been silent before a line without time. It only
/// bounds a guess, which is marked as one.
const SILENCE: Nanos = 3600 * SECOND;

/// Lines without time that wait for the next one that has a time.
const WAITING: usize = 2_000;

/// Where the log is in time.
#[derive(Debug, Default)]
pub(super) struct LinePlacer {
    last: Option<Stamp>,
    year: Option<i32>,
    month: u32,
    waiting: Vec<Line>,
}

impl LinePlacer {
    /// Takes the next line; lines that are placed by it come out in order.
    pub(super) fn push(&mut self, line: Line, out: &mut Vec<PlacedLine>) {
        let Some((stamp, inferred)) = self.stated(&line) else {
            self.waiting.push(line);
            if self.waiting.len() > WAITING {
                self.release(None, out);
            }
            return;
        };
        self.release(Some(stamp), out);
        self.last = Some(stamp);
        out.push(PlacedLine {
            line,
            stamp,
            inferred,
        });
    }

    /// There are no more lines.
    pub(super) fn finish(&mut self, out: &mut Vec<PlacedLine>) {
        self.release(None, out);
    }

    fn stated(&mut self, line: &Line) -> Option<(Stamp, Option<&'static str>)> {
        let Some(clock) = line.clock else {
            if self.year.is_none() {
                self.year = clock::mentioned_year(&line.message);
            }
            return None;
        };
        match clock {
            Clock::Full(stamp) | Clock::NoZone(stamp) => {
                let date = DateTime::from_timestamp_nanos(stamp.lo);
                self.year = Some(date.year());
                self.month = date.month();
                Some((stamp, matches!(clock, Clock::NoZone(_)).then_some("zone")))
            }
            Clock::NoYear { .. } => {
                let stamp = self.in_known_year(clock)?;
                let date = DateTime::from_timestamp_nanos(stamp.lo);
                self.year = Some(date.year());
                self.month = date.month();
                Some((stamp, Some("year")))
            }
        }
    }

    /// A time without year in the year the log is in.
    fn in_known_year(&self, clock: Clock) -> Option<Stamp> {
        let Clock::NoYear {
            month,
            day,
            nanos,
            width,
        } = clock
        else {
            return None;
        };
        // The log went past New Year between the two lines.
        let year = match (self.month, month) {
            (12, 1) => self.year? + 1,
            (1, 12) => self.year? - 1,
            _ => self.year?,
        };
        clock::in_year(year, month, day, nanos, width)
    }

    fn release(&mut self, next: Option<Stamp>, out: &mut Vec<PlacedLine>) {
        for line in std::mem::take(&mut self.waiting) {
            // The year may have become known after the line.
            let known = line.clock.and_then(|clock| self.in_known_year(clock));
            let (stamp, inferred) = match known {
                Some(stamp) => {
                    self.last = Some(stamp);
                    (stamp, "year")
                }
                None => between(self.last, next),
            };
            let inferred = Some(inferred);
            out.push(PlacedLine {
                line,
                stamp,
                inferred,
            });
        }
    }
}

/// The time of a line that states none, and how it was found.
fn between(last: Option<Stamp>, next: Option<Stamp>) -> (Stamp, &'static str) {
    match (last, next) {
        (Some(last), next) => {
            let latest = last.hi.saturating_add(SILENCE);
            let hi = next.map_or(latest, |next| next.hi.clamp(last.hi, latest));
            (Stamp { lo: last.lo, hi }, "previous")
        }
        // How long before it nobody knows: any earlier time would be made up, and might put it before what others wrote.
        (None, Some(next)) => (next, "next"),
        (None, None) => (Stamp::OPEN, "none"),
    }
}
