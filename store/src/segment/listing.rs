//! The list of segments, and whether a row of it is what was written.
//!
//! Segments are left out of a question by what the list says of them alone, so a bit
//! of it that changed is another answer. Each row has checksums of all its columns:
//! where they do not fit, nothing is left out by that row, and that is told.
//! They lie in a table of their own: behind the filters, each look at the list would
//! have to step over these.

use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::{Filter, Segment};
use crate::day::Day;
use crate::db::has;
use crate::elsewhere::FilterOf;
use crate::error::StoreError;
use crate::record::Table;
use crate::row_checksum::{columns_sum, matches, sum};
use crate::store::Origin;

const COLUMNS: &str = "id, tbl, day, file, rows, bytes, time_from, time_to, stored_at";

/// How many of them there are.
const COUNT: usize = 9;

/// A filter of a segment.
pub(crate) struct ListedFilter {
    /// What may be in it: anything at all where the list is wrong.
    pub(crate) filter: Filter,
    /// Whether it is what was written.
    pub(crate) is_whole: bool,
}

/// The segment that a row tells of, as far as it has the types that it should.
pub(crate) fn of_row(row: &Row<'_>) -> rusqlite::Result<Segment> {
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
        is_doubtful: false,
    })
}

/// A row that is not what was written, as the file's own path tells of it: it may be of
/// any time, and is never too old.
fn doubtful(row: &Row<'_>) -> rusqlite::Result<Segment> {
    let number = |column| row.get_ref(column).map(|value| value.as_i64().unwrap_or(0));
    let file = row.get_ref("file")?;
    let file = String::from_utf8_lossy(file.as_bytes().unwrap_or_default()).into_owned();
    let (table, day) = place(&file).unwrap_or_else(|| {
        let table = match row.get_ref("tbl").map(|value| value.as_i64()) {
            Ok(Ok(1)) => Table::Objects,
            _ => Table::Events,
        };
        (table, Day::UNKNOWN)
    });
    Ok(Segment {
        id: row.get("id")?,
        table,
        day,
        file,
        rows: u64::try_from(number("rows")?).unwrap_or(0),
        bytes: u64::try_from(number("bytes")?).unwrap_or(0),
        time_from: i64::MIN,
        time_to: i64::MAX,
        stored_at: i64::MAX,
        is_doubtful: true,
    })
}

/// Table and day of a file below the store's folder.
pub(crate) fn place(file: &str) -> Option<(Table, Day)> {
    let mut parts = file.split('/');
    let table = match parts.next()? {
        "events" => Table::Events,
        "objects" => Table::Objects,
        _ => return None,
    };
    let day = parts.find_map(|part| part.strip_prefix("day="))?;
    Some((table, day.parse().ok()?))
}

/// All segments on the list, those of facts first.
pub(crate) fn all_live(db: &Connection) -> rusqlite::Result<Vec<Segment>> {
    let mut all = live(db, Table::Events, None)?;
    all.append(&mut live(db, Table::Objects, None)?);
    Ok(all)
}

/// The live segments of a table, of one day or of all, in order.
pub(crate) fn live(
    db: &Connection,
    table: Table,
    day: Option<Day>,
) -> rusqlite::Result<Vec<Segment>> {
    let sum = match has(db, "segment_sums")? {
        true => "(SELECT place FROM segment_sums WHERE segment = id)",
        false => "NULL",
    };
    // What a row says of its place may be wrong, so it is looked for by its file, too.
    let (here, folder) = match day {
        Some(day) => (
            "tbl = ?1 AND day = ?2",
            format!("{}/day={day}", table.as_str()),
        ),
        None => ("tbl = ?1 AND ?2 IS NULL", table.as_str().to_owned()),
    };
    let sql = format!(
        "SELECT {COLUMNS}, {sum} FROM segments
         WHERE ({here}) OR (file >= ?3 || '/' AND file < ?3 || '0') ORDER BY day, id"
    );
    let read = |row: &Row<'_>| {
        if matches(row.get_ref(COUNT)?, columns_sum(row, 0..COUNT)?) {
            of_row(row)
        } else {
            doubtful(row)
        }
    };
    let mut live: Vec<Segment> = db
        .prepare_cached(&sql)?
        .query_map(params![table.number(), day.map(|day| day.0), folder], read)?
        .collect::<rusqlite::Result<_>>()?;
    live.retain(|one| one.table == table && day.is_none_or(|day| one.day == day));
    live.sort_by_key(|one| (one.day, one.id));
    Ok(live)
}

/// A filter of a segment: from the list, else from whoever keeps the segment.
pub(crate) fn filter(
    db: &Connection,
    from: Origin<'_>,
    segment: &Segment,
    of: FilterOf,
) -> Result<ListedFilter, StoreError> {
    let (bytes, is_whole) =
        listed_filter(db, segment.id, of).map_err(StoreError::database(from.db_path))?;
    let bytes = match from.keeper.filter(|_| bytes.is_empty() || !is_whole) {
        Some(keeper) => {
            let bytes = keeper.filter(&segment.file, of);
            bytes.map_err(|error| StoreError::elsewhere(&segment.file, error))?
        }
        // None at all holds everything.
        None if !is_whole => Vec::new(),
        None => bytes,
    };
    Ok(ListedFilter {
        filter: Filter::from_bytes(&bytes),
        is_whole,
    })
}

/// A filter's bytes, and whether they are what was written.
fn listed_filter(db: &Connection, segment: i64, of: FilterOf) -> rusqlite::Result<(Vec<u8>, bool)> {
    let column = match of {
        FilterOf::Words => "words",
        FilterOf::Ids => "ids",
    };
    let sum = match has(db, "segment_sums")? {
        true => format!("(SELECT {column} FROM segment_sums WHERE segment = ?1)"),
        false => "NULL".to_owned(),
    };
    db.prepare_cached(&format!(
        "SELECT {column}, {sum} FROM segments WHERE id = ?1"
    ))?
    .query_row([segment], |row| {
        let bytes = row.get_ref(0)?.as_bytes().unwrap_or_default();
        let is_whole = matches(row.get_ref(1)?, filter_sum(segment, bytes));
        Ok((bytes.to_vec(), is_whole))
    })
}

fn filter_sum(segment: i64, bytes: &[u8]) -> [u8; 8] {
    sum(&[&segment.to_be_bytes(), bytes])
}

/// What is wrong with a row of the list; nothing where it is what was written.
pub(crate) fn wrong(db: &Connection, segment: &Segment) -> rusqlite::Result<Option<&'static str>> {
    if segment.is_doubtful {
        return Ok(Some("where and of which time it is"));
    }
    for (of, what) in [
        (FilterOf::Words, "which words are in it"),
        (FilterOf::Ids, "which ids are in it"),
    ] {
        if !listed_filter(db, segment.id, of)?.1 {
            return Ok(Some(what));
        }
    }
    Ok(None)
}

/// Keeps the checksums of a row of the list as it is now.
pub(crate) fn keep_sums(db: &Connection, segment: i64) -> rusqlite::Result<()> {
    let sql = format!("SELECT {COLUMNS}, words, ids FROM segments WHERE id = ?1");
    let sums = |row: &Row<'_>| {
        let filter = |column| {
            let bytes = row.get_ref(column)?.as_bytes().unwrap_or_default();
            Ok::<_, rusqlite::Error>(filter_sum(segment, bytes))
        };
        Ok((
            columns_sum(row, 0..COUNT)?,
            filter(COUNT)?,
            filter(COUNT + 1)?,
        ))
    };
    let found = db.prepare_cached(&sql)?.query_row([segment], sums);
    if let Some((place, words, ids)) = found.optional()? {
        db.prepare_cached(
            "INSERT OR REPLACE INTO segment_sums (segment, place, words, ids) VALUES (?1, ?2, ?3, ?4)",
        )?
        .execute(params![segment, place, words, ids])?;
    }
    Ok(())
}

/// Whether some rows have no checksums.
pub(crate) fn lacks_sums(db: &Connection) -> rusqlite::Result<bool> {
    db.prepare("SELECT 1 FROM segments WHERE id NOT IN (SELECT segment FROM segment_sums)")?
        .exists([])
}

/// Gives checksums to the rows that an older program wrote. What they say is believed:
/// `verify` compares it with the segments.
pub(crate) fn keep_missing_sums(db: &Connection) -> rusqlite::Result<()> {
    let missing: Vec<i64> = db
        .prepare("SELECT id FROM segments WHERE id NOT IN (SELECT segment FROM segment_sums)")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    missing.into_iter().try_for_each(|id| keep_sums(db, id))
}
