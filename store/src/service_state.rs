//! What a face of the service has to remember, beside the store and apart from
//! its format: whom it answered, who subscribed, what it announced.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};

use crate::error::{self, StoreError};
use crate::permissions;

/// How long a writer waits for another.
const PATIENCE: Duration = Duration::from_secs(5);

const TABLE: &str = "
CREATE TABLE IF NOT EXISTS notes (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  until INTEGER,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS notes_until ON notes (until) WHERE until IS NOT NULL;
";

/// Values by kind and key that outlive a restart, in a database of their own.
/// Several processes may share one.
#[derive(Debug)]
pub struct ServiceState {
    path: PathBuf,
    connection: Mutex<Connection>,
}

impl ServiceState {
    /// Opens `name.sqlite` in a folder, or makes it.
    ///
    /// # Errors
    /// When the file cannot be used.
    pub fn open(folder: &Path, name: &str) -> Result<Self, StoreError> {
        let path = folder.join(format!("{name}.sqlite"));
        let failed = |error| refused(&path, error);
        permissions::touch(&path).map_err(StoreError::io(&path))?;
        let connection = Connection::open(&path).map_err(failed)?;
        connection.busy_timeout(PATIENCE).map_err(failed)?;
        // What a process wrote outlives its death; a machine that loses its power
        // may lose the last moments, after which Slack does not ask again.
        for (pragma, value) in [("journal_mode", "WAL"), ("synchronous", "NORMAL")] {
            connection
                .pragma_update_and_check(None, pragma, value, |_| Ok(()))
                .or_else(|error| match error {
                    rusqlite::Error::QueryReturnedNoRows => Ok(()),
                    other => Err(other),
                })
                .map_err(failed)?;
        }
        connection.execute_batch(TABLE).map_err(failed)?;
        Ok(Self {
            path,
            connection: Mutex::new(connection),
        })
    }

    /// Notes a key until a time in seconds since 1970; `true` if it was not noted
    /// yet. Whatever ended before `now` is forgotten.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn is_first(
        &self,
        kind: &str,
        key: &str,
        now: i64,
        until: i64,
    ) -> Result<bool, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached("DELETE FROM notes WHERE until <= ?1")?
                .execute([now])?;
            let added = connection
                .prepare_cached("INSERT OR IGNORE INTO notes VALUES (?1, ?2, '', ?3)")?
                .execute(params![kind, key, until])?;
            Ok(added > 0)
        })
    }

    /// Notes a value, in place of the one before; until it is removed.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn set(&self, kind: &str, key: &str, value: &str) -> Result<(), StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached("INSERT OR REPLACE INTO notes VALUES (?1, ?2, ?3, NULL)")?
                .execute([kind, key, value])?;
            Ok(())
        })
    }

    /// The value of a key.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn get(&self, kind: &str, key: &str) -> Result<Option<String>, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT value FROM notes WHERE kind = ?1 AND key = ?2")?
                .query_row([kind, key], |row| row.get(0))
                .optional()
        })
    }

    /// Forgets a key; `true` if it was there.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn remove(&self, kind: &str, key: &str) -> Result<bool, StoreError> {
        self.with(|connection| {
            let gone = connection
                .prepare_cached("DELETE FROM notes WHERE kind = ?1 AND key = ?2")?
                .execute([kind, key])?;
            Ok(gone > 0)
        })
    }

    /// All keys and values of a kind, in order of their keys.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn all(&self, kind: &str) -> Result<Vec<(String, String)>, StoreError> {
        self.with(|connection| {
            connection
                .prepare_cached("SELECT key, value FROM notes WHERE kind = ?1 ORDER BY key")?
                .query_map([kind], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }

    fn with<T>(
        &self,
        work: impl FnOnce(&MutexGuard<'_, Connection>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        let connection = self
            .connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        work(&connection).map_err(|error| refused(&self.path, error))
    }
}

/// Notes are no store: what is wrong with them is told without its hints.
fn refused(path: &Path, error: rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    if error::no_room(&path, &error) {
        StoreError::Full { path }
    } else {
        StoreError::Database { path, error }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_outlive_whoever_made_them() {
        let folder = tempfile::tempdir().unwrap();
        let notes = ServiceState::open(folder.path(), "slack").unwrap();
        assert!(notes.is_first("event", "Ev1", 100, 200).unwrap());
        assert!(!notes.is_first("event", "Ev1", 150, 250).unwrap());
        notes.set("subscription", "b", "1").unwrap();
        notes.set("subscription", "a", "2").unwrap();
        notes.set("subscription", "b", "3").unwrap();
        drop(notes);
        let notes = ServiceState::open(folder.path(), "slack").unwrap();
        let other = ServiceState::open(folder.path(), "slack").unwrap();
        assert!(!other.is_first("event", "Ev1", 199, 300).unwrap());
        assert!(notes.is_first("other", "Ev1", 199, 300).unwrap());
        assert!(
            notes.is_first("event", "Ev1", 200, 300).unwrap(),
            "long ago"
        );
        let text = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        assert_eq!(
            other.all("subscription").unwrap(),
            [text("a", "2"), text("b", "3")]
        );
        assert_eq!(
            notes.get("subscription", "a").unwrap().as_deref(),
            Some("2")
        );
        assert!(notes.remove("subscription", "a").unwrap());
        assert!(!other.remove("subscription", "a").unwrap());
        assert_eq!(other.get("subscription", "a").unwrap(), None);
    }
}
