//! What people asked for, or a limit, a queue or a kubelet for a reason of its own, and when: what befell a machine only after that did
//! not make them ask.

use std::collections::HashMap;

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, Fact, TaskRow, WorkloadRow};
use whathappened_core::lifecycle::Mode;
use whathappened_core::signals::named;
use whathappened_model::table::AtRow as _;
use whathappened_model::time::{CLOCKS, SECOND, Stamp};

use super::is_request;

/// Why pods are ended, whatever machine they are on.
const OF_PODS: [&str; 2] = [named::K8S_POD_EVICTED_PRESSURE, named::K8S_POD_PREEMPTED];

/// The same of workloads.
const OF_WORKLOADS: [&str; 4] = [
    named::K8S_WORKLOAD_DEADLINE,
    "kueue.preempt",
    "k8s.workload.suspen",
    "kueue.evicted.stop",
];

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
        let by_user = signal.ends_with("_by_user");
        if let Some(pod) = fact.pod {
            if by_user && is_request(graph, signal) || OF_PODS.contains(&signal) {
                self.pods.entry(pod).or_default().push(fact.time);
            }
        } else if let Some(workload) = fact.workload
            && (by_user && signal.starts_with("k8s.workload.deleted_by_")
                || OF_WORKLOADS.iter().any(|one| signal.starts_with(one)))
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
