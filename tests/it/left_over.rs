//! Pods that were left of a job that had failed long before somebody took them away.

use serde_json::{Value, json};

use super::unseen::{ask, verdict};

const MADE: &str = "2026-05-07T02:29:03Z";

/// A training job that failed at 02:35, and the eviction of its master for a taint at some time: all other records are gone.
fn evicted(at: &str) -> Value {
    let job = json!({
        "apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob",
        "metadata": { "name": "robot", "namespace": "ml", "uid": "u-job", "creationTimestamp": MADE },
        "spec": {
            "pytorchReplicaSpecs": {
                "Master": { "replicas": 1, "restartPolicy": "Never" },
                "Worker": { "replicas": 3, "restartPolicy": "Never" },
            },
            "runPolicy": { "cleanPodPolicy": "Running" },
        },
        "status": { "conditions": [{
            "type": "Failed", "status": "True", "reason": "PyTorchJobFailed",
            "message": "PyTorchJob robot is failed because 1 Master replica(s) failed.",
            "lastTransitionTime": "2026-05-07T02:35:00Z", "lastUpdateTime": "2026-05-07T02:35:00Z",
        }] },
    });
    let eviction = json!({
        "apiVersion": "v1", "kind": "Event", "type": "Normal", "count": 1,
        "metadata": { "name": "robot-master-0.1", "namespace": "ml", "uid": "e-1", "creationTimestamp": at },
        "involvedObject": { "kind": "Pod", "name": "robot-master-0", "namespace": "ml" },
        "reason": "TaintManagerEviction", "message": "Marking for deletion Pod ml/robot-master-0",
        "source": { "component": "taint-eviction-controller" }, "firstTimestamp": at, "lastTimestamp": at,
    });
    ask("robot", &[("all.ndjson", format!("{job}\n{eviction}\n"))])
}

#[test]
fn who_evicts_what_is_left_of_a_failed_job_did_not_end_it() {
    let answer = evicted("2026-05-07T03:52:23Z");
    assert_ne!(verdict(&answer).1, "node.not_ready", "{answer:#}");
}

#[test]
fn who_evicts_a_pod_before_its_job_fails_may_have_ended_it() {
    let answer = evicted("2026-05-07T02:34:50Z");
    assert_eq!(verdict(&answer).1, "node.not_ready", "{answer:#}");
}
