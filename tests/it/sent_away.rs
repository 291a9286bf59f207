//! Pods that were sent away, or asked to go when they were over: by whom, and whether that ended them.

use serde_json::{Value, json};

use super::deletions::record;
use super::unseen::{ask, text, verdict};

/// A job of so many pods on nodes `n0`, `n1`, …, that failed at 10:30:03, or runs.
pub(super) fn job(pods: usize, failed: bool) -> Value {
    let conditions = json!([{ "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
        "message": "Job has reached the specified backoff limit", "lastTransitionTime": "2026-11-24T10:30:03Z" }]);
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "bert", "namespace": "ml", "uid": "job-1", "creationTimestamp": "2026-11-24T10:00:00Z" },
        "spec": { "parallelism": pods, "completions": pods, "completionMode": "Indexed", "backoffLimit": 0,
            "template": { "spec": { "containers": [{ "name": "main" }] } } },
        "status": { "conditions": if failed { conditions } else { json!([]) } },
    })
}

/// A pod of that job, with the state of its container.
pub(super) fn pod(rank: usize, phase: &str, state: &Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": format!("bert-{rank}-aaaa{rank}"), "namespace": "ml", "uid": format!("pod-{rank}"),
            "creationTimestamp": "2026-11-24T10:00:01Z",
            "labels": { "batch.kubernetes.io/job-name": "bert", "batch.kubernetes.io/job-completion-index": rank.to_string() },
            "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "job-1", "controller": true }] },
        "spec": { "nodeName": format!("n{rank}"), "restartPolicy": "Never", "containers": [{ "name": "main" }] },
        "status": { "phase": phase, "startTime": "2026-11-24T10:00:02Z",
            "containerStatuses": [{ "name": "main", "restartCount": 0, "ready": phase == "Running", "state": state }] },
    })
}

pub(super) fn running() -> Value {
    json!({ "running": { "startedAt": "2026-11-24T10:00:05Z" } })
}

pub(super) fn ended(code: i32, reason: &str, at: &str) -> Value {
    json!({ "terminated": { "exitCode": code, "reason": reason, "startedAt": "2026-11-24T10:00:05Z",
        "finishedAt": format!("2026-11-24T{at}Z") } })
}

pub(super) fn event(pod: &str, reason: &str, message: &str, by: &str, at: &str) -> Value {
    let time = format!("2026-11-24T{at}Z");
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": format!("{pod}.{reason}"), "namespace": "ml", "uid": format!("{pod}-{reason}"), "creationTimestamp": time },
        "involvedObject": { "kind": "Pod", "namespace": "ml", "name": pod }, "reason": reason, "message": message,
        "type": "Normal", "firstTimestamp": time, "lastTimestamp": time, "count": 1, "source": { "component": by },
    })
}

pub(super) fn list(items: &[Value]) -> String {
    json!({ "apiVersion": "v1", "kind": "List", "items": items }).to_string()
}

pub(super) fn actor(answer: &Value) -> &str {
    answer["incidents"][0]["actor"]["name"]
        .as_str()
        .unwrap_or_default()
}

fn started() -> Value {
    event(
        "bert-0-aaaa0",
        "Started",
        "Container started",
        "kubelet",
        "10:00:05",
    )
}

/// That the pod was placed.
fn placed() -> Value {
    event(
        "bert-0-aaaa0",
        "Scheduled",
        "Successfully assigned ml/bert-0-aaaa0 to n0",
        "default-scheduler",
        "10:00:02",
    )
}

/// That the job's controller made the pod.
fn made() -> Value {
    let mut made = event(
        "bert",
        "SuccessfulCreate",
        "Created pod: bert-0-aaaa0",
        "job-controller",
        "10:00:01",
    );
    made["involvedObject"]["kind"] = "Job".into();
    made["involvedObject"]["apiVersion"] = "batch/v1".into();
    made["involvedObject"]["uid"] = "job-1".into();
    made
}

fn killing(at: &str) -> Value {
    event(
        "bert-0-aaaa0",
        "Killing",
        "Stopping container main",
        "kubelet",
        at,
    )
}

fn sent_away() -> Value {
    event(
        "bert-0-aaaa0",
        "TaintManagerEviction",
        "Marking for deletion Pod ml/bert-0-aaaa0",
        "taint-eviction-controller",
        "10:30:00",
    )
}

/// Cause, level and actor of the job whose pod is gone, of which these Events are left.
fn of_events(events: &[Value]) -> (String, String) {
    let answer = ask(
        "bert",
        &[
            ("jobs.json", list(&[job(1, true)])),
            ("events.json", list(events)),
        ],
    );
    let (_, cause, level, _) = verdict(&answer);
    (cause.to_owned(), level.to_owned())
}

#[test]
fn a_taint_that_nobody_saw_is_a_silent_node_only_where_its_controller_says_so() {
    let not_ready = event(
        "bert-0-aaaa0",
        "NodeNotReady",
        "Node is not ready",
        "node-controller",
        "10:25:00",
    );
    let (cause, _) = of_events(&[made(), placed(), started(), not_ready, sent_away()]);
    assert_eq!(cause, "node.not_ready");
    // Its kubelet was there. Whether that said of itself that it was not ready, or somebody set a taint, only the node tells.
    let (cause, _) = of_events(&[
        made(),
        placed(),
        started(),
        sent_away(),
        killing("10:30:01"),
    ]);
    assert_eq!(cause, "unknown");
    // It was over when it was sent away.
    let (cause, _) = of_events(&[made(), placed(), started(), sent_away()]);
    assert!(
        !["ops.node_drained", "node.not_ready"].contains(&cause.as_str()),
        "{cause}"
    );
}

/// An audit record of metadata about a pod of the job, or its node.
pub(super) fn asked(
    verb: &str,
    user: &str,
    at: &str,
    resource: &str,
    name: &str,
    sub: &str,
) -> String {
    let mut object = json!({ "resource": resource, "name": name, "apiVersion": "v1" });
    if resource != "nodes" {
        object["namespace"] = "ml".into();
    }
    if resource == "jobs" {
        object["apiGroup"] = "batch".into();
    }
    if !sub.is_empty() {
        object["subresource"] = sub.into();
    }
    record(
        verb,
        user,
        &format!("2026-11-24T{at}Z"),
        &object,
        "",
        &json!({}),
    )
}

const NODES: &str = "system:serviceaccount:kube-system:node-controller";
const COLLECTOR: &str = "system:serviceaccount:kube-system:generic-garbage-collector";

#[test]
fn who_changed_a_node_before_its_controller_sent_a_pod_away_may_have_tainted_it() {
    let log = text(&[
        &asked(
            "patch",
            "bob@lab.example",
            "10:29:59.500000",
            "nodes",
            "n0",
            "",
        ),
        &asked(
            "delete",
            NODES,
            "10:30:00.100000",
            "pods",
            "bert-0-aaaa0",
            "",
        ),
    ]);
    let pods = list(&[
        job(1, true),
        pod(0, "Failed", &ended(143, "Error", "10:30:01")),
    ]);
    let answer = ask("bert", &[("audit.log", log), ("objects.json", pods)]);
    let (_, cause, level, _) = verdict(&answer);
    assert_eq!(
        (cause, level, actor(&answer)),
        ("ops.node_drained", "hypothesis", "bob@lab.example"),
        "{answer:#}"
    );
}

#[test]
fn what_was_asked_to_go_before_a_drain_was_not_drained() {
    let log = text(&[
        &asked(
            "delete",
            "dave@lab.example",
            "10:30:00.100000",
            "jobs",
            "bert",
            "",
        ),
        &asked(
            "delete",
            COLLECTOR,
            "10:30:00.300000",
            "pods",
            "bert-0-aaaa0",
            "",
        ),
        &asked(
            "patch",
            "bob@lab.example",
            "10:30:01.000000",
            "nodes",
            "n0",
            "",
        ),
        &asked(
            "create",
            "bob@lab.example",
            "10:30:01.400000",
            "pods",
            "bert-0-aaaa0",
            "eviction",
        ),
    ]);
    let pods = list(&[job(1, false), pod(0, "Running", &running())]);
    let answer = ask("bert", &[("audit.log", log), ("objects.json", pods)]);
    let (_, cause, _, _) = verdict(&answer);
    assert_eq!(
        (cause, actor(&answer)),
        ("ops.manual_delete", "dave@lab.example"),
        "{answer:#}"
    );
}

#[test]
fn a_pod_whose_node_is_out_of_reach_fails_no_probe() {
    let mut cut_off = pod(0, "Running", &running());
    let ready = |kind: &str, status: &str, at: &str| {
        json!({ "type": kind, "status": status, "reason": "ContainersNotReady",
            "message": "containers with unready status: [main]", "lastTransitionTime": format!("2026-11-24T{at}Z") })
    };
    let of = |containers: &str, cut_off: &mut Value| {
        cut_off["status"]["conditions"] = json!([
            ready("Ready", "False", "10:20:00"),
            ready("ContainersReady", containers, "10:00:05")
        ]);
        let answer = ask(
            "bert",
            &[("objects.json", list(&[job(1, false), cut_off.clone()]))],
        );
        verdict(&answer).1.to_owned()
    };
    assert_eq!(of("False", &mut cut_off), "code.readiness_probe");
    assert_eq!(of("True", &mut cut_off), "node.not_ready");
}

#[test]
fn a_pod_that_nobody_owns_is_deleted_as_a_whole() {
    let mut bare = pod(0, "Running", &running());
    let meta = bare["metadata"].as_object_mut().unwrap();
    meta.remove("ownerReferences");
    meta.remove("labels");
    let log = asked(
        "delete",
        "carol@lab.example",
        "10:30:00.100000",
        "pods",
        "bert-0-aaaa0",
        "",
    ) + "\n";
    let watch = ["ADDED", "DELETED"].map(|kind| {
        if kind == "DELETED" {
            bare["metadata"]["deletionTimestamp"] = "2026-11-24T10:30:30Z".into();
        }
        json!({ "type": kind, "object": bare }).to_string()
    });
    let answer = ask(
        "bert-0-aaaa0",
        &[("audit.log", log), ("pods.ndjson", watch.join("\n") + "\n")],
    );
    assert_eq!(answer["runs"][0]["state"], "deleted", "{answer:#}");
    assert_eq!(verdict(&answer).1, "ops.manual_delete");
}

#[test]
fn what_ended_once_and_runs_again_is_running() {
    let mut again = pod(
        0,
        "Running",
        &json!({ "running": { "startedAt": "2026-11-24T10:00:15Z" } }),
    );
    let status = &mut again["status"];
    status["conditions"] = json!([{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-11-24T10:00:15Z" }]);
    status["containerStatuses"][0]["restartCount"] = 1.into();
    status["containerStatuses"][0]["lastState"] = json!({ "terminated": { "exitCode": 1, "reason": "Error",
        "startedAt": "2026-11-24T10:00:05Z", "finishedAt": "2026-11-24T10:00:14Z" } });
    let events = event(
        "bert-0-aaaa0",
        "Started",
        "Container started",
        "kubelet",
        "10:00:16",
    );
    let answer = ask(
        "bert",
        &[("objects.json", list(&[job(1, false), again, events]))],
    );
    assert_eq!(answer["runs"][0]["state"], "running", "{answer:#}");
    assert_eq!(verdict(&answer).1, "code.exception");
    let victim = &answer["incidents"][0]["first_victims"][0];
    assert!(!victim.to_string().contains("keeps ending"), "{victim}");
}

/// The server that answers a request writes the time of deletion after it came in: the second of that time was over when
/// this eviction came.
#[test]
fn who_asks_in_the_next_second_asks_a_pod_that_was_going() {
    let named = |deleted_at: &str, job_deleted: bool| {
        let mut going = pod(0, "Failed", &ended(143, "Error", "10:30:02"));
        going["metadata"]["deletionTimestamp"] = format!("2026-11-24T{deleted_at}Z").into();
        going["metadata"]["deletionGracePeriodSeconds"] = 30.into();
        let requests = [
            asked(
                "patch",
                "zoe@lab.example",
                "10:29:58.000000",
                "nodes",
                "n0",
                "",
            ),
            asked(
                "delete",
                "adam@lab.example",
                "10:29:59.000000",
                "jobs",
                "bert",
                "",
            ),
            asked(
                "create",
                "zoe@lab.example",
                "10:30:00.000000",
                "pods",
                "bert-0-aaaa0",
                "eviction",
            ),
        ];
        let answer = ask(
            "bert",
            &[
                ("objects.json", list(&[job(1, false), going])),
                ("events.json", list(&[started()])),
                (
                    "audit.log",
                    requests
                        .into_iter()
                        .filter(|one| job_deleted || !one.contains("adam"))
                        .collect::<Vec<_>>()
                        .join("\n"),
                ),
            ],
        );
        actor(&answer).to_owned()
    };
    assert_eq!(named("10:30:29", true), "adam@lab.example");
    assert_eq!(named("10:30:30", false), "zoe@lab.example");
}

#[test]
fn who_asks_for_a_pod_that_its_kubelet_was_evicting_did_not_end_it() {
    let evicted = event(
        "bert-0-aaaa0",
        "Evicted",
        "The node was low on resource: memory. Threshold quantity: 100Mi, available: 52Mi. ",
        "kubelet",
        "10:30:00",
    );
    let cause = |asked_at: &str| {
        let request = asked(
            "create",
            "zoe@lab.example",
            asked_at,
            "pods",
            "bert-0-aaaa0",
            "eviction",
        );
        let pods = list(&[
            job(1, true),
            pod(0, "Failed", &ended(137, "Error", "10:30:04")),
            evicted.clone(),
        ]);
        let answer = ask(
            "bert",
            &[("audit.log", text(&[&request])), ("objects.json", pods)],
        );
        let (_, cause, level, _) = verdict(&answer);
        (cause.to_owned(), level.to_owned())
    };
    // Two seconds later she asks for what was going already.
    assert_eq!(cause("10:30:03.000000").0, "sched.node_pressure");
}

/// A node of which somebody shut the door at 10:29:50.
fn closed_node() -> Vec<Value> {
    let node = |revision: &str, closed: bool| {
        let mut node = json!({
            "apiVersion": "v1", "kind": "Node",
            "metadata": { "name": "n0", "uid": "node-0", "resourceVersion": revision, "creationTimestamp": "2026-11-20T10:00:00Z" },
            "spec": {}, "status": { "conditions": [{ "type": "Ready", "status": "True", "lastHeartbeatTime": "2026-11-24T10:29:00Z" }] },
        });
        if closed {
            node["spec"] = json!({ "unschedulable": true, "taints": [
                { "key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule", "timeAdded": "2026-11-24T10:29:50Z" }] });
        }
        node
    };
    vec![node("100", false), node("200", true)]
}

/// The API server marks what it evicts before it does so: a pod that was deleted without that mark was not drained.
#[test]
fn what_was_deleted_and_not_evicted_was_not_drained() {
    let cause = |evicted: bool| {
        let mut going = pod(0, "Running", &running());
        going["metadata"]["deletionTimestamp"] = "2026-11-24T10:30:30Z".into();
        going["metadata"]["deletionGracePeriodSeconds"] = 30.into();
        let conditions = json!([{ "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
            "message": "Eviction API: evicting", "lastTransitionTime": "2026-11-24T10:30:00Z" }]);
        if evicted {
            going["status"]["conditions"] = conditions;
        }
        let mut objects = closed_node();
        objects.push(going);
        let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
        let answer = ask("bert", &[("watch.ndjson", lines.join("\n") + "\n")]);
        (verdict(&answer).1.to_owned(), verdict(&answer).2.to_owned())
    };
    let told = |cause: &str, level: &str| (cause.to_owned(), level.to_owned());
    assert_eq!(cause(true).0, "ops.node_drained");
    assert_eq!(cause(false), told("ops.manual_delete", "hypothesis"));
}

/// Kubelets write whole seconds: of two that ended by themselves in one second nobody knows who was first.
#[test]
fn of_two_that_ended_in_one_second_neither_followed() {
    let objects = [
        job(2, true),
        pod(0, "Failed", &ended(1, "Error", "10:30:00")),
        pod(1, "Failed", &ended(137, "OOMKilled", "10:30:00")),
    ];
    let answer = ask("bert", &[("objects.json", list(&objects))]);
    let main = &answer["incidents"][0];
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
    let first = main["first_victims"].as_array().map_or(0, Vec::len);
    let followed = main["collateral"].as_array().map_or(0, Vec::len);
    assert_eq!((first, followed), (2, 0), "{answer:#}");
    let steps = main["chain"].as_array().into_iter().flatten();
    let torn_down = steps.filter(|step| step["role"] == "teardown").count();
    assert_eq!(torn_down, 0, "{answer:#}");
}

/// A controller that replaces a pod under its name deletes the one and makes the other within a second.
#[test]
fn who_replaces_a_pod_under_its_name_deleted_the_one_before() {
    let of = |uid: &str, created: &str| {
        let waits = json!({ "waiting": { "reason": "CrashLoopBackOff", "message": "back-off 20s restarting failed container" } });
        let mut one = pod(0, "Running", &waits);
        one["metadata"]["name"] = "bert-0".into();
        one["metadata"]["uid"] = uid.into();
        one["metadata"]["creationTimestamp"] = created.into();
        one["metadata"]["labels"] = json!({ "apps.kubernetes.io/pod-index": "0" });
        one["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "bert", "uid": "set-1", "controller": true }]);
        one["status"]["startTime"] = created.into();
        one["status"]["containerStatuses"][0]["restartCount"] = 2.into();
        one["status"]["containerStatuses"][0]["ready"] = false.into();
        one["status"]["containerStatuses"][0]["lastState"] = json!({ "terminated": { "exitCode": 1, "reason": "Error",
            "startedAt": "2026-11-24T10:30:50Z", "finishedAt": "2026-11-24T10:31:00Z" } });
        one
    };
    let of_pod = |reason: &str, message: &str, at: &str| {
        let mut told = event("bert-0", reason, message, "kubelet", at);
        told["involvedObject"]["uid"] = "pod-old".into();
        told
    };
    let mut deleted = event(
        "bert",
        "SuccessfulDelete",
        "delete Pod bert-0 in StatefulSet bert successful",
        "statefulset-controller",
        "10:30:00",
    );
    deleted["involvedObject"] = json!({ "kind": "StatefulSet", "apiVersion": "apps/v1", "namespace": "ml", "name": "bert", "uid": "set-1" });
    let events = [
        of_pod("Started", "Container started", "10:00:05"),
        of_pod("Killing", "Stopping container main", "10:30:00"),
        deleted,
    ];
    let pods = [of("pod-new", "2026-11-24T10:30:01Z")];
    let answer = ask(
        "bert",
        &[("events.json", list(&events)), ("pods.json", list(&pods))],
    );
    let incidents = answer["incidents"].as_array().into_iter().flatten();
    let told: Vec<(String, String)> = incidents
        .map(|one| {
            let of = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            (of(&one["cause"]), of(&one["actor"]["name"]))
        })
        .collect();
    let of = |cause: &str, by: &str| (cause.to_owned(), by.to_owned());
    assert_eq!(
        told,
        [
            of("code.exception", ""),
            of("unknown", "statefulset-controller")
        ],
        "{answer:#}"
    );
}
