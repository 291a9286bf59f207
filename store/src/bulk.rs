//! Bulk import: straight into segments, a day at a time.

use std::collections::{BTreeMap, HashMap};
use std::thread::JoinHandle;

use whathappened_model::observation::Observation;
use whathappened_model::time::Nanos;

use crate::catalogue::CatalogueUpdate;
use crate::day::Day;
use crate::error::StoreError;
use crate::lock::Lock;
use crate::packed_rows::PackedRows;
use crate::record::{Fact, FactOrObject, Object, Record};
use crate::store::Store;

/// What an import has written so far. What is counted here is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Facts and versions that were taken in.
    pub reported: u64,
    /// Those of them that were new or told something new.
    pub new: u64,
}

/// Rows that wait to be written, by day.
struct Buffer<R> {
    days: BTreeMap<Day, PackedRows<R>>,
    bytes: usize,
}

impl<R: Record> Buffer<R> {
    fn new() -> Self {
        Self {
            days: BTreeMap::new(),
            bytes: 0,
        }
    }

    fn push(&mut self, row: R) -> Result<(), postcard::Error> {
        let day = self.days.entry(row.day()).or_insert_with(PackedRows::new);
        let before = day.bytes();
        day.push(row)?;
        self.bytes += day.bytes() - before;
        Ok(())
    }
}

/// What a name or an entity costs while it waits.
const OVERHEAD: usize = 200;

/// What is being written: how much of it was told, and by whom.
struct PendingWrite {
    reported: u64,
    thread: JoinHandle<Result<u64, StoreError>>,
}

/// An import under way. Segments are written beside the reading; what was not
/// flushed is lost when it is dropped.
pub struct BulkImport<'a> {
    store: &'a mut Store,
    now: Nanos,
    facts: Buffer<Fact>,
    objects: Buffer<Object>,
    seen: CatalogueUpdate,
    waiting: u64,
    landing: Option<PendingWrite>,
    written: Written,
}

impl std::fmt::Debug for BulkImport<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bulk")
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl<'a> BulkImport<'a> {
    pub(crate) fn new(store: &'a mut Store, now: Nanos) -> Self {
        Self {
            store,
            now,
            facts: Buffer::new(),
            objects: Buffer::new(),
            seen: CatalogueUpdate::default(),
            waiting: 0,
            landing: None,
            written: Written::default(),
        }
    }

    /// Takes in one observation; facts are classified already.
    ///
    /// # Errors
    /// When what came before cannot be written.
    pub fn push(&mut self, observation: Observation) -> Result<(), StoreError> {
        let row = FactOrObject::of(observation);
        self.seen.see(&row);
        self.waiting += 1;
        match row {
            FactOrObject::Fact(fact) => self.facts.push(fact),
            FactOrObject::Object(object) => self.objects.push(object),
        }
        .map_err(|error| StoreError::damaged(&self.store.root, error))?;
        if self.facts.bytes + self.objects.bytes + self.seen.len() * OVERHEAD
            >= self.store.limits.buffer_bytes
        {
            self.start()?;
        }
        Ok(())
    }

    /// Writes what waits; when this returns, it is kept.
    ///
    /// # Errors
    /// When a segment cannot be written. Days that were written before stay.
    pub fn flush(&mut self) -> Result<Written, StoreError> {
        self.start()?;
        self.land()?;
        Ok(self.written)
    }

    /// As [`flush`](Self::flush), for the last time: gives the store back.
    ///
    /// # Errors
    /// As there.
    pub fn finish(mut self) -> Result<(Written, &'a mut Store), StoreError> {
        let written = self.flush()?;
        Ok((written, self.store))
    }

    /// Begins to write what waits, once what came before is written.
    fn start(&mut self) -> Result<(), StoreError> {
        self.store.refuse_shared()?;
        self.land()?;
        let seen = std::mem::take(&mut self.seen);
        let facts = std::mem::replace(&mut self.facts, Buffer::new());
        let objects = std::mem::replace(&mut self.objects, Buffer::new());
        let (root, limits, now) = (self.store.root.clone(), self.store.limits, self.now);
        let write = move || {
            let mut store = Store::open(&root, limits)?;
            let _lock = Lock::wait(&root)?;
            // Who there is, is written with the first segment, before any row needs it.
            let mut seen = seen;
            Ok(land(&mut store, facts, &mut seen, now)?
                + land(&mut store, objects, &mut seen, now)?)
        };
        self.landing = Some(PendingWrite {
            reported: std::mem::take(&mut self.waiting),
            thread: std::thread::spawn(write),
        });
        Ok(())
    }

    /// Waits for what is being written.
    fn land(&mut self) -> Result<(), StoreError> {
        let Some(landing) = self.landing.take() else {
            return Ok(());
        };
        match landing.thread.join() {
            Ok(new) => {
                self.written.new += new?;
                self.written.reported += landing.reported;
                Ok(())
            }
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

fn land<R: Record>(
    store: &mut Store,
    buffer: Buffer<R>,
    seen: &mut CatalogueUpdate,
    now: Nanos,
) -> Result<u64, StoreError> {
    let mut new = 0;
    for (day, rows) in buffer.days {
        new += store.land::<R>(day, rows, seen, &HashMap::new(), now)?;
        *seen = CatalogueUpdate::default();
    }
    Ok(new)
}
