//! Whose a record is, and when it was: a GPU that several had, machines of one name, a log without years, a
//! request in somebody else's name, and what came too late to have been why.

use serde_json::{Value, json};

use super::deletions::record;
use super::unseen::{SACCT, ask, text, verdict};

const XID: &str = "kernel: NVRM: Xid (PCI:0000:c1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";

fn failed_job(number: u32, name: &str, state: &str) -> String {
    let end = if state == "RUNNING" {
        "Unknown"
    } else {
        "2026-11-20T12:00:20"
    };
    format!(
        "{number}|{number}|{name}|tove|{state}|1:0|2026-11-20T07:57:50|2026-11-20T08:00:00|{end}|1|vx31|None"
    )
}

fn lines(objects: &[Value]) -> String {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    lines.join("\n") + "\n"
}

#[test]
fn a_gpu_of_a_machine_that_two_jobs_share_may_be_either_ones() {
    let asked = |others: &[String]| {
        let mut table = vec![SACCT.to_owned(), failed_job(7001, "run", "FAILED")];
        table.extend_from_slice(others);
        let log = format!("2026-11-20T12:00:01.104233+00:00 vx31 {XID}\n");
        let files = [
            ("sacct.txt", table.join("\n") + "\n"),
            ("vx31/kern.log", log),
        ];
        let answer = ask("run", &files);
        let (_, cause, level, _) = verdict(&answer);
        (cause.to_owned(), level.to_owned())
    };
    assert_eq!(asked(&[]), ("hw.gpu".to_owned(), "supported".to_owned()));
    let shared = asked(&[failed_job(7002, "serve", "RUNNING")]);
    assert_eq!(shared.1, "hypothesis", "{shared:?}");
}

#[test]
fn a_log_without_years_is_dated_from_its_end() {
    let asked = |later: &[&str]| {
        let first = format!("Nov 20 12:00:10 vx31 {XID}");
        let log = [&[first.as_str()], later].concat();
        let files = [
            (
                "sacct.txt",
                text(&[SACCT, &failed_job(7001, "run", "FAILED")]),
            ),
            ("vx31/kern.log", text(&log)),
        ];
        verdict(&ask("run", &files)).1.to_owned()
    };
    assert_eq!(asked(&[]), "hw.gpu");
    let plugged = "kernel: mlx5_core 0000:5c:00.0: Port module event: module 0, Cable plugged";
    let march = format!("Mar  3 10:00:00 vx31 {plugged}");
    assert_ne!(asked(&[&march]), "hw.gpu", "it was a year before");
}

#[test]
fn a_machine_of_another_cluster_bears_the_name_only() {
    let asked = |cluster: &str| {
        let stream = |labels: Value, values: Value| json!({ "stream": labels, "values": values });
        let of_run = |rank: u32, line: &str, at: &str| {
            stream(
                json!({ "cluster": "prod", "namespace": "ml", "pod": format!("exp-{rank}"), "node": format!("gke-a{rank}"),
                        "experiment": "exp", "container": "trainer" }),
                json!([["1795002660000000000", "step 100"], [at, line]]),
            )
        };
        let waited = "[rank0]:[E1118 12:02:10.918273645 ProcessGroupNCCL.cpp:685] [Rank 0] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4410, OpType=ALLREDUCE, NumelIn=1024, NumelOut=1024, Timeout(ms)=20000) ran for 20011 milliseconds before timing out.";
        let kernel = json!({ "cluster": cluster, "job": "systemd-journal", "node": "gke-a1", "transport": "kernel" });
        let xid = XID.trim_start_matches("kernel: ");
        let answer = json!({ "status": "success", "data": { "resultType": "streams", "result": [
            of_run(0, waited, "1795003330000000000"),
            of_run(1, "step 140", "1795003300000000000"),
            stream(kernel, json!([["1795003310000000000", xid]])),
        ], "stats": {} } });
        verdict(&ask("exp", &[("loki.json", answer.to_string())]))
            .1
            .to_owned()
    };
    assert_eq!(asked("prod"), "hw.gpu");
    assert_eq!(asked("dev"), "hang.collective_timeout");
}

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
            "name": format!("run-{rank}"), "namespace": "ml", "uid": format!("p-{rank}"), "creationTimestamp": "2026-11-24T09:00:00Z",
            "labels": { "batch.kubernetes.io/job-completion-index": rank.to_string() },
            "ownerReferences": [{ "apiVersion": "batch/v1", "kind": "Job", "name": "run", "uid": "u-run", "controller": true }],
        },
        "spec": { "nodeName": format!("g{rank}"), "containers": [{ "name": "main" }] },
        "status": { "phase": phase, "startTime": "2026-11-24T09:00:01Z",
                    "containerStatuses": [{ "name": "main", "ready": phase == "Running", "restartCount": 0, "state": state }] },
    })
}

fn ended(code: i32, reason: &str, at: &str) -> Value {
    json!({ "terminated": { "exitCode": code, "reason": reason, "startedAt": "2026-11-24T09:00:02Z", "finishedAt": at } })
}

fn event(about: (&str, &str, &str), reason: &str, message: &str, at: &str, by: &str) -> Value {
    let (kind, name, uid) = about;
    json!({
        "apiVersion": "v1", "kind": "Event",
        "metadata": { "name": format!("{reason}-{name}-{at}"), "namespace": "ml", "uid": format!("{reason}-{name}-{at}") },
        "involvedObject": { "kind": kind, "namespace": "ml", "name": name, "uid": uid },
        "reason": reason, "message": message, "source": { "component": by },
        "firstTimestamp": at, "lastTimestamp": at, "count": 1, "type": "Normal",
    })
}

const POD: (&str, &str, &str) = ("Pod", "run-0", "p-0");
const NODE: (&str, &str, &str) = ("Node", "g0", "n-g0");

fn node(name: &str, ready: &str, since: &str, taints: &Value) -> Value {
    let reason = if ready == "True" {
        "KubeletReady"
    } else {
        "NodeStatusUnknown"
    };
    json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": name, "uid": format!("n-{name}"), "creationTimestamp": "2026-11-01T00:00:00Z" },
        "spec": { "taints": taints },
        "status": { "conditions": [{ "type": "Ready", "status": ready, "reason": reason, "message": "m",
                                     "lastTransitionTime": since, "lastHeartbeatTime": "2026-11-24T10:05:00Z" }] },
    })
}

fn removed(user: &str, at: &str, more: &Value) -> String {
    let object =
        json!({ "resource": "pods", "namespace": "ml", "name": "run-0", "apiVersion": "v1" });
    record(
        "delete",
        user,
        at,
        &object,
        "/api/v1/namespaces/ml/pods/run-0",
        more,
    ) + "\n"
}

#[test]
fn who_asks_through_a_proxy_is_named() {
    let mut lost = pod(0, "Failed", &ended(143, "Error", "2026-11-24T10:00:02Z"));
    lost["metadata"]["deletionTimestamp"] = "2026-11-24T10:00:31Z".into();
    lost["metadata"]["deletionGracePeriodSeconds"] = 30.into();
    let request = removed(
        "rancher-sa",
        "2026-11-24T10:00:01.100000Z",
        &json!({ "impersonatedUser": { "username": "zoe@lab.example" } }),
    );
    let answer = ask(
        "job/ml/run",
        &[
            (
                "all.ndjson",
                lines(&[job(&json!({}), &json!({ "failed": 1 })), lost]),
            ),
            ("audit.log", request),
        ],
    );
    let main = &answer["incidents"][0];
    assert_eq!(main["actor"]["name"], "zoe@lab.example", "{answer:#}");
    assert!(main.to_string().contains("(through rancher-sa)"), "{main}");
}

#[test]
fn who_acts_as_another_person_is_named_all_the_same() {
    let mut lost = pod(0, "Failed", &ended(143, "Error", "2026-11-24T10:00:02Z"));
    lost["metadata"]["deletionTimestamp"] = "2026-11-24T10:00:31Z".into();
    lost["metadata"]["deletionGracePeriodSeconds"] = 30.into();
    let request = removed(
        "bob@lab.example",
        "2026-11-24T10:00:01.100000Z",
        &json!({ "impersonatedUser": { "username": "alice@lab.example" } }),
    );
    let answer = ask(
        "job/ml/run",
        &[
            (
                "all.ndjson",
                lines(&[job(&json!({}), &json!({ "failed": 1 })), lost]),
            ),
            ("audit.log", request),
        ],
    );
    let main = &answer["incidents"][0];
    assert_eq!(main["actor"]["name"], "bob@lab.example", "{answer:#}");
    assert!(
        main.to_string().contains("(acting as alice@lab.example)"),
        "{main}"
    );
}

/// The kubelet announces that its machine goes down before it stops the first pod for that.
#[test]
fn a_pod_that_was_stopped_before_its_machine_went_down_did_not_end_for_it() {
    let asked = |stopped: &str| {
        let objects = [
            event(
                POD,
                "Scheduled",
                "Successfully assigned ml/run-0 to g0",
                "2026-11-24T09:00:00Z",
                "default-scheduler",
            ),
            event(
                POD,
                "Started",
                "Started container main",
                "2026-11-24T09:00:02Z",
                "kubelet",
            ),
            event(
                POD,
                "Killing",
                "Stopping container main",
                stopped,
                "kubelet",
            ),
            event(
                NODE,
                "Shutdown",
                "Shutdown manager detected shutdown event",
                "2026-11-24T10:00:12Z",
                "kubelet",
            ),
            event(
                NODE,
                "Rebooted",
                "Node g0 has been rebooted, boot id: 1",
                "2026-11-24T10:00:30Z",
                "kubelet",
            ),
        ];
        let answer = ask("pod/ml/run-0", &[("all.ndjson", lines(&objects))]);
        let (_, cause, level, _) = verdict(&answer);
        (cause.to_owned(), level.to_owned())
    };
    assert_eq!(
        asked("2026-11-24T10:00:13Z"),
        ("node.reboot".to_owned(), "supported".to_owned())
    );
    let before = asked("2026-11-24T10:00:02Z");
    assert_ne!(before.1, "supported", "{before:?}");
    assert_ne!(before.0, "node.reboot");
}

/// `out-of-service` is the remedy for a node that is lost, not what took it.
#[test]
fn a_taint_that_clears_a_lost_node_did_not_take_its_pods() {
    let taints = json!([
        { "key": "node.kubernetes.io/unreachable", "effect": "NoExecute", "timeAdded": "2026-11-24T10:00:04Z" },
        { "key": "node.kubernetes.io/out-of-service", "value": "nodeshutdown", "effect": "NoExecute", "timeAdded": "2026-11-24T10:00:11Z" },
    ]);
    let by = "taint-eviction-controller";
    let objects = [
        node("g0", "Unknown", "2026-11-24T10:00:02Z", &taints),
        event(
            POD,
            "Scheduled",
            "Successfully assigned ml/run-0 to g0",
            "2026-11-24T09:00:00Z",
            "default-scheduler",
        ),
        event(
            POD,
            "Started",
            "Started container main",
            "2026-11-24T09:00:02Z",
            "kubelet",
        ),
        event(
            NODE,
            "NodeNotReady",
            "Node g0 status is now: NodeNotReady",
            "2026-11-24T10:00:03Z",
            "node-controller",
        ),
        event(
            POD,
            "NodeNotReady",
            "Node is not ready",
            "2026-11-24T10:00:04Z",
            "node-controller",
        ),
        event(
            POD,
            "TaintManagerEviction",
            "Marking for deletion Pod ml/run-0",
            "2026-11-24T10:00:11Z",
            by,
        ),
    ];
    let answer = ask("pod/ml/run-0", &[("all.ndjson", lines(&objects))]);
    assert_eq!(verdict(&answer).1, "node.not_ready", "{answer:#}");
}

#[test]
fn a_job_whose_time_is_up_while_it_may_try_again_ended_for_that() {
    let late = json!([
        { "type": "FailureTarget", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline", "lastTransitionTime": "2026-11-24T10:00:20Z" },
        { "type": "Failed", "status": "True", "reason": "DeadlineExceeded", "message": "Job was active longer than specified deadline", "lastTransitionTime": "2026-11-24T10:00:24Z" },
    ]);
    let status = json!({ "failed": 2, "conditions": late });
    let objects = [
        job(
            &json!({ "backoffLimit": 6, "activeDeadlineSeconds": 3620 }),
            &status,
        ),
        pod(
            1,
            "Failed",
            &ended(137, "OOMKilled", "2026-11-24T10:00:10Z"),
        ),
        event(
            POD,
            "Started",
            "Started container main",
            "2026-11-24T09:00:02Z",
            "kubelet",
        ),
        event(
            POD,
            "Killing",
            "Stopping container main",
            "2026-11-24T10:00:20Z",
            "kubelet",
        ),
        event(
            ("Job", "run", "u-run"),
            "SuccessfulCreate",
            "Created pod: run-0",
            "2026-11-24T09:00:00Z",
            "job-controller",
        ),
        event(
            ("Job", "run", "u-run"),
            "SuccessfulDelete",
            "Deleted pod: run-0",
            "2026-11-24T10:00:20Z",
            "job-controller",
        ),
    ];
    let answer = ask("job/ml/run", &[("all.ndjson", lines(&objects))]);
    assert_eq!(verdict(&answer).1, "code.deadline", "{answer:#}");
    let also = answer["incidents"].as_array().into_iter().flatten();
    let causes: Vec<&Value> = also.map(|one| &one["cause"]).collect();
    assert!(causes.contains(&&json!("code.host_oom")), "{causes:?}");
}

#[test]
fn a_pod_whose_node_is_not_among_its_clusters_is_not_known_to_run() {
    let running = json!({ "running": { "startedAt": "2026-11-24T09:00:02Z" } });
    let asked = |machine: &str| {
        let objects = [
            job(
                &json!({ "parallelism": 1, "completions": 1 }),
                &json!({ "active": 1, "ready": 1 }),
            ),
            pod(0, "Running", &running),
            node(machine, "True", "2026-11-01T00:01:00Z", &json!([])),
        ];
        let list = json!({ "apiVersion": "v1", "kind": "List", "items": objects });
        let answer = ask("job/ml/run", &[("all.json", list.to_string())]);
        verdict(&answer).2.to_owned()
    };
    assert_eq!(asked("g0"), "established");
    assert_eq!(asked("g7"), "hypothesis");
}

#[test]
fn a_removal_that_was_given_up_is_no_incident_of_the_node() {
    let asked = |failed: bool| {
        let mut objects = vec![event(
            NODE,
            "ScaleDown",
            "marked the node as toBeDeleted/unschedulable",
            "2026-11-24T10:00:00Z",
            "cluster-autoscaler",
        )];
        objects.extend(failed.then(|| {
            event(
                NODE,
                "ScaleDownFailed",
                "failed to drain and delete node: failed to evict pod",
                "2026-11-24T10:00:04Z",
                "cluster-autoscaler",
            )
        }));
        let answer = ask("node/g0", &[("all.ndjson", lines(&objects))]);
        answer["incidents"].as_array().map_or(0, Vec::len)
    };
    assert_eq!((asked(false), asked(true)), (1, 0));
}

/// What a program writes by a clock of its own, without a zone, is of the time in which its container ran.
#[test]
fn a_log_without_a_zone_is_of_the_zone_in_which_it_fits() {
    let asked = |hour: u32| {
        let line =
            |minute: u32, text: &str| format!("2026-11-24 {hour}:{minute:02}:30,100 {text}\n");
        let steps: String = (0..29)
            .map(|minute| line(minute, &format!("INFO step {minute} loss 2.1")))
            .collect();
        let error = "ERROR failed\nTraceback (most recent call last):\n  File \"train.py\", line 3, in <module>\nKeyError: 'labels'\n";
        let failed = super::sent_away::pod(
            0,
            "Failed",
            &super::sent_away::ended(1, "Error", "10:29:32"),
        );
        let objects = super::sent_away::list(&[super::sent_away::job(1, true), failed]);
        let log = steps + &line(29, error);
        let answer = ask(
            "bert",
            &[("objects.json", objects), ("bert-0-aaaa0.log", log)],
        );
        let notes = answer["notes"].to_string();
        (
            verdict(&answer).2.to_owned(),
            notes.contains("read as UTC+08:00"),
        )
    };
    assert_eq!(asked(10), ("supported".to_owned(), false));
    assert_eq!(asked(18), ("supported".to_owned(), true));
}
