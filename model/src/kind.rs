//! Kinds: one word for each, whatever API group or plural a record used.

/// Resource plurals of audit records and the kinds they stand for, where
/// taking the `s` away and a capital does not do.
const PLURALS: &[(&str, &str)] = &[
    ("clusterqueues", "ClusterQueue"),
    ("cronjobs", "CronJob"),
    ("daemonsets", "DaemonSet"),
    ("jaxjobs", "JAXJob"),
    ("jobsets", "JobSet"),
    ("leaderworkersets", "LeaderWorkerSet"),
    ("localqueues", "LocalQueue"),
    ("mpijobs", "MPIJob"),
    ("nodeclaims", "NodeClaim"),
    ("nodepools", "NodePool"),
    ("paddlejobs", "PaddleJob"),
    ("persistentvolumeclaims", "PersistentVolumeClaim"),
    ("persistentvolumes", "PersistentVolume"),
    ("podgroups", "PodGroup"),
    ("pytorchjobs", "PyTorchJob"),
    ("rayclusters", "RayCluster"),
    ("rayjobs", "RayJob"),
    ("replicasets", "ReplicaSet"),
    ("replicationcontrollers", "ReplicationController"),
    ("resourcequotas", "ResourceQuota"),
    ("statefulsets", "StatefulSet"),
    ("tfjobs", "TFJob"),
    ("trainjobs", "TrainJob"),
    ("xgboostjobs", "XGBoostJob"),
];

/// Kinds whose objects make pods, directly or through others.
const WORKLOADS: &[&str] = &[
    "CronJob",
    "DaemonSet",
    "Deployment",
    "JAXJob",
    "Job",
    "JobSet",
    "LeaderWorkerSet",
    "MPIJob",
    "PaddleJob",
    "PyTorchJob",
    "RayCluster",
    "RayJob",
    "RayService",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
    "TFJob",
    "TrainJob",
    "VolcanoJob",
    "Workflow",
    "Workload",
    "XGBoostJob",
];

/// The kind of an object, told apart from others of the same word.
#[must_use]
pub fn normal_kind(kind: &str, api_version: &str) -> String {
    match kind {
        // `VJob` is what some call it to tell the two apart.
        "Job" | "VJob" if api_version.contains("volcano.sh") => "VolcanoJob".to_owned(),
        _ => kind.to_owned(),
    }
}

/// The kind that an audit record's resource plural stands for.
pub fn of_resource(resource: &str, group: &str) -> String {
    if resource == "jobs" && group.contains("volcano.sh") {
        return "VolcanoJob".to_owned();
    }
    if let Some((_, kind)) = PLURALS.iter().find(|(plural, _)| *plural == resource) {
        return (*kind).to_owned();
    }
    let singular = resource.strip_suffix('s').unwrap_or(resource);
    let mut letters = singular.chars();
    letters.next().map_or_else(String::new, |first| {
        first.to_uppercase().chain(letters).collect()
    })
}

/// The kind that a word in lower case stands for.
pub fn of_word(word: &str) -> String {
    of_resource(&format!("{word}s"), "")
}

/// Whether objects of this kind make pods.
#[must_use]
pub fn is_workload(kind: &str) -> bool {
    WORKLOADS.binary_search(&kind).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workloads_are_sorted_for_the_search() {
        assert!(WORKLOADS.is_sorted());
    }

    #[test]
    fn plurals_become_kinds() {
        assert_eq!(of_resource("pods", ""), "Pod");
        assert_eq!(of_resource("jobs", "batch"), "Job");
        assert_eq!(of_resource("jobs", "batch.volcano.sh"), "VolcanoJob");
        assert_eq!(of_resource("pytorchjobs", "kubeflow.org"), "PyTorchJob");
        assert_eq!(of_resource("", ""), "");
        assert_eq!(of_word("pod"), "Pod");
        assert_eq!(of_word("replicaset"), "ReplicaSet");
    }
}
