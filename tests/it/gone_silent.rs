//! Machines that fell silent under one member of a gang, while another ended by itself: whose end came first.

use serde_json::{Value, json};

use super::unseen::{ask, verdict};

const MADE: &str = "2026-11-24T09:00:00Z";
const STARTED: &str = "2026-11-24T09:00:20Z";
const FAILED: &str = "2026-11-24T09:30:34Z";
const TAKEN: &str = "2026-11-24T09:30:35Z";

fn job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": MADE },
        "spec": { "parallelism": 2, "completions": 2, "completionMode": "Indexed", "backoffLimit": 0 },
        "status": { "failed": 1, "conditions": [{
            "type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded",
            "message": "Job has reached the specified backoff limit", "lastTransitionTime": TAKEN,
        }] },
    })
}

fn pod(index: u32, more: &Value, status: &Value) -> Value {
    let mut metadata = json!({
        "name": format!("run-{index}-x7k2{index}"), "namespace": "ml", "uid": format!("u-{index}"), "creationTimestamp": MADE,
        "labels": { "batch.kubernetes.io/job-completion-index": index.to_string() },
        "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "u-run", "controller": true }],
    });
    let fields = metadata.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": { "nodeName": format!("n{index}"), "initContainers": [{ "name": "fetch", "image": "fetch" }],
            "containers": [{ "name": "main", "image": "train" }] },
        "status": status,
    })
}

/// Rank 0, which its Job took away, and whose kubelet has not said anything of that; an init container had ended well before.
fn taken() -> Value {
    let asked =
        json!({ "deletionTimestamp": "2026-11-24T09:31:05Z", "deletionGracePeriodSeconds": 30 });
    let fetched = json!({ "exitCode": 0, "reason": "Completed", "startedAt": MADE, "finishedAt": "2026-11-24T09:00:19Z" });
    pod(
        0,
        &asked,
        &json!({ "phase": "Running", "startTime": MADE,
            "initContainerStatuses": [{ "name": "fetch", "restartCount": 0, "ready": true, "state": { "terminated": fetched } }],
            "containerStatuses": [{ "name": "main", "restartCount": 0, "state": { "running": { "startedAt": STARTED } } }] }),
    )
}

/// Rank 1, which ended by itself.
fn failed(code: u32) -> Value {
    let ended =
        json!({ "exitCode": code, "reason": "Error", "startedAt": STARTED, "finishedAt": FAILED });
    pod(
        1,
        &json!({}),
        &json!({ "phase": "Failed", "startTime": MADE,
            "containerStatuses": [{ "name": "main", "restartCount": 0, "state": { "terminated": ended } }] }),
    )
}

fn node(name: &str, status: &str, since: &str) -> Value {
    let reason = if status == "True" {
        "KubeletReady"
    } else {
        "NodeStatusUnknown"
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "uid": format!("n-{name}"), "creationTimestamp": "2026-11-01T00:00:00Z" },
        "spec": {},
        "status": { "conditions": [{ "type": "Ready", "status": status, "reason": reason, "lastTransitionTime": since }] },
    })
}

fn event(kind: &str, name: &str, (reason, by): (&str, &str), message: &str, time: &str) -> Value {
    let uid = if kind == "Job" { "u-run" } else { "u-other" };
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Normal",
        "metadata": { "name": format!("{name}.{reason}"), "namespace": "ml", "uid": format!("e-{reason}"), "creationTimestamp": time },
        "involvedObject": { "kind": kind, "name": name, "namespace": "ml", "uid": uid },
        "reason": reason, "message": message, "source": { "component": by },
        "firstTimestamp": time, "lastTimestamp": time, "count": 1,
    })
}

/// The last thing that is known, of another run.
fn last(time: &str) -> Value {
    let by = ("Pulled", "kubelet");
    event(
        "Pod",
        "other",
        by,
        "Container image \"x\" already present on machine",
        time,
    )
}

/// Rank 1 cannot resolve a name and ends; the Job takes rank 0 away, and then its node is found to be silent.
fn beside_a_failure(silent: &str) -> Value {
    let objects = [
        job(),
        taken(),
        failed(1),
        node("n0", "Unknown", silent),
        node("n1", "True", "2026-11-01T00:00:00Z"),
        last("2026-11-24T10:30:00Z"),
    ];
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    let log = "2026-11-24T09:30:33Z Traceback (most recent call last):\n\
               2026-11-24T09:30:33Z   File \"/workspace/data.py\", line 77, in open_shard\n\
               2026-11-24T09:30:33Z     connect(url)\n\
               2026-11-24T09:30:33Z socket.gaierror: [Errno -3] Temporary failure in name resolution\n";
    ask(
        "run",
        &[
            ("all.ndjson", lines.join("\n") + "\n"),
            ("logs/run-1-x7k21.log", log.to_owned()),
        ],
    )
}

#[test]
fn a_node_of_which_nothing_was_heard_before_the_failure_went_first() {
    // Nothing had been heard of it since 09:30:25 at the latest.
    let answer = beside_a_failure("2026-11-24T09:30:55Z");
    let (_, cause, _, victim) = verdict(&answer);
    assert_eq!((cause, victim), ("node.not_ready", "n0"), "{answer:#}");
}

#[test]
fn a_node_that_may_have_been_there_at_the_failure_did_not_go_first() {
    let answer = beside_a_failure("2026-11-24T09:31:10Z");
    let (_, cause, _, victim) = verdict(&answer);
    assert_eq!((cause, victim), ("dep.dns", "n1"), "{answer:#}");
}

/// The node of rank 0 is silent for more than a minute when rank 1 aborts, and the Job takes rank 0 away; that is all that is known yet.
fn just_now(more: &[Value]) -> Value {
    let mut objects = vec![
        job(),
        taken(),
        failed(134),
        node("n0", "Unknown", "2026-11-24T09:29:10Z"),
        node("n1", "True", "2026-11-01T00:00:00Z"),
        last("2026-11-24T09:30:37Z"),
    ];
    objects.extend(more.iter().cloned());
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    ask("run", &[("all.ndjson", lines.join("\n") + "\n")])
}

#[test]
fn who_was_missed_by_those_that_ended_was_lost_before() {
    let by = ("SuccessfulDelete", "job-controller");
    let deleted = event("Job", "run", by, "Deleted pod: run-0-x7k20", TAKEN);
    let answer = just_now(&[deleted]);
    let (_, cause, _, victim) = verdict(&answer);
    assert_eq!((cause, victim), ("node.not_ready", "n0"), "{answer:#}");
}
