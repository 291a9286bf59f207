//! What a run had got over, what was cleared away after it and who ran beside it: none of these ended it.

use serde_json::{Value, json};

use super::unseen::{ask, verdict};

/// Seconds after the run was made.
fn at(second: u32) -> String {
    format!("2026-03-02T10:{:02}:{:02}Z", second / 60, second % 60)
}

fn condition(kind: &str, reason: &str, second: u32) -> Value {
    json!({ "type": kind, "status": "True", "reason": reason, "message": reason, "lastTransitionTime": at(second) })
}

/// A Job of two ranks that puts up with so many failures, and had counted so many when it was given up.
fn job(limit: u32, failed: u32, reason: &str, second: u32) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": at(0) },
        "spec": { "parallelism": 2, "completions": 2, "completionMode": "Indexed", "backoffLimit": limit,
            "template": { "spec": { "restartPolicy": "Never", "containers": [{ "name": "main", "image": "train" }] } } },
        "status": { "failed": failed, "startTime": at(0),
            "conditions": [condition("FailureTarget", reason, second), condition("Failed", reason, second + 3)] },
    })
}

fn of_job(name: &str) -> Value {
    json!({ "labels": { "batch.kubernetes.io/job-completion-index": name.split('-').nth(1) },
        "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "u-run", "controller": true }] })
}

/// A pod that is made at a time, and what more its metadata say.
fn pod(name: &str, made: u32, more: &Value, status: &Value) -> Value {
    let mut metadata = json!({ "name": name, "namespace": "ml", "uid": format!("u-{name}"), "creationTimestamp": at(made) });
    let fields = metadata.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": { "nodeName": format!("n-{name}"), "containers": [{ "name": "main", "image": "train" }] },
        "status": status,
    })
}

fn failed(code: u32, started: u32, ended: u32) -> Value {
    let reason = if code == 137 { "OOMKilled" } else { "Error" };
    json!({ "phase": "Failed", "startTime": at(started), "containerStatuses": [{ "name": "main", "restartCount": 0, "state": {
        "terminated": { "exitCode": code, "reason": reason, "startedAt": at(started), "finishedAt": at(ended) },
    } }] })
}

fn running(started: u32) -> Value {
    json!({ "phase": "Running", "startTime": at(started),
        "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": at(started) }],
        "containerStatuses": [{ "name": "main", "ready": true, "restartCount": 0, "state": { "running": { "startedAt": at(started) } } }] })
}

fn event(kind: &str, name: &str, by: &str, reason: &str, message: &str, second: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Normal",
        "metadata": { "name": format!("{name}.{reason}.{second}"), "namespace": "ml", "uid": format!("e-{name}-{reason}-{second}"),
            "creationTimestamp": at(second) },
        "involvedObject": { "kind": kind, "name": name, "namespace": "ml", "uid": format!("u-{name}") },
        "reason": reason, "message": message, "source": { "component": by },
        "firstTimestamp": at(second), "lastTimestamp": at(second), "count": 1,
    })
}

fn about(question: &str, objects: &[Value]) -> Value {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    ask(question, &[("all.ndjson", lines.join("\n") + "\n")])
}

fn role_of<'a>(answer: &'a Value, cause: &str) -> Vec<&'a str> {
    let all = answer["incidents"].as_array().expect("a list");
    let of = all.iter().filter(|one| one["cause"] == cause);
    of.filter_map(|one| one["role"].as_str()).collect()
}

#[test]
fn a_crash_after_which_another_pod_had_started_is_not_what_ended_the_job() {
    let started = |name: &str, second| {
        [
            event(
                "Pod",
                name,
                "default-scheduler",
                "Scheduled",
                &format!("Successfully assigned ml/{name} to n-{name}"),
                second,
            ),
            event(
                "Pod",
                name,
                "kubelet",
                "Started",
                "Container started",
                second,
            ),
        ]
    };
    let mut all = vec![
        job(1, 3, "BackoffLimitExceeded", 26),
        pod("run-0-aaaaa", 0, &of_job("run-0-aaaaa"), &failed(1, 0, 6)),
        event(
            "Job",
            "run",
            "job-controller",
            "SuccessfulCreate",
            "Created pod: run-0-ccccc",
            17,
        ),
        event(
            "Pod",
            "run-1-bbbbb",
            "kubelet",
            "Killing",
            "Stopping container main",
            25,
        ),
        event(
            "Job",
            "run",
            "job-controller",
            "SuccessfulDelete",
            "Deleted pod: run-0-ccccc",
            26,
        ),
        event(
            "Pod",
            "run-0-ccccc",
            "kubelet",
            "Killing",
            "Stopping container main",
            26,
        ),
        event(
            "Job",
            "run",
            "job-controller",
            "BackoffLimitExceeded",
            "Job has reached the specified backoff limit",
            28,
        ),
    ];
    all.extend(started("run-1-bbbbb", 0));
    all.extend(started("run-0-ccccc", 18));
    let answer = about("run", &all);
    let (state, cause, level, _) = verdict(&answer);
    assert_eq!(state, "failed", "{answer:#}");
    assert!(cause == "unknown" || level == "hypothesis", "{answer:#}");
    assert_eq!(
        role_of(&answer, "code.exception"),
        ["recovered"],
        "{answer:#}"
    );
}

#[test]
fn a_failure_that_a_job_puts_up_with_is_not_what_ended_it_when_its_time_was_up() {
    let oom = pod("run-1-bbbbb", 0, &of_job("run-1-bbbbb"), &failed(137, 0, 7));
    let answer = about("run", &[job(4, 3, "DeadlineExceeded", 40), oom.clone()]);
    assert_eq!(verdict(&answer).1, "code.deadline", "{answer:#}");
    assert_eq!(
        role_of(&answer, "code.host_oom"),
        ["recovered"],
        "{answer:#}"
    );
    // Nothing else was there when its time was up: it had only waited for that one to be tried again.
    let answer = about("run", &[job(4, 1, "DeadlineExceeded", 40), oom]);
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
}

#[test]
fn the_failure_that_is_one_too_many_ends_a_job_at_once() {
    let oom = pod("run-0-aaaaa", 0, &of_job("run-0-aaaaa"), &failed(137, 0, 6));
    let later = pod("run-1-bbbbb", 0, &of_job("run-1-bbbbb"), &failed(1, 0, 28));
    let answer = about(
        "run",
        &[job(1, 3, "BackoffLimitExceeded", 29), oom.clone(), later],
    );
    let first = &answer["incidents"][0]["first_victim"]["pod"];
    assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
    assert_eq!(first, "run-1-bbbbb", "{answer:#}");
    // Of what used up the rest nothing is left.
    let answer = about("run", &[job(1, 3, "BackoffLimitExceeded", 29), oom.clone()]);
    assert_eq!(verdict(&answer).1, "unknown", "{answer:#}");
    // Where no failure is put up with, that one ended it, whenever it was counted.
    let answer = about("run", &[job(0, 2, "BackoffLimitExceeded", 29), oom]);
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
}

#[test]
fn who_may_have_waited_for_a_member_ended_of_its_end() {
    let oom = pod("run-0-aaaaa", 0, &of_job("run-0-aaaaa"), &failed(137, 0, 6));
    let later = pod("run-1-bbbbb", 0, &of_job("run-1-bbbbb"), &failed(1, 0, 612));
    let answer = about("run", &[job(1, 3, "BackoffLimitExceeded", 613), oom, later]);
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
}

/// A job of Ray's that failed, and whose operator then removed its cluster.
fn ray() -> [Value; 2] {
    let owner = json!([{ "apiVersion": "ray.io/v1", "kind": "RayJob", "name": "run", "uid": "u-run", "controller": true }]);
    [
        json!({ "apiVersion": "ray.io/v1", "kind": "RayJob",
            "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": at(0) },
            "spec": { "shutdownAfterJobFinishes": true },
            "status": { "jobStatus": "FAILED", "jobDeploymentStatus": "Failed", "endTime": at(60), "startTime": at(1),
                "message": "Job supervisor actor died", "rayClusterName": "run-8x2kq" } }),
        json!({ "apiVersion": "ray.io/v1", "kind": "RayCluster",
            "metadata": { "name": "run-8x2kq", "namespace": "ml", "uid": "u-run-8x2kq", "creationTimestamp": at(1), "ownerReferences": owner } }),
    ]
}

#[test]
fn what_is_deleted_after_a_job_failed_is_clearing_up() {
    let owner = json!({ "ownerReferences": [{ "apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "run-8x2kq", "uid": "u-run-8x2kq", "controller": true }],
        "deletionTimestamp": at(92), "deletionGracePeriodSeconds": 30 });
    let mut head = running(2);
    head["containerStatuses"][0]["restartCount"] = json!(1);
    head["containerStatuses"][0]["lastState"] =
        failed(137, 2, 56)["containerStatuses"][0]["state"].clone();
    let [job, cluster] = ray();
    let mut all = vec![job, cluster, pod("run-8x2kq-head-7fk2p", 2, &owner, &head)];
    all.push(pod("run-8x2kq-gpu-worker-b4x9t", 2, &owner, &running(2)));
    let answer = about("run", &all);
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
    assert!(role_of(&answer, "unknown").is_empty(), "{answer:#}");
    assert!(
        role_of(&answer, "ops.manual_delete").is_empty(),
        "{answer:#}"
    );
    // Of the same without the container's end nothing but its own word is known.
    let mut all = ray().to_vec();
    all.push(pod("run-8x2kq-head-7fk2p", 2, &owner, &running(2)));
    let answer = about("run", &all);
    let (state, cause, ..) = verdict(&answer);
    assert_eq!((state, cause), ("failed", "unknown"), "{answer:#}");
}

/// A pod that nobody owns.
fn bare(name: &str, made: u32, status: &Value) -> Value {
    pod(
        name,
        made,
        &json!({ "labels": { "experiment": "sft" } }),
        status,
    )
}

#[test]
fn bare_pods_of_one_experiment_that_were_there_at_one_time_are_one_run() {
    let all = [
        bare("sft-0", 0, &failed(1, 1, 63)),
        bare("sft-1", 0, &failed(137, 1, 60)),
    ];
    let answer = about("sft", &all);
    assert_eq!(verdict(&answer).1, "code.host_oom", "{answer:#}");
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(1),
        "{answer:#}"
    );
    // Those that followed each other are not.
    let all = [
        bare("sft-0", 0, &failed(137, 1, 60)),
        bare("sft-1", 70, &failed(1, 71, 90)),
    ];
    let answer = about("sft", &all);
    assert_eq!(verdict(&answer).1, "code.exception", "{answer:#}");
    assert_eq!(
        answer["runs"].as_array().map(Vec::len),
        Some(2),
        "{answer:#}"
    );
}

#[test]
fn bare_pods_go_on_without_one_that_failed_unless_they_say_that_they_miss_it() {
    let others = [bare("sft-0", 0, &running(1)), bare("sft-2", 0, &running(1))];
    let failed = bare("sft-1", 0, &failed(137, 1, 60));
    let all = [others[0].clone(), failed, others[1].clone()];
    let answer = about("sft", &all);
    assert_eq!(answer["runs"][0]["state"], "running", "{answer:#}");
    assert_eq!(role_of(&answer, "code.host_oom"), ["main"], "{answer:#}");
}

#[test]
fn an_index_that_has_failed_for_good_is_not_gone_on_from() {
    let mut job = job(6, 1, "BackoffLimitExceeded", 60);
    job["spec"]["backoffLimitPerIndex"] = json!(0);
    job["status"] =
        json!({ "startTime": at(0), "active": 1, "ready": 1, "failed": 1, "failedIndexes": "0" });
    let all = [
        job,
        pod("run-0-aaaaa", 0, &of_job("run-0-aaaaa"), &failed(1, 1, 40)),
        pod("run-1-bbbbb", 0, &of_job("run-1-bbbbb"), &running(1)),
    ];
    let answer = about("run", &all);
    let (state, cause, ..) = verdict(&answer);
    assert_eq!((state, cause), ("running", "code.exception"), "{answer:#}");
    assert_eq!(role_of(&answer, "code.exception"), ["main"], "{answer:#}");
}

/// A stateful set makes a pod of the same name once the one before is gone, within the same second.
#[test]
fn a_set_of_which_a_member_is_made_anew_has_not_failed() {
    let owner = json!({ "labels": { "apps.kubernetes.io/pod-index": "1" },
        "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "sft", "uid": "u-sft", "controller": true }] });
    let set = json!({ "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": { "name": "sft", "namespace": "ml", "uid": "u-sft", "creationTimestamp": at(0) },
        "spec": { "replicas": 2, "selector": { "matchLabels": { "app": "sft" } } },
        "status": { "replicas": 2, "readyReplicas": 1 } });
    let mut before = pod("sft-1", 0, &owner, &running(1));
    let mut other = pod("sft-0", 0, &owner, &running(1));
    other["metadata"]["labels"]["apps.kubernetes.io/pod-index"] = json!("0");
    let mut anew = pod(
        "sft-1",
        46,
        &owner,
        &json!({ "phase": "Pending",
        "containerStatuses": [{ "name": "main", "restartCount": 0, "state": { "waiting": { "reason": "ContainerCreating" } } }] }),
    );
    anew["metadata"]["uid"] = json!("u-sft-1-anew");
    let request = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "a-1", "stage": "ResponseComplete",
        "verb": "delete", "requestURI": "/api/v1/namespaces/ml/pods/sft-1", "user": { "username": "alice@example.org" },
        "userAgent": "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9",
        "objectRef": { "resource": "pods", "namespace": "ml", "name": "sft-1", "uid": "u-sft-1", "apiVersion": "v1" },
        "responseStatus": { "code": 200 },
        "requestReceivedTimestamp": "2026-03-02T10:00:46.821Z", "stageTimestamp": "2026-03-02T10:00:46.823Z",
    });
    before["metadata"]["resourceVersion"] = json!("100");
    anew["metadata"]["resourceVersion"] = json!("200");
    let waits = event(
        "Pod",
        "sft-1",
        "attachdetach-controller",
        "FailedAttachVolume",
        "Multi-Attach error for volume \"pvc-9\" Volume is already exclusively attached to one node and can't be attached to another",
        47,
    );
    let mut waits = waits;
    waits["involvedObject"]["uid"] = json!("u-sft-1-anew");
    let answer = about("sft", &[set, other, before, anew, request, waits]);
    let state = answer["runs"][0]["state"].as_str().unwrap_or_default();
    assert!(matches!(state, "pending" | "running"), "{answer:#}");
}

/// An autoscaler makes a cluster of Ray's smaller; the record of that is in the audit log.
#[test]
fn who_makes_a_group_of_an_operators_smaller_is_named() {
    let body = |replicas: u32, generation: u32, revision: &str| {
        json!({ "apiVersion": "ray.io/v1", "kind": "RayCluster",
            "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": at(0), "generation": generation, "resourceVersion": revision },
            "spec": { "headGroupSpec": {}, "workerGroupSpecs": [{ "groupName": "gpu", "replicas": replicas }] } })
    };
    let request = |verb: &str, user: &str, second: u32, body: Value| {
        json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": format!("a-{second}"), "stage": "ResponseComplete",
            "verb": verb, "requestURI": "/apis/ray.io/v1/namespaces/ml/rayclusters/run", "user": { "username": user }, "userAgent": "ray-autoscaler",
            "objectRef": { "resource": "rayclusters", "namespace": "ml", "name": "run", "uid": "u-run", "apiGroup": "ray.io", "apiVersion": "v1" },
            "responseStatus": { "code": 200 }, "requestObject": { "spec": body["spec"] }, "responseObject": body,
            "requestReceivedTimestamp": at(second), "stageTimestamp": at(second),
        })
    };
    let operator = "system:serviceaccount:kuberay:kuberay-operator";
    let owner = json!({ "ownerReferences": [{ "apiVersion": "ray.io/v1", "kind": "RayCluster", "name": "run", "uid": "u-run", "controller": true }] });
    let mut gone = owner.clone();
    gone["deletionTimestamp"] = json!(at(50));
    gone["deletionGracePeriodSeconds"] = json!(30);
    let all = [
        request("create", "alice@example.org", 0, body(2, 1, "10")),
        request("patch", operator, 20, body(1, 2, "20")),
        pod("run-head-aaaaa", 1, &owner, &running(2)),
        pod("run-gpu-worker-bbbbb", 1, &owner, &running(2)),
        pod("run-gpu-worker-ccccc", 1, &gone, &running(2)),
    ];
    let answer = about("run", &all);
    let incidents = answer["incidents"].as_array().expect("a list");
    let change = incidents
        .iter()
        .find(|one| one["cause"] == "ops.config_change");
    let change = change.unwrap_or_else(|| panic!("{answer:#}"));
    assert_eq!(change["actor"]["name"], operator, "{answer:#}");
    assert_eq!(change["actor_unseen"], false, "{answer:#}");
}

/// A set makes a pod of the same name a moment after it was stopped: one table tells of both.
#[test]
fn what_a_table_tells_of_a_pod_before_it_was_scheduled_is_of_the_one_before() {
    let described = |name: &str, started: &str| {
        format!(
            "Name:             {name}\n\
             Namespace:        ml\n\
             Node:             gpu-1/10.0.0.1\n\
             Start Time:       Mon, 02 Mar 2026 {started} +0000\n\
             Status:           Running\n\
             Controlled By:    PyTorchJob/sft\n\
             Containers:\n  main:\n    Image:          train\n    State:          Running\n      Started:      Mon, 02 Mar 2026 {started} +0000\n    Ready:          True\n    Restart Count:  0\n\
             Conditions:\n  Type    Status\n  Ready   True \n\n\n"
        )
    };
    let row = |age: &str, reason: &str, name: &str, message: &str| {
        format!("{age:12}Normal   {reason:15}  pod/{name}   {message}\n")
    };
    let placed = |age: &str, name: &str| {
        row(
            age,
            "Scheduled",
            name,
            &format!("Successfully assigned ml/{name} to gpu-1"),
        ) + &row(age, "Started", name, "Container started")
    };
    let session = [
        "$ date -u\nMon Mar  2 10:05:00 UTC 2026\n$ kubectl -n ml describe pods\n".to_owned(),
        described("sft-worker-0", "10:04:40"),
        described("sft-worker-1", "10:04:49"),
        "$ kubectl -n ml get events\nLAST SEEN   TYPE     REASON           OBJECT             MESSAGE\n".to_owned(),
        placed("21s", "sft-worker-0"),
        placed("21s", "sft-worker-1"),
        row("15s", "Killing", "sft-worker-1", "Stopping container main"),
        placed("13s", "sft-worker-1"),
    ];
    let answer = ask("sft", &[("session.txt", session.concat())]);
    let (state, cause, ..) = verdict(&answer);
    assert_eq!((state, cause), ("running", "none.running"), "{answer:#}");
}

#[test]
fn a_container_that_ends_as_it_was_meant_to_has_not_failed() {
    let mut again = running(31);
    again["containerStatuses"][0]["restartCount"] = json!(1);
    again["containerStatuses"][0]["lastState"] =
        failed(42, 1, 30)["containerStatuses"][0]["state"].clone();
    let mut meant = bare("sft-0", 0, &again);
    let rule = json!([{ "action": "Restart", "exitCodes": { "operator": "In", "values": [42] } }]);
    meant["spec"]["containers"][0]["restartPolicyRules"] = rule;
    let answer = about("sft", &[meant]);
    assert_eq!(verdict(&answer).1, "none.running", "{answer:#}");
    assert!(role_of(&answer, "code.exception").is_empty(), "{answer:#}");
}

/// A queue of work: each pod does one item, and the next takes its place.
#[test]
fn the_next_item_of_a_queue_of_work_is_no_further_attempt() {
    let queue = json!({ "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "run", "namespace": "ml", "uid": "u-run", "creationTimestamp": at(0) },
        "spec": { "parallelism": 1, "completions": 3 }, "status": { "startTime": at(0), "active": 1, "ready": 1, "succeeded": 1 } });
    let owner = json!({ "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "u-run", "controller": true }] });
    let mut done = failed(0, 1, 20);
    done["phase"] = json!("Succeeded");
    let all = [
        queue,
        pod("run-aaaaa", 0, &owner, &done),
        pod("run-bbbbb", 25, &owner, &running(26)),
    ];
    let answer = about("run", &all);
    let attempts = answer["runs"][0]["attempts"].as_array().map(Vec::len);
    assert_eq!(attempts, Some(1), "{answer:#}");
}
