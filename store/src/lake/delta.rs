//! A Delta table: its log read, and changed by one commit at a time.

use std::collections::HashMap;
use std::sync::Arc;

use deltalake_core::kernel::engine::arrow_conversion::TryIntoKernel as _;
use deltalake_core::kernel::transaction::{CommitBuilder, CommitProperties, TransactionError};
use deltalake_core::kernel::{Action, Add, Remove, StructType};
use deltalake_core::logstore::{StorageConfig, default_logstore};
use deltalake_core::operations::create::CreateBuilder;
use deltalake_core::protocol::{DeltaOperation, SaveMode};
use deltalake_core::{DeltaTable, DeltaTableError};
use object_store::prefix::PrefixStore;
use url::Url;

use super::columns::{PARTITIONS, of_table};
use super::place::{Place, cause};
use super::{FORMAT, columns};
use crate::error::StoreError;

/// Under which property a table says its format.
const FORMAT_KEY: &str = "whathappened.format";
/// Commits after which the log is summed up.
const CHECKPOINT: &str = "25";
/// How long what was removed can still be read, and how long older versions can be asked for.
pub(super) const RETENTION: &str = "interval 7 days";

/// A file that counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LiveFile {
    /// Its path below the lake's folder.
    pub(super) file: String,
    pub(super) bytes: u64,
    /// When it was added, in milliseconds.
    pub(super) at: i64,
    /// What its log says of its rows, in JSON.
    pub(super) stats: Option<String>,
}

/// One table of a lake.
#[derive(Clone, Debug)]
pub(super) struct Delta {
    place: Place,
    name: &'static str,
    table: Option<DeltaTable>,
}

impl Delta {
    pub(super) fn new(place: &Place, name: &'static str) -> Self {
        Self {
            place: place.clone(),
            name,
            table: None,
        }
    }

    fn failed(&self, error: &DeltaTableError) -> StoreError {
        let place = format!("{}/{}", self.place.url, self.name);
        StoreError::elsewhere(place, cause(error))
    }

    fn unloaded(&self) -> Result<DeltaTable, StoreError> {
        let mut url = self.place.url.clone();
        url.set_path(&format!(
            "{}/{}",
            url.path().trim_end_matches('/'),
            self.name
        ));
        let prefixed = PrefixStore::new(Arc::clone(&self.place.store), self.place.path(self.name));
        let url =
            Url::parse(url.as_str()).map_err(|error| StoreError::elsewhere(url.as_str(), error))?;
        Ok(DeltaTable::new(default_logstore(
            Arc::new(prefixed),
            Arc::clone(&self.place.store),
            &url,
            &StorageConfig::default(),
        )))
    }

    /// Reads what was committed since; the version, -1 where there is no table.
    ///
    /// # Errors
    /// When the log cannot be read, or a newer program wrote it.
    pub(super) async fn refresh(&mut self) -> Result<i64, StoreError> {
        let mut table = match self.table.take() {
            Some(table) => table,
            None => self.unloaded()?,
        };
        match table.update_state().await {
            Ok(()) => {}
            Err(DeltaTableError::NotATable(_)) => return Ok(-1),
            Err(error) => {
                let there = table.verify_deltatable_existence().await;
                if matches!(there, Ok(false)) {
                    return Ok(-1);
                }
                return Err(self.failed(&error));
            }
        }
        self.check(&table)?;
        let version = version_of(&table);
        self.table = Some(table);
        Ok(version)
    }

    /// Refuses a format of the future.
    fn check(&self, table: &DeltaTable) -> Result<(), StoreError> {
        let snapshot = table.snapshot().map_err(|error| self.failed(&error))?;
        let written = snapshot.metadata().configuration().get(FORMAT_KEY);
        let found = written
            .and_then(|written| written.parse().ok())
            .unwrap_or(FORMAT);
        if found > FORMAT {
            return Err(StoreError::Newer {
                path: format!("{}/{}", self.place.url, self.name).into(),
                found,
                known: FORMAT,
            });
        }
        Ok(())
    }

    /// The version that was read last; -1 for none.
    pub(super) fn version(&self) -> i64 {
        self.table.as_ref().map_or(-1, version_of)
    }

    /// Makes the table where there is none; another may make it at the same time.
    pub(super) async fn create(&mut self) -> Result<i64, StoreError> {
        if self.version() >= 0 {
            return Ok(self.version());
        }
        let schema: StructType = (&of_table(self.name))
            .try_into_kernel()
            .map_err(|error| StoreError::elsewhere(self.name, error))?;
        let made = CreateBuilder::new()
            .with_log_store(self.unloaded()?.log_store())
            .with_table_name(self.name)
            .with_columns(schema.fields().cloned())
            .with_partition_columns(PARTITIONS)
            .with_save_mode(SaveMode::ErrorIfExists)
            .with_raise_if_key_not_exists(false)
            .with_configuration([
                (FORMAT_KEY, Some(FORMAT.to_string())),
                ("delta.checkpointInterval", Some(CHECKPOINT.to_owned())),
                ("delta.logRetentionDuration", Some(RETENTION.to_owned())),
                (
                    "delta.deletedFileRetentionDuration",
                    Some(RETENTION.to_owned()),
                ),
            ])
            .await;
        let version = self.refresh().await?;
        match made {
            // Somebody else made it meanwhile.
            Err(_) if version >= 0 => Ok(version),
            Err(error) => Err(self.failed(&error)),
            Ok(_) => Ok(version),
        }
    }

    /// The files that count, in order of their paths.
    pub(super) fn files(&self) -> Result<Vec<LiveFile>, StoreError> {
        let Some(table) = &self.table else {
            return Ok(Vec::new());
        };
        let snapshot = table.snapshot().map_err(|error| self.failed(&error))?;
        let mut files: Vec<LiveFile> = snapshot
            .log_data()
            .iter()
            .map(|view| LiveFile {
                file: format!("{}/{}", self.name, view.path()),
                bytes: u64::try_from(view.size()).unwrap_or(0),
                at: view.modification_time(),
                stats: view.stats(),
            })
            .collect();
        files.sort_by(|a, b| a.file.cmp(&b.file));
        Ok(files)
    }

    /// Makes a change count if the table is what it was made of; the version of it.
    ///
    /// [`StoreError::Outrun`] where somebody else was first. After any other error nobody
    /// knows whether it counts: it has to be looked for.
    pub(super) async fn commit(&mut self, change: NewFiles) -> Result<i64, StoreError> {
        let Some(table) = &self.table else {
            return Err(StoreError::elsewhere(self.name, "there is no such table"));
        };
        let snapshot = table.snapshot().map_err(|error| self.failed(&error))?;
        // Whatever somebody else changed, what is changed here was made of what was before.
        let once = CommitProperties::default()
            .with_max_retries(0)
            .with_cleanup_expired_logs(Some(true));
        let operation = match change.is_news {
            true => DeltaOperation::Write {
                mode: SaveMode::Append,
                partition_by: Some(PARTITIONS.map(str::to_owned).to_vec()),
                predicate: None,
            },
            false => DeltaOperation::Delete { predicate: None },
        };
        let done = CommitBuilder::from(once)
            .with_actions(change.actions)
            .build(Some(snapshot), table.log_store(), operation)
            .await;
        match done {
            Ok(done) => {
                let version = i64::try_from(done.version()).unwrap_or(i64::MAX);
                // What was read before is a version behind; the log says what is new.
                self.refresh().await?;
                Ok(version)
            }
            Err(DeltaTableError::Transaction {
                source:
                    TransactionError::MaxCommitAttempts(_)
                    | TransactionError::VersionAlreadyExists(_)
                    | TransactionError::CommitConflict(_),
            }) => Err(StoreError::Outrun {
                place: format!("{}/{}", self.place.url, self.name),
            }),
            Err(error) => Err(self.failed(&error)),
        }
    }

    /// The table as Delta's own operations take it.
    pub(super) fn table(&self) -> Option<DeltaTable> {
        self.table.clone()
    }
}

fn version_of(table: &DeltaTable) -> i64 {
    let version = table
        .version()
        .and_then(|version| i64::try_from(version).ok());
    version.unwrap_or(-1)
}

/// Files that come and go in one commit.
#[derive(Debug)]
pub(super) struct NewFiles {
    actions: Vec<Action>,
    is_news: bool,
}

impl NewFiles {
    /// Nothing yet; `is_news` says whether it tells anything that was not known.
    pub(super) fn new(is_news: bool) -> Self {
        Self {
            actions: Vec::new(),
            is_news,
        }
    }

    /// A file comes; `file` is below the lake's folder.
    pub(super) fn add(&mut self, file: &str, bytes: u64, at: i64, stats: String) {
        self.actions.push(Action::Add(Add {
            path: below(file).to_owned(),
            partition_values: partitions(file),
            size: i64::try_from(bytes).unwrap_or(i64::MAX),
            modification_time: at,
            data_change: self.is_news,
            stats: Some(stats),
            ..Add::default()
        }));
    }

    /// A file goes.
    pub(super) fn remove(&mut self, file: &str, bytes: u64, at: i64) {
        self.actions.push(Action::Remove(Remove {
            path: below(file).to_owned(),
            data_change: self.is_news,
            deletion_timestamp: Some(at),
            extended_file_metadata: Some(true),
            partition_values: Some(partitions(file)),
            size: Some(i64::try_from(bytes).unwrap_or(i64::MAX)),
            ..Remove::default()
        }));
    }
}

/// A path below its table's folder.
fn below(file: &str) -> &str {
    file.split_once('/').map_or(file, |(_, rest)| rest)
}

fn partitions(file: &str) -> HashMap<String, Option<String>> {
    let day = file
        .split('/')
        .find_map(|part| part.strip_prefix("day="))
        .filter(|day| *day != "unknown");
    HashMap::from([
        (
            crate::shared_columns::CLUSTER.to_owned(),
            crate::segment::cluster_of(file),
        ),
        (columns::DAY.to_owned(), day.map(str::to_owned)),
    ])
}
