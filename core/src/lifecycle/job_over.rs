//! When jobs were over, of whose pods no end was seen.
//!
//! A Job has failed or is complete once none of its pods runs any more. An operator of training
//! jobs says so at once and then deletes the pods that still run, where it is told to clean up:
//! the ones that it leaves had ended.

use std::collections::{HashMap, HashSet};

use whathappened_connectors::time::{Nanos, Stamp};

use crate::graph::{EntityGraph, NO, Task};

/// What is said of a job that is over.
const OVER: [&str; 3] = [
    "k8s.workload.backoff_limit",
    "k8s.workload.completed",
    "k8s.workload.failed",
];

/// Jobs of Kubeflow's training operator.
const OPERATED: [&str; 7] = [
    "JAXJob",
    "MPIJob",
    "MXJob",
    "PaddleJob",
    "PyTorchJob",
    "TFJob",
    "XGBoostJob",
];

/// When which jobs were over, and what was cleaned up after them.
pub(super) struct JobsOver {
    /// Times of a workload, in order.
    over: HashMap<u32, Vec<Stamp>>,
    /// Pods that the controllers of their workloads deleted.
    cleaned: HashSet<u32>,
    /// When the controllers of workloads last deleted a pod.
    cleaned_up: HashMap<u32, Stamp>,
}

impl JobsOver {
    pub(super) fn of(graph: &EntityGraph) -> Self {
        let mut found = Self {
            over: HashMap::new(),
            cleaned: HashSet::new(),
            cleaned_up: HashMap::new(),
        };
        // Facts are in time order.
        for fact in &graph.facts {
            let signal = graph.name(fact.signal);
            if fact.workload != NO && OVER.contains(&signal) && fact.time != Stamp::OPEN {
                found.over.entry(fact.workload).or_default().push(fact.time);
            }
            let cleaned = match signal {
                "k8s.workload.pod_deleted" => fact.other,
                "k8s.pod.deleted_by_controller" => fact.pod,
                _ => NO,
            };
            if let Some(pod) = graph.pods.get(cleaned as usize) {
                found.cleaned.insert(cleaned);
                found.cleaned_up.insert(pod.owner, fact.time);
            }
        }
        found
    }

    /// When the job of a pod had failed or was complete, and with it the pod had ended.
    pub(super) fn by(&self, graph: &EntityGraph, number: u32, pod: &Task) -> Option<Stamp> {
        let kind = graph.name(graph.workloads.get(pod.owner as usize)?.kind);
        // A job of the same name may have been over before.
        let begin = pod.known_begin().unwrap_or(Nanos::MIN);
        let times = self.over.get(&pod.owner)?;
        let over = times.iter().copied().find(|time| time.hi >= begin)?;
        let cleaned_up = || {
            let last = self.cleaned_up.get(&pod.owner);
            last.is_some_and(|last| last.hi >= over.lo) && !self.cleaned.contains(&number)
        };
        let ended = kind == "Job" || OPERATED.contains(&kind) && cleaned_up();
        ended.then_some(over)
    }
}
