//! The hot tier: rows that came lately, in `SQLite`, one for each id and each with a
//! checksum. One that is not what was written is left out and told of; its
//! neighbours are read as ever.

use rusqlite::{Connection, OptionalExtension as _, Params, Row, params};
use whathappened_model::coverage::{Coverage, Status};

use crate::day::Day;
use crate::db::has_column;
use crate::kept_sum::{matches, sum};
use crate::record::{Class, Fact, Object, Record, Table};

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

/// The columns that a row is read from.
fn columns(db: &Connection) -> rusqlite::Result<String> {
    Ok(format!("id, rev, replaces, body, {}", sum_column(db)?))
}

/// The column of checksums, which a store of before has not.
fn sum_column(db: &Connection) -> rusqlite::Result<&'static str> {
    Ok(if has_column(db, "hot", "sum")? {
        "sum"
    } else {
        "NULL AS sum"
    })
}

/// What a row is written with: its bytes under its id.
fn sum_of(table: Table, id: &[u8], body: &[u8]) -> [u8; 8] {
    sum(&[&table.number().to_be_bytes(), id, body])
}

/// A row, or none where it is not what was written.
fn read<R: Record>(row: &Row<'_>) -> rusqlite::Result<Hot<Option<R>>> {
    let (id, body) = (row.get_ref("id")?, row.get_ref("body")?);
    let (id, body) = (
        id.as_bytes().unwrap_or_default(),
        body.as_bytes().unwrap_or_default(),
    );
    let is_whole = matches(row.get_ref("sum")?, sum_of(R::TABLE, id, body));
    // A row of before has no checksum: that it decodes is all that can be asked of it.
    let decoded = postcard::from_bytes(body).ok();
    Ok(Hot {
        row: decoded.filter(|_| is_whole),
        rev: row.get("rev")?,
        replaces: row.get("replaces")?,
    })
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
    let body = postcard::to_stdvec(row)
        .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
    db.prepare_cached(
        "INSERT OR REPLACE INTO hot (tbl, id, day, class, namespace, subject, time, replaces, rev, body, sum)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
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
        body,
        sum_of(R::TABLE, &place.id.to_be_bytes(), &body)
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

/// The hot rows of one place.
pub(crate) fn of_place<R: Record>(
    db: &Connection,
    class: Class,
    namespace: &str,
    subject: &str,
) -> rusqlite::Result<Vec<Hot<R>>> {
    whole(
        db,
        "tbl = ?1 AND class = ?2 AND (?2 <> 0 OR namespace = ?3) AND (?2 = 2 OR subject = ?4)",
        params![R::TABLE.number(), class.number(), namespace, subject],
    )
}

/// Ids of the rows of a table that are not what was written.
fn damaged<R: Record>(db: &Connection) -> rusqlite::Result<Vec<u128>> {
    let sql = format!(
        "SELECT {} FROM hot WHERE tbl = ?1 ORDER BY id",
        columns(db)?
    );
    let mut statement = db.prepare_cached(&sql)?;
    let mut rows = statement.query([R::TABLE.number()])?;
    let mut ids = Vec::new();
    while let Some(row) = rows.next()? {
        if read::<R>(row)?.row.is_none() {
            ids.push(row.get("id").map(u128::from_be_bytes)?);
        }
    }
    Ok(ids)
}

/// How many rows are not what was written: facts, and versions of objects.
pub(crate) fn count_damaged(db: &Connection) -> rusqlite::Result<(u64, u64)> {
    let (facts, objects) = (damaged::<Fact>(db)?, damaged::<Object>(db)?);
    Ok((facts.len() as u64, objects.len() as u64))
}

/// Removes them; how many they were.
pub(crate) fn forget_damaged(db: &Connection) -> rusqlite::Result<u64> {
    let facts = damaged::<Fact>(db)?
        .into_iter()
        .map(|id| (Table::Events, id));
    let objects = damaged::<Object>(db)?
        .into_iter()
        .map(|id| (Table::Objects, id));
    let mut gone = 0;
    for (table, id) in facts.chain(objects) {
        db.prepare_cached("DELETE FROM hot WHERE tbl = ?1 AND id = ?2")?
            .execute(params![table.number(), id.to_be_bytes()])?;
        gone += 1;
    }
    Ok(gone)
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
    let told = all.into_iter().filter(|(count, ..)| *count > 0);
    Ok(told
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

/// Ids of segments' rows that a hot row stands in for. A damaged one stands in for none.
pub(crate) fn replaced<R: Record>(db: &Connection) -> rusqlite::Result<Vec<(i64, u128)>> {
    let condition = "tbl = ?1 AND replaces IS NOT NULL ORDER BY replaces, id";
    let rows = whole::<R>(db, condition, [R::TABLE.number()])?;
    let pair = |hot: Hot<R>| Some((hot.replaces?, hot.row.place().id));
    Ok(rows.into_iter().filter_map(pair).collect())
}
