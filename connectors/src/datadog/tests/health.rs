//! What a check says.

use super::server::{Server, StoredRecord};
use super::*;
use crate::connector::Verdict;
use crate::log_store::LogStore as _;
use whathappened_loopback::Reply;

const NOW: Nanos = START + 30 * MINUTE;

fn server() -> Server {
    Server {
        logs: vec![
            StoredRecord::line(1, 0, -86_400_000, "old"),
            StoredRecord::line(2, 0, 5, "new"),
        ],
        tiers: vec!["indexes"],
        rate: Some((300, 1800)),
        ..Server::default()
    }
}

#[tokio::test]
async fn a_check_names_permissions_tiers_rate_and_clock() {
    let fake = server().start();
    let health = store(&fake).check(NOW, soon()).await;
    assert_eq!(health.unreachable, None);
    let verdicts: Vec<_> = health.permissions.iter().map(|one| one.verdict).collect();
    assert_eq!(
        verdicts,
        [Verdict::Allowed, Verdict::Unknown, Verdict::Allowed]
    );
    for (permission, words) in
        health
            .permissions
            .iter()
            .zip(["logs_read_data", "flex", "events_read"])
    {
        assert!(permission.what.contains(words), "{permission:?}");
    }
    assert_eq!(health.reaches_back_to, Some(START - 86_400_000 * MS));
    assert!(health.skew.unwrap().by.abs() < 5 * MINUTE / 60);
    assert!(
        health
            .notes
            .iter()
            .any(|note| note.contains("of 300 requests")),
        "{:?}",
        health.notes
    );
    assert_eq!(fake.requests().len(), 4);
}

#[tokio::test]
async fn a_wrong_key_is_told_from_another() {
    let fake = server().start();
    let health = store_with(&fake, |options| options.api_key = Some("wrong".into()))
        .check(NOW, soon())
        .await;
    assert!(health.unreachable.unwrap().contains("DD_API_KEY"));
    assert_eq!(fake.requests().len(), 1);

    let health = store_with(&fake, |options| {
        options.application_key = Some("wrong".into());
    })
    .check(NOW, soon())
    .await;
    assert_eq!(health.unreachable, None);
    let denied = &health.permissions[0];
    assert_eq!(denied.verdict, Verdict::Denied);
    assert!(denied.detail.as_deref().unwrap().contains("DD_APP_KEY"));
    assert!(!format!("{health:?}").contains("app-key"));
}

#[tokio::test]
async fn a_proxy_that_drops_headers_and_one_that_is_none_are_told() {
    let fake = Server {
        rate: None,
        ..server()
    }
    .start();
    let health = store(&fake).check(NOW, soon()).await;
    assert!(
        health
            .notes
            .iter()
            .any(|note| note.contains("no rate limit"))
    );
    let fake = Server {
        fault: Some(Box::new(|_, _| {
            Some(Reply::Text(200, "<html><title>Sign in</title>".to_owned()))
        })),
        ..Server::default()
    }
    .start();
    let health = store(&fake).check(NOW, soon()).await;
    assert!(health.unreachable.unwrap().contains("Sign in"));
}
