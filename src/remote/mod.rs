//! The store on an object store: `s3://`, `gs://`, `az://`, or a folder that
//! several machines see, `file://`.
//!
//! The layout is that of the local store, so Spark, Trino or `DuckDB` read the
//! files as they are; `manifest.json` beside them lists those that count.

mod manifest;
mod push;

use std::sync::Arc;

use futures::StreamExt as _;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, parse_url_opts};
use url::Url;

pub use manifest::{Manifest, ManifestSegment};
pub use push::{PushReport, push};

use crate::error::Error;

/// A place on an object store.
#[derive(Clone, Debug)]
pub struct Remote {
    /// As it was named, without a slash at its end.
    pub url: Url,
    /// The store.
    pub store: Arc<dyn ObjectStore>,
    /// What all paths begin with.
    pub prefix: Path,
}

impl Remote {
    /// Opens a place; credentials come from the environment, as the cloud's
    /// own tools take them (`AWS_*`, `GOOGLE_*`, `AZURE_*`).
    ///
    /// # Errors
    /// When the URL or a credential is not understood.
    pub fn open(name: &str) -> Result<Self, Error> {
        let wrong = |why: String, hint| Error::Remote {
            place: name.to_owned(),
            why,
            hint,
        };
        let url = Url::parse(name.trim_end_matches('/')).map_err(|error| {
            let hint = "write s3://bucket/folder, gs://…, az://… or file:///…";
            wrong(error.to_string(), Some(hint))
        })?;
        let options = std::env::vars().map(|(key, value)| (key.to_ascii_lowercase(), value));
        let (store, prefix) =
            parse_url_opts(&url, options).map_err(|error| wrong(error.to_string(), None))?;
        Ok(Self {
            url,
            store: Arc::from(store),
            prefix,
        })
    }

    /// Where a file of the store is.
    #[must_use]
    pub fn path(&self, file: &str) -> Path {
        let mut path = self.prefix.clone();
        for part in file.split('/') {
            path = path.join(part);
        }
        path
    }

    /// The URL of a file of the store.
    #[must_use]
    pub fn file_url(&self, file: &str) -> String {
        format!("{}/{file}", self.url)
    }

    /// The list of files that count.
    ///
    /// # Errors
    /// When there is none, or a newer program wrote it.
    pub async fn manifest(&self) -> Result<Manifest, Error> {
        if let Some(manifest) = self.manifest_if_any().await? {
            return Ok(manifest);
        }
        let log = self.path("events/_delta_log");
        let why = match self.store.list(Some(&log)).next().await {
            Some(Ok(_)) => {
                "there is a lake at this location; a build with the feature `lake` reads it"
            }
            Some(Err(_)) | None => {
                "there is no store at this location; create one with `whathappened store push`"
            }
        };
        Err(Error::Remote {
            place: self.url.to_string(),
            why: why.to_owned(),
            hint: None,
        })
    }

    /// The list of files that count, where there is one.
    ///
    /// # Errors
    /// When it cannot be read, or a newer program wrote it.
    pub async fn manifest_if_any(&self) -> Result<Option<Manifest>, Error> {
        let path = self.path(manifest::NAME);
        let failed = |why: String| Error::Remote {
            place: self.url.to_string(),
            why,
            hint: None,
        };
        let bytes = match self.store.get(&path).await {
            Ok(found) => found
                .bytes()
                .await
                .map_err(|error| failed(error.to_string()))?,
            Err(object_store::Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(failed(error.to_string())),
        };
        Manifest::parse(&bytes).map(Some).map_err(failed)
    }
}
