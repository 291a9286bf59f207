//! The index of a lake on this machine: follows the logs of its tables.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rusqlite::{Connection, TransactionBehavior, params};
use whathappened_model::time::Nanos;

use super::delta::LiveFile;
use super::index_tables;
use super::keeper::{self, LakeFiles};
use super::place::{has_manifest, tables};
use super::shared_incidents;
use super::wait::wait;
use super::{MARKER, Marker, set_version, version};
use crate::day::Day;
use crate::error::StoreError;
use crate::limits::Limits;
use crate::lock::Lock;
use crate::permissions;
use crate::record::Table;
use crate::segment::times_of;
use crate::store::{DATABASE, Store};

/// What an index has beside what a store has.
const TABLES_OF_INDEX: &str = "
CREATE TABLE IF NOT EXISTS lake_versions (tbl TEXT PRIMARY KEY, version INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lake_files (file TEXT PRIMARY KEY) WITHOUT ROWID;
";

/// A table of a lake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableStatus {
    /// Its name.
    pub name: String,
    /// How many commits there were, less one; -1 where there is no table.
    pub version: i64,
    /// Files that count.
    pub files: u64,
    /// Rows in them.
    pub rows: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// A lake and its index.
#[derive(Debug)]
pub struct Index {
    pub(super) store: Store,
    pub(super) keeper: Arc<LakeFiles>,
}

/// Opens the lake at `url` by its index in `folder`, which is made where it is missing
/// and made anew where it is damaged. With `create` the lake is made where there is none.
///
/// # Errors
/// When there is no lake, it cannot be reached, or a newer program wrote it.
pub fn open(url: &str, folder: &Path, cache_bytes: u64, create: bool) -> Result<Index, StoreError> {
    permissions::folder(folder).map_err(StoreError::io(folder))?;
    let marker = Marker {
        url: url.to_owned(),
        cache_bytes,
    };
    let path = folder.join(MARKER);
    let text = serde_json::to_vec(&marker).map_err(|error| StoreError::damaged(&path, error))?;
    if std::fs::read(&path).ok().as_ref() != Some(&text) {
        let beside = folder.join(format!("{MARKER}.{}", std::process::id()));
        std::fs::write(&beside, text)
            .and_then(|()| std::fs::rename(&beside, &path))
            .map_err(StoreError::io(&path))?;
    }
    let keeper = keeper::of(folder, &marker)?;
    let store = match opened(folder) {
        // Nothing is in an index that is not in its lake.
        Err(
            StoreError::Database { .. } | StoreError::Foreign { .. } | StoreError::Damaged { .. },
        ) => {
            discard(folder)?;
            opened(folder)?
        }
        store => store?,
    };
    let mut index = Index { store, keeper };
    if create {
        index.create()?;
    }
    index.sync()?;
    Ok(index)
}

/// The index in a folder that is one, as it is.
pub(super) fn opened_again(folder: &Path) -> Result<Index, StoreError> {
    let path = folder.join(MARKER);
    let text = std::fs::read(&path).map_err(StoreError::io(&path))?;
    let marker =
        serde_json::from_slice(&text).map_err(|error| StoreError::damaged(&path, error))?;
    Ok(Index {
        keeper: keeper::of(folder, &marker)?,
        store: opened(folder)?,
    })
}

fn opened(folder: &Path) -> Result<Store, StoreError> {
    let store = Store::open(folder, Limits::default())?;
    store
        .db
        .execute_batch(TABLES_OF_INDEX)
        .and_then(|()| store.db.execute_batch(shared_incidents::TABLE))
        .map_err(StoreError::database(&store.db_path))?;
    Ok(store)
}

fn discard(folder: &Path) -> Result<(), StoreError> {
    for end in ["", "-wal", "-shm"] {
        let path = folder.join(format!("{DATABASE}{end}"));
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(StoreError::io(&path)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

impl Index {
    /// The store that answers from the lake.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// The same, for whoever goes on with it.
    #[must_use]
    pub fn into_store(self) -> Store {
        self.store
    }

    /// Where the lake is.
    #[must_use]
    pub fn url(&self) -> &str {
        self.keeper.place.url.as_str()
    }

    fn create(&self) -> Result<(), StoreError> {
        if has_manifest(&self.keeper.place)? {
            return Err(StoreError::elsewhere(
                self.url(),
                "an older program pushed a store here in its own layout; bring it over with `whathappened store migrate`, or name another folder",
            ));
        }
        for name in tables() {
            let table = self.keeper.table(name)?;
            wait(async move {
                let mut table = table.lock().await;
                if table.refresh().await? < 0 {
                    table.create().await?;
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Brings the index up to date with the lake.
    ///
    /// # Errors
    /// When the lake cannot be read; then the index stays as it is.
    pub fn sync(&mut self) -> Result<(), StoreError> {
        let _lock = Lock::wait(&self.store.root)?;
        self.sync_held()
    }

    pub(super) fn sync_held(&mut self) -> Result<(), StoreError> {
        let asked: Vec<_> = tables()
            .map(|name| Ok((name, self.keeper.table(name)?)))
            .collect::<Result<_, StoreError>>()?;
        let work = asked.into_iter().map(|(name, table)| async move {
            let mut table = table.lock().await;
            let version = table.refresh().await?;
            Ok((name, version, table.files()?))
        });
        let found: Vec<(&str, i64, Vec<LiveFile>)> = wait(futures::future::try_join_all(work))?;
        if found
            .iter()
            .any(|(name, version, _)| *name == "events" && *version < 0)
        {
            return Err(self.missing());
        }
        for (name, seen, files) in found {
            let failed = || StoreError::database(&self.store.db_path);
            if version(&self.store.db, name).map_err(failed())? == seen {
                continue;
            }
            match name {
                "events" => self.follow(Table::Events, seen, &files)?,
                "objects" => self.follow(Table::Objects, seen, &files)?,
                name => self.take_in(name, seen, &files)?,
            }
        }
        Ok(())
    }

    fn missing(&self) -> StoreError {
        let why = match has_manifest(&self.keeper.place) {
            Ok(true) => {
                "an older program pushed a store here in its own layout; bring it over with `whathappened store migrate`"
            }
            Err(error) => return error,
            Ok(false) => {
                "there is no lake here; create one with `whathappened store push` or `whathappened collect --lake`"
            }
        };
        StoreError::elsewhere(self.url(), why)
    }

    /// Makes the list of segments what the log of a table says.
    fn follow(&mut self, table: Table, seen: i64, files: &[LiveFile]) -> Result<(), StoreError> {
        let db_path = self.store.db_path.clone();
        let live = crate::segment::live(&self.store.db, table, None)
            .map_err(StoreError::database(&db_path))?;
        let known: BTreeSet<&str> = live.iter().map(|one| one.file.as_str()).collect();
        let there: BTreeSet<&str> = files.iter().map(|one| one.file.as_str()).collect();
        let mut change = || {
            let tx = self
                .store
                .db
                .transaction_with_behavior(TransactionBehavior::Immediate)?;
            for segment in live.iter().filter(|one| !there.contains(one.file.as_str())) {
                crate::segment::remove(&tx, segment, 0)?;
            }
            for file in files
                .iter()
                .filter(|one| !known.contains(one.file.as_str()))
            {
                list(&tx, table, file)?;
            }
            set_version(&tx, table.as_str(), seen)?;
            tx.commit()
        };
        change().map_err(StoreError::database(&db_path))
    }

    /// Takes in the files of a table that are new; all of them where one went.
    fn take_in(&mut self, table: &str, seen: i64, files: &[LiveFile]) -> Result<(), StoreError> {
        let db_path = self.store.db_path.clone();
        let failed = || StoreError::database(&db_path);
        let known: BTreeSet<String> = known_files(&self.store.db, table).map_err(failed())?;
        let there: BTreeSet<&str> = files.iter().map(|one| one.file.as_str()).collect();
        let is_anew = known.iter().any(|file| !there.contains(file.as_str()));
        let mut new: Vec<&LiveFile> = files
            .iter()
            .filter(|one| is_anew || !known.contains(&one.file))
            .collect();
        // In the order in which they were told: of one key, the last row counts.
        new.sort_by_key(|one| one.file.rsplit('/').next());
        let bytes = self
            .keeper
            .files(new.iter().map(|one| one.file.clone()).collect())?;
        let tx = self
            .store
            .db
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed())?;
        if is_anew {
            index_tables::forget(&tx, table).map_err(failed())?;
            tx.execute("DELETE FROM lake_files WHERE file GLOB ?1 || '/*'", [table])
                .map_err(failed())?;
        }
        for (file, bytes) in new.iter().zip(bytes) {
            index_tables::take_in(&tx, table, bytes)
                .map_err(|why| StoreError::elsewhere(&file.file, why))?;
            tx.execute(
                "INSERT OR IGNORE INTO lake_files (file) VALUES (?1)",
                [&file.file],
            )
            .map_err(failed())?;
        }
        set_version(&tx, table, seen)
            .and_then(|()| tx.commit())
            .map_err(failed())
    }

    /// The tables, for people.
    ///
    /// # Errors
    /// When the lake cannot be read.
    pub fn tables(&self) -> Result<Vec<TableStatus>, StoreError> {
        let mut statuses = Vec::new();
        for name in tables() {
            let table = self.keeper.table(name)?;
            let (version, files) = wait(async move {
                let table = table.lock().await;
                Ok((table.version(), table.files()?))
            })?;
            let rows = |file: &LiveFile| stats(file)["numRecords"].as_u64().unwrap_or(0);
            statuses.push(TableStatus {
                name: name.to_owned(),
                version,
                files: files.len() as u64,
                rows: files.iter().map(rows).sum(),
                bytes: files.iter().map(|file| file.bytes).sum(),
            });
        }
        Ok(statuses)
    }
}

fn known_files(db: &Connection, table: &str) -> rusqlite::Result<BTreeSet<String>> {
    db.prepare_cached("SELECT file FROM lake_files WHERE file GLOB ?1 || '/*'")?
        .query_map([table], |row| row.get(0))?
        .collect()
}

/// Puts a file on the list of segments. What the log does not say of its times may be any.
fn list(db: &Connection, table: Table, live: &LiveFile) -> rusqlite::Result<()> {
    let day = live
        .file
        .split('/')
        .find_map(|part| part.strip_prefix("day="))
        .and_then(|day| day.parse().ok())
        .unwrap_or(Day::UNKNOWN);
    let stats = stats(live);
    let (from, to) = times_of(&live.file).unwrap_or_else(|| times(&stats));
    db.prepare_cached(
        "INSERT OR IGNORE INTO segments
           (tbl, day, file, rows, bytes, time_from, time_to, stored_at, words, ids)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, x'', x'')",
    )?
    .execute(params![
        table.number(),
        day.0,
        live.file,
        stats["numRecords"].as_i64().unwrap_or(0),
        live.bytes,
        from,
        to,
        live.at.saturating_mul(1_000_000),
    ])?;
    let id = db
        .prepare_cached("SELECT id FROM segments WHERE file = ?1")?
        .query_row([&live.file], |row| row.get(0))?;
    crate::segment::keep_sums(db, id)
}

/// What the log says of the rows of a file.
fn stats(live: &LiveFile) -> serde_json::Value {
    let json = live.stats.as_ref();
    json.and_then(|json| serde_json::from_str(json).ok())
        .unwrap_or_default()
}

/// The earliest and latest time of a file, as wide as its log leaves open.
fn times(stats: &serde_json::Value) -> (Nanos, Nanos) {
    let at = |which: &str, name: &str| -> Option<Nanos> {
        let text = stats[which][name].as_str()?;
        let time = chrono::DateTime::parse_from_rfc3339(text).ok()?;
        time.timestamp_nanos_opt()
    };
    let is_counted = |name: &str| stats["nullCount"][name].is_u64();
    let from = match stats["nullCount"]["time_lo"].as_u64() {
        Some(0) => at("minValues", "time_lo").unwrap_or(Nanos::MIN),
        _ => Nanos::MIN,
    };
    if !is_counted("time_hi") {
        return (from, Nanos::MAX);
    }
    let latest = ["time_hi", "end_hi"].map(|name| at("maxValues", name));
    // Logs know microseconds, and some no more than milliseconds.
    let to = latest.into_iter().flatten().max();
    (from, to.map_or(Nanos::MIN, |to| to.saturating_add(999_999)))
}
