//! Gives every line a time, from its own text or from its neighbours.

use chrono::{DateTime, Datelike as _};

use super::clock::{self, Clock};
use super::line::Line;
use super::prefix::Speaker;
use super::{block, fields};
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
    /// The last line that has a time of its own, as far as its level stands in it, and who said it.
    last_line: String,
    speaker: Speaker,
}

/// A logger writes the level of a line within this many bytes.
const LEVEL: usize = 160;

/// Levels at which programs log an exception with its traceback.
const GRAVE: [&str; 6] = ["CRITICAL", "ERROR", "EXCEPTION", "FATAL", "SEVERE", "ERR"];

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
        self.heard(&line);
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

    /// Keeps what may tell of the line after this one.
    fn heard(&mut self, line: &Line) {
        let text = line.text();
        let mut end = text.len().min(LEVEL);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.last_line.clear();
        self.last_line
            .push_str(line.severity.as_deref().unwrap_or_default());
        self.last_line.push(' ');
        self.last_line.push_str(text.get(..end).unwrap_or_default());
        if self.speaker != line.speaker {
            self.speaker = line.speaker.clone();
        }
    }

    /// Whether a line is the first of a traceback that a logger wrote with the line before, an error's, in one: so
    /// Python's `logger.exception` does.
    fn is_of_error_before(&self, line: &Line) -> bool {
        let grave = || {
            let level = fields::severity(&self.last_line);
            level.is_some_and(|level| GRAVE.contains(&level.to_uppercase().as_str()))
        };
        line.text() == block::PYTHON && line.speaker == self.speaker && grave()
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
        let waiting = std::mem::take(&mut self.waiting);
        // The year may have become known after the line; then its time bounds those of the lines before it as well.
        let placed = waiting.into_iter().map(|line| {
            let known = line.clock.and_then(|clock| self.in_known_year(clock));
            (line, known)
        });
        let placed: Vec<(Line, Option<Stamp>)> = placed.collect();
        let mut nexts: Vec<Option<Stamp>> = Vec::with_capacity(placed.len());
        let mut after = next;
        for (_, known) in placed.iter().rev() {
            nexts.push(after);
            after = known.or(after);
        }
        for (at, (line, known)) in placed.into_iter().enumerate() {
            let next = nexts.pop().flatten();
            let (stamp, inferred) = match (known, self.last) {
                (Some(stamp), _) => {
                    self.last = Some(stamp);
                    (stamp, "year")
                }
                (None, Some(last)) if at == 0 && self.is_of_error_before(&line) => {
                    (last, "previous")
                }
                (None, last) => between(last, next),
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
