//! Brings what an older program pushed in its own layout (`manifest.json` beside segments)
//! to this machine, where it is a store again that can be pushed into a lake.

use std::path::Path;
use std::sync::Arc;

use object_store::ObjectStoreExt as _;
use serde::Deserialize;
use whathappened_model::time::Nanos;

use super::place::Place;
use super::wait::wait;
use crate::error::StoreError;
use crate::limits::Limits;
use crate::permissions;
use crate::repair::repair;
use crate::store::{FORMAT, Store};

/// The list in a pushed store of the older layout.
#[derive(Debug, Deserialize)]
struct Manifest {
    format: i64,
    segments: Vec<Listed>,
}

#[derive(Debug, Deserialize)]
struct Listed {
    file: String,
    bytes: u64,
}

/// What was fetched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// Segments.
    pub segments: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Fetches a store of the older layout from `url` into `folder`, which must be empty, and
/// makes its list anew from its segments.
///
/// # Errors
/// When there is none, a newer program wrote it, or a segment is not what its list says.
pub fn fetch_old(
    url: &str,
    folder: &Path,
    now: Nanos,
    progress: &mut dyn FnMut(&str),
) -> Result<(Store, Fetched), StoreError> {
    let place = Place::parse(url)?;
    let manifest = manifest(&place)?;
    let mut fetched = Fetched::default();
    for listed in &manifest.segments {
        progress(&listed.file);
        // A list from elsewhere leads nowhere but into the folder.
        let is_ours = listed.file.ends_with(".parquet")
            && listed
                .file
                .split('/')
                .all(|part| !matches!(part, "" | "." | ".."))
            && ["events/day=", "objects/day="]
                .iter()
                .any(|of| listed.file.starts_with(of));
        let wrong = |why: &str| StoreError::elsewhere(format!("{url}/{}", listed.file), why);
        if !is_ours {
            return Err(wrong("not a segment of a store"));
        }
        let (store, path) = (Arc::clone(&place.store), place.path(&listed.file));
        let failed = place.failed();
        let bytes = wait(async move {
            let found = store.get(&path).await.map_err(&failed)?;
            found.bytes().await.map_err(failed)
        })?;
        if bytes.len() as u64 != listed.bytes {
            return Err(wrong("it is not as long as the list says"));
        }
        let path = folder.join(&listed.file);
        let parent = path.parent().unwrap_or(folder);
        permissions::folder(parent).map_err(StoreError::io(parent))?;
        std::fs::write(&path, &bytes).map_err(StoreError::io(&path))?;
        fetched.segments += 1;
        fetched.bytes += listed.bytes;
    }
    if fetched.segments == 0 {
        return Ok((Store::open(folder, Limits::default())?, fetched));
    }
    repair(folder, Limits::default(), now, &mut |_| {})?;
    Ok((Store::open(folder, Limits::default())?, fetched))
}

fn manifest(place: &Place) -> Result<Manifest, StoreError> {
    let (store, path, failed) = (
        Arc::clone(&place.store),
        place.path("manifest.json"),
        place.failed(),
    );
    let url = place.url.to_string();
    let bytes = wait(async move {
        match store.get(&path).await {
            Ok(found) => found.bytes().await.map_err(failed),
            Err(object_store::Error::NotFound { .. }) => Err(StoreError::elsewhere(
                url,
                "no store of the older layout was pushed here: there is no manifest.json",
            )),
            Err(error) => Err(failed(error)),
        }
    })?;
    let name = || format!("{}/manifest.json", place.url);
    let manifest: Manifest =
        serde_json::from_slice(&bytes).map_err(|error| StoreError::elsewhere(name(), error))?;
    if manifest.format > FORMAT {
        return Err(StoreError::Newer {
            path: name().into(),
            found: manifest.format,
            known: FORMAT,
        });
    }
    Ok(manifest)
}
