//! Who shared a machine's GPUs: of a GPU that failed under several runs, no machine says whose it was.

use std::collections::HashMap;

use whathappened_core::graph::{EntityGraph, Fact, Root, TaskKind, TaskRow};
use whathappened_core::symbols::Symbol;
use whathappened_model::time::Nanos;

/// A task with GPUs, while it was on a machine.
struct Tenant {
    pod: TaskRow,
    /// What made it, and with it all of its run.
    root: Root,
    from: Nanos,
    to: Nanos,
}

/// Tasks with GPUs by the machine that they were on.
pub(super) struct Tenants(HashMap<Symbol, Vec<Tenant>>);

impl Tenants {
    pub(super) fn of(graph: &EntityGraph) -> Self {
        let mut found: HashMap<Symbol, Vec<Tenant>> = HashMap::new();
        for (pod, task) in graph.pods.numbered() {
            let has_gpus = match task.kind {
                TaskKind::Pod => graph.gpus(task).is_some_and(|gpus| gpus > 0.0),
                // What a batch job was given of a machine is seldom on record.
                TaskKind::Job => true,
                TaskKind::Instance | TaskKind::Log => false,
            };
            if !has_gpus {
                continue;
            }
            let (from, _) = task.stay();
            // One that nobody saw the end of is still there.
            let to = task.gone.or(task.ended).map_or(Nanos::MAX, |end| end.hi);
            for node in task.machines() {
                let root = root(graph, pod);
                let tenant = Tenant {
                    pod,
                    root,
                    from,
                    to,
                };
                found.entry(node).or_default().push(tenant);
            }
        }
        Self(found)
    }

    /// Whether a task of another run had GPUs of the machine when one of them failed.
    pub(super) fn are_several(
        &self,
        graph: &EntityGraph,
        pod: Option<TaskRow>,
        fault: &Fact,
    ) -> bool {
        let own = pod.map(|pod| root(graph, pod));
        let was_there = |one: &&Tenant| one.from <= fault.time.hi && fault.time.lo <= one.to;
        self.0
            .get(&fault.node)
            .into_iter()
            .flatten()
            .filter(was_there)
            .any(|one| Some(one.pod) != pod && Some(one.root) != own)
    }
}

fn root(graph: &EntityGraph, pod: TaskRow) -> Root {
    let owner = graph.pods.get(pod).and_then(|task| task.owner);
    let top = graph.owners(owner).last();
    top.map_or(Root::Pod(pod), |(top, _)| Root::Workload(top))
}
