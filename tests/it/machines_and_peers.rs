//! What befell machines that jobs and logs name, and ranks that waited for each other.

use super::unseen::{SACCT, ask, text, verdict};

/// A watchdog's two lines: what it waited in, and in which group.
fn watchdog(rank: u32, op: &str, group: u32) -> String {
    let at = "E811 10:10:02";
    text(&[
        &format!("2026-08-11 10:00:00,100 INFO [rank {rank}] step 4000 loss 2.2"),
        &format!(
            "[rank{rank}]:[{at}.166114205 ProcessGroupNCCL.cpp:629] [Rank {rank}] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4001, OpType={op}, NumelIn=1, NumelOut=1, Timeout(ms)=600000) ran for 600036 milliseconds before timing out."
        ),
        &format!(
            "[rank{rank}]:[{at}.166281407 ProcessGroupNCCL.cpp:2168] [PG ID {group} PG GUID {group} Rank {rank}]  failure detected by watchdog at work sequence id: 4001 PG status: last enqueued work: 4001, last completed work: 4000"
        ),
        &format!(
            "[rank{rank}]:[{at}.167114205 ProcessGroupNCCL.cpp:695] [Rank {rank}] To avoid data inconsistency, we are taking the entire process down."
        ),
    ])
}

#[test]
fn ranks_in_different_collectives_of_one_group_are_the_programs_own_doing() {
    let asked = |group: u32| {
        ask(
            "desync",
            &[
                ("desync/rank0.log", watchdog(0, "ALLREDUCE", 0)),
                ("desync/rank1.log", watchdog(1, "ALLGATHER", group)),
            ],
        )
    };
    let apart = asked(0);
    assert_eq!(verdict(&apart).1, "code.exception", "{apart:#}");
    let waited = &apart["incidents"][0]["said"]["collective"];
    assert_eq!(waited["op"], "ALLGATHER and ALLREDUCE", "{apart:#}");
    assert_eq!(waited["missing"].as_array().map(Vec::len), Some(0));
    // Places of two groups are counted apart.
    let elsewhere = asked(1);
    assert_eq!(
        verdict(&elsewhere).1,
        "hang.collective_timeout",
        "{elsewhere:#}"
    );
}

#[test]
fn who_lost_a_peer_says_which() {
    let answer = ask(
        "node0",
        &[(
            "node0.log",
            text(&[
                "2026-08-11 10:00:00,100 INFO step 100 loss 2.2",
                "2026-08-11 10:20:00.100000: E tensorflow/core/distributed_runtime/coordination/coordination_service.cc:880] /job:worker/replica:0/task:1 has been set to ERROR in coordination service: UNAVAILABLE: Task /job:worker/replica:0/task:1 heartbeat timeout. This indicates that the remote task has failed",
                "2026-08-11 10:20:00.200000: F tensorflow/core/distributed_runtime/coordination/coordination_service_agent.cc:1010] Terminating process due to fatal coordination error",
            ]),
        )],
    );
    let summary = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(summary.contains("lost contact with rank 1"), "{answer:#}");
    assert_eq!(verdict(&answer).1, "unknown");
}

#[test]
fn a_launcher_that_was_asked_to_stop_did_not_fail_by_itself() {
    let answer = ask(
        "stopped",
        &[(
            "stopped.log",
            text(&[
                "2026-08-11 10:00:00,100 INFO step 9990 loss 1.2",
                "W0811 10:00:14.980000 30001 torch/distributed/elastic/agent/server/api.py:719] Received Signals.SIGTERM death signal, shutting down workers",
                "W0811 10:00:14.981000 30001 torch/distributed/elastic/multiprocessing/api.py:897] Sending process 30111 closing signal SIGTERM",
                "Traceback (most recent call last):",
                "  File \"/opt/venv/bin/torchrun\", line 8, in <module>",
                "    sys.exit(main())",
                "torch.distributed.elastic.multiprocessing.api.SignalException: Process 30001 got signal: 15",
            ]),
        )],
    );
    let summary = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(summary.contains("asked to stop (SIGTERM)"), "{answer:#}");
}

/// Names of machines are the cloud's names of instances where nothing says otherwise; what a cloud does to one that
/// answered did not end the job.
#[test]
fn what_a_cloud_does_to_a_node_of_slurm_ended_the_job_on_it() {
    for (machine, cause) in [("a3-7", "cloud.host_error"), ("a3-6", "node.not_ready")] {
        let answer = ask("gs-1", &host_error(machine));
        assert_eq!(
            verdict(&answer),
            ("failed", cause, "supported", "a3-7"),
            "{answer:#}"
        );
    }
}

/// A job on two machines, of which Slurm lost `a3-7`, and Google's record of a fault under one of them.
fn host_error(machine: &str) -> Vec<(&'static str, String)> {
    let record = serde_json::json!([{
        "protoPayload": {
            "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
            "status": { "message": "Instance terminated by Compute Engine." },
            "authenticationInfo": { "principalEmail": "system@google.com" },
            "serviceName": "compute.googleapis.com", "methodName": "compute.instances.hostError",
            "resourceName": format!("projects/ml-1/zones/us-central1-a/instances/{machine}"),
            "request": { "@type": "type.googleapis.com/compute.instances.hostError" },
        },
        "insertId": "x3.1", "resource": { "type": "gce_instance", "labels": { "zone": "us-central1-a", "project_id": "ml-1", "instance_id": "2074079198322937303" } },
        "timestamp": "2026-08-11T14:07:23.102868Z", "severity": "INFO",
        "logName": "projects/ml-1/logs/cloudaudit.googleapis.com%2Fsystem_event",
    }]);
    vec![
        ("gcp.json", record.to_string()),
        (
            "slurmctld.log",
            text(&[
                "[2026-08-11T14:08:10.300] error: Nodes a3-7 not responding",
                "[2026-08-11T14:12:10.301] error: Nodes a3-7 not responding, setting DOWN",
                "[2026-08-11T14:12:10.302] Killing JobId=9701 on failed node a3-7",
            ]),
        ),
        (
            "sacct.txt",
            text(&[
                SACCT,
                "9701|9701|gs-1|jin|NODE_FAIL|0:0|2026-08-11T11:57:50|2026-08-11T12:00:00|2026-08-11T14:12:10|2|a3-[6-7]|None",
            ]),
        ),
    ]
}

#[test]
fn a_process_that_a_machines_kernel_killed_for_memory_ended_the_log_that_tells_of_its_signal() {
    let killed = "Aug 11 10:11:10 vm-11 kernel: Out of memory: Killed process 30112 (python3) total-vm:900000000kB, anon-rss:480000000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:1000kB oom_score_adj:0";
    let answer = ask(
        "train",
        &[
            ("vm-11/kern.log", text(&[killed])),
            (
                "vm-11/train.log",
                text(&[
                    "2026-08-11 10:10:00,100 INFO step 881 loss 2.2",
                    "E0811 10:11:13.480000 30001 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 3 (pid: 30112) of binary: /opt/venv/bin/python",
                ]),
            ),
        ],
    );
    assert_eq!(
        verdict(&answer),
        ("failed", "node.system_oom", "supported", "vm-11"),
        "{answer:#}"
    );
    // Another process of the machine was killed then.
    let other = killed.replace("30112", "55001");
    let told = text(&[
        "2026-08-11 10:10:00,100 INFO step 881 loss 2.2",
        "E0811 10:11:13.480000 30001 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: -9) local_rank: 3 (pid: 30112) of binary: /opt/venv/bin/python",
    ]);
    let answer = ask(
        "train",
        &[
            ("vm-11/kern.log", text(&[&other])),
            ("vm-11/train.log", told),
        ],
    );
    assert_eq!(verdict(&answer).1, "unknown", "{answer:#}");
}

#[test]
fn accounting_that_says_completed_does_not_hide_the_error_that_the_log_ends_in() {
    let answer = ask(
        "ker-9",
        &[
            (
                "sacct.txt",
                text(&[
                    SACCT,
                    "8009|8009|ker-9|lin|COMPLETED|0:0|2026-10-19T23:57:51|2026-10-20T00:00:01|2026-10-20T10:11:20|1|u9|None",
                ]),
            ),
            (
                "slurm-8009.out",
                text(&[
                    "2026-10-20 10:11:10,000 INFO step 10",
                    "Traceback (most recent call last):",
                    "  File \"/w/train.py\", line 70, in main",
                    "    y = labels[k]",
                    "KeyError: 'n02120079_9'",
                ]),
            ),
        ],
    );
    assert_eq!(
        (verdict(&answer).1, verdict(&answer).2),
        ("none.completed", "supported"),
        "{answer:#}"
    );
    let summary = answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default();
    assert!(summary.contains("KeyError: 'n02120079_9'"), "{summary}");
}

#[test]
fn a_held_job_and_one_that_waits_for_its_turn_say_so() {
    let job = |number: u32, name: &str, reason: &str| {
        text(&[
            &format!("JobId={number} JobName={name}"),
            "   UserId=zoe(7100) GroupId=zoe(7100) MCS_label=N/A",
            "   Priority=0 Nice=0 Account=nlp QOS=normal",
            &format!("   JobState=PENDING Reason={reason} Dependency=(null)"),
            "   RunTime=00:00:00 TimeLimit=08:00:00 TimeMin=N/A",
            "   SubmitTime=2026-10-09T09:00:00 EligibleTime=Unknown",
            "   StartTime=Unknown EndTime=Unknown Deadline=N/A",
            "   NodeList=",
            "   NumNodes=1-1 NumCPUs=64 NumTasks=64 CPUs/Task=1 ReqB:S:C:T=0:0:*:*",
        ])
    };
    for (name, reason, cause) in [
        ("held", "JobHeldUser", "ops.config_change"),
        ("later", "BeginTime", "sched.unschedulable_constraint"),
    ] {
        let answer = ask(name, &[("scontrol.txt", job(7001, name, reason))]);
        assert_eq!(
            (verdict(&answer).0, verdict(&answer).1),
            ("pending", cause),
            "{answer:#}"
        );
        let summary = answer["incidents"][0]["summary"]
            .as_str()
            .unwrap_or_default();
        assert!(summary.contains(reason), "{summary}");
    }
}
