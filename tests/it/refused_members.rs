//! Gangs of kinds that count their parts, and not their pods, some of whose members were refused.

use serde_json::{Value, json};

use super::unseen::{ask, verdict};

const MADE: &str = "2026-06-12T15:58:36Z";
const REFUSAL: &str = "Error creating: pods \"reward-\" is forbidden: exceeded quota: team-quota, requested: requests.nvidia.com/gpu=8, \
                       used: requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=20";

fn owner(kind: &str, name: &str, uid: &str) -> Value {
    let version = if kind == "JobSet" {
        "jobset.x-k8s.io/v1alpha2"
    } else {
        "batch/v1"
    };
    json!([{ "apiVersion": version, "kind": kind, "name": name, "uid": uid, "controller": true }])
}

/// A set of one Job of so many pods, two of which run.
fn set_of(pods: u32) -> Vec<Value> {
    let labels = json!({ "jobset.sigs.k8s.io/jobset-name": "reward", "jobset.sigs.k8s.io/replicatedjob-name": "workers" });
    let job = json!({ "parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 0 });
    let mut objects = vec![
        json!({ "apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
            "metadata": { "name": "reward", "namespace": "ml", "uid": "u-set", "creationTimestamp": MADE },
            "spec": { "replicatedJobs": [{ "name": "workers", "replicas": 1, "template": { "spec": job } }] },
            "status": { "restarts": 0 } }),
        json!({ "apiVersion": "batch/v1", "kind": "Job",
            "metadata": { "name": "reward-workers-0", "namespace": "ml", "uid": "u-job", "creationTimestamp": MADE, "labels": labels,
                "ownerReferences": owner("JobSet", "reward", "u-set") },
            "spec": job, "status": { "active": 2, "ready": 2, "startTime": MADE } }),
    ];
    objects.extend((0..2).map(|index| {
        json!({ "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": format!("reward-workers-0-{index}-x7k2{index}"), "namespace": "ml", "uid": format!("u-{index}"),
                "creationTimestamp": MADE, "labels": { "batch.kubernetes.io/job-completion-index": index.to_string(),
                    "jobset.sigs.k8s.io/jobset-name": "reward" },
                "ownerReferences": owner("Job", "reward-workers-0", "u-job") },
            "spec": { "nodeName": format!("n{index}"), "containers": [{ "name": "main", "image": "train" }] },
            "status": { "phase": "Running", "startTime": MADE,
                "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-06-12T15:58:40Z" }],
                "containerStatuses": [{ "name": "main", "ready": true, "restartCount": 0, "state": { "running": { "startedAt": MADE } } }] } })
    }));
    objects
}

fn asked_of(pods: u32) -> Value {
    let lines: Vec<String> = set_of(pods).iter().map(Value::to_string).collect();
    ask("reward", &[("all.ndjson", lines.join("\n"))])
}

/// Once the Events of the refusals have expired, nothing tells of the third member but that the set asks for it.
#[test]
fn a_set_of_which_a_member_is_not_there_is_not_known_to_be_well() {
    let answer = asked_of(3);
    let (_, cause, level, _) = verdict(&answer);
    assert!(
        cause != "none.running" || level == "hypothesis",
        "{answer:#}"
    );
    let answer = asked_of(2);
    let (_, cause, level, _) = verdict(&answer);
    assert_eq!(
        (cause, level),
        ("none.running", "established"),
        "{answer:#}"
    );
}

/// Two pods of a Job whose object was not listed, the refusal of a third, and what was made since.
fn listed(since: &[(&str, &str)]) -> Value {
    let pods = [("reward-0-8ctzs", MADE), ("reward-1-xh8g9", MADE)];
    let mut objects: Vec<Value> = pods
        .iter()
        .chain(since)
        .map(|(name, made)| {
            json!({ "apiVersion": "v1", "kind": "Pod",
                "metadata": { "name": name, "namespace": "ml", "uid": format!("u-{name}"), "creationTimestamp": made,
                    "ownerReferences": owner("Job", "reward", "u-job") },
                "spec": { "nodeName": format!("n-{name}"), "containers": [{ "name": "main", "image": "train" }] },
                "status": { "phase": "Running", "startTime": made,
                    "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": made }],
                    "containerStatuses": [{ "name": "main", "ready": true, "restartCount": 0,
                        "state": { "running": { "startedAt": made } } }] } })
        })
        .collect();
    objects.push(json!({ "apiVersion": "v1", "kind": "Event", "type": "Warning", "count": 17,
        "metadata": { "name": "reward.1", "namespace": "ml", "uid": "e-1", "creationTimestamp": MADE },
        "involvedObject": { "apiVersion": "batch/v1", "kind": "Job", "name": "reward", "namespace": "ml", "uid": "u-job" },
        "reason": "FailedCreate", "message": REFUSAL, "source": { "component": "job-controller" },
        "firstTimestamp": MADE, "lastTimestamp": "2026-06-12T18:08:58Z" }));
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    ask("reward", &[("all.ndjson", lines.join("\n"))])
}

#[test]
fn whoever_is_refused_a_pod_lacks_one_however_many_it_is_to_have() {
    let answer = listed(&[]);
    assert_eq!(verdict(&answer).1, "sched.quota", "{answer:#}");
    let answer = listed(&[("reward-2-b4c5d", "2026-06-12T18:10:58Z")]);
    assert_eq!(verdict(&answer).1, "none.running", "{answer:#}");
}
