//! Opened as one of all live sources, each of which is held to the same.

use futures::FutureExt as _;
use futures::future::BoxFuture;

use serde_json::json;

use super::cluster::{cluster, record, vmss};
use super::manager::FakeManager;
use super::{at, azure, fetch_request, of_set, outside};
use crate::tests::conformance::Subject;
use crate::time::{SECOND, rfc3339};

pub(crate) fn conforming(seconds: Vec<i64>) -> BoxFuture<'static, Subject> {
    async move {
        let start = at("2026-11-21T10:30:00Z");
        let machine = format!("{}/virtualMachines/3", vmss());
        let log = seconds.iter().zip(0..).map(|(second, number)| {
            let id = format!("record-{number}");
            let time = rfc3339(start + second * SECOND);
            let more = json!({"correlationId": id, "eventDataId": id, "eventTimestamp": time});
            let act = "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/restart/action";
            record("21T10:30:00", &machine, act, more)
        });
        let manager = FakeManager {
            log: log.collect(),
            page: 6,
            ..cluster()
        };
        let (server, login) = (manager.start(), outside::login());
        Subject {
            source: Box::new(azure(&server, &login)),
            server,
            _others: vec![login],
            request: fetch_request(vec![of_set(3)]),
            start,
            is_data: |request| {
                let path = request.path.to_lowercase();
                path.ends_with("/eventtypes/management/values")
            },
            resource: "activity",
        }
    }
    .boxed()
}
