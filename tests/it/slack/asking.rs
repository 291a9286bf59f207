//! What people ask, and where they are answered.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt as _;
use futures::future::BoxFuture;
use serde_json::{Value, json};
use whathappened::fetch::FetchTargets;
use whathappened_model::connector::{Connector, FetchRequest, Health};
use whathappened_model::coverage::Coverage;
use whathappened_model::event::SourceKind;
use whathappened_model::sink::Sink;
use whathappened_model::time::Nanos;
use whathappened_slack::{Envelope, Kind};

use super::fake::Fake;
use super::{Setup, form, mention, number};
use crate::store::StoreFixture;

const NOW: &str = "2026-11-22T08:00:00Z";
const ALL: &str = "default = 'all'\npage = 'https://whathappened.example/{name}'";
const INPUT: &str = "fixtures/lab-cluster/input";

async fn setup(kept: &StoreFixture, config: &str) -> Setup {
    Setup::start(kept.folder.path(), Fake::start().await, config, NOW).await
}

/// The message's button of a name, as Slack sends it when it is clicked.
fn click(
    setup: &Setup,
    message: &Value,
    action: &str,
    channel: &str,
    is_ephemeral: bool,
) -> String {
    let blocks = message["blocks"].as_array().unwrap();
    let buttons = blocks.iter().filter(|block| block["type"] == "actions");
    let mut buttons = buttons.flat_map(|block| block["elements"].as_array().unwrap());
    let button = buttons
        .find(|button| button["action_id"] == action)
        .unwrap();
    let payload = json!({
        "type": "block_actions", "team": {"id": "T1"}, "user": {"id": "U1"},
        "channel": {"id": channel}, "trigger_id": number().to_string(),
        "container": {"type": "message", "message_ts": "1700000001.000100", "is_ephemeral": is_ephemeral},
        "response_url": format!("{}/respond", setup.fake.url),
        "actions": [{"action_id": action, "type": "button", "value": button["value"], "action_ts": "1.1"}],
    });
    form(&[("payload", &payload.to_string())])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_command_is_acknowledged_and_then_answered() {
    let kept = StoreFixture::of(&[INPUT]);
    let setup = setup(&kept, ALL).await;
    let acknowledged = setup.type_in("C1", "gpt2-small-7f3").await;
    assert_eq!(acknowledged["response_type"], "ephemeral");
    assert!(
        acknowledged["text"]
            .as_str()
            .unwrap()
            .contains("gpt2-small-7f3")
    );
    let reported = setup.fake.wait("respond", 1).await;
    let message = &reported[0].body;
    assert_eq!(message["response_type"], "in_channel");
    let text = message["text"].as_str().unwrap();
    assert!(
        text.contains("node stopped responding") && text.contains("Died first: "),
        "{text}"
    );
    assert!(
        reported[0]
            .text()
            .contains("https://whathappened.example/gpt2-small-7f3")
    );

    // A name that nothing bears brings the nearest ones, to the person alone.
    setup.type_in("C1", "gpt2-smal-7f3").await;
    let reported = setup.fake.wait("respond", 2).await;
    assert_eq!(reported[1].body["response_type"], "ephemeral");
    assert!(
        reported[1].text().contains("Did you mean"),
        "{}",
        reported[1].text()
    );
    // Help is the acknowledgement itself.
    let help = setup.type_in("C1", "").await;
    assert!(help.to_string().contains("/whathappened timeline NAME"));
    let help = setup.type_in("C1", "a b").await;
    assert!(
        help["text"]
            .as_str()
            .unwrap()
            .contains("Only one name is allowed")
    );
    assert_eq!(setup.fake.reported("respond").len(), 2);
    // Who asked what is written down.
    let audit = kept.folder.path().join("store/audit.ndjson");
    let audit = std::fs::read_to_string(audit).unwrap();
    assert!(
        audit.contains("\"face\":\"slack\"") && audit.contains("U1 in C1"),
        "{audit}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_mention_is_answered_in_its_thread_once() {
    let kept = StoreFixture::of(&[INPUT]);
    let first = setup(&kept, ALL).await;
    let body = mention("C1", "whathappened atari-dqn-42", "Ev-once", false);
    let (code, _) = first.send("slack/events", &body, &[]).await;
    assert_eq!(code, 200);
    let reported = first.fake.wait("chat.postMessage", 1).await;
    assert_eq!(reported[0].body["thread_ts"], "1700000000.000100");
    assert!(
        reported[0].body["text"]
            .as_str()
            .unwrap()
            .contains("atari-dqn-42")
    );
    // Slack did not hear us in time, and sends it again with a signature of then.
    let retry = [
        ("x-slack-retry-num", "1".to_owned()),
        ("x-slack-retry-reason", "http_timeout".to_owned()),
    ];
    assert_eq!(first.send("slack/events", &body, &retry).await.0, 200);
    let later = format!("{body} ");
    assert_eq!(first.send("slack/events", &later, &retry).await.0, 200);
    drop(first);
    // Nor does a new process answer it again.
    let second = setup(&kept, ALL).await;
    let again = format!("{body}  ");
    assert_eq!(second.send("slack/events", &again, &retry).await.0, 200);
    second.mention("C1", "robot-hand-sim").await;
    let reported = second.fake.wait("chat.postMessage", 1).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(second.fake.reported("chat.postMessage").len(), 1);
    assert!(
        reported[0].body["text"]
            .as_str()
            .unwrap()
            .contains("robot-hand-sim")
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn buttons_tell_more_in_the_thread() {
    let kept = StoreFixture::of(&[INPUT]);
    let setup = setup(&kept, ALL).await;
    setup.type_in("C1", "gpt2-small-7f3").await;
    let message = setup.fake.wait("respond", 1).await[0].body.clone();
    let why = click(&setup, &message, "why", "C1", false);
    assert_eq!(setup.send("slack/interactivity", &why, &[]).await.0, 200);
    let reported = setup.fake.wait("chat.postMessage", 1).await;
    assert_eq!(reported[0].body["thread_ts"], "1700000001.000100");
    assert!(
        reported[0].text().contains("Evidence"),
        "{}",
        reported[0].text()
    );
    // The very same click again is none.
    let retry = [("x-slack-retry-num", "1".to_owned())];
    assert_eq!(setup.send("slack/interactivity", &why, &retry).await.0, 200);
    let timeline = click(&setup, &message, "timeline", "C1", false);
    assert_eq!(
        setup.send("slack/interactivity", &timeline, &[]).await.0,
        200
    );
    let reported = setup.fake.wait("chat.postMessage", 2).await;
    assert!(reported[1].text().contains("Timeline of"));
    // It is long, so the whole of it is a file.
    let done = setup.fake.wait("files.completeUploadExternal", 1).await;
    assert!(
        done[0].text().contains("1700000001.000100"),
        "{}",
        done[0].text()
    );
    let file = click(&setup, &message, "file", "C1", false);
    assert_eq!(setup.send("slack/interactivity", &file, &[]).await.0, 200);
    setup.fake.wait("files.completeUploadExternal", 2).await;
    assert_eq!(setup.fake.reported("files.getUploadURLExternal").len(), 3);
    assert_eq!(setup.fake.reported("chat.postMessage").len(), 2);
    // A message that one person sees has no thread; the answer comes the same way.
    let alone = click(&setup, &message, "why", "C1", true);
    assert_eq!(setup.send("slack/interactivity", &alone, &[]).await.0, 200);
    let reported = setup.fake.wait("respond", 2).await;
    assert_eq!(reported[1].body["replace_original"], false);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_one_way_is_closed_another_is_taken() {
    let kept = StoreFixture::of(&[INPUT]);
    let setup = setup(&kept, ALL).await;
    setup.type_in("C1", "gpt2-small-7f3").await;
    let message = setup.fake.wait("respond", 1).await[0].body.clone();
    // The app is not in the channel: a click is answered by its own address.
    setup.fake.refuse("chat.postMessage", "not_in_channel");
    setup
        .fake
        .refuse("files.completeUploadExternal", "not_in_channel");
    let why = click(&setup, &message, "why", "C1", false);
    assert_eq!(setup.send("slack/interactivity", &why, &[]).await.0, 200);
    setup.fake.wait("respond", 2).await;
    let file = click(&setup, &message, "file", "C1", false);
    assert_eq!(setup.send("slack/interactivity", &file, &[]).await.0, 200);
    let reported = setup.fake.wait("chat.postEphemeral", 1).await;
    assert!(
        reported[0].text().contains("invite the app"),
        "{}",
        reported[0].text()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_address_that_is_used_up_is_no_end() {
    let kept = StoreFixture::of(&[INPUT]);
    let setup = setup(&kept, ALL).await;
    setup.fake.refuse("respond", "expired_url");
    setup.type_in("C1", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("chat.postMessage", 1).await;
    assert_eq!(reported[0].body["channel"], "C1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_socket_brings_the_same_once() {
    let kept = StoreFixture::of(&[INPUT]);
    let setup = setup(&kept, ALL).await;
    let handler = setup.slack.handler();
    let envelope = |kind, payload| Envelope {
        id: "1".to_owned(),
        kind,
        payload,
        takes_answer: true,
    };
    let command = json!({
        "team_id": "T1", "channel_id": "C1", "channel_name": "training", "user_id": "U1",
        "command": "/whathappened", "text": "gpt2-small-7f3", "trigger_id": "7.7",
        "response_url": format!("{}/respond", setup.fake.url),
    });
    let acknowledged = handler
        .take(envelope(Kind::Command, command.clone()))
        .await
        .unwrap();
    assert_eq!(acknowledged["response_type"], "ephemeral");
    setup.fake.wait("respond", 1).await;
    assert_eq!(
        handler.take(envelope(Kind::Command, command)).await,
        Some(Value::Null)
    );
    let event: Value =
        serde_json::from_str(&mention("C1", "robot-hand-sim", "EvS", false)).unwrap();
    for _ in 0..2 {
        assert_eq!(
            handler.take(envelope(Kind::Event, event.clone())).await,
            Some(Value::Null)
        );
    }
    setup.fake.wait("chat.postMessage", 1).await;
    for kind in [Kind::Command, Kind::Event, Kind::Interaction, Kind::Other] {
        assert!(handler.take(envelope(kind, json!([]))).await.is_some());
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_eq!(setup.fake.reported("chat.postMessage").len(), 1);
    assert_eq!(setup.fake.reported("respond").len(), 1);
}

/// All at once, while four can be worked on at a time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_commands_are_acknowledged_in_time() {
    let kept = StoreFixture::of(&[INPUT]);
    let setup = setup(&kept, ALL).await;
    let names = [
        "gpt2-small-7f3",
        "atari-dqn-42",
        "robot-hand-sim",
        "dota-5v5-scale",
    ];
    let start = Instant::now();
    let sent = (0..200).map(|at| {
        let body = setup.command(&format!("C{at}"), names[at % names.len()]);
        let setup = &setup;
        // Each is looked at for whether it came within 3 s.
        async move { setup.send("slack/commands", &body, &[]).await.0 }
    });
    let codes = futures::future::join_all(sent).await;
    let acknowledged = start.elapsed();
    assert!(codes.iter().all(|code| *code == 200));
    setup.fake.wait("respond", 200).await;
    println!(
        "acknowledged in {acknowledged:?}, answered in {:?}",
        start.elapsed()
    );
}

/// A source that takes its time and has nothing.
#[derive(Debug)]
struct Slow;

impl Connector for Slow {
    fn name(&self) -> &'static str {
        "slow"
    }

    fn place(&self) -> &'static str {
        "slow"
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Loki
    }

    fn check(&self, _: Nanos, _: Instant) -> BoxFuture<'_, Health> {
        async { Health::default() }.boxed()
    }

    fn fetch<'a>(
        &'a self,
        _: &'a FetchRequest,
        _: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        async {
            tokio::time::sleep(Duration::from_secs(5)).await;
            Vec::new()
        }
        .boxed()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_takes_longer_says_so_and_is_answered_in_its_place() {
    let kept = StoreFixture::of(&[INPUT]);
    let mut asked = FetchTargets::default();
    asked.sources.usable.push(Arc::new(Slow));
    let folder = kept.folder.path();
    let setup = Setup::asking(folder, Fake::start().await, ALL, NOW, asked).await;
    setup.mention("C1", "gpt2-small-7f3").await;
    let reported = setup.fake.wait("chat.postMessage", 1).await;
    assert!(
        reported[0].text().contains("Still looking"),
        "{}",
        reported[0].text()
    );
    let reported = setup.fake.wait("chat.update", 1).await;
    assert!(
        reported[0].text().contains("Died first: "),
        "{}",
        reported[0].text()
    );
    assert_eq!(setup.fake.reported("chat.postMessage").len(), 1);
}
