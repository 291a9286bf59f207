//! What is kept for another one, or is over with it: volumes on silent nodes, states of nodes that bore the name before, taints that a
//! pod puts up with, workers that were taken out of a cluster.

use serde_json::{Value, json};

use super::unseen::{ask, verdict};

/// Seconds after the run was made.
fn at(second: u32) -> String {
    format!("2026-03-02T10:{:02}:{:02}Z", second / 60, second % 60)
}

fn watch(lines: &[(&str, Value)]) -> String {
    let lines = lines
        .iter()
        .map(|(kind, object)| json!({ "type": kind, "object": object }).to_string() + "\n");
    lines.collect()
}

/// A pod by name and uid, who owns it, its node, and what else is to be known.
fn pod(name: &str, uid: &str, owner: (&str, &str), node: &str, more: &Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": name, "namespace": "ml", "uid": uid, "creationTimestamp": at(0),
            "ownerReferences": [{ "apiVersion": "v1", "kind": owner.0, "name": owner.1, "uid": format!("u-{}", owner.1), "controller": true }] },
        "spec": { "nodeName": node, "containers": [{ "name": "main", "image": "train" }] },
        "status": { "phase": "Running",
            "conditions": [
                { "type": "PodScheduled", "status": "True", "lastTransitionTime": at(0) },
                { "type": "Ready", "status": "True", "lastTransitionTime": at(1) } ],
            "containerStatuses": [{ "name": "main", "ready": true, "restartCount": 0, "state": { "running": { "startedAt": at(1) } } }] },
    });
    merge(&mut pod, more);
    pod
}

/// Lays one value over another; lists are replaced.
fn merge(into: &mut Value, more: &Value) {
    match (into, more) {
        (Value::Object(into), Value::Object(more)) => {
            for (key, value) in more {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, more) => *into = more.clone(),
    }
}

fn node(name: &str, uid: &str, made: u32, ready: (&str, u32), closed: Option<u32>) -> Value {
    let mut node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "uid": uid, "creationTimestamp": at(made) },
        "spec": {},
        "status": { "conditions": [{ "type": "Ready", "status": ready.0, "reason": "Kubelet", "lastTransitionTime": at(ready.1) }] },
    });
    if let Some(second) = closed {
        node["spec"]["unschedulable"] = json!(true);
        node["metadata"]["managedFields"] = json!([{ "manager": "kubectl", "operation": "Update", "apiVersion": "v1", "time": at(second),
            "fieldsType": "FieldsV1", "fieldsV1": { "f:spec": { "f:unschedulable": {} } } }]);
    }
    node
}

fn event(pod: &str, uid: &str, by: &str, reason: &str, message: &str, second: u32) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Event", "type": "Warning",
        "metadata": { "name": format!("{pod}.{reason}.{second}"), "namespace": "ml", "uid": format!("e-{reason}-{second}"), "creationTimestamp": at(second) },
        "involvedObject": { "kind": "Pod", "name": pod, "namespace": "ml", "uid": uid },
        "reason": reason, "message": message, "source": { "component": by },
        "firstTimestamp": at(second), "lastTimestamp": at(second), "count": 1,
    })
}

/// That somebody asked for the end of something, as an audit log without bodies has it.
fn deletion(by: &str, (resource, name): (&str, &str), code: u32, second: u32) -> Value {
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "auditID": format!("a-{name}"), "stage": "ResponseComplete",
        "requestURI": format!("/api/v1/namespaces/ml/{resource}/{name}"), "verb": "delete",
        "user": { "username": by }, "userAgent": "kubectl/v1.36.0",
        "objectRef": { "resource": resource, "namespace": "ml", "name": name, "apiVersion": "v1" },
        "responseStatus": { "code": code },
        "requestReceivedTimestamp": at(second), "stageTimestamp": at(second),
    })
}

/// A `StatefulSet` whose second pod was on a node, and is made anew on another one, where its volume cannot be attached.
fn moved(ready: &str) -> Value {
    let set = ("StatefulSet", "db");
    let claim = json!({ "spec": { "volumes": [{ "name": "ckpt", "persistentVolumeClaim": { "claimName": "ckpt-db-1" } }] } });
    let first = |name: &str, node: &str| pod(name, &format!("u-{name}"), set, node, &claim);
    let mut gone = first("db-1", "n1");
    merge(
        &mut gone,
        &json!({ "metadata": { "deletionTimestamp": at(50), "deletionGracePeriodSeconds": 0 } }),
    );
    let waiting = json!({
        "metadata": { "creationTimestamp": at(51) },
        "status": { "phase": "Pending",
            "conditions": [{ "type": "PodScheduled", "status": "True", "lastTransitionTime": at(51) }],
            "containerStatuses": [{ "name": "main", "ready": false, "restartCount": 0, "state": { "waiting": { "reason": "ContainerCreating" } } }] },
    });
    let mut next = pod("db-1", "u-next", set, "n2", &claim);
    merge(&mut next, &waiting);
    let lost = "NodeNotReady";
    let mut events = vec![event(
        "db-1",
        "u-next",
        "attachdetach-controller",
        "FailedAttachVolume",
        "Multi-Attach error for volume \"pvc-1\" Volume is already exclusively attached to one node and can't be attached to another",
        51,
    )];
    if ready == "Unknown" {
        events.push(event(
            "db-1",
            "u-db-1",
            "node-controller",
            lost,
            "Node is not ready",
            45,
        ));
    }
    let set = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": { "name": "db", "namespace": "ml", "uid": "u-db", "creationTimestamp": at(0), "generation": 1 },
        "spec": { "replicas": 2, "template": { "spec": { "containers": [{ "name": "main", "image": "train" }] } } },
        "status": { "replicas": 2 },
    });
    let pods = [
        ("ADDED", first("db-0", "n0")),
        ("ADDED", first("db-1", "n1")),
        ("MODIFIED", gone.clone()),
        ("DELETED", gone),
        ("ADDED", next),
    ];
    let nodes = [
        ("ADDED", node("n1", "u-n1", 0, ("True", 0), None)),
        (
            "MODIFIED",
            node(
                "n1",
                "u-n1",
                0,
                (ready, if ready == "True" { 0 } else { 45 }),
                None,
            ),
        ),
        ("ADDED", node("n2", "u-n2", 0, ("True", 0), None)),
    ];
    let events: Vec<_> = events.into_iter().map(|event| ("ADDED", event)).collect();
    let deleted = deletion("alice@lab.example", ("pods", "db-1"), 200, 50);
    ask(
        "db",
        &[
            ("audit.log", deleted.to_string() + "\n"),
            ("sets.ndjson", watch(&[("ADDED", set)])),
            ("pods.ndjson", watch(&pods)),
            ("nodes.ndjson", watch(&nodes)),
            ("events.ndjson", watch(&events)),
        ],
    )
}

/// Nobody lets go of a volume on a machine that does not answer: what took the machine goes before what waits for the volume.
#[test]
fn a_volume_that_a_silent_node_keeps_follows_the_silence() {
    let silent = moved("Unknown");
    let causes: Vec<_> = silent["incidents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["cause"].as_str().unwrap())
        .collect();
    assert_eq!(causes, ["node.not_ready", "dep.volume"], "{silent:#}");
    assert_eq!(silent["runs"][0]["state"], "pending", "{silent:#}");
    // A machine that answers has let go, or has a trouble of its own with that.
    let answers = moved("True");
    assert_eq!(
        answers["incidents"][0]["cause"], "dep.volume",
        "{answers:#}"
    );
}

/// An object of a node that is gone says nothing of the one that bears its name now.
#[test]
fn a_former_node_of_that_name_was_another_one() {
    let job = ("Job", "run");
    let drained = json!({
        "metadata": { "creationTimestamp": at(600), "deletionTimestamp": at(640), "deletionGracePeriodSeconds": 30 },
        "status": { "phase": "Failed",
            "conditions": [
                { "type": "PodScheduled", "status": "True", "lastTransitionTime": at(600) },
                { "type": "DisruptionTarget", "status": "True", "reason": "EvictionByEvictionAPI", "message": "Eviction API: evicting", "lastTransitionTime": at(610) } ],
            "containerStatuses": [{ "name": "main", "ready": false, "restartCount": 0, "state": { "terminated": { "exitCode": 143, "reason": "Error", "startedAt": at(601), "finishedAt": at(612) } } }] },
    });
    let one =
        |made: u32, uid: &str, closed: Option<u32>| node("n1", uid, made, ("True", made), closed);
    let cordons = |former: u32| {
        let nodes = [
            ("ADDED", one(former, "u-former", None)),
            ("MODIFIED", one(former, "u-former", Some(300))),
            ("ADDED", one(590, "u-now", None)),
            ("MODIFIED", one(590, "u-now", Some(609))),
        ];
        let pods = [("MODIFIED", pod("run-0-aaaaa", "u-0", job, "n1", &drained))];
        let answer = ask(
            "run",
            &[
                ("nodes.ndjson", watch(&nodes)),
                ("pods.ndjson", watch(&pods)),
            ],
        );
        let chain = answer["incidents"][0]["chain"].as_array().unwrap().clone();
        let told = chain.iter().filter(|step| {
            step["text"]
                .as_str()
                .is_some_and(|text| text.contains("cordoned"))
        });
        told.filter_map(|step| step["time"].as_str().map(str::to_owned))
            .collect::<Vec<_>>()
    };
    assert_eq!(cordons(0), [at(609)]);
}

/// Whoever puts up with a silent node for five minutes was not sent away for that after some seconds.
#[test]
fn who_stands_a_silence_for_longer_was_sent_away_for_another_taint() {
    let evicted = |seconds: u32| {
        let toleration = |key: &str| json!({ "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds });
        let more = json!({
            "metadata": { "deletionTimestamp": at(47), "deletionGracePeriodSeconds": 30 },
            "spec": { "tolerations": [toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")] },
            "status": { "phase": "Failed",
                "conditions": [
                    { "type": "PodScheduled", "status": "True", "lastTransitionTime": at(0) },
                    { "type": "DisruptionTarget", "status": "True", "reason": "DeletionByTaintManager", "message": "Taint manager: deleting due to NoExecute taint", "lastTransitionTime": at(17) } ],
                "containerStatuses": [{ "name": "main", "ready": false, "restartCount": 0, "state": { "terminated": { "exitCode": 143, "reason": "Error", "startedAt": at(1), "finishedAt": at(19) } } }] },
        });
        let pods = watch(&[(
            "MODIFIED",
            pod("run-0-aaaaa", "u-0", ("Job", "run"), "n1", &more),
        )]);
        ask("run", &[("pods.ndjson", pods)])
    };
    let (stands, goes) = (evicted(300), evicted(5));
    assert_eq!(verdict(&stands).1, "ops.node_drained", "{stands:#}");
    assert_eq!(verdict(&stands).2, "hypothesis", "{stands:#}");
    assert_eq!(verdict(&goes).1, "node.not_ready", "{goes:#}");
}

/// A cluster of Ray's from which a worker is taken is smaller, and runs for as long as its head does.
#[test]
fn a_cluster_of_ray_without_one_of_its_workers_runs() {
    let of = |name: &str, kind: &str, more: &Value| {
        let mut made = pod(name, &format!("u-{name}"), ("RayCluster", "rc"), "n1", more);
        made["metadata"]["labels"] = json!({ "ray.io/cluster": "rc", "ray.io/node-type": kind });
        made
    };
    let taken = json!({
        "metadata": { "deletionTimestamp": at(47), "deletionGracePeriodSeconds": 30 },
        "status": { "phase": "Failed", "containerStatuses": [{ "name": "main", "ready": false, "restartCount": 0, "state": { "terminated": { "exitCode": 143, "reason": "Error", "startedAt": at(1), "finishedAt": at(19) } } }] },
    });
    let ended = json!({
        "status": { "phase": "Failed", "containerStatuses": [{ "name": "main", "ready": false, "restartCount": 0, "state": { "terminated": { "exitCode": 1, "reason": "Error", "startedAt": at(1), "finishedAt": at(19) } } }] },
    });
    let state = |head: &Value, worker: &Value| {
        let pods = watch(&[
            ("ADDED", of("rc-head-aaaaa", "head", head)),
            ("ADDED", of("rc-gpu-worker-bbbbb", "worker", &json!({}))),
            ("MODIFIED", of("rc-gpu-worker-ccccc", "worker", worker)),
        ]);
        let answer = ask("rc", &[("pods.ndjson", pods)]);
        answer["runs"][0]["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(state(&json!({}), &taken), "running");
    assert_eq!(state(&taken, &json!({})), "failed", "its head is gone");
    assert_eq!(state(&json!({}), &ended), "failed", "one failed by itself");
}

/// A worker that is made anew just before its whole group is, is of the group that goes, and no attempt of its own.
#[test]
fn a_group_that_is_made_anew_is_one_more_attempt() {
    let owner = ("LeaderWorkerSet", "bert");
    let life = |made: u32, over: Option<u32>| {
        let mut life = json!({
            "metadata": { "creationTimestamp": at(made) },
            "status": { "conditions": [{ "type": "PodScheduled", "status": "True", "lastTransitionTime": at(made) }],
                "containerStatuses": [{ "name": "main", "ready": true, "restartCount": 0, "state": { "running": { "startedAt": at(made + 1) } } }] },
        });
        if let Some(over) = over {
            let ended = json!({ "terminated": { "exitCode": 143, "reason": "Error", "startedAt": at(made + 1), "finishedAt": at(over + 1) } });
            life["metadata"]["deletionTimestamp"] = json!(at(over + 30));
            life["metadata"]["deletionGracePeriodSeconds"] = json!(30);
            life["status"]["phase"] = json!("Failed");
            life["status"]["containerStatuses"][0]["state"] = ended;
        }
        life
    };
    let attempts = |second: u32| {
        let pods = watch(&[
            (
                "MODIFIED",
                pod("bert-0", "u-a", owner, "n0", &life(0, Some(second + 3))),
            ),
            (
                "MODIFIED",
                pod("bert-0-1", "u-b", owner, "n1", &life(0, Some(8))),
            ),
            (
                "MODIFIED",
                pod("bert-0-1", "u-c", owner, "n2", &life(11, Some(second + 3))),
            ),
            (
                "ADDED",
                pod("bert-0", "u-d", owner, "n0", &life(second + 6, None)),
            ),
            (
                "ADDED",
                pod("bert-0-1", "u-e", owner, "n2", &life(second + 6, None)),
            ),
        ]);
        let answer = ask("bert", &[("pods.ndjson", pods)]);
        answer["runs"][0]["attempts"].as_array().unwrap().len()
    };
    assert_eq!(attempts(10), 2);
    assert!(attempts(600) > 2, "the group worked on with the new one");
}

/// Whoever deletes the Service by which ranks find each other ended the run.
#[test]
fn a_service_that_was_deleted_is_why_its_names_do_not_resolve() {
    let failed = json!({
        "status": { "phase": "Failed", "containerStatuses": [{ "name": "main", "ready": false, "restartCount": 0, "state": { "terminated": { "exitCode": 1, "reason": "Error", "startedAt": at(1), "finishedAt": at(30) } } }] },
    });
    let line = |second: u32, text: &str| {
        json!({ "streams": [{
        "stream": { "namespace": "ml", "pod": "run-1-bbbbb", "container": "main" },
        "values": [[(1_772_445_600 + u64::from(second)).to_string() + "000000000", text]] }] })
    };
    let asked = |service: &str, code: u32| {
        let audit = deletion("bob@lab.example", ("services", service), code, 22);
        let pods = watch(&[(
            "MODIFIED",
            pod("run-1-bbbbb", "u-1", ("Job", "run"), "n1", &failed),
        )]);
        let answer = line(
            29,
            "socket.gaierror: [Errno -2] Name or service not known: 'run-0.ranks'",
        );
        let logs = json!({ "status": "success", "data": { "resultType": "streams", "result": answer["streams"] } });
        ask(
            "run",
            &[
                ("pods.ndjson", pods),
                ("audit.log", audit.to_string() + "\n"),
                ("loki.json", logs.to_string()),
            ],
        )
    };
    for service in ["ranks", "run"] {
        let deleted = asked(service, 200);
        assert_eq!(verdict(&deleted).1, "ops.manual_delete", "{deleted:#}");
        assert_eq!(
            deleted["incidents"][0]["actor"]["name"], "bob@lab.example",
            "{deleted:#}"
        );
    }
    for (service, code) in [("another", 200), ("ranks", 403)] {
        let kept = asked(service, code);
        assert_eq!(verdict(&kept).1, "dep.dns", "{service} {code}: {kept:#}");
    }
}
