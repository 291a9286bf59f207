//! From evidence to the graph, in five steps: versions, differences, pods by
//! uid, pods by name, facts. Each step only uses what the ones before settled,
//! so the order of the input cannot show.

use std::collections::{HashMap, HashSet};

use whathappened_model::event::Event;
use whathappened_model::kind::is_workload;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::announcements;
use super::identity::{Pods, Workloads};
use super::node_claim::NodeClaims;
use super::{
    EntityGraph, Fact, NO, NodeInstances, Phase, TaskKind, Topology, Workload, asked_again, boots,
    clocks, clusters, collection, collectives, deletion, gpu_repeats, instance, job, job_logs,
    killed_process, last_line, learn, log_level, lone_log, mismatch, node_folder, node_instance,
    order, pace, parent, pod_log, progress, remade, rows, scheduling, short_name, slurm_zone,
    tagged, undated, unit, version_diff, versions, vm_log, witness, workload_names, zones,
};
use crate::evidence::{Evidence, Row, SpillError};
use crate::signals::Ruleset;
use crate::symbols::{Symbol, SymbolTable};

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

/// `known`: until when the rest was heard of, where the evidence is a part of what is known.
pub(super) fn build(
    mut evidence: Evidence,
    ruleset: &Ruleset,
    known: Option<Nanos>,
) -> Result<EntityGraph, SpillError> {
    evidence.objects.settle();
    let derived = version_diff::facts(&evidence.objects)
        .into_iter()
        .chain(collectives::facts(evidence.traces()));
    for mut event in derived.collect::<Vec<Event>>() {
        ruleset.classify(&mut event);
        evidence.add(&event)?;
    }
    evidence.settle()?;

    let mut symbols = std::mem::take(&mut evidence.symbols);
    let (mut pods, mut workloads) = (Pods::default(), Workloads::default());
    let of_slurm = slurm_zone::settle(&mut evidence, &symbols)?;
    versions::learn(&evidence.objects, &mut symbols, &mut pods, &mut workloads);
    workload_names::in_time_order(&evidence, &mut symbols, &mut workloads)?;
    let zones = zones::settle(&mut evidence, &symbols, &pods, of_slurm)?;
    let mut pod_of_row = rows::pods(&evidence, &symbols, &mut pods);
    let years = undated::Years::of(&evidence)?;

    let telling = evidence.rows().iter().filter(|row| row.tells).count();
    let mut facts = Vec::with_capacity(telling);
    let mut logs = job_logs::of_outputs(&evidence, &mut symbols, &mut pods, &mut workloads);
    let mut gpus = witness::Gpus::default();
    let (mut failed, mut failed_rows) = (HashSet::new(), HashSet::new());
    let mut zoneless = HashSet::new();
    let mut collections = Vec::new();
    let claims = NodeClaims::of(&evidence.objects);
    let evicted = learn::evicted(&evidence, &pod_of_row, &symbols)?;
    for number in 0..evidence.rows().len() {
        let number = u32::try_from(number).map_err(|_| SpillError::TooMany)?;
        if evidence
            .rows()
            .get(number as usize)
            .is_none_or(|row| is_silent(row, &symbols))
        {
            continue;
        }
        let (row, mut event) = evidence.body(number)?;
        years.place(number, &mut event);
        let inferred = event.attribute("time_inferred");
        if event.fact == "node.log" && matches!(inferred, Some("year" | "zone")) {
            zoneless.insert(number);
        }
        job_logs::forget_others(&mut event);
        claims.place(&mut event);
        let mut pod = pod_of_row.get(number as usize).copied().unwrap_or(NO);
        if pod == NO
            && let Some(one) = instance::of_event(&event, &mut symbols, &mut pods)
                .or_else(|| job::of_event(&event, &mut symbols, &mut pods, &mut workloads))
        {
            pod = one;
            pod_of_row[number as usize] = one;
            if let Some(one) = pods.all.get_mut(one as usize) {
                one.see(row.time.lo, row.last());
                if one.kind == TaskKind::Job && event.fact == "log.line" {
                    logs.names(&symbols, row.file(), pod);
                }
            }
        }
        if event.attribute("outcome") == Some("failed") {
            failed_rows.insert(number);
            failed.extend(event.attribute("event_id").map(|id| symbols.number(id)));
        }
        // Asked for in a dry run, which a log of metadata does not say.
        let was_evicted = event.fact == "k8s.audit.evict" && evicted.contains(&pod);
        if !was_evicted && learn::is_undone(&event, pods.all.get(pod as usize)) {
            failed_rows.insert(number);
            continue;
        }
        learn::event(&event, pod, &mut symbols, &mut pods, &mut workloads);
        clusters::note(&event, &mut symbols, pods.all.get_mut(pod as usize));
        collections.extend(collection::of(&event, number, &mut symbols));
        progress::note(&event, number, pods.all.get_mut(pod as usize));
        gpus.note(number, &event);
        if !event.signals.is_empty() {
            facts_of(
                &event,
                &row,
                number,
                pod,
                &mut symbols,
                &mut pods,
                &mut workloads,
                ruleset,
                &mut facts,
            );
        }
    }
    logs.by_name(&evidence, &symbols, &pods.all);
    let mut lines = lone_log::Lines {
        evidence: &evidence,
        years: &years,
        symbols: &mut symbols,
        pods: &mut pods,
        workloads: &mut workloads,
        pod_of_row: &mut pod_of_row,
        facts: &mut facts,
    };
    logs.claim(&mut lines)?;
    pod_log::adopt(&mut lines)?;
    vm_log::adopt(&mut lines)?;
    tagged::adopt(&mut lines)?;
    lone_log::adopt(&mut lines)?;
    job::name_users(&pods.jobs.users, &mut facts, &mut symbols);
    last_line::note(&evidence, &symbols, &pod_of_row, &mut pods.all);
    tagged::note(&evidence, &pod_of_row, &mut pods.all);
    job::unite_parts(&mut symbols, &mut workloads);
    parent::adopt(&mut symbols, &mut pods, &mut workloads);
    tagged::own(&mut symbols, &mut pods, &mut workloads);
    collection::spread(
        &collections,
        &symbols,
        &mut pods.all,
        &workloads,
        &mut facts,
    );
    let stalled = progress::stalled(&evidence, &pods.all, &pod_of_row, &zoneless, &mut symbols);
    facts.extend(stalled);
    facts.extend(pace::slowed(&evidence, &pods.all, &mut symbols));
    evidence.symbols = symbols;
    node_folder::rename(&evidence, &pods.all, &mut facts);
    node_folder::claim(&evidence, &pods.all, &mut facts);
    short_name::join(&evidence.symbols, &pods.all, &mut facts);
    unit::claim(&evidence, &mut pods.all, &mut facts)?;
    learn::heard(&mut pods.all);
    witness::fold(&mut evidence, &mut facts, &gpus);
    let now = now(&evidence, &zoneless).max(known);
    scheduling::settle(&pods.all, now, &mut evidence, &mut facts);
    // What an operation set out to do did not happen where it failed in the end.
    instance::settle(&mut pods.all, &failed);
    facts.retain(|fact| failed_rows.contains(&fact.row) || !failed.contains(&fact.operation));

    let mut graph = EntityGraph {
        evidence,
        pods: pods.all,
        workloads: workloads.all,
        facts,
        pod_of_row,
        node_instances: NodeInstances::new(),
        topology: Topology::default(),
        said: HashMap::new(),
        elsewhere: Vec::new(),
        zones,
        now,
    };
    clocks::settle(&mut graph);
    remade::split(&mut graph);
    set_roots(&mut graph);
    gpu_repeats::mark(&mut graph, &gpus);
    mismatch::note(&mut graph)?;
    killed_process::note(&mut graph)?;
    order::put_in_order(&mut graph);
    asked_again::mark(&mut graph);
    deletion::note(&mut graph);
    boots::set_onsets(&mut graph);
    graph.node_instances = node_instance::join(&graph);
    put_on_nodes(&mut graph);
    announcements::settle(&mut graph)?;
    graph.topology = Topology::of(&graph);
    Ok(graph)
}

/// The end of what is known. What a machine wrote in a zone that it does not name (`dmesg -T`) may be hours
/// older than it looks, and counts only where nothing else does.
fn now(evidence: &Evidence, zoneless: &HashSet<u32>) -> Option<Nanos> {
    let dated = || {
        let rows = (0_u32..).zip(evidence.rows());
        rows.filter(|(_, row)| row.time.hi != Nanos::MAX)
    };
    let known = dated().filter(|(number, _)| !zoneless.contains(number));
    let known = known.map(|(_, row)| seen_at(row));
    known
        .chain(evidence.objects.latest())
        .max()
        .or_else(|| dated().map(|(_, row)| seen_at(row)).max())
}

/// When a row was last true for certain: a line in an unknown zone may be hours older
/// than it could be.
fn seen_at(row: &Row) -> Nanos {
    const EXACT: Nanos = 120 * SECOND;
    if row.time.hi.saturating_sub(row.time.lo) > EXACT {
        row.time.lo
    } else {
        row.last()
    }
}

/// How late something was told of. Two versions of a node with two boot ids tell more than
/// a kubelet that is up again: it had not booted before the first of them was written, and
/// what wrote that one may have waited for it for two minutes.
fn lag(event: &Event, signal: &str, usual: Nanos) -> Nanos {
    const BETWEEN: Nanos = 120 * SECOND;
    const KERNEL: Nanos = 10 * SECOND;
    // It waits for a server before it says so, and tells of a crash when it is up again.
    const LATE: [&str; 4] = [
        "k8s.node.rebooted",
        "kernel.nfs_not_responding",
        "kernel.storage_evicted",
        "node.crashed",
    ];
    // The stretch between two scrapes says when, the exporter's own pause included.
    if event.fact.starts_with("metric.gpu.") {
        return 0;
    }
    // A kubelet says that its machine shuts down before it stops the first pod for that.
    let by_kubelet = event.fact == "k8s.event" || event.attribute("program") == Some("kubelet");
    if signal == "k8s.node.shutdown" && by_kubelet {
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
    if by_kernel && !LATE.contains(&signal) {
        usual.min(KERNEL)
    } else {
        usual
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "one step of build, which owns all of these"
)]
fn facts_of(
    event: &Event,
    row: &Row,
    number: u32,
    pod: u32,
    symbols: &mut SymbolTable,
    pods: &mut Pods,
    workloads: &mut Workloads,
    ruleset: &Ruleset,
    facts: &mut Vec<Fact>,
) {
    let workload = match event.object_kind.as_deref() {
        Some(kind) if is_workload(kind) || kind == "PersistentVolumeClaim" => {
            workload_names::workload(event, symbols, workloads)
        }
        _ => NO,
    };
    let detail = DETAILS.iter().find_map(|key| event.attribute(key));
    let other = other_pod(event, symbols, pods);
    let pool = pool(event);
    let message = event.message.as_deref().unwrap_or_default();
    let is_line = event.fact == "log.line";
    let is_mild = is_line && log_level::is_no_failure(message);
    for signal in event.signals.iter().filter(|signal| !is_calm(signal)) {
        facts.push(Fact {
            row: number,
            id: event.id,
            signal: symbols.number(signal),
            time: event.time,
            onset: event
                .time
                .lo
                .saturating_sub(lag(event, signal, ruleset.lag(signal))),
            end: row.end,
            count: row.count,
            pod,
            workload,
            node: symbols.optional(event.entities.node.as_deref()),
            instance: symbols.optional(event.entities.instance.as_deref()),
            phase: Phase::parse(event.attribute("phase")),
            operation: symbols.optional(event.attribute("event_id")),
            holder: symbols.optional(event.attribute("held_by")),
            cluster: clusters::of(event, symbols),
            places: symbols.optional(event.attribute("places")),
            pool: symbols.optional(pool.as_deref()),
            due: due(event),
            withdrawn: None,
            container: symbols.optional(event.entities.container.as_deref()),
            actor: symbols.optional(event.actor.as_deref()),
            other,
            detail: symbols.optional(detail),
            target: symbols.optional(event.attribute("target")),
            exit_code: event.exit_code,
            rank: event.rank,
            is_line,
            is_of_kernel: is_line && is_of_kernel(signal, message),
            is_mild: is_mild && signal != learn::WRONG,
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
fn repeat(facts: &mut Vec<Fact>, row: u32, last: Stamp) {
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

/// Events and log lines without a meaning teach nothing here.
fn is_silent(row: &Row, symbols: &SymbolTable) -> bool {
    !row.tells && matches!(symbols.name(row.fact), "k8s.event" | "log.line")
}

/// Signals that only say that all goes its way: the events show them, no rule
/// asks for them, and they are most of what a cluster tells.
fn is_calm(signal: &str) -> bool {
    const CALM: [&str; 9] = [
        "k8s.container.completed",
        "k8s.container.started",
        "k8s.pod.bound",
        "k8s.pod.created_by_",
        "k8s.pod.running",
        "k8s.pod.scheduled",
        "k8s.pod.succeeded",
        "k8s.workload.pod_created",
        "log.progress",
    ];
    CALM.iter().any(|calm| signal.starts_with(calm))
}

/// The other pod that a record names, by uid or by name.
fn other_pod(event: &Event, symbols: &mut SymbolTable, pods: &mut Pods) -> u32 {
    let uid = event
        .attribute("preemptor_uid")
        .or_else(|| event.attribute("other_uid"));
    if let Some(uid) = uid
        && let Some(found) = symbols.find(uid).and_then(|uid| pods.find_uid(uid))
    {
        return found;
    }
    let Some(name) = event.attribute("other_pod") else {
        return NO;
    };
    let namespace = event
        .attribute("other_namespace")
        .or(event.entities.namespace.as_deref());
    let namespace = symbols.optional(namespace);
    pods.of_name(namespace, symbols.number(name), event.time.lo)
}

/// An instance that carried a node is the place of pods, not a run of its own;
/// facts about it that do not name the node are facts about the node.
fn put_on_nodes(graph: &mut EntityGraph) {
    let mut node_of: HashMap<Symbol, Symbol> = HashMap::new();
    for (node, node_instances) in &graph.node_instances {
        for node_instance in node_instances {
            let known = node_of.entry(node_instance.instance).or_insert(*node);
            if graph.evidence.symbols.name(*node) < graph.evidence.symbols.name(*known) {
                *known = *node;
            }
        }
    }
    for one in &mut graph.pods {
        if one.kind == TaskKind::Instance
            && let Some(node) = node_of.get(&one.uid)
        {
            one.node = *node;
            one.owner = NO;
        }
    }
    for fact in &mut graph.facts {
        if !fact.node.is_some()
            && let Some(node) = node_of.get(&fact.instance)
        {
            fact.node = *node;
        }
    }
}

/// The root is the top of the owner chain; a `CronJob` makes runs but is none.
fn set_roots(graph: &mut EntityGraph) {
    let cron = graph.evidence.symbols.find("CronJob");
    let top = |mut number: u32, workloads: &[Workload]| {
        // Owner chains are short; a cycle in hostile input must still end.
        for _ in 0..16 {
            match workloads.get(number as usize) {
                Some(one)
                    if one.owner != NO
                        && workloads
                            .get(one.owner as usize)
                            .is_some_and(|up| Some(up.kind) != cron) =>
                {
                    number = one.owner;
                }
                _ => break,
            }
        }
        number
    };
    for pod in &mut graph.pods {
        if pod.owner != NO {
            pod.root = top(pod.owner, &graph.workloads);
        }
    }
}
