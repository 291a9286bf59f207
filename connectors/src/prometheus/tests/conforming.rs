//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use serde_json::{Value, json};

use super::emit::NOON;
use super::server::start;
use super::source::{fetch_request, options};
use crate::prometheus::Prometheus;
use crate::tests::conformance::Subject;
use crate::time::SECOND;

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let alerts = seconds.iter().zip(0..).map(|(second, number)| {
            let labels = json!({
                "__name__": "ALERTS", "alertname": format!("record-{number}"), "alertstate": "firing",
                "node": "gpu-1", "severity": "critical",
            });
            json!({"metric": labels, "values": [[NOON + second, "1"], [NOON + second + 15, "1"]]})
        });
        let node = json!({"__name__": "kube_node_info", "node": "gpu-1", "internal_ip": "10.0.0.5"});
        let up = json!({"metric": node, "values": [[NOON, "1"], [NOON + 500, "1"]]});
        let all: Vec<Value> = alerts.chain([up]).collect();
        let server = start(all);
        Subject {
            source: Box::new(Prometheus::new(&options(server.url())).unwrap()),
            server,
            _others: Vec::new(),
            request: fetch_request(&["gpu-1"], &[]),
            start: NOON * SECOND,
            is_data: |request| request.path.ends_with("/api/v1/query"),
            resource: "alerts",
        }
    }
    .boxed()
}
