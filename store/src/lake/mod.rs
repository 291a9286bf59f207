//! A lake: one store that many collectors write and any number of services read.
//!
//! It is a set of Delta tables on an object store or a folder that all see: `events`,
//! `objects`, `catalogue`, `coverage`, `incidents`, each partitioned by cluster and day,
//! which Spark, Trino and `DuckDB` read as they are. Rows of `events` and `objects` lie in
//! segments like those of a store of one's own, so what is found in them is found alike.
//!
//! A folder on this machine, the index, follows the lake's logs: it is a store whose
//! segments lie elsewhere (see `elsewhere.rs`). It holds nothing that is not in the
//! lake, and can be deleted at any time.

#[cfg(feature = "lake")]
mod cache;
#[cfg(feature = "lake")]
mod columns;
#[cfg(feature = "lake")]
mod delta;
#[cfg(feature = "lake")]
mod index;
#[cfg(feature = "lake")]
mod index_tables;
#[cfg(feature = "lake")]
mod keeper;
#[cfg(feature = "lake")]
mod migrate;
#[cfg(feature = "lake")]
mod place;
#[cfg(feature = "lake")]
mod push;
#[cfg(feature = "lake")]
mod shared_incidents;
#[cfg(feature = "lake")]
mod tidy;
#[cfg(feature = "lake")]
mod wait;
#[cfg(feature = "lake")]
mod whole;

use std::path::Path;

use rusqlite::{Connection, OptionalExtension as _};
use serde::{Deserialize, Serialize};

#[cfg(feature = "lake")]
use whathappened_model::time::Nanos;

use crate::error::StoreError;
use crate::store::SharedStore;

#[cfg(feature = "lake")]
pub use cache::{Traffic, traffic};
#[cfg(feature = "lake")]
pub use index::{Index, TableStatus, open};
#[cfg(feature = "lake")]
pub use migrate::{Fetched, fetch_old};
#[cfg(feature = "lake")]
pub use push::{Pushed, flush, push};
#[cfg(feature = "lake")]
pub use tidy::{Tidied, Vacuumed};

/// What makes a folder an index: its name in that folder.
const MARKER: &str = "lake.json";

/// The format of lakes that this program writes, and the newest one it reads.
pub const FORMAT: i64 = 1;

/// Of which lake a folder is the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(
    not(feature = "lake"),
    allow(dead_code, reason = "only a lake makes or reads it")
)]
struct Marker {
    /// Where the lake is.
    url: String,
    /// Bytes of blocks that are kept on this machine at most.
    cache_bytes: u64,
}

/// Whether a folder is the index of a lake.
#[must_use]
pub fn is_index(root: &Path) -> bool {
    root.join(MARKER).exists()
}

/// Where the lake is of which a folder is the index, so that others find it too.
#[must_use]
pub fn of(root: &Path) -> Option<String> {
    let text = std::fs::read(root.join(MARKER)).ok()?;
    let marker: Marker = serde_json::from_slice(&text).ok()?;
    if marker.url.contains("://") {
        return Some(marker.url);
    }
    let folder = std::path::absolute(&marker.url).ok()?;
    Some(folder.display().to_string())
}

/// Brings the index in a folder up to date with its lake.
///
/// # Errors
/// When the lake cannot be read; then the index stays as it is.
#[cfg(feature = "lake")]
pub fn follow(root: &Path) -> Result<(), StoreError> {
    index::opened_again(root)?.sync()
}

/// Adds to the lake what was explained in the index in a folder since `since`; returns how many
/// incidents.
///
/// # Errors
/// When the lake cannot be read or written; they stay in the index.
#[cfg(feature = "lake")]
pub fn share_incidents(root: &Path, since: Nanos, now: Nanos) -> Result<u64, StoreError> {
    index::opened_again(root)?.share_incidents(since, now)
}

/// The same in a build without lakes, which opens no index.
///
/// # Errors
/// Where there is an index, says how to build a program that can use it.
#[cfg(not(feature = "lake"))]
pub fn follow(root: &Path) -> Result<(), StoreError> {
    of_index(root).map(drop)
}

/// Whoever keeps the segments of the index in a folder; nothing where it is a store
/// of its own.
///
/// # Errors
/// When the lake cannot be used, or this program was built without lakes.
pub(crate) fn of_index(root: &Path) -> Result<Option<SharedStore>, StoreError> {
    let path = root.join(MARKER);
    let text = match std::fs::read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io(&path)(error)),
    };
    let marker: Marker =
        serde_json::from_slice(&text).map_err(|error| StoreError::damaged(&path, error))?;
    #[cfg(feature = "lake")]
    return keeper::shared(root, &marker).map(Some);
    #[cfg(not(feature = "lake"))]
    Err(StoreError::elsewhere(
        marker.url,
        "this is a lake, and this program was built without support for lakes; build it with --features lake",
    ))
}

/// The version of a table that an index knows; -1 before the first.
pub(crate) fn version(db: &Connection, table: &str) -> rusqlite::Result<i64> {
    let found = db
        .prepare_cached("SELECT version FROM lake_versions WHERE tbl = ?1")?
        .query_row([table], |row| row.get(0))
        .optional()?;
    Ok(found.unwrap_or(-1))
}

/// Says which version of a table an index knows.
pub(crate) fn set_version(db: &Connection, table: &str, version: i64) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT OR REPLACE INTO lake_versions (tbl, version) VALUES (?1, ?2)")?
        .execute(rusqlite::params![table, version])?;
    Ok(())
}
