//! Gives every line a time, from its own text or from its neighbours.

use std::collections::VecDeque;

use chrono::{DateTime, Datelike as _};

use super::clock::{self, Clock};
use super::line::Line;
use crate::time::{Nanos, SECOND, Stamp};

/// A line with its place in time.
#[derive(Clone, Debug)]
pub(crate) struct Placed {
    pub(crate) line: Line,
    pub(crate) stamp: Stamp,
    /// How the time was inferred, where the line does not state it in full.
    pub(crate) inferred: Option<&'static str>,
}

/// How long a program may have been silent around a line without time. It only
/// bounds a guess, which is marked as one.
const SILENCE: Nanos = 3600 * SECOND;

/// Lines without time that wait for the next one that has a time.
const WAITING: usize = 2_000;

/// Where the log is in time.
#[derive(Debug, Default)]
pub(super) struct Placing {
    last: Option<Stamp>,
    year: Option<i32>,
    month: u32,
    waiting: VecDeque<Line>,
}

impl Placing {
    /// Takes the next line; lines that are placed by it come out in order.
    pub(super) fn push(&mut self, line: Line, out: &mut Vec<Placed>) {
        let Some((stamp, inferred)) = self.stated(&line) else {
            self.waiting.push_back(line);
            if self.waiting.len() > WAITING {
                self.release(None, out);
            }
            return;
        };
        self.release(Some(stamp), out);
        self.last = Some(stamp);
        out.push(Placed {
            line,
            stamp,
            inferred,
        });
    }

    /// There are no more lines.
    pub(super) fn finish(&mut self, out: &mut Vec<Placed>) {
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
            Clock::NoYear {
                month,
                day,
                nanos,
                width,
            } => {
                let year = self.year?;
                // The log went past New Year.
                let year = if self.month == 12 && month == 1 {
                    year + 1
                } else {
                    year
                };
                let stamp = clock::in_year(year, month, day, nanos, width)?;
                self.year = Some(year);
                self.month = month;
                Some((stamp, Some("year")))
            }
        }
    }

    fn release(&mut self, next: Option<Stamp>, out: &mut Vec<Placed>) {
        let (stamp, inferred) = match (self.last, next) {
            (Some(last), next) => {
                let latest = last.hi.saturating_add(SILENCE);
                let hi = next.map_or(latest, |next| next.hi.clamp(last.hi, latest));
                (Stamp { lo: last.lo, hi }, "previous")
            }
            (None, Some(next)) => (
                Stamp {
                    lo: next.lo.saturating_sub(SILENCE),
                    hi: next.hi,
                },
                "next",
            ),
            (None, None) => (Stamp::OPEN, "none"),
        };
        out.extend(self.waiting.drain(..).map(|line| Placed {
            line,
            stamp,
            inferred: Some(inferred),
        }));
    }
}
