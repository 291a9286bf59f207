//! No secret is in anything that Slack is told: messages, ephemeral answers, files and buttons.

use std::time::Duration;

use serde_json::{Value, json};

use super::fake::Fake;
use super::{Setup, form, number};
use crate::canary::{Seen, planted, some};
use crate::store::StoreFixture;

/// Of so many kinds one is planted: each run is asked by itself.
const EVERY: usize = 8;
/// Runs that are asked, one for every kind of those.
const RUNS: usize = 6;

/// How long an answer over so many records may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// All buttons of a message, as Slack sends them when somebody clicks.
fn clicks(setup: &Setup, message: &Value) -> Vec<String> {
    let empty = Vec::new();
    let blocks = message["blocks"].as_array().unwrap_or(&empty);
    let buttons = blocks.iter().filter(|block| block["type"] == "actions");
    let buttons = buttons.flat_map(|block| block["elements"].as_array().into_iter().flatten());
    let clicked = buttons.filter(|button| button["value"].is_string());
    let clicked = clicked.map(|button| {
        let payload = json!({
            "type": "block_actions", "team": {"id": "T1"}, "user": {"id": "U1"},
            "channel": {"id": "C1"}, "trigger_id": number().to_string(),
            "container": {"type": "message", "message_ts": "1700000001.000100", "is_ephemeral": false},
            "response_url": format!("{}/respond", setup.fake.url),
            "actions": [{"action_id": button["action_id"], "type": "button", "value": button["value"], "action_ts": "1.1"}],
        });
        form(&[("payload", &payload.to_string())])
    });
    clicked.collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_canary_leaves_by_slack() {
    let kinds = some(EVERY);
    let planted = planted::plant(&kinds, 1);
    let folder = tempfile::tempdir().unwrap();
    planted.write(folder.path());
    let kept = StoreFixture::of(&[folder.path().to_str().unwrap()]);
    let config = "default = 'all'\npage = 'https://whathappened.example/{name}'";
    let fake = Fake::start().await;
    let setup = Setup::start(kept.folder.path(), fake, config, "2026-11-22T08:00:00Z").await;
    let mut seen = Seen::of(&kinds, &planted);
    let runs = (0..kinds.len()).step_by(kinds.len().div_ceil(RUNS));
    for (asked, run) in runs.enumerate() {
        let answer = setup.type_in("C1", &format!("k{run:03}")).await;
        seen.look("acknowledgement", answer.to_string().as_bytes());
        setup.fake.wait_for("respond", asked + 1, PATIENCE).await;
    }
    let messages = setup.fake.reported("respond");
    for message in messages.iter().take(4) {
        for click in clicks(&setup, &message.body) {
            let (_, answer) = setup.send("slack/interactivity", &click, &[]).await;
            seen.look("interactivity", answer.to_string().as_bytes());
        }
    }
    for text in [
        "timeline k000",
        "node gpu-000",
        "why k000",
        "upcoming",
        "experiments",
    ] {
        let answer = setup.type_in("C1", text).await;
        seen.look("acknowledgement", answer.to_string().as_bytes());
    }
    setup.mention("C2", "k000").await;
    setup.fake.wait_for("chat.postMessage", 3, PATIENCE).await;
    let file = "files.completeUploadExternal";
    setup.fake.wait_for(file, 1, PATIENCE).await;
    tokio::time::sleep(Duration::from_secs(3)).await;
    for message in setup.fake.all() {
        seen.look(&message.what, message.text().as_bytes());
    }
    // What somebody types is said back to them, as their own words; nothing of it is kept.
    for text in planted.statements.iter().take(40) {
        setup.mention("C1", text).await;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    seen.files(kept.folder.path());
    for way in ["respond", "chat.postMessage"] {
        assert!(seen.told.contains_key(way), "{way}: {:?}", seen.told);
    }
    seen.end("Slack");
}
