//! Jobs whose pods were made anew, of which some records are gone: what ended the last of them is why the Job failed, and neither
//! what it got over before nor what waited for a moment.

use serde_json::{Value, json};

use super::unseen::{ask, verdict};

/// The Job of a gang of so many, which gave up at some time.
fn job(pods: u32, made: &str, gave_up: &str) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": made },
        "spec": { "parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 3 },
        "status": { "failed": 4, "startTime": made, "conditions": [{
            "type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded",
            "message": "Job has reached the specified backoff limit", "lastTransitionTime": gave_up,
        }] },
    })
}

/// A pod of it: `run-INDEX-SUFFIX`, made at a time, on a node.
fn pod(name: &str, made: &str, node: &str, more: &Value, status: &Value) -> Value {
    let index = name.split('-').nth(1).unwrap_or_default();
    let mut metadata = json!({
        "name": name, "namespace": "ml", "uid": format!("u-{name}"), "creationTimestamp": made,
        "labels": { "batch.kubernetes.io/job-completion-index": index },
        "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "u-run", "controller": true }],
    });
    let fields = metadata.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": { "nodeName": node, "containers": [{ "name": "main", "image": "train" }] },
        "status": status,
    })
}

fn failed(code: u32, started: &str, ended: &str) -> Value {
    json!({ "phase": "Failed", "startTime": started, "containerStatuses": [{ "name": "main", "restartCount": 0, "state": {
        "terminated": { "exitCode": code, "reason": "Error", "startedAt": started, "finishedAt": ended },
    } }] })
}

/// A pod that its node's silence has left behind: its container runs as far as anybody was told.
fn left_behind(started: &str, silent: &str, evicted: &str) -> Value {
    json!({ "phase": "Running", "startTime": started,
        "conditions": [
            { "type": "Ready", "status": "False", "lastTransitionTime": silent },
            { "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager",
                "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": evicted },
        ],
        "containerStatuses": [{ "name": "main", "restartCount": 0, "state": { "running": { "startedAt": started } } }] })
}

fn silent_node(name: &str, since: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "uid": format!("n-{name}"), "creationTimestamp": "2026-01-01T00:00:00Z" },
        "spec": { "taints": [{ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": since }] },
        "status": { "conditions": [{ "type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.", "lastTransitionTime": since }] },
    })
}

fn event(pod: &str, reason: &str, message: &str, time: &str) -> Value {
    let by = if reason == "Killing" {
        "kubelet"
    } else {
        "default-scheduler"
    };
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Normal",
        "metadata": { "name": format!("{pod}.{reason}"), "namespace": "ml", "uid": format!("e-{pod}-{reason}"), "creationTimestamp": time },
        "involvedObject": { "kind": "Pod", "name": pod, "namespace": "ml", "uid": format!("u-{pod}") },
        "reason": reason, "message": message, "source": { "component": by },
        "firstTimestamp": time, "lastTimestamp": time, "count": 1,
    })
}

fn of_job(reason: &str, message: &str, time: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Normal",
        "metadata": { "name": format!("run.{reason}"), "namespace": "ml", "uid": format!("e-run-{reason}"), "creationTimestamp": time },
        "involvedObject": { "apiVersion": "batch/v1", "kind": "Job", "name": "run", "namespace": "ml", "uid": "u-run" },
        "reason": reason, "message": message, "source": { "component": "job-controller" },
        "firstTimestamp": time, "lastTimestamp": time, "count": 1,
    })
}

fn asked(objects: &[Value]) -> Value {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    ask("run", &[("all.ndjson", lines.join("\n") + "\n")])
}

/// Something that happened much later, of another run.
fn later(time: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Normal",
        "metadata": { "name": "other.x", "namespace": "ml", "uid": "e-other", "creationTimestamp": time },
        "involvedObject": { "kind": "Pod", "name": "other", "namespace": "ml", "uid": "u-other" },
        "reason": "Pulled", "message": "Container image \"x\" already present on machine", "source": { "component": "kubelet" },
        "firstTimestamp": time, "lastTimestamp": time, "count": 1,
    })
}

/// Two members are preempted, one of those made in their place fails, and what is made for that one waits for a second: then the Job
/// gives up.
#[test]
fn a_job_that_gave_up_for_its_failures_did_not_fail_of_a_wait() {
    let made = "2026-09-28T08:24:19Z";
    let preempted = "Preempted by pod b9ebaa4b-642c-4bd0-8364-5fab2ae46798 on node n0";
    let no_room = "0/5 nodes are available: 5 Insufficient nvidia.com/gpu. preemption: 0/5 nodes are available: \
                   5 No preemption victims found for incoming pod.";
    let answer = asked(&[
        job(2, made, "2026-09-28T08:27:31Z"),
        event(
            "run-0-rvdt4",
            "Preempted",
            preempted,
            "2026-09-28T08:26:50Z",
        ),
        event(
            "run-1-wv6dn",
            "Preempted",
            preempted,
            "2026-09-28T08:26:50Z",
        ),
        pod(
            "run-0-s82h2",
            "2026-09-28T08:27:22Z",
            "n0",
            &json!({}),
            &failed(134, "2026-09-28T08:27:23Z", "2026-09-28T08:27:30Z"),
        ),
        event(
            "run-0-nm2gz",
            "FailedScheduling",
            no_room,
            "2026-09-28T08:27:30.895810Z",
        ),
        of_job(
            "SuccessfulCreate",
            "Created pod: run-0-nm2gz",
            "2026-09-28T08:27:30Z",
        ),
        of_job(
            "SuccessfulDelete",
            "Deleted pod: run-0-nm2gz",
            "2026-09-28T08:27:31Z",
        ),
        later("2026-09-28T08:49:11Z"),
    ]);
    let (_, cause, _, node) = verdict(&answer);
    assert_ne!(cause, "sched.unschedulable_capacity", "{answer:#}");
    assert_eq!(node, "n0", "{answer:#}");
}

/// Rank 2 was lost with its node, and was made anew; nine minutes later all three were preempted, and an hour later only the Events of that
/// are left of those.
fn preempted_after_a_loss() -> Value {
    let made = "2026-10-13T21:11:07Z";
    let message = "Preempted by pod 3dd853b0-3931-4f71-86ad-a31305070073 on node n0";
    let asked_at =
        json!({ "deletionTimestamp": "2026-10-13T21:29:45Z", "deletionGracePeriodSeconds": 30 });
    let mut objects = vec![
        job(3, made, "2026-10-13T21:32:33Z"),
        pod(
            "run-2-ftwtk",
            made,
            "n2",
            &asked_at,
            &left_behind(made, "2026-10-13T21:24:15Z", "2026-10-13T21:29:15Z"),
        ),
        silent_node("n2", "2026-10-13T21:24:15Z"),
        later("2026-10-13T22:30:41Z"),
    ];
    for name in ["run-0-n4hh7", "run-1-6hwqh", "run-2-5gwnn"] {
        let at = "2026-10-13T21:32:33Z";
        objects.push(event(name, "Preempted", message, at));
        objects.push(event(name, "Killing", "Stopping container main", at));
    }
    asked(&objects)
}

#[test]
fn who_bears_the_index_of_one_that_was_lost_is_of_a_later_attempt() {
    let answer = preempted_after_a_loss();
    let (_, cause, level, _) = verdict(&answer);
    assert_eq!(cause, "sched.preempted", "{answer:#}");
    assert!(matches!(level, "established" | "supported"), "{answer:#}");
}

/// Rank 0 was lost with its node. Rank 1 was made long after that, in the place of one of which nothing is known any more, and failed.
#[test]
fn who_was_made_long_after_another_was_lost_did_not_follow_it() {
    let made = "2026-05-14T16:17:24Z";
    let asked_at =
        json!({ "deletionTimestamp": "2026-05-14T16:31:55Z", "deletionGracePeriodSeconds": 30 });
    let answer = asked(&[
        job(2, made, "2026-05-14T16:37:44Z"),
        pod(
            "run-0-vvqw5",
            made,
            "n0",
            &asked_at,
            &left_behind(made, "2026-05-14T16:26:24Z", "2026-05-14T16:31:25Z"),
        ),
        pod(
            "run-1-kcktf",
            "2026-05-14T16:33:29Z",
            "n1",
            &json!({}),
            &failed(1, "2026-05-14T16:33:59Z", "2026-05-14T16:37:42Z"),
        ),
        silent_node("n0", "2026-05-14T16:26:24Z"),
        later("2026-05-14T18:22:15Z"),
    ]);
    let (_, cause, _, node) = verdict(&answer);
    assert_ne!(cause, "node.not_ready", "{answer:#}");
    assert_eq!(node, "n1", "{answer:#}");
}
