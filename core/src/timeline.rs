//! The timeline of some runs: every fact about their pods and workloads, and
//! what their machines told while they were there.

mod collapse;

use std::collections::{BTreeSet, HashMap};

use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{Nanos, SECOND, Stamp};
use whathappened_model::tracker::is_fact as is_of_tracker;
use whathappened_model::words;

use crate::evidence::{EvidenceRow, Row, SpillError};
use crate::graph::{EntityGraph, Task, TaskKind, TaskRow, WorkloadRow};
use crate::resolve::{Root, Run};
use crate::signals::named;
use crate::symbols::Symbol;
use collapse::{collapse, without_calm};

/// What says that a scheduler, a controller or a kubelet has not acted yet.
const YET_TO_COME: [&str; 3] = [
    named::K8S_POD_UNSCHEDULED,
    named::K8S_POD_UNTAKEN,
    named::K8S_WORKLOAD_UNTOUCHED,
];

/// How long after its end facts about a pod's machine still belong to its story.
const ECHO: Nanos = 60 * SECOND;

/// What was noted so long before and after may have to do with a run.
const NOTED: Nanos = 600 * SECOND;

words! {
    /// What a line of a timeline is about.
    pub growing Lane as "TimelineLane" else Other {
        /// A pod, a machine that runs an experiment, or a batch job.
        Pod = "pod",
        /// A container.
        Container = "container",
        /// A machine.
        Node = "node",
        /// A workload.
        Workload = "workload",
        /// A line of a log.
        Log = "log",
        /// Anything else.
        Other = "other",
    }
}

words! {
    /// How much a line of a timeline matters.
    pub fixed Weight as "TimelineWeight" else Info {
        /// It is part of an ordinary course.
        Info = "info",
        /// It may have to do with a failure.
        Warning = "warning",
        /// It is a failure.
        Error = "error",
    }
}

/// One fact of the timeline, or several that say the same. Of the record itself it has no more than
/// is told: there may be a million of them.
#[derive(Clone, Debug)]
pub struct Entry {
    /// When the first of them was.
    pub time: Stamp,
    /// Who did it.
    pub actor: Option<String>,
    /// What it means.
    pub signals: Vec<String>,
    /// Whether it says that a machine was ready, where it speaks of that.
    ready: Option<bool>,
    /// Whether it is an Event, whose text may name what its maker made up.
    is_event: bool,
    /// Connectors that witnessed it.
    pub seen_by: Vec<&'static str>,
    /// What it is about.
    pub lane: Lane,
    /// What it is about, by name.
    pub entity: String,
    /// What it says.
    pub text: String,
    /// How much it matters.
    pub weight: Weight,
    /// How many facts or occurrences it stands for.
    pub count: u64,
    /// When the last of them was.
    pub end: Option<Nanos>,
    /// All of them, the first one first.
    pub ids: Vec<EventId>,
}

impl Entry {
    /// Whether something cites it.
    fn is_one_of(&self, wanted: &BTreeSet<EventId>) -> bool {
        self.ids.first().is_some_and(|id| wanted.contains(id))
    }
}

/// When a pod was on a machine.
#[derive(Clone, Copy)]
struct Tenure {
    /// The instance that the machine was then.
    instance: Option<Symbol>,
    from: Nanos,
    to: Nanos,
}

impl Tenure {
    fn holds(self, row: &Row) -> bool {
        row.time.lo <= self.to
            && row.last() >= self.from
            && (!row.instance.is_some() || self.instance == Some(row.instance))
    }
}

fn is_instance(pod: &Task) -> bool {
    pod.kind == TaskKind::Instance
}

/// The timeline of some runs, in order of (time, entity, id). `wanted` facts are kept whatever they are.
///
/// # Errors
/// When facts cannot be read back.
pub fn timeline(
    graph: &EntityGraph,
    runs: &[&Run],
    wanted: &BTreeSet<EventId>,
) -> Result<Vec<Entry>, SpillError> {
    let pods: BTreeSet<TaskRow> = runs
        .iter()
        .flat_map(|run| run.pods.iter().copied())
        .collect();
    let mut workloads: BTreeSet<WorkloadRow> = BTreeSet::new();
    let mut stays: HashMap<Symbol, Vec<Tenure>> = HashMap::new();
    for run in runs {
        if let Root::Workload(root) = run.root {
            workloads.insert(root);
        }
    }
    for pod in pods.iter().filter_map(|pod| graph.pods.get(*pod)) {
        let mut owner = pod.owner;
        while let Some(one) = owner.filter(|one| workloads.insert(*one)) {
            owner = graph.workloads.get(one).and_then(|one| one.owner);
        }
        if pod.node.is_some() {
            let (from, to) = pod.stay();
            for node in pod.machines() {
                let instance = graph.node_instance(node, from).map(|one| one.instance);
                stays.entry(node).or_default().push(Tenure {
                    instance: instance.or(is_instance(pod).then_some(pod.uid)),
                    from,
                    to: to.saturating_add(ECHO),
                });
            }
        }
    }
    let mut on_instance: HashMap<Symbol, Vec<Tenure>> = HashMap::new();
    for stay in stays.values().flatten() {
        if let Some(instance) = stay.instance {
            on_instance.entry(instance).or_default().push(*stay);
        }
    }
    let lifecycle = pods
        .iter()
        .filter_map(|pod| graph.pods.get(*pod))
        .map(Task::stay);
    let (from, to) = lifecycle.fold((Nanos::MAX, Nanos::MIN), |all, own| {
        (all.0.min(own.0), all.1.max(own.1))
    });
    let names: BTreeSet<(&str, &str)> = workloads
        .iter()
        .filter_map(|one| graph.workloads.get(*one))
        .map(|one| (graph.name(one.namespace), graph.name(one.name)))
        .collect();

    let dated = dated(graph);
    let mut entries = Vec::new();
    for (number, row) in graph.evidence.rows().numbered() {
        let pod = graph.pod_of_row.get(number).copied().flatten();
        let of_pod = pods.has(pod);
        let of_workload = || {
            row.workload.is_some()
                && names.contains(&(graph.name(row.namespace), graph.name(row.workload)))
        };
        let of_node = || {
            row.has_signal
                && !row.pod.is_some()
                && !row.workload.is_some()
                && [stays.get(&row.node), on_instance.get(&row.instance)]
                    .into_iter()
                    .flatten()
                    .flatten()
                    .any(|stay| stay.holds(row))
        };
        // What somebody noted of nobody in particular, while the runs went.
        let is_note = || {
            row.has_signal
                && graph.name(row.fact) == "note.annotation"
                && ![row.pod, row.workload, row.node, row.instance]
                    .iter()
                    .any(|name| name.is_some())
                && row.time.lo >= from.saturating_sub(NOTED)
                && row.time.lo <= to.saturating_add(NOTED)
        };
        if !(of_pod || of_workload() || of_node() || is_note() || wanted.contains(&row.id)) {
            continue;
        }
        // What only said that somebody had yet to come is past where they came.
        if !row.has_signal && YET_TO_COME.contains(&graph.name(row.fact)) {
            continue;
        }
        let event = graph.evidence.event(number)?;
        if wanted.contains(&event.id) || !is_noise(&event) {
            let seen_by = row.seen_by().map(SourceKind::as_str).collect();
            let time = dated.get(&number).filter(|_| is_undated(&event));
            let owner = graph.pods.get(pod).map(|pod| graph.name(pod.name));
            let mut entry = entry(event, seen_by, owner);
            if let Some(time) = time {
                entry.time = *time;
                entry.text = undated_words(&entry.text);
            }
            entries.push(entry);
        }
    }
    entries.sort_by(|a, b| {
        (a.time, &a.entity, &a.text, &a.ids).cmp(&(b.time, &b.entity, &b.text, &b.ids))
    });
    without_calm(&mut entries, wanted);
    collapse(&mut entries, wanted);
    Ok(entries)
}

/// When records without a time were, as far as others tell, by row.
fn dated(graph: &EntityGraph) -> HashMap<EvidenceRow, Stamp> {
    let rows = graph.evidence.rows();
    let is_open = |row: EvidenceRow| {
        let row = rows.get(row);
        row.is_some_and(|row| row.time == Stamp::OPEN)
    };
    let facts = graph.facts.iter();
    let dated = facts.filter(|fact| fact.time != Stamp::OPEN && is_open(fact.row));
    dated.map(|fact| (fact.row, fact.time)).collect()
}

/// Whether a record is of a log that names neither year nor zone: it is taken to be of the last time that its day came round.
#[must_use]
pub fn is_undated(event: &Event) -> bool {
    event.time == Stamp::OPEN && event.attribute("time_without_year").is_some()
}

/// What a record says whose log names neither year nor zone.
#[must_use]
pub fn undated_words(text: &str) -> String {
    format!("{text} (its log gives no year and no time zone)")
}

/// What other facts say better: phases and readiness follow from container
/// states, and a plain log line belongs to the log.
fn is_noise(event: &Event) -> bool {
    match event.fact.as_str() {
        // Progress is the density of a log, not its story.
        "log.line" => event
            .signals
            .iter()
            .all(|signal| signal.starts_with(named::LOG_PROGRESS)),
        // Nor are steps that an experiment tracker tells of, and names and hosts of its runs.
        fact if is_of_tracker(fact) => {
            let mut signals = event.signals.iter();
            signals.all(|signal| signal.starts_with(named::LOG_PROGRESS))
        }
        // Curves stand below the lanes.
        "metric.curve"
        | "k8s.pod.phase"
        | named::K8S_POD_BOUND
        | named::K8S_CONTAINER_STARTED
        | named::K8S_POD_DELETED => true,
        "k8s.pod.condition" => event.attribute("condition") == Some("Ready"),
        "k8s.event" => {
            matches!(
                event.reason.as_deref(),
                Some("Pulled" | "Created" | "SuccessfulCreate" | "Pulling")
            ) && event.severity.as_deref() != Some("Warning")
        }
        "k8s.audit.bind" => true,
        _ => false,
    }
}

/// `owner` is the pod that a record was found to be of: logs in files and experiment trackers name none.
fn entry(event: Event, seen_by: Vec<&'static str>, owner: Option<&str>) -> Entry {
    let names = &event.entities;
    let owner = || owner.filter(|name| !name.is_empty()).map(str::to_owned);
    let (lane, entity) = if event.fact == "log.line" {
        let named = names.pod.clone().or_else(|| names.node.clone());
        (Lane::Log, named.or_else(owner))
    } else if event.fact.starts_with("k8s.container.") {
        (Lane::Container, names.pod.clone())
    } else if names.pod.is_some() {
        (Lane::Pod, names.pod.clone())
    } else if let Some(workload) = &names.workload {
        (Lane::Workload, Some(workload.clone()))
    } else if names.node.is_some() || names.instance.is_some() {
        (
            Lane::Node,
            names.node.clone().or_else(|| names.instance.clone()),
        )
    } else if let Some(pod) = owner() {
        (Lane::Pod, Some(pod))
    } else {
        (Lane::Other, None)
    };
    let text = crate::describe::describe(&event);
    let weight = weight(&event);
    let end = event.end.map(|end| end.lo);
    let is_of_ready =
        event.fact == "k8s.node.condition" && event.attribute("condition") == Some("Ready");
    Entry {
        time: event.time,
        ready: is_of_ready.then(|| event.attribute("status") == Some("True")),
        is_event: event.fact == "k8s.event",
        lane,
        entity: entity.unwrap_or_default(),
        text,
        weight,
        count: event.count.unwrap_or(1).max(1),
        end,
        ids: vec![event.id],
        seen_by,
        actor: event.actor,
        signals: event.signals,
    }
}

fn weight(event: &Event) -> Weight {
    let has = |stems: &[&str]| {
        event
            .signals
            .iter()
            .any(|signal| stems.iter().any(|stem| signal.starts_with(stem)))
    };
    let failed = event.exit_code.is_some_and(|code| code != 0);
    if failed
        || has(&[
            named::K8S_CONTAINER_OOM_KILLED,
            named::K8S_POD_PREEMPTED,
            "k8s.pod.evicted",
            named::K8S_NODE_NOT_READY,
            named::K8S_NODE_SILENT,
            named::K8S_WORKLOAD_FAILED,
            "k8s.workload.backoff",
            named::K8S_WORKLOAD_DEADLINE,
            named::LOG_TRACEBACK,
            "log.exception",
            "log.cuda",
            named::K8S_POD_DELETED_BY_USER,
            named::K8S_NODE_REBOOTED,
            "k8s.gpu",
            "gpu.",
            "k8s.pod.node_",
        ])
    {
        Weight::Error
    } else if event.severity.as_deref() == Some("Warning")
        || has(&["k8s.node.", "nccl.", "log.", named::K8S_POD_UNSCHEDULABLE])
    {
        Weight::Warning
    } else {
        Weight::Info
    }
}
