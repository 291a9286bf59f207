//! A real server, only read.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::elasticsearch::{Elasticsearch, ElasticsearchOptions};
use crate::log_store::{LineFilter, LineQuery, LineSubject, LogStore as _, Span};
use crate::time::SECOND;

#[tokio::test]
async fn e2e_a_real_server_answers() {
    let Ok(url) = std::env::var("E2E_ELASTICSEARCH_URL") else {
        return whathappened_loopback::skipped("E2E_ELASTICSEARCH_URL is not set");
    };
    let get = |name: &str| match name {
        "ES_URL" => Some(url.clone()),
        other => std::env::var(other).ok(),
    };
    let options = ElasticsearchOptions::from_env(&get).unwrap();
    // A time for signatures; what is asked for goes back from the newest line.
    let store = Elasticsearch::open(options, Arc::new(|| 0)).await.unwrap();
    let soon = Instant::now() + Duration::from_secs(60);
    let health = store.check(0, soon).await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
    let from = health.reaches_back_to.unwrap_or(0);
    let requested = LineQuery {
        about: LineSubject::Experiment(
            std::env::var("E2E_EXPERIMENT").unwrap_or("train".to_owned()),
        ),
        span: Span {
            from,
            to: from + 30 * 86_400 * SECOND,
        },
        only: LineFilter::Significant,
        newest: false,
        limit: 100,
    };
    let got = store.lines(&requested, soon).await.unwrap();
    println!("{} lines, {:?}", got.lines.len(), got.partial);
}
