//! How jobs of batch systems end: by what their script did last, by limits of systems other than Slurm, or not at all.

use serde_json::Value;

use super::unseen::{SACCT, ask, text, verdict};

fn summary(answer: &Value) -> &str {
    answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default()
}

#[test]
fn a_tool_that_the_script_ran_last_is_not_the_program() {
    let ended = |code: &str| {
        let accounts = [
            SACCT.to_owned(),
            format!(
                "7|7|ours|al|FAILED|{code}:0|2026-12-01T08:00:00|2026-12-01T08:00:00|2026-12-01T08:06:10|1|n1|None"
            ),
            format!(
                "7.batch|7.batch|batch||FAILED|{code}:0||2026-12-01T08:00:00|2026-12-01T08:06:10|1|n1|"
            ),
            "7.0|7.0|python||COMPLETED|0:0||2026-12-01T08:00:00|2026-12-01T08:05:10|1|n1|"
                .to_owned(),
        ];
        let log = [
            "2026-12-01 08:04:55,000 INFO step 390 loss 2.4",
            "2026-12-01 08:05:10,000 INFO training finished",
            "rsync error: some files/attrs were not transferred (see previous errors) (code 23) at main.c(1338) [sender=3.2.7]",
        ];
        ask(
            "7",
            &[
                ("sacct.txt", accounts.join("\n")),
                ("slurm-7.out", text(&log)),
            ],
        )
    };
    let by_tool = ended("23");
    assert!(summary(&by_tool).contains("rsync error"), "{by_tool:#}");
    // It ended with another code: for another reason.
    let other = ended("7");
    assert!(!summary(&other).contains("rsync error"), "{other:#}");
}

#[test]
fn a_step_that_ran_out_of_memory_is_told_of_a_job_that_was_cancelled() {
    let accounts = text(&[
        "JobID           JobName  Partition    Account  AllocCPUS      State ExitCode ",
        "------------ ---------- ---------- ---------- ---------- ---------- -------- ",
        "77                train        gpu         ml        128 CANCELLED+      0:0 ",
        "77.batch          batch                    ml         64 CANCELLED+     0:15 ",
        "77.0             python                    ml        128 OUT_OF_ME+    0:125 ",
    ]);
    let answer = ask("77", &[("sacct.txt", accounts)]);
    let (_, cause, level, _) = verdict(&answer);
    assert_eq!(
        (cause, level),
        ("code.host_oom", "hypothesis"),
        "{answer:#}"
    );
}

#[test]
fn each_batch_system_is_named_that_ends_a_job_at_its_limit() {
    for (line, who) in [
        (
            "=>> PBS: job killed: walltime 3623 exceeded limit 3600",
            "PBS",
        ),
        (
            "TERM_RUNLIMIT: job killed after reaching LSF run time limit.",
            "LSF",
        ),
    ] {
        let log = text(&["2026-12-01 08:04:55,000 INFO step 390 loss 2.4", line]);
        let answer = ask("train", &[("train.log", log)]);
        assert_eq!(verdict(&answer).1, "code.deadline", "{answer:#}");
        assert_eq!(answer["incidents"][0]["actor"]["name"], who, "{answer:#}");
    }
}

#[test]
fn a_batch_system_says_at_the_end_of_a_log_why_it_ended_the_job() {
    for (line, cause) in [
        (
            "=>> PBS: job killed: mem 4096kb exceeded limit 2048kb",
            "code.host_oom",
        ),
        ("TERM_OWNER: job killed by owner.", "ops.manual_delete"),
    ] {
        let log = text(&["2026-12-01 08:04:55,000 INFO step 390 loss 2.4", line]);
        let answer = ask("train", &[("train.log", log)]);
        let (_, found, level, _) = verdict(&answer);
        assert_eq!((found, level), (cause, "supported"), "{answer:#}");
    }
}

/// Slurm writes the second in which it put a job back, and the controller the millisecond in which it had failed to launch.
#[test]
fn a_job_that_is_held_after_its_launch_failed_waits() {
    let controller = text(&[
        "[2026-12-01T08:00:00.101] sched: Allocate JobId=906 NodeList=n[1-2] #CPUs=256 Partition=gpu",
        "[2026-12-01T08:00:07.401] error: Prolog launch failure, JobId=906",
        "[2026-12-01T08:00:07.500] job_requeue: JobId=906 requeued held",
    ]);
    let shown = text(&[
        "JobId=906 JobName=pf",
        "   UserId=alice(1001) GroupId=alice(1001) MCS_label=N/A",
        "   JobState=PENDING Reason=launch_failed_requeued_held Dependency=(null)",
        "   Requeue=1 Restarts=1 BatchFlag=1 Reboot=0 ExitCode=0:0",
        "   SubmitTime=2026-12-01T08:00:07 EligibleTime=2026-12-01T08:02:08",
        "   StartTime=Unknown EndTime=Unknown Deadline=N/A",
        "   NodeList= NumNodes=2 NumCPUs=256 NumTasks=16 CPUs/Task=16",
    ]);
    let files = [("slurmctld.log", controller), ("scontrol.txt", shown)];
    let answer = ask("906", &files);
    let (state, cause, ..) = verdict(&answer);
    assert_eq!(
        (state, cause),
        ("pending", "node.launch_failed"),
        "{answer:#}"
    );
}
