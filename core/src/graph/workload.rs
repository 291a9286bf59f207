//! A workload: an object that makes pods, directly or through others.

use std::sync::Arc;

use whathappened_model::object::ObjectBody;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::indexes::CompletedIndexes;
use crate::evidence::Version;
use crate::graph::WorkloadRow;
use crate::symbols::Symbol;

/// A workload and those above it, the lowest first.
pub(super) fn owners(
    workloads: &Table<Workload>,
    first: Option<WorkloadRow>,
) -> impl Iterator<Item = (WorkloadRow, &Workload)> {
    let row = |number: WorkloadRow| Some((number, workloads.get(number)?));
    let above = move |(_, one): &(WorkloadRow, &Workload)| one.owner.and_then(row);
    // Owner chains are short; a cycle in hostile input must still end.
    std::iter::successors(first.and_then(row), above).take(16)
}

/// A Job, a `JobSet`, a Deployment, …
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its kind.
    pub kind: Symbol,
    /// `metadata.uid`, where any record had it.
    pub uid: Symbol,
    /// Its namespace.
    pub namespace: Symbol,
    /// Its name.
    pub name: Symbol,
    /// When it was made.
    pub created: Option<Stamp>,
    /// When it was seen gone, or its deletion was asked for.
    pub gone: Option<Stamp>,
    /// When it was last seen without anybody having asked for its deletion.
    pub unasked: Option<Nanos>,
    /// When it was deleted in such a way that its pods go on without it.
    pub(super) orphaned: Option<Stamp>,
    /// Since when its deletion is asked for, where it was seen to wait for that.
    pub leaving: Option<Leaving>,
    /// Who made it, from the audit log.
    pub made_by: Symbol,
    /// The workload that owns it.
    pub owner: Option<WorkloadRow>,
    /// The queue of the cluster that let it in, of one that Kueue queues.
    pub(crate) queue: Symbol,
    /// The last version of the object.
    pub body: Option<Arc<ObjectBody>>,
    /// The indexes that an indexed Job had counted as completed when it was over.
    pub done: Option<CompletedIndexes>,
}

/// An object whose deletion was asked for and that is still there: finalizers hold it, or its pods
/// are to go first.
#[derive(Clone, Copy, Debug)]
pub struct Leaving {
    /// When its deletion was asked for.
    pub asked: Stamp,
    /// When it was last seen so.
    seen: Nanos,
    /// Whether the server showed it so: a request's answer tells of the moment alone.
    shown: bool,
}

impl Leaving {
    /// What one version of an object tells, after what others did.
    pub(super) fn seen(before: Option<Self>, version: &Version, asked: Stamp) -> Self {
        let seen = version.at.map_or(asked.lo, |at| at.lo);
        Self {
            asked,
            seen: before.map_or(seen, |before| before.seen.max(seen)),
            shown: version.listed || before.is_some_and(|before| before.shown),
        }
    }

    /// Whether the server showed it so, and not a request's answer alone.
    pub(super) fn is_shown(self) -> bool {
        self.shown
    }
}

impl Workload {
    /// Whether its deletion was asked for and it was there long after that, with nobody having seen it go.
    #[must_use]
    pub fn is_being_deleted(&self) -> bool {
        /// What nothing holds is gone by then.
        const AT_ONCE: Nanos = 60 * SECOND;
        let is_gone = |seen: Nanos| {
            let since = |gone: Stamp| gone.lo.saturating_add(AT_ONCE) > seen;
            self.gone.is_some_and(since)
        };
        self.leaving.is_some_and(|leaving| {
            let lasts = leaving.seen > leaving.asked.hi.saturating_add(AT_ONCE);
            lasts && !is_gone(leaving.seen) || leaving.shown && self.gone.is_none()
        })
    }

    /// Whether it was deleted in such a way that its pods go on without it.
    #[must_use]
    pub fn left_its_pods(&self) -> bool {
        self.orphaned.is_some()
    }

    /// Whether its object was seen later than that, and said that it runs.
    #[must_use]
    pub fn says_it_runs_after(&self, time: Nanos) -> bool {
        let word = self.body.as_ref().and_then(|body| body.phase.as_deref());
        word == Some("Running") && self.unasked.is_some_and(|seen| seen > time)
    }

    pub(super) fn new(kind: Symbol, uid: Symbol, namespace: Symbol, name: Symbol) -> Self {
        Self {
            kind,
            uid,
            namespace,
            name,
            created: None,
            gone: None,
            unasked: None,
            orphaned: None,
            leaving: None,
            made_by: Symbol::NONE,
            owner: None,
            queue: Symbol::NONE,
            body: None,
            done: None,
        }
    }
}
