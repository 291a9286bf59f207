//! Channels that are told when an experiment loses a pod.

use std::time::Duration;

use super::Setup;
use super::fake::Fake;
use crate::store::StoreFixture;

const INPUT: &str = "fixtures/lab-cluster/input";
/// Before the recording, so that what it holds is news.
const BEFORE: &str = "2026-11-01T00:00:00Z";
const AFTER: &str = "2026-12-01T00:00:00Z";
const ALL: &str = "default = 'all'";

async fn pause() {
    tokio::time::sleep(Duration::from_millis(2_500)).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_channel_is_told_once_and_again_where_the_verdict_changes() {
    // What the cluster still had, without who did it.
    let kept = StoreFixture::of(&[
        "fixtures/lab-cluster/input/pods-list.json.gz",
        "fixtures/lab-cluster/input/watch-pods.ndjson.gz",
        "fixtures/lab-cluster/input/jobs-list.json.gz",
    ]);
    let fake = Fake::start().await;
    let setup = Setup::start(kept.folder.path(), fake.clone(), ALL, BEFORE).await;
    setup.type_in("C1", "subscribe gpt2-small-7f3").await;
    let reported = fake.wait("respond", 1).await;
    assert!(
        reported[0].text().contains("will be notified when"),
        "{}",
        reported[0].text()
    );
    let reported = fake.wait("chat.postMessage", 1).await;
    assert_eq!(reported[0].body["channel"], "C1");
    let first = reported[0].body["text"].as_str().unwrap().to_owned();
    assert!(first.contains("gpt2-small-7f3"), "{first}");
    pause().await;
    // One incident is one message, however many pods it took.
    assert_eq!(fake.reported("chat.postMessage").len(), 1);
    drop(setup);

    // A restart tells nothing again, and more evidence changes what was told.
    let setup = Setup::start(kept.folder.path(), fake.clone(), ALL, BEFORE).await;
    pause().await;
    assert_eq!(fake.reported("chat.postMessage").len(), 1);
    assert_eq!(fake.reported("chat.update").len(), 0);
    let (code, _, err) = kept.run(&["import", INPUT]);
    assert_eq!(code, Some(0), "{err}");
    let changed = fake.wait("chat.update", 1).await;
    assert_eq!(changed[0].body["channel"], "C1");
    assert!(
        changed[0].body["ts"]
            .as_str()
            .unwrap()
            .starts_with("18000000")
    );
    let text = changed[0].body["text"].as_str().unwrap();
    assert!(text.contains("node stopped responding"), "{text}");
    assert_ne!(text, first);
    assert_eq!(fake.reported("chat.postMessage").len(), 1);

    let listed = setup.type_in("C1", "subscriptions").await;
    assert_eq!(listed["response_type"], "ephemeral");
    let reported = fake.wait("respond", 2).await;
    assert!(
        reported[1].text().contains("gpt2-small-7f3"),
        "{}",
        reported[1].text()
    );
    setup.type_in("C2", "unsubscribe gpt2-small-7f3").await;
    let reported = fake.wait("respond", 3).await;
    assert!(
        reported[2].text().contains("was not subscribed to"),
        "{}",
        reported[2].text()
    );
    setup.type_in("C1", "unsubscribe gpt2-small-7f3").await;
    let reported = fake.wait("respond", 4).await;
    assert!(
        reported[3].text().contains("no longer notified"),
        "{}",
        reported[3].text()
    );
    setup.type_in("C1", "subscriptions").await;
    let reported = fake.wait("respond", 5).await;
    assert!(
        reported[4].text().contains("has no subscriptions"),
        "{}",
        reported[4].text()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_happened_before_is_no_news() {
    let kept = StoreFixture::of(&[INPUT]);
    let fake = Fake::start().await;
    let setup = Setup::start(kept.folder.path(), fake.clone(), ALL, AFTER).await;
    setup.type_in("C1", "subscribe gpt2-small-7f3").await;
    fake.wait("respond", 1).await;
    // A name that nothing bears yet may be about to start.
    setup.type_in("C1", "subscribe gpt2-small-7f4").await;
    let reported = fake.wait("respond", 2).await;
    assert!(
        reported[1].text().contains("was found so far"),
        "{}",
        reported[1].text()
    );
    pause().await;
    assert_eq!(fake.reported("chat.postMessage").len(), 0);
}
