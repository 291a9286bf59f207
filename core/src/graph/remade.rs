//! Jobs that were made anew under their name, where no uid tells them apart: a Job that is over
//! makes no pod any more, so what a pod began after is told of the one before it.

use crate::graph::WorkloadRow;
use crate::signals::named;
use std::collections::{BTreeMap, HashMap};

use whathappened_model::time::{CLOCKS, Nanos, Stamp};

use super::identity::are_ages;
use super::{EntityGraph, Workload};
use crate::symbols::Symbol;

/// What is said of a Job that is over.
const OVER: [&str; 4] = [
    named::K8S_WORKLOAD_BACKOFF_LIMIT,
    named::K8S_WORKLOAD_COMPLETED,
    named::K8S_WORKLOAD_DEADLINE,
    named::K8S_WORKLOAD_FAILED,
];

/// Gives what is told of an earlier Job, and its pods, to a Job of their own.
pub(super) fn split(graph: &mut EntityGraph) {
    let mut found = made_anew(graph);
    // One that is split off may have to be split again.
    while let Some((job, (over, begin))) = found.pop_first() {
        split_off(graph, job, over, begin);
        if found.is_empty() {
            found = made_anew(graph);
        }
    }
}

/// The Jobs of which pods began when they were over: when that was last, and when the first
/// pod began after it.
fn made_anew(graph: &EntityGraph) -> BTreeMap<WorkloadRow, (Nanos, Nanos)> {
    let Some(kind) = graph.evidence.symbols.find("Job") else {
        return BTreeMap::new();
    };
    let mut begins: HashMap<WorkloadRow, Vec<Stamp>> = HashMap::new();
    for pod in &graph.pods {
        if let (Some(owner), Some(begin)) = (pod.owner, pod.known_begin()) {
            let made = pod.created.filter(|made| made.lo == begin);
            let made = made.unwrap_or(Stamp {
                lo: begin,
                hi: begin,
            });
            begins.entry(owner).or_default().push(made);
        }
    }
    let mut found = BTreeMap::new();
    for fact in &graph.facts {
        let Some((number, job)) = fact.workload.zip(graph.workloads.get(fact.workload)) else {
            continue;
        };
        if job.kind != kind || fact.time == Stamp::OPEN || !OVER.contains(&graph.name(fact.signal))
        {
            continue;
        }
        // An object that says later that it runs is none that was over: what printed both printed ages from one
        // moment, however little is known of when that was.
        let runs = job.says_it_runs_after(fact.time.lo);
        let begins = begins.get(&number).into_iter().flatten();
        let began_after = |begin: &Stamp| {
            let in_order = runs || are_ages(fact.time, *begin);
            let over = if in_order { fact.time.lo } else { fact.time.hi };
            (begin.lo > over.saturating_add(CLOCKS)).then_some((over, begin.lo))
        };
        if let Some((over, begin)) = begins
            .filter_map(began_after)
            .min_by_key(|(_, begin)| *begin)
        {
            let last = found.entry(number).or_insert((over, begin));
            *last = (over, begin).max(*last);
        }
    }
    found
}

/// The owner of a Job that was over then: one that was made only later was made anew under its name as well.
fn owner_then(
    graph: &mut EntityGraph,
    owner: Option<WorkloadRow>,
    over: Nanos,
) -> Option<WorkloadRow> {
    let Some(above) = graph.workloads.get(owner) else {
        return owner;
    };
    if above.created.is_none_or(|made| made.lo <= over) {
        return owner;
    }
    let (kind, namespace, name) = (above.kind, above.namespace, above.name);
    let bore_it = |(at, one): &(WorkloadRow, &Workload)| {
        Some(*at) != owner
            && (one.kind, one.namespace, one.name) == (kind, namespace, name)
            && one.created.is_none_or(|made| made.lo <= over)
    };
    let made = |(at, one): &(WorkloadRow, &Workload)| (one.created.map(|made| made.lo), *at);
    if let Some((at, _)) = graph.workloads.numbered().filter(bore_it).max_by_key(made) {
        return Some(at);
    }
    let mut predecessor = Workload::new(kind, Symbol::NONE, namespace, name);
    predecessor.owner = above.owner;
    Some(graph.workloads.push(predecessor))
}

fn split_off(graph: &mut EntityGraph, job: WorkloadRow, over: Nanos, begin: Nanos) {
    let Some(later) = graph.workloads.get_mut(job) else {
        return;
    };
    let mut before = Workload::new(later.kind, Symbol::NONE, later.namespace, later.name);
    let above = later.owner;
    if later.created.is_some_and(|made| made.lo <= over) {
        before.created = later.created.replace(Stamp {
            lo: over,
            hi: begin,
        });
    }
    let earlier = graph.workloads.push(before);
    let owner = owner_then(graph, above, over);
    if let Some(before) = graph.workloads.get_mut(earlier) {
        before.owner = owner;
    }
    for pod in graph.pods.iter_mut().filter(|pod| pod.owner == Some(job)) {
        if pod.begin().is_some_and(|begun| begun <= over) {
            pod.owner = Some(earlier);
        }
    }
    for fact in graph
        .facts
        .iter_mut()
        .filter(|fact| fact.workload == Some(job))
    {
        if fact.time.lo <= over {
            fact.workload = Some(earlier);
        }
    }
}
