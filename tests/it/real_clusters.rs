//! What a real control plane wrote, and what was answered wrongly for it.

use serde_json::{Value, json};

use super::sent_away::{actor, ended, event, job, list, pod, running};
use super::unseen::{ask, text, verdict};

/// The objects as a watch shows them, each with the next resource version.
fn watched(versions: &[Value]) -> String {
    let lines: Vec<String> = (10..)
        .zip(versions)
        .map(|(version, object)| {
            let mut object = object.clone();
            object["metadata"]["resourceVersion"] = json!(version.to_string());
            json!({ "type": "MODIFIED", "object": object }).to_string()
        })
        .collect();
    lines.join("\n") + "\n"
}

fn ready(pod: &Value, status: &str, since: &str) -> Value {
    let mut pod = pod.clone();
    pod["status"]["conditions"] = json!([{ "type": "Ready", "status": status, "lastTransitionTime": format!("2026-11-24T{since}Z") }]);
    pod
}

/// The controller of nodes sets `Ready` of a silent node's pods; a kubelet that is back writes its own over that, with the time at
/// which the pod first became ready.
#[test]
fn a_pod_that_its_kubelet_calls_ready_again_is_ready() {
    let told = event(
        "bert-1-aaaa1",
        "NodeNotReady",
        "Node is not ready",
        "node-controller",
        "10:20:00",
    );
    let one = pod(1, "Running", &running());
    let versions = |last: &[(&str, &str)]| {
        let mut all = vec![ready(&pod(0, "Running", &running()), "True", "10:00:06")];
        let own = last
            .iter()
            .map(|(status, since)| ready(&one, status, since));
        all.extend(own);
        all
    };
    let asked = |last: &[(&str, &str)]| {
        ask(
            "bert",
            &[
                ("jobs.json", list(&[job(2, false)])),
                ("events.json", list(std::slice::from_ref(&told))),
                ("watch-pods.ndjson", watched(&versions(last))),
            ],
        )
    };
    let back = asked(&[
        ("True", "10:00:06"),
        ("False", "10:20:00"),
        ("True", "10:00:06"),
    ]);
    let (state, cause, ..) = verdict(&back);
    assert_eq!((state, cause), ("running", "none.running"), "{back:#}");
    // One that is silent to this day is not, nor is one that fell silent again.
    for away in [
        &[("True", "10:00:06"), ("False", "10:20:00")][..],
        &[
            ("True", "10:00:06"),
            ("False", "10:20:00"),
            ("True", "10:00:06"),
            ("False", "10:25:00"),
        ],
    ] {
        let answer = asked(away);
        assert_ne!(verdict(&answer).1, "none.running", "{answer:#}");
    }
}

/// An autoscaled cluster has `FailedScheduling` at the start of every run.
#[test]
fn what_kept_a_pod_from_being_placed_is_over_once_it_is() {
    let mut failed = job(1, true);
    failed["spec"]["activeDeadlineSeconds"] = json!(1800);
    failed["status"]["conditions"][0]["reason"] = json!("DeadlineExceeded");
    failed["status"]["conditions"][0]["message"] =
        json!("Job was active longer than specified deadline");
    let mut deleted = event(
        "bert",
        "SuccessfulDelete",
        "Deleted pod: bert-0-aaaa0",
        "job-controller",
        "10:30:00",
    );
    deleted["involvedObject"]["kind"] = "Job".into();
    deleted["involvedObject"]["apiVersion"] = "batch/v1".into();
    deleted["involvedObject"]["uid"] = "job-1".into();
    let waits = event(
        "bert-0-aaaa0",
        "FailedScheduling",
        "0/3 nodes are available: 3 node(s) had untolerated taint {node.kubernetes.io/not-ready: }. preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.",
        "default-scheduler",
        "10:00:01",
    );
    let placed = event(
        "bert-0-aaaa0",
        "Scheduled",
        "Successfully assigned ml/bert-0-aaaa0 to n0",
        "default-scheduler",
        // A scheduler's Event and a kubelet's may be of the same second.
        "10:00:01",
    );
    let pull = event(
        "bert-0-aaaa0",
        "Failed",
        "Failed to pull image \"registry.lab.example/train:9\": failed to resolve reference: registry.lab.example/train:9: not found",
        "kubelet",
        "10:00:12",
    );
    let asked = |events: &[Value]| {
        let mut all = vec![waits.clone(), deleted.clone()];
        all.extend_from_slice(events);
        ask(
            "bert",
            &[
                ("jobs.json", list(std::slice::from_ref(&failed))),
                ("events.json", list(&all)),
            ],
        )
    };
    let placed = asked(&[placed, pull]);
    assert_eq!(verdict(&placed).1, "dep.image_pull", "{placed:#}");
    let never = asked(&[]);
    assert_eq!(
        verdict(&never).1,
        "sched.unschedulable_constraint",
        "{never:#}"
    );
}

/// A request for an end, as an audit log of requests keeps it.
fn deletes(resource: &str, name: &str, user: &str, at: &str, options: &Value) -> String {
    let time = format!("2026-11-24T{at}.500000Z");
    let group = if resource == "jobs" { "batch" } else { "" };
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "auditID": format!("{name}-{at}"), "stage": "ResponseComplete",
        "verb": "delete", "requestURI": format!("/{resource}/{name}"), "user": { "username": user }, "userAgent": "kubectl/v1.35.0",
        "objectRef": { "resource": resource, "namespace": "ml", "name": name, "apiGroup": group },
        "requestObject": options, "responseStatus": { "code": 200 }, "requestReceivedTimestamp": time, "stageTimestamp": time,
    })
    .to_string()
}

/// People do this to change a Job in place.
#[test]
fn a_job_that_was_deleted_without_its_pods_left_them_running() {
    let states = |owned: bool| {
        let before =
            [0, 1].map(|rank| ready(&pod(rank, "Running", &running()), "True", "10:00:06"));
        let after = before.clone().map(|mut pod| {
            if !owned {
                pod["metadata"]["ownerReferences"] = json!([]);
            }
            pod
        });
        let mut gone = job(2, false);
        gone["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:20:00Z");
        gone["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        let mut watch = watched(&[before, after].concat());
        watch += &(json!({ "type": "DELETED", "object": gone }).to_string() + "\n");
        let answer = ask("bert", &[("watch.ndjson", watch)]);
        answer["runs"][0]["state"].clone()
    };
    assert_eq!(states(false), "running");
    assert_eq!(states(true), "deleted");
    let options = |policy: &str| json!({ "kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": policy });
    let by = |policy: &str| {
        let pods = [0, 1].map(|rank| ready(&pod(rank, "Running", &running()), "True", "10:00:06"));
        let request = deletes("jobs", "bert", "alice", "10:20:00", &options(policy));
        let files = [
            ("jobs.json", list(&[job(2, false)])),
            ("pods.json", list(&pods)),
            ("audit.log", text(&[&request])),
        ];
        ask("bert", &files)["runs"][0]["state"].clone()
    };
    assert_eq!(by("Orphan"), "running");
    assert_eq!(by("Background"), "deleted");
}

/// Everybody deletes pods of dead nodes by force.
#[test]
fn who_clears_away_what_a_silent_node_lost_is_known() {
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "n1", "uid": "node-1", "creationTimestamp": "2026-11-20T10:00:00Z" },
        "spec": { "taints": [{ "key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": "2026-11-24T10:29:50Z" }] },
        "status": { "conditions": [{ "type": "Ready", "status": "Unknown", "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.", "lastTransitionTime": "2026-11-24T10:29:50Z" }] },
    });
    let told = event(
        "bert-1-aaaa1",
        "NodeNotReady",
        "Node is not ready",
        "node-controller",
        "10:29:50",
    );
    let mut gone = pod(1, "Running", &running());
    gone["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:30:00Z");
    gone["metadata"]["deletionGracePeriodSeconds"] = json!(0);
    let watch = json!({ "type": "DELETED", "object": gone }).to_string() + "\n";
    let options = json!({ "kind": "DeleteOptions", "apiVersion": "v1", "gracePeriodSeconds": 0 });
    let request = deletes("pods", "bert-1-aaaa1", "alice", "10:30:00", &options);
    let answer = ask(
        "bert",
        &[
            ("jobs.json", list(&[job(2, true)])),
            ("nodes.json", list(&[node])),
            ("events.json", list(&[told])),
            ("watch-pods.ndjson", watch),
            ("audit.log", text(&[&request])),
        ],
    );
    let main = &answer["incidents"][0];
    assert_eq!(main["cause"], "node.not_ready", "{answer:#}");
    assert_eq!(actor(&answer), "", "{answer:#}");
    assert_eq!(main["actor_unseen"], false, "{answer:#}");
    let coverage = answer["coverage"].as_array().into_iter().flatten();
    let audit: Vec<&Value> = coverage
        .filter(|row| row["resource"] == "audit")
        .map(|row| &row["status"])
        .collect();
    assert_eq!(audit, [&json!("complete")], "{answer:#}");
}

/// A Job whose first member ran out of memory, and for which the API server refuses to make another.
fn refused() -> Value {
    let mut waits = job(2, false);
    waits["spec"]["backoffLimit"] = json!(3);
    waits["status"] = json!({ "active": 1, "failed": 1, "startTime": "2026-11-24T10:00:00Z" });
    let mut refusal = event(
        "bert",
        "FailedCreate",
        "Error creating: pods \"bert-0-bbbb0\" is forbidden: exceeded quota: gpus, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=8, limited: requests.nvidia.com/gpu=8",
        "job-controller",
        "10:20:12",
    );
    refusal["involvedObject"]["kind"] = "Job".into();
    refusal["involvedObject"]["apiVersion"] = "batch/v1".into();
    refusal["involvedObject"]["uid"] = "job-1".into();
    let pods = [
        pod(0, "Failed", &ended(137, "OOMKilled", "10:20:00")),
        ready(&pod(1, "Running", &running()), "True", "10:00:06"),
    ];
    ask(
        "bert",
        &[
            ("jobs.json", list(&[waits])),
            ("pods.json", list(&pods)),
            ("events.json", list(&[refusal])),
        ],
    )
}

#[test]
fn what_ended_a_member_that_cannot_be_made_again_was_not_survived() {
    let answer = refused();
    let incidents: Vec<(&str, &str)> = answer["incidents"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|one| {
            let of = |name: &str| one[name].as_str().unwrap_or_default();
            (of("cause"), of("role"))
        })
        .collect();
    assert_eq!(
        incidents,
        [("code.host_oom", "main"), ("sched.quota", "also")],
        "{answer:#}"
    );
    let beside = answer["incidents"][1]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(beside.contains("start another pod of bert"), "{beside}");
    assert!(
        beside.contains("Rank 0 had ended before, and could not be created again."),
        "{beside}"
    );
    assert!(!beside.contains("never created"), "{beside}");
}

/// The trainer was done, and what ships its log failed.
#[test]
fn the_container_that_failed_beside_one_that_was_done_is_named() {
    let mut one = pod(0, "Failed", &ended(0, "Completed", "10:20:00"));
    one["spec"]["containers"] = json!([
        { "name": "main", "resources": { "limits": { "nvidia.com/gpu": "8" } } },
        { "name": "log-shipper" },
    ]);
    let mut other = one["status"]["containerStatuses"][0].clone();
    other["name"] = json!("log-shipper");
    other["state"] = ended(2, "Error", "10:29:59");
    one["status"]["containerStatuses"]
        .as_array_mut()
        .unwrap()
        .push(other);
    let answer = ask(
        "bert",
        &[
            ("jobs.json", list(&[job(1, true)])),
            ("pods.json", list(&[one])),
        ],
    );
    let summary = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(
        summary.contains("the container log-shipper of bert-0-aaaa0"),
        "{summary}"
    );
}

/// A rank that has fewer batches than the others is done before them, and they wait for it.
#[test]
fn a_rank_that_was_done_did_not_join_for_that() {
    let watchdog = |rank: usize| {
        format!(
            "2026-11-24T10:30:00.100000Z [rank{rank}]:[E1124 10:30:00.100000000 ProcessGroupNCCL.cpp:632] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4980, OpType=ALLREDUCE, NumelIn=124439808, NumelOut=124439808, Timeout(ms)=600000) ran for 600009 milliseconds before timing out.\n"
        )
    };
    let mut failed = job(3, true);
    failed["status"]["completedIndexes"] = json!("1");
    let pods = [
        pod(0, "Failed", &ended(134, "Error", "10:30:00")),
        pod(1, "Succeeded", &ended(0, "Completed", "10:20:00")),
        pod(2, "Failed", &ended(134, "Error", "10:30:00")),
    ];
    let answer = ask(
        "bert",
        &[
            ("jobs.json", list(&[failed])),
            ("pods.json", list(&pods)),
            ("ml_bert-0-aaaa0_main.log", watchdog(0)),
            ("ml_bert-2-aaaa2_main.log", watchdog(2)),
            (
                "ml_bert-1-aaaa1_main.log",
                "2026-11-24T10:19:58.000000Z step 50 loss 2.1\n".to_owned(),
            ),
        ],
    );
    let main = &answer["incidents"][0];
    let summary = main["summary"].as_str().unwrap_or_default();
    assert_eq!(main["cause"], "hang.collective_timeout", "{answer:#}");
    assert!(
        summary.contains("rank 1; its program had ended with exit code 0 at 10:20:00Z"),
        "{summary}"
    );
    assert!(!summary.contains("not known why"), "{summary}");
}

/// The trainer, started again in the second in which it had ended, and its end at last.
fn started_again(phase: &str, last: &Value) -> Value {
    let mut one = pod(0, phase, last);
    let status = &mut one["status"]["containerStatuses"][0];
    status["restartCount"] = json!(1);
    status["lastState"] = ended(137, "OOMKilled", "10:10:00");
    status["state"]["terminated"]["startedAt"] = json!("2026-11-24T10:10:00Z");
    one["spec"]["restartPolicy"] = json!("OnFailure");
    one
}

#[test]
fn what_a_completed_run_got_over_is_told() {
    let mut complete = job(1, true);
    complete["status"]["conditions"] = json!([{ "type": "Complete", "status": "True", "reason": "CompletionsReached",
        "lastTransitionTime": "2026-11-24T10:20:02Z" }]);
    let one = started_again("Succeeded", &ended(0, "Completed", "10:20:00"));
    let answer = ask(
        "bert",
        &[
            ("jobs.json", list(&[complete])),
            ("pods.json", list(&[one])),
        ],
    );
    let (state, cause, ..) = verdict(&answer);
    assert_eq!((state, cause), ("completed", "none.completed"));
    let survived = &answer["incidents"][1];
    assert_eq!(survived["cause"], "code.host_oom", "{answer:#}");
    assert_eq!(survived["role"], "recovered", "{answer:#}");
}

#[test]
fn one_end_after_which_it_runs_is_no_habit() {
    let mut set = job(1, false);
    set["apiVersion"] = json!("apps/v1");
    set["kind"] = json!("StatefulSet");
    set["spec"] =
        json!({ "replicas": 1, "template": { "spec": { "containers": [{ "name": "main" }] } } });
    set["status"] = json!({ "replicas": 1, "readyReplicas": 1 });
    let mut one = ready(
        &pod(
            0,
            "Running",
            &json!({ "running": { "startedAt": "2026-11-24T10:10:01Z" } }),
        ),
        "True",
        "10:10:02",
    );
    let status = &mut one["status"]["containerStatuses"][0];
    status["restartCount"] = json!(1);
    status["lastState"] = ended(137, "OOMKilled", "10:10:00");
    one["spec"]["restartPolicy"] = json!("Always");
    one["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "StatefulSet", "name": "bert", "uid": "job-1", "controller": true }]);
    let answer = ask(
        "bert",
        &[("sets.json", list(&[set])), ("pods.json", list(&[one]))],
    );
    let first = &answer["incidents"][0]["first_victim"];
    assert_eq!(first["state"], "restarted", "{answer:#}");
}

/// A pod without an owner is somebody's all the same.
#[test]
fn who_made_a_pod_by_hand_owns_it() {
    let mut one = pod(0, "Running", &running());
    one["metadata"]["ownerReferences"] = json!([]);
    one["metadata"]["labels"] = json!({});
    one["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:30:30Z");
    one["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    let time = "2026-11-24T10:00:01.100000Z";
    let made = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": "made", "stage": "ResponseComplete",
        "verb": "create", "requestURI": "/api/v1/namespaces/ml/pods", "user": { "username": "alice@lab.example" },
        "userAgent": "kubectl/v1.35.0", "objectRef": { "resource": "pods", "namespace": "ml", "name": "bert-0-aaaa0", "apiVersion": "v1" },
        "responseStatus": { "code": 201 }, "requestReceivedTimestamp": time, "stageTimestamp": time,
    })
    .to_string();
    let request = deletes(
        "pods",
        "bert-0-aaaa0",
        "alice@lab.example",
        "10:30:00",
        &json!({}),
    );
    let answer = ask(
        "bert-0-aaaa0",
        &[
            ("pods.json", list(&[one])),
            ("audit.log", text(&[&made, &request])),
        ],
    );
    assert_eq!(
        answer["runs"][0]["owner"], "alice@lab.example",
        "{answer:#}"
    );
    assert_eq!(
        answer["incidents"][0]["actor"]["is_owner"], true,
        "{answer:#}"
    );
}

/// A kubelet that is done with a pod that was asked to go sets the grace period to nothing, and the time to its own: its object
/// does not show any more that the request was first.
#[test]
fn what_a_container_claims_as_it_is_stopped_proves_nothing() {
    for (deleted, failed) in [("10:30:12", "10:30:13"), ("10:30:14", "10:30:02")] {
        let mut one = pod(0, "Failed", &ended(137, "OOMKilled", "10:30:12"));
        let is_last = |one: &Value| {
            let mut job = job(1, true);
            job["status"]["conditions"][0]["lastTransitionTime"] =
                json!(format!("2026-11-24T{failed}Z"));
            ask(
                "bert",
                &[
                    ("jobs.json", list(&[job])),
                    ("pods.json", list(std::slice::from_ref(one))),
                ],
            )
        };
        one["metadata"]["deletionTimestamp"] = json!(format!("2026-11-24T{deleted}Z"));
        one["metadata"]["deletionGracePeriodSeconds"] = json!(0);
        let answer = is_last(&one);
        let (_, cause, level, _) = verdict(&answer);
        assert!(
            cause != "code.host_oom" || level == "hypothesis",
            "{deleted}: {answer:#}"
        );
        // Where nobody asked for its end it is what is claimed.
        if let Some(metadata) = one["metadata"].as_object_mut() {
            metadata.remove("deletionTimestamp");
            metadata.remove("deletionGracePeriodSeconds");
        }
        let answer = is_last(&one);
        let (_, cause, level, _) = verdict(&answer);
        assert_eq!((cause, level), ("code.host_oom", "supported"), "{answer:#}");
    }
}

/// What ships its log keeps the pod from completing, and may still fail it.
#[test]
fn a_pod_of_which_a_container_runs_on_has_not_completed() {
    let mut one = ready(
        &pod(0, "Running", &ended(0, "Completed", "10:20:00")),
        "False",
        "10:20:01",
    );
    one["spec"]["containers"] = json!([
        { "name": "main", "resources": { "limits": { "nvidia.com/gpu": "8" } } },
        { "name": "log-shipper" },
    ]);
    let mut other = one["status"]["containerStatuses"][0].clone();
    other["name"] = json!("log-shipper");
    other["ready"] = json!(true);
    other["state"] = running();
    one["status"]["containerStatuses"]
        .as_array_mut()
        .unwrap()
        .push(other);
    let mut active = job(1, false);
    active["status"] = json!({ "active": 1, "startTime": "2026-11-24T10:00:00Z" });
    let answer = ask(
        "bert",
        &[("jobs.json", list(&[active])), ("pods.json", list(&[one]))],
    );
    let (state, cause, ..) = verdict(&answer);
    assert_eq!((state, cause), ("running", "none.running"), "{answer:#}");
}

/// `kubectl scale`: the audit log has who asked, and the versions of the object from which size to which.
#[test]
fn a_workload_that_was_made_smaller_is_said_to_be_scaled() {
    let deployment = |generation: u32, replicas: u32| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": { "name": "bert", "namespace": "ml", "uid": "d-1", "creationTimestamp": "2026-11-24T10:00:00Z", "generation": generation },
            "spec": { "replicas": replicas, "template": { "spec": { "containers": [{ "name": "main" }] } } },
            "status": { "replicas": replicas, "conditions": [{ "type": "Progressing", "status": "True",
                "lastTransitionTime": "2026-11-24T10:00:00Z", "lastUpdateTime": if generation == 1 { "2026-11-24T10:00:09Z" } else { "2026-11-24T10:30:01Z" } }] },
        })
    };
    let set = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": { "name": "bert-5f", "namespace": "ml", "uid": "r-1", "creationTimestamp": "2026-11-24T10:00:00Z",
            "ownerReferences": [{ "apiVersion": "apps/v1", "kind": "Deployment", "name": "bert", "uid": "d-1", "controller": true }] },
        "spec": { "replicas": 1, "template": { "spec": { "containers": [{ "name": "main" }] } } }, "status": { "replicas": 1 },
    });
    let owned = |rank: usize| {
        let mut one = ready(&pod(rank, "Running", &running()), "True", "10:00:06");
        one["metadata"]["labels"] = json!({});
        one["metadata"]["ownerReferences"] = json!([{ "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "bert-5f", "uid": "r-1", "controller": true }]);
        one
    };
    let mut gone = owned(1);
    gone["metadata"]["deletionTimestamp"] = json!("2026-11-24T10:30:30Z");
    gone["metadata"]["deletionGracePeriodSeconds"] = json!(30);
    let time = "2026-11-24T10:30:00.100000Z";
    let scale = json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse", "auditID": "scale", "stage": "ResponseComplete",
        "verb": "patch", "requestURI": "/apis/apps/v1/namespaces/ml/deployments/bert/scale", "user": { "username": "bob" },
        "userAgent": "kubectl/v1.35.0", "objectRef": { "resource": "deployments", "namespace": "ml", "name": "bert", "apiGroup": "apps",
            "subresource": "scale" }, "requestObject": { "spec": { "replicas": 1 } }, "responseStatus": { "code": 200 },
        "requestReceivedTimestamp": time, "stageTimestamp": time,
    })
    .to_string();
    let answer = ask(
        "bert",
        &[
            (
                "watch.ndjson",
                watched(&[deployment(1, 2), deployment(2, 1)]),
            ),
            ("objects.json", list(&[set, owned(0), gone])),
            ("audit.log", text(&[&scale])),
        ],
    );
    let told = answer["incidents"].as_array().into_iter().flatten();
    let told: Vec<&str> = told.filter_map(|one| one["summary"].as_str()).collect();
    assert!(
        told.iter()
            .any(|summary| summary.contains("was scaled from 2 to 1 by bob")),
        "{told:?}: {answer:#}"
    );
}

/// Two pods of a service that answer no probe.
#[test]
fn of_several_pods_a_sentence_speaks_as_of_several() {
    let pods = [0, 1].map(|rank| {
        let mut one = ready(&pod(rank, "Running", &running()), "False", "10:00:06");
        one["status"]["conditions"][0]["reason"] = json!("ContainersNotReady");
        one["status"]["containerStatuses"][0]["ready"] = json!(false);
        one
    });
    let failing = [0, 1].map(|rank| {
        let mut told = event(
            &format!("bert-{rank}-aaaa{rank}"),
            "Unhealthy",
            "Readiness probe failed: dial tcp 10.2.0.9:29500: connect: connection refused",
            "kubelet",
            "10:00:15",
        );
        told["involvedObject"]["fieldPath"] = json!("spec.containers{main}");
        told
    });
    let answer = ask(
        "bert",
        &[
            ("jobs.json", list(&[job(2, false)])),
            ("pods.json", list(&pods)),
            ("events.json", list(&failing)),
        ],
    );
    let summary = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(!summary.contains("more is "), "{summary}");
    assert_eq!(
        answer["incidents"][0]["cause"], "code.readiness_probe",
        "{answer:#}"
    );
}
