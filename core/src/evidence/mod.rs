//! Evidence: every fact once, with all its witnesses, in bounded memory.
//!
//! A fact's body is compressed and, past a budget, kept in an unlinked
//! temporary file; what stays in memory is a row of some hundred bytes. Merging
//! copies is commutative, so the order in which files are read does not matter.

mod as_of;
mod objects;
mod row;
mod spill;

use std::collections::BTreeMap;

use hashbrown::HashTable;
use whathappened_model::collective::{Trace, trace_of};
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::observation::Observation;
use whathappened_model::table::{RowNumber, Table};
use whathappened_model::time::{Nanos, Stamp};

pub use objects::{Objects, Version};
pub use row::{Clock, Row};
pub use spill::SpillError;

use crate::signals::Ruleset;
use crate::symbols::SymbolTable;
use spill::Spill;

/// The number of a fact's row.
pub type EvidenceRow = RowNumber<Row>;

/// What was read, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Facts that were told, copies included.
    pub reported: u64,
    /// Facts that were told before.
    pub duplicates: u64,
}

/// An id is a hash already; its lower half is as good as any.
#[expect(clippy::cast_possible_truncation, reason = "the half is meant")]
fn hash_of(id: EventId) -> u64 {
    id.0 as u64
}

/// All facts and object versions of a case.
#[derive(Debug, Default)]
pub struct Evidence {
    /// Names used by rows.
    pub symbols: SymbolTable,
    /// Versions of objects.
    pub objects: Objects,
    rows: Table<Row>,
    /// Numbers of rows by their ids, which are in the rows: millions of facts are held.
    by_id: HashTable<EvidenceRow>,
    spill: Spill,
    grew: Vec<(EventId, Option<u64>, Option<Stamp>)>,
    counts: Counts,
    /// Dumps of the flight recorder, which are compared with one another.
    traces: BTreeMap<EventId, (Event, Trace)>,
}

impl Evidence {
    /// Takes in what a record told.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn observe(
        &mut self,
        observation: Observation,
        ruleset: &Ruleset,
    ) -> Result<(), SpillError> {
        match observation {
            Observation::Event(mut event) => {
                ruleset.classify(&mut event);
                self.add(&event)
            }
            Observation::Object(version) => {
                self.objects.add(*version);
                Ok(())
            }
            Observation::EventGrew {
                namespace,
                name,
                count,
                last,
            } => {
                let id = EventId::of_kubernetes_event(&namespace, &name);
                self.grew.push((id, count, last));
                Ok(())
            }
        }
    }

    /// Adds a classified fact, or a witness to one that is known.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add(&mut self, event: &Event) -> Result<(), SpillError> {
        self.add_seen(event, &[event.source_kind])
    }

    /// Adds a classified fact that several connectors witnessed.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn add_seen(&mut self, event: &Event, seen_by: &[SourceKind]) -> Result<(), SpillError> {
        self.counts.reported += 1;
        if let Some(trace) = trace_of(event) {
            self.traces
                .entry(event.id)
                .or_insert_with(|| (event.clone(), trace));
        }
        let body = spill::encode(event)?;
        let row = Row::new(event, seen_by, &body, &mut self.symbols);
        let Some(known) = self.number(event.id) else {
            let place = self.spill.push(&body)?;
            let number = self.rows.push(row.placed(place));
            let rows = &self.rows;
            let hash = |number: &EvidenceRow| rows.get(*number).map_or(0, |row| hash_of(row.id));
            self.by_id.insert_unique(hash_of(event.id), number, hash);
            return Ok(());
        };
        self.counts.duplicates += 1;
        let Some(known_row) = self.rows.get_mut(known) else {
            return Ok(());
        };
        if row.is_better_than(known_row, &self.symbols) {
            let place = self.spill.push(&body)?;
            *known_row = row.placed(place).with_witnesses_of(known_row);
        } else {
            *known_row = known_row.with_witnesses_of(&row);
        }
        Ok(())
    }

    /// The row of a fact.
    fn number(&self, id: EventId) -> Option<EvidenceRow> {
        let is = |number: &EvidenceRow| self.rows.get(*number).is_some_and(|row| row.id == id);
        self.by_id.find(hash_of(id), is).copied()
    }

    /// Applies what audit writes said of Events that other records show. After
    /// this no more facts are taken in.
    ///
    /// # Errors
    /// When the temporary file cannot be written.
    pub fn settle(&mut self) -> Result<(), SpillError> {
        for (id, count, last) in std::mem::take(&mut self.grew) {
            let number = self.number(id);
            if let Some(row) = number.and_then(|number| self.rows.get_mut(number)) {
                row.grow(count, last);
            }
        }
        self.by_id = HashTable::new();
        self.spill.finish()
    }

    /// What dumps of the flight recorder say, by id.
    pub(crate) fn traces(&self) -> impl Iterator<Item = (&Event, &Trace)> {
        self.traces.values().map(|(event, trace)| (event, trace))
    }

    /// All rows, in no order that output may show.
    #[must_use]
    pub fn rows(&self) -> &Table<Row> {
        &self.rows
    }

    /// A fact that only tells what another tells is its witness from now on.
    pub(crate) fn fold(&mut self, witness: EvidenceRow, into: EvidenceRow) {
        let Some(seen) = self.rows.get(witness).copied() else {
            return;
        };
        if let Some(known_row) = self.rows.get_mut(into) {
            *known_row = known_row.seen_with(&seen);
        }
    }

    /// The zone of a fact's time was found out: it is of so much later or earlier.
    pub(crate) fn shift(&mut self, row: EvidenceRow, by: Nanos) {
        if let Some(row) = self.rows.get_mut(row) {
            row.shift(by);
        }
    }

    /// A fact of which nothing is left to tell.
    pub(crate) fn silence(&mut self, row: EvidenceRow) {
        if let Some(row) = self.rows.get_mut(row) {
            row.has_signal = false;
        }
    }

    /// What was read, counted.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// One fact, whole.
    ///
    /// # Errors
    /// When the temporary file cannot be read.
    pub fn event(&self, row: EvidenceRow) -> Result<Event, SpillError> {
        let row = self.rows.get(row).ok_or(SpillError::Lost)?;
        let mut event = self.spill.event(row.place)?;
        row.finish(&mut event, &self.symbols);
        Ok(event)
    }

    /// One fact without its place of origin, and its row: needs no symbols, so
    /// that they can grow while all facts are read.
    pub(crate) fn body(&self, row: EvidenceRow) -> Result<(Row, Event), SpillError> {
        let row = *self.rows.get(row).ok_or(SpillError::Lost)?;
        let mut event = self.spill.event(row.place)?;
        row.place(&mut event);
        Ok((row, event))
    }
}
