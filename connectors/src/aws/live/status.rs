//! What is scheduled for instances, and which checks fail.

use std::collections::BTreeSet;
use std::time::Instant;

use super::api::{Api, Pages, ServiceCall};
use super::decode;
use super::instances::KnownInstances;
use super::part::{Kind, KindResult};
use crate::event::Origin;
use crate::http::HttpError;

/// Instances that one request may name.
const AT_ONCE: usize = 100;
/// Pages where none is named.
const PAGES: u64 = 5;
/// How often a request is made again without instances that are gone.
const AGAIN: usize = 3;

/// Asks what is scheduled for the instances; for all there are where `known`
/// is of none in particular.
pub(super) async fn scheduled(
    api: &Api,
    known: &KnownInstances,
    about_anything: bool,
    origin: &Origin,
    deadline: Instant,
) -> KindResult {
    let mut part = KindResult::new(Kind::ScheduledEvents, &api.region);
    if about_anything {
        let call = call().with("MaxResults", "1000");
        let pages = api.pages(&call, PAGES, deadline).await;
        part.read(&pages, call.permission, "instances");
        decode::keep(&pages.records, origin, &mut part);
        return part;
    }
    let there = if known.is_list {
        &known.listed
    } else {
        &known.ids
    };
    if there.is_empty() {
        part.expired = !known.ids.is_empty();
        part.note("none of the machines exists any more");
        return part;
    }
    let there: Vec<&str> = there.iter().map(String::as_str).collect();
    for chunk in there.chunks(AT_ONCE) {
        let pages = some(api, chunk, deadline).await;
        part.read(&pages, call().permission, "instances");
        decode::keep(&pages.records, origin, &mut part);
        if pages.failure.is_some() {
            break;
        }
    }
    part
}

fn call() -> ServiceCall {
    // Otherwise only running ones are told of.
    ServiceCall::ec2(
        "DescribeInstanceStatus",
        "ec2:DescribeInstanceStatus",
        "InstanceStatuses",
    )
    .with("IncludeAllInstances", "true")
}

/// Asks about some by id. One that is gone fails the request for all, so it is
/// made again without it.
async fn some(api: &Api, ids: &[&str], deadline: Instant) -> Pages {
    let mut left: BTreeSet<&str> = ids.iter().copied().collect();
    let mut pages = Pages::default();
    for _ in 0..AGAIN {
        if left.is_empty() {
            return Pages::default();
        }
        let named = (1..).zip(&left).fold(call(), |call, (at, id)| {
            call.with(format!("InstanceId.{at}"), *id)
        });
        pages = api.pages(&named, PAGES, deadline).await;
        let gone = pages.failure.as_ref().map(gone).unwrap_or_default();
        let before = left.len();
        left.retain(|id| !gone.contains(*id));
        if left.len() == before {
            return pages;
        }
    }
    pages
}

/// The ids in `The instance IDs 'i-…, i-…' do not exist`.
fn gone(failure: &HttpError) -> BTreeSet<String> {
    let HttpError::Refused { message, .. } = failure else {
        return BTreeSet::new();
    };
    if !message.starts_with("InvalidInstanceID.NotFound") {
        return BTreeSet::new();
    }
    let words = message.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words
        .filter(|word| word.starts_with("i-"))
        .map(str::to_owned)
        .collect()
}
