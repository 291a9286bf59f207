//! The columns of `events`.

use whathappened_core::evidence::{EvidenceRow, Row, SpillError};
use whathappened_core::graph::EntityGraph;
use whathappened_model::event::{Event, Origin, SourceKind};

use super::column::Cell::{Flag, Int, Long, Made, Text, Texts, Time};
use super::column::{Column, long, reported};

/// One fact and who saw it.
pub(super) struct EventRow {
    event: Event,
    seen_by: Vec<String>,
}

/// Columns that the rows kept in memory can fill, so that a statement which
/// uses no others reads no fact back.
const IN_MEMORY: [&str; 12] = [
    "id",
    "fact",
    "seen_by",
    "time",
    "time_lo",
    "time_hi",
    "end_time",
    "namespace",
    "workload",
    "pod",
    "pod_uid",
    "node",
];

/// Whether a column needs the whole fact.
pub(super) fn needs_body(column: &Column<EventRow>) -> bool {
    !IN_MEMORY.contains(&column.name)
}

impl EventRow {
    /// A fact, whole or as far as its row knows it.
    pub(super) fn read(
        graph: &EntityGraph,
        number: EvidenceRow,
        whole: bool,
    ) -> Result<Self, SpillError> {
        let evidence = &graph.evidence;
        let row = evidence.rows().get(number).ok_or(SpillError::Lost)?;
        let event = if whole {
            evidence.event(number)?
        } else {
            of_row(graph, row)
        };
        let seen_by = row.seen_by().map(|kind| kind.as_str().to_owned()).collect();
        Ok(Self { event, seen_by })
    }

    /// About how many bytes it takes.
    pub(super) fn weight(&self) -> usize {
        let message = self.event.message.as_ref().map_or(0, String::len);
        1_024 + message + self.event.raw.len() + 128 * self.event.attributes.len()
    }

    /// Lets go of the original record, which is most of a fact.
    pub(super) fn without_raw(mut self) -> Self {
        self.event.raw = String::new();
        self
    }
}

fn of_row(graph: &EntityGraph, row: &Row) -> Event {
    let name = |sym| graph.evidence.symbols.some(sym).map(str::to_owned);
    let mut event = Event::new(
        row.id,
        graph.name(row.fact),
        row.time,
        SourceKind::Kubernetes,
    );
    event.end = row.end;
    event.origin = Origin::default();
    event.entities.namespace = name(row.namespace);
    event.entities.workload = name(row.workload);
    event.entities.pod = name(row.pod);
    event.entities.pod_uid = name(row.pod_uid);
    event.entities.node = name(row.node);
    event
}

/// All columns, in order.
pub(super) const COLUMNS: &[Column<EventRow>] = &[
    Column::new(
        "id",
        Made(|row| Some(row.event.id.to_string())),
        "identity of the fact, from its content: the same fact from another source or file has the same id",
    ),
    Column::new(
        "fact",
        Text(|row| Some(&row.event.fact)),
        "kind of fact: k8s.event, k8s.container.terminated, k8s.audit.delete, log.line, …",
    ),
    Column::new(
        "seen_by",
        Texts(|row| row.seen_by.clone()),
        "every connector that witnessed it",
    ),
    Column::new(
        "time",
        Time(|row| reported(row.event.time).map(|time| time.lo)),
        "when it happened, never when it was polled; the earliest instant where the source is inexact",
    ),
    Column::new(
        "time_lo",
        Time(|row| reported(row.event.time).map(|time| time.lo)),
        "earliest instant it can have been",
    ),
    Column::new(
        "time_hi",
        Time(|row| reported(row.event.time).map(|time| time.hi)),
        "end of its range, exclusive; for a source with a resolution of one second this is one second after time_lo",
    ),
    Column::new(
        "end_time",
        Time(|row| row.event.end.and_then(reported).map(|end| end.lo)),
        "when it ended or was last seen, where it lasts or repeats",
    ),
    Column::new(
        "time_kind",
        Text(|row| Some(row.event.time_kind.as_str())),
        "which clock said so: occurred, first_seen, last_seen, received or ingested",
    ),
    Column::new(
        "observed_time",
        Time(|row| row.event.observed),
        "when it was fetched; NULL for recorded input",
    ),
    Column::new(
        "source",
        Text(|row| Some(row.event.source_kind.as_str())),
        "configured name of the source; the connector's name for recorded input",
    ),
    Column::new(
        "source_kind",
        Text(|row| Some(row.event.source_kind.as_str())),
        "connector whose copy is kept: kubernetes, kubernetes_audit, container_log, tracker, the name of a log store, …",
    ),
    Column::new(
        "signals",
        Texts(|row| row.event.signals.clone()),
        "what it means, in the tool's vocabulary (queries/signals); empty where no rule covers it",
    ),
    Column::new(
        "severity",
        Text(|row| row.event.severity.as_deref()),
        "the source's own word: Normal, Warning, ERROR, …",
    ),
    Column::new(
        "reason",
        Text(|row| row.event.reason.as_deref()),
        "the source's own reason: OOMKilled, Preempted, … — a claim, not yet a cause",
    ),
    Column::new(
        "message",
        Text(|row| row.event.message.as_deref()),
        "the source's own text",
    ),
    Column::new(
        "actor",
        Text(|row| row.event.actor.as_deref()),
        "who did it: a user, a controller, a component",
    ),
    Column::new(
        "count",
        Long(|row| row.event.count.and_then(long)),
        "how often it was seen, where the source counts",
    ),
    Column::new(
        "count_is_lower_bound",
        Flag(|row| Some(row.event.count_is_lower_bound)),
        "the source drops some, so there were at least this many",
    ),
    Column::new(
        "object_kind",
        Text(|row| row.event.object_kind.as_deref()),
        "kind of the object that the record is about: Pod, Node, Job, …",
    ),
    Column::new(
        "object_uid",
        Text(|row| row.event.object_uid.as_deref()),
        "uid of that object",
    ),
    Column::new(
        "cluster",
        Text(|row| row.event.entities.cluster.as_deref()),
        "cluster it refers to",
    ),
    Column::new(
        "namespace",
        Text(|row| row.event.entities.namespace.as_deref()),
        "namespace it refers to",
    ),
    Column::new(
        "workload_kind",
        Text(|row| row.event.entities.workload_kind.as_deref()),
        "kind of the workload it refers to",
    ),
    Column::new(
        "workload",
        Text(|row| row.event.entities.workload.as_deref()),
        "name of the workload it refers to",
    ),
    Column::new(
        "pod",
        Text(|row| row.event.entities.pod.as_deref()),
        "name of the pod it refers to",
    ),
    Column::new(
        "pod_uid",
        Text(|row| row.event.entities.pod_uid.as_deref()),
        "uid of that pod, which no other pod of its name has",
    ),
    Column::new(
        "container",
        Text(|row| row.event.entities.container.as_deref()),
        "container it refers to",
    ),
    Column::new(
        "node",
        Text(|row| row.event.entities.node.as_deref()),
        "node it refers to or was seen on",
    ),
    Column::new(
        "instance",
        Text(|row| row.event.entities.instance.as_deref()),
        "virtual machine it refers to",
    ),
    Column::new(
        "host",
        Text(|row| row.event.entities.host.as_deref()),
        "physical host it refers to",
    ),
    Column::new(
        "zone",
        Text(|row| row.event.entities.zone.as_deref()),
        "zone it refers to",
    ),
    Column::new(
        "experiment",
        Text(|row| row.event.entities.experiment.as_deref()),
        "experiment that the record itself names; tenures know the rest",
    ),
    Column::new(
        "exit_code",
        Int(|row| row.event.exit_code),
        "exit code of a process",
    ),
    Column::new(
        "rank",
        Int(|row| row.event.rank),
        "rank of the worker in its gang",
    ),
    Column::new(
        "gpu",
        Int(|row| row.event.gpu),
        "index of the GPU on its host",
    ),
    Column::new(
        "attributes",
        Made(|row| serde_json::to_string(&row.event.attributes).ok()),
        "the rest, as a JSON object",
    ),
    Column::new(
        "raw",
        Text(|row| Some(&row.event.raw)),
        "the original record, or the part of it that says this, as JSON or text; redacted",
    ),
    Column::new(
        "origin",
        Made(|row| Some(row.event.origin.to_string())),
        "file and line it was read from",
    ),
];
