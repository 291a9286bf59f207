//! What the evidence speaks of: pods, workloads and nodes by
//! identity, who owned whom and who was where, and the facts about them.

mod announcements;
mod asked_again;
mod boots;
mod build;
mod call;
mod claims;
mod clocks;
mod clusters;
mod collection;
mod collectives;
mod compared;
mod control_plane;
mod cordon;
mod deletion;
mod device_shortage;
mod dry_run;
mod fact;
mod gave_up;
mod gpu_repeats;
mod identity;
mod indexes;
mod instance;
mod job;
mod job_logs;
mod jobset_ranks;
mod journal;
mod kill_command;
mod killed_process;
mod label_selector;
mod last_line;
mod last_words;
mod launcher_log;
mod learn;
mod list_times;
mod log_files;
mod log_gang;
mod log_level;
mod log_name;
mod lone_log;
mod machine_zones;
mod meant_ends;
mod mismatch;
mod mixed_zones;
mod name_tenure;
mod never_ran;
mod new_facts;
mod node_claim;
mod node_folder;
mod node_health;
mod node_instance;
mod not_carried_out;
mod operated;
mod order;
mod own_controller;
mod own_time;
mod pace;
mod parent;
mod peers;
mod pod_group;
mod pod_log;
mod pool;
mod progress;
mod ray_session;
mod remade;
mod reported_ends;
mod restart_loop;
mod root;
mod rows;
mod scheduling;
mod short_name;
mod slurm_machine;
mod slurm_zone;
mod stray_log;
mod succeeded;
mod tagged;
mod task;
mod template;
mod timed_command;
mod together;
mod toleration;
mod topology;
mod tracked;
mod undated;
mod unit;
mod version_diff;
mod versions;
mod vm_log;
mod witness;
mod workload;
mod workload_names;
mod zones;

pub use clusters::is_elsewhere;
pub use cordon::Cordons;
pub use fact::{Fact, Phase};
pub use instance::{InstanceChange, InstanceRecord, instance_group};
pub(crate) use job::STEP_FAILED;
pub use journal::Journals;
pub use killed_process::may_train;
pub use last_words::Failures;
pub(crate) use learn::holds_up;
pub use name_tenure::{NameTenure, NameTenures};
pub use node_health::NodeHealth;
pub use node_instance::{NodeInstance, NodeInstances};
pub use own_controller::is_by_operator;
pub(crate) use parent::indexed;
pub use parent::{deployment_of, is_queue_entry, makers};
pub use pool::Membership;
pub use root::Root;
pub use task::{Exit, Progress, Task, TaskKind};
pub use timed_command::is_timed;
pub(crate) use together::KIND as PODS;
pub use together::{are_numbered_alike, lost_touch};
pub(crate) use toleration::Tolerations;
pub use toleration::stands_silence;
pub use topology::{Location, PlaceKind, Topology};
pub use workload::Workload;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use whathappened_model::table::{HasRow as _, RowNumber, Table};
use whathappened_model::time::Nanos;

use crate::evidence::{Evidence, Row, SpillError};
use crate::signals::{Ruleset, SignalClass, SignalTraits};
use crate::symbols::Symbol;

/// The number of a task.
pub type TaskRow = RowNumber<Task>;

/// The number of a workload.
pub type WorkloadRow = RowNumber<Workload>;

/// Which pod each record is about.
pub type PodOfRow = Table<Row, Option<TaskRow>>;

/// Everything that is known, tied together.
#[derive(Debug)]
pub struct EntityGraph {
    /// The facts themselves.
    pub evidence: Evidence,
    /// Every pod, in order of (namespace, name, creation, uid).
    pub pods: Table<Task>,
    /// Every workload, in order of (namespace, kind, name, creation, uid).
    pub workloads: Table<Workload>,
    /// What the records mean, in order of (time, signal, id).
    pub facts: Vec<Fact>,
    /// For each row of evidence the pod it is about, if any.
    pub pod_of_row: PodOfRow,
    /// Which cloud instances carried which nodes.
    pub node_instances: NodeInstances,
    /// In which region and zone machines were.
    pub topology: Topology,
    /// Which signals speak of which workloads, and when they did last.
    pub last_signals: HashMap<(WorkloadRow, Symbol), Nanos>,
    /// What others saw of the troubles that these facts tell of, where a store knows.
    pub elsewhere: Vec<crate::shared_fault::OutsideFault>,
    /// What signals say of themselves.
    pub traits: Arc<SignalTraits>,
    /// By how much the times of logs that name no zone were moved, by file.
    pub zones: BTreeMap<Symbol, Nanos>,
    /// The latest record time: what "now" means for recorded input.
    pub now: Option<Nanos>,
}

impl EntityGraph {
    /// Whether a program got over what a line of its log tells of, or meant to: it worked on, or
    /// gave the line a level below error.
    #[must_use]
    pub fn survived(&self, line: &Fact) -> bool {
        let since = Progress::written_by(line.end.unwrap_or(line.time));
        let progress = self.pods.get(line.pod);
        let progress = progress.and_then(|pod| pod.progress.as_deref());
        let not_started = self
            .traits
            .is(self.name(line.signal), SignalClass::NotStarted);
        let went_on = |one: &Progress| {
            not_started && one.last.lo > since || one.went_on_after(since, line.rank)
        };
        line.is_mild || progress.is_some_and(went_on)
    }

    /// Ties the evidence together.
    ///
    /// # Errors
    /// When facts cannot be read back from the temporary file.
    pub fn build(evidence: Evidence, ruleset: &Ruleset) -> Result<Self, SpillError> {
        build::build(evidence, ruleset, None)
    }

    /// Ties evidence together that is a part of what is known: the rest was heard until `known`.
    ///
    /// # Errors
    /// When facts cannot be read back from the temporary file.
    pub fn build_of_part(
        evidence: Evidence,
        ruleset: &Ruleset,
        known: Option<Nanos>,
    ) -> Result<Self, SpillError> {
        build::build(evidence, ruleset, known)
    }

    /// Whether any record says this of a workload.
    #[must_use]
    pub fn says(&self, workload: impl Into<Option<WorkloadRow>>, signal: &str) -> bool {
        self.last_signal_at(workload, signal).is_some()
    }

    /// When a record said this of a workload last.
    #[must_use]
    pub fn last_signal_at(
        &self,
        workload: impl Into<Option<WorkloadRow>>,
        signal: &str,
    ) -> Option<Nanos> {
        let signal = self.evidence.symbols.find(signal)?;
        self.last_signals.get(&(workload.into()?, signal)).copied()
    }

    /// A workload and all that it owns, directly or through others.
    #[must_use]
    pub fn family(&self, root: WorkloadRow) -> BTreeSet<WorkloadRow> {
        let mut found = BTreeSet::from([root]);
        // Owner chains are short; a cycle in hostile input must still end.
        for _ in 0..16 {
            let before = found.len();
            let owned = self.workloads.numbered();
            let owned: Vec<WorkloadRow> = owned
                .filter(|(_, one)| found.has(one.owner))
                .map(|(number, _)| number)
                .collect();
            found.extend(owned);
            if found.len() == before {
                break;
            }
        }
        found
    }

    /// A workload and those above it, the lowest first.
    pub fn owners(
        &self,
        first: impl Into<Option<WorkloadRow>>,
    ) -> impl Iterator<Item = (WorkloadRow, &Workload)> {
        workload::owners(&self.workloads, first.into())
    }

    /// How many pods a workload wants at a time: by its own object, or by the `ReplicaSet`s that it made, which make all
    /// of its pods, where its own was not seen. What people are shown of a `JobSet` says only which Jobs it made.
    #[must_use]
    pub fn pods_wanted(&self, workload: impl Into<Option<WorkloadRow>>) -> Option<i64> {
        let workload = workload.into()?;
        let one = self.workloads.get(workload)?;
        let by = match (&one.body, self.name(one.kind)) {
            (Some(body), kind) if body.pods.is_some() || kind != "JobSet" => return body.pods,
            (_, "JobSet") => "Job",
            _ => "ReplicaSet",
        };
        let made = self.workloads.iter();
        let made = made.filter(|one| {
            one.owner == Some(workload) && one.gone.is_none() && self.name(one.kind) == by
        });
        let wanted = made.filter_map(|one| one.body.as_ref()?.pods);
        wanted.reduce(i64::saturating_add)
    }

    /// The instance that carried a node at a time.
    #[must_use]
    pub fn node_instance(&self, node: Symbol, at: Nanos) -> Option<NodeInstance> {
        node_instance::at(&self.node_instances, node, at)
    }

    /// The last instance that is known to have carried a node by some time, whether or not it was still there.
    #[must_use]
    pub fn last_instance(&self, node: Symbol, by: Nanos) -> Option<NodeInstance> {
        let instances = self.node_instances.get(&node)?.iter();
        instances.rev().find(|one| one.from <= by).copied()
    }

    /// Whether a fact is about a machine, not about what ran on it.
    #[must_use]
    pub fn is_of_machine(&self, fact: &Fact) -> bool {
        let member = self.pods.get(fact.pod);
        fact.workload.is_none() && member.is_none_or(|one| one.kind == TaskKind::Instance)
    }

    /// A name that the evidence uses.
    #[must_use]
    pub fn name(&self, sym: Symbol) -> &str {
        self.evidence.symbols.name(sym)
    }
}
