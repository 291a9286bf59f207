//! The order of the lines of one machine's log: one clock wrote them, so that they have one also where their times are alike.

use std::collections::HashMap;

use whathappened_model::event::SourceKind;
use whathappened_model::time::Nanos;

use crate::evidence::{Clock, Evidence, Row};
use crate::symbols::Symbol;

/// The logs of machines, by whether they were printed with the latest line first.
#[derive(Debug)]
pub struct Journals(HashMap<Symbol, bool>);

impl Journals {
    /// Looks at all logs of machines.
    #[must_use]
    pub fn of(evidence: &Evidence) -> Self {
        type Line = (u64, Nanos);
        let mut ends: HashMap<Symbol, (Line, Line)> = HashMap::new();
        let rows = evidence.rows().iter();
        // Lines without a year have no time, and stand in an order all the same.
        for row in rows.filter(|row| row.source_kind() == SourceKind::NodeLog) {
            let line = (row.line(), row.time.lo);
            let (first, last) = ends.entry(row.file()).or_insert((line, line));
            *first = line.min(*first);
            *last = line.max(*last);
        }
        let backwards = |((_, first), (_, last)): (Line, Line)| first > last;
        let ends = ends.into_iter();
        Self(ends.map(|(file, ends)| (file, backwards(ends))).collect())
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
        let Some(backwards) = self.0.get(&later.file()) else {
            return false;
        };
        if later.time.overlaps(earlier.time) {
            return later.line() != earlier.line() && (later.line() > earlier.line()) != *backwards;
        }
        later.time.lo >= earlier.time.hi
    }
}
