//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::server::{Server, StoredRecord};
use super::{START, store_with};
use crate::tests::conformance::{Subject, of_log_store};

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let logs = seconds.iter().enumerate().map(|(number, second)| {
            StoredRecord::line(
                number,
                0,
                second * 1_000,
                &format!("ERROR record-{number} failed"),
            )
        });
        let server = Server {
            logs: logs.collect(),
            ..Server::default()
        };
        let server = server.start();
        let store = store_with(&server, |options| {
            options.page = 6;
            options.requests_per_question = 1_000;
            options.http.tries = 2;
        });
        of_log_store(
            store,
            server,
            ("research", "llama-ft-7-0"),
            START,
            |request| request.path == "/api/v2/logs/events/search",
        )
    }
    .boxed()
}
