//! Where a lake is: a bucket's folder, or a folder that all see.

use std::sync::Arc;

use object_store::path::Path;
use object_store::{ObjectStore, parse_url_opts};
use url::Url;

use super::index_tables::TABLES;
use super::wait::wait;
use crate::error::StoreError;

/// A place on an object store.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// As it was named, without a slash at its end.
    pub(super) url: Url,
    /// All of the bucket.
    pub(super) store: Arc<dyn ObjectStore>,
    /// What all paths begin with.
    pub(super) prefix: Path,
}

impl Place {
    /// Understands `s3://…`, `gs://…`, `az://…`, `file:///…` and the path of a folder;
    /// credentials come from the environment, as the clouds' own tools take them.
    pub(super) fn parse(name: &str) -> Result<Self, StoreError> {
        let wrong = |why: &dyn std::fmt::Display| StoreError::NoPlace {
            place: name.to_owned(),
            why: why.to_string(),
        };
        let name = name.trim_end_matches('/');
        let url = if name.contains("://") {
            Url::parse(name).map_err(|error| wrong(&error))?
        } else {
            let path = std::path::absolute(name).map_err(|error| wrong(&error))?;
            Url::from_file_path(path).map_err(|()| wrong(&"not a path"))?
        };
        let options = std::env::vars().map(|(key, value)| (key.to_ascii_lowercase(), value));
        let (store, prefix) = parse_url_opts(&url, options).map_err(|error| wrong(&error))?;
        Ok(Self {
            url,
            store: Arc::from(store),
            prefix,
        })
    }

    /// Where a file of the lake is.
    pub(super) fn path(&self, file: &str) -> Path {
        let mut path = self.prefix.clone();
        for part in file.split('/') {
            path = path.join(part);
        }
        path
    }

    pub(super) fn failed(&self) -> impl Fn(object_store::Error) -> StoreError + use<> {
        let place = self.url.to_string();
        move |error| StoreError::elsewhere(&place, cause(&error))
    }
}

/// What is at the bottom of an error of an object store, which tells its type on every level.
pub(super) fn cause(error: &dyn std::error::Error) -> String {
    let mut lowest = error;
    while let Some(source) = lowest.source() {
        lowest = source;
    }
    let (whole, lowest) = (error.to_string(), lowest.to_string());
    if whole.contains(&lowest) {
        whole
    } else {
        format!("{whole}: {lowest}")
    }
}

/// Whether a store of before was pushed to a place: its list lies there.
pub(super) fn has_manifest(place: &Place) -> Result<bool, StoreError> {
    let (store, path) = (Arc::clone(&place.store), place.path("manifest.json"));
    let failed = place.failed();
    wait(async move {
        use object_store::ObjectStoreExt as _;
        match store.head(&path).await {
            Ok(_) => Ok(true),
            Err(object_store::Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(failed(error)),
        }
    })
}

/// The folders of the tables.
pub(super) fn tables() -> impl Iterator<Item = &'static str> {
    ["events", "objects"].into_iter().chain(TABLES)
}
