//! The API against a server on loopback that plays Slack.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::fake::{Fake, ReceivedRequest};
use crate::{Message, Mrkdwn, ReplyTo};

fn api(fake: &Fake) -> Api {
    Api::new(
        &format!("{}/api/", fake.url()),
        "xoxb-ours".to_owned().into(),
    )
    .unwrap()
}

fn message() -> Message {
    Message::text(&Mrkdwn::new().say("a <!channel> b"))
}

fn ok(mut with: Value) -> (u16, Vec<(&'static str, String)>, String) {
    with["ok"] = json!(true);
    (200, Vec::new(), with.to_string())
}

fn no(error: &str) -> (u16, Vec<(&'static str, String)>, String) {
    (
        200,
        Vec::new(),
        json!({"ok": false, "error": error}).to_string(),
    )
}

#[tokio::test]
async fn messages_are_posted_quietly_and_as_who_we_are() {
    let fake = Fake::start(|_| ok(json!({"channel": "C1", "ts": "1700000000.000100"}))).await;
    let api = api(&fake);
    let posted = api.post("C1", Some("1.2"), &message()).await.unwrap();
    assert_eq!(posted.ts, "1700000000.000100");
    api.update("C1", &posted.ts, &message()).await.unwrap();
    api.post_to_one("C1", "U1", None, &message()).await.unwrap();
    let asked = fake.asked();
    let paths: Vec<&str> = asked.iter().map(|asked| asked.path.as_str()).collect();
    assert_eq!(
        paths,
        [
            "/api/chat.postMessage",
            "/api/chat.update",
            "/api/chat.postEphemeral"
        ]
    );
    for asked in &asked {
        assert_eq!(asked.header("authorization"), "Bearer xoxb-ours");
        let body = asked.json();
        for quiet in ["unfurl_links", "unfurl_media", "link_names"] {
            assert_eq!(body[quiet], json!(false), "{quiet}");
        }
        assert_eq!(body["text"], "a &lt;!channel&gt; b");
        assert_eq!(body["blocks"][0]["type"], "section");
    }
    assert_eq!(asked[0].json()["thread_ts"], "1.2");
    assert_eq!(asked[2].json()["user"], "U1");
}

#[tokio::test]
async fn a_no_says_what_to_do() {
    for (word, advice) in [
        ("not_in_channel", "invite the app"),
        ("token_revoked", "reinstall the app"),
        ("ratelimited", "try again"),
        ("something_new", "docs.slack.dev"),
    ] {
        let fake = Fake::start(move |_| no(word)).await;
        let error = api(&fake).post("C1", None, &message()).await.unwrap_err();
        assert_eq!(error.word(), Some(word));
        assert!(error.to_string().contains(advice), "{error}");
        assert_eq!(error.is_about_the_token(), word == "token_revoked");
        assert_eq!(error.is_about_the_channel(), word == "not_in_channel");
    }
    let fake = Fake::start(|_| {
        let body = json!({"ok": false, "error": "missing_scope", "needed": "channels:read", "provided": "chat:write"});
        (200, Vec::new(), body.to_string())
    })
    .await;
    let error = api(&fake).channel("C1").await.unwrap_err();
    assert!(
        error.to_string().contains("(needs channels:read)"),
        "{error}"
    );
    for garbage in ["<html><title>Sign in</title>", "", "[]", "{\"ok\":\"yes\"}"] {
        let fake = Fake::start(move |_| (200, Vec::new(), garbage.to_owned())).await;
        let error = api(&fake).identity().await.unwrap_err();
        assert!(matches!(error, ApiError::Http { .. }), "{error}");
    }
}

#[tokio::test]
async fn waits_are_kept_and_nothing_is_posted_twice() {
    let tries = AtomicUsize::new(0);
    let fake = Fake::start(move |_| match tries.fetch_add(1, Ordering::Relaxed) {
        0 => (429, vec![("Retry-After", "1".to_owned())], String::new()),
        _ => ok(json!({"channel": "C1", "ts": "1.1"})),
    })
    .await;
    let start = Instant::now();
    api(&fake).post("C1", None, &message()).await.unwrap();
    assert!(start.elapsed() >= Duration::from_secs(1));
    assert_eq!(fake.asked().len(), 2);

    let fake = Fake::start(|_| (503, Vec::new(), String::new())).await;
    api(&fake).post("C1", None, &message()).await.unwrap_err();
    assert_eq!(fake.asked().len(), 1, "it may have been posted");
}

#[tokio::test]
async fn a_channel_gets_a_message_a_second() {
    let fake = Fake::start(|_| ok(json!({"channel": "C1", "ts": "1.1"}))).await;
    let api = api(&fake);
    let start = Instant::now();
    let text = message();
    let (one, two, other) = tokio::join!(
        api.post("C1", None, &text),
        api.post("C1", None, &text),
        api.post("C2", None, &text),
    );
    for posted in [one, two, other] {
        posted.unwrap();
    }
    let took = start.elapsed();
    assert!(
        took >= Duration::from_secs(1) && took < Duration::from_secs(2),
        "{took:?}"
    );
}

#[tokio::test]
async fn where_blocks_are_turned_away_the_text_is_sent() {
    let fake = Fake::start(|asked: &ReceivedRequest| match asked.json().get("blocks") {
        Some(_) => no("msg_blocks_too_long"),
        None => ok(json!({"channel": "C1", "ts": "1.1"})),
    })
    .await;
    api(&fake).post("C1", None, &message()).await.unwrap();
    assert_eq!(fake.asked()[1].json()["text"], "a &lt;!channel&gt; b");
}

#[tokio::test]
async fn commands_are_answered_where_slack_says_and_nowhere_else() {
    let fake = Fake::start(|asked: &ReceivedRequest| match asked.path.as_str() {
        "/respond" => (200, Vec::new(), "ok".to_owned()),
        _ => (
            404,
            Vec::new(),
            json!({"ok": false, "error": "used_url"}).to_string(),
        ),
    })
    .await;
    let api = api(&fake);
    let to = |path: &str| ReplyTo::new(format!("{}{path}", fake.url()));
    api.reply(&to("/respond"), true, false, &message())
        .await
        .unwrap();
    api.reply(&to("/respond"), false, true, &message())
        .await
        .unwrap();
    let asked = fake.asked();
    assert_eq!(asked[0].json()["response_type"], "in_channel");
    assert_eq!(asked[1].json()["response_type"], "ephemeral");
    assert_eq!(asked[1].json()["replace_original"], true);
    assert_eq!(
        asked[0].header("authorization"),
        "",
        "the token stays at home"
    );
    let used = api
        .reply(&to("/old"), true, false, &message())
        .await
        .unwrap_err();
    assert_eq!(used.word(), Some("used_url"));
    let elsewhere = ReplyTo::new("http://127.0.0.1:1/respond");
    let error = api
        .reply(&elsewhere, true, false, &message())
        .await
        .unwrap_err();
    assert!(matches!(error, ApiError::NotSlack(_)), "{error}");
}

#[tokio::test]
async fn files_go_up_in_three_steps() {
    let fake = Fake::start_with_url(|asked, url| match asked.path.as_str() {
        "/api/files.getUploadURLExternal" => ok(json!({
            "upload_url": format!("{url}/upload/v1/{}?x=1", asked.form("filename")),
            "file_id": format!("F-{}", asked.form("filename")),
        })),
        "/api/files.completeUploadExternal" => ok(json!({"files": [{"id": "F1"}]})),
        _ => (200, Vec::new(), "OK - 3".to_owned()),
    })
    .await;
    let file = |name: &str| Upload {
        name: name.to_owned(),
        title: format!("Title of {name}"),
        bytes: "é!".into(),
    };
    let files = [file("a.md"), file("b.json")];
    api(&fake)
        .upload("C1", Some("1.2"), "All of it", &files)
        .await
        .unwrap();
    let asked = fake.asked();
    assert_eq!(asked.len(), 5);
    assert_eq!(asked[0].form("length"), "3");
    assert_eq!(asked[1].path, "/upload/v1/a.md");
    assert_eq!(asked[1].body, "é!".as_bytes());
    assert_eq!(asked[1].header("authorization"), "");
    let last = &asked[4];
    assert_eq!(
        serde_json::from_str::<Value>(&last.form("files")).unwrap(),
        json!([
            {"id": "F-a.md", "title": "Title of a.md"},
            {"id": "F-b.json", "title": "Title of b.json"},
        ])
    );
    assert_eq!(
        (last.form("channel_id"), last.form("thread_ts")),
        ("C1".into(), "1.2".into())
    );

    let evil = Fake::start(|_| {
        ok(json!({"upload_url": "https://files.slack.com.evil.example/x", "file_id": "F1"}))
    })
    .await;
    let error = api(&evil).upload("C1", None, "", &files).await.unwrap_err();
    assert!(matches!(error, ApiError::NotSlack(_)), "{error}");
}

#[tokio::test]
async fn a_channel_is_shared_where_others_are_or_were_asked_to_come() {
    let fake = Fake::start(|asked: &ReceivedRequest| {
        let is_pending = asked.form("channel") == "C2";
        ok(json!({"channel": {"id": "C1", "is_ext_shared": false, "is_pending_ext_shared": is_pending}}))
    })
    .await;
    let api = api(&fake);
    assert!(!api.channel("C1").await.unwrap().is_shared());
    assert!(api.channel("C2").await.unwrap().is_shared());
}
