//! Spot requests: why a spot instance ended. Closed ones are forgotten within hours.

use std::time::Instant;

use super::api::{Api, Call};
use super::decode;
use super::instances::Known;
use super::part::{Kind, Part};
use crate::event::Origin;

/// Values that one filter may have.
const VALUES: usize = 200;
/// Pages of one question.
const PAGES: u64 = 5;

/// Asks for the requests that made the instances; for all where the question is
/// about none in particular.
pub(super) async fn requests(
    api: &Api,
    known: &Known,
    about_anything: bool,
    origin: &Origin,
    deadline: Instant,
) -> Part {
    let mut part = Part::new(Kind::SpotRequests, &api.region);
    let base = || {
        Call::ec2(
            "DescribeSpotInstanceRequests",
            "ec2:DescribeSpotInstanceRequests",
            "SpotInstanceRequests",
        )
        .with("MaxResults", "1000")
    };
    let ids: Vec<&str> = known.ids.iter().map(String::as_str).collect();
    let calls: Vec<Call> = if about_anything {
        vec![base()]
    } else {
        let chunks = ids.chunks(VALUES);
        chunks
            .map(|chunk| base().filter(1, "instance-id", chunk.iter().copied()))
            .collect()
    };
    if calls.is_empty() {
        part.note("no instance is known by id");
    }
    for call in calls {
        let pages = api.pages(&call, PAGES, deadline).await;
        part.read(&pages, call.permission, "requests");
        decode::keep(&pages.records, origin, &mut part);
        if pages.trouble.is_some() {
            break;
        }
    }
    part
}
