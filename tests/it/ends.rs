//! Which of several ends, and whose deed, an answer names.

use serde_json::{Value, json};

use super::whathappened;

fn time(second: &str) -> String {
    format!("2026-11-23T10:00:{second}Z")
}

/// A rank of the job `duo` that was stopped.
fn rank(number: u32, asked: &str) -> Value {
    let name = format!("duo-{number}");
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "namespace": "lab", "uid": format!("uid-{name}"), "creationTimestamp": time("00"),
            "deletionTimestamp": time(asked), "deletionGracePeriodSeconds": 0,
            "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "duo", "uid": "uid-duo", "controller": true}]},
        "spec": {"nodeName": format!("n{number}"), "containers": [{"name": "main", "image": "i"}]},
        "status": {"phase": "Failed", "containerStatuses": [{"name": "main", "restartCount": 0, "state": {"terminated":
            {"exitCode": 143, "reason": "Error", "startedAt": time("02"), "finishedAt": time("37")}}}]},
    })
}

fn job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {"name": "duo", "namespace": "lab", "uid": "uid-duo", "creationTimestamp": time("00"), "resourceVersion": "7"},
        "spec": {"parallelism": 2, "completions": 2, "backoffLimit": 0},
        "status": {"active": 2},
    })
}

fn deleted(by: &str, resource: &str, name: &str, second: &str) -> Value {
    json!({
        "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Metadata", "stage": "ResponseComplete",
        "auditID": format!("{name}-{second}"), "verb": "delete", "user": {"username": by},
        "userAgent": if by.contains(':') { "kube-controller-manager/v1.36" } else { "kubectl/v1.36" },
        "objectRef": {"resource": resource, "namespace": "lab", "name": name, "apiVersion": "v1",
            "apiGroup": if resource == "jobs" { "batch" } else { "" }},
        "responseStatus": {"code": 200},
        "requestReceivedTimestamp": time(second), "stageTimestamp": time(second),
    })
}

fn ask(records: &[Value]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let lines: Vec<String> = records.iter().map(Value::to_string).collect();
    std::fs::write(folder.path().join("all.ndjson"), lines.join("\n")).unwrap();
    let from = folder.path().to_str().unwrap();
    let (_, out, err) = whathappened(&["job/duo", "--from", from, "--format", "json"]);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
}

/// One person deletes a rank, the Job's controller the other, and then somebody the Job.
#[test]
fn who_deletes_a_job_whose_pods_are_going_did_not_delete_them() {
    let controller = "system:serviceaccount:kube-system:job-controller";
    let reported = ask(&[
        rank(0, "34"),
        rank(1, "35"),
        job(),
        deleted("carol@lab.example", "pods", "duo-0", "34.156501"),
        deleted(controller, "pods", "duo-1", "35.301"),
        deleted("bob@lab.example", "jobs", "duo", "35.346076"),
    ]);
    let main = &reported["incidents"][0];
    assert_eq!(main["cause"], "ops.manual_delete", "{main:#}");
    assert_eq!(main["actor"]["name"], "carol@lab.example");
    let names = |list: &str| -> Vec<&str> {
        let members = main[list].as_array().into_iter().flatten();
        members.filter_map(|one| one["pod"].as_str()).collect()
    };
    assert_eq!(names("victims"), ["duo-0"]);
    assert_eq!(names("collateral"), ["duo-1"]);
}

/// The audit log tells of the same version of an object more exactly than the list does.
#[test]
fn what_was_listed_was_read_whoever_else_told_of_it() {
    let mut made = deleted("alice@lab.example", "jobs", "duo", "00.5");
    made["verb"] = "create".into();
    made["level"] = "RequestResponse".into();
    made["responseStatus"]["code"] = 201.into();
    made["responseObject"] = job();
    let reported = ask(&[job(), made]);
    let rows = reported["coverage"].as_array().into_iter().flatten();
    let missing: Vec<&Value> = rows
        .filter(|row| row["resource"] == "workloads" && row["status"] == "not_configured")
        .collect();
    assert!(missing.is_empty(), "{missing:#?}");
}

/// An answer about `train` from a table of Events, of which only the ages are known.
fn of_events(rows: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let head = "LAST SEEN   TYPE      REASON                 OBJECT           MESSAGE";
    let table: Vec<&str> = std::iter::once(head).chain(rows.iter().copied()).collect();
    std::fs::write(folder.path().join("events.txt"), table.join("\n")).unwrap();
    let from = folder.path().to_str().unwrap();
    let (_, out, err) = whathappened(&["train", "--from", from, "--format", "json"]);
    serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {out}{err}"))
}

/// Nothing but Events is known of three pods whose names differ in a number.
#[test]
fn numbered_pods_of_which_only_events_are_known_are_one_run() {
    let reported = of_events(&[
        "14m         Warning   Evicted                pod/train-0      The node was low on resource: memory. Threshold quantity: 100Mi, available: 81Mi. ",
        "14m         Normal    Killing                pod/train-0      Stopping container main",
        "13m         Normal    Killing                pod/train-1      Stopping container main",
        "13m         Normal    Killing                pod/train-2      Stopping container main",
    ]);
    let main = &reported["incidents"][0];
    assert_eq!(reported["runs"].as_array().map(Vec::len), Some(1));
    assert_eq!(main["cause"], "sched.node_pressure", "{main:#}");
    assert_eq!(main["actor"]["name"], "kubelet");
    assert_eq!(main["first_victim"]["pod"], "train-0");
}

#[test]
fn who_was_stopped_by_nobody_knows_whom_does_not_go_before_who_lost_its_node() {
    let reported = of_events(&[
        "14m         Normal    Killing                pod/train-1      Stopping container main",
        "14m         Normal    TaintManagerEviction   pod/train-0      Marking for deletion Pod lab/train-0",
        "14m         Normal    NodeNotReady           node/gpu-3       Node gpu-3 status is now: NodeNotReady",
    ]);
    let main = &reported["incidents"][0];
    assert_eq!(main["cause"], "node.not_ready", "{main:#}");
    assert_eq!(main["first_victim"]["pod"], "train-0");
    let summary = main["summary"].as_str().unwrap_or_default();
    assert!(
        summary.starts_with("train-0 was evicted from its node"),
        "{summary}"
    );
}

/// What accounting tells of a job that somebody cancelled at 10:04:12, with two steps.
fn accounts(first: &str, second: &str) -> String {
    format!(
        "JobID|JobName|User|State|ExitCode|Start|End|NodeList|Reason\n\
         8812|sft|chen|CANCELLED by 1044|0:0|2026-11-24T08:00:00|2026-11-24T10:04:12|gpu-[11-12]|None\n\
         8812.batch|batch||CANCELLED|0:15|2026-11-24T08:00:00|2026-11-24T10:04:13|gpu-11|\n\
         8812.0|python||{first}|gpu-[11-12]|\n{second}"
    )
}

/// Who cancels what is left of a job whose processes had failed did not end it; who cancels a job
/// that works did, whatever had failed before.
#[test]
fn who_cancels_a_job_that_had_failed_did_not_end_it() {
    let failed = "FAILED|1:0|2026-11-24T08:00:02|2026-11-24T09:58:41";
    let worked =
        "8812.1|python||CANCELLED|0:15|2026-11-24T09:58:52|2026-11-24T10:04:13|gpu-[11-12]|\n";
    let log = |end: &str| {
        format!(
            "2026-11-24 09:58:01 INFO train step=4000 loss=1.9\n\
             srun: error: gpu-12: task 3: Exited with exit code 1\n{end}"
        )
    };
    let cancelled =
        "slurmstepd: error: *** JOB 8812 ON gpu-11 CANCELLED AT 2026-11-24T10:04:12 ***\n";
    let limit = "slurmstepd: error: *** JOB 8812 ON gpu-11 CANCELLED AT 2026-11-24T12:00:10 DUE TO TIME LIMIT ***\n";
    let went_on = "2026-11-24 10:01:00 INFO train step=4010 loss=1.9\n\
                   2026-11-24 10:02:00 INFO train step=4020 loss=1.9\n\
                   2026-11-24 10:03:00 INFO train step=4030 loss=1.9\n";
    for (file, text, cause) in [
        ("sacct.txt", accounts(failed, ""), "code.exception"),
        ("sacct.txt", accounts(failed, worked), "ops.manual_delete"),
        ("slurm-8812.out", log(cancelled), "code.exception"),
        ("slurm-8812.out", log(limit), "code.exception"),
        (
            "slurm-8812.out",
            log(&format!("{went_on}{limit}")),
            "code.deadline",
        ),
    ] {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(file), &text).unwrap();
        let from = folder.path().to_str().unwrap();
        let (_, out, err) = whathappened(&["8812", "--from", from, "--format", "json"]);
        let reported: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
        assert_eq!(reported["incidents"][0]["cause"], cause, "{text}{out}");
    }
}

/// People save `kubectl logs POD` under the pod's name.
#[test]
fn a_log_is_that_of_the_pod_that_its_file_is_named_after() {
    let lines = "Traceback (most recent call last):\n  File \"t.py\", line 3, in <module>\nValueError: bad shard 7\n";
    for file in [
        "duo-1.log",
        "duo-1.txt",
        "lab_duo-1_main.log",
        "logs/duo-1/stderr.log",
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut pod = rank(1, "30");
        let metadata = pod["metadata"].as_object_mut().unwrap();
        metadata.remove("deletionTimestamp");
        pod["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"] = 1.into();
        std::fs::write(folder.path().join("pod.json"), pod.to_string()).unwrap();
        let path = folder.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, lines).unwrap();
        let from = folder.path().to_str().unwrap();
        let (_, out, err) = whathappened(&["duo", "--from", from, "--format", "json"]);
        let reported: Value =
            serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
        let summary = reported["incidents"][0]["summary"]
            .as_str()
            .unwrap_or_default();
        assert!(summary.contains("bad shard 7"), "{file}: {summary}");
    }
}

/// The log of the one that waits says that another's heartbeats had stopped; neither has a time.
#[test]
fn who_says_that_another_was_gone_did_not_die_first() {
    let folder = tempfile::tempdir().unwrap();
    let waited = "I1124 10:00:00.000000 100 train.py:10] step 100\n\
        F1124 10:05:00.000001 100 client.h:80] Terminating process because the JAX distributed service detected fatal \
        errors. absl::Status: UNAVAILABLE: The following tasks are unhealthy (stopped sending heartbeats):\n\
        /job:jax_worker/replica:0/task:1\n";
    std::fs::write(folder.path().join("worker-0.log"), waited).unwrap();
    let killed = "I1124 10:04:10.000000 100 train.py:10] step 150\nKilled\n";
    std::fs::write(folder.path().join("worker-1.log"), killed).unwrap();
    let from = folder.path().to_str().unwrap();
    let (_, out, err) = whathappened(&["--from", from, "--format", "json"]);
    let reported: Value =
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
    let main = &reported["incidents"][0];
    assert_eq!(reported["runs"].as_array().map(Vec::len), Some(1), "{out}");
    assert_eq!(main["first_victim"]["pod"], "worker-1.log", "{main:#}");
}

/// Nothing but its journal is known of a machine.
#[test]
fn a_machine_that_ran_out_of_memory_is_told_without_a_victim() {
    let folder = tempfile::tempdir().unwrap();
    let journal = "2026-11-24T10:45:00+0000 gpu-vm-2 kernel: Out of memory: Killed process 2211 (python) \
        total-vm:301234567kB, anon-rss:250123456kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:500000kB oom_score_adj:0\n";
    std::fs::write(folder.path().join("journal.log"), journal).unwrap();
    let from = folder.path().to_str().unwrap();
    let (_, out, err) = whathappened(&["--from", from, "--format", "json"]);
    let reported: Value =
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{error}: {err}"));
    let main = &reported["incidents"][0];
    assert_eq!(main["cause"], "node.system_oom", "{main:#}");
    assert_eq!(main["first_victim"], Value::Null);
}
