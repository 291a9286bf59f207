//! The answer: everything that one question found out, ready to be rendered.
//!
//! Its JSON form is a contract (`docs/answer.schema.json`): fields are added,
//! never renamed or removed, under one `schema` name.

mod listed;
mod machine;
mod node;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

pub use listed::{Listed, STATES, no_state};
pub use machine::{Before, Gpu, Machine, PastFault};
pub use node::{Bore, GpuFaults, Guest, GuestIncident, Happened, NODE_SCHEMA, NodeHistory};

/// The name of the answer's shape.
pub const SCHEMA: &str = "whathappened/v1";

/// What happened to one experiment, or to everything in the input.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Answer {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The name that was asked for; `None` when everything, or a machine, was asked for.
    pub experiment: Option<String>,
    /// How the name matched, in words: "label experiment", "name of Job", …
    pub matched_by: Option<String>,
    /// The moment the answer speaks from, RFC 3339.
    pub now: Option<String>,
    /// Version of the signal and cause rules that were used.
    pub ruleset: String,
    /// Runs under that name, newest first.
    pub runs: Vec<Run>,
    /// The main incident first, then recovered ones, newest first.
    pub incidents: Vec<Incident>,
    /// What every source could and could not show.
    pub coverage: Vec<CoverageRow>,
    /// What happened, in order.
    pub timeline: Vec<TimelineRow>,
    /// Remarks on the question itself: other namespaces that hold the name, …
    pub notes: Vec<String>,
}

/// One root object: a Job, a `JobSet`, a bare pod, …
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// Stable id: the root object's uid, else its names.
    pub id: String,
    /// Which of the runs that the name means, from 1, the oldest.
    pub number: usize,
    /// How many runs the name means.
    pub of: usize,
    /// Kind of the root object.
    pub kind: String,
    /// Name of the root object.
    pub name: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Its cluster.
    pub cluster: Option<String>,
    /// Who made it, where that was seen.
    pub owner: Option<String>,
    /// When it was created.
    pub start: Option<String>,
    /// When it ended.
    pub end: Option<String>,
    /// `completed`, `failed`, `running`, `pending`, `deleted` or `unknown`.
    pub state: String,
    /// Generations of its gang, oldest first.
    pub attempts: Vec<Attempt>,
}

/// One generation of a run's gang.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// From 1.
    pub number: u32,
    /// When its first pod was created.
    pub start: Option<String>,
    /// When its last pod ended.
    pub end: Option<String>,
    /// How many pods it had.
    pub pods: usize,
    /// How many of them died.
    pub died: usize,
    /// `completed`, `failed`, `running` or `pending`.
    pub state: String,
}

/// A root cause and all that followed from it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Incident {
    /// Cause id, such as `ops.node_drained`; `unknown` where nothing explains it.
    pub cause: String,
    /// `established`, `supported`, `hypothesis` or `unknown`.
    pub level: String,
    /// The cause in a few words.
    pub title: String,
    /// What happened, in a sentence or two that a researcher understands.
    pub summary: String,
    /// The root record's own time.
    pub time: Option<String>,
    /// First instant the root record's time can no longer have been.
    pub time_hi: Option<String>,
    /// When it was announced, where it was.
    pub announced_at: Option<String>,
    /// The run it ended or hurt.
    pub run_id: Option<String>,
    /// The attempt it ended or hurt.
    pub attempt: Option<u32>,
    /// `main` (it ended the newest run, or explains its state), `also` (it hurt
    /// the newest run beside the main one), `recovered` (the run went on), `earlier` (of an earlier run), `episode` (a restart
    /// that recovered, outside an asked-for experiment) or `fault` (no known victim).
    pub role: String,
    /// Who did it; `None` for a process's own end and where nobody was seen.
    pub actor: Option<Actor>,
    /// Somebody did it, and no source says who.
    pub actor_unseen: bool,
    /// The earliest death.
    pub first_victim: Option<Victim>,
    /// Deaths whose times cannot be told apart from the first one's, itself included.
    pub first_victims: Vec<Victim>,
    /// Pods with a witnessed tie of their own to the root.
    pub victims: Vec<Victim>,
    /// Pods that died because the gang was torn down.
    pub collateral: Vec<Victim>,
    /// Cause to effect, in order.
    pub chain: Vec<ChainLink>,
    /// The records that prove it, as rows of the events table.
    pub evidence: Vec<Value>,
    /// Records that speak against it.
    pub against: Vec<Against>,
    /// Other causes considered.
    pub alternatives: Vec<Alternative>,
    /// What to do now.
    pub advice: Vec<String>,
    /// GPUs of the dead pods times how long they ran since the last checkpoint that
    /// is known, in hours.
    pub gpu_hours_lost: Option<f64>,
    /// Sources that could overturn this or would have told more, and what they would have shown.
    pub would_have_told: Vec<String>,
    /// What the processes themselves said, as far as it bears on this.
    #[serde(default)]
    pub said: Said,
    /// The machines that it is of: the root's, else those of the first victims.
    #[serde(default)]
    pub machines: Vec<Machine>,
    /// Earlier faults of the first of these machines.
    #[serde(default)]
    pub before: Option<Before>,
    /// Who else saw what failed, where it is something that several depend on.
    #[serde(default)]
    pub shared: Option<Shared>,
}

/// A dependency's trouble that several saw at one time. Others are counted, not named:
/// whoever asks may not see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Shared {
    /// What it is that they share, in words: `name resolution`, `storage`.
    pub what: String,
    /// Pods that said so, this run's among them.
    pub pods: usize,
    /// Nodes on which it was seen, by pods or by the machine itself.
    pub nodes: usize,
    /// Those of the pods that are not of this run.
    pub other_pods: usize,
    /// Namespaces other than this run's that they are in.
    pub other_namespaces: usize,
    /// The node, where all of it was on one: then it is that host's trouble.
    pub node: Option<String>,
    /// From the first to the last of them, in seconds.
    pub within_s: i64,
}

/// What the processes of an attempt said around its end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Said {
    /// The rank that failed first, and how that is known.
    pub first_failing: Option<FirstFailing>,
    /// The traceback of the rank that failed first, else of the first victim.
    pub traceback: Option<Traceback>,
    /// The collective operation that ranks waited in.
    pub collective: Option<Collective>,
    /// The last checkpoint that is known to be complete.
    pub last_checkpoint: Option<Milestone>,
    /// The last training step that any rank told of.
    pub last_step: Option<Milestone>,
    /// Seconds of work after the last checkpoint, up to the first death; what has
    /// to be done again.
    pub since_checkpoint_s: Option<f64>,
}

/// The rank that failed first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct FirstFailing {
    /// Its rank, where known.
    pub rank: Option<i32>,
    /// Its pod, where known.
    pub pod: Option<String>,
    /// `content`: a record names it; `clock`: its failure was told first.
    pub by: String,
    /// What says so.
    pub text: String,
    /// When that was said.
    pub time: Option<String>,
    /// First instant that time can no longer have been.
    pub time_hi: Option<String>,
    /// Pods whose first failure cannot be told apart from it in time.
    pub also: Vec<String>,
    /// The record.
    pub event_id: String,
}

/// A traceback.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Traceback {
    /// The pod that it is of.
    pub pod: String,
    /// Its rank, where known.
    pub rank: Option<i32>,
    /// When it was written.
    pub time: Option<String>,
    /// The exception's type.
    pub exception: Option<String>,
    /// File, line and function.
    pub location: Option<String>,
    /// The traceback as written.
    pub text: String,
    /// The record.
    pub event_id: String,
}

/// A collective operation that did not finish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Collective {
    /// Its kind, `ALLREDUCE`.
    pub op: Option<String>,
    /// Its number in its group.
    pub seq: Option<i64>,
    /// When ranks began to wait: the report's time less the time waited.
    pub since: Option<String>,
    /// Ranks that say they waited.
    pub waiting: Vec<i32>,
    /// Ranks that did not come.
    pub missing: Vec<i32>,
    /// `content`: records name them; `elimination`: every other rank says that it waited.
    pub missing_by: Option<String>,
    /// The records, at most eight.
    pub event_ids: Vec<String>,
}

/// How far the work came.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Milestone {
    /// The training step.
    pub step: Option<i64>,
    /// When.
    pub time: Option<String>,
    /// Where it was written, for a checkpoint.
    pub path: Option<String>,
    /// The record.
    pub event_id: String,
}

/// Who did it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Actor {
    /// User name, controller or component, as the record has it.
    pub name: String,
    /// `user`, `controller`, `scheduler`, `kubelet`, `autoscaler`, `cloud`, `kernel` or `component`.
    pub kind: String,
    /// Whether it is the experiment's own owner.
    pub is_owner: bool,
}

/// A pod that died, or that is stuck.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Victim {
    /// Pod name.
    pub pod: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// The node it was on.
    pub node: Option<String>,
    /// Its rank in the gang.
    pub rank: Option<i32>,
    /// When it died (began to be stuck, for the undead).
    pub time: Option<String>,
    /// First instant that time can no longer have been.
    pub time_hi: Option<String>,
    /// Exit code of its main container.
    pub exit_code: Option<i32>,
    /// What its status claims: `OOMKilled`, `Error`, `Evicted`, …
    pub reason: Option<String>,
    /// How it ended, in words.
    pub how: String,
    /// What became of it: `died`, `restarted`, `crash_loop`, `never_scheduled`, `never_created`,
    /// `stuck_starting`, `not_ready`, `stalled`, `failing`, …
    #[serde(default)]
    pub state: String,
}

/// One step from cause to effect.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChainLink {
    /// The step's own time.
    pub time: Option<String>,
    /// `cause`, `announcement`, `mechanism`, `death`, `teardown` or `outcome`.
    pub role: String,
    /// What happened, in words.
    pub text: String,
    /// How this step is tied to the one before it: `asserted` (one record names both ends),
    /// `inferred`, `guess` (by elimination) or `context` (decides nothing).
    pub edge: Option<String>,
    /// The records that say so.
    pub event_ids: Vec<String>,
}

/// A record that speaks against a cause.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Against {
    /// What it says.
    pub text: String,
    /// The records.
    pub event_ids: Vec<String>,
}

/// A cause that was considered and lost.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Alternative {
    /// Cause id.
    pub cause: String,
    /// The level it would have had.
    pub level: String,
    /// Why it lost.
    pub why_not: String,
}

/// What one source could show.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CoverageRow {
    /// Source name.
    pub source: String,
    /// `pods`, `events`, `audit`, `logs`, …
    pub resource: String,
    /// Cluster, where known.
    pub cluster: Option<String>,
    /// Namespace, where the row is of one.
    pub namespace: Option<String>,
    /// `interval` or `snapshot`.
    pub mode: String,
    /// Asked from.
    pub asked_from: Option<String>,
    /// Asked to.
    pub asked_to: Option<String>,
    /// Obtained from.
    pub got_from: Option<String>,
    /// Obtained to.
    pub got_to: Option<String>,
    /// How long the source keeps its data, in seconds.
    pub retention_s: Option<i64>,
    /// `complete`, `truncated`, `sampled`, `denied`, `failed`, `expired` or `not_configured`.
    pub status: String,
    /// Records obtained.
    pub rows: u64,
    /// What fell short and why.
    pub detail: Option<String>,
    /// What it would have shown.
    pub would_have_shown: Option<String>,
}

/// One line of the timeline; repeats are one line.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TimelineRow {
    /// When, RFC 3339.
    pub time: String,
    /// First instant it can no longer have been.
    pub time_hi: String,
    /// The last repeat's time, where it repeats or lasts.
    pub end: Option<String>,
    /// Seconds from the start of the run; negative before it.
    pub offset_s: f64,
    /// `pod`, `container`, `node`, `workload`, `log` or `other`.
    pub lane: String,
    /// Pod, node or workload it is about.
    pub entity: String,
    /// What happened, in words.
    pub text: String,
    /// Who did it, where known.
    pub actor: Option<String>,
    /// `info`, `warning` or `error`.
    pub weight: String,
    /// What it means, in the tool's vocabulary.
    pub signals: Vec<String>,
    /// Connectors that witnessed it.
    pub seen_by: Vec<String>,
    /// How many repeats the line stands for.
    pub count: u64,
    /// The records.
    pub event_ids: Vec<String>,
    /// Whether the main incident's chain holds it.
    pub in_chain: bool,
}
