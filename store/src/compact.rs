//! Several segments as one, in order, and each id once.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;

use whathappened_model::time::Nanos;

use crate::catalogue::CatalogueUpdate;
use crate::day::Day;
use crate::error::StoreError;
use crate::lock::Lock;
use crate::packed_rows::PackedRows;
use crate::record::{Fact, Object, Record, SortKey, Table};
use crate::segment::{self, Draft, Rows, Segment, Writer, cluster_of};
use crate::store::Store;

/// The next row of an input.
struct Next<R> {
    place: SortKey,
    row: Box<R>,
    /// Of a shared segment's row, the cluster under which it lies.
    cluster: Option<Rc<str>>,
}

/// Rows one after the other.
type Source<R> = Box<dyn Iterator<Item = Result<Next<R>, StoreError>>>;

/// One of the inputs of a merge, with its next row.
struct Head<R> {
    next: Next<R>,
    rest: Source<R>,
}

/// New rows of a merge, already merged with the old ones.
pub(crate) struct NewRows<R> {
    /// All that there are.
    pub(crate) rows: PackedRows<R>,
    /// Those that are written, by number.
    pub(crate) written: Vec<usize>,
    /// Of a shared store, under which cluster an old copy of some ids lies.
    pub(crate) clusters: HashMap<u128, Option<String>>,
}

impl<R: Record> NewRows<R> {
    /// None at all.
    pub(crate) fn none() -> Self {
        Self {
            rows: PackedRows::new(),
            written: Vec::new(),
            clusters: HashMap::new(),
        }
    }
}

/// Writes old segments and new rows as one segment; of an id that is in both,
/// the new row. In a shared store there is one segment for each cluster.
pub(crate) fn merge<R: Record>(
    store: &Store,
    day: Day,
    old: &[Segment],
    new: NewRows<R>,
    now: Nanos,
) -> Result<Vec<Draft>, StoreError> {
    let NewRows {
        rows,
        written,
        clusters,
    } = new;
    let fresh: HashSet<u128> = match old.is_empty() {
        true => HashSet::new(),
        false => written
            .iter()
            .filter_map(|number| rows.slots().get(*number))
            .map(|slot| slot.place.id)
            .collect(),
    };
    let fresh = Rc::new(fresh);
    let root = store.root.clone();
    let home = store.home();
    let unpacked = rows.in_order(written).map(move |(place, row)| match row {
        Ok(row) => Ok(Next {
            cluster: clusters.get(&place.id).map_or_else(
                || home.as_deref().map(Rc::from),
                |known| known.as_deref().map(Rc::from),
            ),
            place,
            row,
        }),
        Err(error) => Err(StoreError::damaged(&root, error)),
    });
    let mut heads: Vec<Head<R>> = Vec::new();
    push(&mut heads, Box::new(unpacked))?;
    for segment in old {
        let replaced = Rc::clone(&fresh);
        let cluster: Option<Rc<str>> = cluster_of(&segment.file).as_deref().map(Rc::from);
        let rows = Rows::<R>::open(store.open_segment(segment)?)?
            .map(move |row| {
                row.map(|row| Next {
                    place: row.place(),
                    row: Box::new(row),
                    cluster: cluster.clone(),
                })
            })
            .filter(move |next| {
                next.as_ref()
                    .map_or(true, |next| !replaced.contains(&next.place.id))
            });
        push(&mut heads, Box::new(rows))?;
    }
    let mut writers: BTreeMap<Option<String>, Writer<R>> = BTreeMap::new();
    match drain(store, day, &mut heads, &mut writers) {
        Ok(()) => {
            let number = store.next_number()?;
            let finish =
                |writer: Writer<R>| writer.finish(number, |file| store.announce(file, now));
            writers.into_values().map(finish).collect()
        }
        Err(error) => {
            writers.into_values().for_each(Writer::discard);
            Err(error)
        }
    }
}

/// Takes the row that comes first, over and over. There are few heads: a scan
/// of their places is as good as a heap.
fn drain<R: Record>(
    store: &Store,
    day: Day,
    heads: &mut Vec<Head<R>>,
    writers: &mut BTreeMap<Option<String>, Writer<R>>,
) -> Result<(), StoreError> {
    while let Some(first) = heads
        .iter()
        .enumerate()
        .min_by(|(_, a), (_, b)| a.next.place.cmp(&b.next.place))
        .map(|(index, _)| index)
    {
        let Head { next, rest } = heads.swap_remove(first);
        let cluster = match store.is_shared() {
            true => next.row.cluster(next.cluster.as_deref()).map(str::to_owned),
            false => None,
        };
        let writer = match writers.entry(cluster) {
            Entry::Occupied(writer) => writer.into_mut(),
            Entry::Vacant(place) => {
                let shape = store.shape(place.key().clone());
                place.insert(Writer::new(&store.root, day, shape)?)
            }
        };
        writer.push(next.row, next.place)?;
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
        self.refuse_shared()?;
        let _lock = Lock::wait(&self.root)?;
        self.clean(now)?;
        let replaced = self.compact_table::<Fact>(most, now, progress)?
            + self.compact_table::<Object>(most, now, progress)?;
        if replaced > 0 {
            self.keep_roots()?;
        }
        Ok(replaced)
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
            let drafts = merge::<R>(self, first.day, of_day, NewRows::none(), now)?;
            // What is only put in another order is no younger.
            let stored_at = of_day
                .iter()
                .map(|one| one.stored_at(now))
                .max()
                .unwrap_or(now);
            let times = (now, stored_at);
            self.commit(
                &drafts,
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
