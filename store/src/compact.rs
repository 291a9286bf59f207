//! Several segments as one, in order, and each id once.

use std::collections::HashSet;
use std::rc::Rc;

use whathappened_connectors::time::Nanos;

use crate::catalogue::CatalogueUpdate;
use crate::day::Day;
use crate::error::StoreError;
use crate::lock::Lock;
use crate::packed_rows::PackedRows;
use crate::record::{Fact, Object, Record, SortKey, Table};
use crate::segment::{self, Draft, Rows, Segment, Writer};
use crate::store::Store;

/// A row and its place, one after the other.
type Source<R> = Box<dyn Iterator<Item = Result<(SortKey, Box<R>), StoreError>>>;

/// One of the inputs of a merge, with its next row.
struct Head<R> {
    next: (SortKey, Box<R>),
    rest: Source<R>,
}

/// Writes old segments and new rows as one segment; of an id that is in both,
/// the new row. New rows, those of the numbers, are already merged with the old ones.
pub(crate) fn merge_into_one<R: Record>(
    store: &Store,
    day: Day,
    old: &[Segment],
    rows: PackedRows<R>,
    new: Vec<usize>,
    now: Nanos,
) -> Result<Draft, StoreError> {
    let fresh: HashSet<u128> = match old.is_empty() {
        true => HashSet::new(),
        false => new
            .iter()
            .filter_map(|number| rows.slots().get(*number))
            .map(|slot| slot.place.id)
            .collect(),
    };
    let fresh = Rc::new(fresh);
    let root = store.root.clone();
    let unpacked = rows.in_order(new).map(move |(place, row)| match row {
        Ok(row) => Ok((place, row)),
        Err(error) => Err(StoreError::damaged(&root, error)),
    });
    let mut heads: Vec<Head<R>> = Vec::new();
    push(&mut heads, Box::new(unpacked))?;
    for segment in old {
        let replaced = Rc::clone(&fresh);
        let rows = Rows::<R>::open(store.open_segment(segment)?)?
            .map(|row| row.map(|row| (row.place(), Box::new(row))))
            .filter(move |row| {
                row.as_ref()
                    .map_or(true, |(place, _)| !replaced.contains(&place.id))
            });
        push(&mut heads, Box::new(rows))?;
    }
    let mut writer = Writer::<R>::new(&store.root, day)?;
    match drain(&mut heads, &mut writer) {
        Ok(()) => writer.finish(store.next_number()?, |file| store.announce(file, now)),
        Err(error) => {
            writer.discard();
            Err(error)
        }
    }
}

/// Takes the row that comes first, over and over. There are few heads: a scan
/// of their places is as good as a heap.
fn drain<R: Record>(heads: &mut Vec<Head<R>>, writer: &mut Writer<R>) -> Result<(), StoreError> {
    while let Some(first) = heads
        .iter()
        .enumerate()
        .min_by(|(_, a), (_, b)| a.next.0.cmp(&b.next.0))
        .map(|(index, _)| index)
    {
        let Head { next, rest } = heads.swap_remove(first);
        writer.push(next.1, next.0)?;
        push(heads, rest)?;
    }
    Ok(())
}

fn push<R>(heads: &mut Vec<Head<R>>, mut rest: Source<R>) -> Result<(), StoreError> {
    if let Some(next) = rest.next() {
        heads.push(Head { next: next?, rest });
    }
    Ok(())
}

impl Store {
    /// Turns the segments of each day that has more than `most` into one.
    /// Returns how many segments were replaced. Waits for other processes.
    ///
    /// # Errors
    /// When a segment cannot be read or written; then that day stays as it is.
    pub fn compact(
        &mut self,
        most: usize,
        now: Nanos,
        progress: &mut dyn FnMut(Table, Day),
    ) -> Result<u64, StoreError> {
        let _lock = Lock::wait(&self.root)?;
        self.clean(now)?;
        Ok(self.compact_table::<Fact>(most, now, progress)?
            + self.compact_table::<Object>(most, now, progress)?)
    }

    fn compact_table<R: Record>(
        &mut self,
        most: usize,
        now: Nanos,
        progress: &mut dyn FnMut(Table, Day),
    ) -> Result<u64, StoreError> {
        let live =
            segment::live(&self.db, R::TABLE, None).map_err(StoreError::database(&self.db_path))?;
        let mut replaced = 0;
        for of_day in live.chunk_by(|a, b| a.day == b.day) {
            let Some(first) = of_day.first().filter(|_| of_day.len() > most.max(1)) else {
                continue;
            };
            progress(R::TABLE, first.day);
            let of_day = &self.whole::<R>(of_day.to_vec())?;
            let draft =
                merge_into_one::<R>(self, first.day, of_day, PackedRows::new(), Vec::new(), now)?;
            // What is only put in another order is no younger.
            let stored_at = of_day.iter().map(|one| one.stored_at).max().unwrap_or(now);
            let times = (now, stored_at);
            self.commit(
                Some(&draft),
                of_day,
                &CatalogueUpdate::default(),
                times,
                |_, _| Ok(()),
            )?;
            replaced += of_day.len() as u64;
        }
        Ok(replaced)
    }
}
