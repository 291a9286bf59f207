//! A workload: an object that makes pods, directly or through others.

use std::sync::Arc;

use whathappened_model::object::ObjectBody;
use whathappened_model::time::{Nanos, Stamp};

use super::NO;
use super::indexes::CompletedIndexes;
use crate::symbols::Symbol;

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
    /// Who made it, from the audit log.
    pub made_by: Symbol,
    /// The workload that owns it, [`NO`] for none.
    pub owner: u32,
    /// The last version of the object.
    pub body: Option<Arc<ObjectBody>>,
    /// The indexes that an indexed Job had counted as completed when it was over.
    pub done: Option<CompletedIndexes>,
}

impl Workload {
    pub(super) fn new(kind: Symbol, uid: Symbol, namespace: Symbol, name: Symbol) -> Self {
        Self {
            kind,
            uid,
            namespace,
            name,
            created: None,
            gone: None,
            unasked: None,
            made_by: Symbol::NONE,
            owner: NO,
            body: None,
            done: None,
        }
    }
}
