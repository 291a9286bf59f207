//! Makes a store whole again as far as its files allow: the list anew from the
//! segments, what can be read of damaged ones in new ones. Nothing is deleted.

mod lost_list;

use std::collections::{HashMap, HashSet};
use std::path::Path;

use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::time::Nanos;

use crate::catalogue::{self, CatalogueUpdate};
use crate::compact::{NewRows, merge};
use crate::damage;
use crate::day::Day;
use crate::db;
use crate::error::StoreError;
use crate::hot;
use crate::limits::Limits;
use crate::lock::Lock;
use crate::packed_rows::PackedRows;
use crate::record::{Fact, FactOrObject, Object, Record, Table};
use crate::relist::{SegmentContents, modified};
use crate::retain::readable_on_disk;
use crate::segment::{self, Segment, VerifiedFile};
use crate::store::{DATABASE, Store};
use lost_list::{is_lost, number_after, put_aside, record_loss, recover};

/// What was done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Repaired {
    /// The list was lost and was made anew.
    pub is_anew: bool,
    /// What was there of the old list is kept under this name.
    pub list: Option<String>,
    /// Segments that were put on the list.
    pub listed: u64,
    /// Rows of segments that were not on the list and are now.
    pub rows: u64,
    /// Segments that were written anew, since their texts had been redacted under fewer
    /// rules than there are now.
    pub renewed: u64,
    /// What the system does not let be read now, and why: segments, and folders of them. It
    /// is left as it is.
    pub unreadable: Vec<(String, String)>,
    /// Segments about which the list was wrong: what it says of them was made anew from
    /// what is in them.
    pub relisted: u64,
    /// Segments that are damaged: file, rows that were saved, rows it should have.
    pub damaged: Vec<(String, u64, u64)>,
    /// Damaged segments of which every row is in the store again: nothing tells of
    /// them any more.
    pub back: Vec<String>,
    /// Kept incidents that were damaged and are forgotten: they are explained anew.
    pub incidents: u64,
    /// Rows that were in no segment yet, were damaged and are gone.
    pub hot: u64,
    /// Those of which only the place was wrong: they are in their place again.
    pub replaced: u64,
    /// Rows of the catalogue that were wrong or missing: all of it was made anew from the
    /// segments.
    pub catalogue: u64,
}

/// Repairs the store in a folder; `now` is the present. Waits for other processes.
///
/// # Errors
/// When there is none, a newer program wrote it, or the disk cannot be used.
pub fn repair(
    root: &Path,
    limits: Limits,
    now: Nanos,
    progress: &mut dyn FnMut(&str),
) -> Result<Repaired, StoreError> {
    let db_path = root.join(DATABASE);
    let mut repaired = Repaired::default();
    let on_disk = readable_on_disk(root, &mut |folder, error| {
        let unreadable = (folder.to_owned(), damage::why(error));
        repaired.unreadable.push(unreadable);
    })?;
    if on_disk.is_empty() && repaired.unreadable.is_empty() && !db_path.exists() {
        return Err(StoreError::Missing {
            path: root.to_owned(),
        });
    }
    let is_anew = is_lost(root, limits, !on_disk.is_empty())?;
    if is_anew {
        repaired.is_anew = true;
        repaired.list = put_aside(root, now)?;
        db::make_anew(&db_path)?;
    }
    let mut store = Store::open(root, limits)?;
    let _lock = Lock::wait(root)?;
    if is_anew {
        number_after(&store, &on_disk)?;
    }
    let begins = store.begins()?;
    let mut repair = Repair {
        store: &mut store,
        now,
        is_anew,
        repaired,
        begins,
        unknown_pods: 0,
        progress,
    };
    repair.check()?;
    repair.adopt()?;
    repair.renew()?;
    repair.save()?;
    repair.repaired.incidents = repair.store.forget_damaged_incidents()?;
    repair.repaired.hot = repair.forget_hot()?;
    repair.catalogue()?;
    let repaired = repair.repaired;
    if let Some(old) = &repaired.list {
        recover(&mut store, &root.join(old))?;
    }
    if is_anew {
        record_loss(&mut store, &repaired, now)?;
    }
    Ok(repaired)
}

struct Repair<'a> {
    store: &'a mut Store,
    now: Nanos,
    is_anew: bool,
    repaired: Repaired,
    /// The earliest time that a segment tells of.
    begins: Nanos,
    /// Pods of segments that the catalogue does not know.
    unknown_pods: usize,
    progress: &'a mut dyn FnMut(&str),
}

impl Repair<'_> {
    fn listed(&self) -> Result<Vec<Segment>, StoreError> {
        segment::all_live(&self.store.db).map_err(StoreError::database(&self.store.db_path))
    }

    /// Compares everything that is on the list.
    fn check(&mut self) -> Result<(), StoreError> {
        for one in self.listed()? {
            (self.progress)(&one.file);
            let file = one.file.clone();
            let checked = match one.table {
                Table::Events => self.check_one::<Fact>(one),
                Table::Objects => self.check_one::<Object>(one),
            };
            self.or_refused(&file, checked)?;
        }
        Ok(())
    }

    /// What the system does not let be read now costs itself alone: it stays where it is, and
    /// is told of.
    fn or_refused(&mut self, file: &str, done: Result<(), StoreError>) -> Result<(), StoreError> {
        match done {
            Err(error) if error.is_unreadable() && !error.is_damage() => {
                let unreadable = &mut self.repaired.unreadable;
                if unreadable.iter().all(|(known, _)| known != file) {
                    unreadable.push((file.to_owned(), damage::why(&error)));
                }
                Ok(())
            }
            done => done,
        }
    }

    /// Sets a segment aside that is not what was written; of one that is, the list says
    /// what it should afterwards.
    fn check_one<R: Record + Into<FactOrObject>>(
        &mut self,
        one: Segment,
    ) -> Result<(), StoreError> {
        for one in self.store.whole::<R>(vec![one])? {
            let found = self.store.decode::<R>(&one, self.begins)?;
            self.unknown_pods += found.unknown_pods;
            if self.store.is_listed_wrong(&one, &found)? {
                self.store.list_anew::<R>(&one, self.now)?;
                self.repaired.relisted += 1;
            }
        }
        Ok(())
    }

    /// Removes rows of the hot tier that are not what was written, and says so from now on.
    fn forget_hot(&mut self) -> Result<u64, StoreError> {
        let failed = StoreError::database(&self.store.db_path);
        let (facts, objects) = hot::misplaced(&self.store.db)
            .and_then(|facts| Ok((facts, hot::misplaced(&self.store.db)?)))
            .map_err(failed)?;
        self.repaired.replaced += (facts.len() + objects.len()) as u64;
        // What they stand in for is looked for anew. They are written before anything is
        // removed: who dies in between loses none.
        self.store.put_hot(facts, objects)?;
        let failed = StoreError::database(&self.store.db_path);
        let gone = hot::forget_damaged(&self.store.db).map_err(failed)?;
        if gone == 0 {
            return Ok(0);
        }
        let rows = if gone == 1 { "row" } else { "rows" };
        let row = Coverage {
            asked_to: Some(self.now),
            status: Status::Truncated,
            detail: Some(format!(
                "{gone} {rows} that had come lately were damaged and are lost"
            )),
            would_have_shown: Some(format!("{gone} facts or versions of objects")),
            ..Coverage::new("store", "hot")
        };
        self.store
            .keep_coverage(&[(format!("store/hot/{}", self.now), row)], self.now)?;
        Ok(gone)
    }

    /// Makes the catalogue anew from the segments where some of it is wrong or missing.
    fn catalogue(&mut self) -> Result<(), StoreError> {
        let failed = || StoreError::database(&self.store.db_path);
        let wrong = catalogue::forget_wrong(&self.store.db).map_err(failed())?;
        self.repaired.catalogue = (wrong + self.unknown_pods) as u64;
        if self.repaired.catalogue == 0 {
            return Ok(());
        }
        for one in self.listed()? {
            (self.progress)(&one.file);
            let read = match one.table {
                Table::Events => self.store.recatalogue::<Fact>(&one),
                Table::Objects => self.store.recatalogue::<Object>(&one),
            };
            self.or_refused(&one.file, read)?;
        }
        self.store.recatalogue_hot()
    }

    /// Writes segments anew whose texts were redacted under fewer rules.
    fn renew(&mut self) -> Result<(), StoreError> {
        for one in self.listed()? {
            (self.progress)(&one.file);
            let file = one.file.clone();
            let renewed = self.renew_one(one);
            self.or_refused(&file, renewed)?;
        }
        Ok(())
    }

    fn renew_one(&mut self, one: Segment) -> Result<(), StoreError> {
        if !segment::footer(&self.store.open_segment(&one)?)? {
            return Ok(());
        }
        match one.table {
            Table::Events => self.write_anew::<Fact>(one),
            Table::Objects => self.write_anew::<Object>(one),
        }
    }

    fn write_anew<R: Record>(&mut self, one: Segment) -> Result<(), StoreError> {
        let (day, stored_at) = (one.day, one.stored_at(self.now));
        let old = [one];
        let drafts = merge::<R>(self.store, day, &old, NewRows::none(), self.now)?;
        let times = (self.now, stored_at);
        self.store
            .commit(&drafts, &old, &CatalogueUpdate::default(), times, |_, _| {
                Ok(())
            })?;
        self.repaired.renewed += 1;
        Ok(())
    }

    /// Puts segments on the list that it does not know.
    fn adopt(&mut self) -> Result<(), StoreError> {
        let unknown = self.store.unlisted()?;
        for of_day in unknown.chunk_by(|a, b| folder(a) == folder(b)) {
            let Some((table, day)) = of_day.first().and_then(|file| segment::place(file)) else {
                continue;
            };
            // Of a day's rows each id counts once; the same may be in what was replaced.
            let mut ids = HashSet::new();
            for file in of_day {
                (self.progress)(file);
                let taken = match table {
                    Table::Events => self.take::<Fact>(file, day, &mut ids),
                    Table::Objects => self.take::<Object>(file, day, &mut ids),
                };
                self.or_refused(file, taken)?;
            }
        }
        Ok(())
    }

    fn take<R: Record + Into<FactOrObject>>(
        &mut self,
        file: &str,
        day: Day,
        ids: &mut HashSet<u128>,
    ) -> Result<(), StoreError> {
        let path = self.store.root.join(file);
        let meta = path.metadata().map_err(StoreError::io(&path))?;
        let stored_at = modified(&meta).unwrap_or(self.now);
        let mut found = SegmentContents::default();
        let mut twice = !self.is_anew;
        let mut pack = PackedRows::<R>::new();
        let mut failed = None;
        let opened = VerifiedFile::open(&path, None, None);
        match opened.and_then(segment::Rows::<R>::open) {
            Ok(rows) => {
                for row in rows {
                    match row {
                        Ok(row) => twice |= !found.see(&row, ids),
                        Err(error) => failed = Some(error),
                    }
                    if failed.is_some() {
                        break;
                    }
                }
            }
            Err(error) => failed = Some(error),
        }
        let segment = |rows| Segment {
            id: 0,
            table: R::TABLE,
            day,
            file: file.to_owned(),
            rows,
            bytes: meta.len(),
            time_from: Nanos::MIN,
            time_to: Nanos::MIN,
            stored_at,
            is_doubtful: false,
        };
        if let Some(error) = failed {
            if !error.is_damage() {
                return Err(error);
            }
            // It was never on this list.
            return damage::note(&self.store.db, &segment(0), &damage::why(&error))
                .map_err(StoreError::database(&self.store.db_path));
        }
        self.repaired.listed += 1;
        self.repaired.rows += found.rows;
        if !twice {
            ids.extend(found.ids.iter().copied());
            let sums = segment::sums(&path)?;
            let draft = found.draft(R::TABLE, day, file, meta.len(), sums);
            let seen = found.seen;
            let times = (self.now, stored_at);
            self.store
                .commit(&[draft], &[], &seen, times, |_, _| Ok(()))?;
            return Ok(());
        }
        // Some of it is elsewhere, too: its rows are merged in, as if they were told again.
        ids.extend(found.ids.iter().copied());
        let rows = segment::Rows::<R>::open(VerifiedFile::open(&path, None, None)?)?;
        for row in rows {
            pack.push(row?)
                .map_err(|error| StoreError::damaged(&path, error))?;
            if pack.bytes() > self.store.limits.buffer_bytes {
                let full = std::mem::replace(&mut pack, PackedRows::new());
                self.land(day, full, &found.seen)?;
            }
        }
        self.land(day, pack, &found.seen)?;
        segment::announce(&self.store.db, file, self.now)
            .map_err(StoreError::database(&self.store.db_path))
    }

    fn land<R: Record>(
        &mut self,
        day: Day,
        rows: PackedRows<R>,
        seen: &CatalogueUpdate,
    ) -> Result<(), StoreError> {
        let now = self.now;
        self.store
            .land::<R>(day, rows, seen, &HashMap::new(), now)?;
        Ok(())
    }

    /// Takes what can still be read of damaged segments into new ones.
    fn save(&mut self) -> Result<(), StoreError> {
        let aside =
            damage::all(&self.store.db).map_err(StoreError::database(&self.store.db_path))?;
        for one in aside {
            (self.progress)(&one.segment.file);
            let saved = match one.segment.table {
                Table::Events => self.save_one::<Fact>(&one),
                Table::Objects => self.save_one::<Object>(&one),
            };
            self.or_refused(&one.segment.file, saved)?;
        }
        Ok(())
    }

    /// Saves what can be read of a damaged segment, unless that was done before, and
    /// forgets the segment once all its rows are there, from wherever they came.
    fn save_one<R: Record + Into<FactOrObject>>(
        &mut self,
        one: &damage::QuarantinedSegment,
    ) -> Result<(), StoreError> {
        let file = &one.segment.file;
        let mut is_back = false;
        if one.saved.is_none() {
            let (saved, of) = self.salvage::<R>(one)?;
            damage::saved(&self.store.db, file, saved)
                .map_err(StoreError::database(&self.store.db_path))?;
            is_back = of > 0 && saved >= of;
            self.repaired.damaged.push((file.clone(), saved, of));
        }
        if is_back || self.store.has_all_of::<R>(one)? {
            self.store.forget_damaged(file, self.now)?;
            self.repaired.back.push(file.clone());
        }
        Ok(())
    }

    fn salvage<R: Record + Into<FactOrObject>>(
        &mut self,
        one: &damage::QuarantinedSegment,
    ) -> Result<(u64, u64), StoreError> {
        let file = match one.open(self.store) {
            Ok(file) => file,
            Err(error) if error.is_damage() => return Ok((0, one.segment.rows)),
            Err(error) => return Err(error),
        };
        let (mut seen, mut pack, mut failed) =
            (CatalogueUpdate::default(), PackedRows::<R>::new(), None);
        let mut saved = 0;
        let left = match segment::Salvage::open(&file) {
            Ok(left) => left,
            Err(error) if error.is_damage() => return Ok((0, one.segment.rows)),
            Err(error) => return Err(error),
        };
        left.rows::<R>(&mut |row| {
            saved += 1;
            seen.see(&row.clone().into());
            failed = failed.take().or(pack.push(row).err());
        });
        if let Some(error) = failed {
            return Err(StoreError::damaged(file.path(), error));
        }
        self.land(one.segment.day, pack, &seen)?;
        Ok((saved, left.total().max(one.segment.rows)))
    }
}

fn folder(file: &str) -> &str {
    file.rsplit_once('/').map_or(file, |(folder, _)| folder)
}
