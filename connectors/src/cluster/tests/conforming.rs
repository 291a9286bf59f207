//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use serde_json::json;
use whathappened_loopback::ApiServer;

use super::{Cluster, fetch_request, kubeconfig, now};
use crate::tests::conformance::Subject;
use crate::time::{SECOND, rfc3339};

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let start = now() - 600 * SECOND;
        let mut server = ApiServer::default();
        for (second, number) in seconds.iter().zip(0..) {
            server.add(json!({
                "kind": "Pod", "apiVersion": "v1",
                "metadata": {
                    "name": format!("record-{number}"), "namespace": "research", "uid": format!("u-{number}"),
                    "creationTimestamp": rfc3339(start + second * SECOND), "resourceVersion": "7",
                },
            }));
        }
        let server = server.start();
        let (_dir, mut options) = kubeconfig(&[("lab", &server.url())]);
        options.page_size = 6;
        Subject {
            source: Box::new(Cluster::connect(&options).await.unwrap()),
            server,
            _others: Vec::new(),
            request: fetch_request(),
            start,
            is_data: |request| request.path == "/api/v1/pods",
            resource: "pods",
        }
    }
    .boxed()
}
