//! What somebody deleted, known from records of the request alone.

use serde_json::{Value, json};

use super::unseen::{ask, text, verdict};

const AT: &str = "2026-11-24T10:30:00.500000Z";

/// An audit record.
pub(super) fn record(
    verb: &str,
    user: &str,
    at: &str,
    object: &Value,
    uri: &str,
    more: &Value,
) -> String {
    let mut record = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata",
        "auditID": format!("{verb}-{user}-{at}-{}-{}", object["name"], object["subresource"]), "stage": "ResponseComplete", "verb": verb,
        "requestURI": uri, "user": { "username": user }, "userAgent": "kubectl/v1.32.4",
        "objectRef": object, "responseStatus": { "code": 200 },
        "requestReceivedTimestamp": at, "stageTimestamp": at,
    });
    let fields = record.as_object_mut().expect("an object");
    fields.extend(more.as_object().cloned().unwrap_or_default());
    record.to_string()
}

fn created(name: &str) -> String {
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": name, "namespace": "ml", "uid": "u-1", "creationTimestamp": "2026-11-24T09:00:00Z" },
        "spec": { "parallelism": 2, "template": { "spec": { "containers": [{ "name": "main" }] } } }, "status": {},
    });
    record(
        "create",
        "bob@lab.example",
        "2026-11-24T09:00:00.000000Z",
        &json!({ "resource": "jobs", "namespace": "ml", "name": name, "apiGroup": "batch" }),
        "/apis/batch/v1/namespaces/ml/jobs",
        &json!({ "responseObject": job, "responseStatus": { "code": 201 } }),
    )
}

fn deleted(resource: &str, group: &str, name: &str, user: &str) -> String {
    let mut object = json!({ "resource": resource, "name": name, "apiGroup": group });
    if resource != "namespaces" {
        object["namespace"] = "ml".into();
    }
    record("delete", user, AT, &object, "", &json!({}))
}

fn main_of(answer: &Value) -> (&str, &str, &str) {
    let incident = &answer["incidents"][0];
    (
        answer["runs"][0]["state"].as_str().unwrap_or_default(),
        incident["cause"].as_str().unwrap_or_default(),
        incident["actor"]["name"].as_str().unwrap_or_default(),
    )
}

#[test]
fn a_job_whose_pods_nobody_saw_is_deleted_by_whom_the_audit_log_names() {
    let log = text(&[
        &created("gone"),
        &deleted("jobs", "batch", "gone", "carol@lab.example"),
    ]);
    let answer = ask("gone", &[("audit.log", log)]);
    assert_eq!(
        main_of(&answer),
        ("deleted", "ops.manual_delete", "carol@lab.example"),
        "{answer:#}"
    );
    let summary = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(!summary.contains("along with"), "{summary}");
}

#[test]
fn what_is_in_a_namespace_goes_with_it() {
    let log = text(&[
        &created("held"),
        &deleted("namespaces", "", "ml", "root@lab.example"),
    ]);
    let answer = ask("held", &[("audit.log", log)]);
    assert_eq!(
        main_of(&answer),
        ("deleted", "ops.manual_delete", "root@lab.example"),
        "{answer:#}"
    );
}

/// A version of the object that is later than the request, and without a time of deletion, is of one that stayed.
#[test]
fn a_job_that_was_seen_after_the_request_was_not_deleted() {
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": { "name": "stays", "namespace": "ml", "uid": "u-2", "creationTimestamp": "2026-11-24T11:00:00Z" },
        "spec": { "parallelism": 1, "template": { "spec": { "containers": [{ "name": "main" }] } } }, "status": { "active": 1 },
    });
    job["metadata"]["managedFields"] = json!([]);
    let log = text(&[&deleted("jobs", "batch", "stays", "carol@lab.example")]);
    let answer = ask(
        "stays",
        &[("audit.log", log), ("job.json", job.to_string())],
    );
    assert_ne!(answer["runs"][0]["state"], "deleted", "{answer:#}");
}

/// A request for many names no pod; its selector does.
#[test]
fn pods_that_a_selector_holds_were_deleted_by_whoever_used_it() {
    let pod = |name: &str, experiment: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": {
                "name": name, "namespace": "ml", "uid": name, "creationTimestamp": "2026-11-24T09:00:00Z",
                "labels": { "experiment": experiment }, "deletionTimestamp": "2026-11-24T10:30:30Z",
                "deletionGracePeriodSeconds": 30,
            },
            "spec": { "nodeName": "g1", "containers": [{ "name": "main" }] },
            "status": { "phase": "Running", "startTime": "2026-11-24T09:00:01Z" },
        })
        .to_string()
    };
    let log = record(
        "deletecollection",
        "henk@lab.example",
        AT,
        &json!({ "resource": "pods", "namespace": "ml" }),
        "/api/v1/namespaces/ml/pods?labelSelector=experiment%3Dsweep",
        &json!({}),
    );
    let files = [
        ("audit.log", log + "\n"),
        (
            "pods.ndjson",
            text(&[&pod("sweep-0", "sweep"), &pod("other-0", "other")]),
        ),
    ];
    let answer = ask("sweep-0", &files);
    assert_eq!(main_of(&answer).2, "henk@lab.example", "{answer:#}");
    assert_eq!(verdict(&answer).2, "established", "{answer:#}");
    let other = ask("other-0", &files);
    assert_ne!(main_of(&other).2, "henk@lab.example", "{other:#}");
}

#[test]
fn who_kills_a_process_by_a_command_in_its_container_is_named() {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "solo", "namespace": "ml", "uid": "p", "creationTimestamp": "2026-11-24T09:00:00Z" },
        "spec": { "nodeName": "g1", "restartPolicy": "Never", "containers": [{ "name": "main" }] },
        "status": { "phase": "Failed", "startTime": "2026-11-24T09:00:01Z", "containerStatuses": [{
            "name": "main", "restartCount": 0, "state": { "terminated": {
                "exitCode": 137, "reason": "Error", "startedAt": "2026-11-24T09:00:02Z", "finishedAt": "2026-11-24T10:30:01Z",
            } },
        }] },
    });
    let exec = |command: &str, code: u32| {
        record(
            "get",
            "dev@lab.example",
            AT,
            &json!({ "resource": "pods", "namespace": "ml", "name": "solo", "subresource": "exec" }),
            &format!("/api/v1/namespaces/ml/pods/solo/exec?{command}&container=main"),
            &json!({ "responseStatus": { "code": code } }),
        ) + "\n"
    };
    let asked = |log: String| ask("solo", &[("audit.log", log), ("pod.json", pod.to_string())]);
    let killed = asked(exec("command=kill&command=-9&command=1", 101));
    assert_eq!(
        main_of(&killed),
        ("failed", "ops.manual_delete", "dev@lab.example"),
        "{killed:#}"
    );
    let secret = asked(exec(
        "command=mysql&command=-uroot&command=-pzebraQuilt31x",
        101,
    ));
    assert!(!secret.to_string().contains("zebraQuilt31x"), "{secret:#}");
    for (command, code) in [("command=nvidia-smi", 101), ("command=kill&command=1", 403)] {
        let looked = asked(exec(command, code));
        assert_eq!(main_of(&looked).1, "unknown", "{looked:#}");
    }
}

/// Which Job bore a name when does not depend on which file is read first, nor is a request that left the pods an end.
#[test]
fn a_job_that_was_made_again_is_there_in_whatever_order_the_records_come() {
    let again = record(
        "create",
        "bob@lab.example",
        "2026-11-24T10:31:00.000000Z",
        &json!({ "resource": "jobs", "namespace": "ml", "name": "gone", "apiGroup": "batch" }),
        "/apis/batch/v1/namespaces/ml/jobs",
        &json!({ "responseStatus": { "code": 201 } }),
    );
    let before = text(&[
        &created("gone"),
        &deleted("jobs", "batch", "gone", "carol@lab.example"),
    ]);
    for names in [["a.log", "b.log"], ["b.log", "a.log"]] {
        let files = [(names[0], before.clone()), (names[1], again.clone() + "\n")];
        let answer = ask("gone", &files);
        let runs = answer["runs"].as_array().into_iter().flatten();
        let states: Vec<(u64, &str)> = runs
            .map(|run| {
                let state = run["state"].as_str().unwrap_or_default();
                (run["number"].as_u64().unwrap_or_default(), state)
            })
            .collect();
        assert!(states.contains(&(1, "deleted")), "{answer:#}");
        assert!(states.contains(&(2, "pending")), "{answer:#}");
    }
    let orphaning = record(
        "delete",
        "carol@lab.example",
        AT,
        &json!({ "resource": "jobs", "namespace": "ml", "name": "gone", "apiGroup": "batch" }),
        "/apis/batch/v1/namespaces/ml/jobs/gone?propagationPolicy=Orphan",
        &json!({}),
    );
    let answer = ask(
        "gone",
        &[("audit.log", text(&[&created("gone"), &orphaning]))],
    );
    assert_ne!(answer["runs"][0]["state"], "deleted", "{answer:#}");
}

/// Of a Job that is deleted so that its pods are left, the controllers take their marks off the pods, which go on.
#[test]
fn a_job_whose_pods_are_orphaned_ended_none_of_them() {
    const CONTROLLER: &str = "system:serviceaccount:kube-system:job-controller";
    let pod = |name: &str| {
        let rank = name
            .trim_start_matches("bert-")
            .chars()
            .next()
            .unwrap_or('0')
            .to_string();
        json!({
            "apiVersion": "v1", "kind": "Pod",
            "metadata": { "name": name, "namespace": "ml", "uid": format!("u-{name}"), "creationTimestamp": "2026-11-24T09:00:01Z",
                "labels": { "batch.kubernetes.io/job-name": "bert", "batch.kubernetes.io/job-completion-index": rank },
                "finalizers": ["batch.kubernetes.io/job-tracking"],
                "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "bert", "uid": "u-1", "controller": true }] },
            "spec": { "nodeName": "n0", "containers": [{ "name": "main" }] },
            "status": { "phase": "Running", "startTime": "2026-11-24T09:00:01Z",
                "containerStatuses": [{ "name": "main", "restartCount": 0, "ready": true, "state": { "running": { "startedAt": "2026-11-24T09:00:02Z" } } }] },
        })
    };
    let of_pod = |name: &str| json!({ "resource": "pods", "namespace": "ml", "name": name, "uid": format!("u-{name}") });
    let names = ["bert-0-aaaaa", "bert-1-bbbbb"];
    // With the answers' bodies, and with those of the requests alone.
    for answers in [true, false] {
        let mut lines = vec![created("bert")];
        for name in names {
            let mut object = of_pod(name);
            object["subresource"] = "status".into();
            let status = json!({ "responseObject": pod(name), "requestObject": { "status": pod(name)["status"] } });
            lines.push(record(
                "patch",
                "system:node:n0",
                "2026-11-24T09:00:03.500000Z",
                &object,
                name,
                &status,
            ));
        }
        let options = json!({ "kind": "DeleteOptions", "propagationPolicy": "Orphan" });
        let mut left = json!({
            "apiVersion": "batch/v1", "kind": "Job",
            "metadata": { "name": "bert", "namespace": "ml", "uid": "u-1", "creationTimestamp": "2026-11-24T09:00:00Z",
                "deletionTimestamp": "2026-11-24T10:30:00Z", "deletionGracePeriodSeconds": 0, "finalizers": ["orphan"] },
            "spec": { "parallelism": 2, "template": { "spec": { "containers": [{ "name": "main" }] } } }, "status": {},
        });
        if !answers {
            left = Value::Null;
        }
        let job =
            json!({ "resource": "jobs", "namespace": "ml", "name": "bert", "apiGroup": "batch" });
        lines.push(record(
            "delete",
            "alice",
            AT,
            &job,
            "",
            &json!({ "requestObject": options, "responseObject": left }),
        ));
        for name in names {
            let untracked = json!({ "requestObject": { "metadata": { "$deleteFromPrimitiveList/finalizers": ["batch.kubernetes.io/job-tracking"] } } });
            lines.push(record(
                "patch",
                CONTROLLER,
                "2026-11-24T10:30:00.600000Z",
                &of_pod(name),
                name,
                &untracked,
            ));
        }
        lines.push(record(
            "delete",
            "carol",
            "2026-11-24T10:40:00.500000Z",
            &of_pod(names[0]),
            "",
            &json!({}),
        ));
        let answer = ask("bert", &[("audit.log", lines.join("\n") + "\n")]);
        let (_, cause, by) = main_of(&answer);
        assert_eq!((cause, by), ("ops.manual_delete", "carol"), "{answer:#}");
        assert_eq!(
            answer["incidents"][0]["first_victim"]["pod"], names[0],
            "{answer:#}"
        );
    }
}

/// A line of an audit log of metadata about a pod of `ml`.
fn of_pod(verb: &str, user: &str, at: &str, pod: &str, subresource: &str) -> String {
    let mut object = json!({ "resource": "pods", "namespace": "ml", "name": pod });
    if !subresource.is_empty() {
        object["subresource"] = subresource.into();
    }
    let at = format!("2026-11-24T{at}Z");
    record(verb, user, &at, &object, "", &json!({}))
}

/// What a scheduler and a kubelet write of a pod that starts: two reports, the last of them that it runs.
fn started(pod: &str, node: &str, second: u32) -> Vec<String> {
    let kubelet = format!("system:node:{node}");
    vec![
        of_pod(
            "create",
            "system:kube-scheduler",
            &format!("09:00:{second:02}.040000"),
            pod,
            "binding",
        ),
        of_pod(
            "patch",
            &kubelet,
            &format!("09:00:{second:02}.060000"),
            pod,
            "status",
        ),
        of_pod(
            "patch",
            &kubelet,
            &format!("09:00:{second:02}.700000"),
            pod,
            "status",
        ),
    ]
}

/// Of pods of which no record holds the labels, whoever asked for the end of all that a selector holds ended those whose end
/// their kubelets confirmed, and nobody else had asked for; those that go on are none of them.
#[test]
fn pods_whose_labels_nobody_kept_went_with_the_only_request() {
    let controller = "system:serviceaccount:kube-system:job-controller";
    let collected = |selector: &str| {
        record(
            "deletecollection",
            "system:serviceaccount:ci:runner",
            "2026-11-24T09:30:00.000000Z",
            &json!({ "resource": "pods", "namespace": "ml" }),
            &format!("/api/v1/namespaces/ml/pods?labelSelector={selector}"),
            &json!({}),
        )
    };
    let log = |selector: &str| {
        let mut lines = vec![record(
            "create",
            "bob@lab.example",
            "2026-11-24T09:00:00.000000Z",
            &json!({ "resource": "jobs", "namespace": "ml", "name": "swept", "apiGroup": "batch" }),
            "/apis/batch/v1/namespaces/ml/jobs",
            &json!({ "responseStatus": { "code": 201 } }),
        )];
        for (pod, node) in [("swept-0-aaaaa", "n1"), ("swept-1-bbbbb", "n2")] {
            lines.extend(started(pod, node, 1));
        }
        lines.push(collected(selector));
        for (pod, node) in [("swept-0-aaaaa", "n1"), ("swept-1-bbbbb", "n2")] {
            let kubelet = format!("system:node:{node}");
            lines.push(of_pod("patch", controller, "09:30:01.000000", pod, ""));
            lines.push(of_pod("patch", &kubelet, "09:30:01.300000", pod, "status"));
            lines.push(of_pod("delete", &kubelet, "09:30:01.310000", pod, ""));
        }
        text(&lines.iter().map(String::as_str).collect::<Vec<_>>())
    };
    let answer = ask("swept", &[("audit.log", log("experiment%3Dswept"))]);
    let (_, cause, actor) = main_of(&answer);
    assert_eq!(
        (cause, actor),
        ("ops.manual_delete", "system:serviceaccount:ci:runner"),
        "{answer:#}"
    );
    assert_ne!(verdict(&answer).2, "established", "{answer:#}");
    let other = ask("swept", &[("audit.log", log("job-name%3Dother"))]);
    assert_ne!(main_of(&other).1, "ops.manual_delete", "{other:#}");
}

/// The report that a pod has ended comes some milliseconds before its controller makes another of its name.
#[test]
fn what_a_kubelet_reported_before_another_of_that_name_was_made_is_of_the_one_before() {
    let controller = "system:serviceaccount:kube-system:statefulset-controller";
    let made = |at: &str| of_pod("create", controller, at, "ring-1", "");
    let mut lines = vec![
        record(
            "create",
            "bob@lab.example",
            "2026-11-24T09:00:00.000000Z",
            &json!({ "resource": "statefulsets", "namespace": "ml", "name": "ring", "apiGroup": "apps" }),
            "/apis/apps/v1/namespaces/ml/statefulsets",
            &json!({ "responseStatus": { "code": 201 } }),
        ),
        made("09:00:01.000000"),
    ];
    lines.extend(started("ring-1", "n1", 1));
    let at = |at: &str| format!("09:00:{at}");
    lines.push(of_pod(
        "create",
        "dev@lab.example",
        &at("30.000000"),
        "ring-1",
        "eviction",
    ));
    lines.push(of_pod(
        "patch",
        "system:node:n1",
        &at("31.100000"),
        "ring-1",
        "status",
    ));
    lines.push(of_pod(
        "delete",
        "system:node:n1",
        &at("31.110000"),
        "ring-1",
        "",
    ));
    lines.push(made("09:00:31.130000"));
    lines.extend(started("ring-1", "n2", 31));
    let log = text(&lines.iter().map(String::as_str).collect::<Vec<_>>());
    let answer = ask("ring", &[("audit.log", log)]);
    let incidents = answer["incidents"].as_array().expect("incidents");
    let evicted = incidents
        .iter()
        .find(|one| one["actor"]["name"] == "dev@lab.example");
    let evicted = evicted.unwrap_or_else(|| panic!("{answer:#}"));
    let died = evicted["first_victim"]["time"].as_str().unwrap_or_default();
    assert!(died.starts_with("2026-11-24T09:00:3"), "{evicted:#}");
}

/// A Job's controller counts a pod that has ended, and one that is on its way out once it is gone: whose pods had all been
/// counted before anybody asked for anything had ended by itself, and was cleared away.
#[test]
fn what_its_job_had_counted_before_was_not_ended_by_its_deletion() {
    const CONTROLLER: &str = "system:serviceaccount:kube-system:job-controller";
    const COLLECTOR: &str = "system:serviceaccount:kube-system:generic-garbage-collector";
    let pods = ["moe-0-aaaaa", "moe-1-bbbbb"];
    // Minutes before the deletion, and just after it, when the collector had asked for the pods' ends.
    for (counted, ended_it) in [("10:20", false), ("10:30", true)] {
        let mut lines = vec![created("moe")];
        for (place, name) in (1..).zip(pods) {
            lines.extend(started(name, &format!("n{place}"), place));
            if ended_it {
                let at = format!("10:30:00.70000{place}");
                lines.push(of_pod("delete", COLLECTOR, &at, name, ""));
            }
            let at = format!("{counted}:30.00000{place}");
            lines.push(of_pod("patch", CONTROLLER, &at, name, ""));
        }
        lines.push(deleted("jobs", "batch", "moe", "carol@lab.example"));
        let answer = ask("moe", &[("audit.log", lines.join("\n") + "\n")]);
        let (_, cause, by) = main_of(&answer);
        let is_blamed = (cause, by) == ("ops.manual_delete", "carol@lab.example");
        assert_eq!(is_blamed, ended_it, "{answer:#}");
    }
}
