//! Every recorded payload is read.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::*;

fn recordings() -> Option<PathBuf> {
    let folder = PathBuf::from("../../shared/recordings/slack");
    if !folder.is_dir() {
        whathappened_loopback::skipped("no ../shared");
        return None;
    }
    Some(folder)
}

fn body(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_json::from_str::<Value>(&text).unwrap()["body"].clone()
}

#[test]
fn every_recorded_payload_is_read() {
    let Some(folder) = recordings() else { return };
    let mut read = 0;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in &paths {
        let name = path.file_name().unwrap().to_str().unwrap();
        let body = || body(path);
        let event = |payload: &Value| match EventRequest::from_json(payload).unwrap() {
            EventRequest::Callback(callback) => callback.event,
            other => panic!("{name}: {other:?}"),
        };
        if name.contains("slash") && !name.starts_with("fields") {
            let command = match body() {
                Value::String(form) => Command::from_form(form.as_bytes()).unwrap(),
                envelope => Command::from_json(&envelope["payload"]).unwrap(),
            };
            assert!(command.command.starts_with('/'), "{name}");
            assert!(command.reply_to.is_some(), "{name}");
        } else if name == "fields-slash-command.json" {
            // Its values are blanked, so that nobody typed anything.
            assert!(Command::from_json(&body()).is_err());
        } else if name.contains("url_verification") {
            let request = EventRequest::from_json(&body()).unwrap();
            assert!(
                matches!(request, EventRequest::UrlVerification { challenge } if challenge.len() > 20)
            );
        } else if name.starts_with("socket-mode-envelope-events_api") {
            let event = event(&body()["payload"]);
            let is_mention = matches!(event, Event::Mention(_));
            assert_eq!(is_mention, name.contains("app_mention"), "{event:?}");
        } else if name.starts_with("fields-event") {
            let mut body = body();
            body["type"] = json!("event_callback");
            body["event_id"] = json!("Ev1");
            // Its blanks say that a bot wrote it.
            assert!(matches!(event(&body), Event::Other(_)), "{name}");
        } else if name.starts_with("bolt-events") || name.contains("message_changed") {
            let event = event(&body());
            match name {
                _ if name.contains("valid_event_body") => {
                    let Event::Mention(mention) = event else {
                        panic!("{name}: {event:?}");
                    };
                    assert_eq!(
                        mention.text.after_mention(Some("W111")).as_str(),
                        "Hi there!"
                    );
                    assert_eq!(mention.thread(), "1595926230.009600");
                }
                _ if name.contains("revoked") || name.contains("uninstalled") => {
                    assert!(matches!(event, Event::Revoked), "{name}: {event:?}");
                }
                _ => assert!(matches!(event, Event::Other(_)), "{name}: {event:?}"),
            }
        } else if name.contains("block_actions") || name.contains("block-actions") {
            let Interaction::BlockActions(click) = Interaction::from_json(&body()).unwrap() else {
                panic!("{name}");
            };
            if name.starts_with("bolt") {
                assert_eq!(click.user, "W111");
                assert_eq!(click.channel.as_deref(), Some("C111"));
                assert!(click.is_ephemeral && click.reply_to.is_some());
                assert_eq!(click.actions[0].value, "click_me_123");
                // The same over HTTP.
                let form = url::form_urlencoded::Serializer::new(String::new())
                    .append_pair("payload", &body().to_string())
                    .finish();
                assert!(matches!(
                    Interaction::from_form(form.as_bytes()),
                    Ok(Interaction::BlockActions(_))
                ));
            }
        } else if name.contains("view_submission") || name.contains("view-submission") {
            let view = Interaction::from_json(&body()).unwrap();
            assert!(matches!(view, Interaction::ViewSubmission(_)), "{name}");
        } else if name.contains("shortcut") {
            let other = Interaction::from_json(&body()["payload"]).unwrap();
            assert!(matches!(other, Interaction::Other(kind) if kind == "shortcut"));
        } else {
            continue;
        }
        read += 1;
    }
    assert!(read >= 29, "{read} payloads");
}

#[test]
fn an_official_vector_is_believed() {
    use crate::signature::{Refused, Verifier};

    let Some(folder) = recordings() else { return };
    let path = folder.join("signature-vector-slash-command.json");
    let vector: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let verifier = Verifier::new(text(&vector["signing_secret"]).into());
    let time = text(&vector["headers"]["X-Slack-Request-Timestamp"]);
    let signature = text(&vector["headers"]["X-Slack-Signature"]);
    let body = text(&vector["body"]);
    let now = vector["now_for_test"].as_i64().unwrap();
    let check =
        |body: &str, now: i64| verifier.verify(Some(&time), Some(&signature), body.as_bytes(), now);
    assert!(check(&body, now).is_ok());
    assert_eq!(check(&format!("{body}&x=1"), now), Err(Refused::Wrong));
    assert_eq!(check(&body, now + 301), Err(Refused::OutOfTime(301)));
    let command = Command::from_form(body.as_bytes()).unwrap();
    assert_eq!(command.command, "/webhook-collect");
    assert_eq!(command.text.as_str(), "");
}

fn callback(event: &Value) -> Event {
    let payload = json!({
        "type": "event_callback", "event_id": "Ev1", "team_id": "T1", "event": event,
    });
    match EventRequest::from_json(&payload).unwrap() {
        EventRequest::Callback(callback) => callback.event,
        other => panic!("{other:?}"),
    }
}

#[test]
fn only_people_are_answered() {
    let said = json!({
        "type": "app_mention", "user": "U1", "channel": "C1", "ts": "1.2",
        "thread_ts": "1.0", "text": "<@U0> run-7",
    });
    let Event::Mention(mention) = callback(&said) else {
        panic!("a person's mention");
    };
    assert_eq!((mention.thread(), mention.is_direct), ("1.0", false));
    for (field, value) in [
        ("bot_id", json!("B1")),
        ("app_id", json!("A1")),
        ("subtype", json!("message_changed")),
        ("subtype", json!("bot_message")),
        ("edited", json!({"ts": "1.3"})),
        ("user", Value::Null),
        ("type", json!("message")),
    ] {
        let mut other = said.clone();
        other[field] = value;
        assert!(matches!(callback(&other), Event::Other(_)), "{field}");
    }
    let mut direct = said;
    direct["type"] = json!("message");
    direct["channel_type"] = json!("im");
    direct["channel"] = json!("D1");
    assert!(matches!(callback(&direct), Event::Mention(mention) if mention.is_direct));
}

#[test]
fn what_is_none_of_it_is_an_error_that_says_why() {
    for (error, says) in [
        (Command::from_form(b"a=b").unwrap_err(), "it has no command"),
        (
            Command::from_form(b"\xff\xfe%%%").unwrap_err(),
            "it has no command",
        ),
        (
            EventRequest::from_body(b"<html>").unwrap_err(),
            "expected value",
        ),
        (
            EventRequest::from_body(b"{\"type\":\"event_callback\"}").unwrap_err(),
            "it has no event",
        ),
        (Interaction::from_form(b"payload=").unwrap_err(), "EOF"),
        (Interaction::from_form(b"x=1").unwrap_err(), "no field"),
        (
            Interaction::from_form(b"payload={\"type\":\"block_actions\"}").unwrap_err(),
            "the user who clicked is missing",
        ),
    ] {
        assert!(error.to_string().contains(says), "{error}");
    }
    assert!(Command::is_ssl_check(b"ssl_check=1&token=x"));
    assert!(!Command::is_ssl_check(b"text=ssl_check%3D1"));
}
