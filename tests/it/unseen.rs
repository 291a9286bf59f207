//! Cases that people who had not written the rules thought of, and that were answered wrongly.

use std::path::Path;

use serde_json::{Value, json};

use super::whathappened;

/// The answer to a question about some files.
pub(super) fn ask(question: &str, files: &[(&str, String)]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap_or_else(|| Path::new("."))).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let from = folder.path().to_str().unwrap();
    let (_, out, err) = whathappened(&[question, "--from", from, "--format", "json"]);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
}

pub(super) fn text(lines: &[&str]) -> String {
    lines.join("\n") + "\n"
}

fn all(objects: &[Value]) -> Vec<(&'static str, String)> {
    let lines: Vec<String> = objects.iter().map(Value::to_string).collect();
    vec![("all.ndjson", lines.join("\n"))]
}

/// State of the run, cause, level and node of the first victim.
pub(super) fn verdict(answer: &Value) -> (&str, &str, &str, &str) {
    let main = &answer["incidents"][0];
    let of = |value: &'static str| main[value].as_str().unwrap_or_default();
    (
        answer["runs"][0]["state"].as_str().unwrap_or_default(),
        of("cause"),
        of("level"),
        main["first_victim"]["node"].as_str().unwrap_or_default(),
    )
}

pub(super) const SACCT: &str =
    "JobID|JobIDRaw|JobName|User|State|ExitCode|Submit|Start|End|NNodes|NodeList|Reason";

#[test]
fn a_requeued_job_that_was_allocated_again_runs() {
    let answer = ask(
        "8123",
        &[
            (
                "slurmctld.log",
                text(&[
                    "[2026-10-15T01:00:00.300] sched: Allocate JobId=8123 NodeList=d[05-06] #CPUs=192 Partition=h100",
                    "[2026-10-15T06:06:20.300] sched: Allocate JobId=8123 NodeList=d[06-07] #CPUs=192 Partition=h100",
                ]),
            ),
            (
                "slurm-8123.out",
                text(&[
                    "slurmstepd: error: *** JOB 8123 ON d05 CANCELLED AT 2026-10-15T06:04:00 DUE TO JOB REQUEUE ***",
                    "2026-10-15 06:07:40,100 INFO resuming from step 880",
                    "2026-10-15 06:30:40,100 INFO step 1000 loss 2.1",
                ]),
            ),
        ],
    );
    assert_eq!(answer["runs"][0]["state"], "running", "{answer:#}");
}

/// Slurm ends all parts of a heterogeneous job where one of them ends, and accounts for that by root's number.
#[test]
fn what_slurm_ends_with_another_part_was_cancelled_by_nobody() {
    let answer = ask(
        "pipe-het",
        &[
            (
                "sacct.txt",
                text(&[
                    SACCT,
                    "70010+0|70010|pipe-het|tom|CANCELLED by 0|0:0|2026-10-15T00:57:50|2026-10-15T01:00:00|2026-10-15T04:22:10|2|p[01-02]|None",
                    "70010+1|70011|pipe-het|tom|NODE_FAIL|0:0|2026-10-15T00:57:50|2026-10-15T01:00:00|2026-10-15T04:22:09|1|p07|None",
                ]),
            ),
            (
                "slurmctld.log",
                text(&[
                    "[2026-10-15T04:18:50.001] error: Nodes p07 not responding",
                    "[2026-10-15T04:22:09.001] error: Nodes p07 not responding, setting DOWN",
                    "[2026-10-15T04:22:09.002] Killing JobId=70010+1(70011) on failed node p07",
                ]),
            ),
        ],
    );
    assert_eq!(
        verdict(&answer),
        ("failed", "node.not_ready", "supported", "p07"),
        "{answer:#}"
    );
    assert_eq!(answer["incidents"].as_array().map(Vec::len), Some(1));
    assert_eq!(answer["incidents"][0]["collateral"][0]["pod"], "70010+0");
}

#[test]
fn a_job_on_several_nodes_ended_where_the_fault_was() {
    let answer = ask(
        "llama-sft",
        &[
            (
                "sacct.txt",
                text(&[
                    SACCT,
                    "881201|881201|llama-sft|mira|NODE_FAIL|0:0|2026-10-14T08:58:01|2026-10-14T08:59:00|2026-10-14T13:41:52|3|hgx-[012-014]|None",
                ]),
            ),
            (
                "slurmctld.log",
                text(&[
                    "[2026-10-14T13:38:32.000] error: Nodes hgx-014 not responding",
                    "[2026-10-14T13:41:52.000] error: Nodes hgx-014 not responding, setting DOWN",
                ]),
            ),
        ],
    );
    let (state, cause, _, node) = verdict(&answer);
    assert_eq!(
        (state, cause, node),
        ("failed", "node.not_ready", "hgx-014")
    );
}

/// The last line of a job's output has no date of its own, and is no later than the job's end.
#[test]
fn accounting_bounds_when_an_undated_line_was_written() {
    let answer = ask(
        "tt-1",
        &[
            (
                "sacct.txt",
                text(&[
                    SACCT,
                    "9801|9801|tt-1|lin|FAILED|1:0|2026-10-19T23:57:50|2026-10-20T00:00:00|2026-10-20T10:00:20|1|ta1|None",
                ]),
            ),
            (
                "slurm-9801.out",
                text(&[
                    "2026-10-20 10:00:00,000 INFO step 1000 loss 2.0",
                    "srun: error: ta1: task 3: Exited with exit code 1",
                ]),
            ),
        ],
    );
    let end = answer["runs"][0]["end"].as_str().unwrap_or_default();
    assert!(
        ("2026-10-20T10:00:00Z"..="2026-10-20T10:00:20Z").contains(&end),
        "{answer:#}"
    );
}

#[test]
fn a_log_in_a_machine_s_folder_was_written_on_that_machine() {
    let answer = ask(
        "run-14",
        &[
            (
                "vm-14/kern.log",
                text(&[
                    "2026-08-11T10:01:10.100400+00:00 vm-14 kernel: nfs: server fs01.lab not responding, still trying",
                    "2026-08-11T10:41:31.100440+00:00 vm-14 kernel: nfs: server fs01.lab OK",
                ]),
            ),
            (
                "vm-14/run-14.log",
                text(&[
                    "2026-08-11 10:01:02,100 INFO saving checkpoint to /mnt/fs01/ckpt/step_900",
                    "2026-08-11 10:11:04,100 ERROR [Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=9001, OpType=ALLREDUCE, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600036 milliseconds before timing out.",
                ]),
            ),
        ],
    );
    assert_eq!(
        verdict(&answer),
        ("failed", "dep.storage", "supported", "vm-14"),
        "{answer:#}"
    );
}

fn job(name: &str, extra: &Value) -> Value {
    let mut job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": name, "namespace": "lab", "uid": format!("uid-{name}"), "creationTimestamp": "2026-11-24T08:00:00Z"},
        "spec": {"parallelism": 3, "completions": 3, "completionMode": "Indexed", "backoffLimit": 0},
    });
    if let (Some(job), Some(extra)) = (job.as_object_mut(), extra.as_object()) {
        job.extend(extra.clone());
    }
    job
}

/// A rank of a job: the node that it is on is `g` and its number.
fn rank(job: &str, number: u32, extra: &Value, state: &Value) -> Value {
    let name = format!("{job}-{number}-x8f2{number}");
    let mut metadata = json!({
        "name": name, "namespace": "lab", "uid": format!("uid-{name}"), "creationTimestamp": "2026-11-24T08:00:00Z",
        "labels": {"batch.kubernetes.io/job-completion-index": number.to_string()},
        "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": job, "uid": format!("uid-{job}"), "controller": true}],
    });
    if let (Some(metadata), Some(extra)) = (metadata.as_object_mut(), extra.as_object()) {
        metadata.extend(extra.clone());
    }
    let over = state.get("terminated").is_some();
    json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": metadata,
        "spec": {"nodeName": format!("g{number}"), "restartPolicy": "Never", "containers": [{"name": "trainer", "image": "i"}]},
        "status": {"phase": if over { "Failed" } else { "Running" }, "containerStatuses": [
            {"name": "trainer", "restartCount": 0, "ready": !over, "state": state}]},
    })
}

fn ended(code: i32, reason: &str, at: &str) -> Value {
    json!({"terminated": {"exitCode": code, "reason": reason,
        "startedAt": "2026-11-24T08:00:10Z", "finishedAt": format!("2026-11-24T{at}Z")}})
}

fn lost_touch(job: &str, number: u32, at: &str) -> (String, String) {
    let words = "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2251, remote process exited or there was a network error, NCCL version 2.21.5";
    (
        format!("logs/{job}-{number}-x8f2{number}.log"),
        format!("2026-11-24T{at}.000000123Z [rank{number}]: {words}\n"),
    )
}

/// Containers end in the order in which their programs give up, and a killed process is found to be gone first.
#[test]
fn who_reports_the_loss_of_another_was_not_the_first() {
    let mut files = all(&[
        job("oom", &json!({})),
        rank("oom", 0, &json!({}), &ended(1, "Error", "09:00:02")),
        rank("oom", 1, &json!({}), &ended(1, "Error", "09:00:07")),
        rank("oom", 2, &json!({}), &ended(137, "OOMKilled", "09:00:03")),
    ]);
    let logs = [
        lost_touch("oom", 0, "09:00:01"),
        lost_touch("oom", 1, "09:00:06"),
    ];
    files.extend(
        logs.iter()
            .map(|(path, text)| (path.as_str(), text.clone())),
    );
    let answer = ask("oom", &files);
    assert_eq!(
        verdict(&answer),
        ("failed", "code.host_oom", "supported", "g2"),
        "{answer:#}"
    );
}

/// A node that dies is found to be silent long after its peers have given up.
#[test]
fn a_silent_node_leads_before_those_who_missed_it() {
    let node = |number: u32, ready: &str, since: &str| {
        json!({"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": format!("g{number}"), "uid": format!("uid-g{number}"), "creationTimestamp": "2026-11-01T08:00:00Z"},
            "status": {"conditions": [{"type": "Ready", "status": ready, "reason": if ready == "True" { "KubeletReady" } else { "NodeStatusUnknown" },
                "lastHeartbeatTime": "2026-11-24T08:59:58Z", "lastTransitionTime": since}]}})
    };
    let asked =
        json!({"deletionTimestamp": "2026-11-24T09:00:39Z", "deletionGracePeriodSeconds": 30});
    let mut files = all(&[
        node(0, "True", "2026-11-01T08:00:00Z"),
        node(1, "True", "2026-11-01T08:00:00Z"),
        node(2, "Unknown", "2026-11-24T09:00:45Z"),
        job(
            "die",
            &json!({"status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded",
            "message": "Job has reached the specified backoff limit", "lastTransitionTime": "2026-11-24T09:00:09Z"}]}}),
        ),
        rank("die", 0, &json!({}), &ended(1, "Error", "09:00:06")),
        rank("die", 1, &json!({}), &ended(1, "Error", "09:00:07")),
        rank(
            "die",
            2,
            &asked,
            &json!({"running": {"startedAt": "2026-11-24T08:00:10Z"}}),
        ),
    ]);
    let logs = [
        lost_touch("die", 0, "09:00:05"),
        lost_touch("die", 1, "09:00:05"),
        (
            "logs/later.log".to_owned(),
            "2026-11-24T12:00:00Z the listing was made\n".to_owned(),
        ),
    ];
    files.extend(
        logs.iter()
            .map(|(path, text)| (path.as_str(), text.clone())),
    );
    let answer = ask("die", &files);
    let (state, cause, _, node) = verdict(&answer);
    assert_eq!(
        (state, cause, node),
        ("failed", "node.not_ready", "g2"),
        "{answer:#}"
    );
}

#[test]
fn a_suspended_job_waits() {
    let suspended = json!({
        "spec": {"parallelism": 1, "completions": 1, "suspend": true},
        "status": {"conditions": [{"type": "Suspended", "status": "True", "reason": "JobSuspended",
            "message": "Job suspended", "lastTransitionTime": "2026-11-24T10:00:00Z"}]}});
    let asked =
        json!({"deletionTimestamp": "2026-11-24T10:00:30Z", "deletionGracePeriodSeconds": 30});
    let answer = ask(
        "susp",
        &all(&[
            job("susp", &suspended),
            rank("susp", 0, &asked, &ended(143, "Error", "10:00:05")),
        ]),
    );
    assert_eq!(answer["runs"][0]["state"], "pending", "{answer:#}");
}

/// `KubeRay` is done with a job that failed.
#[test]
fn a_ray_job_that_failed_is_not_complete() {
    let answer = ask(
        "rllib",
        &all(&[json!({"apiVersion": "ray.io/v1", "kind": "RayJob",
            "metadata": {"name": "rllib", "namespace": "lab", "uid": "uid-rllib", "creationTimestamp": "2026-11-24T08:00:00Z"},
            "spec": {"entrypoint": "python train.py"},
            "status": {"jobStatus": "FAILED", "jobDeploymentStatus": "Complete", "message": "Job entrypoint command failed with exit code 1",
                "startTime": "2026-11-24T08:01:00Z", "endTime": "2026-11-24T09:00:00Z"}})]),
    );
    assert_eq!(answer["runs"][0]["state"], "failed", "{answer:#}");
}

/// A controller that replaces its pods deletes one, and makes one of the same name.
#[test]
fn who_was_deleted_before_a_namesake_was_made_is_another() {
    let set = json!({"apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": {"name": "ps", "namespace": "lab", "uid": "uid-ps", "creationTimestamp": "2026-11-01T08:00:00Z"},
        "spec": {"replicas": 1}, "status": {"replicas": 1, "readyReplicas": 1}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "ps-0", "namespace": "lab", "uid": "uid-ps-0-b", "creationTimestamp": "2026-11-24T10:02:31Z",
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "ps", "uid": "uid-ps", "controller": true}]},
        "spec": {"nodeName": "g1", "containers": [{"name": "main", "image": "i"}]},
        "status": {"phase": "Running", "containerStatuses": [{"name": "main", "restartCount": 0, "ready": true,
            "state": {"running": {"startedAt": "2026-11-24T10:02:33Z"}}}]}});
    let deleted = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
        "auditID": "a-1", "verb": "delete", "user": {"username": "ida@lab.example"}, "userAgent": "kubectl/v1.36",
        "objectRef": {"resource": "pods", "namespace": "lab", "name": "ps-0", "apiVersion": "v1"}, "responseStatus": {"code": 200},
        "requestReceivedTimestamp": "2026-11-24T10:02:00.100000Z", "stageTimestamp": "2026-11-24T10:02:00.110000Z"});
    let answer = ask("ps", &all(&[set, pod, deleted]));
    assert_eq!(answer["runs"][0]["state"], "running", "{answer:#}");
}

#[test]
fn a_command_that_was_typed_right_is_not_corrected() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().to_str().unwrap();
    let (code, _, err) = whathappened(&["import", "/nowhere/at/all", "--store", store]);
    assert!(
        code != Some(0) && !err.contains("did you mean the command"),
        "{err}"
    );
}

/// Launchers wait for what `upcoming` says: a calendar that cannot be read is no calm sky.
#[test]
fn a_calendar_of_other_columns_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("calendar.csv");
    let path = file.to_str().unwrap();
    let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lab-cluster/input");
    let upcoming = |node: &str, text: &str| {
        std::fs::write(&file, text).unwrap();
        let at = ["--at", "2026-11-21T14:00:00Z", "--within", "2h"];
        let from = ["--from", path, "--from", lab];
        whathappened(&[&["upcoming", node], &from[..], &at[..]].concat())
    };
    let (code, out, err) = upcoming(
        "node/r4n3",
        "maintenance;host;start;end\nreplace the switch;r4n3;2026-11-21T15:00:00Z;2026-11-21T17:00:00Z\n",
    );
    assert_eq!(code, Some(5), "{out}{err}");
    let (code, out, err) = upcoming(
        "node/gke-train-a100-pool-7c1d-0004",
        "host,start,end\nr4n3,2026-11-21T15:00:00Z,2026-11-21T17:00:00Z\n",
    );
    assert_eq!(code, Some(6), "{out}{err}");
    assert!(out.contains("does not name: maintenance"), "{out}{err}");
}

/// `--at` tells of the past: of what comes after the last record nothing is known.
#[test]
fn a_moment_after_the_last_record_is_the_last_record() {
    let lab = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/lab-cluster/input");
    let at = |moment: &str| {
        let (_, out, err) = whathappened(&[
            "dota-5v5-scale",
            "--from",
            lab,
            "--at",
            moment,
            "--format",
            "json",
        ]);
        let answer: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
        answer["now"].clone()
    };
    assert_eq!(at("2030-01-01"), at("2027-01-01"));
    assert_ne!(at("2030-01-01"), "2030-01-01T00:00:00Z");
}
