//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::paging::{BASE, loki};
use super::server::{Rules, entry, serve};
use crate::tests::conformance::{Subject, of_log_store};
use crate::time::SECOND;

const POD: [(&str, &str); 3] = [("namespace", "n"), ("pod", "run-0"), ("container", "c")];

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let lines = seconds.iter().zip(0..).map(|(second, number)| {
            entry(
                BASE + second * SECOND,
                &POD,
                &format!("ERROR record-{number} failed"),
            )
        });
        let server = serve(lines.collect(), Rules::default());
        let store = loki(&server, |options| {
            options.page = 6;
            options.tries = 2;
        });
        of_log_store(store, server, ("n", "run-0"), BASE, |request| {
            let is_lines = request.path.ends_with("query_range");
            is_lines && !request.query("query").starts_with("sum(")
        })
    }
    .boxed()
}
