//! Nothing of a namespace that a channel may not see is told in it.

use super::Setup;
use super::fake::Fake;
use crate::leaks::{MARK, clean_text, service_beside};
use crate::leaks_of_kinds::write;

/// How long whatever is told may take.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_another_namespace_is_told_in_a_channel() {
    let service = tokio::task::spawn_blocking(|| service_beside("", &write));
    let (_folder, service) = service.await.unwrap();
    let config = "[slack.channels]\nC1 = ['team-a']\n";
    let fake = Fake::start().await;
    let folder = service.folder.path();
    let setup = Setup::start(folder, fake, config, "2026-11-22T08:00:00Z").await;
    let own = [
        "exp",
        "train",
        "train-0",
        "*",
        "timeline exp",
        "why exp",
        "node shared-node",
        "node/shared-node",
        "upcoming",
        "upcoming exp",
        "experiments",
        "report",
        "subscribe exp",
        "subscriptions",
        "tra",
    ];
    for (asked, text) in own.iter().enumerate() {
        let told = setup.type_in("C1", text).await;
        clean_text(&told.to_string(), text);
        if asked == 0 {
            setup.fake.wait("respond", 1).await;
        }
    }
    setup.mention("C1", "whathappened exp").await;
    setup.fake.wait("chat.postMessage", 1).await;
    tokio::time::sleep(PATIENCE).await;
    let told = setup.fake.all();
    for message in &told {
        clean_text(&message.text(), "slack");
    }
    let of_own = told.iter().filter(|message| message.text().contains("exp"));
    assert!(of_own.count() > 2, "{told:?}");
    // Names of the other namespace, which it takes to know them: they are said back, and no other.
    for name in [
        "{}exp",
        "{}k000",
        "{}-team",
        "namespace/{}-team",
        "pod/{}-team/{}train-0",
    ] {
        let name = name.replace("{}", MARK);
        let before = setup.fake.all().len();
        let told = setup.type_in("C1", &name).await;
        clean_text(&told.to_string().replace(&name, ""), "slack");
        tokio::time::sleep(PATIENCE).await;
        for message in setup.fake.all().iter().skip(before) {
            clean_text(&message.text().replace(&name, ""), "slack");
        }
    }
}
