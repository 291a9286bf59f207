//! What lists of a cluster show where no audit log was read: Events outlive the pods and taints that they
//! are about, and show what was done, though not by whom.

use serde_json::{Value, json};

use crate::unseen::ask;

const GONE: &str = "2026-11-24T09:10:00Z";

/// A Job of two indexed pods that are gone.
fn job(status: &Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": "2026-11-24T09:00:00Z" },
        "spec": { "parallelism": 1, "completions": 1, "completionMode": "Indexed", "backoffLimit": 0 },
        "status": status,
    })
}

fn failed() -> Value {
    json!({ "failed": 1, "conditions": [{
        "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
        "message": "Job has reached the specified backoff limit", "lastTransitionTime": "2026-11-24T09:10:02Z",
    }] })
}

fn node(name: &str, made: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "uid": format!("n-{name}"), "creationTimestamp": made },
        "spec": {},
        "status": { "conditions": [{ "type": "Ready", "status": "True", "reason": "KubeletReady",
            "lastTransitionTime": made, "lastHeartbeatTime": "2026-11-24T09:20:00Z" }] },
    })
}

fn event(object: (&str, &str), (reason, by): (&str, &str), message: &str, at: &str) -> Value {
    let (kind, name) = object;
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": format!("{name}.{reason}.{at}"), "namespace": "ml", "uid": format!("e-{name}-{reason}-{at}"),
                      "creationTimestamp": at },
        "involvedObject": { "kind": kind, "name": name, "namespace": "ml" },
        "reason": reason, "message": message, "source": { "component": by },
        "firstTimestamp": at, "lastTimestamp": at, "count": 1, "type": "Normal",
    })
}

/// What Events tell of the beginning of a pod of the Job.
fn begun(pod: &str, node: &str) -> Vec<Value> {
    let at = "2026-11-24T09:00:01Z";
    let kubelet =
        |reason: &str, message: &str| event(("Pod", pod), (reason, "kubelet"), message, at);
    vec![
        event(
            ("Job", "run"),
            ("SuccessfulCreate", "job-controller"),
            &format!("Created pod: {pod}"),
            at,
        ),
        event(
            ("Pod", pod),
            ("Scheduled", "default-scheduler"),
            &format!("Successfully assigned ml/{pod} to {node}"),
            at,
        ),
        kubelet(
            "Pulled",
            "Container image \"lab/train:1\" already present on machine",
        ),
        kubelet("Created", "Created container: main"),
        kubelet("Started", "Started container main"),
    ]
}

fn killing(pod: &str, at: &str) -> Value {
    event(
        ("Pod", pod),
        ("Killing", "kubelet"),
        "Stopping container main",
        at,
    )
}

/// Cause, level and actor of what leads.
fn told(name: &str, items: Vec<Value>) -> (String, String, String) {
    let list = Value::from(items);
    let list = json!({ "apiVersion": "v1", "kind": "List", "items": list });
    let answer = ask(name, &[("lists.json", list.to_string())]);
    let incident = &answer["incidents"][0];
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    (
        word(&incident["cause"]),
        word(&incident["level"]),
        word(&incident["actor"]["name"]),
    )
}

fn is(told: &(String, String, String), cause: &str, level: &str) -> bool {
    (told.0.as_str(), told.1.as_str()) == (cause, level)
}

fn deployment(events: Vec<Value>) -> Vec<Value> {
    let mut items = vec![node("g0", "2026-11-24T08:00:00Z")];
    items.push(event(
        ("Deployment", "srv"),
        ("ScalingReplicaSet", "deployment-controller"),
        "Scaled up replica set srv-56bb956f6f from 0 to 3",
        "2026-11-24T09:00:00Z",
    ));
    for pod in ["srv-56bb956f6f-aaaaa", "srv-56bb956f6f-bbbbb"] {
        let made = format!("Created pod: {pod}");
        let by = ("SuccessfulCreate", "replicaset-controller");
        items.push(event(
            ("ReplicaSet", "srv-56bb956f6f"),
            by,
            &made,
            "2026-11-24T09:00:00Z",
        ));
        items.extend(begun(pod, "g0").into_iter().skip(1));
        items.push(event(
            ("ReplicaSet", "srv-56bb956f6f"),
            ("SuccessfulDelete", "replicaset-controller"),
            &format!("Deleted pod: {pod}"),
            GONE,
        ));
        items.push(killing(pod, GONE));
    }
    items.push(event(
        ("Deployment", "srv"),
        ("ScalingReplicaSet", "deployment-controller"),
        "Scaled down replica set srv-56bb956f6f from 3 to 1",
        GONE,
    ));
    items.extend(events);
    items
}

#[test]
fn a_deployment_that_somebody_unseen_made_smaller() {
    let smaller = told("deployment/srv", deployment(Vec::new()));
    assert!(
        is(&smaller, "ops.config_change", "hypothesis"),
        "{smaller:?}"
    );
    assert_eq!(smaller.2, "", "whose wish it was, no Event says");
    // A rollout makes one replica set smaller, and another larger.
    let rollout = event(
        ("Deployment", "srv"),
        ("ScalingReplicaSet", "deployment-controller"),
        "Scaled up replica set srv-7d9f from 0 to 2",
        "2026-11-24T09:09:50Z",
    );
    let rolled = told("deployment/srv", deployment(vec![rollout]));
    assert_ne!(rolled.0, "ops.config_change", "{rolled:?}");
}

/// What was deleted before its node was closed was not drained from it.
#[test]
fn a_deletion_before_the_node_was_closed_is_no_drain() {
    let closed = |at: &str| {
        let mut cordoned = node("g0", "2026-11-24T08:00:00Z");
        cordoned["spec"] = json!({ "unschedulable": true, "taints": [
            { "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": at },
        ] });
        let mut items = vec![job(&failed()), cordoned];
        items.extend(begun("run-0", "g0"));
        items.push(killing("run-0", GONE));
        told("job/run", items).0
    };
    assert_eq!(closed("2026-11-24T09:10:01Z"), "ops.manual_delete");
    assert_eq!(closed("2026-11-24T09:10:00Z"), "ops.node_drained");
}
