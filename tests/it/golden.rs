//! The answers to every fixture as people read them, kept in `tests/golden` to be reviewed whenever
//! they change. `BLESS=1 cargo nextest run -E 'test(golden)'` writes them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use whathappened::answer::Answer;
use whathappened::case::{Case, Rules};
use whathappened::render::{self, Card, Format, Style};
use whathappened::report::{self, Question};
use whathappened_connectors::recording::{Input, Options};

const FOLDER: &str = "tests/golden";

/// Answers that differ most: these are kept in every format.
pub(crate) const IN_EVERY_FORMAT: [&str; 12] = [
    "aks-host-fault",
    "dns-limit-node-resolver",
    "gang-hung-gpu",
    "gce-vm-experiment",
    "gpu-struck-two-runs",
    "lab-cluster",
    "lab-idle-machines",
    "lab-never-created",
    "lab-two-runs",
    "nfs-server-under-a-gang",
    "slurm-node-fail-of-many",
    "store-refuses-too-often",
];

pub(crate) fn fixtures() -> Vec<String> {
    let folders = std::fs::read_dir("fixtures").unwrap();
    let mut names: Vec<String> = folders
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// The names that `expect.json` has answers to.
pub(crate) fn questions(fixture: &str) -> Vec<String> {
    let text = std::fs::read_to_string(format!("fixtures/{fixture}/expect.json")).unwrap();
    let all: Value = serde_json::from_str(&text).unwrap();
    let all = all["experiments"].as_object().unwrap();
    all.keys().cloned().collect()
}

pub(crate) fn inputs(fixture: &str) -> Vec<Input> {
    ["input", "loki"]
        .iter()
        .map(|folder| PathBuf::from(format!("fixtures/{fixture}/{folder}")))
        .filter(|path| path.exists())
        .map(Input::Path)
        .collect()
}

pub(crate) fn case(fixture: &str, rules: &Arc<Rules>) -> Case {
    let inputs = inputs(fixture);
    let rules = Arc::clone(rules);
    Case::read(&inputs, &Options::default(), rules, &mut |_, _| {}).unwrap()
}

/// An answer without the hash of the rules, which changes with every one of them.
pub(crate) async fn ask(case: &Case, name: &str) -> Answer {
    let question = Question {
        name: name.to_owned(),
        ..Question::default()
    };
    let mut answer = report::answer(case, &question).await.unwrap();
    answer.ruleset = "golden".to_owned();
    answer
}

pub(crate) fn written(answer: &Answer, format: Format, width: usize) -> String {
    let lines = match format {
        Format::Table => 0,
        _ => 30,
    };
    let style = Style {
        width,
        timeline_limit: Some(lines),
        ..Style::default()
    };
    let mut out = Vec::new();
    render::answer(answer, format, &style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// The blocks of a message, after the text that stands for them.
fn slack(answer: &Answer) -> String {
    let card = render::card(answer, &Card::default());
    let blocks = serde_json::to_string_pretty(card.blocks()).unwrap();
    format!("{}\n\n{blocks}\n", card.fallback())
}

/// The answers to all questions of a fixture, each after its question.
fn all_of(answers: &[(String, Answer)], format: Format) -> String {
    let mut text = String::new();
    for (name, answer) in answers {
        writeln!(text, "$ whathappened {name}\n").unwrap();
        text.push_str(&written(answer, format, 80));
        text.push('\n');
    }
    text
}

/// Every file and what belongs into it.
async fn golden() -> Vec<(PathBuf, String)> {
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let mut files = Vec::new();
    for fixture in fixtures() {
        let case = case(&fixture, &rules);
        let mut answers = Vec::new();
        for name in questions(&fixture) {
            let answer = ask(&case, &name).await;
            answers.push((name, answer));
        }
        let mut add = |kind: &str, text: String| {
            files.push((Path::new(FOLDER).join(format!("{fixture}.{kind}")), text));
        };
        add("80.txt", all_of(&answers, Format::Table));
        add("md", all_of(&answers, Format::Md));
        if let Some((_, first)) = answers.first()
            && IN_EVERY_FORMAT.contains(&fixture.as_str())
        {
            add("200.txt", written(first, Format::Table, 200));
            add("slack.txt", slack(first));
            add("json", written(first, Format::Json, 80));
        }
    }
    files
}

#[tokio::test]
async fn every_fixture_is_answered_as_reviewed() {
    let files = golden().await;
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(FOLDER).unwrap();
        for (path, text) in &files {
            std::fs::write(path, text).unwrap();
        }
    }
    let known: BTreeSet<&Path> = files.iter().map(|(path, _)| path.as_path()).collect();
    for entry in std::fs::read_dir(FOLDER).unwrap() {
        let path = entry.unwrap().path();
        assert!(known.contains(path.as_path()), "{path:?} is of no fixture");
    }
    let changed: Vec<&Path> = files
        .iter()
        .filter(|(path, text)| std::fs::read_to_string(path).ok().as_ref() != Some(text))
        .map(|(path, _)| path.as_path())
        .collect();
    assert!(
        changed.is_empty(),
        "these answers read differently; look at them after BLESS=1: {changed:#?}"
    );
}
