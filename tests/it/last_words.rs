//! What logs and lists that are all there is end with, and what is made of that.

use crate::newcomer::{lab, piped};
use crate::whathappened;

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Some steps, and what a log ends with.
fn log(end: &str) -> String {
    let step = |second| format!("2026-11-25 09:09:{second} step {second} loss 3.1\n");
    let steps: String = (50..56).map(step).collect();
    format!("{steps}{end}\n")
}

/// Loggers write exceptions after time and level; shells and Slurm tell of signals in words of their own.
#[test]
fn the_last_words_of_a_log_are_heard() {
    for (end, expected) in [
        (
            "2026-11-25 09:10:01 | ERROR | RuntimeError: shapes do not match",
            "code.exception · hypothesis",
        ),
        (
            "2026-11-25 09:10:01 | ERROR    | __main__:main:12 - RuntimeError: CUDA error: an illegal memory access was encountered",
            "code.exception · hypothesis",
        ),
        ("AssertionError", "code.exception · hypothesis"),
        (
            "2026-11-25 09:10:01 ERROR OSError: [Errno 28] No space left on device",
            "dep.storage",
        ),
        (
            "2026-11-25 09:10:01 ERROR: loss is NaN for 30 steps, stopping",
            "code.divergence · supported",
        ),
        (
            "2026-11-25 09:10:01 CRITICAL training aborted: loss spike",
            "code.divergence · hypothesis",
        ),
        ("Bus error (core dumped)", "code.segfault · hypothesis"),
        (
            "[1]  12345 killed     python train.py",
            "had a process killed by SIGKILL",
        ),
        ("Killed", "had a process killed by SIGKILL"),
        (
            "2026-11-25 09:10:01 Received SIGTERM, saving checkpoint",
            "was asked to stop (SIGTERM)",
        ),
        (
            "run.sh: line 9:   417 Terminated              python train.py",
            "was asked to stop (SIGTERM)",
        ),
        (
            "`Trainer.fit` stopped: `max_steps=56` reached.",
            "appears to have run to completion",
        ),
    ] {
        let (code, out, err) = piped(&[], log(end).as_bytes());
        assert_eq!(code, Some(0), "{end}: {err}");
        assert!(words(&out).contains(expected), "{end}: {out}");
    }
}

/// What a program got over, or went on from, ended nothing.
#[test]
fn a_program_that_goes_on_has_not_ended() {
    for mild in [
        "2026-11-25 09:10:01 ERROR RuntimeError: the tracker does not answer",
        "2026-11-25 09:10:01 WARNING OSError: [Errno 28] No space left on device",
        "bash: nvidia-smi: command not found",
    ] {
        let more: String = (2..9)
            .map(|second| format!("\n2026-11-25 09:10:0{second} step {second} loss 3.0"))
            .collect();
        let (_, out, err) = piped(&[], log(&format!("{mild}{more}")).as_bytes());
        assert!(
            words(&out).contains("there is no sign that it ended"),
            "{mild}: {out}{err}"
        );
        assert!(words(&out).contains("after step 8"), "{mild}: {out}");
    }
}

/// A kubelet's word in the column STATUS says that the pod is on a node.
#[test]
fn a_pod_that_its_kubelet_starts_was_scheduled() {
    let table = "\
NAME     READY   STATUS                       RESTARTS   AGE
one      0/1     ContainerCreating            0          12m
two      0/1     Init:0/1                     0          12m
three    0/1     ImagePullBackOff             0          12m
four     0/1     CreateContainerConfigError   0          12m
five     0/1     Pending                      0          12m
";
    let (_, out, err) = piped(&[], table.as_bytes());
    let out = words(&out);
    for expected in [
        "one has not started yet (ContainerCreating)",
        "two has not started yet (PodInitializing)",
        "three could not start because its image could not be pulled",
        "four cannot start (CreateContainerConfigError)",
        "five is pending",
    ] {
        assert!(out.contains(expected), "{expected}: {out}{err}");
    }
    assert!(!out.contains("never scheduled"), "{out}");
    assert!(!out.contains("container container"), "{out}");
}

/// Whoever pastes nodes alone asks how those are.
#[test]
fn nodes_that_are_not_ready_are_told_of() {
    let table = "\
NAME     STATUS                     ROLES    AGE   VERSION
gpu-a1   Ready                      <none>   40d   v1.31.2
gpu-a2   NotReady                   <none>   40d   v1.31.2
gpu-a3   Ready,SchedulingDisabled   <none>   40d   v1.31.2
";
    let (_, out, err) = piped(&[], table.as_bytes());
    assert!(words(&out).contains("gpu-a2 is not ready"), "{out}{err}");
    assert!(!words(&out).contains("gpu-a1 is not ready"), "{out}");
}

/// A node that has just fallen silent may answer again: what ran there is evicted, and not lost yet.
#[test]
fn who_is_evicted_from_a_silent_node_is_not_lost_yet() {
    for at in ["15:21:12", "15:21:30"] {
        let (_, out, err) = lab(&["gpt2-small-7f3", "--at", &format!("2026-11-21T{at}Z")]);
        let out = words(&out);
        assert!(
            out.contains("was evicted because of a taint on its node"),
            "{at}: {out}{err}"
        );
        assert!(!out.contains("was lost with its node"), "{at}: {out}");
    }
    // Nobody has died of what is no more than not ready.
    let (_, out, _) = lab(&["gpt2-small-7f3", "--at", "2026-11-21T15:21:05Z"]);
    assert!(
        words(&out).contains("stuck gpt2-small-7f3-1-qp9zc (rank 1) is running but not ready"),
        "{out}"
    );
    assert!(!out.contains("death"), "{out}");
}

/// What is announced has not happened, and is counted as no incident.
#[test]
fn an_announcement_is_no_incident() {
    let from = ["--from", "fixtures/maintenance-due-tomorrow/input", "-q"];
    let (_, out, err) = whathappened(&[&["*"][..], &from].concat());
    let told = words(&out);
    assert!(
        told.contains("1 incident ") && told.contains("1 announcement"),
        "{out}{err}"
    );
    assert!(
        told.contains("was announced, and nothing shows that it took place"),
        "{out}"
    );
    let count = "SELECT count(*) AS n FROM incidents WHERE cause = 'ops.host_maintenance'";
    let (_, out, err) = whathappened(&[&["sql", count, "--format", "csv"][..], &from].concat());
    assert_eq!(words(&out), "n 0", "{err}");
}

/// Repeats are folded as long as nothing else comes in between.
#[test]
fn a_node_that_came_back_is_said_to_be_back() {
    let (_, out, err) = lab(&["node", "gke-train-a100-pool-7c1d-0004"]);
    let told = words(&out);
    let (before, after) = told.split_once("Ready is Unknown").unwrap_or((&told, ""));
    assert!(
        before.contains("Ready is True") && after.contains("Ready is True"),
        "{out}{err}"
    );
}

/// What is started again may only find what its first try left behind: why that ended is told.
#[test]
fn what_ended_the_first_try_is_told_where_the_later_ones_say_nothing() {
    let (code, out, err) = whathappened(&["job/ppo-44", "--from", "fixtures/lab-logs/input", "-q"]);
    assert_eq!(code, Some(0), "{err}");
    let told = words(&out);
    assert!(
        told.contains("failed with an error: KeyError: 'reward_scale'"),
        "{out}"
    );
    assert!(told.contains("code.exception · hypothesis"), "{out}");
    assert!(!told.contains("no log shows why"), "{out}");
}
