//! How far a store has come: two numbers that grow whenever something changes that questions are
//! answered from, so that an answer that was found once can be known to be right still.
//!
//! Triggers count, so that whatever writes to the database counts, older programs and other
//! processes as well. What changes all the time and is in no answer is left out: cursors, marks of
//! a collector that runs, an incident that is explained anew with the same verdict.

use rusqlite::{Connection, OptionalExtension as _};

use crate::catalogue::HEARD;
use crate::db::has;
use crate::error::StoreError;
use crate::store::Store;

/// How far a store has come. Of two that are equal, nothing changed in between.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StoreVersion {
    /// Changes of records, of names, and of what sources could show.
    pub records: i64,
    /// Changes of verdicts.
    pub verdicts: i64,
    /// Which file it is: a store that was put in the place of another counts anew.
    pub file: u64,
}

/// What is counted: a table, when a row of it is another, and as what.
const COUNTED: [(&str, &str, &str); 19] = [
    ("segments", "INSERT", "records"),
    ("segments", "DELETE", "records"),
    ("segments", "UPDATE", "records"),
    ("hot", "INSERT", "records"),
    ("hot", "DELETE", "records"),
    (
        "hot",
        "UPDATE OF body, time, class, namespace, subject",
        "records",
    ),
    ("entities", "INSERT", "records"),
    ("entities", "DELETE", "records"),
    ("entities", "UPDATE OF owner, node, first, last", "records"),
    ("names", "INSERT", "records"),
    ("names", "DELETE", "records"),
    ("coverage", "INSERT", "records"),
    ("coverage", "DELETE", "records"),
    ("damaged", "INSERT", "records"),
    ("damaged", "DELETE", "records"),
    ("damaged", "UPDATE", "records"),
    ("verdicts", "INSERT", "verdicts"),
    ("verdicts", "DELETE", "verdicts"),
    ("damaged_incidents", "INSERT", "verdicts"),
];

/// The trigger that is made last: where it is, all of them are.
const LAST: &str = "damaged_incidents_insert_counts";

/// Adds to a database what counts there; an older program leaves it alone.
pub(crate) fn count(db: &Connection) -> rusqlite::Result<()> {
    db.execute_batch(
        "CREATE TABLE IF NOT EXISTS version (what TEXT PRIMARY KEY, number INTEGER NOT NULL) WITHOUT ROWID",
    )?;
    let begun = db
        .prepare("SELECT 1 FROM version WHERE what = 'verdicts'")?
        .exists([])?;
    if !begun {
        // Not by the triggers: what they insert is replaced where the row that they are about is.
        db.execute_batch(
            "INSERT OR IGNORE INTO version VALUES ('catalogue', 0), ('records', 0), ('verdicts', 0)",
        )?;
    }
    let mut sql = String::new();
    for (table, change, what) in COUNTED {
        let name = change.split(' ').next().unwrap_or(change).to_lowercase();
        let catalogue = match (table, change) {
            // When sources were heard of stands among the entities and is none.
            ("entities", "DELETE") => format!(" OR (what = 'catalogue' AND OLD.kind <> '{HEARD}')"),
            ("entities", _) => format!(" OR (what = 'catalogue' AND NEW.kind <> '{HEARD}')"),
            ("names", _) => " OR what = 'catalogue'".to_owned(),
            _ => String::new(),
        };
        sql.push_str(&format!(
            "CREATE TRIGGER IF NOT EXISTS {table}_{name}_counts AFTER {change} ON {table} BEGIN
               UPDATE version SET number = number + 1 WHERE what = '{what}'{catalogue};
             END;\n"
        ));
    }
    db.execute_batch(&sql)
}

fn numbers(db: &Connection) -> rusqlite::Result<Option<(i64, i64)>> {
    if !has(db, LAST)? {
        return Ok(None);
    }
    db.prepare_cached(
        "SELECT coalesce(max(number) FILTER (WHERE what = 'records'), 0),
                coalesce(max(number) FILTER (WHERE what = 'verdicts'), 0) FROM version",
    )?
    .query_row([], |row| Ok(Some((row.get(0)?, row.get(1)?))))
}

/// Changes of who there is and of names, where they are counted.
pub(crate) fn of_catalogue(db: &Connection) -> rusqlite::Result<Option<i64>> {
    if !has(db, LAST)? {
        return Ok(None);
    }
    db.prepare_cached("SELECT number FROM version WHERE what = 'catalogue'")?
        .query_row([], |row| row.get(0))
        .optional()
}

impl Store {
    /// How far the store has come. `None` where that is not counted: in one that no program of now
    /// has written to, and in the index of a lake, whose rows lie elsewhere.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn version(&self) -> Result<Option<StoreVersion>, StoreError> {
        if self.is_shared() {
            return Ok(None);
        }
        let numbers = numbers(&self.db).map_err(StoreError::database(&self.db_path))?;
        Ok(numbers.map(|(records, verdicts)| StoreVersion {
            records,
            verdicts,
            file: file(&self.db_path),
        }))
    }
}

#[cfg(unix)]
fn file(path: &std::path::Path) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    path.metadata().map_or(0, |meta| meta.ino())
}

#[cfg(not(unix))]
fn file(_: &std::path::Path) -> u64 {
    0
}
