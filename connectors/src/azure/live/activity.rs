//! The Activity Log: what was asked of Azure, and what Azure did, about machines.
//!
//! Only a time range and at most one of group, resource, provider or correlation
//! may be filtered by, so the group of the machines is asked for whole and looked
//! through here. Answers come newest first.

use serde_json::{Map, Value};

use super::arm::path;
use super::cover::{Resource, ResourceTally};
use super::machine_scope::MachineScope;
use super::query::SubscriptionQuery;
use crate::cloud::field;
use crate::coverage::Coverage;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND, rfc3339};

/// How long Azure keeps it.
pub(super) const RETENTION: Nanos = 90 * 86_400 * SECOND;

/// What is about to be removed is not asked for: Azure refuses it by its own clock.
const MARGIN: Nanos = 600 * SECOND;

/// Records were seen to come up to this late.
const LAG: Nanos = 1200 * SECOND;

/// Azure tells of an outage while it lasts and long after, each time with when it began.
const NOTICED: Nanos = 86_400 * SECOND;

/// The permission that it takes.
pub(super) const NEEDS: &str = "Microsoft.Insights/eventtypes/values/Read";

const ACTIVITY: Resource = Resource {
    name: "activity",
    would_have_shown: "who stopped, deleted or changed machines, and what Azure did to them",
    needs: NEEDS,
    retention_s: Some(RETENTION / SECOND),
};

const SERVICE: Resource = Resource {
    name: "service_health",
    would_have_shown: "outages and planned maintenance of Azure itself",
    needs: NEEDS,
    retention_s: Some(RETENTION / SECOND),
};

/// The fields that decoding uses; not, for one, the addresses of callers.
const FIELDS: &str = "eventTimestamp,submissionTimestamp,eventDataId,correlationId,operationId,operationName,eventName,status,subStatus,level,caller,claims,description,properties,resourceId,resourceGroupName,resourceProviderName,subscriptionId,id";

/// The one condition that may stand beside the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ActivityFilter {
    /// The whole subscription.
    Everything,
    Group(String),
    Provider(&'static str),
    /// Exactly this resource.
    Resource(String),
}

impl ActivityFilter {
    fn words(&self) -> String {
        let of = |name: &str, value: &str| {
            // A quote is doubled, as in SQL.
            format!(" and {name} eq '{}'", value.replace('\'', "''"))
        };
        match self {
            Self::Everything => String::new(),
            Self::Group(group) => of("resourceGroupName", group),
            Self::Provider(provider) => of("resourceProvider", provider),
            Self::Resource(resource) => of("resourceUri", resource),
        }
    }
}

/// The path of the first page.
pub(super) fn first_page(
    subscription: &str,
    from: Nanos,
    to: Nanos,
    only: &ActivityFilter,
) -> String {
    // Whole seconds, outwards.
    let second = |at: Nanos| rfc3339(at.div_euclid(SECOND) * SECOND);
    let filter = format!(
        "eventTimestamp ge '{}' and eventTimestamp le '{}'{}",
        second(from),
        second(to.saturating_add(SECOND - 1)),
        only.words()
    );
    path(
        &format!(
            "subscriptions/{subscription}/providers/Microsoft.Insights/eventtypes/management/values"
        ),
        &[
            ("api-version", "2015-04-01"),
            ("$filter", &filter),
            ("$select", FIELDS),
        ],
    )
}

/// The questions about the machines, and about all of the subscription.
fn questions(wanted: &MachineScope, subscription: &str) -> Vec<ActivityFilter> {
    if wanted.all {
        return vec![ActivityFilter::Everything];
    }
    let groups = wanted.groups_in(subscription);
    let mut questions: Vec<ActivityFilter> = groups
        .iter()
        .map(|group| ActivityFilter::Group((*group).to_owned()))
        .collect();
    // Who upgrades or scales a cluster does it in the cluster's own group.
    let of_sets = wanted.ids_in(subscription).into_iter();
    if of_sets
        .into_iter()
        .any(|id| id.contains("/virtualmachinescalesets/"))
    {
        questions.push(ActivityFilter::Provider("Microsoft.ContainerService"));
    }
    questions
}

/// What is logged about the machines.
pub(super) async fn of_machines(
    query: &SubscriptionQuery<'_>,
) -> (Vec<Observation>, Vec<Coverage>) {
    let questions = questions(query.wanted, query.subscription);
    if questions.is_empty() {
        return (Vec::new(), Vec::new());
    }
    read(query, ACTIVITY, questions, 0).await
}

/// What Azure says of itself, which stands under the subscription.
pub(super) async fn of_azure(query: &SubscriptionQuery<'_>) -> (Vec<Observation>, Vec<Coverage>) {
    // It is in what is asked for all machines.
    if query.wanted.all {
        return (Vec::new(), Vec::new());
    }
    let subscription = format!("/subscriptions/{}", query.subscription);
    let questions = vec![ActivityFilter::Resource(subscription)];
    read(query, SERVICE, questions, NOTICED).await
}

async fn read(
    query: &SubscriptionQuery<'_>,
    resource: Resource,
    questions: Vec<ActivityFilter>,
    after: Nanos,
) -> (Vec<Observation>, Vec<Coverage>) {
    let span = query.span;
    let to = span
        .to
        .saturating_add(after)
        .min(span.to.max(query.fetch_request.now));
    let oldest = query.fetch_request.now.saturating_sub(RETENTION - MARGIN);
    let from = span.from.max(oldest);
    let mut tally = ResourceTally::default();
    let mut out = Vec::new();
    let mut got_from = from;
    if span.to <= oldest {
        tally.expired = true;
        tally
            .notes
            .push("Azure keeps the Activity Log for 90 days, and this is older".to_owned());
    } else {
        for only in questions {
            let mut last: Option<Nanos> = None;
            let first = first_page(query.subscription, from, to, &only);
            let deadline = query.fetch_request.deadline;
            let walk = query
                .arm
                .walk(first, query.options.max_pages, deadline, |fields| {
                    last = earlier(last, &fields);
                    take(query, &fields, &mut tally, &mut out);
                    true
                });
            let walked = walk.await;
            let whole = tally.walked(walked, resource);
            if !whole {
                // Newest first: what is missing is older than the last one read.
                got_from = got_from.max(last.unwrap_or(span.to));
            }
        }
        if span.own_from < oldest {
            tally.cut("Azure keeps the Activity Log for 90 days".to_owned());
        }
    }
    let complete_to = span.to.min(query.fetch_request.now.saturating_sub(LAG));
    if complete_to < span.to && tally.came.answered {
        tally.notes.push(format!(
            "records come up to {} min late",
            LAG / (60 * SECOND)
        ));
    }
    let row = tally.row(
        &query.options.name,
        query.subscription,
        resource,
        Some((span.from, span.to)),
        Some((got_from, complete_to)),
    );
    (out, vec![row])
}

/// Takes a record that is about what was asked for.
fn take(
    query: &SubscriptionQuery<'_>,
    fields: &Map<String, Value>,
    tally: &mut ResourceTally,
    out: &mut Vec<Observation>,
) {
    let resource = field::text(fields, &["resourceId"])
        .or_else(|| field::text(fields, &["id"]))
        .unwrap_or_default();
    match query.decode(fields, "value") {
        Ok(mut emitted) => {
            emitted.retain(|one| query.wanted.keeps(resource, one));
            if emitted.is_empty() {
                tally.of_others += 1;
            } else {
                tally.rows += 1;
                out.append(&mut emitted);
            }
        }
        Err(why) => tally.rejected(why),
    }
}

/// The earlier of `known` and the time of a record of the Activity Log.
fn earlier(known: Option<Nanos>, fields: &Map<String, Value>) -> Option<Nanos> {
    let at = field::time(fields, &["eventTimestamp"]).map(|read| read.stamp.lo);
    match (known, at) {
        (Some(known), Some(at)) => Some(known.min(at)),
        (known, at) => known.or(at),
    }
}
