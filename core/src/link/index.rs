//! Facts by the entities they are about.

use std::collections::HashMap;

use whathappened_model::time::Nanos;

use crate::graph::{EntityGraph, TaskKind, TaskRow, WorkloadRow};
use crate::symbols::Symbol;

/// Numbers of facts, in time order.
pub(super) struct Index {
    pub(super) pod: HashMap<TaskRow, Vec<usize>>,
    /// By the other pod that a record names.
    pub(super) named: HashMap<TaskRow, Vec<usize>>,
    /// By the machine's name.
    pub(super) node: HashMap<Symbol, Vec<usize>>,
    /// When objects were made that bear the name of a node, each another one.
    pub(super) born: HashMap<Symbol, Vec<Nanos>>,
    /// By the cloud's id of the machine.
    pub(super) instance: HashMap<Symbol, Vec<usize>>,
    pub(super) workload: HashMap<WorkloadRow, Vec<usize>>,
    /// By the namespace's name.
    pub(super) namespace: HashMap<Symbol, Vec<usize>>,
    pub(super) cluster: Vec<usize>,
    /// About regions and zones, and no machine in particular.
    pub(super) places: Vec<usize>,
    /// About node pools and groups, and no machine in particular.
    pub(super) pools: Vec<usize>,
    /// About queues.
    pub(super) queues: Vec<usize>,
    /// About Services.
    pub(super) services: Vec<usize>,
}

pub(super) fn index(graph: &EntityGraph) -> Index {
    let mut index = Index {
        pod: HashMap::new(),
        named: HashMap::new(),
        node: HashMap::new(),
        born: born(graph),
        instance: HashMap::new(),
        workload: HashMap::new(),
        namespace: HashMap::new(),
        cluster: Vec::new(),
        places: Vec::new(),
        pools: Vec::new(),
        queues: Vec::new(),
        services: Vec::new(),
    };
    for (number, fact) in graph.facts.iter().enumerate() {
        if let Some(other) = fact.other {
            index.named.entry(other).or_default().push(number);
        }
        let member = graph.pods.get(fact.pod);
        let own = member.is_some_and(|one| one.kind != TaskKind::Instance);
        if let Some(pod) = fact.pod {
            index.pod.entry(pod).or_default().push(number);
        }
        if own {
            continue;
        }
        let signal = graph.name(fact.signal);
        if !fact.instance.is_some() && !fact.node.is_some() {
            if fact.places.is_some() {
                index.places.push(number);
            }
            if fact.pool.is_some() {
                index.pools.push(number);
            }
        }
        // What keeps a group from growing keeps every pod waiting that needs it.
        if signal.starts_with("autoscaler.scale_up.") && fact.pod.is_some() {
            index.cluster.push(number);
        }
        if signal.starts_with("kueue.queue_") {
            index.queues.push(number);
        }
        if signal.starts_with("k8s.service.") {
            index.services.push(number);
        }
        if fact.instance.is_some() {
            index
                .instance
                .entry(fact.instance)
                .or_default()
                .push(number);
        }
        if let Some(workload) = fact.workload {
            index.workload.entry(workload).or_default().push(number);
        } else if signal.starts_with("k8s.namespace.") {
            let name = graph.evidence.rows().get(fact.row);
            let name = name.map_or(Symbol::NONE, |row| row.workload);
            index.namespace.entry(name).or_default().push(number);
        } else if fact.node.is_some() {
            index.node.entry(fact.node).or_default().push(number);
        } else if signal.starts_with("autoscaler.") {
            index.cluster.push(number);
        }
    }
    index
}

/// A node is an object: one that bears its name later is another, of which nothing had been told.
fn born(graph: &EntityGraph) -> HashMap<Symbol, Vec<Nanos>> {
    let mut found: HashMap<Symbol, Vec<Nanos>> = HashMap::new();
    let objects = graph.evidence.objects.iter();
    for (key, versions) in objects.filter(|(key, _)| key.kind == "Node" && !key.uid.is_empty()) {
        let made = versions.iter().find_map(|version| version.body.created);
        if let Some((node, made)) = graph.evidence.symbols.find(&key.name).zip(made) {
            found.entry(node).or_default().push(made.lo);
        }
    }
    found
}
