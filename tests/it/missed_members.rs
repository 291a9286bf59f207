//! Members of a gang that were lost before the others ended, although they were taken away, and found to be silent,
//! only afterwards; and requests that may have been for what was left of a pod.

use serde_json::{Value, json};

use super::deletions::record;
use super::unseen::{ask, verdict};

const MADE: &str = "2026-11-24T09:00:00Z";
const LOST_TOUCH: &str = "2026-11-24T09:30:30Z";
const TAKEN: &str = "2026-11-24T09:30:34Z";
const SILENT: &str = "2026-11-24T09:30:50Z";

fn lines(objects: &[Value]) -> String {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

fn job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": MADE },
        "spec": { "parallelism": 2, "completions": 2, "completionMode": "Indexed", "backoffLimit": 0 },
        "status": { "failed": 1, "conditions": [{
            "type": "FailureTarget", "status": "True", "reason": "BackoffLimitExceeded",
            "message": "Job has reached the specified backoff limit", "lastTransitionTime": "2026-11-24T09:30:33Z",
        }] },
    })
}

fn pod(index: u32, more: &Value, state: &Value, phase: &str) -> Value {
    let mut metadata = json!({
        "name": format!("run-{index}-x7k2{index}"), "namespace": "ml", "uid": format!("u-{index}"), "creationTimestamp": MADE,
        "labels": { "batch.kubernetes.io/job-completion-index": index.to_string() },
        "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "u-run", "controller": true }],
    });
    let fields = metadata.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": { "nodeName": format!("n{index}"), "containers": [{ "name": "main", "image": "train" }] },
        "status": { "phase": phase, "startTime": MADE,
            "containerStatuses": [{ "name": "main", "restartCount": 0, "state": state }] },
    })
}

fn node(index: u32, status: &str, since: &str) -> Value {
    let reason = if status == "True" {
        "KubeletReady"
    } else {
        "NodeStatusUnknown"
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": format!("n{index}"), "uid": format!("n-{index}"), "creationTimestamp": "2026-11-01T00:00:00Z" },
        "spec": {},
        "status": { "conditions": [{ "type": "Ready", "status": status, "reason": reason, "lastTransitionTime": since }] },
    })
}

/// Rank 1 loses touch with rank 0 and ends; the Job takes rank 0 away, and 16 s later its node is found to be silent.
fn lost_member(more: &[Value]) -> Value {
    let running = json!({ "running": { "startedAt": MADE } });
    let ended = json!({ "terminated": { "exitCode": 1, "reason": "Error", "startedAt": MADE, "finishedAt": LOST_TOUCH } });
    let asked =
        json!({ "deletionTimestamp": "2026-11-24T09:31:04Z", "deletionGracePeriodSeconds": 30 });
    let mut objects = vec![
        job(),
        pod(0, &asked, &running, "Running"),
        pod(1, &json!({}), &ended, "Failed"),
        node(0, "Unknown", SILENT),
        node(1, "True", "2026-11-01T00:00:00Z"),
    ];
    objects.extend(more.iter().cloned());
    let log = "2026-11-24T09:30:29Z [rank1]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2395, \
               remote process exited or there was a network error, NCCL version 2.26.2\n\
               2026-11-24T09:30:29Z ncclRemoteError: A call failed possibly due to a network error or a remote process exiting prematurely.\n";
    ask(
        "run",
        &[
            ("all.ndjson", lines(&objects)),
            ("logs/run-1-x7k21.log", log.to_owned()),
        ],
    )
}

#[test]
fn who_fell_silent_before_it_was_taken_away_broke_first() {
    let answer = lost_member(&[]);
    let (_, cause, level, victim) = verdict(&answer);
    assert_eq!(
        (cause, level, victim),
        ("node.not_ready", "supported", "n0"),
        "{answer}"
    );
}

#[test]
fn whom_its_kubelet_stopped_was_not_lost_before() {
    let stopped = json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": "run-0.k", "namespace": "ml", "uid": "e-k", "creationTimestamp": TAKEN },
        "involvedObject": { "kind": "Pod", "name": "run-0-x7k20", "namespace": "ml", "uid": "u-0" },
        "reason": "Killing", "message": "Stopping container main", "source": { "component": "kubelet", "host": "n0" },
        "firstTimestamp": TAKEN, "lastTimestamp": TAKEN, "count": 1, "type": "Normal",
    });
    let answer = lost_member(&[stopped]);
    let (_, cause, level, _) = verdict(&answer);
    assert!(
        cause != "node.not_ready" || level == "hypothesis",
        "{answer}"
    );
}

/// A reaper deletes a Job an hour after it was made, and its pods go with it: by an audit log without bodies alone.
fn reaped(by_kubelet: bool) -> Value {
    let job = json!({ "resource": "jobs", "namespace": "ml", "name": "run", "apiGroup": "batch" });
    let jobs = "/apis/batch/v1/namespaces/ml/jobs";
    let pod = json!({ "resource": "pods", "namespace": "ml", "name": "run-0-x7k20", "uid": "u-0" });
    let uri = "/api/v1/namespaces/ml/pods/run-0-x7k20";
    let none = json!({});
    let mut log = vec![
        record(
            "create",
            "alice",
            "2026-11-24T09:00:00.000000Z",
            &job,
            jobs,
            &none,
        ),
        record(
            "delete",
            "system:serviceaccount:ops:reaper",
            "2026-11-24T10:00:00.000000Z",
            &job,
            &format!("{jobs}/run"),
            &none,
        ),
        record(
            "delete",
            "system:serviceaccount:kube-system:generic-garbage-collector",
            "2026-11-24T10:00:00.200000Z",
            &pod,
            uri,
            &none,
        ),
    ];
    if by_kubelet {
        let at = "2026-11-24T10:00:20.000000Z";
        log.push(record("delete", "system:node:n0", at, &pod, uri, &none));
    }
    // The log goes on.
    let other =
        json!({ "resource": "pods", "namespace": "ml", "name": "other-9xkf2", "uid": "u-9" });
    let uri = "/api/v1/namespaces/ml/pods/other-9xkf2";
    log.push(record(
        "delete",
        "bob",
        "2026-11-24T10:30:00.000000Z",
        &other,
        uri,
        &none,
    ));
    ask("run", &[("audit.log", log.join("\n") + "\n")])
}

#[test]
fn a_request_at_the_end_of_a_long_silence_may_be_for_a_leftover() {
    let unseen = reaped(false);
    assert_eq!(verdict(&unseen).2, "hypothesis", "{unseen}");
    let seen = reaped(true);
    let (_, cause, level, _) = verdict(&seen);
    assert_eq!((cause, level), ("ops.manual_delete", "supported"), "{seen}");
}

/// A pod that is gone: its Events, the request for its end, and a log whose last words are an error that it was to try again.
fn retried(error: &str, more: &[Value]) -> Value {
    let event = |reason: &str, message: &str, at: &str| {
        json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": { "name": format!("solo.{reason}"), "namespace": "ml", "uid": format!("e-{reason}"), "creationTimestamp": at },
            "involvedObject": { "kind": "Pod", "name": "solo", "namespace": "ml", "uid": "u-solo" },
            "reason": reason, "message": message, "source": { "component": "kubelet", "host": "n0" },
            "firstTimestamp": at, "lastTimestamp": at, "count": 1, "type": "Normal",
        })
    };
    let mut objects = vec![event("Started", "Started container main", MADE)];
    objects.extend(more.iter().cloned());
    if more.is_empty() {
        objects.push(event("Killing", "Stopping container main", TAKEN));
    }
    let pod = json!({ "resource": "pods", "namespace": "ml", "name": "solo", "uid": "u-solo" });
    let at = "2026-11-24T09:30:34.000000Z";
    let uri = "/api/v1/namespaces/ml/pods/solo";
    let request = record("delete", "bob", at, &pod, uri, &json!({}));
    ask(
        "solo",
        &[
            ("all.ndjson", lines(&objects)),
            ("audit.log", request + "\n"),
            ("logs/solo.log", error.to_owned()),
        ],
    )
}

#[test]
fn what_failed_and_was_stopped_long_after_had_failed() {
    let error = "2026-11-24T09:20:00Z Traceback (most recent call last):\n\
                 2026-11-24T09:20:00Z   File \"/app/train.py\", line 7, in push\n\
                 2026-11-24T09:20:00Z requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.wandb.ai', port=443): Max retries exceeded\n";
    let answer = retried(error, &[]);
    let (_, cause, level, _) = verdict(&answer);
    assert_eq!((cause, level), ("dep.service", "supported"), "{answer}");
}
