//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use serde_json::{Value, json};

use super::about;
use super::rest::{ENDED, accounted, ok, open};
use crate::tests::conformance::Subject;
use crate::time::SECOND;
use whathappened_loopback::{Fake, Reply};

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let jobs = seconds.iter().zip(0..).map(|(second, number)| {
            let mut job = accounted(100 + number, "train", "FAILED");
            job["user"] = json!(format!("record-{number}"));
            job["time"]["end"] = json!(ENDED + second);
            job
        });
        let jobs: Vec<Value> = jobs.collect();
        let server = Fake::start(move |request| match request.path.as_str() {
            "/openapi/v3" => {
                let paths = json!({"/slurm/v0.0.40/jobs": {}, "/slurmdb/v0.0.40/jobs": {}});
                ok(json!({"openapi": "3.0.2", "paths": paths}))
            }
            "/slurmdb/v0.0.40/jobs" => ok(json!({"jobs": jobs, "errors": []})),
            "/slurm/v0.0.40/jobs" => ok(json!({"jobs": []})),
            "/slurm/v0.0.40/nodes" => ok(json!({"nodes": []})),
            _ => Reply::Text(404, "Unable find requested URL.".to_owned()),
        });
        Subject {
            source: Box::new(open(&server, "eyJ.a.b")),
            server,
            _others: Vec::new(),
            request: about("train"),
            start: ENDED * SECOND,
            is_data: |request| request.path == "/slurmdb/v0.0.40/jobs",
            resource: "accounting",
        }
    }
    .boxed()
}
