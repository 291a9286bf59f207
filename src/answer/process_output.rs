//! What the processes of an attempt say of its end.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{FailingBy, MissingBy};

/// What the processes of an attempt logged around its end; fields are null if no log shows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct ProcessOutput {
    /// The rank that failed first, and how this is known.
    pub first_failing: Option<FirstFailing>,
    /// The traceback of the rank that failed first, else of the first victim.
    pub traceback: Option<Traceback>,
    /// The collective operation that ranks waited in.
    pub collective: Option<Collective>,
    /// The last checkpoint known to be complete.
    pub last_checkpoint: Option<Milestone>,
    /// The last training step that any rank logged.
    pub last_step: Option<Milestone>,
    /// Seconds of work after the last checkpoint, up to the first death; work that must be
    /// repeated.
    pub since_checkpoint_s: Option<f64>,
}

/// The rank that failed first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FirstFailing {
    /// Its rank, where known.
    pub rank: Option<i32>,
    /// Its pod, where known.
    pub pod: Option<String>,
    /// How it is known.
    pub by: FailingBy,
    /// What says so.
    pub text: String,
    /// When it was reported.
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// End of the range of that time, exclusive.
    #[schema(format = DateTime)]
    pub time_hi: Option<String>,
    /// Pods whose first failure is too close in time to be ordered.
    pub also: Vec<String>,
    /// The record.
    pub event_id: String,
}

/// A traceback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Traceback {
    /// The pod that it belongs to.
    pub pod: String,
    /// Its rank, where known.
    pub rank: Option<i32>,
    /// When it was written.
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// The exception's type.
    pub exception: Option<String>,
    /// File, line and function.
    pub location: Option<String>,
    /// The traceback as written; the middle of a very long one is left out.
    pub text: String,
    /// The record.
    pub event_id: String,
}

/// A collective operation that did not finish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Collective {
    /// Its kind, as the library names it.
    #[schema(examples("ALLREDUCE"))]
    pub op: Option<String>,
    /// Its number in its group.
    pub seq: Option<i64>,
    /// When ranks began to wait: the report's time less the time waited.
    #[schema(format = DateTime)]
    pub since: Option<String>,
    /// Ranks that logged that they waited.
    pub waiting: Vec<i32>,
    /// Ranks that did not join.
    pub missing: Vec<i32>,
    /// How it is known which did not join; null where none is known.
    pub missing_by: Option<MissingBy>,
    /// The records, at most eight.
    pub event_ids: Vec<String>,
}

/// How far the work had progressed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Milestone {
    /// The training step.
    pub step: Option<i64>,
    /// When.
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// Where it was written, for a checkpoint.
    pub path: Option<String>,
    /// The record.
    pub event_id: String,
}
