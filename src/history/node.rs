//! A machine's own history over all experiments.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_core::death::run_state;
use whathappened_core::graph::{NameTenure, NameTenures, Task, TaskKind, TaskRow};
use whathappened_core::resolve::{MachineMatch, Name, Run, place, rank_names};
use whathappened_model::time::{Nanos, Stamp, rfc3339};

use super::earlier_faults::reported;
use super::events::happened;
use super::past_faults::PastFaults;
use crate::answer::{
    GpuFaults, HostedIncident, HostedRun, Incident, IncidentRole, Machine, MachineTenure,
    NODE_SCHEMA, NodeHistory, PastFault, Victim,
};
use crate::case::Case;
use crate::error::{Error, unread};
use crate::fetch;
use crate::report::{befalls, coverage_rows, last_words, of_runs};

/// Runs of a recording that are explained, the newest.
const MOST_RUNS: usize = 200;

/// What is asked of a machine.
#[derive(Clone, Debug)]
pub struct NodeQuery {
    /// The name as typed.
    pub name: String,
    /// Only what happened at or after this time.
    pub since: Option<Nanos>,
    /// Only what happened before this time.
    pub until: Option<Nanos>,
}

impl NodeQuery {
    /// Whether something that lasted from one time to another is asked for.
    pub(super) fn wants(&self, from: Nanos, to: Nanos) -> bool {
        self.since.is_none_or(|since| to >= since) && self.until.is_none_or(|until| from < until)
    }
}

/// What ended the runs that were on a machine.
#[derive(Debug)]
pub enum Verdicts {
    /// They are found out: all that is known of the runs is in the case.
    Explain,
    /// They were explained before; the case has only what was on the machine.
    Stored(Vec<fetch::IncidentOfRun>),
}

/// The history of the machine that a name means.
///
/// # Errors
/// [`Error::UnknownName`] with the nearest names of machines, or a rule that fails.
pub async fn node(
    case: &Case,
    asked: &NodeQuery,
    past: PastFaults,
    verdicts: Verdicts,
) -> Result<NodeHistory, Error> {
    let name = Name::parse(&asked.name);
    let Some(place) = place(&case.graph, &name)? else {
        return Err(Error::UnknownName {
            name: asked.name.clone(),
            nearest: rank_names(&name.name, machines_of(case)),
            unread: unread(&case.coverage),
        });
    };
    let here = guests(case, &place, asked);
    let mut notes = Vec::new();
    let incidents: Vec<Incident> = match verdicts {
        Verdicts::Explain => {
            let chosen: Vec<usize> = here
                .iter()
                .rev()
                .map(|one| one.run)
                .take(MOST_RUNS)
                .collect();
            if chosen.len() < here.len() {
                notes.push(format!(
                    "only the last {MOST_RUNS} of {} runs are explained",
                    here.len()
                ));
            }
            of_runs(case, &chosen).await?
        }
        Verdicts::Stored(stored) => {
            let unexplained = here.iter().any(|one| {
                let id = case.runs.get(one.run).map(|run| run.id(&case.graph));
                one.ended_badly && !stored.iter().any(|stored| stored.incident.run_id == id)
            });
            if unexplained {
                notes.push(
                    "some runs here failed and were never explained: run `whathappened explain --since 30d` to explain them all"
                        .to_owned(),
                );
            }
            stored.into_iter().map(|one| one.incident).collect()
        }
    };
    let runs = here
        .iter()
        .filter_map(|one| hosted_run(case, &place, one, &incidents))
        .collect();
    Ok(NodeHistory {
        schema: NODE_SCHEMA,
        name: asked.name.clone(),
        matched_by: place.how.clone(),
        now: case.graph.now.map(rfc3339),
        from: asked.since.map(rfc3339),
        to: asked.until.map(rfc3339),
        ruleset: case.rules.version.clone(),
        machines: machines(case, &place, asked, &past),
        happened: happened(case, &place, asked)?,
        runs,
        coverage: coverage_rows(&case.coverage),
        notes,
    })
}

/// Names of machines that any record tells of.
fn machines_of(case: &Case) -> Vec<String> {
    let graph = &case.graph;
    let of_pods = graph.pods.iter().flat_map(Task::machines);
    let of_facts = graph.facts.iter().map(|fact| fact.node);
    let names: BTreeSet<&str> = of_pods
        .chain(of_facts)
        .map(|node| graph.name(node))
        .collect();
    let names = names.into_iter().filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// A run that was on the machine, and its pods there.
struct HostedPods {
    run: usize,
    pods: Vec<TaskRow>,
    from: Nanos,
    to: Nanos,
    ended_badly: bool,
}

/// In order of when they came.
fn guests(case: &Case, place: &MachineMatch, asked: &NodeQuery) -> Vec<HostedPods> {
    let graph = &case.graph;
    let mut found = Vec::new();
    for (number, run) in case.runs.iter().enumerate() {
        let mut here = HostedPods {
            run: number,
            pods: Vec::new(),
            from: Nanos::MAX,
            to: Nanos::MIN,
            ended_badly: false,
        };
        for pod in &run.pods {
            let Some(one) = graph.pods.get(*pod) else {
                continue;
            };
            let (from, to) = stay(case, *pod, one);
            if place.holds_member(graph, one) && asked.wants(from, to) {
                let end = case.ends.get(*pod);
                here.ended_badly |= end.is_some_and(|end| end.state.is_bad());
                here.pods.push(*pod);
                here.from = here.from.min(from);
                here.to = here.to.max(to);
            }
        }
        if !here.pods.is_empty() {
            found.push(here);
        }
    }
    found.sort_by_key(|here| (here.from, here.to, here.run));
    found
}

/// From when to when a pod was there; until it died where its object stayed.
fn stay(case: &Case, number: TaskRow, pod: &Task) -> (Nanos, Nanos) {
    let (from, to) = pod.stay();
    let end = case.ends.get(number);
    let ended = end.and_then(whathappened_core::lifecycle::End::final_time);
    let running = end.is_none_or(|end| !end.state.is_bad()) && ended.is_none();
    let to = match ended.filter(|end| end.hi != Nanos::MAX) {
        Some(end) => end.hi,
        None if running && pod.kind != TaskKind::Instance => Nanos::MAX,
        None => to,
    };
    (from, to)
}

fn hosted_run(
    case: &Case,
    place: &MachineMatch,
    here: &HostedPods,
    incidents: &[Incident],
) -> Option<HostedRun> {
    let run: &Run = case.runs.get(here.run)?;
    let graph = &case.graph;
    let (_, kind, namespace, name) = run.names(graph);
    let id = run.id(graph);
    let own = here.pods.iter();
    let words = last_words(case, &[here.run]);
    let died: Vec<Victim> = own.filter_map(|pod| words.get(pod).cloned()).collect();
    // What ended the run goes before what it survived.
    let of_run = incidents
        .iter()
        .filter(|one| one.run_id.as_deref() == Some(id.as_str()));
    let main = of_run.min_by_key(|one| {
        let survived = !matches!(one.role, IncidentRole::Main | IncidentRole::Also);
        (
            survived,
            one.role != IncidentRole::Main,
            std::cmp::Reverse(one.attempt),
        )
    });
    let known = |at: Nanos| Some(at).filter(|at| *at != Nanos::MIN && *at != Nanos::MAX);
    Some(HostedRun {
        id,
        kind: kind.to_owned(),
        name: name.to_owned(),
        namespace: Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty()),
        experiment: run.experiment(graph).0,
        from: known(here.from).map(rfc3339),
        to: known(here.to).map(rfc3339),
        state: run_state(graph, run, &case.ends),
        pods: here.pods.len(),
        died,
        incident: main.map(|one| {
            let is = |own: Vec<&str>, named: &Option<String>| {
                let named = named.as_deref();
                named.is_some_and(|named| own.iter().any(|one| one.eq_ignore_ascii_case(named)))
            };
            let is_this = |machine: &&Machine| {
                is(place.nodes(graph), &machine.node)
                    || is(place.instances(graph), &machine.instance)
            };
            let this: Vec<&Machine> = one.machines.iter().filter(is_this).collect();
            // That a machine failed is its own doing, whoever took its pods away.
            let failed = ["hw.", "node."]
                .iter()
                .any(|stem| one.cause.starts_with(stem));
            let of_this_machine = this.iter().any(|machine| machine.at_fault)
                || failed && !this.is_empty() && befalls(&one.cause);
            HostedIncident {
                cause: one.cause.clone(),
                level: one.level,
                title: one.title.clone(),
                time: one.time.clone(),
                of_this_machine,
                by_this_machine: of_this_machine || (!this.is_empty() && befalls(&one.cause)),
            }
        }),
    })
}

/// The machines that bore the name, and what failed on each.
fn machines(
    case: &Case,
    place: &MachineMatch,
    asked: &NodeQuery,
    past: &PastFaults,
) -> Vec<MachineTenure> {
    let graph = &case.graph;
    let name_tenures = NameTenures::of(graph);
    let (nodes, ids) = (place.nodes(graph), place.instances(graph));
    let mut names: Vec<String> = nodes.iter().map(|name| (*name).to_owned()).collect();
    if names.is_empty() {
        names.push(String::new());
    }
    let mut found: Vec<MachineTenure> = Vec::new();
    for name in &names {
        let node = Some(name.clone()).filter(|name| !name.is_empty());
        // One instance may be told of by several records.
        let mut known: BTreeMap<&str, (Nanos, Nanos)> = BTreeMap::new();
        for NameTenure { id, from, to } in name_tenures.of_name(name) {
            let span = known.entry(id.as_str()).or_insert((*from, *to));
            *span = (span.0.max(*from), span.1.min(*to));
        }
        for id in &ids {
            if !known.keys().any(|one| one.eq_ignore_ascii_case(id)) {
                known.insert(id, (Nanos::MIN, Nanos::MAX));
            }
        }
        let mut spans: Vec<(Option<&str>, (Nanos, Nanos))> = known
            .into_iter()
            .map(|(id, span)| (Some(id), span))
            .collect();
        let none_known = spans.is_empty();
        spans.push((None, (Nanos::MIN, Nanos::MAX)));
        for (id, (from, to)) in spans {
            let machine = Machine {
                node: node.clone(),
                instance: id.map(str::to_owned),
                ..Machine::default()
            };
            let faults = faults(past, &machine, asked);
            // What no instance is known to have borne is told where something happened to it.
            if id.is_none() && !none_known && faults.is_empty() {
                continue;
            }
            found.push(bore(id, (from, to), faults));
        }
    }
    found.sort_by(|a, b| (&a.from, &a.to, &a.instance).cmp(&(&b.from, &b.to, &b.instance)));
    found
}

fn faults(past: &PastFaults, machine: &Machine, asked: &NodeQuery) -> Vec<PastFault> {
    let episodes = past.episodes(machine, None);
    episodes
        .iter()
        .filter(|one| asked.wants(one.first, one.last))
        .map(|one| reported(one, None))
        .collect()
}

fn bore(id: Option<&str>, (from, to): (Nanos, Nanos), faults: Vec<PastFault>) -> MachineTenure {
    let mut by_cause: BTreeMap<String, usize> = BTreeMap::new();
    let mut by_gpu: Vec<GpuFaults> = Vec::new();
    for fault in &faults {
        *by_cause.entry(fault.cause.clone()).or_default() += 1;
        let Some(gpu) = &fault.gpu else { continue };
        match by_gpu.iter_mut().find(|known| known.gpu.is(gpu)) {
            Some(known) => known.count += 1,
            None => by_gpu.push(GpuFaults {
                gpu: gpu.clone(),
                count: 1,
            }),
        }
    }
    by_gpu.sort_by(|a, b| (b.count, &a.gpu).cmp(&(a.count, &b.gpu)));
    MachineTenure {
        instance: id.map(str::to_owned),
        from: (from != Nanos::MIN).then(|| rfc3339(from)),
        to: (to != Nanos::MAX).then(|| rfc3339(to)),
        faults,
        by_cause,
        by_gpu,
    }
}

/// Whether a stamp lies in what is asked.
pub(super) fn is_asked(asked: &NodeQuery, time: Stamp, end: Option<Stamp>) -> bool {
    asked.wants(time.lo, end.map_or(time.lo, |end| end.lo.max(time.lo)))
}
