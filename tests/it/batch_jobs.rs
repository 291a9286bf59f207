//! Batch jobs of several steps, and how those stand that neither work nor are over.

use serde_json::Value;

use super::unseen::{SACCT, ask, text, verdict};

/// A job of two nodes as accounting has it, and what it wrote.
fn job(state: &str, exit: &str, end: &str, output: &[&str]) -> Value {
    let row = format!(
        "611|611|fine-tune|ana|{state}|{exit}|2026-12-01T07:55:00|2026-12-01T08:00:00|{end}|2|gn[11-12]|None"
    );
    ask(
        "fine-tune",
        &[
            ("sacct.txt", text(&[SACCT, &row])),
            ("slurm-611.out", text(output)),
        ],
    )
}

const FAILURE: [&str; 6] = [
    "2026-12-01 08:40:10,000 ERROR giving up",
    "Traceback (most recent call last):",
    "  File \"/w/fit.py\", line 31, in fit",
    "    batch = cache[key]",
    "KeyError: 'shard-9'",
    "srun: error: gn11: task 1: Exited with exit code 1",
];

/// What one step ended with is not what the job ended with, where a later one trained.
#[test]
fn a_step_that_failed_before_others_trained_ended_nothing() {
    for early in [
        &[
            "slurmstepd: error: Detected 2 oom_kill events in StepId=611.0. Some of the step tasks have been OOM Killed.",
            "srun: error: gn12: task 3: Out Of Memory",
        ][..],
        &["srun: error: gn12: task 3: Exited with exit code 2"],
        &[
            "srun: error: Task launch for StepId=611.0 failed on node gn12: Communication connection failure",
            "srun: error: Application launch failed: Communication connection failure",
        ],
        &["slurmstepd: error: execve(): /opt/bin/watch-gpus: No such file or directory"],
    ] {
        let mut lines = early.to_vec();
        lines.push("2026-12-01 08:10:00,000 INFO step 10 loss 2.5");
        lines.push("2026-12-01 08:40:00,000 INFO step 20 loss 2.4");
        lines.extend(FAILURE);
        let answer = job("FAILED", "1:0", "2026-12-01T08:40:20", &lines);
        let (state, cause, level, _) = verdict(&answer);
        assert_eq!(
            (state, cause, level),
            ("failed", "code.exception", "supported"),
            "{early:?}: {answer:#}"
        );
        let died = answer["incidents"][0]["first_victim"]["time"].as_str();
        assert!(
            died.is_some_and(|at| at >= "2026-12-01T08:40:00Z"),
            "{early:?}: {died:?}"
        );
    }
    // The last that a job did is what it ended with.
    let last = job(
        "FAILED",
        "1:0",
        "2026-12-01T08:40:20",
        &[
            "2026-12-01 08:10:00,000 INFO step 10 loss 2.5",
            "2026-12-01 08:40:00,000 INFO step 20 loss 2.4",
            "slurmstepd: error: Detected 2 oom_kill events in StepId=611.0. Some of the step tasks have been OOM Killed.",
            "srun: error: gn12: task 3: Out Of Memory",
        ],
    );
    assert_eq!(verdict(&last).1, "code.host_oom", "{last:#}");
    let never = job(
        "FAILED",
        "1:0",
        "2026-12-01T08:02:20",
        &[
            "2026-12-01 08:01:00,000 INFO starting 16 tasks",
            "srun: error: Task launch for StepId=611.0 failed on node gn12: Communication connection failure",
        ],
    );
    assert_eq!(verdict(&never).1, "node.launch_failed", "{never:#}");
}

/// A launcher's line below a traceback is what the traceback led to; an epilog may write after the end.
#[test]
fn srun_s_word_for_an_exception_makes_it_no_weaker() {
    for rest in [
        &[][..],
        &["2026-12-01 08:40:50,000 INFO epilog: scratch emptied"],
    ] {
        let lines = [
            &["2026-12-01 08:40:00,000 INFO step 20 loss 2.4"],
            &FAILURE[1..],
            rest,
        ];
        let answer = job("FAILED", "1:0", "2026-12-01T08:40:20", &lines.concat());
        let (_, cause, level, _) = verdict(&answer);
        assert_eq!(
            (cause, level),
            ("code.exception", "supported"),
            "{answer:#}"
        );
        let said = answer["incidents"][0]["summary"]
            .as_str()
            .unwrap_or_default();
        assert!(said.contains("shard-9"), "{said}");
    }
}

/// One node lacks the program where the first task had it.
#[test]
fn a_program_that_one_node_lacks_is_no_wrong_command() {
    let level = |tasks: &str| {
        let answer = job(
            "FAILED",
            "2:0",
            "2026-12-01T08:01:20",
            &[
                "2026-12-01 08:01:00,000 INFO starting 16 tasks",
                "slurmstepd: error: execve(): /nfs/env/bin/python: No such file or directory",
                tasks,
            ],
        );
        let (_, cause, level, _) = verdict(&answer);
        assert_eq!(cause, "code.config_or_input", "{answer:#}");
        level.to_owned()
    };
    let some = level("srun: error: gn12: tasks 8-15: Exited with exit code 2");
    assert_eq!(some, "hypothesis");
    let all = level("srun: error: gn11: tasks 0-7: Exited with exit code 2");
    assert_eq!(all, "supported");
}

#[test]
fn a_job_that_is_stopped_prepared_or_ending_does_not_run() {
    for (word, end, state, title) in [
        ("RUNNING", "Unknown", "running", "Running"),
        ("SUSPENDED", "Unknown", "pending", "Suspended"),
        (
            "CONFIGURING",
            "Unknown",
            "pending",
            "Nodes are being prepared",
        ),
        (
            "COMPLETING",
            "2026-12-01T08:40:20",
            "unknown",
            "State unknown",
        ),
    ] {
        let answer = job(word, "0:0", end, &[]);
        assert_eq!(verdict(&answer).0, state, "{word}: {answer:#}");
        assert_eq!(answer["incidents"][0]["title"], title, "{word}");
    }
}

/// What was put back into the queue after its node failed waits, whatever it waits for.
#[test]
fn a_job_that_was_submitted_again_after_its_end_waits() {
    let row = |state: &str, submit: &str, start: &str, end: &str, nodes: &str, why: &str| {
        format!("612|612|eval|ana|{state}|0:0|{submit}|{start}|{end}|2|{nodes}|{why}")
    };
    let failed = row(
        "NODE_FAIL",
        "2026-12-01T07:55:00",
        "2026-12-01T08:00:00",
        "2026-12-01T08:30:00",
        "gn[11-12]",
        "None",
    );
    let again = row(
        "PENDING",
        "2026-12-01T08:30:01",
        "Unknown",
        "Unknown",
        "None assigned",
        "Resources",
    );
    let answer = ask("eval", &[("sacct.txt", text(&[SACCT, &failed, &again]))]);
    assert_eq!(verdict(&answer).0, "pending", "{answer:#}");
    let how = answer["incidents"][0]["first_victim"]["how"].as_str();
    assert_ne!(how, Some("was never scheduled"), "{answer:#}");
    let causes: Vec<&str> = answer["incidents"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|one| one["cause"].as_str())
        .collect();
    assert!(causes.contains(&"node.not_ready"), "{causes:?}");
    let over = ask("eval", &[("sacct.txt", text(&[SACCT, &failed]))]);
    assert_eq!(verdict(&over).0, "failed", "{over:#}");
}

#[test]
fn a_job_waits_for_the_reason_that_slurm_gives() {
    for (reason, cause, level) in [
        ("AssocGrpGRES", "sched.quota", "established"),
        ("QOSGrpGRESMinutes", "sched.quota", "established"),
        (
            "PartitionDown",
            "sched.unschedulable_constraint",
            "established",
        ),
        ("BurstBufferOperation", "dep.volume", "established"),
        ("Cleaning", "sched.unschedulable_constraint", "established"),
        ("Resources", "sched.unschedulable_capacity", "established"),
    ] {
        let row = format!(
            "613|613|wait|ana|PENDING|0:0|2026-12-01T07:55:00|Unknown|Unknown|2|None assigned|{reason}"
        );
        let answer = ask("wait", &[("sacct.txt", text(&[SACCT, &row]))]);
        let (state, found, sure, _) = verdict(&answer);
        assert_eq!(
            (state, found, sure),
            ("pending", cause, level),
            "{reason}: {answer:#}"
        );
        let title = answer["incidents"][0]["title"].as_str().unwrap_or_default();
        assert_ne!(title, "No node meets its constraints", "{reason}");
        assert_ne!(title, "Waiting to start", "{reason}");
    }
}

/// What a program writes once all is done ends nothing, where the job ended well.
#[test]
fn an_error_after_the_work_was_done_does_not_deny_that() {
    let after = |done: &str| {
        let lines = [
            "2026-12-01 08:40:00,000 INFO step 20 loss 2.4",
            done,
            "Traceback (most recent call last):",
            "  File \"/w/report.py\", line 3, in send",
            "    post(url)",
            "ConnectionError: no route to the tracker",
        ];
        job("COMPLETED", "0:0", "2026-12-01T08:40:20", &lines)
    };
    let done = after("2026-12-01 08:40:10,000 INFO Training complete");
    assert_eq!(verdict(&done).2, "established", "{done:#}");
    let not_done = after("2026-12-01 08:40:10,000 INFO evaluating");
    assert_eq!(verdict(&not_done).2, "supported", "{not_done:#}");
}

/// A log in the folder of an instance's name is that of what ran on it, whatever is done to the instance later.
#[test]
fn what_failed_on_an_instance_failed_before_the_instance_was_taken() {
    let preempted = |at: &str| {
        serde_json::json!({
            "protoPayload": {
                "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
                "status": { "message": "Instance was preempted." },
                "authenticationInfo": { "principalEmail": "system@google.com" },
                "serviceName": "compute.googleapis.com",
                "methodName": "compute.instances.preempted",
                "resourceName": "projects/ml-7/zones/us-east4-a/instances/box-9",
            },
            "insertId": "p1",
            "resource": { "type": "gce_instance", "labels": { "zone": "us-east4-a", "project_id": "ml-7", "instance_id": "4411" } },
            "timestamp": at,
            "severity": "INFO",
            "logName": "projects/ml-7/logs/cloudaudit.googleapis.com%2Fsystem_event",
        })
        .to_string()
    };
    let asked = |at: &str, error: &str| {
        let log = text(&[
            "2026-12-01 08:00:00,000 INFO step 10 loss 2.5",
            "2026-12-01 08:00:30,000 INFO step 11 loss 2.5",
            "2026-12-01 08:01:00,000 ERROR giving up",
            "Traceback (most recent call last):",
            "  File \"/w/fit.py\", line 31, in fit",
            "    batch = cache[key]",
            error,
        ]);
        let files = [("gcp.json", preempted(at)), ("box-9/fit.log", log)];
        verdict(&ask("fit", &files)).1.to_owned()
    };
    let (own, of_pipe) = (
        "KeyError: 'shard-9'",
        "BrokenPipeError: [Errno 32] Broken pipe",
    );
    for error in [own, of_pipe] {
        assert_eq!(
            asked("2026-12-01T08:20:00.1Z", error),
            "code.exception",
            "{error}"
        );
    }
    // In its last moment a program may fail because of that, if not with an error of its own code.
    assert_eq!(
        asked("2026-12-01T08:01:02.1Z", of_pipe),
        "cloud.spot_reclaimed"
    );
    assert_eq!(asked("2026-12-01T08:01:02.1Z", own), "code.exception");
}

/// Files of a job that Slurm tells of in a zone that it does not name, `hours` from UTC.
fn by_local_clock(hours: i64, killed: bool) -> Vec<(&'static str, String)> {
    let at = |minutes: i64| {
        let time = 10 * 60 + minutes + hours * 60;
        format!("2026-10-02T{:02}:{:02}", time / 60, time % 60)
    };
    let spaced = |minutes| at(minutes).replace('T', " ");
    let head =
        "JobID|JobName|User|Partition|State|ExitCode|Submit|Start|End|NodeList|NNodes|Reason";
    let (state, code) = if killed {
        ("FAILED", "137:0")
    } else {
        ("NODE_FAIL", "1:0")
    };
    let row = format!(
        "77|pt|mia|gpu|{state}|{code}|{}:00|{}:00|{}:05|n7|1|None",
        at(-1),
        at(0),
        at(30)
    );
    let log: Vec<String> = (1..29)
        .map(|minute| format!("{}:00,000 INFO step {minute} loss 2.5", spaced(minute)))
        .collect();
    let kernel = if killed {
        [
            "2026-10-02T10:30:00,000000+00:00 oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/system.slice/slurmstepd.scope/job_77/step_0/user/task_0,task=python,pid=991,uid=7",
            "2026-10-02T10:30:00,000000+00:00 Out of memory: Killed process 991 (python) total-vm:1kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB, UID:7 pgtables:1kB oom_score_adj:0",
        ]
    } else {
        [
            "2026-10-02T10:28:20,000000+00:00 NVRM: Xid (PCI:0000:9b:00): 79, pid=991, name=python, GPU has fallen off the bus.",
            "2026-10-02T10:28:20,000000+00:00 NVRM: GPU 0000:9b:00.0: GPU has fallen off the bus.",
        ]
    };
    let controller = [
        format!(
            "[{}:00.000] sched: Allocate JobId=77 NodeList=n7 #CPUs=8 Partition=gpu",
            at(0)
        ),
        format!(
            "[{}:04.000] update_node: node n7 reason set to: Xid 79",
            at(30)
        ),
        format!("[{}:04.000] update_node: node n7 state set to DOWN", at(30)),
        format!("[{}:05.000] Killing JobId=77 on failed node n7", at(30)),
    ];
    let mut files = vec![
        ("sacct.txt", format!("{head}\n{row}\n")),
        ("slurm-77.out", log.join("\n") + "\n"),
        ("n7/dmesg.txt", kernel.join("\n") + "\n"),
    ];
    if !killed {
        files.push(("slurmctld.log", controller.join("\n") + "\n"));
    }
    files
}

#[test]
fn what_the_kernel_says_of_a_job_tells_the_zone_of_slurm_s_records() {
    for hours in [-7, -1, 0, 2, 9] {
        for (killed, cause) in [(true, "node.system_oom"), (false, "hw.gpu")] {
            let answer = ask("77", &by_local_clock(hours, killed));
            assert_eq!(verdict(&answer).1, cause, "{hours} {answer:#}");
        }
    }
}

#[test]
fn a_node_that_somebody_sets_down_is_not_drained_and_its_reason_is_told() {
    let mut files = by_local_clock(0, false);
    files.retain(|(name, _)| *name != "n7/dmesg.txt");
    let answer = ask("77", &files);
    assert_eq!(verdict(&answer).1, "ops.manual_delete", "{answer:#}");
    let summary = answer["incidents"][0]["summary"].as_str().unwrap();
    assert!(summary.contains("Xid 79"), "{summary}");
}
