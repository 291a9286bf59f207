//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::reading::{A, NODE_A, call};
use super::server::{FakeAccounts, Instance, action};
use super::{at, fetch_request, play};
use crate::tests::conformance::Subject;
use crate::time::{SECOND, rfc3339};

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let start = at("2026-11-21T14:30:00Z");
        let calls = seconds.iter().zip(0..).map(|(second, number)| {
            let time = rfc3339(start + second * SECOND);
            call("RebootInstances", &time, &format!("record-{number}"), &[A])
        });
        let lab = FakeAccounts {
            instances: vec![Instance::new(A, "us-east-1a")],
            calls: calls.collect(),
            page: Some(6),
            ..FakeAccounts::default()
        };
        let played = play(lab);
        Subject {
            source: Box::new(played.aws),
            server: played.fake,
            _others: Vec::new(),
            request: fetch_request(&[NODE_A]),
            start,
            is_data: |request| action(request) == "LookupEvents",
            resource: "activity",
        }
    }
    .boxed()
}
