//! A log store as a live source among others.

use std::sync::Arc;
use std::time::Instant;

use futures::future::BoxFuture;

use super::contract::LogStore;
use super::depth::Depth;
use super::reader;
use crate::connector::{Connector, FetchRequest, Health};
use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::sink::Sink;
use crate::time::Nanos;

/// A log store, and how much of it is read.
#[derive(Clone, Debug)]
pub struct LogSource {
    store: Arc<dyn LogStore>,
    depth: Depth,
}

impl LogSource {
    /// Reads `store` to some depth.
    #[must_use]
    pub fn new(store: Arc<dyn LogStore>, depth: Depth) -> Self {
        Self { store, depth }
    }
}

impl Connector for LogSource {
    fn name(&self) -> &str {
        self.store.name()
    }

    fn place(&self) -> &str {
        self.store.place()
    }

    fn source_kind(&self) -> SourceKind {
        self.store.source_kind()
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        self.store.check(now, deadline)
    }

    fn fetch<'a>(
        &'a self,
        fetch_request: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(reader::read(
            self.store.as_ref(),
            fetch_request,
            &self.depth,
            sink,
        ))
    }
}
