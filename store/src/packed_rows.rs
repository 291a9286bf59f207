//! Rows as they wait to be written: packed one behind the other, so that a
//! hundred thousand of them are a few pieces of memory.

use std::collections::HashMap;
use std::marker::PhantomData;

use crate::record::{Record, SortKey};

/// Where a row goes, and where its bytes are.
#[derive(Clone)]
pub(crate) struct Slot {
    pub(crate) place: SortKey,
    start: usize,
    len: usize,
}

/// Rows, each id once.
#[derive(Clone)]
pub(crate) struct PackedRows<R> {
    bodies: Vec<u8>,
    slots: Vec<Slot>,
    by_id: HashMap<u128, usize>,
    row: PhantomData<R>,
}

impl<R: Record> PackedRows<R> {
    pub(crate) fn new() -> Self {
        Self {
            bodies: Vec::new(),
            slots: Vec::new(),
            by_id: HashMap::new(),
            row: PhantomData,
        }
    }

    /// Adds a row, or what it adds to the one of its id.
    pub(crate) fn push(&mut self, row: R) -> Result<(), postcard::Error> {
        let place = row.place();
        if let Some(known) = self.by_id.get(&place.id).copied() {
            let before = self.row(known)?;
            return self.set(known, &before.merge(row));
        }
        self.by_id.insert(place.id, self.slots.len());
        let (start, len) = self.append(&row)?;
        self.slots.push(Slot { place, start, len });
        Ok(())
    }

    /// Replaces a row by a newer copy of the same id.
    pub(crate) fn set(&mut self, number: usize, row: &R) -> Result<(), postcard::Error> {
        let (start, len) = self.append(row)?;
        if let Some(slot) = self.slots.get_mut(number) {
            let place = row.place();
            *slot = Slot { place, start, len };
        }
        Ok(())
    }

    fn append(&mut self, row: &R) -> Result<(usize, usize), postcard::Error> {
        let start = self.bodies.len();
        self.bodies = row.encode(std::mem::take(&mut self.bodies))?;
        Ok((start, self.bodies.len() - start))
    }

    /// A row; boxed, as rows are large and move much.
    pub(crate) fn row(&self, number: usize) -> Result<Box<R>, postcard::Error> {
        match self.slots.get(number) {
            Some(slot) => self.unpack(slot),
            None => Err(postcard::Error::DeserializeUnexpectedEnd),
        }
    }

    fn unpack(&self, slot: &Slot) -> Result<Box<R>, postcard::Error> {
        let body = self.bodies.get(slot.start..slot.start + slot.len);
        R::decode(body.unwrap_or_default()).map(Box::new)
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Memory that the rows take.
    pub(crate) fn bytes(&self) -> usize {
        self.bodies.len() + self.slots.len() * (size_of::<Slot>() + 96)
    }

    /// The rows of some numbers, in order of their places.
    pub(crate) fn in_order(
        self,
        mut numbers: Vec<usize>,
    ) -> impl Iterator<Item = (SortKey, Result<Box<R>, postcard::Error>)> {
        numbers.sort_unstable_by(|a, b| {
            let place = |number: &usize| self.slots.get(*number).map(|slot| &slot.place);
            place(a).cmp(&place(b))
        });
        numbers.into_iter().filter_map(move |number| {
            let slot = self.slots.get(number)?;
            Some((slot.place.clone(), self.unpack(slot)))
        })
    }
}
