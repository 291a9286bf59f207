//! What a pod was made to be, where it or its maker was seen.

use std::collections::BTreeMap;

use whathappened_model::object::ObjectBody;

use super::{EntityGraph, Task};
use crate::graph::WorkloadRow;

/// Kinds whose pods are all made alike.
const ALIKE: [&str; 5] = [
    "DaemonSet",
    "Deployment",
    "Job",
    "ReplicaSet",
    "StatefulSet",
];

impl EntityGraph {
    /// The pod's own object, else that of its maker, which has what it was made to be.
    #[must_use]
    pub fn template<'a>(&'a self, pod: &'a Task) -> Option<&'a ObjectBody> {
        let of_maker = |number: Option<WorkloadRow>| {
            let maker = self.workloads.get(number)?;
            let body = maker.body.as_deref()?;
            let alike = ALIKE.contains(&self.name(maker.kind)) && !body.containers.is_empty();
            alike.then_some(body)
        };
        let body = pod.body.as_deref();
        body.or_else(|| of_maker(pod.owner))
            .or_else(|| of_maker(pod.root))
    }

    /// GPUs that a pod asked for, of any vendor; `None` where neither it nor its maker was seen.
    #[must_use]
    pub fn gpus(&self, pod: &Task) -> Option<f64> {
        self.template(pod).map(gpus)
    }
}

fn gpus(body: &ObjectBody) -> f64 {
    let of = |resources: &BTreeMap<String, String>| -> f64 {
        resources
            .iter()
            .filter(|(name, _)| name.ends_with("/gpu") || name.contains("nvidia.com/mig-"))
            .filter_map(|(_, amount)| amount.parse::<f64>().ok())
            .fold(0.0, |sum, gpus| sum + gpus)
    };
    body.containers
        .iter()
        .map(|container| of(&container.limits).max(of(&container.requests)))
        // A sum of nothing is -0.
        .fold(0.0, |sum, gpus| sum + gpus)
}
