//! The cluster as a connector.

use std::sync::Arc;
use std::time::Instant;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::mpsc;

use super::connect::Cluster;
use super::logs::{self, PodLogs};
use super::options::LogOptions;
use super::{check, fetch, watch};
use crate::connector::{Batch, Clock, Connector, Cursor, FetchRequest, Health, Stop};
use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::sink::Sink;
use crate::time::Nanos;

impl Cluster {
    /// Asks whether the cluster can be used: what we may do, its clock, how
    /// far back its Events go. Reads one page of Events at most.
    pub async fn check(&self, now: Nanos, deadline: Instant) -> Health {
        check::check(&self.inner, now, deadline).await
    }

    /// Lists all that may be listed, or that of `ask.scope.namespaces`.
    /// Observations reach `sink` in the same order each time. There is a row
    /// for each list, and one for each that may not be read.
    pub async fn fetch(
        &self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        fetch::fetch(&self.inner, fetch_request, sink).await
    }

    /// Follows all that may be followed. Ends when `stop` is cancelled, after
    /// sending what was read (take batches until the channel closes), or when
    /// the receiver is dropped. See [`Batch`] for what to do with the cursors.
    pub async fn watch(
        &self,
        cursors: Vec<Cursor>,
        clock: Clock,
        stop: Stop,
        to: mpsc::Sender<Batch>,
    ) {
        watch::watch(Arc::clone(&self.inner), cursors, clock, stop, to).await;
    }

    /// Reads the logs of `pods`, in their order. There is a row for each namespace.
    pub async fn logs(
        &self,
        pods: &[PodLogs],
        options: &LogOptions,
        now: Nanos,
        deadline: Instant,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        logs::read(&self.inner, pods, options, now, deadline, sink).await
    }
}

impl Connector for Cluster {
    fn name(&self) -> &str {
        &self.inner.options.source
    }

    fn place(&self) -> &str {
        self.id()
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Kubernetes
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        check::check(&self.inner, now, deadline).boxed()
    }

    fn fetch<'a>(
        &'a self,
        fetch_request: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        fetch::fetch(&self.inner, fetch_request, sink).boxed()
    }

    fn watch<'a>(
        &'a self,
        cursors: Vec<Cursor>,
        clock: Clock,
        stop: Stop,
        to: mpsc::Sender<Batch>,
    ) -> Option<BoxFuture<'a, ()>> {
        Some(watch::watch(Arc::clone(&self.inner), cursors, clock, stop, to).boxed())
    }
}
