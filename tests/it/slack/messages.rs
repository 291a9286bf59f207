//! Every message about every bundled incident, before Slack's own SDK.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use whathappened::case::{Case, Rules};
use whathappened::error::Error;
use whathappened::render::{self, Card};
use whathappened::report::{self, Question};
use whathappened_connectors::recording::{Input, Options};
use whathappened_slack::{Block, Message, length};

use super::refusing::python;

/// Folders of `fixtures` with the names that are asked for.
fn cases() -> Vec<(PathBuf, Vec<String>)> {
    let mut cases: Vec<_> = std::fs::read_dir("fixtures")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.join("expect.json").is_file())
        .map(|path| {
            let text = std::fs::read_to_string(path.join("expect.json")).unwrap();
            let expect: Value = serde_json::from_str(&text).unwrap();
            let names = expect["experiments"].as_object().unwrap();
            let mut names: Vec<String> = names.keys().cloned().collect();
            names.push("*".to_owned());
            (path, names)
        })
        .collect();
    cases.sort();
    cases
}

/// All messages, with what they are about.
async fn messages() -> Vec<(String, Message)> {
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let mut all = Vec::new();
    for (path, names) in cases() {
        let inputs: Vec<Input> = ["input", "loki"]
            .iter()
            .map(|part| path.join(part))
            .filter(|part| part.is_dir())
            .map(Input::Path)
            .collect();
        let options = Options::default();
        let case = Case::read(&inputs, &options, Arc::clone(&rules), &mut |_, _| {}).unwrap();
        for name in names {
            let question = Question {
                name: name.clone(),
                ..Question::default()
            };
            let answer = report::answer(&case, &question).await;
            let answer = answer.unwrap_or_else(|error: Error| panic!("{name}: {error}"));
            let value = json!({"name": name}).to_string();
            let around = |incident| Card {
                value: Some(&value),
                page: Some("https://whathappened.example/x"),
                remark: Some("Posted because this channel is subscribed"),
                incident,
            };
            let about = |what: &str| format!("{} {name} {what}", path.display());
            all.push((about("card"), render::card(&answer, &around(None))));
            for at in 0..answer.incidents.len() {
                let card = render::card(&answer, &around(Some(at)));
                all.push((about(&format!("card of {at}")), card));
            }
            all.push((about("why"), render::why(&answer)));
            all.push((about("attempts"), render::attempts(&answer)));
            all.push((about("timeline"), render::timeline(&answer, 30).0));
            all.push((about("redacted"), render::redacted(&answer)));
        }
    }
    all
}

#[tokio::test]
async fn every_message_passes_slacks_own_validation() {
    let messages = messages().await;
    assert!(messages.len() > 60, "{}", messages.len());
    for (about, message) in &messages {
        let sum: usize = message.blocks().iter().map(Block::length).sum();
        assert!(
            sum <= 10_000 && message.blocks().len() <= 50,
            "{about}: {sum}"
        );
        let text = message.fallback();
        assert!(
            length(text) <= 4_000 && text.ends_with(['.', '!', '?', '…']),
            "{about}: {text}"
        );
        // Read aloud: no markup, no signs, no empty sentences.
        for odd in ["`", "*", "  ", " .", "..", "\u{a0}", "Some("] {
            assert!(
                !text.contains(odd) || about.contains(" * "),
                "{about}: {odd:?} in {text}"
            );
        }
    }
    let lines: Vec<Value> = messages
        .iter()
        .map(|(about, message)| json!({"about": about, "message": message}))
        .collect();
    let Some(judged) = python("blocks", &lines) else {
        return;
    };
    assert_eq!(judged.len(), lines.len());
    for line in &judged {
        assert_eq!(line["wrong"], json!([]), "{}", line["about"]);
    }
}
