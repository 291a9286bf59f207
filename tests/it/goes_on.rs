//! What goes on, waits to go, or had gone before somebody came: a Job that tries again, an object that
//! waits for its deletion, a pod that is cleared away from a silent node.

mod lists_alone;

use serde_json::{Value, json};

use super::deletions::record;
use super::unseen::{ask, text, verdict};

fn job(spec: &Value, status: &Value) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": "2026-11-24T09:00:00Z" },
        "spec": { "parallelism": 2, "completions": 2, "completionMode": "Indexed",
                  "template": { "spec": { "restartPolicy": "Never", "containers": [{ "name": "main" }] } } },
        "status": status,
    });
    let fields = job["spec"].as_object_mut().expect("a spec");
    fields.extend(spec.as_object().cloned().unwrap_or_default());
    job
}

fn pod(rank: usize, phase: &str, state: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": format!("run-{rank}"), "namespace": "ml", "uid": format!("p-{rank}"),
            "creationTimestamp": "2026-11-24T09:00:00Z",
            "labels": { "batch.kubernetes.io/job-completion-index": rank.to_string() },
            "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "u-run", "controller": true }],
        },
        "spec": { "nodeName": format!("g{rank}"), "containers": [{ "name": "main" }] },
        "status": { "phase": phase, "startTime": "2026-11-24T09:00:01Z",
                    "containerStatuses": [{ "name": "main", "ready": phase == "Running", "restartCount": 0, "state": state }] },
    })
}

fn running(rank: usize) -> Value {
    pod(
        rank,
        "Running",
        &json!({ "running": { "startedAt": "2026-11-24T09:00:02Z" } }),
    )
}

fn failed(rank: usize) -> Value {
    let ended = json!({ "terminated": {
        "exitCode": 3, "reason": "Error", "startedAt": "2026-11-24T09:00:02Z", "finishedAt": "2026-11-24T10:00:00Z",
    } });
    pod(rank, "Failed", &ended)
}

fn told(objects: &[Value]) -> Value {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    ask("job/ml/run", &[("all.ndjson", lines.join("\n") + "\n")])
}

/// A list holds no time of its own: how many failures a Job puts up with tells whether it has given up.
#[test]
fn a_job_with_tries_left_has_not_failed() {
    let state = |spec: Value, status: Value, pods: &[Value]| {
        let answer = told(&[&[job(&spec, &status)], pods].concat());
        answer["runs"][0]["state"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    };
    let counted = json!({ "active": 1, "failed": 1 });
    let pods = [running(0), failed(1)];
    let between = json!({ "failed": 1 });
    assert_eq!(
        state(json!({ "backoffLimit": 6 }), between.clone(), &[failed(1)]),
        "pending"
    );
    assert_eq!(
        state(json!({ "backoffLimit": 0 }), between.clone(), &[failed(1)]),
        "failed"
    );
    // One index has failed for good, and the other runs.
    let per_index = json!({ "backoffLimit": 2_147_483_647, "backoffLimitPerIndex": 0 });
    assert_eq!(state(per_index, counted.clone(), &pods), "running");
    // What ends a Job at once does not count.
    let policy =
        json!({ "backoffLimit": 6, "podFailurePolicy": { "rules": [{ "action": "FailJob" }] } });
    assert_eq!(state(policy, between, &[failed(1)]), "failed");
    // A rank that waits for room holds up the others.
    let mut waits = pod(
        1,
        "Pending",
        &json!({ "waiting": { "reason": "ContainerCreating" } }),
    );
    waits["spec"]["nodeName"] = Value::Null;
    waits["metadata"]["name"] = "run-1-again".into();
    waits["metadata"]["uid"] = "p-1b".into();
    waits["metadata"]["creationTimestamp"] = "2026-11-24T10:00:05Z".into();
    waits["status"] = json!({ "phase": "Pending", "conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.", "lastTransitionTime": "2026-11-24T10:00:05Z",
    }] });
    let pods = [running(0), failed(1), waits];
    assert_eq!(
        state(json!({ "backoffLimit": 6 }), counted, &pods),
        "pending"
    );
}

/// Finalizers hold an object until its pods are gone: that somebody asked for its end is not its end.
#[test]
fn a_job_that_waits_for_its_deletion_is_being_deleted() {
    let mut held = job(&json!({}), &json!({ "active": 2, "ready": 2 }));
    held["metadata"]["deletionTimestamp"] = "2026-11-24T10:30:00Z".into();
    held["metadata"]["deletionGracePeriodSeconds"] = 0.into();
    held["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
    let deletion = record(
        "delete",
        "carol@lab.example",
        "2026-11-24T10:30:00.500000Z",
        &json!({ "resource": "jobs", "namespace": "ml", "name": "run", "apiGroup": "batch", "uid": "u-run" }),
        "/apis/batch/v1/namespaces/ml/jobs/run",
        &json!({}),
    );
    let answer = ask(
        "job/ml/run",
        &[
            ("job.json", held.to_string()),
            ("audit.log", deletion + "\n"),
        ],
    );
    assert_eq!(verdict(&answer).0, "deleting", "{answer:#}");
    assert_eq!(
        answer["incidents"][0]["actor"]["name"], "carol@lab.example",
        "{answer:#}"
    );
}

/// A request with a selector names no pod; one of sets selects as one of values does.
#[test]
fn selectors_of_sets_select_pods() {
    let pods: Vec<String> = [("nlp", "a"), ("asr", "b")]
        .iter()
        .map(|(team, name)| {
            let mut one = running(0);
            one["metadata"] = json!({
                "name": name, "namespace": "ml", "uid": name, "labels": { "team": team },
                "creationTimestamp": "2026-11-24T09:00:00Z", "deletionTimestamp": "2026-11-24T10:30:30Z",
                "deletionGracePeriodSeconds": 30,
            });
            one.to_string()
        })
        .collect();
    let by = |name: &str, selector: &str| {
        let request = record(
            "deletecollection",
            "henk@lab.example",
            "2026-11-24T10:30:00.500000Z",
            &json!({ "resource": "pods", "namespace": "ml" }),
            &format!("/api/v1/namespaces/ml/pods?labelSelector={selector}"),
            &json!({}),
        );
        let files = [
            ("audit.log", request + "\n"),
            ("pods.ndjson", pods.join("\n") + "\n"),
        ];
        let answer = ask(name, &files);
        answer["incidents"][0]["actor"]["name"] == "henk@lab.example"
    };
    assert!(by("a", "team+in+%28nlp%2Ccv%29"));
    assert!(!by("b", "team+in+%28nlp%2Ccv%29"));
    assert!(by("b", "team+notin+%28nlp%29"));
    assert!(
        !by("a", "team%3E4"),
        "what is not understood selects nothing"
    );
}

/// An Event of a pod or a node.
fn event(
    kind: &str,
    name: &str,
    uid: &str,
    reason: &str,
    message: &str,
    at: &str,
    by: &str,
) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": format!("{reason}-{name}-{at}"), "namespace": "ml", "uid": format!("{reason}-{name}-{at}") },
        "involvedObject": { "kind": kind, "namespace": "ml", "name": name, "uid": uid },
        "reason": reason, "message": message, "source": { "component": by },
        "firstTimestamp": at, "lastTimestamp": at, "count": 1, "type": "Warning",
    })
}

fn node(name: &str, ready: &str, since: &str, seen: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "uid": format!("n-{name}"), "creationTimestamp": "2026-11-01T00:00:00Z" },
        "spec": {},
        "status": { "conditions": [{
            "type": "Ready", "status": ready, "reason": if ready == "True" { "KubeletReady" } else { "NodeStatusUnknown" },
            "message": if ready == "True" { "kubelet is posting ready status" } else { "Kubelet stopped posting node status." },
            "lastTransitionTime": since, "lastHeartbeatTime": seen,
        }] },
    })
}

fn removal(user: &str, at: &str, uri: &str, more: &Value) -> String {
    let verb = if uri.ends_with("eviction") {
        "create"
    } else {
        "delete"
    };
    let mut object =
        json!({ "resource": "pods", "namespace": "ml", "name": "run-0", "apiVersion": "v1" });
    if verb == "create" {
        object["subresource"] = "eviction".into();
    }
    record(verb, user, at, &object, uri, more) + "\n"
}

/// Its owner may come before anybody is evicted for the silence of the node: the pod was out of reach.
#[test]
fn who_deletes_a_pod_of_a_silent_node_clears_it_away() {
    let mut gone = job(&json!({ "backoffLimit": 0 }), &json!({ "failed": 1 }));
    gone["status"]["conditions"] = json!([{
        "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "limit", "lastTransitionTime": "2026-11-24T10:00:30Z",
    }]);
    let asked = |ready: &str| {
        let mut objects = vec![
            gone.clone(),
            event(
                "Pod",
                "run-0",
                "p-0",
                "Scheduled",
                "Successfully assigned ml/run-0 to g0",
                "2026-11-24T09:00:00Z",
                "default-scheduler",
            ),
            event(
                "Pod",
                "run-0",
                "p-0",
                "Started",
                "Started container main",
                "2026-11-24T09:00:02Z",
                "kubelet",
            ),
            event(
                "Job",
                "run",
                "u-run",
                "SuccessfulCreate",
                "Created pod: run-0",
                "2026-11-24T09:00:00Z",
                "job-controller",
            ),
        ];
        if ready == "Unknown" {
            objects.push(event(
                "Pod",
                "run-0",
                "p-0",
                "NodeNotReady",
                "Node is not ready",
                "2026-11-24T10:00:05Z",
                "node-controller",
            ));
            objects.push(event(
                "Node",
                "g0",
                "n-g0",
                "NodeNotReady",
                "Node g0 status is now: NodeNotReady",
                "2026-11-24T10:00:05Z",
                "node-controller",
            ));
        }
        let since = if ready == "Unknown" {
            "2026-11-24T10:00:05Z"
        } else {
            "2026-11-01T00:01:00Z"
        };
        objects.push(node("g0", ready, since, "2026-11-24T10:00:00Z"));
        let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
        let deletion = removal(
            "alice@lab.example",
            "2026-11-24T10:00:28.500000Z",
            "/api/v1/namespaces/ml/pods/run-0",
            &json!({}),
        );
        ask(
            "job/ml/run",
            &[
                ("all.ndjson", text(&[&lines.join("\n")])),
                ("audit.log", deletion),
            ],
        )
    };
    let silent = asked("Unknown");
    assert_eq!(verdict(&silent).1, "node.not_ready", "{silent:#}");
    assert_ne!(verdict(&silent).2, "established", "{silent:#}");
    let well = asked("True");
    assert_eq!(
        (verdict(&well).1, &well["incidents"][0]["actor"]["name"]),
        ("ops.manual_delete", &json!("alice@lab.example")),
        "{well:#}"
    );
}

/// kubectl evicts to drain, or what somebody writes by hand: a node that was drained is closed afterwards.
#[test]
fn who_evicts_from_a_node_that_stays_open_does_not_drain_it() {
    let asked = |unschedulable: bool| {
        let mut machine = node("g0", "True", "2026-11-01T00:01:00Z", "2026-11-24T10:05:00Z");
        if unschedulable {
            machine["spec"] = json!({ "unschedulable": true, "taints": [{
                "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-11-24T09:59:50Z",
            }] });
        }
        let mut lost = pod(
            0,
            "Failed",
            &json!({ "terminated": {
            "exitCode": 143, "reason": "Error", "startedAt": "2026-11-24T09:00:02Z", "finishedAt": "2026-11-24T10:00:01Z",
        } }),
        );
        lost["metadata"]["deletionTimestamp"] = "2026-11-24T10:00:30Z".into();
        lost["metadata"]["deletionGracePeriodSeconds"] = 30.into();
        let lines: Vec<String> = [
            job(&json!({ "backoffLimit": 0 }), &json!({ "failed": 1 })),
            lost,
            machine,
        ]
        .iter()
        .map(Value::to_string)
        .collect();
        let eviction = removal(
            "carol@lab.example",
            "2026-11-24T10:00:00.500000Z",
            "/api/v1/namespaces/ml/pods/run-0/eviction",
            &json!({ "responseStatus": { "code": 201 }, "userAgent": "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9" }),
        );
        ask(
            "job/ml/run",
            &[
                ("all.ndjson", lines.join("\n") + "\n"),
                ("audit.log", eviction),
            ],
        )
    };
    let by_hand = asked(false);
    assert_eq!(verdict(&by_hand).1, "ops.manual_delete", "{by_hand:#}");
    let drained = asked(true);
    assert_eq!(verdict(&drained).1, "ops.node_drained", "{drained:#}");
}

/// A Job's controller deletes whoever is left: the one that it does not delete had ended before.
#[test]
fn of_a_gang_known_from_events_the_member_that_was_not_deleted_failed_first() {
    let mut objects = Vec::new();
    for rank in ["0", "1", "2"] {
        let (name, uid) = (format!("run-{rank}"), format!("p-{rank}"));
        objects.push(event(
            "Job",
            "run",
            "u-run",
            "SuccessfulCreate",
            &format!("Created pod: {name}"),
            "2026-11-24T09:00:00Z",
            "job-controller",
        ));
        objects.push(event(
            "Pod",
            &name,
            &uid,
            "Scheduled",
            &format!("Successfully assigned ml/{name} to g{rank}"),
            "2026-11-24T09:00:00Z",
            "default-scheduler",
        ));
        objects.push(event(
            "Pod",
            &name,
            &uid,
            "Started",
            "Started container main",
            "2026-11-24T09:00:02Z",
            "kubelet",
        ));
        if rank != "1" {
            objects.push(event(
                "Job",
                "run",
                "u-run",
                "SuccessfulDelete",
                &format!("Deleted pod: {name}"),
                "2026-11-24T10:00:00Z",
                "job-controller",
            ));
            objects.push(event(
                "Pod",
                &name,
                &uid,
                "Killing",
                "Stopping container main",
                "2026-11-24T10:00:00Z",
                "kubelet",
            ));
        }
    }
    objects.push(event(
        "Job",
        "run",
        "u-run",
        "BackoffLimitExceeded",
        "Job has reached the specified backoff limit",
        "2026-11-24T10:00:02Z",
        "job-controller",
    ));
    let answer = told(&objects);
    let main = &answer["incidents"][0];
    assert_eq!(main["first_victim"]["pod"], "run-1", "{answer:#}");
    assert_eq!(main["actor"], Value::Null, "{answer:#}");
}

/// A container that failed a moment ago and runs again by its own word may fail again; a kubelet forgets that after ten
/// minutes.
#[test]
fn what_was_restarted_a_moment_ago_is_not_known_to_be_well() {
    let mut again = running(0);
    let status = &mut again["status"]["containerStatuses"][0];
    status["restartCount"] = 1.into();
    status["state"]["running"]["startedAt"] = "2026-11-24T10:00:02Z".into();
    status["lastState"] = json!({ "terminated": {
        "exitCode": 1, "reason": "Error", "startedAt": "2026-11-24T09:59:40Z", "finishedAt": "2026-11-24T10:00:00Z",
    } });
    for (now, level) in [
        ("2026-11-24T10:03:00Z", "supported"),
        ("2026-11-24T10:30:00Z", "established"),
    ] {
        again["status"]["conditions"] = json!([
            { "type": "Ready", "status": "True", "lastTransitionTime": now },
        ]);
        let alone = json!({ "parallelism": 1, "completions": 1 });
        let job = job(&alone, &json!({ "active": 1, "ready": 1 }));
        let answer = told(&[job, again.clone()]);
        let (state, cause, found, _) = verdict(&answer);
        assert_eq!(
            (state, cause, found),
            ("running", "none.running", level),
            "{answer:#}"
        );
    }
}

/// Whoever lists pods and `ReplicaSet`s alone has not seen the Deployment: how many pods it wants its `ReplicaSet` says.
#[test]
fn what_lacks_pods_is_not_well_though_its_own_object_was_not_seen() {
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": { "name": "judge-6d4", "namespace": "ml", "uid": "u-rs", "creationTimestamp": "2026-11-24T09:00:00Z",
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "judge", "uid": "u-dep", "controller": true }] },
        "spec": { "replicas": 2, "template": { "spec": { "containers": [{ "name": "main" }] } } },
        "status": { "replicas": 1 },
    });
    let mut one = running(0);
    one["metadata"]["name"] = "judge-6d4-aaaaa".into();
    one["metadata"]["labels"] = json!({});
    one["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "judge-6d4", "uid": "u-rs", "controller": true }]);
    let refused = json!({
        "apiVersion": "v1", "kind": "Event", "metadata": { "name": "judge-6d4.1", "namespace": "ml", "uid": "e-1" },
        "involvedObject": { "apiVersion": "apps/v1", "kind": "ReplicaSet", "namespace": "ml", "name": "judge-6d4", "uid": "u-rs" },
        "reason": "FailedCreate", "type": "Warning", "source": { "component": "replicaset-controller" }, "count": 9,
        "message": "Error creating: pods \"judge-6d4-bbbbb\" is forbidden: exceeded quota: team, requested: requests.memory=32Gi, used: requests.memory=32Gi, limited: requests.memory=40Gi",
        "firstTimestamp": "2026-11-24T09:00:01Z", "lastTimestamp": "2026-11-24T09:10:00Z",
    });
    let lines: Vec<String> = [set, one, refused].iter().map(Value::to_string).collect();
    let files = [("all.ndjson", lines.join("\n") + "\n")];
    let answer = ask("deployment/judge", &files);
    assert_eq!(verdict(&answer).1, "sched.quota", "{answer:#}");
}

/// A slowdown that is over is told with its end, beside a run that is well.
#[test]
fn a_slowdown_that_is_over_is_told_with_its_end() {
    let mut log = String::new();
    let (mut at, mut step) = (1_795_511_400_i64, 0);
    for (lines, seconds) in [(21, 60), (12, 150), (22, 60)] {
        for _ in 0..lines {
            at += seconds;
            step += 50;
            let time = whathappened_model::time::rfc3339(at * 1_000_000_000);
            log.push_str(&format!(
                "{time} stdout F step={step} loss={:.2}\n",
                3.0 - f64::from(step) / 9_000.0
            ));
        }
    }
    let job = job(
        &json!({ "parallelism": 1, "completions": 1 }),
        &json!({ "active": 1, "ready": 1 }),
    );
    let objects = format!("{job}\n{}\n", running(0));
    let files = [
        ("all.ndjson", objects),
        ("pods/ml_run-0_p-0/main/0.log", log),
    ];
    let answer = ask("job/ml/run", &files);
    assert_eq!(verdict(&answer).1, "none.running", "{answer:#}");
    let slow = &answer["incidents"][1];
    assert_eq!(slow["cause"], "slow.steps", "{answer:#}");
    assert_eq!(slow["role"], "recovered", "{answer:#}");
    assert!(slow["until"].is_string(), "{answer:#}");
}
