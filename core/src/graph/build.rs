//! From evidence to the graph, in five steps: versions, differences, pods by
//! uid, pods by name, facts. Each step only uses what the ones before settled,
//! so the order of the input cannot show.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use whathappened_model::event::Event;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{Nanos, SECOND};

use super::identity::{Pods, Workloads};
use super::node_claim::NodeClaims;
use super::root::Tops;
use super::slurm_machine::SlurmMachines;
use super::{
    EntityGraph, NodeInstances, TaskKind, Topology, announcements, asked_again, boots, call,
    clocks, clusters, collection, collectives, compared, control_plane, deletion, device_shortage,
    dry_run, gave_up, gpu_repeats, instance, job, job_logs, kill_command, killed_process,
    last_line, learn, lone_log, meant_ends, mismatch, never_ran, new_facts, node_folder,
    node_instance, not_carried_out, order, pace, parent, peers, pod_log, progress, remade,
    reported_ends, restart_loop, rows, scheduling, short_name, slurm_zone, stray_log, succeeded,
    tagged, together, tracked, undated, unit, version_diff, versions, vm_log, witness,
    workload_names, zones,
};
use crate::evidence::{Evidence, EvidenceRow, Row, SpillError};
use crate::signals::Ruleset;
use crate::symbols::{Symbol, SymbolTable};

/// `known`: until when the rest was heard of, where the evidence is a part of what is known.
pub(super) fn build(
    mut evidence: Evidence,
    ruleset: &Ruleset,
    known: Option<Nanos>,
) -> Result<EntityGraph, SpillError> {
    evidence.objects.settle();
    let derived = version_diff::facts(&evidence.objects)
        .into_iter()
        .chain(device_shortage::facts(&evidence.objects))
        .chain(collectives::facts(evidence.traces()));
    for mut event in derived.collect::<Vec<Event>>() {
        ruleset.classify(&mut event);
        evidence.add(&event)?;
    }
    evidence.settle()?;

    let mut symbols = std::mem::take(&mut evidence.symbols);
    let (mut pods, mut workloads) = (Pods::default(), Workloads::default());
    pods.traits = Arc::clone(ruleset.traits());
    let of_slurm = slurm_zone::settle(&mut evidence, &symbols)?;
    versions::learn(&evidence.objects, &mut symbols, &mut pods, &mut workloads);
    workload_names::in_time_order(&evidence, &mut symbols, &mut workloads)?;
    let zones = zones::settle(&mut evidence, &symbols, &pods, of_slurm)?;
    let mut pod_of_row = rows::pods(&evidence, &symbols, &mut pods);
    let years = undated::Years::of(&evidence)?;

    let with_signals = evidence.rows().iter().filter(|row| row.has_signal).count();
    let mut facts = Vec::with_capacity(with_signals);
    let mut logs = job_logs::of_outputs(&evidence, &mut symbols, &mut pods, &mut workloads);
    let mut gpus = witness::Gpus::default();
    let (mut failed, mut failed_rows) = (HashSet::new(), HashSet::new());
    let mut zoneless = HashSet::new();
    let (mut collections, mut reported) = (Vec::new(), Vec::new());
    let claims = NodeClaims::of(&evidence.objects);
    let evicted = dry_run::evicted(&evidence, &pod_of_row, &symbols)?;
    let undone = dry_run::refuted(&evidence, &pod_of_row, &symbols)?;
    for number in evidence.rows().numbers() {
        if evidence
            .rows()
            .get(number)
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
        let mut pod = pod_of_row.get(number).copied().flatten();
        if pod.is_none()
            && let Some(one) = instance::of_event(&event, &mut symbols, &mut pods)
                .or_else(|| job::of_event(&event, &mut symbols, &mut pods, &mut workloads))
        {
            pod = Some(one);
            if let Some(slot) = pod_of_row.get_mut(number) {
                *slot = pod;
            }
            if let Some(task) = pods.all.get_mut(one) {
                task.see(row.time.lo, row.last());
                if task.kind == TaskKind::Job && event.fact == "log.line" {
                    logs.names(&symbols, row.file(), one);
                }
            }
        }
        if event.attribute("outcome") == Some("failed") {
            failed_rows.insert(number);
            failed.extend(event.attribute("event_id").map(|id| symbols.number(id)));
        }
        // Asked for in a dry run, which a log of metadata does not say.
        let was_evicted = event.fact == "k8s.audit.evict" && evicted.has(pod);
        let is_undone = undone.contains(&number) || dry_run::is_undone(&event, pods.all.get(pod));
        if !was_evicted && is_undone {
            failed_rows.insert(number);
            continue;
        }
        learn::event(&event, pod, &mut symbols, &mut pods, &mut workloads);
        clusters::note(&event, &mut symbols, pods.all.get_mut(pod));
        collections.extend(collection::of(&event, number, &mut symbols));
        progress::note(&event, number, pods.all.get_mut(pod));
        if reported_ends::is_reported(&event) {
            reported.push((number, pod));
        }
        gpus.note(number, &event);
        let task = pods.all.get(pod);
        if task.is_some_and(|task| learn::is_sidecars_stop(&event, task)) {
            event.signals.clear();
        }
        if !event.signals.is_empty() {
            new_facts::of_event(
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
    stray_log::adopt(&mut lines)?;
    tagged::adopt(&mut lines)?;
    lone_log::adopt(&mut lines)?;
    tracked::adopt(&mut tracked::Records {
        evidence: &evidence,
        symbols: &mut symbols,
        pods: &mut pods,
        workloads: &mut workloads,
        pod_of_row: &mut pod_of_row,
        facts: &mut facts,
    })?;
    job::name_users(&pods.jobs.users, &mut facts, &mut symbols);
    last_line::note(&evidence, &symbols, &pod_of_row, &mut pods.all);
    tagged::note(&evidence, &pod_of_row, &mut pods.all);
    job::unite_parts(&mut symbols, &mut workloads);
    pods.inherit();
    parent::adopt(&mut symbols, &mut pods, &mut workloads);
    together::own_namesakes(&mut symbols, &mut pods, &mut workloads, &facts);
    tagged::own(&mut symbols, &mut pods, &mut workloads);
    collection::spread(
        &collections,
        &symbols,
        &mut pods.all,
        &workloads,
        &mut facts,
    );
    let logs = progress::Logs {
        evidence: &evidence,
        pods: &pods.all,
        workloads: &workloads.all,
        pod_of_row: &pod_of_row,
        zoneless: &zoneless,
    };
    facts.extend(logs.stalled(&mut symbols));
    facts.extend(pace::slowed(&evidence, &pods.all, &mut symbols));
    evidence.symbols = symbols;
    node_folder::rename(&evidence, &pods.all, &mut facts);
    node_folder::claim(&evidence, &pods.all, &mut facts);
    let slurm_machines = SlurmMachines::of(&evidence)?;
    slurm_machines.rename(&evidence.symbols, &pods.all, &mut facts);
    short_name::join(&evidence.symbols, &pods.all, &mut facts);
    let traits = ruleset.traits();
    unit::claim(&evidence, &mut pods.all, &mut facts, &pod_of_row, traits)?;
    learn::heard(&mut pods.all);
    reported_ends::forget(&reported, &pods.all, &mut facts);
    gave_up::note(&pods.all, &workloads, &mut evidence.symbols, &mut facts);
    never_ran::forget_ends(&mut pods.all, &evidence, &mut facts)?;
    meant_ends::forget(&evidence.symbols, &mut pods.all);
    witness::fold(&mut evidence, &mut facts, &gpus);
    let now = now(&evidence, &zoneless).max(known);
    scheduling::settle(&pods.all, now, &mut evidence, &mut facts);
    device_shortage::add_to_waiting(&pods.all, &mut evidence, &mut facts)?;
    control_plane::settle(&pods.all, &workloads, &mut evidence, &mut facts)?;
    // What an operation set out to do did not happen where it failed in the end.
    instance::settle(&mut pods.all, &failed, &evidence.symbols);
    call::set_onsets(&mut facts, &evidence.symbols);
    facts.retain(|fact| failed_rows.contains(&fact.row) || !failed.contains(&fact.operation));

    let mut graph = EntityGraph {
        evidence,
        pods: pods.all,
        workloads: workloads.all,
        facts,
        pod_of_row,
        node_instances: NodeInstances::new(),
        topology: Topology::default(),
        last_signals: HashMap::new(),
        elsewhere: Vec::new(),
        traits: Arc::clone(ruleset.traits()),
        zones,
        now,
    };
    clocks::settle(&mut graph);
    succeeded::note(&mut graph);
    remade::split(&mut graph);
    set_roots(&mut graph);
    restart_loop::note(&mut graph)?;
    peers::note(&mut graph);
    compared::note(&mut graph)?;
    gpu_repeats::mark(&mut graph, &gpus);
    mismatch::note(&mut graph)?;
    kill_command::set_apart(&mut graph)?;
    not_carried_out::forget(&mut graph)?;
    killed_process::note(&mut graph)?;
    boots::set_apart_from_lives(&mut graph);
    order::put_in_order(&mut graph);
    asked_again::mark(&mut graph);
    deletion::note(&mut graph);
    boots::set_onsets(&mut graph);
    graph.node_instances = node_instance::join(&graph, &slurm_machines);
    put_on_nodes(&mut graph);
    announcements::settle(&mut graph)?;
    together::settle(&mut graph);
    graph.topology = Topology::of(&graph);
    Ok(graph)
}

/// The end of what is known. What a machine wrote in a zone that it does not name (`dmesg -T`) may be hours
/// older than it looks, and counts only where nothing else does.
fn now(evidence: &Evidence, zoneless: &HashSet<EvidenceRow>) -> Option<Nanos> {
    let dated = || {
        let rows = evidence.rows().numbered();
        rows.filter(|(_, row)| row.time.hi != Nanos::MAX)
    };
    let known = dated().filter(|(number, row)| !row.is_ahead && !zoneless.contains(number));
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

/// Events and log lines without a meaning teach nothing here.
fn is_silent(row: &Row, symbols: &SymbolTable) -> bool {
    !row.has_signal && matches!(symbols.name(row.fact), "k8s.event" | "log.line")
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
            one.owner = None;
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
    let tops = Tops::of(&graph.workloads, &graph.evidence.symbols);
    for pod in &mut graph.pods {
        pod.root = tops.top(pod);
    }
}
