//! How rows come to rest: out of the hot tier and into segments, on the list in one transaction.

use std::collections::{BTreeMap, HashMap, HashSet};

use rusqlite::Transaction;
use whathappened_model::time::Nanos;

use crate::catalogue::CatalogueUpdate;
use crate::compact::NewRows;
use crate::day::Day;
use crate::db::begin_write;
use crate::elsewhere::Change;
use crate::error::StoreError;
use crate::packed_rows::PackedRows;
use crate::record::{Fact, Object, Record};
use crate::segment::{self, Segment};
use crate::store::Store;
use crate::{compact, dedup, hot, lake, lock};

impl Store {
    /// Turns all hot rows into segments.
    ///
    /// # Errors
    /// When a segment cannot be written; then the rows stay where they are.
    pub fn flush(&mut self, now: Nanos) -> Result<u64, StoreError> {
        self.refuse_shared()?;
        let _lock = lock::Lock::wait(&self.root)?;
        self.flush_held(now)
    }

    pub(crate) fn flush_held(&mut self, now: Nanos) -> Result<u64, StoreError> {
        Ok(self.flush_table::<Fact>(now)? + self.flush_table::<Object>(now)?)
    }

    fn flush_table<R: Record>(&mut self, now: Nanos) -> Result<u64, StoreError> {
        let mut moved = 0;
        let days = hot::days(&self.db, R::TABLE).map_err(StoreError::database(&self.db_path))?;
        for (day, _) in days {
            let rows =
                hot::of_day::<R>(&self.db, day).map_err(StoreError::database(&self.db_path))?;
            // Damaged rows stay where they are, until somebody repairs the store.
            if rows.is_empty() {
                continue;
            }
            let revs: HashMap<u128, i64> = rows
                .iter()
                .map(|hot| (hot.row.place().id, hot.rev))
                .collect();
            moved += rows.len() as u64;
            let mut pack = PackedRows::new();
            for hot in rows {
                pack.push(hot.row)
                    .map_err(|error| StoreError::damaged(&self.db_path, error))?;
            }
            self.land::<R>(day, pack, &CatalogueUpdate::default(), &revs, now)?;
        }
        Ok(moved)
    }

    /// Puts rows of one day into a segment; to be called with the lock held.
    /// Rows that segments have already are merged with theirs, or left out
    /// where they tell nothing new. `revs` names those that came from the hot tier.
    /// Returns how many rows were new or told something new.
    pub(crate) fn land<R: Record>(
        &mut self,
        day: Day,
        mut rows: PackedRows<R>,
        seen: &CatalogueUpdate,
        revs: &HashMap<u128, i64>,
        now: Nanos,
    ) -> Result<u64, StoreError> {
        let root = self.root.clone();
        let damaged = |error| StoreError::damaged(&root, error);
        let ids: HashSet<u128> = rows.slots().iter().map(|slot| slot.place.id).collect();
        let (known, rewritten, new) = loop {
            let known = dedup::known::<R>(&self.db, self.origin(), day, &ids)?;
            self.set_aside(&known.damaged)?;
            let known = known.rows;
            let mut rewritten: BTreeMap<i64, Segment> = BTreeMap::new();
            let mut new = Vec::with_capacity(rows.slots().len());
            for number in 0..rows.slots().len() {
                let older = rows
                    .slots()
                    .get(number)
                    .and_then(|slot| known.get(&slot.place.id));
                if let Some((segment, older)) = older {
                    let merged = rows.row(number).map_err(damaged)?.merge(older.clone());
                    if merged == *older {
                        continue;
                    }
                    rewritten.insert(segment.id, segment.clone());
                    rows.set(number, &merged).map_err(damaged)?;
                }
                new.push(number);
            }
            // What cannot be read to its end is not rewritten, and knows nothing.
            let before = rewritten.len();
            let whole = self.whole::<R>(rewritten.into_values().collect())?;
            if whole.len() == before {
                break (known, whole, new);
            }
        };
        let news = new.len() as u64;
        let dropped = rewritten;
        let drafts = if new.is_empty() {
            Vec::new()
        } else {
            let old = known.iter().filter(|_| self.is_shared());
            let clusters = old.map(|(id, (segment, _))| (*id, segment::cluster_of(&segment.file)));
            let new = NewRows {
                rows,
                written: new,
                clusters: clusters.collect(),
            };
            compact::merge::<R>(self, day, &dropped, new, now)?
        };
        let gone: HashSet<i64> = dropped.iter().map(|segment| segment.id).collect();
        // What told nothing new stays in the segment it is in.
        let home = |id: &u128, written: Option<i64>| match known.get(id) {
            Some((segment, _)) if !gone.contains(&segment.id) => Some(segment.id),
            _ => written,
        };
        self.commit(&drafts, &dropped, seen, (now, now), |tx, written| {
            for (id, rev) in revs {
                if let Some(segment) = home(id, written) {
                    hot::landed(tx, R::TABLE, *id, *rev, segment)?;
                }
            }
            if revs.is_empty() {
                for id in hot::unshadowed(tx, R::TABLE, day)? {
                    if let Some(segment) = home(&id, written).filter(|_| ids.contains(&id)) {
                        hot::shadow(tx, R::TABLE, id, segment)?;
                    }
                }
            }
            Ok(())
        })?;
        Ok(news)
    }

    /// Puts a written segment on the list in place of others, in one transaction.
    /// `stored_at` is when the last of its rows was stored.
    pub(crate) fn commit(
        &mut self,
        drafts: &[segment::Draft],
        dropped: &[Segment],
        seen: &CatalogueUpdate,
        (now, stored_at): (Nanos, Nanos),
        also: impl FnOnce(&Transaction<'_>, Option<i64>) -> rusqlite::Result<()>,
    ) -> Result<Option<i64>, StoreError> {
        let shared = self.shared.clone().map(|shared| shared.keeper);
        if let Some(keeper) = &shared {
            keeper.upload(drafts)?;
        }
        let db = &mut self.db;
        let all = || {
            let tx = begin_write(db)?;
            let mut segment = None;
            for draft in drafts {
                let added = segment::add(&tx, draft, stored_at)?;
                segment = segment.or(Some(added));
            }
            for old in dropped {
                segment::remove(&tx, old, now)?;
                hot::shadow_instead(&tx, old.id, segment)?;
            }
            seen.write(&tx)?;
            also(&tx, segment)?;
            Ok((tx, segment))
        };
        let (tx, segment) = all().map_err(StoreError::database(&self.db_path))?;
        let table = drafts.first().map(|draft| draft.table);
        let table = table.or(dropped.first().map(|segment| segment.table));
        if let (Some(keeper), Some(table)) = (&shared, table) {
            // What is shared counts first: of an index that knows less, nothing is lost.
            let failed = || StoreError::database(&self.db_path);
            let made = keeper.commit(&Change {
                table,
                version: lake::version(&tx, table.as_str()).map_err(failed())?,
                added: drafts,
                removed: dropped,
                is_news: !self.shared.as_ref().is_some_and(|shared| shared.reorders),
                now,
            })?;
            lake::set_version(&tx, table.as_str(), made).map_err(failed())?;
        }
        tx.commit().map_err(StoreError::database(&self.db_path))?;
        Ok(segment)
    }
}
