//! The timeline of some runs: every fact about their pods and workloads, and
//! what their machines told while they were there.

use crate::signals::named;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use hashbrown::HashTable;
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::time::{Nanos, SECOND, Stamp};
use whathappened_model::tracker::is_fact as is_of_tracker;
use whathappened_model::words;

use crate::evidence::{Row, SpillError};
use crate::graph::{EntityGraph, NO, Task, TaskKind};
use crate::resolve::{Root, Run};
use crate::symbols::Symbol;

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
    let pods: BTreeSet<u32> = runs
        .iter()
        .flat_map(|run| run.pods.iter().copied())
        .collect();
    let mut workloads: BTreeSet<u32> = BTreeSet::new();
    let mut stays: HashMap<Symbol, Vec<Tenure>> = HashMap::new();
    for run in runs {
        if let Root::Workload(root) = run.root {
            workloads.insert(root);
        }
    }
    for pod in pods.iter().filter_map(|pod| graph.pods.get(*pod as usize)) {
        let mut owner = pod.owner;
        while owner != NO && workloads.insert(owner) {
            owner = graph
                .workloads
                .get(owner as usize)
                .map_or(NO, |one| one.owner);
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
        .filter_map(|pod| graph.pods.get(*pod as usize))
        .map(Task::stay);
    let (from, to) = lifecycle.fold((Nanos::MAX, Nanos::MIN), |all, own| {
        (all.0.min(own.0), all.1.max(own.1))
    });
    let names: BTreeSet<(&str, &str)> = workloads
        .iter()
        .filter_map(|one| graph.workloads.get(*one as usize))
        .map(|one| (graph.name(one.namespace), graph.name(one.name)))
        .collect();

    let dated = dated(graph);
    let mut entries = Vec::new();
    for (number, row) in graph.evidence.rows().iter().enumerate() {
        let pod = graph.pod_of_row.get(number).copied().unwrap_or(NO);
        let of_pod = pods.contains(&pod);
        let of_workload = || {
            row.workload.is_some()
                && names.contains(&(graph.name(row.namespace), graph.name(row.workload)))
        };
        let of_node = || {
            row.tells
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
            row.tells
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
        if !row.tells && YET_TO_COME.contains(&graph.name(row.fact)) {
            continue;
        }
        let number = u32::try_from(number).map_err(|_| SpillError::TooMany)?;
        let event = graph.evidence.event(number)?;
        if wanted.contains(&event.id) || !is_noise(&event) {
            let seen_by = row.seen_by().map(SourceKind::as_str).collect();
            let time = dated.get(&number).filter(|_| is_undated(&event));
            let owner = graph.pods.get(pod as usize).map(|pod| graph.name(pod.name));
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
fn dated(graph: &EntityGraph) -> HashMap<u32, Stamp> {
    let rows = graph.evidence.rows();
    let is_open = |row: u32| {
        let row = rows.get(row as usize);
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

/// That a machine is ready is told every few seconds; only that it is again is news.
fn without_calm(entries: &mut Vec<Entry>, wanted: &BTreeSet<EventId>) {
    let mut troubled: BTreeSet<String> = BTreeSet::new();
    entries.retain(|entry| match entry.ready {
        Some(false) => {
            troubled.insert(entry.entity.clone());
            true
        }
        Some(true) => troubled.remove(&entry.entity) || entry.is_one_of(wanted),
        None => true,
    });
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

/// Neighbours that say the same of the same entity become one line; what a chain cites
/// only joins what it cites as well. The lines take the places of the first entries.
fn collapse(entries: &mut Vec<Entry>, wanted: &BTreeSet<EventId>) {
    let mut lines = 0;
    // Places of the last line of each kind: names and texts are in the lines.
    let mut last_of: HashTable<usize> = HashTable::new();
    for at in 0..entries.len() {
        let (before, rest) = entries.split_at_mut(at);
        let Some(entry) = rest.first_mut() else { break };
        let hash = hash_of(entry);
        let says_so = |line: &usize| before.get(*line).is_some_and(|line| is_alike(line, entry));
        let known = last_of.find(hash, says_so).copied();
        let is_cited = entry.is_one_of(wanted);
        if let Some(line) = known.and_then(|line| before.get_mut(line))
            && (!is_cited || line.is_one_of(wanted))
        {
            line.count += entry.count;
            line.end = line.end.max(entry.end).max(Some(entry.time.lo));
            line.ids.append(&mut entry.ids);
            line.seen_by.append(&mut entry.seen_by);
            line.seen_by.sort_unstable();
            line.seen_by.dedup();
            continue;
        }
        entries.swap(lines, at);
        match last_of.find_mut(hash, |line| Some(*line) == known) {
            Some(last) => *last = lines,
            None => {
                let hash_of = |line: &usize| entries.get(*line).map_or(0, hash_of);
                last_of.insert_unique(hash, lines, hash_of);
            }
        }
        lines += 1;
    }
    entries.truncate(lines);
}

/// Whether two entries say the same of the same thing.
fn is_alike(one: &Entry, other: &Entry) -> bool {
    one.entity == other.entity && sense(one) == sense(other)
}

fn hash_of(entry: &Entry) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&entry.entity, sense(entry)).hash(&mut hasher);
    hasher.finish()
}

/// What a line says without the names that its maker made up: each attempt to create a
/// pod names another one.
fn sense(entry: &Entry) -> Cow<'_, str> {
    if !entry.is_event || !entry.text.contains('"') {
        return Cow::Borrowed(&entry.text);
    }
    let parts = entry.text.split('"').enumerate();
    let said: Vec<&str> = parts
        .map(|(at, part)| if at % 2 == 1 { "…" } else { part })
        .collect();
    Cow::Owned(said.join("\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(second: i64, fact: &str, text: &str) -> Entry {
        let id = EventId::of(&[&second.to_string(), text]);
        let time = Stamp::second(second * SECOND);
        Entry {
            time,
            actor: None,
            signals: Vec::new(),
            ready: None,
            is_event: fact == "k8s.event",
            seen_by: Vec::new(),
            lane: Lane::Workload,
            entity: "llm".to_owned(),
            text: text.to_owned(),
            weight: Weight::Warning,
            count: 1,
            end: None,
            ids: vec![id],
        }
    }

    #[test]
    fn repeats_are_one_line_even_where_a_chain_cites_all() {
        let failed = |second, pod| {
            let text = format!("FailedCreate: pods \"llm-{pod}\" is forbidden: quota");
            reported(second, "k8s.event", &text)
        };
        let entries = vec![failed(1, "x7k2p"), failed(2, "9dk3v"), failed(3, "zz1p0")];
        let lines = |wanted: &BTreeSet<EventId>| {
            let mut lines = entries.clone();
            collapse(&mut lines, wanted);
            lines
        };
        let cited: BTreeSet<EventId> = entries.iter().map(|one| one.ids[0]).collect();
        for wanted in [BTreeSet::new(), cited] {
            let lines = lines(&wanted);
            assert_eq!((lines.len(), lines[0].count), (1, 3));
            assert_eq!(lines[0].ids.len(), 3);
        }
        let only = BTreeSet::from([entries[2].ids[0]]);
        assert_eq!(lines(&only).len(), 2);
    }

    #[test]
    fn what_joins_a_line_leaves_the_order_of_the_others() {
        let mut entries: Vec<Entry> = ["a", "b", "a", "c", "b", "d"]
            .iter()
            .zip(1..)
            .map(|(text, second)| reported(second, "k8s.pod.status", text))
            .collect();
        let cited = BTreeSet::from([entries[4].ids[0]]);
        collapse(&mut entries, &cited);
        let lines: Vec<(&str, u64)> = entries
            .iter()
            .map(|line| (line.text.as_str(), line.count))
            .collect();
        assert_eq!(lines, [("a", 2), ("b", 1), ("c", 1), ("b", 1), ("d", 1)]);
    }

    #[test]
    fn a_machine_that_is_ready_is_no_news_unless_it_was_not() {
        let ready = |second, status: &str| {
            let mut entry = reported(second, "k8s.node.condition", status);
            entry.ready = Some(status == "True");
            entry
        };
        let states = ["True", "True", "Unknown", "True", "True"];
        let entries = (1..).zip(states).map(|(at, status)| ready(at, status));
        let mut kept: Vec<Entry> = entries.collect();
        without_calm(&mut kept, &BTreeSet::new());
        let reported: Vec<&str> = kept.iter().map(|one| one.text.as_str()).collect();
        assert_eq!(reported, ["Unknown", "True"]);
    }
}
