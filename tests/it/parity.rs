//! Every fixture asked from its files and from a store that they were imported into: the same run gets
//! one answer, from the same moment and of the same sources.

use std::collections::BTreeSet;
use std::sync::Arc;

use whathappened::answer::Answer;
use whathappened::case::{Case, Rules};
use whathappened::fetch;
use whathappened::report::{self, Question};
use whathappened_connectors::recording::Options;
use whathappened_core::resolve::Name;
use whathappened_model::connector::Window;
use whathappened_store::{Limits, Store};

use crate::golden;

/// The present of those who import.
const NOW: i64 = 1_795_800_000_000_000_000;

fn imported(fixture: &str, rules: &Arc<Rules>, folder: &std::path::Path) -> Store {
    let mut store = Store::open(folder, Limits::default()).unwrap();
    let inputs = golden::inputs(fixture);
    let signals = &rules.signals;
    let options = Options::default();
    fetch::import(
        fetch::ImportTarget::Open(&mut store),
        signals,
        &inputs,
        NOW,
        &options,
        &mut |_, _| {},
    )
    .unwrap();
    store
}

fn stored(store: &Store, name: &str, rules: &Arc<Rules>) -> Case {
    let snapshot = store.snapshot().unwrap();
    let coverage = store.coverage().unwrap();
    let rules = Arc::clone(rules);
    let name = Name::parse(name);
    fetch::case(&snapshot, &name, Window::default(), coverage, rules).unwrap()
}

/// What both must tell alike, a line each.
fn told(answer: &Answer) -> Vec<String> {
    let mut lines = vec![format!("now {:?}", answer.now)];
    for run in &answer.runs {
        lines.push(format!("run {} {} {:?}", run.name, run.state, run.end));
    }
    for one in &answer.incidents {
        let victims: Vec<&str> = one.victims.iter().map(|victim| &*victim.pod).collect();
        lines.push(format!(
            "incident {} {:?} {:?} {} {victims:?}",
            one.cause, one.level, one.time, one.summary
        ));
    }
    let coverage: BTreeSet<String> = answer
        .coverage
        .iter()
        .map(|row| format!("coverage {} {} {}", row.source, row.resource, row.status))
        .collect();
    lines.extend(coverage);
    lines
}

async fn differences(fixtures: &[String]) -> Vec<String> {
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let mut found = Vec::new();
    for fixture in fixtures {
        let files = golden::case(fixture, &rules);
        let folder = tempfile::tempdir().unwrap();
        let store = imported(fixture, &rules, folder.path());
        for name in golden::questions(fixture) {
            let question = Question {
                name: name.clone(),
                ..Question::default()
            };
            let of_files = told(&report::answer(&files, &question).await.unwrap());
            let case = stored(&store, &name, &rules);
            let of_store = told(&report::answer(&case, &question).await.unwrap());
            if of_files == of_store {
                continue;
            }
            found.push(format!("{fixture} {name}"));
            let missing = |a: &[String], b: &[String], sign: &str| -> Vec<String> {
                let lines = a.iter().filter(|line| !b.contains(line));
                lines.map(|line| format!("  {sign} {line}")).collect()
            };
            found.extend(missing(&of_files, &of_store, "files"));
            found.extend(missing(&of_store, &of_files, "store"));
        }
    }
    found
}

/// A half of the fixtures, so that both can be tried at once.
async fn half(of: usize) {
    let all = golden::fixtures();
    let some: Vec<String> = all.into_iter().skip(of).step_by(2).collect();
    assert!(some.len() > 50, "{some:?}");
    let found = differences(&some).await;
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[tokio::test]
async fn a_fixture_is_answered_alike_from_files_and_from_a_store() {
    half(0).await;
}

#[tokio::test]
async fn every_other_fixture_is_answered_alike_from_files_and_from_a_store() {
    half(1).await;
}
