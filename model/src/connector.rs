//! The contract of live sources: can I be used, what is there, what is new.
//!
//! A connector never fails as a whole. What it could not obtain is a row of
//! [`Coverage`] that says where, why and what to do about it; the rest is used.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use futures_core::future::BoxFuture;
use tokio::sync::mpsc;

use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::Nanos;

/// Ends a watch gracefully: what was read is still sent.
pub use tokio_util::sync::CancellationToken as Stop;

/// Tells the time where something runs for long. Nanoseconds since 1970, UTC.
pub type Clock = Arc<dyn Fn() -> Nanos + Send + Sync>;

/// A stretch of time, `[from, to)`; `None` is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The start.
    pub from: Option<Nanos>,
    /// The end.
    pub to: Option<Nanos>,
}

/// A pod, node or instance, and when it is of interest.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entity {
    /// Its namespace, where it has one.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
    /// Its uid or instance id, where known.
    pub uid: Option<String>,
    /// When it was there.
    pub window: Window,
    /// When something happened to it that is to be explained: its deaths.
    pub moments: Vec<Nanos>,
}

/// What a question is about. Empty lists leave out nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// Names of experiments as the user gave them.
    pub experiments: Vec<String>,
    /// Namespaces to look into; all that may be seen where empty.
    pub namespaces: Vec<String>,
    /// Workloads that the question is about, with their kinds.
    pub workloads: Vec<(String, Entity)>,
    /// Pods of interest.
    pub pods: Vec<Entity>,
    /// Nodes of interest.
    pub nodes: Vec<Entity>,
    /// Instances of interest.
    pub instances: Vec<Entity>,
}

/// One question to a source.
#[derive(Clone, Debug)]
pub struct FetchRequest {
    /// About what.
    pub scope: Scope,
    /// From when to when.
    pub window: Window,
    /// The present, by the caller's clock.
    pub now: Nanos,
    /// When the caller stops waiting; what is there by then is used.
    pub deadline: Instant,
}

/// Whether something is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Verdict {
    Allowed,
    Denied,
    Unknown,
}

/// One thing that the source may or may not let us do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Permission {
    /// In words one can paste: `list nodes at cluster scope (apiGroup "")`.
    pub what: String,
    /// Whether we may.
    pub verdict: Verdict,
    /// What it tells us, or would tell us.
    pub shows: String,
    /// Why it is not known or not allowed, in the source's words.
    pub detail: Option<String>,
}

/// How far the source's clock is from ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Skew {
    /// The source's time minus ours, in nanoseconds.
    pub by: Nanos,
    /// Give or take, in nanoseconds.
    pub within: Nanos,
}

/// What a source says of itself when asked whether it can be used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Health {
    /// The connector's name.
    pub source: String,
    /// Where: the server's address, the cluster, the account.
    pub place: String,
    /// Why it does not answer; `None` when it does.
    pub unreachable: Option<String>,
    /// The server's version.
    pub version: Option<String>,
    /// What we may do there.
    pub permissions: Vec<Permission>,
    /// The oldest thing it showed of what it forgets (Events, log lines).
    pub reaches_back_to: Option<Nanos>,
    /// How its clock differs.
    pub skew: Option<Skew>,
    /// What else there is to say.
    pub notes: Vec<String>,
}

/// Where a watch can go on from.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cursor {
    /// [`Connector::place`] of the source that it is of.
    pub place: String,
    /// The resource as the source names it: `pods`, `rayjobs.ray.io`.
    pub resource: String,
    /// The namespace, where only one is watched; else empty.
    pub namespace: String,
    /// Opaque; for Kubernetes a resourceVersion.
    pub position: String,
    /// When the source was there, by our clock: a gap begins here.
    pub at: Nanos,
}

/// What a watch has seen since the batch before.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batch {
    /// What is new, in the order it was told.
    pub observations: Vec<Observation>,
    /// Where to go on once the observations are stored: commit both in one
    /// transaction. `None` in the middle of a list.
    pub cursor: Option<Cursor>,
    /// Gaps, and what could not be watched.
    pub coverage: Vec<Coverage>,
}

/// A live source.
pub trait Connector: Send + Sync + fmt::Debug {
    /// The name of the source in coverage rows.
    fn name(&self) -> &str;

    /// What tells this source from others of its kind and outlives a restart:
    /// a cluster's uid, an account.
    fn place(&self) -> &str;

    /// The kind of its records.
    fn source_kind(&self) -> SourceKind;

    /// Asks whether the source can be used and how. `now` is the present when
    /// called; returns by `deadline`.
    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health>;

    /// Gets what the source has. Observations go to `sink` in batches, always
    /// in the same order; returns by the deadline with a row for everything
    /// that was asked of the source, obtained or not.
    fn fetch<'a>(
        &'a self,
        fetch_request: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>>;

    /// Follows the source until `stop`, from `cursors` where it still can.
    /// Waits where `to` is full. `None` when the source cannot be followed.
    fn watch<'a>(
        &'a self,
        cursors: Vec<Cursor>,
        clock: Clock,
        stop: Stop,
        to: mpsc::Sender<Batch>,
    ) -> Option<BoxFuture<'a, ()>> {
        drop((cursors, clock, stop, to));
        None
    }
}
