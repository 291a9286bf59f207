//! What the list says of a segment, made anew from what is in the segment.

use std::collections::HashSet;
use std::fs::Metadata;

use whathappened_model::time::Nanos;

use crate::catalogue::CatalogueUpdate;
use crate::day::Day;
use crate::db::begin_write;
use crate::error::StoreError;
use crate::hot;
use crate::record::{Fact, FactOrObject, Object, Record, Table};
use crate::segment::{self, Draft, Filter, Rows, Segment, filter_key, id_key, subject_key};
use crate::store::Store;
use crate::verify::Decoded;

/// What is in a segment, as its writer knew it.
#[derive(Default)]
pub(crate) struct SegmentContents {
    pub(crate) rows: u64,
    pub(crate) seen: CatalogueUpdate,
    pub(crate) ids: HashSet<u128>,
    words: HashSet<i64>,
    times: Option<(Nanos, Nanos)>,
}

impl SegmentContents {
    /// Takes a row in; `false` where its id was there before.
    pub(crate) fn see<R: Record + Into<FactOrObject>>(
        &mut self,
        row: &R,
        before: &HashSet<u128>,
    ) -> bool {
        let place = row.place();
        self.rows += 1;
        self.seen.see(&row.clone().into());
        let (from, to) = self.times.unwrap_or((Nanos::MAX, Nanos::MIN));
        self.times = Some((from.min(place.time), to.max(row.last())));
        self.words.insert(subject_key(&place));
        row.words(&mut |column, value| {
            self.words.insert(filter_key(column, value));
        });
        !before.contains(&place.id) & self.ids.insert(place.id)
    }

    pub(crate) fn draft(
        &self,
        table: Table,
        day: Day,
        file: &str,
        bytes: u64,
        sums: Vec<u8>,
    ) -> Draft {
        let ids: HashSet<i64> = self.ids.iter().map(|id| id_key(*id)).collect();
        let (time_from, time_to) = self.times.unwrap_or((Nanos::MAX, Nanos::MIN));
        Draft {
            table,
            day,
            file: file.to_owned(),
            rows: self.rows,
            bytes,
            time_from,
            time_to,
            words: Filter::of(&self.words).to_bytes(),
            ids: Filter::of(&ids).to_bytes(),
            sums,
            shared: None,
        }
    }
}

/// When a file was written.
pub(crate) fn modified(file: &Metadata) -> Option<Nanos> {
    let at = file.modified().ok()?;
    let since = at.duration_since(std::time::UNIX_EPOCH).ok()?;
    Nanos::try_from(since.as_nanos()).ok()
}

impl Store {
    /// Whether the list is wrong about a segment that is what was written.
    pub(crate) fn is_listed_wrong(
        &self,
        one: &Segment,
        found: &Decoded,
    ) -> Result<bool, StoreError> {
        let wrong = segment::wrong(&self.db, one).map_err(StoreError::database(&self.db_path))?;
        Ok(wrong.is_some() || found.hides.is_some() || found.rows != one.rows)
    }

    /// Writes what the rows of a segment say of who there is.
    pub(crate) fn recatalogue<R: Record + Into<FactOrObject>>(
        &mut self,
        one: &Segment,
    ) -> Result<(), StoreError> {
        let mut seen = CatalogueUpdate::default();
        for row in Rows::<R>::open(self.open_segment(one)?)? {
            seen.see(&row?.into());
        }
        self.keep_seen(&seen)
    }

    /// The same of the rows that are in no segment yet.
    pub(crate) fn recatalogue_hot(&mut self) -> Result<(), StoreError> {
        let mut seen = CatalogueUpdate::default();
        let failed = || StoreError::database(&self.db_path);
        for hot in hot::all::<Fact>(&self.db).map_err(failed())? {
            seen.see(&hot.row.into());
        }
        for hot in hot::all::<Object>(&self.db).map_err(failed())? {
            seen.see(&hot.row.into());
        }
        self.keep_seen(&seen)
    }

    pub(crate) fn keep_seen(&mut self, seen: &CatalogueUpdate) -> Result<(), StoreError> {
        let write = || {
            let tx = begin_write(&self.db)?;
            seen.write(&tx)?;
            tx.commit()
        };
        write().map_err(StoreError::database(&self.db_path))
    }

    /// Makes what the list says of a segment anew.
    pub(crate) fn list_anew<R: Record + Into<FactOrObject>>(
        &mut self,
        one: &Segment,
        now: Nanos,
    ) -> Result<(), StoreError> {
        let mut found = SegmentContents::default();
        for row in Rows::<R>::open(self.open_segment(one)?)? {
            found.see(&row?, &HashSet::new());
        }
        let path = one.path(&self.root);
        let file = path.metadata().map_err(StoreError::io(&path))?;
        // When its rows were stored is in no segment.
        let stored_at = match one.is_doubtful {
            true => modified(&file).unwrap_or(now),
            false => one.stored_at,
        };
        let draft = found.draft(R::TABLE, one.day, &one.file, file.len(), Vec::new());
        let write = || {
            let tx = begin_write(&self.db)?;
            segment::relist(&tx, one.id, &draft, stored_at)?;
            tx.commit()
        };
        write().map_err(StoreError::database(&self.db_path))
    }
}
