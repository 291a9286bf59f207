//! Slack's button leads to the record that the verdict rests on, in three clicks.

use std::time::Duration;

use super::Setup;
use super::fake::Fake;
use crate::pages::three_clicks;
use crate::service::Service;
use crate::store::StoreFixture;

const PUBLIC: &str = "https://w.example.com";

/// The first click is on the message's own button; how long all three take is printed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn three_clicks_lead_from_a_message_to_the_roots_own_record() {
    let kept = StoreFixture::of(&["fixtures/lab-cluster/input"]);
    let config = format!("default = 'all'\n[serve]\npublic_url = '{PUBLIC}'");
    let now = "2026-11-22T08:00:00Z";
    let setup = Setup::start(kept.folder.path(), Fake::start().await, &config, now).await;
    setup.type_in("C1", "gpt2-small-7f3").await;
    let told = setup.fake.wait("respond", 1).await;
    let blocks = told[0].body["blocks"].as_array().unwrap();
    let buttons = blocks
        .iter()
        .filter_map(|block| block["elements"].as_array())
        .flatten();
    let link = buttons.filter_map(|button| button["url"].as_str()).next();
    let path = link.unwrap().strip_prefix(PUBLIC).unwrap();
    assert!(path.starts_with("/i/"), "{path}");
    // The pages are opened as on the service's own machine, by another process over the same store.
    let (path, store) = (path.to_owned(), kept.folder.path().join("store"));
    let followed = tokio::task::spawn_blocking(move || {
        let folder = tempfile::tempdir().unwrap();
        let service = Service::over(store.to_str().unwrap(), "", &["--no-fetch"], folder, &[]);
        let base = service.base();
        three_clicks(&base, &format!("{base}{path}"))
    });
    let Some((record, took)) = followed.await.unwrap() else {
        return;
    };
    println!("from Slack's message to the record of the root: {took:?}");
    assert!(record.contains("NodeStatusUnknown"), "{record}");
    // Nobody waits a minute for what is there; what a machine can do is measured by `benches/browser.py`.
    assert!(took < Duration::from_secs(60), "{took:?}");
}
