//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::fake::{FakeBehaviour, FakeEvent, serve};
use super::store::{START, store_with, stream};
use crate::tests::conformance::{Subject, of_log_store};

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let puts = seconds.iter().zip(0..).map(|(second, number)| FakeEvent {
            stream: stream("w-0"),
            at: START / 1_000_000 + second * 1_000,
            message: format!("ERROR record-{number} failed\n"),
        });
        let behaviour = FakeBehaviour {
            page: 6,
            ..FakeBehaviour::default()
        };
        let server = serve(behaviour, puts.collect());
        let store = store_with(&server, |_| {});
        of_log_store(store, server, ("ml", "w-0"), START, |request| {
            request.header("x-amz-target").ends_with("FilterLogEvents")
        })
    }
    .boxed()
}
