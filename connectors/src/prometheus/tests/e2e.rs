//! Against a Prometheus of one's own, where `E2E_PROMETHEUS_URL` names one. It is only read.

use std::time::{Duration, Instant};

use super::source::requested;
use crate::connector::{Connector as _, Entity, FetchRequest, Scope, Window};
use crate::prometheus::{Prometheus, PrometheusOptions};
use crate::time::SECOND;

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a real server has the present time"
)]
async fn e2e_a_prometheus_of_ones_own() {
    let get = |name: &str| std::env::var(format!("E2E_{name}")).ok();
    if get("PROMETHEUS_URL").is_none() {
        whathappened_loopback::skipped("E2E_PROMETHEUS_URL is not set");
        return;
    }
    let source = Prometheus::new(&PrometheusOptions::from_env(&get)).unwrap();
    let now = chrono::Utc::now().timestamp_nanos_opt().unwrap();
    let deadline = Instant::now() + Duration::from_secs(60);
    let health = source.check(now, deadline).await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
    let node = |name: String| Entity {
        name,
        moments: vec![now - 1_800 * SECOND],
        ..Entity::default()
    };
    let fetch_request = FetchRequest {
        scope: Scope {
            nodes: get("NODE").map(node).into_iter().collect(),
            ..Scope::default()
        },
        window: Window::default(),
        now,
        deadline,
    };
    let (events, rows) = requested(&source, &fetch_request).await;
    for event in events {
        println!("{} {:?} {:?}", event.fact, event.time, event.message);
    }
    println!("{rows:#?}");
}
