//! What experiment trackers' own files add to an answer, and what they must not change.

use std::sync::Arc;

use whathappened::answer::Answer;
use whathappened::case::Rules;
use whathappened::report::{self, Question};

use crate::golden;

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
