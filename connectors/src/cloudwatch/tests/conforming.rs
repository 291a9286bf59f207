//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::fake::{FakeBehaviour, FakeEvent, serve};
use super::store::{START, store_with, stream};
use crate::connector::{Entity, FetchRequest, Scope, Window};
use crate::log_store::{Depth, LogSource};
use crate::tests::conformance::Subject;
use crate::time::SECOND;

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
        let window = Window {
            from: Some(START),
            to: Some(START + 600 * SECOND),
        };
        let pod = Entity {
            namespace: Some("ml".to_owned()),
            name: "w-0".to_owned(),
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
                now: START + 3_600 * SECOND,
                deadline: Instant::now() + Duration::from_secs(60),
            },
            start: START,
            is_data: |request| request.header("x-amz-target").ends_with("FilterLogEvents"),
            resource: "logs",
        }
    }
    .boxed()
}
