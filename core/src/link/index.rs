//! Facts by the entities they are about.

use std::collections::HashMap;

use crate::graph::{EntityGraph, TaskKind, TaskRow, WorkloadRow};
use crate::symbols::Symbol;

/// Numbers of facts, in time order.
pub(super) struct Index {
    pub(super) pod: HashMap<TaskRow, Vec<usize>>,
    /// By the other pod that a record names.
    pub(super) named: HashMap<TaskRow, Vec<usize>>,
    /// By the machine's name.
    pub(super) node: HashMap<Symbol, Vec<usize>>,
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
}

pub(super) fn index(graph: &EntityGraph) -> Index {
    let mut index = Index {
        pod: HashMap::new(),
        named: HashMap::new(),
        node: HashMap::new(),
        instance: HashMap::new(),
        workload: HashMap::new(),
        namespace: HashMap::new(),
        cluster: Vec::new(),
        places: Vec::new(),
        pools: Vec::new(),
        queues: Vec::new(),
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
