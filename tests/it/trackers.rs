//! What experiment trackers' own files add to an answer, and what they must not change.

use std::sync::Arc;

use whathappened::answer::Answer;
use whathappened::case::Rules;
use whathappened::report::{self, Question};

use crate::{golden, whathappened};

async fn answer(fixture: &str, name: &str) -> Answer {
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let case = golden::case(fixture, &rules);
    let question = Question {
        name: name.to_owned(),
        ..Question::default()
    };
    report::answer(&case, &question).await.unwrap()
}

fn last_step(answer: &Answer) -> Option<i64> {
    answer.incidents.first()?.said.last_step.as_ref()?.step
}

#[tokio::test]
async fn a_tracker_that_still_says_running_is_told_beside_the_verdict() {
    let with = answer("tracker-still-running", "k26-run").await;
    let note =
        "MLflow still shows k26-run as RUNNING: the end of the run was never reported to it.";
    assert!(
        with.notes.iter().any(|told| told == note),
        "{:?}",
        with.notes
    );
    assert_eq!(last_step(&with), Some(870));
    assert!(!with.drawn.curves.is_empty());
    // The verdict is the one without it.
    let without = answer("one-pod-evicted", "k26-run").await;
    let (with, without) = (&with.incidents[0], &without.incidents[0]);
    assert_eq!((&with.cause, with.level), (&without.cause, without.level));
    assert_eq!(with.summary, without.summary);
}

#[tokio::test]
async fn a_loss_that_is_no_number_is_a_sign_where_nobody_kept_the_log() {
    let found = answer("tracker-loss-nan", "gpt-nano-9").await;
    let first = &found.incidents[0];
    assert_eq!(first.cause, "code.divergence");
    assert_eq!(first.level.as_str(), "hypothesis");
    assert!(
        first.summary.contains("train/loss is nan"),
        "{}",
        first.summary
    );
    assert_eq!(last_step(&found), Some(1000));
}

#[tokio::test]
async fn trackers_that_agree_are_no_news() {
    let found = answer("tracker-healthy", "gpt-nano-10").await;
    assert_eq!(found.incidents[0].cause, "none.completed");
    assert_eq!(found.notes, Vec::<String>::new());
}

#[tokio::test]
async fn a_run_is_found_by_the_name_that_its_tracker_has() {
    for name in ["output.log", "gpt-small-3"] {
        let found = answer("tracker-wandb-alone", name).await;
        assert_eq!(
            found.incidents[0].run_id.as_deref(),
            Some("Log//output.log")
        );
        assert_eq!(last_step(&found), Some(1000), "{name}");
    }
}

/// The runs of a list, without when they were explained.
fn listed(args: &[&str]) -> Vec<String> {
    let (code, out, err) =
        whathappened(&[&["experiments", "--format", "csv", "-q"], args].concat());
    assert_eq!(code, Some(0), "{err}");
    let rows = out.lines().skip(1).map(|row| {
        let cells: Vec<&str> = row.split(',').collect();
        [cells[0], cells[1], cells[3], cells[4], cells[12], cells[13]].join(",")
    });
    rows.collect()
}

/// A store listed none of the runs that only trackers tell of.
#[test]
fn a_store_lists_the_runs_of_trackers_as_their_files_do() {
    const WANDB: &str = "fixtures/tracker-wandb-alone/input/wandb";
    let folder = tempfile::tempdir().unwrap();
    let alone = folder.path().join("offline-run-1");
    std::fs::create_dir(&alone).unwrap();
    let run = "offline-run-20261128_094718-yg1u2nhv/run-yg1u2nhv.wandb";
    std::fs::copy(format!("{WANDB}/{run}"), alone.join("run-yg1u2nhv.wandb")).unwrap();
    let alone = alone.display().to_string();
    for (input, name) in [
        ("fixtures/tracker-healthy/input/mlruns", "gpt-nano-10"),
        ("fixtures/tracker-loss-nan/input/runs", "nano"),
        // The log in the records, or beside them, is the run.
        (alone.as_str(), "output.log"),
        (WANDB, "output.log"),
    ] {
        let (_folder, store) = crate::newcomer::imported(&[input]);
        let of_files = listed(&["--from", input]);
        assert_eq!(of_files.len(), 1, "{input}: {of_files:?}");
        assert!(of_files[0].contains(name), "{of_files:?}");
        let (code, _, err) = whathappened(&["explain", "--store", &store, "-q"]);
        assert_eq!(code, Some(0), "{err}");
        assert_eq!(
            listed(&["--store", &store, "--no-fetch"]),
            of_files,
            "{input}"
        );
        let (code, _, err) = whathappened(&[name, "--store", &store, "--no-fetch", "-q"]);
        assert_eq!(code, Some(0), "{input}: {err}");
    }
    // Beside anything else that is known, they are of that, or of nobody.
    let both = [
        "fixtures/tracker-healthy/input",
        "fixtures/tracker-loss-nan/input",
    ];
    let (_folder, store) = crate::newcomer::imported(&both);
    let kinds = listed(&["--store", &store, "--no-fetch"]);
    assert!(kinds.iter().all(|row| row.contains(",Job,")), "{kinds:?}");
}
