//! Several segments as one, in order, and each id once.

use std::collections::HashSet;
use std::iter::Peekable;

use whathappened_connectors::time::Nanos;

use crate::catalogue::Seen;
use crate::day::Day;
use crate::error::StoreError;
use crate::lock::Lock;
use crate::record::{Fact, Object, Place, Record, Table};
use crate::segment::{self, Draft, Rows, Segment, Writer};
use crate::store::Store;

/// One of the inputs of a merge, with the place of its next row.
struct Head<R: Record> {
    rows: Peekable<Box<dyn Iterator<Item = Result<R, StoreError>>>>,
    next: Place,
}

/// Writes old segments and new rows as one segment; of an id that is in both,
/// the new row. New rows are in order and already merged with the old ones.
pub(crate) fn merge_into_one<R: Record>(
    store: &Store,
    day: Day,
    old: &[Segment],
    new: Vec<R>,
) -> Result<Draft, StoreError> {
    let fresh: HashSet<u128> = new.iter().map(|row| row.place().id).collect();
    let mut heads: Vec<Head<R>> = Vec::new();
    let mut add =
        |rows: Box<dyn Iterator<Item = Result<R, StoreError>>>| push(&mut heads, rows.peekable());
    add(Box::new(new.into_iter().map(Ok)))?;
    for segment in old {
        let replaced = fresh.clone();
        let rows = Rows::<R>::open(&segment.path(&store.root))?.filter(move |row| {
            row.as_ref()
                .map_or(true, |row| !replaced.contains(&row.place().id))
        });
        add(Box::new(rows))?;
    }
    let mut writer = Writer::<R>::new(&store.root, day)?;
    match drain(&mut heads, &mut writer) {
        Ok(()) => writer.finish(store.next_number()?),
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
        .min_by(|(_, a), (_, b)| a.next.cmp(&b.next))
        .map(|(index, _)| index)
    {
        let mut head = heads.swap_remove(first);
        if let Some(row) = head.rows.next() {
            writer.push(row?)?;
        }
        push(heads, head.rows)?;
    }
    Ok(())
}

fn push<R: Record>(
    heads: &mut Vec<Head<R>>,
    mut rows: Peekable<Box<dyn Iterator<Item = Result<R, StoreError>>>>,
) -> Result<(), StoreError> {
    match rows.peek() {
        None => Ok(()),
        Some(Ok(row)) => {
            let next = row.place();
            heads.push(Head { rows, next });
            Ok(())
        }
        Some(Err(_)) => match rows.next() {
            Some(Err(error)) => Err(error),
            _ => Ok(()),
        },
    }
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
            let draft = merge_into_one::<R>(self, first.day, of_day, Vec::new())?;
            self.commit(Some(draft), of_day, &Seen::default(), now, |_, _| Ok(()))?;
            replaced += of_day.len() as u64;
        }
        Ok(replaced)
    }
}
