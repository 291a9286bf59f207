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

/// The blocks of a message, each with its kind before its text, after the text that stands for them.
fn slack(answer: &Answer) -> String {
    fn texts(block: &Value, into: &mut Vec<String>) {
        match block {
            Value::String(text) => into.push(text.clone()),
            Value::Array(all) => all.iter().for_each(|one| texts(one, into)),
            Value::Object(fields) => {
                for (name, value) in fields {
                    if !matches!(name.as_str(), "type" | "block_id" | "action_id" | "value") {
                        texts(value, into);
                    }
                }
            }
            _ => {}
        }
    }
    let card = render::card(answer, &Card::default());
    let mut text = format!("{}\n", card.fallback());
    for block in serde_json::to_value(card.blocks())
        .unwrap()
        .as_array()
        .unwrap()
    {
        let mut said = Vec::new();
        texts(block, &mut said);
        write!(
            text,
            "\n[{}]\n{}\n",
            block["type"].as_str().unwrap(),
            said.join("\n")
        )
        .unwrap();
    }
    text
}

/// JSON as it is reviewed: what fits stands on one line, what is null is left out, and of long lists of
/// what happened the ends are there. `tests/it/parity.rs` and the schema's test look at the whole.
fn json(answer: &Answer) -> String {
    let mut value: Value = serde_json::from_str(&written(answer, Format::Json, 80)).unwrap();
    shorten(&mut value, "");
    let mut text = String::new();
    lay_out(&value, 0, &mut text);
    text.push('\n');
    text
}

fn shorten(value: &mut Value, name: &str) {
    match value {
        Value::Array(all) => {
            if matches!(name, "timeline" | "points") && all.len() > 5 {
                let left_out = format!("… {} more", all.len() - 4);
                let ends = all.split_off(all.len() - 2);
                all.truncate(2);
                all.push(left_out.into());
                all.extend(ends);
            }
            all.iter_mut().for_each(|one| shorten(one, name));
        }
        Value::Object(fields) => {
            fields.retain(|_, value| !value.is_null());
            for (name, value) in fields.iter_mut() {
                shorten(value, name);
            }
        }
        _ => {}
    }
}

fn lay_out(value: &Value, indent: usize, text: &mut String) {
    /// Where a line ends, in bytes.
    const WIDTH: usize = 150;
    let line = value.to_string();
    let is_short = line.len() + indent <= WIDTH;
    let (open, close, parts): (_, _, Vec<(String, &Value)>) = match value {
        Value::Array(all) if !is_short => {
            let parts = all.iter().map(|one| (String::new(), one));
            ('[', ']', parts.collect())
        }
        Value::Object(fields) if !is_short => {
            let parts = fields.iter();
            let parts = parts.map(|(name, one)| (format!("\"{name}\": "), one));
            ('{', '}', parts.collect())
        }
        _ => return text.push_str(&line),
    };
    text.push(open);
    for (number, (name, part)) in parts.into_iter().enumerate() {
        text.push_str(if number == 0 { "\n" } else { ",\n" });
        text.extend(std::iter::repeat_n(' ', indent + 1));
        text.push_str(&name);
        lay_out(part, indent + 1, text);
    }
    text.push('\n');
    text.extend(std::iter::repeat_n(' ', indent));
    text.push(close);
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
        if let Some((_, first)) = answers.first() {
            add("200.txt", written(first, Format::Table, 200));
            add("slack.txt", slack(first));
            add("json", json(first));
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
