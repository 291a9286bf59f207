//! Spot requests: why a spot instance ended. Closed ones are forgotten within hours.

use std::time::Instant;

use super::api::{Api, ServiceCall};
use super::decode;
use super::instances::KnownInstances;
use super::part::{Kind, KindResult};
use crate::event::Origin;

/// Values that one filter may have.
const VALUES: usize = 200;
/// Pages of one question.
const PAGES: u64 = 5;

/// Asks for the requests that made the instances; for all where the question is
/// about none in particular.
pub(super) async fn requests(
    api: &Api,
    known: &KnownInstances,
    about_anything: bool,
    origin: &Origin,
    deadline: Instant,
) -> KindResult {
    let mut part = KindResult::new(Kind::SpotRequests, &api.region);
    let base = || {
        ServiceCall::ec2(
            "DescribeSpotInstanceRequests",
            "ec2:DescribeSpotInstanceRequests",
            "SpotInstanceRequests",
        )
        .with("MaxResults", "1000")
    };
    let ids: Vec<&str> = known.ids.iter().map(String::as_str).collect();
    let calls: Vec<ServiceCall> = if about_anything {
        vec![base()]
    } else {
        let chunks = ids.chunks(VALUES);
        chunks
            .map(|chunk| base().filter(1, "instance-id", chunk.iter().copied()))
            .collect()
    };
    if calls.is_empty() {
        part.note("no instance ID is known");
    }
    for call in calls {
        let pages = api.pages(&call, PAGES, deadline).await;
        part.read(&pages, call.permission, "requests");
        decode::keep(&pages.records, origin, &mut part);
        if pages.failure.is_some() {
            break;
        }
    }
    part
}
