//! The rank of a pod in its gang, as launchers write it.

use whathappened_connectors::object::ObjectBody;

/// Labels and annotations that carry a rank, the most exact first.
const KEYS: [&str; 6] = [
    "batch.kubernetes.io/job-completion-index",
    "training.kubeflow.org/replica-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    "jobset.sigs.k8s.io/job-global-index",
    "volcano.sh/task-index",
    "apps.kubernetes.io/pod-index",
];

/// The rank that the launcher wrote on the pod.
pub(super) fn of(body: &ObjectBody) -> Option<i32> {
    KEYS.iter().find_map(|key| {
        body.labels
            .get(*key)
            .or_else(|| body.annotations.get(*key))?
            .parse()
            .ok()
    })
}
