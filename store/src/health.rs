//! Whether the database is sound: looked at when the store is opened, a small one each
//! time that its file is another than before, a large one once a day, which is noted in
//! the store; so damage is told before somebody asks for it.

use std::collections::HashMap;
use std::fs::Metadata;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};
use whathappened_model::coverage::{Coverage, Status};

use crate::db::has;
use crate::error::StoreError;
use crate::store::Store;

/// How long a look is good for where nothing says that the file is another since.
const DAY: i64 = 86_400;
/// How long this process trusts its own look while somebody writes, at one that is not tiny
/// whatever becomes of its file: a service opens the store for each answer.
const MINUTE: i64 = 60;
/// A database up to this size is looked at while it is opened, a larger one beside it.
const SMALL: i64 = 64 << 20;
/// One up to this size is looked at closely each time that its file is another.
const TINY: i64 = 8 << 20;
/// How long a note waits for a writer: the next opening looks again.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a database is asked of itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CheckDepth {
    /// Whether its pages are what they should be.
    Quick,
    /// Also whether every index has the rows of its table: a name that is another in an
    /// index alone finds nothing, and no page tells.
    Close,
}

/// What was found at the last look.
struct HealthCheck {
    at: i64,
    findings: Vec<String>,
}

/// What tells that a file may be another than it was: a disk that changes bits by itself
/// tells nothing, so this saves looks of one process only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Fingerprint([Option<(u64, SystemTime)>; 2]);

impl Fingerprint {
    fn of(path: &Path) -> Self {
        let of = |meta: Metadata| Some((meta.len(), meta.modified().ok()?));
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let log = PathBuf::from(log);
        Self([path, &log].map(|path| path.metadata().ok().and_then(of)))
    }
}

/// Databases that this process saw to be well: as which files, and when.
static SEEN: LazyLock<Mutex<HashMap<PathBuf, (Fingerprint, i64)>>> = LazyLock::new(Mutex::default);

/// Whether this process's own last look is still good.
fn is_seen(path: &Path, as_file: Fingerprint, is_tiny: bool) -> bool {
    let seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    seen.get(path).is_some_and(|(file, at)| {
        let age = now().saturating_sub(*at);
        // What is written goes into the log beside the file first.
        let is_written = file.0[0] == as_file.0[0] || !is_tiny;
        (0..DAY).contains(&age) && (*file == as_file || is_written && age < MINUTE)
    })
}

/// Remembers that a database was well, as the file that it was before it was looked at.
fn see(path: &Path, as_file: Fingerprint, findings: &[String]) {
    let mut seen = SEEN.lock().unwrap_or_else(PoisonError::into_inner);
    if findings.is_empty() {
        seen.insert(path.to_owned(), (as_file, now()));
    } else {
        seen.remove(path);
    }
}

/// Looks at a database that is opened for writing, where that is due.
///
/// # Errors
/// When it is damaged: what is written to it might be lost.
pub(crate) fn at_opening(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let as_file = Fingerprint::of(path);
    let (last, size) = match last(db).and_then(|last| Ok((last, size(db)?))) {
        Ok(found) => found,
        Err(error) => return refuse(path, &of_error(error).map_err(StoreError::database(path))?),
    };
    let now = now();
    // Damage that was seen may have been mended by hand.
    let was_well = last.as_ref().is_none_or(|last| last.findings.is_empty());
    let is_noted =
        was_well && last.is_some_and(|last| (last.at..last.at.saturating_add(DAY)).contains(&now));
    if is_noted && (size > TINY || is_seen(path, as_file, true)) {
        return Ok(());
    }
    if was_well && size > SMALL {
        beside(path, now);
        return Ok(());
    }
    let findings = look(db, CheckDepth::Close).map_err(StoreError::database(path))?;
    if !is_noted || !findings.is_empty() {
        note(db, path, now, &findings);
    }
    see(path, as_file, &findings);
    refuse(path, &findings)
}

/// Looks at a database that is opened for reading, where it is small: a look of an hour
/// ago says nothing of what somebody overwrote since. What can be read of a damaged one is
/// still answered.
pub(crate) fn at_reading(db: &Connection, path: &Path) -> Result<Vec<String>, StoreError> {
    let as_file = Fingerprint::of(path);
    let find = || {
        if let Some(last) = last(db)?.filter(|last| !last.findings.is_empty()) {
            return Ok(last.findings);
        }
        let size = size(db)?;
        if size > SMALL || is_seen(path, as_file, size <= TINY) {
            return Ok(Vec::new());
        }
        let how = if size <= TINY {
            CheckDepth::Close
        } else {
            CheckDepth::Quick
        };
        let findings = look(db, how)?;
        see(path, as_file, &findings);
        Ok(findings)
    };
    let findings = match find() {
        Err(error) => of_error(error).map_err(StoreError::database(path))?,
        Ok(findings) => findings,
    };
    if let Some(first) = findings.first() {
        tracing::error!(database = %path.display(), "the database is damaged: {first}; see whathappened store verify and whathappened store repair");
    }
    Ok(findings)
}

/// Looks with a connection of its own while others go on.
fn beside(path: &Path, now: i64) {
    let path = path.to_owned();
    let work = move || {
        let Ok(db) = Connection::open(&path) else {
            return;
        };
        if db.busy_timeout(PATIENCE).is_err() {
            return;
        }
        if let Ok(findings) = look(&db, CheckDepth::Close) {
            note(&db, &path, now, &findings);
        }
    };
    let name = "store-check".to_owned();
    // Where there is no thread the next opening looks.
    let _started = std::thread::Builder::new().name(name).spawn(work);
}

/// What a database says of itself where it is not well.
pub(crate) fn look(db: &Connection, closely: CheckDepth) -> rusqlite::Result<Vec<String>> {
    let question = match closely {
        CheckDepth::Quick => "PRAGMA quick_check(10)",
        CheckDepth::Close => "PRAGMA integrity_check(10)",
    };
    let ask = || -> rusqlite::Result<Vec<String>> {
        db.prepare(question)?
            .query_map([], |row| row.get(0))?
            .collect()
    };
    let mut findings = ask().or_else(of_error)?;
    findings.retain(|line| line != "ok");
    Ok(findings)
}

/// Damage so great that the question failed is an answer, too.
fn of_error(error: rusqlite::Error) -> rusqlite::Result<Vec<String>> {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseCorrupt) => Ok(vec![error.to_string()]),
        _ => Err(error),
    }
}

fn last(db: &Connection) -> rusqlite::Result<Option<HealthCheck>> {
    if !has(db, "checked")? {
        return Ok(None);
    }
    let read = |row: &rusqlite::Row<'_>| {
        let findings: String = row.get(1)?;
        let findings = findings.lines().map(str::to_owned).collect();
        Ok(HealthCheck {
            at: row.get(0)?,
            findings,
        })
    };
    db.query_row("SELECT at, said FROM checked", [], read)
        .optional()
}

/// A note that cannot be written costs another look.
fn note(db: &Connection, path: &Path, now: i64, findings: &[String]) {
    if let Some(first) = findings.first() {
        tracing::error!(database = %path.display(), "the database is damaged: {first}");
    }
    let noted = db.execute(
        "INSERT OR REPLACE INTO checked (one, at, said) VALUES (1, ?1, ?2)",
        params![now, findings.join("\n")],
    );
    if let Err(error) = noted {
        tracing::debug!(%error, "the check of the database was not recorded");
    }
}

fn refuse(path: &Path, findings: &[String]) -> Result<(), StoreError> {
    let Some(first) = findings.first() else {
        return Ok(());
    };
    let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_CORRUPT);
    let why = format!("the database is damaged: {first}");
    Err(StoreError::Database {
        path: path.to_owned(),
        error: rusqlite::Error::SqliteFailure(code, Some(why)),
    })
}

fn size(db: &Connection) -> rusqlite::Result<i64> {
    let pages: i64 = db.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let page: i64 = db.pragma_query_value(None, "page_size", |row| row.get(0))?;
    Ok(pages.saturating_mul(page))
}

#[expect(
    clippy::disallowed_methods,
    reason = "a store is opened without a time; when it was looked at last changes no answer"
)]
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_secs()).unwrap_or(i64::MAX)
    })
}

impl Store {
    /// What the database said of itself when it was looked at last, where it was not
    /// well: nothing is asked of it anew.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn problems(&self) -> Result<Vec<String>, StoreError> {
        if !self.problems.is_empty() {
            return Ok(self.problems.clone());
        }
        let last = last(&self.db).map_err(StoreError::database(&self.db_path))?;
        Ok(last.map_or_else(Vec::new, |last| last.findings))
    }

    /// A row of coverage where the database is damaged: what was in it may be missing.
    pub(crate) fn problem_row(&self) -> Result<Option<Coverage>, StoreError> {
        Ok(self.problems()?.first().map(|first| Coverage {
            status: Status::Failed,
            detail: Some(format!(
                "the store's database is damaged: {first}; `whathappened store repair` rebuilds it from the segments"
            )),
            ..Coverage::new("store", "database")
        }))
    }
}
