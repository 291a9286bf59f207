//! Bulk import: straight into segments, a day at a time.

use std::collections::{BTreeMap, HashMap};

use whathappened_connectors::observation::Observation;
use whathappened_connectors::time::Nanos;

use crate::catalogue::Seen;
use crate::day::Day;
use crate::error::StoreError;
use crate::lock::Lock;
use crate::record::{Either, Fact, Object, Record};
use crate::store::Store;

/// What an import has written so far. What is counted here is kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Written {
    /// Facts and versions that were taken in.
    pub told: u64,
    /// Those of them that were new or told something new.
    pub new: u64,
}

/// Rows that wait to be written, each id once, packed.
struct Buffer<R> {
    days: BTreeMap<Day, HashMap<u128, Vec<u8>>>,
    bytes: usize,
    rows: std::marker::PhantomData<R>,
}

impl<R: Record> Buffer<R> {
    fn new() -> Self {
        Self {
            days: BTreeMap::new(),
            bytes: 0,
            rows: std::marker::PhantomData,
        }
    }

    fn push(&mut self, row: R) -> Result<(), postcard::Error> {
        let day = self.days.entry(row.day()).or_default();
        let id = row.place().id;
        let packed = match day.remove(&id) {
            None => postcard::to_stdvec(&row)?,
            Some(before) => {
                self.bytes = self.bytes.saturating_sub(before.len() + OVERHEAD);
                let before: R = postcard::from_bytes(&before)?;
                postcard::to_stdvec(&before.merge(row))?
            }
        };
        self.bytes += packed.len() + OVERHEAD;
        day.insert(id, packed);
        Ok(())
    }
}

/// What a row costs beside its bytes.
const OVERHEAD: usize = 64;

/// An import under way. What was not flushed is lost when it is dropped.
pub struct Bulk<'a> {
    store: &'a mut Store,
    now: Nanos,
    facts: Buffer<Fact>,
    objects: Buffer<Object>,
    seen: Seen,
    waiting: u64,
    written: Written,
}

impl std::fmt::Debug for Bulk<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Bulk")
            .field("written", &self.written)
            .finish_non_exhaustive()
    }
}

impl<'a> Bulk<'a> {
    pub(crate) fn new(store: &'a mut Store, now: Nanos) -> Self {
        Self {
            store,
            now,
            facts: Buffer::new(),
            objects: Buffer::new(),
            seen: Seen::default(),
            waiting: 0,
            written: Written::default(),
        }
    }

    /// Takes in one observation; facts are classified already.
    ///
    /// # Errors
    /// When the buffer is full and cannot be written.
    pub fn push(&mut self, observation: Observation) -> Result<(), StoreError> {
        let row = Either::of(observation);
        self.seen.see(&row);
        self.waiting += 1;
        match row {
            Either::Fact(fact) => self.facts.push(fact),
            Either::Object(object) => self.objects.push(object),
        }
        .map_err(|error| StoreError::damaged(&self.store.root, error))?;
        if self.facts.bytes + self.objects.bytes + self.seen.len() * OVERHEAD
            >= self.store.limits.buffer_bytes
        {
            self.flush()?;
        }
        Ok(())
    }

    /// Writes what waits; when this returns, it is kept.
    ///
    /// # Errors
    /// When a segment cannot be written. Days that were written before stay.
    pub fn flush(&mut self) -> Result<Written, StoreError> {
        let _lock = Lock::wait(&self.store.root)?;
        // Who there is, is written with the first segment, before any row needs it.
        let mut seen = std::mem::take(&mut self.seen);
        let facts = std::mem::replace(&mut self.facts, Buffer::new());
        let objects = std::mem::replace(&mut self.objects, Buffer::new());
        let mut new = land(self.store, facts, &mut seen, self.now)?;
        new += land(self.store, objects, &mut seen, self.now)?;
        self.written.told += std::mem::take(&mut self.waiting);
        self.written.new += new;
        Ok(self.written)
    }
}

fn land<R: Record>(
    store: &mut Store,
    buffer: Buffer<R>,
    seen: &mut Seen,
    now: Nanos,
) -> Result<u64, StoreError> {
    let mut new = 0;
    for (day, packed) in buffer.days {
        let mut rows = Vec::with_capacity(packed.len());
        for body in packed.into_values() {
            rows.push(
                postcard::from_bytes(&body)
                    .map_err(|error| StoreError::damaged(&store.root, error))?,
            );
        }
        new += store.land::<R>(day, rows, seen, &HashMap::new(), now)?;
        *seen = Seen::default();
    }
    Ok(new)
}
