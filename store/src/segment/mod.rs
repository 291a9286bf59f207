//! Segments: immutable Parquet files, each of one table and one day, in the
//! order of [`crate::record::Place`].

mod filter;
mod read;
mod write;

use std::path::{Path, PathBuf};

use rusqlite::{Connection, Row, params};

pub(crate) use filter::Filter;
pub use filter::filter_key;
pub(crate) use read::{Rows, Wanted, at, ids, places};
pub(crate) use write::{Draft, Writer, id_key, subject_key};

use crate::day::Day;
use crate::record::Table;

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
}

impl Segment {
    /// Whether it may have rows of a window.
    pub(crate) fn touches(&self, (from, to): (i64, i64)) -> bool {
        self.time_from <= to && (self.time_to >= from || self.time_to == i64::MIN)
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self, root: &Path) -> PathBuf {
        root.join(&self.file)
    }
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<Segment> {
    let table: i64 = row.get("tbl")?;
    Ok(Segment {
        id: row.get("id")?,
        table: if table == 0 {
            Table::Events
        } else {
            Table::Objects
        },
        day: Day(row.get("day")?),
        file: row.get("file")?,
        rows: row.get("rows")?,
        bytes: row.get("bytes")?,
        time_from: row.get("time_from")?,
        time_to: row.get("time_to")?,
        stored_at: row.get("stored_at")?,
    })
}

const COLUMNS: &str = "id, tbl, day, file, rows, bytes, time_from, time_to, stored_at";

/// The live segments of a table, of one day or of all, in order.
pub(crate) fn live(
    db: &Connection,
    table: Table,
    day: Option<Day>,
) -> rusqlite::Result<Vec<Segment>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM segments WHERE tbl = ?1 AND (?2 IS NULL OR day = ?2) ORDER BY day, id"
    );
    db.prepare_cached(&sql)?
        .query_map(params![table.number(), day.map(|day| day.0)], of_row)?
        .collect()
}

/// The filter of words of a segment.
pub(crate) fn words(db: &Connection, segment: i64) -> rusqlite::Result<Filter> {
    filter(db, "SELECT words FROM segments WHERE id = ?1", segment)
}

/// The filter of ids of a segment.
pub(crate) fn id_filter(db: &Connection, segment: i64) -> rusqlite::Result<Filter> {
    filter(db, "SELECT ids FROM segments WHERE id = ?1", segment)
}

fn filter(db: &Connection, sql: &str, segment: i64) -> rusqlite::Result<Filter> {
    db.prepare_cached(sql)?.query_row([segment], |row| {
        Ok(Filter::from_bytes(row.get_ref(0)?.as_blob()?))
    })
}

/// Adds a written segment to the list.
pub(crate) fn add(db: &Connection, draft: &Draft, stored_at: i64) -> rusqlite::Result<i64> {
    db.prepare_cached(
        "INSERT INTO segments (tbl, day, file, rows, bytes, time_from, time_to, stored_at, words, ids)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        draft.table.number(),
        draft.day.0,
        draft.file,
        draft.rows,
        draft.bytes,
        draft.time_from,
        draft.time_to,
        stored_at,
        draft.words,
        draft.ids
    ])?;
    Ok(db.last_insert_rowid())
}

/// Takes a segment off the list; its file stays a while for those who read it.
pub(crate) fn remove(db: &Connection, segment: &Segment, now: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM segments WHERE id = ?1")?
        .execute([segment.id])?;
    db.prepare_cached("INSERT OR IGNORE INTO garbage (file, since) VALUES (?1, ?2)")?
        .execute(params![segment.file, now])?;
    Ok(())
}
