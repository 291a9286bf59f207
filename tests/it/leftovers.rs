//! Requests and faults that met what was left of a pod: one that never ran, one whose kubelet had reported its end, one
//! that was being stopped, one whose workload had said that it failed.

use serde_json::{Value, json};

use super::sent_away::{actor, ended, event, job, list, pod, running};
use super::unseen::{ask, verdict};

const KUBELET: &str = "system:node:n0";

/// An audit record about pod `bert-0-aaaa0` or a namesake, as it is kept without bodies.
pub(super) fn record(verb: &str, resource: &str, name: &str, user: &str, at: &str) -> Value {
    let time = format!("2026-11-24T{at}.500000Z");
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata",
        "auditID": format!("{verb}-{user}-{at}"), "stage": "ResponseComplete", "verb": verb,
        "requestURI": format!("/api/v1/namespaces/ml/{resource}/{name}"), "user": { "username": user }, "userAgent": "kubectl/v1.32.4",
        "objectRef": { "resource": resource, "namespace": "ml", "name": name, "apiVersion": "v1" },
        "responseStatus": { "code": 200 }, "requestReceivedTimestamp": time, "stageTimestamp": time,
    })
}

/// A pod that waits for its image, or that its kubelet gave an end since it did not find a container.
fn without_image(state: &Value) -> Value {
    let mut one = pod(0, "Pending", state);
    one["status"]["containerStatuses"][0]["imageID"] = json!("");
    one
}

#[test]
fn a_container_that_never_came_to_be_was_not_ended_by_who_deletes_its_pod() {
    let waiting = json!({ "waiting": { "reason": "ImagePullBackOff", "message": "failed to authorize: 401 Unauthorized" } });
    let not_found = json!({ "terminated": { "exitCode": 137, "reason": "ContainerStatusUnknown", "startedAt": null, "finishedAt": null,
        "message": "The container could not be located when the pod was terminated" } });
    let events = [
        event(
            "bert-0-aaaa0",
            "Scheduled",
            "Successfully assigned ml/bert-0-aaaa0 to n0",
            "default-scheduler",
            "10:00:02",
        ),
        event(
            "bert-0-aaaa0",
            "Failed",
            "Failed to pull image \"registry.lab.example/train:1\": failed to authorize: 401 Unauthorized",
            "kubelet",
            "10:00:05",
        ),
        event(
            "bert-0-aaaa0",
            "Failed",
            "Error: ImagePullBackOff",
            "kubelet",
            "10:00:20",
        ),
    ];
    let mut deleted = without_image(&not_found);
    deleted["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:05:30Z");
    deleted["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    let mut patch = record("patch", "pods", "bert-0-aaaa0", KUBELET, "10:05:02");
    patch["objectRef"]["subresource"] = json!("status");
    patch["responseObject"] = deleted;
    let mut seen = record("patch", "pods", "bert-0-aaaa0", KUBELET, "10:00:06");
    seen["objectRef"]["subresource"] = json!("status");
    seen["responseObject"] = without_image(&waiting);
    let audit = [
        seen,
        record("delete", "pods", "bert-0-aaaa0", "carol", "10:05:00"),
        patch,
    ];
    let lines: Vec<String> = audit.iter().map(Value::to_string).collect();
    let answer = ask(
        "bert",
        &[
            ("events.json", list(&events)),
            ("audit.log", lines.join("\n") + "\n"),
        ],
    );
    assert_eq!(verdict(&answer).1, "dep.image_pull");
}

#[test]
fn what_its_kubelet_had_reported_was_over_before_somebody_asked_for_its_end() {
    // An audit log of metadata: times and names, and no bodies.
    let of = |verb: &str, sub: Option<&str>, by: &str, at: &str| {
        let mut one = record(verb, "pods", "bert-0-aaaa0", by, at);
        one["level"] = json!("Metadata");
        if let Some(sub) = sub {
            one["objectRef"]["subresource"] = json!(sub);
        }
        one
    };
    let cause = |reported_after: bool| {
        let mut log = vec![
            of(
                "create",
                Some("binding"),
                "system:kube-scheduler",
                "10:00:01",
            ),
            of("patch", Some("status"), KUBELET, "10:00:05"),
            of("patch", Some("status"), KUBELET, "10:20:00"),
            of("create", Some("eviction"), "bob", "10:20:01"),
        ];
        if reported_after {
            log.push(of("patch", Some("status"), KUBELET, "10:20:03"));
        }
        log.push(of("delete", None, KUBELET, "10:20:04"));
        let lines: Vec<String> = log.iter().map(Value::to_string).collect();
        let answer = ask("bert-0-aaaa0", &[("audit.log", lines.join("\n") + "\n")]);
        (verdict(&answer).1.to_owned(), actor(&answer).to_owned())
    };
    assert_eq!(cause(false).0, "unknown");
    assert_eq!(cause(true).1, "bob");
}

#[test]
fn who_is_out_of_memory_while_it_is_stopped_was_stopped() {
    let kernel = |at: &str| {
        format!(
            "2026-11-24T{at}+00:00 n0 kernel: oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),\
        oom_memcg=/kubepods/podpod-0,task_memcg=/kubepods/podpod-0/abc,task=python3,pid=4711,uid=0\n"
        )
    };
    let killing = event(
        "bert-0-aaaa0",
        "Killing",
        "Stopping container main",
        "kubelet",
        "10:20:00",
    );
    let objects = [
        job(1, true),
        pod(0, "Failed", &ended(137, "OOMKilled", "10:20:04")),
    ];
    let answer = ask(
        "bert",
        &[
            ("objects.json", list(&objects)),
            ("events.json", list(&[killing])),
            ("n0/kern.log", kernel("10:20:03")),
        ],
    );
    assert_ne!(verdict(&answer).1, "code.host_oom");
}

#[test]
fn what_comes_after_the_workload_said_that_it_failed_is_no_more_than_a_guess() {
    // The Job had failed at 10:30:03.
    let objects = [
        job(2, true),
        pod(0, "Failed", &ended(1, "Error", "10:30:01")),
        pod(1, "Running", &running()),
    ];
    let delete = record("delete", "pods", "bert-1-aaaa1", "bob", "10:31:00");
    let answer = ask(
        "bert",
        &[
            ("objects.json", list(&objects)),
            ("audit.log", delete.to_string() + "\n"),
        ],
    );
    let (_, cause, level, _) = verdict(&answer);
    assert!(
        cause != "ops.manual_delete" || level == "hypothesis",
        "{cause} {level}"
    );
}

#[test]
fn who_comes_for_what_has_ended_did_not_end_it() {
    let mut held = pod(0, "Failed", &ended(143, "Error", "10:05:00"));
    held["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:05:00Z");
    held["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    held["metadata"]["finalizers"] = json!(["lab.example/flush-traces"]);
    held["status"]["conditions"] = json!([{ "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting", "lastTransitionTime": "2026-11-24T10:05:40Z" }]);
    let answer = ask("bert", &[("pods.json", list(&[held]))]);
    let (_, cause, level, _) = verdict(&answer);
    assert_eq!((cause, level), ("ops.manual_delete", "hypothesis"));
}

#[test]
fn what_its_workload_left_behind_ended_by_itself() {
    let mut orphan = pod(0, "Succeeded", &ended(0, "Completed", "10:20:00"));
    let mut gone = job(1, false);
    gone["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:19:00Z");
    gone["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    gone["metadata"]["finalizers"] = json!(["orphan"]);
    orphan["metadata"]["ownerReferences"] = json!([]);
    let state = |orphan: &Value| {
        let before = pod(0, "Running", &running());
        let watch = [("ADDED", &before), ("DELETED", &gone), ("MODIFIED", orphan)];
        let lines =
            watch.map(|(kind, object)| json!({ "type": kind, "object": object }).to_string());
        let answer = ask("bert", &[("watch.ndjson", lines.join("\n"))]);
        answer["runs"][0]["state"].clone()
    };
    assert_eq!(state(&orphan), "completed");
    orphan["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:19:31Z");
    orphan["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    assert_eq!(state(&orphan), "deleted", "asked to stop");
}

#[test]
fn a_pod_that_its_kubelet_refused_never_started() {
    const WHY: &str = "Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 8, Available: 7, which is unexpected";
    let mut refused = pod(0, "Failed", &running());
    refused["status"]["containerStatuses"] = json!([]);
    refused["status"]["reason"] = json!("UnexpectedAdmissionError");
    refused["status"]["message"] = json!(format!("Pod was rejected: {WHY}"));
    let told = event(
        "bert-0-aaaa0",
        "UnexpectedAdmissionError",
        WHY,
        "kubelet",
        "10:00:02",
    );
    for records in [
        vec![refused.clone()],
        vec![told.clone()],
        vec![refused, told],
    ] {
        let answer = ask("bert-0-aaaa0", &[("all.json", list(&records))]);
        let (_, cause, ..) = verdict(&answer);
        let how = &answer["incidents"][0]["first_victims"][0]["how"];
        assert_eq!(cause, "node.driver", "{records:?}");
        assert_eq!(how, "was refused by the kubelet (UnexpectedAdmissionError)");
    }
}

#[test]
fn the_pods_that_follow_a_leader_are_of_its_workload() {
    let owned = |one: &mut Value, kind: &str, name: &str, uid: &str| {
        one["metadata"]["ownerReferences"] = json!([{ "apiVersion": "v1", "kind": kind, "name": name, "uid": uid, "controller": true }]);
    };
    let named = |one: &mut Value, name: &str, uid: &str| {
        one["metadata"]["name"] = json!(name);
        one["metadata"]["uid"] = json!(uid);
        one["metadata"]["labels"] = json!({ "leaderworkerset.sigs.k8s.io/name": "bert" });
    };
    let set = |name: &str, uid: &str| {
        json!({ "apiVersion": "apps/v1", "kind": "StatefulSet", "spec": { "replicas": 1 }, "status": {},
            "metadata": { "name": name, "namespace": "ml", "uid": uid, "creationTimestamp": "2026-11-24T10:00:00Z" } })
    };
    let (mut leaders, mut followers) = (set("bert", "set-1"), set("bert-0", "set-2"));
    let (mut leader, mut follower) = (
        pod(0, "Running", &running()),
        pod(1, "Failed", &ended(1, "Error", "10:05:00")),
    );
    named(&mut leader, "bert-0", "pod-0");
    named(&mut follower, "bert-0-1", "pod-1");
    owned(&mut leaders, "LeaderWorkerSet", "bert", "lws-1");
    owned(&mut leader, "StatefulSet", "bert", "set-1");
    owned(&mut followers, "Pod", "bert-0", "pod-0");
    owned(&mut follower, "StatefulSet", "bert-0", "set-2");
    let answer = ask(
        "bert",
        &[("all.json", list(&[leaders, followers, leader, follower]))],
    );
    let runs = answer["runs"].as_array().expect("runs");
    assert_eq!(runs.len(), 1);
    assert_eq!(
        (&runs[0]["kind"], &runs[0]["name"]),
        (&json!("LeaderWorkerSet"), &json!("bert"))
    );
    assert_eq!(runs[0]["attempts"][0]["pods"], 2);
    assert_eq!(
        answer["incidents"][0]["first_victims"][0]["pod"],
        "bert-0-1"
    );
}
