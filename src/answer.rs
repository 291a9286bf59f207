//! The answer: everything that one question found out, ready to be rendered.
//!
//! Its JSON form is a contract (`docs/answer.schema.json`): fields are added,
//! never renamed or removed, under one `schema` name.

pub mod contract;
mod drawn;
mod edge;
mod fleet;
mod grouped;
mod level;
mod listed;
mod machine;
mod node;
mod process_output;
mod proof;
mod role;
mod verdict;
mod word_schemas;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;
use whathappened_core::death::{DeathState, RunState};
use whathappened_core::signals::ActorKind;
use whathappened_core::timeline::{Lane, Weight};
use whathappened_model::coverage::{Mode, Status};
use whathappened_model::time::{Nanos, Stamp};

use word_schemas::{ActorKindWord, DeathStateWord, LaneWord, ModeWord, StatusWord, WeightWord};

pub use drawn::{Curve, Drawn, DrawnRecord, Life, LifeState};
pub use edge::Edge;
pub use fleet::{Figure, FleetReport, REPORT_SCHEMA};
pub(crate) use grouped::grouped;
pub use level::Level;
pub use listed::{ListedRun, no_state};
pub use machine::{Gpu, Machine, MachineHistory, PastFault};
pub use node::{
    GpuFaults, HostedIncident, HostedRun, MachineEvent, MachineTenure, NODE_SCHEMA, NodeHistory,
};
pub use process_output::{Collective, FirstFailing, Milestone, ProcessOutput, Traceback};
pub use proof::{FailingBy, MissingBy};
pub use role::{IncidentRole, StepRole};
pub use verdict::PastVerdict;
pub(crate) use word_schemas::RunStateWord;

/// The name of the answer's shape.
pub const SCHEMA: &str = "whathappened/v1";

/// What happened to one experiment, or to everything in the input.
///
/// Fields are added, never renamed or removed, under one `schema` name: readers must ignore unknown fields. All times
/// are RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct Answer {
    /// The name of this shape.
    #[schema(schema_with = contract::answer_name)]
    pub schema: &'static str,
    /// The name that was asked for; null if the question was about everything or a machine.
    pub experiment: Option<String>,
    /// The machine or GPU that was asked for; missing if the question was about something else.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<String>,
    /// How the name matched, in words: "label experiment", "name of Job", …
    pub matched_by: Option<String>,
    /// The time that the answer refers to: that of the latest record, or the one given with `--at`.
    #[schema(format = DateTime)]
    pub now: Option<String>,
    /// Version of the signal and cause rules that were used.
    pub ruleset: String,
    /// Runs under that name, newest first.
    pub runs: Vec<Run>,
    /// The main incident first, then the others, newest first.
    pub incidents: Vec<Incident>,
    /// What each source could and could not show. An empty answer means nothing without it.
    pub coverage: Vec<CoverageRow>,
    /// What happened, in order.
    pub timeline: Vec<TimelineRow>,
    /// Remarks on the question itself: other namespaces that hold the name, nearest names, …
    pub notes: Vec<String>,
    /// Address of the page with this answer, if a service gave it and knows its own address.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// What only pictures show.
    #[serde(skip)]
    pub drawn: Drawn,
}

/// One root object: a Job, a `JobSet`, a bare pod, …
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Run {
    /// Stable id: the root object's uid, else its names.
    pub id: String,
    /// Number of the run among those that match the name, 1 is the oldest.
    #[schema(minimum = 1)]
    pub number: usize,
    /// How many runs match the name.
    #[schema(minimum = 1)]
    pub of: usize,
    /// Kind of the root object, such as `Job`.
    pub kind: String,
    /// Name of the root object.
    pub name: String,
    /// Its namespace; null where it has none.
    pub namespace: Option<String>,
    /// Its cluster; null where the input does not say.
    pub cluster: Option<String>,
    /// Who made it, as the record has it; null where that was not seen.
    pub owner: Option<String>,
    /// When it was created; null where that was not seen.
    #[schema(format = DateTime)]
    pub start: Option<String>,
    /// When it ended; null while it runs or where that was not seen.
    #[schema(format = DateTime)]
    pub end: Option<String>,
    /// The state of the run at `now`.
    #[schema(value_type = RunStateWord)]
    pub state: RunState,
    /// Generations of its gang, oldest first.
    pub attempts: Vec<Attempt>,
}

/// One generation of a run's gang: the first start, a restart, a retry.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Attempt {
    /// Counted from 1.
    #[schema(minimum = 1)]
    pub number: u32,
    /// When its first pod was created; null where that was not seen.
    #[schema(format = DateTime)]
    pub start: Option<String>,
    /// When its last pod ended; null while it runs or where that was not seen.
    #[schema(format = DateTime)]
    pub end: Option<String>,
    /// How many pods it had.
    pub pods: usize,
    /// How many of them died; a pod that completed did not.
    pub died: usize,
    /// The state of the attempt at `now`.
    #[schema(value_type = RunStateWord)]
    pub state: RunState,
}

/// A root cause and everything that followed from it.
#[derive(Clone, Debug, Default, Serialize, Deserialize, ToSchema)]
pub struct Incident {
    /// Cause id of two levels; `unknown` where nothing explains it. New causes are added.
    #[schema(
        pattern = "^[a-z0-9_]+(\\.[a-z0-9_]+)?$",
        examples(
            "ops.node_drained",
            "node.not_ready",
            "code.exception",
            "none.completed",
            "unknown"
        )
    )]
    pub cause: String,
    /// How certain the cause is.
    pub level: Level,
    /// The cause in a few words, for a heading.
    pub title: String,
    /// What happened, in one or two sentences for researchers.
    pub summary: String,
    /// The root record's own time; null where it has none.
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// First instant that time can no longer have been: `[time, time_hi)` is its uncertainty.
    #[schema(format = DateTime)]
    pub time_hi: Option<String>,
    /// When it was over, where it is no end and was over before the run's end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub until: Option<String>,
    /// When it was announced, where it was.
    #[schema(format = DateTime)]
    pub announced_at: Option<String>,
    /// `id` of the run that it ended or affected; null for a fault without a known victim.
    pub run_id: Option<String>,
    /// Number of the attempt that it ended or affected.
    #[schema(minimum = 1)]
    pub attempt: Option<u32>,
    /// Its role in the answer.
    pub role: IncidentRole,
    /// Who did it; null if the process ended itself or the actor is unknown.
    pub actor: Option<Actor>,
    /// Someone did it, but no source shows who.
    pub actor_unseen: bool,
    /// The earliest death; null where nothing died or nothing is known of it.
    pub first_victim: Option<Victim>,
    /// Deaths too close in time to the first one to be ordered, including itself.
    pub first_victims: Vec<Victim>,
    /// Pods with a recorded link of their own to the root cause.
    pub victims: Vec<Victim>,
    /// Pods that died because the gang was torn down.
    pub collateral: Vec<Victim>,
    /// Cause to effect, in order.
    pub chain: Vec<ChainLink>,
    /// The records that prove it, as rows of the `events` table.
    #[schema(value_type = Vec<Object>)]
    pub evidence: Vec<Value>,
    /// Records that are evidence against it.
    pub against: Vec<Counterevidence>,
    /// Other causes considered.
    pub alternatives: Vec<Alternative>,
    /// What to do now, a sentence or two each.
    pub advice: Vec<String>,
    /// GPUs of the dead pods times how long they ran since the last checkpoint that
    /// is known, in hours; null where that is not known.
    #[schema(minimum = 0)]
    pub gpu_hours_lost: Option<f64>,
    /// How long it took to be noticed, and until the work ran again; null if no pod died.
    #[serde(default)]
    pub aftermath: Option<Aftermath>,
    /// Missing evidence: sources that could overturn or add to this, and what they would have shown.
    pub would_have_told: Vec<String>,
    /// What the processes logged, as far as it is relevant.
    #[serde(default)]
    pub said: ProcessOutput,
    /// The machines that it is about: those of the root cause, else those of the first victims.
    #[serde(default)]
    pub machines: Vec<Machine>,
    /// Earlier faults of the first of these machines; null where none is known, or where the incident is not of a machine.
    #[serde(default)]
    pub before: Option<MachineHistory>,
    /// Who else was affected, if what failed is a shared dependency; null elsewhere.
    #[serde(default)]
    pub shared: Option<SharedFault>,
    /// Its ID in the store, which stays when the verdict changes; present in answers of a service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Address of its own page, if the service knows its own address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// What followed the first death of an incident. Times without a record are null.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Aftermath {
    /// When the first pod died.
    #[schema(format = DateTime)]
    pub died: String,
    /// When the first reaction to it was recorded: the controller reported the failure or replaced, restarted or deleted
    /// pods of the run, an alert fired, or the run was deleted or suspended.
    #[schema(format = DateTime)]
    pub detected: Option<String>,
    /// The signal of that record, or `k8s.pod.created` and `k8s.container.started` for a new pod or a new start.
    pub detected_by: Option<String>,
    /// When a pod of the same run first ran again: one that was created since, or one that died.
    #[schema(format = DateTime)]
    pub restarted: Option<String>,
}

/// A failure of a dependency that several pods or machines saw at the same time. Those of other runs are counted, not named:
/// the caller may not be allowed to see them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SharedFault {
    /// What it is that they share, in words. New ones are added.
    #[schema(examples("name resolution", "storage"))]
    pub what: String,
    /// Pods that reported it, including those of this run.
    pub pods: usize,
    /// Nodes on which it was seen, by pods or by the machine itself.
    pub nodes: usize,
    /// How many of the pods belong to other runs.
    pub other_pods: usize,
    /// Namespaces other than this run's that they are in.
    pub other_namespaces: usize,
    /// The node, if all of it was on one: then it is a problem of that host.
    pub node: Option<String>,
    /// Time from the first to the last of them, in seconds.
    #[schema(minimum = 0)]
    pub within_s: i64,
}

/// Who did it.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Actor {
    /// User name, controller or component, as the record has it.
    pub name: String,
    /// What it is.
    #[schema(value_type = ActorKindWord)]
    pub kind: ActorKind,
    /// Whether it is the experiment's own owner.
    pub is_owner: bool,
}

/// A pod that died, or that is stuck.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Victim {
    /// Pod name.
    pub pod: String,
    /// Its namespace; null if the record does not show it.
    pub namespace: Option<String>,
    /// The node it was on; null where it was never placed or that was not seen.
    pub node: Option<String>,
    /// Its rank in the gang; null where not known.
    pub rank: Option<i32>,
    /// When it died, or began to be stuck.
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// End of the range of that time, exclusive.
    #[schema(format = DateTime)]
    pub time_hi: Option<String>,
    /// Exit code of its main container; null where none was seen.
    pub exit_code: Option<i32>,
    /// What its status claims: `OOMKilled`, `Error`, `Evicted`, … A claim, not a cause.
    pub reason: Option<String>,
    /// How it ended, in words.
    pub how: String,
    /// What became of it.
    #[serde(default)]
    #[schema(value_type = DeathStateWord)]
    pub state: DeathState,
}

impl Victim {
    /// How long the range of the time is in which it died.
    #[must_use]
    pub fn time_width(&self) -> Option<Nanos> {
        let at = |time: &Option<String>| Stamp::parse(time.as_deref()?).map(|time| time.lo);
        Some(at(&self.time_hi)?.saturating_sub(at(&self.time)?))
    }
}

/// One step from cause to effect.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct ChainLink {
    /// The step's own time; null where it has none.
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// First instant it can no longer have been; null where the time is known to the second.
    #[serde(default)]
    #[schema(format = DateTime)]
    pub time_hi: Option<String>,
    /// What the step is in the chain.
    pub role: StepRole,
    /// What happened, in words.
    pub text: String,
    /// How this step is linked to the one before it; null for the first step.
    pub edge: Option<Edge>,
    /// Ids of the records that say so: `id` in the `events` table.
    pub event_ids: Vec<String>,
}

/// A record that is evidence against a cause.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Counterevidence {
    /// What it says.
    pub text: String,
    /// Ids of the records that say so: `id` in the `events` table.
    pub event_ids: Vec<String>,
}

/// A cause that was considered and ruled out.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct Alternative {
    /// Cause id.
    pub cause: String,
    /// The level it would have had.
    pub level: Level,
    /// Why it lost.
    pub why_not: String,
}

/// What one source could show, a row for each resource, cluster and namespace.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct CoverageRow {
    /// Source name.
    pub source: String,
    /// What was asked of it. New resources are added.
    #[schema(examples("pods", "events", "audit", "logs"))]
    pub resource: String,
    /// Cluster; null where the row is of none or it is not known.
    pub cluster: Option<String>,
    /// Namespace; null where the row is of none.
    pub namespace: Option<String>,
    /// Whether it covers a period or one moment.
    #[schema(value_type = ModeWord)]
    pub mode: Mode,
    /// Start of the window that was asked for; null where it was open.
    #[schema(format = DateTime)]
    pub asked_from: Option<String>,
    /// End of the window that was asked for; null where it was open.
    #[schema(format = DateTime)]
    pub asked_to: Option<String>,
    /// Start of the window that was obtained; null where nothing was.
    #[schema(format = DateTime)]
    pub got_from: Option<String>,
    /// End of the window that was obtained; null where nothing was.
    #[schema(format = DateTime)]
    pub got_to: Option<String>,
    /// How long the source keeps its data, in seconds; null where not known.
    #[schema(minimum = 0)]
    pub retention_s: Option<i64>,
    /// How well the source answered.
    #[schema(value_type = StatusWord)]
    pub status: Status,
    /// Records obtained.
    pub rows: u64,
    /// What is missing and why.
    pub detail: Option<String>,
    /// What it would have shown.
    pub would_have_shown: Option<String>,
}

/// One line of the timeline; repeats are one line.
#[derive(Clone, Debug, Serialize, Deserialize, ToSchema)]
pub struct TimelineRow {
    /// When, or when first.
    #[schema(format = DateTime)]
    pub time: String,
    /// First instant that time can no longer have been: `[time, time_hi)` is its uncertainty.
    #[schema(format = DateTime)]
    pub time_hi: String,
    /// The last repeat's time, where it repeats or lasts.
    #[schema(format = DateTime)]
    pub end: Option<String>,
    /// Seconds from the start of the run; negative before it.
    pub offset_s: f64,
    /// What the entity is.
    #[schema(value_type = LaneWord)]
    pub lane: Lane,
    /// Name of the pod, node or workload it is about.
    pub entity: String,
    /// What happened, in words.
    pub text: String,
    /// Who did it; null where not known.
    pub actor: Option<String>,
    /// How much it matters.
    #[schema(value_type = WeightWord)]
    pub weight: Weight,
    /// What it means, in the tool's vocabulary, such as `k8s.node.not_ready`; empty for plain lines.
    pub signals: Vec<String>,
    /// Connectors that witnessed it.
    pub seen_by: Vec<String>,
    /// How many repeats the line stands for.
    #[schema(minimum = 1)]
    pub count: u64,
    /// Ids of the records that say so: `id` in the `events` table.
    pub event_ids: Vec<String>,
    /// Whether the main incident's chain holds it.
    pub in_chain: bool,
}
