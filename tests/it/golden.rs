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

/// Answers that differ most, for tests to which all are too many.
pub(crate) const DIFFER_MOST: [&str; 12] = [
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

/// Rows of a timeline and records of evidence that are kept of a JSON answer; the rest is counted.
const ROWS: usize = 30;

/// Characters of a record as it was read that are kept: all of it is in the fixture.
const RAW: usize = 80;

/// Columns of a JSON answer before a list or an object gets a line for each of its members.
const COLUMNS: usize = 160;

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

/// A JSON answer as it is reviewed: a line a record, without the tail of long lists and of records as they were read.
fn json(answer: &Answer) -> String {
    let mut json: Value = serde_json::from_str(&written(answer, Format::Json, 80)).unwrap();
    shorten(&mut json["timeline"]);
    for incident in json["incidents"].as_array_mut().unwrap() {
        shorten(&mut incident["evidence"]);
        for record in incident["evidence"].as_array_mut().unwrap() {
            let Some(fields) = record.as_object_mut() else {
                continue;
            };
            fields.retain(|_, value| !value.is_null());
            // The place within the fixture, wherever that lies.
            if let Some(Value::String(origin)) = fields.get_mut("origin") {
                let inside = origin.splitn(3, '/').nth(2);
                *origin = inside.unwrap_or_default().to_owned();
            }
            if let Some(Value::String(raw)) = fields.get_mut("raw")
                && let Some((at, _)) = raw.char_indices().nth(RAW)
            {
                raw.truncate(at);
                raw.push('…');
            }
        }
    }
    let mut out = String::new();
    lay_out(&json, 0, &mut out);
    out.push('\n');
    out
}

fn shorten(list: &mut Value) {
    let list = list.as_array_mut().unwrap();
    let more = list.len().saturating_sub(ROWS);
    if more > 0 {
        list.truncate(ROWS);
        list.push(format!("and {more} more").into());
    }
}

/// What fits on a line is on one line, and so is a row of the timeline or a record of evidence whatever its length.
fn lay_out(value: &Value, depth: usize, out: &mut String) {
    let line = value.to_string();
    let is_row = value.get("event_ids").is_some() || value.get("source_kind").is_some();
    let members: Vec<(String, &Value)> = match value {
        Value::Object(all) if !is_row => {
            let name = |name: &String| format!("{}:", Value::String(name.clone()));
            all.iter().map(|(key, one)| (name(key), one)).collect()
        }
        Value::Array(all) => all.iter().map(|one| (String::new(), one)).collect(),
        _ => Vec::new(),
    };
    if members.is_empty() || line.chars().count() + depth <= COLUMNS {
        out.push_str(&line);
        return;
    }
    let (open, close) = if value.is_array() {
        ('[', ']')
    } else {
        ('{', '}')
    };
    out.push(open);
    for (at, (name, member)) in members.into_iter().enumerate() {
        out.push_str(if at == 0 { "\n" } else { ",\n" });
        write!(out, "{:depth$} {name}", "").unwrap();
        lay_out(member, depth + 1, out);
    }
    write!(out, "\n{:depth$}{close}", "").unwrap();
}

/// The answers to all questions of a fixture, each after its question.
fn all_of(answers: &[(String, Answer)], written: impl Fn(&Answer) -> String) -> String {
    let mut text = String::new();
    for (name, answer) in answers {
        writeln!(text, "$ whathappened {name}\n").unwrap();
        text.push_str(&written(answer));
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
        let table = |width| move |answer: &Answer| written(answer, Format::Table, width);
        add("80.txt", all_of(&answers, table(80)));
        add("200.txt", all_of(&answers, table(200)));
        add(
            "md",
            all_of(&answers, |answer| written(answer, Format::Md, 80)),
        );
        add("slack.txt", all_of(&answers, slack));
        add("json.txt", all_of(&answers, json));
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
