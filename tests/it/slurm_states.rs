//! What Slurm's own states and words claim of a job, and what they do not.

use serde_json::Value;

use super::unseen::{SACCT, ask, text, verdict};

/// A job on one node as accounting has it, with other files beside it.
fn job(state: &str, exit: &str, files: &[(&'static str, &[&str])]) -> Value {
    let row = format!(
        "718|718|tune|ana|{state}|{exit}|2026-12-01T07:55:00|2026-12-01T08:00:00|2026-12-01T09:40:20|2|gn[11-12]|None"
    );
    let mut all = vec![("sacct.txt", text(&[SACCT, &row]))];
    all.extend(files.iter().map(|(name, lines)| (*name, text(lines))));
    ask("718", &all)
}

fn summary(answer: &Value) -> &str {
    answer["incidents"][0]["summary"]
        .as_str()
        .unwrap_or_default()
}

/// Slurm counts kills of a whole step, and says so once the step is over.
#[test]
fn a_mistake_of_the_program_does_not_come_of_a_process_that_was_killed() {
    let output = [
        "2026-12-01 09:40:00,000 INFO step 20 loss 2.4",
        "Traceback (most recent call last):",
        "  File \"/w/fit.py\", line 31, in fit",
        "    scale = float(options)",
        "TypeError: float() argument must be a string or a real number, not 'dict'",
        "srun: error: gn11: task 0: Exited with exit code 1",
        "slurmstepd: error: Detected 1 oom_kill event in StepId=718.batch. Some of the step tasks have been OOM Killed.",
    ];
    let answer = job("OUT_OF_MEMORY", "0:125", &[("slurm-718.out", &output)]);
    let (state, cause, level, _) = verdict(&answer);
    assert_eq!(
        (state, cause, level),
        ("failed", "code.exception", "supported"),
        "{answer:#}"
    );
    let code = &answer["incidents"][0]["first_victim"]["exit_code"];
    assert!(code.is_null(), "125 is no signal: {code}");
}

#[test]
fn a_script_whose_output_cannot_be_opened_ended_with_no_signal() {
    let daemon = [
        "[2026-12-01T09:40:19.801] [718.batch] error: Could not open stdout file /home/ana/logs/718.out: No such file or directory",
        "[2026-12-01T09:40:19.802] [718.batch] error: IO setup failed: No such file or directory",
    ];
    let answer = job("FAILED", "0:53", &[("slurmd.log", &daemon)]);
    let (_, cause, _, _) = verdict(&answer);
    assert_eq!(cause, "code.config_or_input", "{answer:#}");
    assert!(
        summary(&answer).contains("/home/ana/logs/718.out"),
        "{answer:#}"
    );
    let code = &answer["incidents"][0]["first_victim"]["exit_code"];
    assert!(code.is_null(), "53 is no signal: {code}");
}

#[test]
fn a_job_that_cannot_meet_its_deadline_was_not_over_its_time_limit() {
    let answer = job("DEADLINE", "0:0", &[]);
    assert_eq!(verdict(&answer).1, "code.deadline", "{answer:#}");
    assert!(summary(&answer).contains("--deadline"), "{answer:#}");
}

#[test]
fn a_job_that_its_launcher_requeues_was_told_that_its_time_was_up() {
    let output = [
        "2026-12-01 09:40:00,000 INFO step 20 loss 2.4",
        "submitit WARNING (2026-12-01 09:40:18,000) - Caught signal SIGUSR2 on gn11: this job is timed-out.",
    ];
    let answer = job("REQUEUED", "0:0", &[("slurm-718.out", &output)]);
    assert_eq!(verdict(&answer).1, "code.deadline", "{answer:#}");
}

/// Slurm preempts jobs, and what its daemon on one node writes of that is of all.
#[test]
fn a_job_is_preempted_on_all_of_its_nodes() {
    let output = [
        "2026-12-01 09:40:00,000 INFO step 20 loss 2.4",
        "slurmstepd: error: *** STEP 718.0 ON gn11 CANCELLED AT 2026-12-01T09:40:20 DUE TO PREEMPTION ***",
    ];
    let answer = job("PREEMPTED", "0:15", &[("slurm-718.out", &output)]);
    assert_eq!(verdict(&answer).1, "sched.preempted", "{answer:#}");
    assert!(!summary(&answer).contains("nodes"), "{answer:#}");
}

#[test]
fn who_gave_the_reason_set_the_node_down() {
    let controller = [
        "[2026-12-01T09:40:19.101] update_node: node gn11 reason set to: swap gpu 3 [carol@2026-12-01T09:40:19]",
        "[2026-12-01T09:40:19.102] update_node: node gn11 state set to DOWN",
        "[2026-12-01T09:40:19.103] Killing JobId=718 on failed node gn11",
    ];
    let answer = job("NODE_FAIL", "1:0", &[("slurmctld.log", &controller)]);
    assert_eq!(verdict(&answer).1, "ops.manual_delete", "{answer:#}");
    assert_eq!(
        answer["incidents"][0]["actor"]["name"], "carol",
        "{answer:#}"
    );
    assert!(summary(&answer).ends_with("\"swap gpu 3\"."), "{answer:#}");
}
