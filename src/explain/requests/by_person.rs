//! What people asked for, and when: what befell a machine only after that did not make them ask.

use std::collections::HashMap;

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, Fact, TaskRow, WorkloadRow};
use whathappened_core::lifecycle::Mode;
use whathappened_model::table::AtRow as _;
use whathappened_model::time::{CLOCKS, SECOND, Stamp};

use super::is_request;

/// When a person asked for the end of which pod, and of which workload.
#[derive(Default)]
pub(in crate::explain) struct ByPerson {
    pods: HashMap<TaskRow, Vec<Stamp>>,
    workloads: HashMap<WorkloadRow, Vec<Stamp>>,
}

impl ByPerson {
    /// Takes notice of a fact.
    pub(super) fn note(&mut self, graph: &EntityGraph, fact: &Fact) {
        let signal = graph.name(fact.signal);
        if !signal.ends_with("_by_user") {
            return;
        }
        if let Some(pod) = fact.pod {
            if is_request(graph, signal) {
                self.pods.entry(pod).or_default().push(fact.time);
            }
        } else if let Some(workload) = fact.workload
            && signal.starts_with("k8s.workload.deleted")
        {
            self.workloads.entry(workload).or_default().push(fact.time);
        }
    }

    /// Whether a person had asked for a pod's end, or for that of what owns it, before something befell its machine.
    pub(in crate::explain) fn was_first(
        &self,
        graph: &EntityGraph,
        death: &Death,
        later: &Fact,
    ) -> bool {
        let exact = |stamp: &Stamp| stamp.width() <= SECOND;
        let before = |asked: &Stamp| {
            let of_this = death.time.hi.saturating_add(CLOCKS) >= asked.lo;
            exact(asked) && of_this && asked.hi.saturating_add(SECOND) <= later.time.lo
        };
        let pod = graph.pods.get(death.pod);
        let above = pod.into_iter().flat_map(|pod| [pod.owner, pod.root]);
        let of_workload = above.flat_map(|one| self.workloads.at(one).into_iter().flatten());
        let of_pod = self.pods.at(death.pod).into_iter().flatten();
        death.mode == Mode::Killed && exact(&later.time) && of_pod.chain(of_workload).any(before)
    }
}
