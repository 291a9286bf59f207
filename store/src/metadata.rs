//! What is kept beside facts and objects: cursors and coverage.

use rusqlite::{Connection, params};
use whathappened_model::connector::Cursor;
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::time::Nanos;

use crate::damage;
use crate::db::{begin_write, has_column};
use crate::error::StoreError;
use crate::hot;
use crate::incidents;
use crate::row_checksum::{matches, sum};
use crate::store::Store;

pub(crate) fn set_cursors(db: &Connection, cursors: &[Cursor]) -> rusqlite::Result<()> {
    let mut set = db.prepare_cached(
        "INSERT OR REPLACE INTO cursors (place, resource, namespace, position, at)
         VALUES (?1, ?2, ?3, ?4, ?5)",
    )?;
    for cursor in cursors {
        set.execute(params![
            cursor.place,
            cursor.resource,
            cursor.namespace,
            cursor.position,
            cursor.at
        ])?;
    }
    Ok(())
}

pub(crate) fn set_coverage(
    db: &Connection,
    rows: &[(String, Coverage)],
    at: Nanos,
) -> rusqlite::Result<()> {
    for (key, row) in rows {
        let text = serde_json::to_string(row)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        put_coverage_text(db, key, &text, at)?;
    }
    Ok(())
}

/// Keeps a row of coverage that is JSON already.
pub(crate) fn put_coverage_text(
    db: &Connection,
    key: &str,
    text: &str,
    at: Nanos,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "INSERT OR REPLACE INTO coverage (key, at, row, sum) VALUES (?1, ?2, ?3, ?4)",
    )?
    .execute(params![key, at, text, coverage_sum(key, text.as_bytes())])?;
    Ok(())
}

fn coverage_sum(key: &str, row: &[u8]) -> [u8; 8] {
    sum(&[key.as_bytes(), row])
}

/// What is kept of sources; of a row that is not what was written, only that.
fn coverage_rows(db: &Connection) -> rusqlite::Result<Vec<Coverage>> {
    let sum = match has_column(db, "coverage", "sum")? {
        true => "sum",
        false => "NULL",
    };
    let mut statement = db.prepare_cached(&format!(
        "SELECT key, row, {sum} FROM coverage ORDER BY key"
    ))?;
    let mut stored = statement.query([])?;
    let (mut rows, mut damaged) = (Vec::new(), 0_u64);
    while let Some(row) = stored.next()? {
        let bytes = |column| {
            row.get_ref(column)
                .map(|value| value.as_bytes().unwrap_or_default())
        };
        let (key, text) = (String::from_utf8_lossy(bytes(0)?), bytes(1)?);
        let is_whole = matches(row.get_ref(2)?, coverage_sum(&key, text));
        match serde_json::from_slice(text) {
            Ok(one) if is_whole => rows.push(one),
            _ => damaged += 1,
        }
    }
    if damaged > 0 {
        let (rows_are, they) = match damaged {
            1 => ("row of coverage is", "it"),
            _ => ("rows of coverage are", "they"),
        };
        rows.push(Coverage {
            status: Status::Failed,
            detail: Some(format!(
                "{damaged} {rows_are} damaged, so gaps in a source that {they} recorded are no longer known"
            )),
            would_have_shown: Some("which sources had gaps".to_owned()),
            ..Coverage::new("store", "coverage")
        });
    }
    Ok(rows)
}

/// How many rows of coverage are not what was written.
pub(crate) fn damaged_coverage(db: &Connection) -> rusqlite::Result<bool> {
    let rows = coverage_rows(db)?;
    Ok(rows.iter().any(|row| {
        row.source == "store" && row.resource == "coverage" && row.status == Status::Failed
    }))
}

impl Store {
    /// Where to go on with the resources of a source.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn cursors(&self, place: &str) -> Result<Vec<Cursor>, StoreError> {
        let read = || {
            self.db
                .prepare_cached(
                    "SELECT place, resource, namespace, position, at FROM cursors
                     WHERE place = ?1 ORDER BY resource, namespace",
                )?
                .query_map([place], |row| {
                    Ok(Cursor {
                        place: row.get(0)?,
                        resource: row.get(1)?,
                        namespace: row.get(2)?,
                        position: row.get(3)?,
                        at: row.get(4)?,
                    })
                })?
                .collect::<rusqlite::Result<_>>()
        };
        read().map_err(StoreError::database(&self.db_path))
    }

    /// Keeps what a source could and could not show. `key` names the stretch of
    /// collecting that the row is of; its last row counts.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn keep_coverage(
        &mut self,
        rows: &[(String, Coverage)],
        at: Nanos,
    ) -> Result<(), StoreError> {
        let write = || {
            let tx = begin_write(&self.db)?;
            set_coverage(&tx, rows, at)?;
            tx.commit()
        };
        write().map_err(StoreError::database(&self.db_path))
    }

    /// All kept coverage, and a row for each segment that was set aside, in order.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn coverage(&self) -> Result<Vec<Coverage>, StoreError> {
        let mut rows = coverage_rows(&self.db).map_err(StoreError::database(&self.db_path))?;
        let damaged = incidents::coverage(&self.db).map_err(StoreError::database(&self.db_path))?;
        rows.extend(damaged);
        let damaged = damage::rows(&self.db).map_err(StoreError::database(&self.db_path))?;
        rows.extend(damaged);
        let damaged = damage::doubtful(&self.db).map_err(StoreError::database(&self.db_path))?;
        rows.extend(damaged);
        let damaged = hot::coverage(&self.db).map_err(StoreError::database(&self.db_path))?;
        rows.extend(damaged);
        rows.extend(self.unlisted_coverage()?);
        rows.extend(self.problem_row()?);
        rows.sort();
        Ok(rows)
    }
}
