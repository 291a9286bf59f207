//! Whether AWS can be used: who we are, and what we may ask.

use std::time::Instant;

use futures::future::join_all;
use serde_json::json;

use super::api::{Api, Fields, ServiceCall};
use super::options::LiveOptions;
use super::part::{Kind, advice};
use super::source::{Account, Aws};
use crate::connector::{Connector as _, Health, Permission, Skew, Verdict};
use crate::http::HttpError;
use crate::time::{Nanos, SECOND};

/// Asks each account who we are there, and for the least of each thing.
pub(super) async fn check(source: &Aws, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: source.name().to_owned(),
        place: source.place().to_owned(),
        ..Health::default()
    };
    let all = source.accounts.iter();
    let found: Vec<_> =
        join_all(all.map(|account| Box::pin(of_account(account, &source.options, now, deadline))))
            .await;
    let mut places = Vec::new();
    let mut failures = Vec::new();
    for (account, found) in source.accounts.iter().zip(found) {
        match found {
            Ok(found) => {
                places.push(found.place);
                health.permissions.extend(found.permissions);
                health.skew = health.skew.or(found.skew);
            }
            Err(failure) => {
                failures.push(format!("{}: {failure}; {}", account.label, failure.hint()));
            }
        }
    }
    if places.is_empty() {
        health.unreachable = Some(failures.join("; "));
        return health;
    }
    health.place = places.join(", ");
    health.notes.extend(failures);
    health.notes.push(
        "CloudTrail's event history goes back 90 days and shows calls after about 5, at most 15 minutes; it allows two lookups per second".to_owned(),
    );
    health
}

/// What is known of one account.
struct AccountState {
    place: String,
    permissions: Vec<Permission>,
    skew: Option<Skew>,
}

async fn of_account(
    account: &Account,
    options: &LiveOptions,
    now: Nanos,
    deadline: Instant,
) -> Result<AccountState, HttpError> {
    let regions = account.regions(options)?;
    let mut found: Option<AccountState> = None;
    for region in &regions {
        let api = Api::new(&account.access, region, options)?;
        let mut place = match &found {
            Some(known) => known.place.clone(),
            None => String::new(),
        };
        let mut skew = None;
        if found.is_none() {
            let start = Instant::now();
            let (caller, date) = api.caller(deadline).await?;
            let took = Nanos::try_from(start.elapsed().as_nanos()).unwrap_or(Nanos::MAX);
            place = format!("account {} as {}", caller.account, caller.arn);
            skew = date.map(|date| Skew {
                by: date + SECOND / 2 - (now + took / 2),
                within: SECOND / 2 + took / 2,
            });
        }
        let probes = probes();
        let requested = probes
            .iter()
            .map(|(kind, call)| Box::pin(probe(&api, &place, *kind, call, deadline)));
        let permissions = join_all(requested).await;
        let known = found.get_or_insert(AccountState {
            place,
            permissions: Vec::new(),
            skew,
        });
        known.permissions.extend(permissions);
    }
    found.ok_or_else(|| HttpError::BadRequest("no AWS region is configured".to_owned()))
}

/// The least that can be asked of each kind.
fn probes() -> Vec<(Kind, ServiceCall)> {
    let ec2 = |action, permission, items| {
        ServiceCall::ec2(action, permission, items).with("MaxResults", "5")
    };
    let one = |key: &str, number: u64| {
        let mut fields = Fields::new();
        fields.insert(key.to_owned(), json!(number));
        fields
    };
    vec![
        (
            Kind::Instances,
            ec2("DescribeInstances", "ec2:DescribeInstances", "Reservations"),
        ),
        (
            Kind::ScheduledEvents,
            ec2(
                "DescribeInstanceStatus",
                "ec2:DescribeInstanceStatus",
                "InstanceStatuses",
            ),
        ),
        (
            Kind::SpotRequests,
            ec2(
                "DescribeSpotInstanceRequests",
                "ec2:DescribeSpotInstanceRequests",
                "SpotInstanceRequests",
            ),
        ),
        (
            Kind::ScalingActivities,
            ServiceCall::activities().with("MaxRecords", "1"),
        ),
        (Kind::Activity, ServiceCall::lookup(one("MaxResults", 1))),
        (
            Kind::Health,
            ServiceCall::health(
                "DescribeEvents",
                "health:DescribeEvents",
                "events",
                one("maxResults", 10),
            ),
        ),
    ]
}

async fn probe(
    api: &Api,
    place: &str,
    kind: Kind,
    call: &ServiceCall,
    deadline: Instant,
) -> Permission {
    let account = place.split(" as ").next().unwrap_or(place);
    let failure = api.pages(call, 1, deadline).await.failure;
    let verdict = match &failure {
        None => Verdict::Allowed,
        Some(failure) if failure.is_denied() => Verdict::Denied,
        Some(_) => Verdict::Unknown,
    };
    Permission {
        what: format!("{} in {account}, {}", call.permission, api.region),
        verdict,
        shows: kind.shows().to_owned(),
        detail: failure.map(|failure| advice(call.permission, &failure)),
    }
}
