//! What `doctor` asks.

use serde_json::json;

use super::fake::{self, allowed};
use super::*;
use crate::connector::{Connector, Verdict};

#[tokio::test]
async fn rights_clock_and_reach() {
    let (fake, cluster) = cluster(|request| {
        if let Some(reviewed) = fake::reviewed(request) {
            let denied = ["list nodes", "watch nodes", "watch pods", "get pods/log"];
            return Some(allowed(!denied.contains(&reviewed.as_str())));
        }
        (request.path == "/api/v1/events").then(|| {
            let mut body = fake::body(include_str!("../testdata/events_core_page1.json"));
            body["metadata"] = json!({});
            Reply::Json(200, body)
        })
    })
    .await;
    // Our clock is two minutes behind the server's.
    let behind = now() - 120 * SECOND;
    let health = cluster.check(behind, soon()).await;
    assert_eq!(health.unreachable, None);
    assert_eq!(health.place, fake.url());
    let skew = health.skew.unwrap();
    assert!((skew.by - 120 * SECOND).abs() <= skew.within, "{skew:?}");
    let verdict = |what: &str| {
        let found = health.permissions.iter().find(|one| one.what == what);
        found.map(|one| one.verdict)
    };
    assert_eq!(
        verdict("list, watch nodes at cluster scope (apiGroup \"\")"),
        Some(Verdict::Denied)
    );
    assert_eq!(
        verdict("list pods at cluster scope (apiGroup \"\")"),
        Some(Verdict::Allowed)
    );
    assert_eq!(
        verdict("watch pods at cluster scope (apiGroup \"\")"),
        Some(Verdict::Denied)
    );
    assert_eq!(
        verdict("list, watch jobs at cluster scope (apiGroup \"batch\")"),
        Some(Verdict::Allowed)
    );
    assert_eq!(
        verdict("get pods/log at cluster scope (apiGroup \"\")"),
        Some(Verdict::Denied)
    );
    assert_eq!(
        verdict("get pods/log in namespace research (apiGroup \"\")"),
        Some(Verdict::Allowed)
    );
    assert!(health.reaches_back_to.is_some_and(|at| at < now()));
}

#[tokio::test]
async fn a_server_that_went_away_is_told() {
    let gone = std::sync::atomic::AtomicBool::new(false);
    let (_fake, cluster) = cluster(move |request| {
        // Connecting asks twice for the version; what follows is the check.
        if request.path == "/api/v1/namespaces/kube-system" {
            gone.store(true, Ordering::Relaxed);
            return None;
        }
        gone.load(Ordering::Relaxed)
            .then(|| fake::status(401, "Unauthorized", "Unauthorized", None))
    })
    .await;
    let connector: &dyn Connector = &cluster;
    let health = connector.check(now(), soon()).await;
    assert!(health.unreachable.unwrap().contains("401"));
    assert!(health.permissions.is_empty());
}
