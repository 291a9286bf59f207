//! The order of the lines of one machine's log: one clock wrote them, so that they have one also where their times are alike.

use std::collections::HashMap;

use whathappened_model::event::SourceKind;
use whathappened_model::time::Nanos;

use crate::evidence::{Clock, Evidence, Row};
use crate::symbols::Symbol;

/// The logs of machines.
#[derive(Debug)]
pub struct Journals(HashMap<Symbol, Journal>);

/// One of them.
#[derive(Clone, Copy, Debug)]
struct Journal {
    /// Whether it was printed with the latest line first.
    backwards: bool,
    /// The latest time that a line of it tells.
    last: Nanos,
}

impl Journals {
    /// Looks at all logs of machines.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        type Line = (u64, Nanos);
        let mut ends: HashMap<Symbol, (Line, Line)> = HashMap::new();
        let mut latest: HashMap<Symbol, Nanos> = HashMap::new();
        let rows = evidence.rows().iter();
        // Lines without a year have no time, and stand in an order all the same.
        for row in rows.filter(|row| row.source_kind() == SourceKind::NodeLog) {
            let line = (row.line(), row.time.lo);
            let (first, last) = ends.entry(row.file()).or_insert((line, line));
            *first = line.min(*first);
            *last = line.max(*last);
            if row.time.hi != Nanos::MAX {
                let latest = latest.entry(row.file()).or_insert(row.time.lo);
                *latest = row.time.lo.max(*latest);
            }
        }
        let backwards = |((_, first), (_, last)): (Line, Line)| first > last;
        let of_file = |(file, ends): (Symbol, (Line, Line))| {
            let journal = Journal {
                backwards: backwards(ends),
                last: latest.get(&file).copied().unwrap_or(Nanos::MIN),
            };
            (file, journal)
        };
        Self(ends.into_iter().map(of_file).collect())
    }

    /// Whether the log of a line goes on for longer than a time after it.
    #[must_use]
    pub(crate) fn goes_on_after(&self, row: &Row, by: Nanos) -> bool {
        let is_dated = row.time.hi != Nanos::MAX;
        let journal = self.0.get(&row.file()).filter(|_| is_dated);
        journal.is_some_and(|journal| journal.last > row.time.hi.saturating_add(by))
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
        let Some(Journal { backwards, .. }) = self.0.get(&later.file()) else {
            return false;
        };
        if later.time.overlaps(earlier.time) {
            return later.line() != earlier.line() && (later.line() > earlier.line()) != *backwards;
        }
        later.time.lo >= earlier.time.hi
    }
}
