//! Every shape of answer makes a message that Slack takes.

use serde_json::Value;
use whathappened_slack::{Block, LIMITS, Message, length};

use super::super::fixtures;
use super::*;

fn around() -> Card<'static> {
    Card {
        value: Some("{\"name\":\"x\"}"),
        page: Some("https://whathappened.example/x"),
        ..Card::default()
    }
}

/// All messages of an answer.
fn messages() -> Vec<(String, Message)> {
    let mut all = Vec::new();
    for (name, answer) in fixtures::all() {
        all.push((format!("{name} card"), card(&answer, &around())));
        all.push((format!("{name} why"), why(&answer)));
        all.push((format!("{name} attempts"), attempts(&answer)));
        all.push((format!("{name} timeline"), timeline(&answer, 30).0));
        all.push((format!("{name} redacted"), redacted(&answer)));
    }
    all
}

#[test]
fn every_message_stays_within_slacks_limits() {
    for (name, message) in messages() {
        let blocks = message.blocks();
        assert!(
            !blocks.is_empty() || name.contains("nothing attempts"),
            "{name}"
        );
        assert!(blocks.len() <= 50, "{name}: {} blocks", blocks.len());
        let sum: usize = blocks.iter().map(Block::length).sum();
        assert!(sum <= 10_000, "{name}: {sum}");
        assert!(length(message.fallback()) <= 4_000, "{name}");
        assert!(!message.fallback().is_empty(), "{name}");
        for block in blocks {
            let limit = match block {
                Block::Header(_) => 150,
                Block::Section(_) => LIMITS.section,
                Block::Context(_) => 2_000,
                _ => continue,
            };
            assert!(block.length() <= limit, "{name}: {block:?}");
        }
    }
}

#[test]
fn hostile_text_tells_nobody_and_marks_nothing() {
    let mut answer = fixtures::hostile();
    let evil = "<!channel> <@U012345> ``` @here & <https://evil.example|click>";
    for incident in &mut answer.incidents {
        incident.summary = evil.to_owned();
        incident.title = evil.to_owned();
        incident.advice = vec![evil.to_owned()];
        for link in &mut incident.chain {
            link.text = evil.to_owned();
        }
    }
    answer.experiment = Some(evil.to_owned());
    for message in [
        card(&answer, &around()),
        why(&answer),
        attempts(&answer),
        timeline(&answer, 30).0,
    ] {
        let json = serde_json::to_value(&message).unwrap();
        for text in marked(&json) {
            for loud in ["<!channel", "<@", "@here", "<https://evil", "\u{1b}"] {
                assert!(!text.contains(loud), "{loud}: {text}");
            }
            assert!(text.matches("```").count().is_multiple_of(2), "{text}");
        }
    }
}

/// All texts that Slack looks for markup in.
fn marked(value: &Value) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(marked).collect(),
        Value::Object(fields) if fields.get("type") == Some(&"plain_text".into()) => Vec::new(),
        Value::Object(fields) => {
            let text = fields.get("text").and_then(Value::as_str);
            let inner = fields.values().flat_map(marked);
            inner.chain(text.map(str::to_owned)).collect()
        }
        _ => Vec::new(),
    }
}

#[test]
fn it_makes_sense_read_aloud() {
    let message = card(&fixtures::gpt2(), &around());
    insta::assert_snapshot!(message.fallback());
}

#[test]
fn the_verdict_is_all_there() {
    let text: Vec<String> = card(&fixtures::gpt2(), &around())
        .blocks()
        .iter()
        .map(|block| match block {
            Block::Header(text) => format!("# {}", text.as_str()),
            Block::Section(text) => text.markup(),
            Block::Context(text) => format!("({})", text.markup()),
            other => serde_json::to_string(other).unwrap(),
        })
        .collect();
    insta::assert_snapshot!(text.join("\n\n"));
}

#[test]
fn buttons_stand_where_they_lead_somewhere() {
    let actions = |message: &Message| {
        let json = serde_json::to_value(message).unwrap();
        let elements = json["blocks"]
            .as_array()
            .unwrap()
            .iter()
            .find(|block| block["type"] == "actions")
            .map(|block| block["elements"].as_array().unwrap().clone());
        let ids = elements.unwrap_or_default();
        ids.iter()
            .map(|button| button["action_id"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let all = actions(&card(&fixtures::gpt2(), &around()));
    for id in ["timeline", "why", "file", "open"] {
        assert!(all.iter().any(|one| one == id), "{id}: {all:?}");
    }
    let quiet = card(&fixtures::nothing(), &Card::default());
    assert_eq!(actions(&quiet), Vec::<String>::new());
}

#[test]
fn what_is_redacted_names_nothing() {
    let answer = fixtures::gpt2();
    let text = redacted(&answer);
    let incident = &answer.incidents[0];
    assert!(
        text.fallback().contains(&incident.cause),
        "{}",
        text.fallback()
    );
    for name in [
        &answer.runs[0].name,
        &incident.first_victim.as_ref().unwrap().pod,
    ] {
        assert!(
            !text.fallback().contains(name.as_str()),
            "{}",
            text.fallback()
        );
    }
}
