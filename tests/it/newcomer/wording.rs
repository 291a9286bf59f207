//! Words: of coverage, of sentences, of a window, the same wherever they stand.

use std::process::Command;

use serde_json::Value;

use super::{lab, words};
use crate::whathappened;

/// What is told of a fixture.
fn ask(name: &str, fixture: &str, more: &[&str]) -> String {
    let input = format!("fixtures/{fixture}/input");
    let (code, out, err) = whathappened(&[&[name, "--from", &input, "-q"], more].concat());
    assert_eq!(code, Some(0), "{err}");
    words(&out)
}

/// Coverage under --explain had the program's own names of sources.
#[test]
fn coverage_speaks_in_words_wherever_it_stands() {
    for more in [&[][..], &["--explain"]] {
        let reported = ask("*", "gke-host-maintenance", more);
        let reported = reported.split("Missing data").last().unwrap().to_owned();
        assert!(reported.contains("the audit log"), "{reported}");
        assert!(reported.contains("machine logs"), "{reported}");
        assert!(
            !reported.contains("kubernetes_audit") && !reported.contains("node_logs"),
            "{reported}"
        );
    }
}

/// A run that failed by its own word was no news where only Events told of its pods, and
/// the machine that it was drained from was told to have hurt nobody.
#[test]
fn a_machine_and_everything_tell_the_same() {
    let node = "gke-train-a100-pool-7c1d-0056";
    for name in ["*", &format!("node/{node}")] {
        let reported = ask(name, "lab-drain-lists", &[]);
        assert!(reported.contains("ops.node_drained"), "{name}: {reported}");
    }
    let (code, out, err) = whathappened(&[
        "node",
        node,
        "--from",
        "fixtures/lab-drain-lists/input",
        "-q",
    ]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("ops.node_drained"), "{out}");
}

/// A condition that a pod died of and an Event of the same Xid were two incidents.
#[test]
fn one_fault_with_a_victim_is_one_incident() {
    let reported = ask("*", "lab-taint-by-operator", &[]);
    assert!(
        reported.starts_with("✗ 1 incident · 1 run failed"),
        "{reported}"
    );
    assert!(!reported.contains(";."), "{reported}");
}

/// AWS says when an instance is retired and not when that was announced, and calls it
/// maintenance as well: it was told twice, and not before it was due.
#[test]
fn a_retirement_is_announced_once_and_before_it_is_due() {
    let folder = tempfile::tempdir().unwrap();
    let status = r#"{"InstanceStatuses":[{"InstanceId":"i-0aaaaaaaaaaaaaaaa","AvailabilityZone":"us-east-1a","InstanceState":{"Code":16,"Name":"running"},"InstanceStatus":{"Status":"ok"},"SystemStatus":{"Status":"ok"},"Events":[{"InstanceEventId":"instance-event-0d59937288b749b32","Code":"instance-retirement","Description":"The instance is running on degraded hardware","NotBefore":"2026-04-11T10:00:00.000Z"}]}]}"#;
    let file = folder.path().join("status.json").display().to_string();
    std::fs::write(&file, status).unwrap();
    let upcoming = |more: &[&str]| {
        let ask = ["upcoming", "i-0aaaaaaaaaaaaaaaa", "--from", &file, "-q"];
        whathappened(&[&ask[..], more].concat())
    };
    for at in ["2026-04-11T09:30:00Z", "2026-04-11T10:00:00Z"] {
        let (code, out, err) = upcoming(&["--at", at, "--format", "json"]);
        assert_eq!(code, Some(5), "{at}: {out}{err}");
        let report: Value = serde_json::from_str(&out).unwrap();
        let announced = report["announced"].as_array().unwrap();
        assert_eq!(announced.len(), 1, "{out}");
        assert_eq!(announced[0]["from"], "2026-04-11T10:00:00Z");
        assert_eq!(announced[0]["announced_at"], Value::Null);
    }
    let (code, out, _) = upcoming(&["--at", "2026-04-10T09:30:00Z"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(out.contains("--within 7d"), "{out}");
}

/// It was said to have created a Job, which it had not.
#[test]
fn what_was_refused_was_tried_and_not_done() {
    let reported = ask("t5-6", "lab-refused-audit", &[]);
    assert!(
        reported.contains("job-controller tried to create a Pod of Job t5-6"),
        "{reported}"
    );
    assert!(
        reported.contains("and was refused (HTTP 403): pods \"t5-6-0-m8mz8\" is forbidden"),
        "{reported}"
    );
}

#[test]
fn a_sentence_about_a_batch_job_is_english() {
    let reported = ask("*", "slurm-node-fail-of-many", &[]);
    assert!(
        reported.contains("Slurm reports that a node of job 4721 failed."),
        "{reported}"
    );
    let reported = ask("*", "slurm-prolog-failed", &[]);
    assert!(
        reported.contains("Job 4715 could not be launched because preparing dgx02 for the job failed: Slurm reports"),
        "{reported}"
    );
}

/// What a window leaves out was said to be "from after …59.999999999Z".
#[test]
fn a_window_ends_at_the_time_that_was_typed() {
    let (_, out, _) = lab(&["gpt2-small-7f3", "--until", "2026-11-21T15:21:00Z"]);
    let reported = words(&out);
    assert!(!reported.contains("999999"), "{reported}");
    assert!(
        reported.contains("from 2026-11-21T15:21:00Z or later"),
        "{reported}"
    );
}

/// It showed ✗ for what nobody had configured, and ended with 0 for what somebody had.
#[test]
fn doctor_ends_with_what_it_shows() {
    let folder = tempfile::tempdir().unwrap();
    let doctor = |kubeconfig: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_whathappened"));
        command
            .args(["doctor"])
            .env_clear()
            .env("HOME", folder.path());
        command.envs(kubeconfig.map(|path| ("KUBECONFIG", path)));
        let output = command.output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), out)
    };
    let (code, out) = doctor(None);
    assert_eq!(code, Some(0), "{out}");
    assert!(
        !out.contains('✗') && out.contains("○ kubernetes  not configured"),
        "{out}"
    );
    let (code, out) = doctor(Some("/nonexistent/kubeconfig"));
    assert_eq!(code, Some(4), "{out}");
    assert!(out.contains("✗ kubernetes"), "{out}");
}

#[test]
fn options_may_stand_before_a_verb_of_a_verb() {
    let missing = "/nonexistent/store";
    let usual = whathappened(&["store", "status", "--store", missing]);
    assert_ne!(usual.0, Some(2), "{}", usual.2);
    for typed in [
        ["--store", missing, "store", "status"],
        ["store", "--store", missing, "status"],
    ] {
        assert_eq!(whathappened(&typed), usual, "{typed:?}");
    }
}

#[test]
fn a_run_says_in_sql_why_it_ended() {
    let asked = "SELECT name, cause FROM runs WHERE name = 'gpt2-small-7f3'";
    let (code, out, err) = lab(&["sql", asked, "--format", "csv"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("gpt2-small-7f3,node.not_ready"), "{out}");
}

/// Names that match nothing were looked for "in the input" where there was none.
#[test]
fn a_name_that_is_nobodys_is_told_in_words_for_every_source() {
    let (code, _, err) = lab(&["gpt2-smal-7f3"]);
    assert_eq!(code, Some(3));
    assert!(
        err.contains("no experiment, workload, pod or machine matches \"gpt2-smal-7f3\""),
        "{err}"
    );
}
