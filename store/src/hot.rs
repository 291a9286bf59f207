//! The hot tier: rows that came lately, in `SQLite`, one for each id and each with a
//! checksum. One that is not what was written is left out and told of; its
//! neighbours are read as ever.

use std::collections::BTreeSet;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use whathappened_model::coverage::{Coverage, Status};

use crate::day::Day;
use crate::db::has_column;
use crate::record::{Fact, Object, Record, Table};
use crate::row_checksum::{WRONG, columns_sum, matches, sum, values_sum};
use crate::segment::SubjectKey;

/// A hot row as it is read back.
pub(crate) struct Hot<R> {
    pub(crate) row: R,
    /// How often it was written, to see whether it changed meanwhile.
    pub(crate) rev: i64,
    /// The segment that has an older copy of it.
    pub(crate) replaces: Option<i64>,
}

impl<R> Hot<Option<R>> {
    /// The same where it is what was written.
    pub(crate) fn whole(self) -> Option<Hot<R>> {
        Some(Hot {
            row: self.row?,
            rev: self.rev,
            replaces: self.replaces,
        })
    }
}

/// What the second checksum of a row is of: all but the row's bytes, which have the first.
const PLACE: &str = "tbl, id, day, class, namespace, subject, time, replaces, rev";

/// The columns that a row is read from; those of checksums are missing in a store of before.
fn columns(db: &Connection) -> rusqlite::Result<String> {
    let mut columns = format!("{PLACE}, body");
    for sum in ["sum", "row_sum"] {
        let is_there = has_column(db, "hot", sum)?;
        columns.push_str(if is_there { ", " } else { ", NULL AS " });
        columns.push_str(sum);
    }
    Ok(columns)
}

/// The checksum of where a row is and what it stands in for; the row has [`columns`].
fn place_sum(row: &Row<'_>) -> rusqlite::Result<[u8; 8]> {
    columns_sum(row, 0..PLACE.split(',').count())
}

/// What a row is written with: its bytes under its id.
fn sum_of(table: Table, id: &[u8], body: &[u8]) -> [u8; 8] {
    sum(&[&table.number().to_be_bytes(), id, body])
}

/// A row, or none where it is not what was written.
fn read<R: Record>(row: &Row<'_>) -> rusqlite::Result<Hot<Option<R>>> {
    let is_in_place = matches(row.get_ref("row_sum")?, place_sum(row)?);
    Ok(Hot {
        row: decoded(row)?.filter(|_| is_in_place),
        rev: row.get_ref("rev")?.as_i64().unwrap_or(0),
        replaces: row.get_ref("replaces")?.as_i64().ok(),
    })
}

/// What the bytes of a row tell, or nothing where they are not what was written. A row of
/// before has no checksum: that it decodes is all that can be asked of it.
fn decoded<R: Record>(row: &Row<'_>) -> rusqlite::Result<Option<R>> {
    let body = row.get_ref("body")?.as_bytes().unwrap_or_default();
    let Ok(decoded) = R::decode(body) else {
        return Ok(None);
    };
    let sum = sum_of(R::TABLE, &decoded.place().id.to_be_bytes(), body);
    Ok(Some(decoded).filter(|_| matches(row.get_ref("sum").unwrap_or(ValueRef::Null), sum)))
}

/// The rows of a question that are what was written.
fn whole<R: Record>(
    db: &Connection,
    condition: &str,
    values: impl Params,
) -> rusqlite::Result<Vec<Hot<R>>> {
    let sql = format!("SELECT {} FROM hot WHERE {condition}", columns(db)?);
    let mut statement = db.prepare_cached(&sql)?;
    let rows = statement.query_map(values, read::<R>)?;
    rows.filter_map(|row| row.map(Hot::whole).transpose())
        .collect()
}

/// The row of an id.
pub(crate) fn get<R: Record>(
    db: &Connection,
    id: u128,
) -> rusqlite::Result<Option<Hot<Option<R>>>> {
    let sql = format!(
        "SELECT {} FROM hot WHERE tbl = ?1 AND id = ?2",
        columns(db)?
    );
    db.prepare_cached(&sql)?
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
    let body = row
        .encode(Vec::new())
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    let id = place.id.to_be_bytes();
    let row_sum = values_sum(&[
        ValueRef::Integer(R::TABLE.number()),
        ValueRef::Blob(&id),
        ValueRef::Integer(row.day().0),
        ValueRef::Integer(place.class.number().into()),
        ValueRef::Text(place.namespace.as_bytes()),
        ValueRef::Text(place.subject.as_bytes()),
        ValueRef::Integer(place.time),
        replaces.map_or(ValueRef::Null, ValueRef::Integer),
        ValueRef::Integer(rev),
    ]);
    db.prepare_cached(
        "INSERT OR REPLACE INTO hot (tbl, id, day, class, namespace, subject, time, replaces, rev, body, sum, row_sum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    )?
    .execute(params![
        R::TABLE.number(),
        id,
        row.day().0,
        place.class.number(),
        place.namespace,
        place.subject,
        place.time,
        replaces,
        rev,
        body,
        sum_of(R::TABLE, &id, &body),
        row_sum
    ])?;
    Ok(())
}

/// All hot rows of one day, in no order.
pub(crate) fn of_day<R: Record>(db: &Connection, day: Day) -> rusqlite::Result<Vec<Hot<R>>> {
    whole(
        db,
        "tbl = ?1 AND day = ?2",
        params![R::TABLE.number(), day.0],
    )
}

/// All hot rows, in order of id.
pub(crate) fn all<R: Record>(db: &Connection) -> rusqlite::Result<Vec<Hot<R>>> {
    whole(db, "tbl = ?1 ORDER BY id", [R::TABLE.number()])
}

/// The hot rows of a database that may be damaged, as far as they can be read.
pub(crate) fn readable<R: Record>(db: &Connection) -> Vec<R> {
    let Ok(columns) = columns(db) else {
        return Vec::new();
    };
    let sql = format!("SELECT {columns} FROM hot WHERE tbl = ?1");
    let Ok(mut rows) = db.prepare(&sql) else {
        return Vec::new();
    };
    match rows.query_map([R::TABLE.number()], read::<R>) {
        Ok(rows) => rows
            .map_while(Result::ok)
            .filter_map(|hot| hot.row)
            .collect(),
        Err(_) => Vec::new(),
    }
}

/// The hot rows of some places.
pub(crate) fn of_places<R: Record>(
    db: &Connection,
    wanted: &BTreeSet<SubjectKey>,
) -> rusqlite::Result<Vec<Hot<R>>> {
    // A large run is of thousands of places, of which few have told anything lately.
    let is_empty = !db
        .prepare_cached("SELECT 1 FROM hot WHERE tbl = ?1 LIMIT 1")?
        .exists([R::TABLE.number()])?;
    if is_empty {
        return Ok(Vec::new());
    }
    let sql = format!(
        "SELECT {} FROM hot WHERE tbl = ?1 AND class = ?2 AND (?2 <> 0 OR namespace = ?3) AND (?2 = 2 OR subject = ?4)",
        columns(db)?
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut found = Vec::new();
    for (class, namespace, subject) in wanted {
        let values = params![R::TABLE.number(), class.number(), namespace, subject];
        for row in statement.query_map(values, read::<R>)? {
            found.extend(row?.whole());
        }
    }
    Ok(found)
}

/// A row that is not what was written.
struct DamagedRow<R> {
    /// Its key, as it is.
    id: Vec<u8>,
    /// What it tells, where its bytes are right and only its place is wrong.
    decoded: Option<R>,
}

/// The rows of a table that are not what was written.
fn damaged<R: Record>(db: &Connection) -> rusqlite::Result<Vec<DamagedRow<R>>> {
    let sql = format!(
        "SELECT {} FROM hot WHERE tbl = ?1 ORDER BY id",
        columns(db)?
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query([R::TABLE.number()])?;
    let mut damaged = Vec::new();
    while let Some(row) = rows.next()? {
        if read::<R>(row)?.row.is_none() {
            let id = row.get_ref("id")?.as_bytes().unwrap_or_default();
            damaged.push(DamagedRow {
                id: id.to_vec(),
                decoded: decoded(row)?,
            });
        }
    }
    Ok(damaged)
}

/// How many rows are not what was written: facts, and versions of objects.
pub(crate) fn count_damaged(db: &Connection) -> rusqlite::Result<(u64, u64)> {
    let (facts, objects) = (damaged::<Fact>(db)?, damaged::<Object>(db)?);
    Ok((facts.len() as u64, objects.len() as u64))
}

/// What those of them tell whose bytes are right, and only their place is wrong.
pub(crate) fn misplaced<R: Record>(db: &Connection) -> rusqlite::Result<Vec<R>> {
    Ok(damaged::<R>(db)?
        .into_iter()
        .filter_map(|one| one.decoded)
        .collect())
}

/// Removes them; how many told nothing any more.
pub(crate) fn forget_damaged(db: &Connection) -> rusqlite::Result<u64> {
    Ok(forget_damaged_of::<Fact>(db)? + forget_damaged_of::<Object>(db)?)
}

fn forget_damaged_of<R: Record>(db: &Connection) -> rusqlite::Result<u64> {
    let mut lost = 0;
    for one in damaged::<R>(db)? {
        db.prepare_cached("DELETE FROM hot WHERE tbl = ?1 AND id = ?2")?
            .execute(params![R::TABLE.number(), one.id])?;
        lost += u64::from(one.decoded.is_none());
    }
    Ok(lost)
}

/// What damaged rows mean for whoever asks.
pub(crate) fn coverage(db: &Connection) -> rusqlite::Result<Vec<Coverage>> {
    let (facts, objects) = count_damaged(db)?;
    let all = [
        (facts, "fact", "facts", Table::Events),
        (
            objects,
            "version of an object",
            "versions of objects",
            Table::Objects,
        ),
    ];
    let counted = all.into_iter().filter(|(count, ..)| *count > 0);
    Ok(counted
        .map(|(count, one, many, table)| {
            let (what, are) = if count == 1 { (one, "is") } else { (many, "are") };
            Coverage {
                status: Status::Failed,
                detail: Some(format!(
                    "{count} {what} that came lately {are} damaged and left out (store.db); `whathappened store repair` removes what is damaged"
                )),
                would_have_shown: Some(format!("{count} {what}")),
                ..Coverage::new("store", table.as_str())
            }
        })
        .collect())
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
    replace(db, (table.number(), &id.to_be_bytes()), Some(segment))
}

/// Hot rows that stood in for a segment's copies stand in for another's from here on, or
/// for none.
pub(crate) fn shadow_instead(db: &Connection, old: i64, new: Option<i64>) -> rusqlite::Result<()> {
    let keys: Vec<(i64, Vec<u8>)> = db
        .prepare_cached("SELECT tbl, id FROM hot WHERE replaces = ?1")?
        .query_map([old], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (table, id) in keys {
        replace(db, (table, &id), new)?;
    }
    Ok(())
}

/// Says what a row stands in for. A row that was wrong before is as wrong afterwards.
fn replace(db: &Connection, key: (i64, &[u8]), segment: Option<i64>) -> rusqlite::Result<()> {
    let was_right = sums_of(db, key)?.is_none_or(|(is_right, _)| is_right);
    db.prepare_cached("UPDATE hot SET replaces = ?3, row_sum = NULL WHERE tbl = ?1 AND id = ?2")?
        .execute(params![key.0, key.1, segment])?;
    keep_sum(db, key, was_right)
}

/// Whether the place of a row is what was written, and the checksum that it should have.
fn sums_of(db: &Connection, key: (i64, &[u8])) -> rusqlite::Result<Option<(bool, [u8; 8])>> {
    let sql = format!("SELECT {PLACE}, row_sum FROM hot WHERE tbl = ?1 AND id = ?2");
    db.prepare_cached(&sql)?
        .query_row(params![key.0, key.1], |row| {
            let sum = place_sum(row)?;
            Ok((matches(row.get_ref("row_sum")?, sum), sum))
        })
        .optional()
}

/// Gives a row the checksum of its place as it is now.
fn keep_sum(db: &Connection, key: (i64, &[u8]), is_right: bool) -> rusqlite::Result<()> {
    let Some((_, sum)) = sums_of(db, key)? else {
        return Ok(());
    };
    let sum: &[u8] = if is_right { &sum } else { &WRONG };
    db.prepare_cached("UPDATE hot SET row_sum = ?3 WHERE tbl = ?1 AND id = ?2")?
        .execute(params![key.0, key.1, sum])?;
    Ok(())
}

/// Whether an older program wrote some rows.
pub(crate) fn lacks_sums(db: &Connection) -> rusqlite::Result<bool> {
    db.prepare("SELECT 1 FROM hot WHERE row_sum IS NULL")?
        .exists([])
}

/// Gives checksums to the rows that an older program wrote.
pub(crate) fn keep_missing_sums(db: &Connection) -> rusqlite::Result<()> {
    let keys: Vec<(i64, Vec<u8>)> = db
        .prepare("SELECT tbl, id FROM hot WHERE row_sum IS NULL")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (table, id) in keys {
        keep_sum(db, (table, &id), true)?;
    }
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

/// Ids of segments' rows that a hot row stands in for. A damaged one stands in for none.
pub(crate) fn replaced<R: Record>(db: &Connection) -> rusqlite::Result<Vec<(i64, u128)>> {
    let condition = "tbl = ?1 AND replaces IS NOT NULL ORDER BY replaces, id";
    let rows = whole::<R>(db, condition, [R::TABLE.number()])?;
    let pair = |hot: Hot<R>| Some((hot.replaces?, hot.row.place().id));
    Ok(rows.into_iter().filter_map(pair).collect())
}
