//! What is not believed, and what is not told.

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::fake::Fake;
use super::{SECRET, Setup, mention, sign};
use crate::store::StoreFixture;

const NOW: &str = "2026-11-22T08:00:00Z";
const INPUT: &str = "fixtures/lab-cluster/input";

async fn setup(kept: &StoreFixture, config: &str) -> Setup {
    Setup::start(kept.folder.path(), Fake::start().await, config, NOW).await
}

/// Has a script of `tests/slack` work on lines; none where Slack's SDK is absent.
/// `SLACK_SDK_PYTHON` names the Python that has it.
pub(super) fn python(script: &str, lines: &[Value]) -> Option<Vec<Value>> {
    let python = std::env::var("SLACK_SDK_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let started = Command::new(python)
        .arg(format!("tests/slack/{script}.py"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let Ok(mut child) = started else {
        whathappened_loopback::skipped("no slack_sdk");
        return None;
    };
    let mut input = String::new();
    for line in lines {
        input.push_str(&format!("{line}\n"));
    }
    let mut stdin = child.stdin.take().unwrap();
    // A script that skips does not read.
    let writing = std::thread::spawn(move || stdin.write_all(input.as_bytes()));
    let output = child.wait_with_output().unwrap();
    let _closed = writing.join().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    if text.contains("skipped: no slack_sdk") {
        whathappened_loopback::skipped("no slack_sdk");
        return None;
    }
    assert!(output.status.success(), "{text}");
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    Some(lines.collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_what_slack_signed_is_taken() {
    let kept = StoreFixture::of(&[INPUT]);
    let setup = setup(&kept, "default = 'all'").await;
    let body = setup.command("C1", "gpt2-small-7f3");
    let time = setup.now.to_string();
    let headers = |time: &str, signature: String| {
        [
            ("x-slack-request-timestamp", time.to_owned()),
            ("x-slack-signature", signature),
        ]
    };
    let path = "slack/commands";
    for (wrong, says) in [
        (
            headers(&time, sign("another", &time, &body)),
            "does not match the body",
        ),
        (
            headers(&time, sign(SECRET, &time, "x")),
            "does not match the body",
        ),
        (
            headers("1795000000", sign(SECRET, "1795000000", &body)),
            "check the clock",
        ),
        (headers("soon", sign(SECRET, "soon", &body)), "no valid"),
        (headers(&time, String::new()), "no valid"),
    ] {
        let (code, why) = setup.send_as(path, &body, &wrong).await;
        assert_eq!(code, 401);
        assert!(why.as_str().unwrap().contains(says), "{why}");
    }
    for path in ["slack/commands", "slack/events", "slack/interactivity"] {
        assert_eq!(setup.send_as(path, &body, &[]).await.0, 401, "{path}");
    }
    // The same once more, by whoever overheard it.
    let good = headers(&time, sign(SECRET, &time, &body));
    assert_eq!(setup.send_as(path, &body, &good).await.0, 200);
    let (code, why) = setup.send_as(path, &body, &good).await;
    assert_eq!(code, 401);
    assert!(
        why.as_str().unwrap().contains("was received before"),
        "{why}"
    );
    setup.fake.wait("respond", 1).await;
    assert_eq!(setup.fake.reported("respond").len(), 1);
    // Nobody signs the question for a certificate; a large body is not read.
    assert_eq!(setup.send_as(path, "ssl_check=1&token=x", &[]).await.0, 200);
    let large = "x".repeat(2 << 20);
    assert!(matches!(setup.send(path, &large, &[]).await.0, 0 | 413));
    // What is signed and not understood is acknowledged: sending it again helps nobody.
    for path in ["slack/commands", "slack/events", "slack/interactivity"] {
        let body = format!("a={path}");
        assert_eq!(setup.send(path, &body, &[]).await.0, 200, "{path}");
    }
    let challenge = json!({"type": "url_verification", "challenge": "abc", "token": "x"});
    let (code, answer) = setup
        .send("slack/events", &challenge.to_string(), &[])
        .await;
    assert_eq!((code, &answer["challenge"]), (200, &json!("abc")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_slacks_own_sdk_signs_is_taken() {
    let kept = StoreFixture::of(&[INPUT]);
    let setup = setup(&kept, "default = 'all'").await;
    let time = setup.now.to_string();
    let bodies: Vec<String> = ["gpt2-small-7f3", "é漢🚀 <&>", "", "a b"]
        .iter()
        .map(|text| setup.command("C1", text))
        .chain([mention("C1", "é漢🚀", "EvSdk", false)])
        .collect();
    let lines: Vec<Value> = bodies
        .iter()
        .map(|body| json!({"secret": SECRET, "time": time, "body": body}))
        .collect();
    let Some(signed) = python("sign", &lines) else {
        return;
    };
    assert_eq!(signed.len(), bodies.len());
    for (body, line) in bodies.iter().zip(&signed) {
        let signature = line["signature"].as_str().unwrap().to_owned();
        let headers = [
            ("x-slack-request-timestamp", time.clone()),
            ("x-slack-signature", signature),
        ];
        let path = if body.starts_with('{') {
            "slack/events"
        } else {
            "slack/commands"
        };
        let altered = format!("{body} ");
        assert_eq!(setup.send_as(path, &altered, &headers).await.0, 401);
        assert_eq!(setup.send_as(path, body, &headers).await.0, 200);
        assert_eq!(setup.send_as(path, body, &headers).await.0, 401, "a replay");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_place_may_not_see_is_not_told() {
    let kept = StoreFixture::of(&[INPUT]);
    let config = "[slack.channels]\nC-ALL = 'all'\nC-OTHER = ['elsewhere']\nC-SHARED = 'all'\n[slack.users]\nU9 = 'none'\n";
    let setup = setup(&kept, config).await;
    // Nothing is configured for this one.
    setup.type_in("C-NONE", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("respond", 1).await;
    assert_eq!(reported[0].body["response_type"], "ephemeral");
    assert!(
        reported[0].text().contains("[slack.channels]"),
        "{}",
        reported[0].text()
    );
    // Another namespace is as good as not there, its names too.
    setup.type_in("C-OTHER", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("respond", 2).await;
    assert!(
        reported[1]
            .text()
            .contains("Nothing visible in this channel"),
        "{}",
        reported[1].text()
    );
    assert!(
        !reported[1].text().contains("Did you mean"),
        "{}",
        reported[1].text()
    );
    setup.type_in("C-ALL", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("respond", 3).await;
    assert_eq!(reported[2].body["response_type"], "in_channel");
    // Other firms are in this one.
    setup.type_in("C-SHARED", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("respond", 4).await;
    assert!(
        reported[3]
            .text()
            .contains("people from other organisations"),
        "{}",
        reported[3].text()
    );
    let body = mention("C-ALL", "gpt2-small-7f3", "EvShared", true);
    assert_eq!(setup.send("slack/events", &body, &[]).await.0, 200);
    let reported = setup.fake.wait("chat.postEphemeral", 1).await;
    assert!(
        reported[0]
            .text()
            .contains("people from other organisations")
    );
    assert_eq!(setup.fake.reported("chat.postMessage").len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_a_persons_own_is_told_to_them_alone() {
    let kept = StoreFixture::of(&[INPUT]);
    let config = "shared_channels = 'redact'\n[slack.users]\nU1 = 'all'\n";
    let setup = setup(&kept, config).await;
    setup.type_in("C1", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("respond", 1).await;
    assert_eq!(reported[0].body["response_type"], "ephemeral");
    assert!(reported[0].text().contains("node stopped responding"));
    setup.mention("C1", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("chat.postEphemeral", 1).await;
    assert_eq!(reported[0].body["user"], "U1");
    setup.mention("C1", "file gpt2-small-7f3").await;
    let reported = setup.fake.wait("chat.postEphemeral", 2).await;
    assert!(
        reported[1].text().contains("only for you"),
        "{}",
        reported[1].text()
    );
    setup.mention("C1", "subscribe gpt2-small-7f3").await;
    let reported = setup.fake.wait("chat.postEphemeral", 3).await;
    assert!(
        reported[2].text().contains("cannot be notified"),
        "{}",
        reported[2].text()
    );
    // In a channel with other firms, names are left out.
    setup.type_in("C-SHARED", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("respond", 2).await;
    assert!(
        reported[1].text().contains("node.not_ready"),
        "{}",
        reported[1].text()
    );
    assert!(
        !reported[1].text().contains("gpt2"),
        "{}",
        reported[1].text()
    );
    assert_eq!(setup.fake.reported("files.completeUploadExternal").len(), 0);
}
