//! The order of the lines of one machine's log: one clock wrote them, so that they have one also where their times are alike.

use std::collections::HashMap;

use whathappened_model::event::SourceKind;
use whathappened_model::time::Nanos;

use crate::evidence::{Clock, Evidence, Row};
use crate::symbols::Symbol;

/// The logs of machines.
#[derive(Debug)]
pub struct Journals(HashMap<Symbol, Journal>);

/// A line of one: its number, and its time where it has one.
type Line = (u64, Nanos);

/// One of them.
#[derive(Clone, Copy, Debug)]
struct Journal {
    first: Line,
    last: Line,
    /// The latest time that a line of it tells.
    latest: Nanos,
}

impl Journal {
    /// Whether it was printed with the latest line first.
    fn is_backwards(&self) -> bool {
        self.first.1 > self.last.1
    }
}

impl Journals {
    /// Looks at all logs of machines.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        let mut all: HashMap<Symbol, Journal> = HashMap::new();
        let rows = evidence.rows().iter();
        // Lines without a year have no time, and stand in an order all the same.
        for row in rows.filter(|row| row.source_kind() == SourceKind::NodeLog) {
            let line = (row.line(), row.time.lo);
            let journal = all.entry(row.file()).or_insert(Journal {
                first: line,
                last: line,
                latest: Nanos::MIN,
            });
            journal.first = line.min(journal.first);
            journal.last = line.max(journal.last);
            if row.time.hi != Nanos::MAX {
                journal.latest = row.time.lo.max(journal.latest);
            }
        }
        Self(all)
    }

    /// Whether the log of a line goes on after a time.
    #[must_use]
    pub(crate) fn goes_on_after(&self, row: &Row, time: Nanos) -> bool {
        let journal = self.0.get(&row.file());
        journal.is_some_and(|journal| journal.latest > time)
    }

    /// Whether one line was written after another in the log of one machine, or in two that it keeps by one clock; not
    /// where they are of two machines.
    #[must_use]
    pub fn is_after(&self, later: &Row, earlier: &Row) -> bool {
        if later.file() != earlier.file() {
            let is_of_machine =
                |row: &Row| row.source_kind() == SourceKind::NodeLog && row.clock == Clock::Named;
            return is_of_machine(later)
                && is_of_machine(earlier)
                && later.host.is_some()
                && later.host == earlier.host
                && later.time.lo >= earlier.time.hi;
        }
        let Some(journal) = self.0.get(&later.file()) else {
            return false;
        };
        if later.time.overlaps(earlier.time) {
            return later.line() != earlier.line()
                && (later.line() > earlier.line()) != journal.is_backwards();
        }
        later.time.lo >= earlier.time.hi
    }
}
