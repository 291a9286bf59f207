//! The real one, where the environment names a project; it is only read, with
//! some twenty requests: `E2E_GCP_PROJECT`, `E2E_GCP_NODE` and the usual credentials.

use std::env;
use std::time::SystemTime;

use super::*;

#[expect(
    clippy::disallowed_methods,
    reason = "a test of the present asks the clock"
)]
fn now() -> Nanos {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    Nanos::try_from(since.unwrap().as_nanos()).unwrap()
}

#[tokio::test]
async fn e2e_gcp() {
    let Ok(project) = env::var("E2E_GCP_PROJECT") else {
        whathappened_loopback::skipped("no E2E_GCP_PROJECT");
        return;
    };
    let mut options = GcpOptions::from_env(&|name| env::var(name).ok());
    options.projects = vec![project.clone()];
    options.requests_per_question = 10;
    let gcp = Gcp::open(options, Arc::new(now)).unwrap();
    let health = gcp.check(now(), soon()).await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
    let mut fetch_request = about(Vec::new());
    fetch_request.now = now();
    fetch_request.window = Window::default();
    if let Ok(name) = env::var("E2E_GCP_NODE") {
        fetch_request.scope.nodes.push(Entity {
            name,
            ..Entity::default()
        });
    }
    let (emitted, rows) = fetch(&gcp, &fetch_request).await;
    println!("{} observations, {rows:#?}", emitted.len());
    let activity = row(&rows, "activity", &project);
    assert!(activity.asked_from.is_some());
    for event in events(&emitted) {
        assert!(event.fact.starts_with("cloud."), "{}", event.fact);
    }
}
