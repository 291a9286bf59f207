//! The database beside the segments: their list, the hot tier, the catalogue.

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior};

use crate::error::StoreError;
use crate::permissions;
use crate::retain::on_disk;
use crate::store::FORMAT;
use crate::{catalogue, hot, segment, version};

/// How long a writer waits for another.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

const TABLES: &str = "
CREATE TABLE segments (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  tbl INTEGER NOT NULL,
  day INTEGER NOT NULL,
  file TEXT NOT NULL UNIQUE,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  time_from INTEGER NOT NULL,
  time_to INTEGER NOT NULL,
  stored_at INTEGER NOT NULL,
  words BLOB NOT NULL,
  ids BLOB NOT NULL
);
CREATE INDEX segments_day ON segments (tbl, day);
CREATE TABLE garbage (file TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE hot (
  tbl INTEGER NOT NULL,
  id BLOB NOT NULL,
  day INTEGER NOT NULL,
  class INTEGER NOT NULL,
  namespace TEXT NOT NULL,
  subject TEXT NOT NULL,
  time INTEGER NOT NULL,
  replaces INTEGER,
  rev INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (tbl, id)
) WITHOUT ROWID;
CREATE INDEX hot_place ON hot (tbl, class, namespace, subject);
CREATE INDEX hot_day ON hot (tbl, day);
CREATE INDEX hot_replaces ON hot (replaces) WHERE replaces IS NOT NULL;
CREATE TABLE entities (
  id INTEGER PRIMARY KEY,
  kind TEXT NOT NULL,
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  uid TEXT NOT NULL,
  owner TEXT NOT NULL,
  node TEXT NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL
);
CREATE UNIQUE INDEX entities_key ON entities (uid, kind, namespace, name);
CREATE INDEX entities_name ON entities (name, namespace);
CREATE INDEX entities_owner ON entities (owner) WHERE owner <> '';
CREATE INDEX entities_workloads ON entities (name) WHERE kind <> 'Pod';
CREATE TABLE names (
  name TEXT NOT NULL,
  tier INTEGER NOT NULL,
  bearer TEXT NOT NULL,
  PRIMARY KEY (name, tier, bearer)
) WITHOUT ROWID;
CREATE TABLE cursors (
  place TEXT NOT NULL,
  resource TEXT NOT NULL,
  namespace TEXT NOT NULL,
  position TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (place, resource, namespace)
) WITHOUT ROWID;
CREATE TABLE coverage (key TEXT PRIMARY KEY, at INTEGER NOT NULL, row TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE incidents (
  id TEXT PRIMARY KEY,
  experiment TEXT NOT NULL,
  run_id TEXT NOT NULL,
  time INTEGER,
  explained_at INTEGER NOT NULL,
  ruleset TEXT NOT NULL,
  answer TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX incidents_run ON incidents (run_id);
CREATE INDEX incidents_time ON incidents (time);
";

/// What a store of before lacks; readers do without.
const ADDITIONS: &str = "
CREATE TABLE IF NOT EXISTS incident_machines (
  name TEXT NOT NULL,
  time INTEGER NOT NULL,
  incident TEXT NOT NULL,
  PRIMARY KEY (name, time, incident)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS entities_node ON entities (node) WHERE node <> '';
CREATE TABLE IF NOT EXISTS checksums (segment INTEGER PRIMARY KEY, sums BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS segment_sums (
  segment INTEGER PRIMARY KEY,
  place BLOB NOT NULL,
  words BLOB NOT NULL,
  ids BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS damaged (
  file TEXT PRIMARY KEY,
  tbl INTEGER NOT NULL,
  day INTEGER NOT NULL,
  rows INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  time_from INTEGER NOT NULL,
  time_to INTEGER NOT NULL,
  stored_at INTEGER NOT NULL,
  sums BLOB,
  why TEXT NOT NULL,
  saved INTEGER
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS damaged_ids (file TEXT PRIMARY KEY, ids BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS checked (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  at INTEGER NOT NULL,
  said TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS verdicts (
  incident TEXT NOT NULL,
  explained_at INTEGER NOT NULL,
  verdict TEXT NOT NULL,
  PRIMARY KEY (incident, explained_at)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS damaged_incidents (
  id TEXT NOT NULL,
  run TEXT NOT NULL,
  PRIMARY KEY (id, run)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS identity (one INTEGER PRIMARY KEY CHECK (one = 1), id TEXT NOT NULL);
";

/// Tables whose rows have a checksum, and the column of it, which those of a store of
/// before have not: a column, so that an older program that writes a row anew leaves none
/// that is wrong.
const SUMMED: [(&str, &str); 7] = [
    ("coverage", "sum"),
    ("entities", "sum"),
    ("hot", "sum"),
    ("hot", "row_sum"),
    ("incidents", "sum"),
    ("names", "sum"),
    ("verdicts", "sum"),
];

/// An older program changes columns and not the checksum: such a row has none afterwards,
/// and gets one the next time the store is opened for writing. A row that was known to be
/// wrong (its checksum is a single zero) stays so.
const UNSUMMED: &str = "
CREATE TRIGGER IF NOT EXISTS entities_changed
AFTER UPDATE OF kind, namespace, name, uid, owner, node, first, last ON entities
WHEN NEW.sum IS OLD.sum AND NEW.sum IS NOT NULL AND NEW.sum <> x'00' BEGIN
  UPDATE entities SET sum = NULL WHERE id = NEW.id;
END;
CREATE TRIGGER IF NOT EXISTS hot_changed
AFTER UPDATE OF day, class, namespace, subject, time, replaces, rev, body ON hot
WHEN NEW.row_sum IS OLD.row_sum AND NEW.row_sum IS NOT NULL AND NEW.row_sum <> x'00' BEGIN
  UPDATE hot SET row_sum = NULL WHERE tbl = NEW.tbl AND id = NEW.id;
END;
CREATE INDEX IF NOT EXISTS entities_unsummed ON entities (id) WHERE sum IS NULL;
CREATE INDEX IF NOT EXISTS hot_unsummed ON hot (tbl) WHERE row_sum IS NULL;
CREATE INDEX IF NOT EXISTS names_unsummed ON names (tier) WHERE sum IS NULL;
";

/// Adds what a store of before lacks.
fn complete(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let add = || {
        db.execute_batch(ADDITIONS)?;
        db.execute_batch(catalogue::kept_roots::TABLE)?;
        for (table, column) in SUMMED {
            if !has_column(db, table, column)? {
                let add = format!("ALTER TABLE {table} ADD COLUMN {column} BLOB");
                let added = db.execute(&add, []);
                // Another process may have added it meanwhile.
                if !has_column(db, table, column)? {
                    added?;
                }
            }
        }
        db.execute_batch(UNSUMMED)?;
        version::count(db)?;
        keep_missing_sums(db)
    };
    add().map_err(StoreError::database(path))
}

/// Gives checksums to the rows that an older program wrote; an index knows where those
/// are, so that this costs nothing where there are none.
fn keep_missing_sums(db: &Connection) -> rusqlite::Result<()> {
    let is_due = segment::lacks_sums(db)? || hot::lacks_sums(db)? || catalogue::lacks_sums(db)?;
    if !is_due {
        return Ok(());
    }
    let tx = begin_write(db)?;
    segment::keep_missing_sums(&tx)?;
    hot::keep_missing_sums(&tx)?;
    catalogue::keep_missing_sums(&tx)?;
    tx.commit()
}

/// Opens the database for reading and writing; makes it where it is not there.
/// Where segments lie beside it that it does not know, it is not made: it was lost.
pub(crate) fn open(path: &Path) -> Result<Connection, StoreError> {
    refuse_lost(path, !path.exists())?;
    permissions::touch(path).map_err(StoreError::io(path))?;
    let mut db = Connection::open(path).map_err(StoreError::database(path))?;
    if version(&db, path)? == 0 {
        refuse_lost(path, is_empty(&db, path)?)?;
        prepare(&db, path)?;
        create(&mut db, path)?;
    }
    prepare(&db, path)?;
    check(&db, path)?;
    complete(&db, path)?;
    Ok(db)
}

/// Makes a database beside segments that no list knows.
pub(crate) fn make_anew(path: &Path) -> Result<Connection, StoreError> {
    permissions::touch(path).map_err(StoreError::io(path))?;
    let mut db = Connection::open(path).map_err(StoreError::database(path))?;
    prepare(&db, path)?;
    create(&mut db, path)?;
    complete(&db, path)?;
    Ok(db)
}

/// Begins to write. Who only reads at first, and writes when another process has written
/// meanwhile, is refused at once, however long it would have waited for its turn.
pub(crate) fn begin_write(db: &Connection) -> rusqlite::Result<Transaction<'_>> {
    Transaction::new_unchecked(db, TransactionBehavior::Immediate)
}

fn refuse_lost(path: &Path, is_empty: bool) -> Result<(), StoreError> {
    let root = path.parent().unwrap_or(path);
    let segments = if is_empty { on_disk(root)?.len() } else { 0 };
    if segments > 0 {
        return Err(StoreError::Unlisted {
            path: path.to_owned(),
            segments,
        });
    }
    Ok(())
}

fn is_empty(db: &Connection, path: &Path) -> Result<bool, StoreError> {
    db.query_row("SELECT count(*) = 0 FROM sqlite_master", [], |row| {
        row.get(0)
    })
    .map_err(StoreError::database(path))
}

/// Whether there is a table of that name: older programs did not make all of them.
pub(crate) fn has(db: &Connection, table: &str) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM sqlite_master WHERE name = ?1")?
        .exists([table])
}

/// Whether a table has a column: older programs did not make all of them.
pub(crate) fn has_column(db: &Connection, table: &str, column: &str) -> rusqlite::Result<bool> {
    db.prepare_cached("SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2")?
        .exists([table, column])
}

/// Opens the database for reading only.
pub(crate) fn open_to_read(path: &Path) -> Result<Connection, StoreError> {
    refuse_lost(path, path.metadata().is_ok_and(|file| file.len() == 0))?;
    // Reading in WAL mode needs the shared index, so the file is opened writable
    // where it can be; nothing is written.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(path, flags)
        .or_else(|_| Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY))
        .and_then(|db| readable(db, path))
        .map_err(StoreError::database(path))?;
    db.busy_timeout(PATIENCE)
        .and_then(|()| db.pragma_update(None, "query_only", true))
        .and_then(|()| db.pragma_update(None, "mmap_size", 1_i64 << 30))
        .map_err(StoreError::database(path))?;
    check(&db, path)?;
    Ok(db)
}

/// The connection, or one that reads the file as it lies there: in a folder that cannot be written to
/// there is no shared index, nobody can make one, and so nobody writes.
fn readable(db: Connection, path: &Path) -> rusqlite::Result<Connection> {
    let look = |db: &Connection| -> rusqlite::Result<i64> {
        db.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))
    };
    let Err(error) = look(&db) else {
        return Ok(db);
    };
    let of_folder = matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly)
    );
    // What waits in a log of writes would be missing: that is no answer.
    let log = beside(path, "-wal");
    let is_whole = !log.metadata().is_ok_and(|log| log.len() > 0);
    let Some(address) = immutable(path).filter(|_| of_folder && is_whole) else {
        // What else is wrong with it is told by those who look closer.
        return Ok(db);
    };
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
        | OpenFlags::SQLITE_OPEN_URI
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let db = Connection::open_with_flags(address, flags)?;
    look(&db)?;
    Ok(db)
}

/// A file beside the database, as `SQLite` names it.
fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

/// The address of a database that nobody changes.
fn immutable(path: &Path) -> Option<String> {
    let mut address = "file:".to_owned();
    for byte in path.to_str()?.bytes() {
        match byte {
            b'/' | b'-' | b'_' | b'.' | b'~' => address.push(char::from(byte)),
            _ if byte.is_ascii_alphanumeric() => address.push(char::from(byte)),
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address.push_str("?immutable=1");
    Some(address)
}

fn prepare(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let set = || {
        db.busy_timeout(PATIENCE)?;
        db.pragma_update(None, "journal_mode", "WAL")?;
        // An acknowledged batch survives the machine's loss of power, too.
        db.pragma_update(None, "synchronous", "FULL")?;
        db.pragma_update(None, "cache_size", -16_384)?;
        db.pragma_update(None, "temp_store", "MEMORY")
    };
    set().map_err(StoreError::database(path))
}

fn create(db: &mut Connection, path: &Path) -> Result<(), StoreError> {
    let mut make = || {
        let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made it meanwhile.
        let version: i64 = tx.pragma_query_value(None, "user_version", |row| row.get(0))?;
        let tables: i64 =
            tx.query_row("SELECT count(*) FROM sqlite_master", [], |row| row.get(0))?;
        if version == 0 && tables == 0 {
            tx.execute_batch(TABLES)?;
            tx.pragma_update(None, "user_version", FORMAT)?;
        }
        tx.commit()
    };
    make().map_err(StoreError::database(path))
}

fn version(db: &Connection, path: &Path) -> Result<i64, StoreError> {
    db.pragma_query_value(None, "user_version", |row| row.get(0))
        .map_err(StoreError::database(path))
}

/// A format of the future is refused, and a database of something else.
fn check(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let found = version(db, path)?;
    if found > FORMAT {
        return Err(StoreError::Newer {
            path: path.to_owned(),
            found,
            known: FORMAT,
        });
    }
    let ours: i64 = db
        .query_row(
            "SELECT count(*) FROM sqlite_master WHERE name IN ('segments', 'hot', 'entities')",
            [],
            |row| row.get(0),
        )
        .map_err(StoreError::database(path))?;
    if found <= 0 || ours != 3 {
        return Err(StoreError::Foreign {
            path: path.to_owned(),
        });
    }
    Ok(())
}
