//! Segments: immutable Parquet files, each of one table and one day, in the
//! order of [`crate::record::SortKey`].

mod bounds;
mod checksums;
mod filter;
mod listing;
mod pages;
mod read;
mod salvage;
mod scan;
mod shared_path;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Params, params};

pub(crate) use checksums::{VerifiedFile, sums};
pub(crate) use filter::Filter;
pub use filter::filter_key;
pub(crate) use listing::{
    all_live, filter, keep_missing_sums, keep_sums, lacks_sums, live, of_row, place, wrong,
};
pub(crate) use read::{Rows, SubjectKey, at, footer, ids, places, places_of_few};
pub(crate) use salvage::Salvage;
pub(crate) use scan::columns;
pub(crate) use shared_path::cluster_of;
#[cfg(feature = "lake")]
pub(crate) use shared_path::{in_path, times_of};
pub(crate) use write::{Draft, Shape, Writer, id_key, subject_key};
#[cfg(feature = "lake")]
pub(crate) use write::{STAGING, SharedDraft};

use crate::day::Day;
use crate::db::has;
use crate::error::StoreError;
use crate::record::Table;
use crate::store::Origin;

/// A live segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number in this store.
    pub id: i64,
    /// Of facts or of objects.
    pub table: Table,
    /// Its partition.
    pub day: Day,
    /// Its path below the store's folder, with `/`.
    pub file: String,
    /// How many rows it has.
    pub rows: u64,
    /// Its size.
    pub bytes: u64,
    /// The earliest time in it; [`i64::MIN`] where some are unknown.
    pub time_from: i64,
    /// The latest end in it.
    pub time_to: i64,
    /// When the last of its rows was stored.
    pub stored_at: i64,
    /// What the list says of it is not what was written: it is read whole, whatever
    /// its times are.
    pub(crate) is_doubtful: bool,
}

impl Segment {
    /// A segment of a lake as another process told of it: there it is known by its file alone.
    #[must_use]
    pub fn of_lake(table: Table, file: String, bytes: u64, (from, to): (i64, i64)) -> Self {
        Self {
            id: 0,
            table,
            day: Day::UNKNOWN,
            file,
            rows: 0,
            bytes,
            time_from: from,
            time_to: to,
            stored_at: 0,
            is_doubtful: false,
        }
    }

    /// Whether it may have rows of a window.
    pub(crate) fn touches(&self, (from, to): (i64, i64)) -> bool {
        self.time_from <= to && (self.time_to >= from || self.time_to == i64::MIN)
    }

    /// When the last of its rows was stored; `now` where nobody knows any more.
    pub(crate) fn stored_at(&self, now: i64) -> i64 {
        if self.is_doubtful {
            now
        } else {
            self.stored_at
        }
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self, root: &Path) -> PathBuf {
        root.join(&self.file)
    }
}

/// Opens a segment of the list, to be compared with its checksums while it is read.
pub(crate) fn open(
    db: &Connection,
    from: Origin<'_>,
    segment: &Segment,
) -> Result<VerifiedFile, StoreError> {
    if let Some(keeper) = from.keeper {
        return Ok(VerifiedFile::elsewhere(
            Path::new(&segment.file),
            (Arc::clone(keeper), &segment.file),
            segment.bytes,
            cluster_of(&segment.file),
        ));
    }
    let sums = || {
        if !has(db, "checksums")? {
            return Ok(None);
        }
        db.prepare_cached("SELECT sums FROM checksums WHERE segment = ?1")?
            .query_row([segment.id], |row| row.get::<_, Vec<u8>>(0))
            .optional()
    };
    let sums = sums().map_err(StoreError::database(from.db_path))?;
    // A length that may be wrong is compared with nothing.
    let bytes = (!segment.is_doubtful).then_some(segment.bytes);
    VerifiedFile::open(&segment.path(from.root), bytes, sums)
}

/// Whether a segment is what was written, as far as there is something to compare it
/// with; else whether its footer can be read.
pub(crate) fn compare(file: &VerifiedFile) -> Result<(), StoreError> {
    if file.has_sums() {
        return file.compare();
    }
    footer(file).map(drop)
}

/// Says of a file that will be written that it counts for nothing until it is on the
/// list: whoever finds it after our death may remove it. Files that nobody
/// announced are never removed.
pub(crate) fn announce(db: &Connection, file: &str, now: i64) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO garbage (file, since) VALUES (?1, ?2)")?
        .execute(params![file, now])?;
    Ok(())
}

/// What the list says of a segment, in the order of its columns.
fn listed(draft: &Draft, stored_at: i64) -> impl Params + '_ {
    (
        draft.table.number(),
        draft.day.0,
        &draft.file,
        draft.rows,
        draft.bytes,
        draft.time_from,
        draft.time_to,
        stored_at,
        &draft.words,
        &draft.ids,
    )
}

/// Says of a segment on the list what it says anew.
pub(crate) fn relist(
    db: &Connection,
    id: i64,
    draft: &Draft,
    stored_at: i64,
) -> rusqlite::Result<()> {
    let sql = format!(
        "UPDATE segments SET (tbl, day, file, rows, bytes, time_from, time_to, stored_at, words, ids)
           = (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10) WHERE id = {id}"
    );
    db.execute(&sql, listed(draft, stored_at))?;
    keep_sums(db, id)
}

/// Adds a written segment to the list.
pub(crate) fn add(db: &Connection, draft: &Draft, stored_at: i64) -> rusqlite::Result<i64> {
    db.prepare_cached(
        "INSERT INTO segments (tbl, day, file, rows, bytes, time_from, time_to, stored_at, words, ids)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(listed(draft, stored_at))?;
    let id = db.last_insert_rowid();
    keep_sums(db, id)?;
    if draft.shared.is_none() {
        db.prepare_cached("INSERT OR REPLACE INTO checksums (segment, sums) VALUES (?1, ?2)")?
            .execute(params![id, draft.sums])?;
    }
    db.prepare_cached("DELETE FROM garbage WHERE file = ?1")?
        .execute([&draft.file])?;
    Ok(id)
}

/// Takes a segment off the list; its file stays a while for those who read it.
pub(crate) fn remove(db: &Connection, segment: &Segment, now: i64) -> rusqlite::Result<()> {
    unlist(db, segment)?;
    // What others share is theirs, too: it goes when nobody can read it any more.
    if segment.file.contains("/cluster=") {
        return Ok(());
    }
    db.prepare_cached("INSERT OR IGNORE INTO garbage (file, since) VALUES (?1, ?2)")?
        .execute(params![segment.file, now])?;
    Ok(())
}

/// Takes a segment off the list and lets its file be.
pub(crate) fn unlist(db: &Connection, segment: &Segment) -> rusqlite::Result<()> {
    for sql in [
        "DELETE FROM segments WHERE id = ?1",
        "DELETE FROM checksums WHERE segment = ?1",
        "DELETE FROM segment_sums WHERE segment = ?1",
    ] {
        db.prepare_cached(sql)?.execute([segment.id])?;
    }
    Ok(())
}
