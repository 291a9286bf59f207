//! What recorded input could and could not show.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_connectors::node_log::holds_kernel;
use whathappened_connectors::recording::{FileStatus, FileSummary, Summary};
use whathappened_core::evidence::Row;
use whathappened_core::graph::{EntityGraph, Task, TaskKind};
use whathappened_core::symbols::Symbol;
use whathappened_model::coverage::{Coverage, Status, resource_of, resource_of_object};
use whathappened_model::event::SourceKind;
use whathappened_model::time::Nanos;

mod breaks;
mod lost;

/// What a store holds beside the rows that a case was made of.
#[derive(Clone, Debug, Default)]
pub struct StoreExtent {
    /// Until when the sources told that would have told of this.
    pub known_until: Option<Nanos>,
    /// Until when the cluster was heard of.
    pub cluster_until: Option<Nanos>,
    /// Sources and resources that were heard of around the time of the case.
    pub sources: BTreeSet<(&'static str, String)>,
}

/// What a source would have shown, where it is not there.
const MISSING: &[(&str, &str, &str)] = &[
    (
        "cloud",
        "activity",
        "maintenance, faults and terminations of the machines behind the nodes",
    ),
    (
        "container_log",
        "logs",
        "the traceback of the first failing rank, the last step and checkpoint",
    ),
    (
        "kubernetes",
        "events",
        "scheduling, image pulls, probes, evictions and what controllers did",
    ),
    (
        "kubernetes",
        "nodes",
        "whether the nodes were ready, cordoned, tainted, rebooted or removed",
    ),
    (
        "kubernetes",
        "pods",
        "how containers ended, with their exit codes and status",
    ),
    (
        "kubernetes",
        "workloads",
        "whether jobs failed, finished, were suspended or ran past a deadline",
    ),
    (
        "kubernetes_audit",
        "audit",
        "who deleted, evicted, cordoned or changed what, and when exactly",
    ),
    (
        "node_logs",
        "kernel",
        "out-of-memory kills, GPU Xid errors, panics and reboots of the machines",
    ),
];

/// Kubernetes forgets its Events after this many seconds by default.
const EVENTS_RETENTION_S: i64 = 3_600;

/// That pods are known and no Event is has two reasons that records cannot tell apart.
const NO_EVENTS: &str =
    "none found: not provided, or already expired (Kubernetes keeps Events for one hour)";

#[derive(Default)]
struct ReadRange {
    rows: u64,
    from: Option<Nanos>,
    to: Option<Nanos>,
}

/// One row a source and resource that is there, one for each that is not, one
/// for each file that fell short, and what live sources said of themselves.
#[must_use]
pub(crate) fn of_case(
    graph: &EntityGraph,
    summary: &Summary,
    stored: &[Coverage],
    held: &StoreExtent,
) -> Vec<Coverage> {
    let mut rows = of_recording(graph, summary, &beside(held, stored));
    lost::mark(&mut rows, stored);
    // A source that was asked is there, whatever it had to say.
    rows.retain(|row| {
        row.status != Status::NotConfigured
            || !stored
                .iter()
                .any(|asked| resource_group(asked) == row.resource)
    });
    // What a log store itself says of what was read goes before what is at hand.
    rows.retain(|row| {
        row.resource != "logs"
            || !stored
                .iter()
                .any(|asked| (&asked.source, &asked.resource) == (&row.source, &row.resource))
    });
    let has_kernel = rows.iter().any(|row| row.resource == "kernel");
    let machines = machines(graph);
    let of_others = |row: &Coverage| {
        let files = row.detail.as_deref().unwrap_or_default();
        !machines.is_empty() && !machines.iter().any(|machine| files.contains(machine))
    };
    let is_news = |row: &&Coverage| !is_quiet(row) || !has_kernel && !of_others(row);
    rows.extend(stored.iter().filter(is_news).cloned());
    if is_elsewhere(graph) {
        for row in rows.iter_mut().filter(|row| is_absent_kubernetes(row)) {
            row.would_have_shown = None;
        }
    }
    rows.sort();
    rows.dedup();
    rows
}

/// What a store holds of sources that were not listed just now: a list says itself that it was read.
fn beside(held: &StoreExtent, stored: &[Coverage]) -> StoreExtent {
    let mut held = held.clone();
    held.sources.retain(|(source, resource)| {
        !stored.iter().any(|row| {
            row.status == Status::Complete
                && row.source == *source
                && resource_group(row) == resource
        })
    });
    held
}

/// Whether all that ran was a batch job, an instance or a program on a machine of its own, and nothing of Kubernetes
/// is in the input: it would have shown nothing of them.
fn is_elsewhere(graph: &EntityGraph) -> bool {
    let is_known = |one: &Task| match one.kind {
        TaskKind::Pod => false,
        TaskKind::Log => one.node.is_some(),
        TaskKind::Instance | TaskKind::Job => true,
    };
    let of_kubernetes = |kind: SourceKind| is_kubernetes(kind.as_str());
    !graph.pods.is_empty()
        && graph.pods.iter().all(is_known)
        && !graph
            .evidence
            .objects
            .iter()
            .any(|(key, _)| matches!(&*key.kind, "Node" | "Pod"))
        && !graph
            .evidence
            .rows()
            .iter()
            .any(|row| row.seen_by().any(of_kubernetes))
}

fn is_kubernetes(source: &str) -> bool {
    source.starts_with("kubernetes")
}

fn is_absent_kubernetes(row: &Coverage) -> bool {
    row.status == Status::NotConfigured && row.detail.is_none() && is_kubernetes(&row.source)
}

/// Whether a row is of a source of Kubernetes that would have shown nothing of what was asked about: nobody is told that it
/// is not there.
#[must_use]
pub(crate) fn is_beside_the_point(row: &Coverage) -> bool {
    is_absent_kubernetes(row) && row.would_have_shown.is_none()
}

/// The machines that what was read was on. A log in which nothing is amiss speaks for the machine that its
/// file is named after, and for no other.
fn machines(graph: &EntityGraph) -> BTreeSet<&str> {
    let machines = graph.pods.iter().flat_map(Task::machines);
    machines.map(|machine| graph.name(machine)).collect()
}

/// The resource of [`MISSING`] that a live source's row is of.
fn resource_group(row: &Coverage) -> &str {
    match row.resource.as_str() {
        one @ ("events" | "pods" | "nodes" | "logs" | "audit" | "leases") => one,
        _ if row.source == "kubernetes" => "workloads",
        other => other,
    }
}

fn of_recording(graph: &EntityGraph, summary: &Summary, held: &StoreExtent) -> Vec<Coverage> {
    let mut got: BTreeMap<(&str, &str), ReadRange> = BTreeMap::new();
    let mut kinds_of_file: BTreeMap<Symbol, Vec<SourceKind>> = BTreeMap::new();
    for row in graph.evidence.rows() {
        let kinds = kinds_of_file.entry(row.file()).or_default();
        if !kinds.contains(&row.source_kind()) {
            kinds.push(row.source_kind());
        }
        for kind in row.seen_by() {
            let one = got
                .entry((kind.as_str(), resource_of(kind, graph.name(row.fact))))
                .or_default();
            one.rows += 1;
            if row.time.lo != Nanos::MIN && row.time.hi != Nanos::MAX {
                one.from = Some(one.from.map_or(row.time.lo, |from| from.min(row.time.lo)));
                one.to = Some(one.to.map_or(row.last(), |to| to.max(row.last())));
            }
        }
    }
    // Objects are counted as people count them, not by what each of their versions tells.
    for (resource, number) in objects(graph) {
        let one = got.entry((SourceKind::Kubernetes.as_str(), resource));
        one.or_default().rows = number;
    }
    // What the store holds of that time was looked through, though it has nothing of this.
    for (source, resource) in &held.sources {
        got.entry((source, resource)).or_default();
    }
    // A log of requests that are of no use here was read as well.
    if summary.files.iter().any(|file| file.is_audited) {
        got.entry((SourceKind::KubernetesAudit.as_str(), "audit"))
            .or_default();
    }
    let left_out = summary.total.left_out;
    let mut rows: Vec<Coverage> = got
        .iter()
        .map(|((source, resource), got)| {
            let sampled = matches!(*resource, "logs") && left_out > 0;
            Coverage {
                rows: got.rows,
                got_from: got.from,
                got_to: got.to,
                retention_s: (*resource == "events").then_some(EVENTS_RETENTION_S),
                status: if sampled {
                    Status::Sampled
                } else {
                    Status::Complete
                },
                detail: sampled
                    .then(|| format!("{left_out} unrecognised lines were left out of long logs")),
                ..Coverage::new(source, resource)
            }
        })
        .collect();
    // The last line of a machine's log is kept whatever it says.
    let is_significant = |row: &Row| row.source_kind() == SourceKind::NodeLog && row.has_signal;
    if !graph.evidence.rows().iter().any(is_significant)
        && let Some(quiet) = quiet_machines(summary)
    {
        rows.retain(|row| row.resource != "kernel");
        rows.push(quiet);
    }
    let there: Vec<String> = rows.iter().map(|row| row.resource.clone()).collect();
    let has = |resource: &str| there.iter().any(|known| known == resource);
    for (source, resource, would_have_shown) in MISSING {
        // Logs are logs, whichever store they come from.
        if !has(resource) {
            let forgotten = *resource == "events" && has("pods");
            rows.push(Coverage {
                status: Status::NotConfigured,
                detail: forgotten.then(|| NO_EVENTS.to_owned()),
                would_have_shown: Some((*would_have_shown).to_owned()),
                ..Coverage::new(source, resource)
            });
        }
    }
    rows.extend(short_files(graph, summary, &kinds_of_file));
    rows.sort();
    rows
}

/// How many objects of each resource Kubernetes itself showed.
fn objects(graph: &EntityGraph) -> BTreeMap<&'static str, u64> {
    let mut numbers = BTreeMap::new();
    for (key, versions) in graph.evidence.objects.iter() {
        let Some(resource) = resource_of_object(&key.kind) else {
            continue;
        };
        let mut versions = versions.iter();
        if versions.any(|version| version.listed) {
            *numbers.entry(resource).or_default() += 1;
        }
    }
    numbers
}

/// Whether a row is of logs of machines that tell of nothing.
fn is_quiet(row: &Coverage) -> bool {
    row.resource == "kernel"
        && row.status == Status::Complete
        && row.rows == 0
        && row.detail.is_some()
}

/// The row of logs of machines that were read to their ends and told nothing, as
/// those of healthy ones do.
pub(crate) fn quiet_machines(summary: &Summary) -> Option<Coverage> {
    let quiet = |file: &&FileSummary| {
        let whole = file.status == FileStatus::Complete && file.rejected == 0;
        whole && file.observations <= 1 && file.irrelevant > 0 && holds_kernel(&file.form)
    };
    let mut names: Vec<&str> = summary
        .files
        .iter()
        .filter(quiet)
        .map(|file| &*file.name)
        .collect();
    names.sort_unstable();
    let first = names.first()?;
    let others = match names.len() - 1 {
        0 => String::new(),
        1 => " and one more log".to_owned(),
        more => format!(" and {more} more logs"),
    };
    Some(Coverage {
        detail: Some(format!(
            "{first}{others}: read, and no line reports a fault"
        )),
        ..Coverage::new(SourceKind::NodeLog.as_str(), "kernel")
    })
}

/// Files that ended early or could not be used, as rows of the sources they hold.
fn short_files(
    graph: &EntityGraph,
    summary: &Summary,
    kinds_of_file: &BTreeMap<Symbol, Vec<SourceKind>>,
) -> Vec<Coverage> {
    let mut rows = Vec::new();
    for file in &summary.files {
        let (status, why) = match &file.status {
            FileStatus::Complete => continue,
            FileStatus::Truncated(why) => (Status::Truncated, why),
            FileStatus::Failed(why) => (Status::Failed, why),
        };
        let kinds = graph
            .evidence
            .symbols
            .find(&file.name)
            .and_then(|name| kinds_of_file.get(&name));
        let mut sources: Vec<&str> = kinds
            .into_iter()
            .flatten()
            .map(|kind| kind.as_str())
            .collect();
        if sources.is_empty() {
            sources.push("recording");
        }
        for source in sources {
            rows.push(Coverage {
                status,
                rows: file.records,
                detail: Some(format!("{}: {why}", file.name)),
                would_have_shown: Some(
                    "the contents of the part that could not be read".to_owned(),
                ),
                ..Coverage::new(source, "file")
            });
        }
    }
    rows.extend(breaks::of(graph, summary));
    rows
}
