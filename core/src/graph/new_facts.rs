//! Facts of a record: one for each of its signals.

use crate::evidence::{EvidenceRow, Row};
use crate::graph::TaskRow;
use whathappened_model::event::Event;
use whathappened_model::kind::is_workload;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::identity::{Pods, Workloads};
use super::{Fact, Phase, call, clusters, last_words, log_level, workload_names};
use crate::signals::{Ruleset, SignalClass, named};
use crate::symbols::SymbolTable;

/// Attributes that say what a fact is about beside its entities, the first one there counts.
const DETAILS: [&str; 10] = [
    "resource",
    "exception",
    "preemptor",
    "key",
    "condition",
    "claim",
    "image",
    "detail",
    "alertname",
    "process",
];

/// How late something was told of. Two versions of a node with two boot ids tell more than
/// a kubelet that is up again: it had not booted before the first of them was written, and
/// what wrote that one may have waited for it for two minutes.
fn lag(event: &Event, signal: &str, ruleset: &Ruleset) -> Nanos {
    let usual = ruleset.lag(signal);
    const BETWEEN: Nanos = 120 * SECOND;
    const KERNEL: Nanos = 10 * SECOND;
    // The stretch between two scrapes says when, the exporter's own pause included.
    if event.fact.starts_with("metric.gpu.") {
        return 0;
    }
    if call::is_request(event) {
        return 0;
    }
    // A kubelet says that its machine shuts down before it stops the first pod for that.
    let by_kubelet = event.fact == "k8s.event" || event.attribute("program") == Some("kubelet");
    if signal == named::K8S_NODE_SHUTDOWN && by_kubelet {
        return 0;
    }
    if event.fact == "k8s.node.boot_changed" {
        return usual.min(BETWEEN);
    }
    // What others find out in a while the kernel and its drivers write when they see it.
    let by_kernel = event.attribute("program") == Some("kernel")
        || event
            .message
            .as_deref()
            .is_some_and(|text| text.contains("NVRM: "));
    // It waits for a server before it says so, and tells of a crash when it is up again.
    let is_late = ruleset.traits().is(signal, SignalClass::ReportedLate);
    if by_kernel && !is_late {
        usual.min(KERNEL)
    } else {
        usual
    }
}

/// The facts of one record. `number` is its row, `pod` the task that it is about.
#[expect(
    clippy::too_many_arguments,
    reason = "one step of build, which owns all of these"
)]
pub(super) fn of_event(
    event: &Event,
    row: &Row,
    number: EvidenceRow,
    pod: Option<TaskRow>,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
    ruleset: &Ruleset,
    facts: &mut Vec<Fact>,
) {
    let workload = match event.object_kind.as_deref() {
        Some(kind) if is_workload(kind) || kind == "PersistentVolumeClaim" => {
            workload_names::named_job(event, symbols, workloads)
                .or_else(|| workload_names::workload(event, symbols, workloads))
        }
        _ => None,
    };
    let detail = DETAILS.iter().find_map(|key| event.attribute(key));
    let other = other_pod(event, symbols, pods);
    let pool = pool(event);
    let message = event.message.as_deref().unwrap_or_default();
    let is_line = event.fact == "log.line";
    // An Event's text may name the node; what a program says of one is about another matter.
    let named_node = event.attribute("on_node");
    let (own_node, named_node) = match event.fact.as_str() {
        "k8s.event" => (event.entities.node.as_deref(), named_node),
        // A command that names a machine is about that one, wherever it was given.
        "node.log" if named_node.is_some() => (None, named_node),
        _ => (event.entities.node.as_deref(), None),
    };
    let is_elsewhere = event.fact == "node.log" && named_node.is_some();
    let own_instance = event.entities.instance.as_deref();
    let own_instance = own_instance.filter(|_| !is_elsewhere);
    let is_mild = is_line && log_level::is_no_failure(message);
    // What only says that all goes its way the events show; no rule asks for it, and it is most of what a cluster tells.
    let is_calm = |signal: &&String| ruleset.traits().is(signal, SignalClass::Calm);
    for signal in event.signals.iter().filter(|signal| !is_calm(signal)) {
        facts.push(Fact {
            row: number,
            id: event.id,
            signal: symbols.number(signal),
            time: event.time,
            onset: event.time.lo.saturating_sub(lag(event, signal, ruleset)),
            end: row.end,
            count: row.count,
            pod,
            workload,
            node: symbols.optional(own_node.or(named_node)),
            instance: symbols.optional(own_instance),
            phase: Phase::parse(event.attribute("phase")),
            operation: symbols.optional(event.attribute("event_id")),
            holder: symbols.optional(event.attribute("held_by")),
            cluster: clusters::of(event, symbols),
            places: symbols.optional(event.attribute("places")),
            pool: symbols.optional(pool.as_deref()),
            due: due(event),
            withdrawn: None,
            // A text may name the container that its record does not.
            container: symbols.optional(
                event
                    .entities
                    .container
                    .as_deref()
                    .or_else(|| event.attribute("on_container")),
            ),
            actor: symbols.optional(event.actor.as_deref()),
            other,
            detail: symbols.optional(detail),
            target: symbols.optional(event.attribute("target")),
            exit_code: event.exit_code,
            rank: event.rank,
            is_line,
            is_of_kernel: is_line && is_of_kernel(signal, message),
            is_mild: is_mild && signal != last_words::WRONG,
            is_amid_text: event.attributes.contains_key("amid_text"),
            source_kind: event.source_kind,
        });
    }
    if let Some(last) = seen_again(event, row) {
        repeat(facts, number, last);
    }
}

/// When what a folded Event says of a node happened anew.
fn seen_again(event: &Event, row: &Row) -> Option<Stamp> {
    /// Events that come closer are of one state.
    const APART: Nanos = 60 * SECOND;
    let of_node = event.fact == "k8s.event" && event.object_kind.as_deref() == Some("Node");
    row.end
        .filter(|_| of_node && row.count > 1)
        .filter(|last| last.lo.saturating_sub(event.time.hi) > APART)
}

/// Makes two of each fact of a record: whatever was between, it was so at first, and at last anew.
fn repeat(facts: &mut Vec<Fact>, row: EvidenceRow, last: Stamp) {
    let from = facts.iter().rposition(|fact| fact.row != row);
    let from = from.map_or(0, |other| other + 1);
    let mut anew = Vec::new();
    for fact in facts.iter_mut().skip(from) {
        fact.end = None;
        let lag = fact.time.lo.saturating_sub(fact.onset);
        anew.push(Fact {
            onset: last.lo.saturating_sub(lag),
            time: last,
            ..*fact
        });
    }
    facts.extend(anew);
}

/// Whether a signal is one that kernels and a machine's own services tell of. Libraries for
/// communication tell of network cards themselves.
fn is_of_kernel(signal: &str, message: &str) -> bool {
    const LIBRARIES: [&str; 5] = ["NCCL", "UCX", "RCCL", "ibv_", "libfabric"];
    let by_library = || LIBRARIES.iter().any(|name| message.contains(name));
    signal.starts_with("kernel.")
        || signal.starts_with("node.")
        || signal.starts_with("nic.") && !by_library()
        || signal.starts_with("gpu.") && message.contains("NVRM: ")
}

/// When what a record announces is due, as clouds and node labels tell it.
fn due(event: &Event) -> Option<Stamp> {
    let time = |keys: [&str; 2]| {
        let reported = keys.iter().find_map(|key| event.attribute(key))?;
        Stamp::parse_loosely(reported)
    };
    let unix = || {
        let seconds: i64 = event.attribute("scheduled_unix")?.parse().ok()?;
        Some(Stamp::second(seconds.checked_mul(SECOND)?))
    };
    let from = time(["not_before", "scheduled_from"]).or_else(unix)?;
    let to = time(["not_after", "scheduled_to"]).filter(|to| to.hi > from.lo);
    Some(Stamp {
        lo: from.lo,
        hi: to.map_or(from.hi, |to| to.hi),
    })
}

/// The pool or group that a record is about: `cluster/pool`, of a whole cluster `cluster/`.
fn pool(event: &Event) -> Option<String> {
    let group = match event.object_kind.as_deref()? {
        "NodePool" | "InstanceGroup" => event.attribute("group")?,
        "Cluster" => "",
        _ => return None,
    };
    let cluster = event.entities.cluster.as_deref().unwrap_or_default();
    Some(format!("{cluster}/{group}").to_lowercase()).filter(|pool| pool.len() > 1)
}

/// The other pod that a record names, by uid or by name.
fn other_pod(event: &Event, symbols: &mut SymbolTable, pods: &mut Pods) -> Option<TaskRow> {
    let uid = event
        .attribute("preemptor_uid")
        .or_else(|| event.attribute("other_uid"));
    if let Some(uid) = uid
        && let Some(found) = symbols.find(uid).and_then(|uid| pods.find_uid(uid))
    {
        return Some(found);
    }
    let name = event.attribute("other_pod")?;
    let namespace = event
        .attribute("other_namespace")
        .or(event.entities.namespace.as_deref());
    let namespace = symbols.optional(namespace);
    // A controller that replaces a pod under its name deletes the one and makes the other within a second.
    const REPLACED: Nanos = 2 * SECOND;
    let reason = event.reason.as_deref().unwrap_or_default();
    let is_deleted = reason.contains("Delete");
    let earlier = if is_deleted { REPLACED } else { 0 };
    let at = event.time.lo.saturating_sub(earlier);
    Some(pods.of_name(namespace, symbols.number(name), at))
}
