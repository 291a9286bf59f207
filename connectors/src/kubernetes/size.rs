//! How many pods the spec of a workload asks for at a time.

use serde_json::Value;

use super::field;

/// How many pods a workload of this kind wants at a time; `None` where its kind is not known to say so, or where
/// something else changes that while it runs.
pub(super) fn pods(kind: &str, spec: &Value) -> Option<i64> {
    match kind {
        "Job" => field::int(spec, &["parallelism"]),
        "Deployment" | "ReplicaSet" | "StatefulSet" => field::int(spec, &["replicas"]),
        // Groups of a leader and its workers.
        "LeaderWorkerSet" => {
            let groups = field::int(spec, &["replicas"])?;
            let size = field::int(spec, &["leaderWorkerTemplate", "size"]).unwrap_or(1);
            Some(groups.saturating_mul(size))
        }
        "JobSet" => sum(field::items(spec, &["replicatedJobs"]), |job| {
            times(job, &["replicas"], &["template", "spec", "parallelism"])
        }),
        "VolcanoJob" => sum(field::items(spec, &["tasks"]), |task| {
            times(task, &["replicas"], &[])
        }),
        // Its own autoscaler sets the sizes of groups between their bounds.
        "RayCluster" if field::flag(spec, &["enableInTreeAutoscaling"]) => None,
        "RayCluster" => {
            let workers = field::items(spec, &["workerGroupSpecs"]).iter();
            let of_group = |group| times(group, &["replicas"], &["numOfHosts"]);
            let workers = workers.map(of_group).fold(0, i64::saturating_add);
            Some(workers.saturating_add(1))
        }
        _ => of_training_operator(spec),
    }
}

/// `pytorchReplicaSpecs`, `mpiReplicaSpecs`, …: a map from a role to its group.
fn of_training_operator(spec: &Value) -> Option<i64> {
    let Value::Object(fields) = spec else {
        return None;
    };
    let mut roles = fields
        .iter()
        .filter(|(name, _)| name.ends_with("ReplicaSpecs"))
        .filter_map(|(_, roles)| roles.as_object());
    let groups: Vec<&Value> = roles.next()?.values().collect();
    sum(groups, |group| times(group, &["replicas"], &[]))
}

/// The sum over all groups; none where there are no groups.
fn sum<'a>(
    groups: impl IntoIterator<Item = &'a Value>,
    size: impl Fn(&Value) -> i64,
) -> Option<i64> {
    let sizes = groups.into_iter().map(size);
    sizes.reduce(i64::saturating_add)
}

/// What the API server takes to be one where a group does not say it, times the same within it.
fn times(group: &Value, own: &[&str], inner: &[&str]) -> i64 {
    let of = |path: &[&str]| match path {
        [] => 1,
        path => field::int(group, path).unwrap_or(1),
    };
    of(own).saturating_mul(of(inner))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::pods;

    #[test]
    fn each_kind_says_how_many_pods_it_wants() {
        let of = |kind, spec| pods(kind, &spec);
        assert_eq!(
            of("Job", json!({ "parallelism": 4, "completions": 4 })),
            Some(4)
        );
        assert_eq!(of("Job", json!({ "completions": 4 })), None);
        assert_eq!(of("Deployment", json!({ "replicas": 0 })), Some(0));
        let set = json!({ "replicas": 3, "leaderWorkerTemplate": { "size": 4 } });
        assert_eq!(of("LeaderWorkerSet", set), Some(12));
        let set = json!({ "replicatedJobs": [
            { "replicas": 2, "template": { "spec": { "parallelism": 8 } } },
            { "template": { "spec": {} } },
        ] });
        assert_eq!(of("JobSet", set), Some(17));
        let job = json!({ "minAvailable": 2, "tasks": [{ "replicas": 1 }, { "replicas": 3 }] });
        assert_eq!(of("VolcanoJob", job), Some(4));
        let job = json!({ "pytorchReplicaSpecs": { "Master": {}, "Worker": { "replicas": 7 } } });
        assert_eq!(of("PyTorchJob", job), Some(8));
        let workers = json!([{ "replicas": 2, "numOfHosts": 4 }, { "replicas": 1 }]);
        let cluster = json!({ "workerGroupSpecs": workers });
        assert_eq!(of("RayCluster", cluster), Some(10));
        let cluster = json!({ "workerGroupSpecs": workers, "enableInTreeAutoscaling": true });
        assert_eq!(of("RayCluster", cluster), None);
        assert_eq!(of("Workflow", json!({ "templates": [] })), None);
    }
}
