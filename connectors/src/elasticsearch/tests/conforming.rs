//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use std::sync::Arc;

use serde_json::json;

use super::fake::{FakeDialect, FakeDocument, serve};
use crate::elasticsearch::{Elasticsearch, ElasticsearchOptions};
use crate::tests::conformance::{Subject, of_log_store};
use crate::time::{Nanos, SECOND};

const START: Nanos = 1_795_273_200 * SECOND;

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let docs = seconds.iter().zip(0..).map(|(second, number)| {
            let at = START + second * SECOND;
            FakeDocument {
                at,
                source: json!({
                    "@timestamp": crate::time::rfc3339(at), "log": format!("ERROR record-{number} failed\n"),
                    "kubernetes": {"pod_name": "w-0", "namespace_name": "ml", "container_name": "main", "host": "n1"},
                }),
            }
        });
        let served = serve(FakeDialect::Elasticsearch, docs.collect());
        let mut options = ElasticsearchOptions::new(served.fake.url());
        options.indices = "fluent*".to_owned();
        options.page = 6;
        options.http.tries = 2;
        let store = Elasticsearch::open(options, Arc::new(|| START)).await.unwrap();
        of_log_store(store, served.fake, ("ml", "w-0"), START, |request| {
            request.path.ends_with("/_search") && request.body["size"] != 0
        })
    }
    .boxed()
}
