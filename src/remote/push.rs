//! Brings an object store up to date with the local store.

use std::collections::HashSet;

use futures::TryStreamExt as _;
use object_store::buffered::BufWriter;
use object_store::path::Path;
use object_store::{ObjectStoreExt as _, PutPayload};
use tokio::io::AsyncWriteExt as _;
use whathappened_store::{Store, Table};

use super::Remote;
use super::manifest::{Manifest, NAME};
use crate::error::Error;

/// What pushing changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PushReport {
    /// Segments that were uploaded.
    pub uploaded: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files that no longer counted and were removed.
    pub removed: u64,
}

/// Pushes the store whose identity is `own`: uploads what is missing, then the manifest, then removes what neither this
/// manifest nor the one before lists: whoever reads by the one before goes on.
///
/// # Errors
/// When another store is kept there, a file cannot be read or the object store
/// does not take it; the manifest then stays as it was.
pub async fn push(store: &Store, own: &str, remote: &Remote) -> Result<PushReport, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Remote {
        place: remote.url.to_string(),
        why: error.to_string(),
        hint: None,
    };
    let (manifest, files) = {
        let snapshot = store.snapshot()?;
        let live = || {
            snapshot
                .segments(Table::Events)
                .iter()
                .chain(snapshot.segments(Table::Objects))
        };
        let files: Vec<_> = live()
            .map(|segment| (segment.file.clone(), snapshot.path(segment)))
            .collect();
        (Manifest::of(own.to_owned(), live()), files)
    };
    let before = match remote.manifest_if_any().await? {
        Some(there) => match there.refuses(own) {
            Some(why) => return Err(failed(&why)),
            None => there.segments,
        },
        None => Vec::new(),
    };
    let there: HashSet<Path> = remote
        .store
        .list(Some(&remote.prefix))
        .map_ok(|meta| meta.location)
        .try_collect()
        .await
        .map_err(|error| failed(&error))?;
    let mut pushed = PushReport::default();
    for (file, path) in &files {
        let to = remote.path(file);
        if there.contains(&to) {
            continue;
        }
        let io = |error| Error::Io {
            path: path.display().to_string(),
            error,
        };
        let mut from = tokio::fs::File::open(path).await.map_err(io)?;
        let mut writer = BufWriter::new(std::sync::Arc::clone(&remote.store), to);
        pushed.bytes += tokio::io::copy(&mut from, &mut writer).await.map_err(io)?;
        writer.shutdown().await.map_err(io)?;
        pushed.uploaded += 1;
    }
    let text = serde_json::to_vec_pretty(&manifest).map_err(|error| failed(&error))?;
    remote
        .store
        .put(&remote.path(NAME), PutPayload::from(text))
        .await
        .map_err(|error| failed(&error))?;
    let counts: HashSet<Path> = manifest
        .segments
        .iter()
        .chain(&before)
        .map(|listed| remote.path(&listed.file))
        .chain([remote.path(NAME)])
        .collect();
    let ours = |path: &&Path| path.as_ref().ends_with(".parquet");
    for path in there
        .iter()
        .filter(ours)
        .filter(|path| !counts.contains(path))
    {
        remote
            .store
            .delete(path)
            .await
            .map_err(|error| failed(&error))?;
        pushed.removed += 1;
    }
    Ok(pushed)
}
