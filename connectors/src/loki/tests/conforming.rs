//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use super::paging::{BASE, loki, soon};
use super::server::{Rules, entry, serve};
use crate::connector::{Entity, FetchRequest, Scope, Window};
use crate::log_store::{Depth, LogSource};
use crate::tests::conformance::Subject;
use crate::time::SECOND;
use std::sync::Arc;

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
        let window = Window {
            from: Some(BASE),
            to: Some(BASE + 600 * SECOND),
        };
        let pod = Entity {
            namespace: Some("n".to_owned()),
            name: "run-0".to_owned(),
            window,
            ..Entity::default()
        };
        Subject {
            source: Box::new(LogSource::new(Arc::new(store), Depth::all())),
            server,
            _others: Vec::new(),
            request: FetchRequest {
                scope: Scope {
                    pods: vec![pod],
                    ..Scope::default()
                },
                window,
                now: BASE + 3_600 * SECOND,
                deadline: soon(),
            },
            start: BASE,
            is_data: |request| {
                let is_lines = request.path.ends_with("query_range");
                is_lines && !request.query("query").starts_with("sum(")
            },
            resource: "logs",
        }
    }
    .boxed()
}
