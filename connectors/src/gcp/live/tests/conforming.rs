//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::server::{Cloud, system};
use super::{about, at, node, open, options};
use crate::tests::conformance::Subject;
use crate::time::{SECOND, rfc3339};

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let start = at("2026-11-21T11:00:00Z");
        let entries = seconds.iter().zip(0..).map(|(second, number)| {
            let time = rfc3339(start + second * SECOND);
            let id = format!("record-{number}");
            system("lab", (&id, &time), "compute.instances.hostError", "gpu-1")
        });
        let cloud = Cloud {
            entries: entries.collect(),
            page: 6,
            ..Cloud::default()
        };
        let server = cloud.start();
        let mut options = options(&server);
        options.logging.tries = 2;
        Subject {
            source: Box::new(open(options)),
            server,
            _others: Vec::new(),
            request: about(vec![node("lab", "gpu-1")]),
            start,
            is_data: |request| request.path == "/v2/entries:list",
            resource: "activity",
        }
    }
    .boxed()
}
