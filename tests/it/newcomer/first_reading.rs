//! Answers that a newcomer took for something that they did not mean, or that did not say what was known.

use crate::sent_away::{actor, asked, ended, event, job, list, pod};
use crate::unseen::ask;

/// Whoever asks with an audit log of the day before is not told that it was read in full and names nobody.
#[test]
fn an_audit_log_that_ends_before_the_run_says_nothing_of_it() {
    let told = |at: &str| {
        let gone = pod(0, "Failed", &ended(143, "Error", "10:30:02"));
        let killing = event(
            "bert-0-aaaa0",
            "Killing",
            "Stopping container main",
            "kubelet",
            "10:30:00",
        );
        let answer = ask(
            "bert",
            &[
                ("objects.json", list(&[job(1, false), gone])),
                ("events.json", list(&[killing])),
                (
                    "audit.log",
                    asked("patch", "zoe@lab.example", at, "nodes", "n7", ""),
                ),
            ],
        );
        let rows = answer["coverage"].as_array().cloned().unwrap_or_default();
        let row = rows
            .into_iter()
            .find(|row| row["resource"] == "audit")
            .unwrap_or_default();
        assert_eq!(actor(&answer), "");
        assert_eq!(row["status"], "truncated");
        row["detail"].as_str().unwrap_or_default().to_owned()
    };
    assert_eq!(
        told("09:00:00.000000"),
        "its records end at 2026-11-24T09:00:00Z, before this run began"
    );
    assert_eq!(
        told("10:20:00.000000"),
        "it does not have the request that ended this run; its records end at 2026-11-24T10:20:00Z"
    );
}
