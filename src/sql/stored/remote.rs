//! Tables over a store on an object store.

use std::sync::Arc;

use datafusion::datasource::object_store::ObjectStoreUrl;
use whathappened_store::Table;

use super::events::{File, ScanFiles, Segments};
use super::pruning::ScanBounds;
use crate::error::Error;
use crate::remote::{Manifest, Remote};

/// A store elsewhere, as its manifest lists it.
#[derive(Clone, Debug)]
pub(in crate::sql) struct RemoteTables {
    remote: Remote,
    manifest: Arc<Manifest>,
}

impl RemoteTables {
    pub(in crate::sql) fn new(remote: Remote, manifest: Manifest) -> Self {
        Self {
            remote,
            manifest: Arc::new(manifest),
        }
    }

    /// What DataFusion knows the object store by.
    pub(in crate::sql) fn base(&self) -> Result<ObjectStoreUrl, Error> {
        let url = &self.remote.url;
        let host = url.host_str().unwrap_or_default();
        Ok(ObjectStoreUrl::parse(format!("{}://{host}", url.scheme()))?)
    }
}

impl Segments for RemoteTables {
    fn choose(&self, bounds: &ScanBounds) -> Result<ScanFiles, Error> {
        let inside = |from: i64, to: i64| from <= bounds.to && to >= bounds.from;
        let files = self
            .manifest
            .of_table(Table::Events)
            .filter(|listed| inside(listed.time_from, listed.time_to))
            .map(|listed| File {
                path: self.remote.path(&listed.file).to_string(),
                bytes: listed.bytes,
                without: Vec::new(),
            })
            .collect();
        Ok(ScanFiles {
            on: self.base()?,
            files,
            hot: Vec::new(),
            outdated: false,
        })
    }
}
