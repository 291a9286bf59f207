//! What people do after something went wrong.

use serde::{Deserialize, Serialize};

/// What people and controllers do after a death, on the same machines and names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names say it")]
pub enum Aftermath {
    TaintNode,
    DrainNode,
    RebootNode,
    DeleteNode,
    DeleteRun,
    DeleteNamespace,
    Rerun,
    XidLater,
    SameNameElsewhere,
}

impl Aftermath {
    /// All of them.
    pub const ALL: &[Self] = &[
        Self::TaintNode,
        Self::DrainNode,
        Self::RebootNode,
        Self::DeleteNode,
        Self::DeleteRun,
        Self::DeleteNamespace,
        Self::Rerun,
        Self::XidLater,
        Self::SameNameElsewhere,
    ];
}
