//! What happens after a record that usually tells of an end: a job that outlives one of its steps, a drain that
//! asks again, an announcement for another machine of the name.

use serde_json::{Value, json};

use super::deletions::record;
use super::unseen::{ask, text, verdict};
use crate::whathappened;

const STEPS: &str = "JobID|JobName|State|ExitCode|Start|End|NodeList";

fn accounts(rows: &[&str]) -> (String, String) {
    let answer = ask("901", &[("sacct.txt", text(&[&[STEPS], rows].concat()))]);
    let (_, cause, level, _) = verdict(&answer);
    (cause.to_owned(), level.to_owned())
}

#[test]
fn a_step_that_ran_out_of_memory_ends_a_job_that_ends_with_it() {
    let ended = accounts(&[
        "901|train|FAILED|1:0|2026-11-20T08:00:00|2026-11-20T09:00:02|n1",
        "901.batch|batch|FAILED|1:0|2026-11-20T08:00:00|2026-11-20T09:00:02|n1",
        "901.0|python|OUT_OF_MEMORY|0:125|2026-11-20T08:00:05|2026-11-20T09:00:01|n1",
    ]);
    assert_eq!(ended.0, "code.host_oom");
    let tried_again = accounts(&[
        "901|train|FAILED|1:0|2026-11-20T08:00:00|2026-11-20T09:00:02|n1",
        "901.batch|batch|FAILED|1:0|2026-11-20T08:00:00|2026-11-20T09:00:02|n1",
        "901.0|python|OUT_OF_MEMORY|0:125|2026-11-20T08:00:05|2026-11-20T08:59:20|n1",
        "901.1|python|FAILED|1:0|2026-11-20T08:59:21|2026-11-20T09:00:01|n1",
    ]);
    assert_ne!(tried_again.0, "code.host_oom");
    let went_on = accounts(&[
        "901|train|FAILED|1:0|2026-11-20T08:00:00|2026-11-20T11:00:02|n1",
        "901.0|python|OUT_OF_MEMORY|0:125|2026-11-20T08:00:05|2026-11-20T09:00:01|n1",
    ]);
    assert_ne!(went_on.0, "code.host_oom");
}

#[test]
fn tasks_that_would_not_go_are_no_launch_failure() {
    let asked = |why: &str| {
        let log = [
            "[2026-11-20T08:00:00.300] sched: Allocate JobId=901 NodeList=n1 #CPUs=96 Partition=gpu",
            &format!(
                "[2026-11-20T08:01:04.300] error: slurmd error running JobId=901 on node(s)=n1: {why}"
            ),
        ];
        verdict(&ask("901", &[("slurmctld.log", text(&log))]))
            .1
            .to_owned()
    };
    assert_eq!(asked("Job credential revoked"), "node.launch_failed");
    assert_ne!(asked("Kill task failed"), "node.launch_failed");
}

fn eviction(second: u32, code: u16, agent: &str) -> String {
    record(
        "create",
        "tove@lab.example",
        &format!("2026-11-24T10:00:{second:02}.100000Z"),
        &json!({ "resource": "pods", "subresource": "eviction", "namespace": "ml", "name": "probe", "apiVersion": "v1" }),
        "/api/v1/namespaces/ml/pods/probe/eviction",
        &json!({ "responseStatus": { "code": code }, "userAgent": agent }),
    )
}

fn seen(at: &str) -> String {
    // Before and after, the node takes new pods.
    let node = json!({
        "apiVersion": "v1", "kind": "Node",
        "metadata": { "name": "g1", "uid": "n-g1", "creationTimestamp": "2026-11-01T00:00:00Z", "resourceVersion": at },
        "spec": {},
        "status": { "conditions": [{ "type": "Ready", "status": "True", "lastTransitionTime": "2026-11-01T00:01:00Z" }] },
    });
    node.to_string()
}

#[test]
fn an_eviction_that_kubectl_asked_for_again_and_again_is_a_drains() {
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "probe", "namespace": "ml", "uid": "p-1", "creationTimestamp": "2026-11-24T09:00:00Z",
                      "deletionTimestamp": "2026-11-24T10:00:45Z", "deletionGracePeriodSeconds": 30 },
        "spec": { "nodeName": "g1", "containers": [{ "name": "main" }] },
        "status": { "phase": "Running", "startTime": "2026-11-24T09:00:01Z", "containerStatuses": [
            { "name": "main", "ready": true, "restartCount": 0, "state": { "running": { "startedAt": "2026-11-24T09:00:02Z" } } } ] },
    });
    let asked = |refused: &[u32], agent: &str| {
        let mut lines = vec![pod.to_string(), seen("10")];
        lines.extend(refused.iter().map(|second| eviction(*second, 429, agent)));
        lines.push(eviction(15, 201, agent));
        verdict(&ask("pod/ml/probe", &[("all.ndjson", lines.join("\n"))]))
            .1
            .to_owned()
    };
    let kubectl = "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9";
    assert_eq!(asked(&[0, 5, 10], kubectl), "ops.node_drained");
    assert_eq!(
        asked(&[0, 5, 10], "python-requests/2.32"),
        "ops.manual_delete"
    );
    assert_eq!(asked(&[], "python-requests/2.32"), "ops.manual_delete");
}

#[test]
fn an_announcement_for_a_machine_of_the_name_in_another_zone_is_not_for_this_one() {
    let input = "fixtures/gke-host-maintenance/input";
    let folder = tempfile::tempdir().unwrap();
    for (file, zone) in [
        ("objects.jsonl", "europe-west4-a"),
        ("cloud-audit.jsonl", "europe-west4-b"),
    ] {
        let whole = std::fs::read_to_string(format!("{input}/{file}")).unwrap();
        let moved = whole.replace("europe-west4-a", zone);
        let moved = match zone {
            "europe-west4-b" => moved.replace("4410327758120913345", "7710327758120913345"),
            _ => moved,
        };
        std::fs::write(folder.path().join(file), moved).unwrap();
    }
    let announced = |from: &str| {
        let asked = [
            "upcoming",
            "moe-8b",
            "--from",
            from,
            "-q",
            "--at",
            "2026-04-11T08:30:00Z",
            "--format",
            "json",
        ];
        let (_, out, err) = whathappened(&asked);
        let report: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"));
        report["announced"].as_array().map_or(0, Vec::len)
    };
    assert_eq!(announced(input), 1);
    assert_eq!(announced(folder.path().to_str().unwrap()), 0);
}
