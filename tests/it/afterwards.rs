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

const PLAIN: &str = "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode \n\
------------ ---------- ---------- ---------- ---------- ---------- -------- ";

#[test]
fn accounts_without_a_column_of_ends_tell_of_them_all_the_same() {
    let asked = |state: &str, exit: &str| {
        let row = format!(
            "901               train        gpu        nlp         16 {state:>10} {exit:>8} "
        );
        let answer = ask("901", &[("sacct.txt", text(&[PLAIN, &row]))]);
        let (state, cause, _, _) = verdict(&answer);
        (state.to_owned(), cause.to_owned())
    };
    let failed = |cause: &str| ("failed".to_owned(), cause.to_owned());
    assert_eq!(asked("OUT_OF_ME+", "0:125"), failed("code.host_oom"));
    assert_eq!(asked("CANCELLED+", "0:0"), failed("ops.manual_delete"));
    assert_eq!(asked("COMPLETED", "0:0").1, "none.completed");
    assert_eq!(asked("RUNNING", "0:0").1, "none.running");
}

#[test]
fn a_table_of_the_queue_tells_what_waits_and_why() {
    let table = text(&[
        "             JOBID PARTITION     NAME     USER ST       TIME  NODES NODELIST(REASON)",
        "               853       gpu     t5xl      bob PD       0:00      4 (Dependency)",
        "               854       gpu     t5xl      bob  R    1:00:03      4 gpu-[01-04]",
    ]);
    let asked = |job: &str| {
        let answer = ask(job, &[("squeue.txt", table.clone())]);
        let (state, cause, _, _) = verdict(&answer);
        (state.to_owned(), cause.to_owned())
    };
    let waits = (
        "pending".to_owned(),
        "sched.unschedulable_constraint".to_owned(),
    );
    assert_eq!(asked("853"), waits);
    assert_eq!(asked("854").0, "running");
}

#[test]
fn an_array_is_asked_for_by_its_number_and_its_failed_task_leads() {
    let answer = ask(
        "4455",
        &[(
            "sacct.txt",
            text(&[
                STEPS,
                "4455_1|sweep|OUT_OF_MEMORY|0:125|2026-11-20T08:00:00|2026-11-20T08:20:02|n1",
                "4455_2|sweep|COMPLETED|0:0|2026-11-20T08:00:01|2026-11-20T09:00:02|n2",
            ]),
        )],
    );
    assert_eq!(verdict(&answer).1, "code.host_oom");
}

#[test]
fn what_was_put_back_into_the_queue_waits_for_what_ended_it() {
    let log = text(&[
        "[2026-11-20T08:00:00.300] sched: Allocate JobId=901 NodeList=n1 #CPUs=96 Partition=gpu",
        "[2026-11-20T09:00:00.300] preempted JobId=901 has been requeued to reclaim resources for JobId=77",
    ]);
    let sacct = text(&[
        "JobID|JobName|State|ExitCode|Submit|Start|End|NodeList",
        "901|train|PENDING|0:0|2026-11-20T09:00:01|Unknown|Unknown|None assigned",
    ]);
    let answer = ask("901", &[("slurmctld.log", log), ("sacct.txt", sacct)]);
    let (state, cause, _, _) = verdict(&answer);
    assert_eq!((state, cause), ("pending", "sched.preempted"));
}

#[test]
fn a_job_whose_log_says_that_all_is_done_outlived_its_step() {
    let log = text(&[
        "slurmstepd-n1: error: *** STEP 9.0 ON n1 CANCELLED AT 2026-11-20T08:33:36 DUE TO TIME LIMIT ***",
        "srun: error: n1: task 0: Terminated",
        "Training finished",
    ]);
    let answer = ask("9", &[("slurm-9.out", log)]);
    assert_eq!(verdict(&answer).0, "completed", "{answer:#}");
}

#[test]
fn a_machine_may_be_called_by_its_whole_name() {
    let asked = |hosts: &[&str]| {
        let xid = "kernel: NVRM: Xid (PCI:0000:c1:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
        let lines: Vec<String> = hosts
            .iter()
            .map(|host| format!("2026-11-20T09:00:00+00:00 {host} {xid}"))
            .collect();
        let answer = ask(
            "901",
            &[
                (
                    "sacct.txt",
                    text(&[
                        STEPS,
                        "901|train|FAILED|0:6|2026-11-20T08:00:00|2026-11-20T09:00:02|n1",
                    ]),
                ),
                ("kern.log", lines.join("\n") + "\n"),
            ],
        );
        verdict(&answer).1.to_owned()
    };
    assert_eq!(asked(&["n1.hpc.lab"]), "hw.gpu");
    assert_ne!(
        asked(&["n1.hpc.lab", "n1.other.lab"]),
        "hw.gpu",
        "nobody knows which"
    );
}

#[test]
fn what_somebody_stopped_is_not_stopped_again_by_its_cloud() {
    let record = |at: &str, method: &str, who: &str, log: &str| {
        json!({
            "protoPayload": {
                "@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "compute.googleapis.com",
                "methodName": method, "resourceName": "projects/lab/zones/europe-west4-a/instances/box-1",
                "authenticationInfo": { "principalEmail": who }, "status": {},
            },
            "insertId": format!("{method}-{at}"), "timestamp": at, "severity": "INFO",
            "resource": { "type": "gce_instance", "labels": { "instance_id": "61", "project_id": "lab", "zone": "europe-west4-a" } },
            "logName": format!("projects/lab/logs/cloudaudit.googleapis.com%2F{log}"),
            "operation": { "id": format!("op-{at}"), "producer": "compute.googleapis.com", "first": true, "last": true },
        })
        .to_string()
    };
    let made = record(
        "2026-06-01T07:00:00.1Z",
        "v1.compute.instances.insert",
        "ada@lab.example",
        "activity",
    );
    let stopped = record(
        "2026-06-01T09:00:00.1Z",
        "v1.compute.instances.stop",
        "eve@lab.example",
        "activity",
    );
    let fault = record(
        "2026-06-01T11:00:00.1Z",
        "compute.instances.hostError",
        "system@google.com",
        "system_event",
    );
    let asked = |records: &[&String]| {
        let lines: Vec<&str> = records.iter().map(|line| line.as_str()).collect();
        verdict(&ask("vm/box-1", &[("audit.jsonl", text(&lines))]))
            .1
            .to_owned()
    };
    assert_eq!(asked(&[&made, &fault]), "cloud.host_error");
    assert_eq!(asked(&[&made, &stopped, &fault]), "ops.manual_delete");
}
