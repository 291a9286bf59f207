//! The hot tier: rows that came lately, in `SQLite`, one for each id.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::day::Day;
use crate::record::{Class, Record, Table};

/// A hot row as it is read back.
pub(crate) struct Hot<R> {
    pub(crate) row: R,
    /// How often it was written, to see whether it changed meanwhile.
    pub(crate) rev: i64,
    /// The segment that has an older copy of it.
    pub(crate) replaces: Option<i64>,
}

fn read<R: Record>(row: &Row<'_>) -> rusqlite::Result<Hot<R>> {
    let body = row.get_ref("body")?.as_blob()?;
    let record = postcard::from_bytes(body).map_err(|error| {
        rusqlite::Error::FromSqlConversionFailure(0, rusqlite::types::Type::Blob, error.into())
    })?;
    Ok(Hot {
        row: record,
        rev: row.get("rev")?,
        replaces: row.get("replaces")?,
    })
}

/// The row of an id.
pub(crate) fn get<R: Record>(db: &Connection, id: u128) -> rusqlite::Result<Option<Hot<R>>> {
    db.prepare_cached("SELECT rev, replaces, body FROM hot WHERE tbl = ?1 AND id = ?2")?
        .query_row(params![R::TABLE.number(), id.to_be_bytes()], read)
        .optional()
}

/// Writes a row in place of the one of its id.
pub(crate) fn put<R: Record>(
    db: &Connection,
    row: &R,
    replaces: Option<i64>,
    rev: i64,
) -> rusqlite::Result<()> {
    let place = row.place();
    let body = postcard::to_stdvec(row)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO hot (tbl, id, day, class, namespace, subject, time, replaces, rev, body)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)",
    )?
    .execute(params![
        R::TABLE.number(),
        place.id.to_be_bytes(),
        row.day().0,
        place.class.number(),
        place.namespace,
        place.subject,
        place.time,
        replaces,
        rev,
        body
    ])?;
    Ok(())
}

/// All hot rows of one day, in no order.
pub(crate) fn of_day<R: Record>(db: &Connection, day: Day) -> rusqlite::Result<Vec<Hot<R>>> {
    db.prepare_cached("SELECT rev, replaces, body FROM hot WHERE tbl = ?1 AND day = ?2")?
        .query_map(params![R::TABLE.number(), day.0], read)?
        .collect()
}

/// All hot rows, in order of id.
pub(crate) fn all<R: Record>(db: &Connection) -> rusqlite::Result<Vec<Hot<R>>> {
    db.prepare_cached("SELECT rev, replaces, body FROM hot WHERE tbl = ?1 ORDER BY id")?
        .query_map([R::TABLE.number()], read)?
        .collect()
}

/// The hot rows of a database that may be damaged, as far as they can be read.
pub(crate) fn readable<R: Record>(db: &Connection) -> Vec<R> {
    let sql = "SELECT rev, replaces, body FROM hot WHERE tbl = ?1";
    let Ok(mut rows) = db.prepare(sql) else {
        return Vec::new();
    };
    match rows.query_map([R::TABLE.number()], read::<R>) {
        Ok(rows) => rows.map_while(Result::ok).map(|hot| hot.row).collect(),
        Err(_) => Vec::new(),
    }
}

/// The hot rows of one place.
pub(crate) fn of_place<R: Record>(
    db: &Connection,
    class: Class,
    namespace: &str,
    subject: &str,
) -> rusqlite::Result<Vec<Hot<R>>> {
    db.prepare_cached(
        "SELECT rev, replaces, body FROM hot
         WHERE tbl = ?1 AND class = ?2 AND (?2 <> 0 OR namespace = ?3) AND (?2 = 2 OR subject = ?4)",
    )?
    .query_map(
        params![R::TABLE.number(), class.number(), namespace, subject],
        read,
    )?
    .collect()
}

/// Days that have hot rows, and how many.
pub(crate) fn days(db: &Connection, table: Table) -> rusqlite::Result<Vec<(Day, u64)>> {
    db.prepare_cached("SELECT day, count(*) FROM hot WHERE tbl = ?1 GROUP BY day ORDER BY day")?
        .query_map([table.number()], |row| Ok((Day(row.get(0)?), row.get(1)?)))?
        .collect()
}

/// Removes a row that a segment has now, unless it changed meanwhile: then the
/// segment's copy is the older one.
pub(crate) fn landed(
    db: &Connection,
    table: Table,
    id: u128,
    rev: i64,
    segment: i64,
) -> rusqlite::Result<()> {
    let gone = db
        .prepare_cached("DELETE FROM hot WHERE tbl = ?1 AND id = ?2 AND rev = ?3")?
        .execute(params![table.number(), id.to_be_bytes(), rev])?;
    if gone == 0 {
        shadow(db, table, id, segment)?;
    }
    Ok(())
}

/// Removes a row that is elsewhere now, unless it changed meanwhile.
#[cfg(feature = "lake")]
pub(crate) fn settled(db: &Connection, table: Table, id: u128, rev: i64) -> rusqlite::Result<()> {
    db.prepare_cached("DELETE FROM hot WHERE tbl = ?1 AND id = ?2 AND rev = ?3")?
        .execute(params![table.number(), id.to_be_bytes(), rev])?;
    Ok(())
}

/// A hot row stands in for a segment's copy from here on.
pub(crate) fn shadow(
    db: &Connection,
    table: Table,
    id: u128,
    segment: i64,
) -> rusqlite::Result<()> {
    db.prepare_cached("UPDATE hot SET replaces = ?3 WHERE tbl = ?1 AND id = ?2")?
        .execute(params![table.number(), id.to_be_bytes(), segment])?;
    Ok(())
}

/// Ids of a day's hot rows of which no segment has a copy, as far as is known.
pub(crate) fn unshadowed(db: &Connection, table: Table, day: Day) -> rusqlite::Result<Vec<u128>> {
    db.prepare_cached("SELECT id FROM hot WHERE tbl = ?1 AND day = ?2 AND replaces IS NULL")?
        .query_map(params![table.number(), day.0], |row| {
            row.get(0).map(u128::from_be_bytes)
        })?
        .collect()
}

/// Ids of segments' rows that a hot row stands in for.
pub(crate) fn replaced(db: &Connection, table: Table) -> rusqlite::Result<Vec<(i64, u128)>> {
    db.prepare_cached(
        "SELECT replaces, id FROM hot WHERE tbl = ?1 AND replaces IS NOT NULL ORDER BY 1, 2",
    )?
    .query_map([table.number()], |row| {
        let id: [u8; 16] = row.get(1)?;
        Ok((row.get(0)?, u128::from_be_bytes(id)))
    })?
    .collect()
}
