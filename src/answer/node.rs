//! A machine's own history.
//!
//! Its JSON form is a contract (`docs/node.schema.json`).

use std::collections::BTreeMap;

use serde::Serialize;
use utoipa::ToSchema;
use whathappened_core::death::RunState;
use whathappened_core::signals::MachineEventKind;

use super::machine::{Gpu, PastFault};
use super::word_schemas::{MachineEventKindWord, RunStateWord};
use super::{CoverageRow, Level, Victim};

/// The name of the history's shape.
pub const NODE_SCHEMA: &str = "whathappened/node/v1";

/// The history of one machine, and what ran on it.
///
/// Fields are added, never renamed or removed, under one `schema` name: readers must ignore unknown fields. All times
/// are RFC 3339 in UTC.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct NodeHistory {
    /// The name of this shape.
    #[schema(schema_with = super::contract::node_name)]
    pub schema: &'static str,
    /// The name that was asked for.
    pub name: String,
    /// What has the name: `machine`, `instance`, `GPU`, …
    pub matched_by: String,
    /// The time that the history refers to.
    #[schema(format = DateTime)]
    pub now: Option<String>,
    /// From when it was looked at; null for since the first record.
    #[schema(format = DateTime)]
    pub from: Option<String>,
    /// Until when; null for up to the last record.
    #[schema(format = DateTime)]
    pub to: Option<String>,
    /// Version of the signal and cause rules that were used.
    pub ruleset: String,
    /// The machines that had the name, oldest first, each with its faults.
    pub machines: Vec<MachineTenure>,
    /// What happened to it, in chronological order.
    pub happened: Vec<MachineEvent>,
    /// What ran on it, oldest first.
    pub runs: Vec<HostedRun>,
    /// What each source could and could not show. No fault means nothing without it.
    pub coverage: Vec<CoverageRow>,
    /// Remarks: what was left out and how to get it.
    pub notes: Vec<String>,
}

/// One machine that had the name.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MachineTenure {
    /// The cloud's id of the instance, where one is known.
    pub instance: Option<String>,
    /// Since when it had the name, if known.
    #[schema(format = DateTime)]
    pub from: Option<String>,
    /// Until when, if known.
    #[schema(format = DateTime)]
    pub to: Option<String>,
    /// Its faults, oldest first.
    pub faults: Vec<PastFault>,
    /// How many there were of each cause id.
    pub by_cause: BTreeMap<String, usize>,
    /// How many there were of each GPU, the most first.
    pub by_gpu: Vec<GpuFaults>,
}

/// How often one GPU failed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct GpuFaults {
    /// Which.
    pub gpu: Gpu,
    /// How often.
    #[schema(minimum = 1)]
    pub count: usize,
}

/// One thing that happened to a machine; records that say the same are merged.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct MachineEvent {
    /// When.
    #[schema(format = DateTime)]
    pub time: String,
    /// First instant it can no longer have been.
    #[schema(format = DateTime)]
    pub time_hi: String,
    /// The last repeat's time, where it repeats or lasts.
    #[schema(format = DateTime)]
    pub end: Option<String>,
    /// What kind of thing it is.
    #[schema(value_type = MachineEventKindWord)]
    pub kind: MachineEventKind,
    /// What happened, in words.
    pub text: String,
    /// The instance that the record names.
    pub instance: Option<String>,
    /// The GPU that it is about.
    pub gpu: Option<Gpu>,
    /// Who did it, where known.
    pub actor: Option<String>,
    /// What it means, in the tool's vocabulary.
    pub signals: Vec<String>,
    /// Connectors that witnessed it.
    pub seen_by: Vec<String>,
    /// How many records or occurrences it stands for.
    #[schema(minimum = 1)]
    pub count: u64,
    /// The records, at most eight.
    pub event_ids: Vec<String>,
}

/// A run that used the machine.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HostedRun {
    /// Stable id: the root object's uid, else its names.
    pub id: String,
    /// Kind of the root object.
    pub kind: String,
    /// Name of the root object.
    pub name: String,
    /// Its namespace.
    pub namespace: Option<String>,
    /// The experiment that it belongs to.
    pub experiment: String,
    /// Since when it was here.
    #[schema(format = DateTime)]
    pub from: Option<String>,
    /// Until when; null while it may be here.
    #[schema(format = DateTime)]
    pub to: Option<String>,
    /// The state of the run, as far as its own records and those of its pods on this machine show.
    #[schema(value_type = RunStateWord)]
    pub state: RunState,
    /// How many of its pods were here.
    #[schema(minimum = 1)]
    pub pods: usize,
    /// Those of them that died here, and how.
    pub died: Vec<Victim>,
    /// What ended it, where that was explained.
    pub incident: Option<HostedIncident>,
}

/// What ended a run.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub struct HostedIncident {
    /// Cause id.
    pub cause: String,
    /// How well it is proven.
    pub level: Level,
    /// The cause in a few words.
    pub title: String,
    /// The root record's own time.
    #[schema(format = DateTime)]
    pub time: Option<String>,
    /// It was a fault of this machine.
    pub of_this_machine: bool,
    /// It was something done to this machine, such as a drain or a scale-down, or a fault of it.
    #[serde(default)]
    pub by_this_machine: bool,
}
