//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use std::sync::Arc;

use super::server::{Server, StoredRecord};
use super::{MINUTE, START, soon, store_with};
use crate::connector::{Entity, FetchRequest, Scope, Window};
use crate::log_store::{Depth, LogSource};
use crate::tests::conformance::Subject;

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
        let window = Window {
            from: Some(START),
            to: Some(START + 10 * MINUTE),
        };
        let pod = Entity {
            namespace: Some("research".to_owned()),
            name: "llama-ft-7-0".to_owned(),
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
                now: START + 30 * MINUTE,
                deadline: soon(),
            },
            start: START,
            is_data: |request| request.path == "/api/v2/logs/events/search",
            resource: "logs",
        }
    }
    .boxed()
}
