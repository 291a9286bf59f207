//! What machines are: tags, zone, whether they run.

use serde_json::{Map, Value};

use super::arm::path;
use super::cover::{Resource, ResourceTally};
use super::machine_scope::by_set;
use super::query::{SubscriptionQuery, each};
use crate::cloud::field;
use crate::coverage::Coverage;
use crate::http::HttpError;
use crate::observation::Observation;

pub(super) const VERSION: (&str, &str) = ("api-version", "2024-07-01");

/// With the machine's state as it runs.
const STATE: (&str, &str) = ("$expand", "instanceView");

/// The permission that it takes.
pub(super) const NEEDS: &str = "Microsoft.Compute/virtualMachines/read";

pub(super) const INSTANCES: Resource = Resource {
    name: "instances",
    would_have_shown: "which machines there are, with their tags, zones and states",
    needs: "Microsoft.Compute/virtualMachines/read, Microsoft.Compute/virtualMachineScaleSets/read and Microsoft.Compute/virtualMachineScaleSets/virtualMachines/read",
    retention_s: None,
};

/// The path of the first page of the machines of a subscription.
pub(super) fn first_page(subscription: &str) -> String {
    path(
        &format!("subscriptions/{subscription}/providers/Microsoft.Compute/virtualMachines"),
        &[VERSION],
    )
}

/// What the machines are. `tally` has what came of finding them.
pub(super) async fn of_machines(
    query: &SubscriptionQuery<'_>,
    mut tally: ResourceTally,
) -> (Vec<Observation>, Vec<Coverage>) {
    let mut out = Vec::new();
    if query.wanted.all {
        all(query, &mut tally, &mut out).await;
    } else {
        some(query, &mut tally, &mut out).await;
    }
    let now = query.fetch_request.now;
    let row = tally.row(
        &query.options.name,
        query.subscription,
        INSTANCES,
        Some((now, now)),
        Some((now, now)),
    );
    (out, vec![row])
}

/// The machines of the question, one by one.
async fn some(
    query: &SubscriptionQuery<'_>,
    tally: &mut ResourceTally,
    out: &mut Vec<Observation>,
) {
    let ids = query.wanted.ids_in(query.subscription);
    let requested = each(&ids, query.options, |id| async move {
        let one = path(id, &[VERSION, STATE]);
        let answer = query.arm.get(&one, query.fetch_request.deadline).await;
        match answer.and_then(|answer| answer.json::<Map<String, Value>>()) {
            Ok(fields) => (Some(fields), None),
            Err(failure) => (None, Some(failure)),
        }
    });
    let requested = Box::pin(requested).await;
    let mut gone = 0;
    for (fields, failure) in requested.answers {
        match (fields, failure) {
            (Some(fields), _) => take(query, &fields, tally, out),
            (None, Some(failure)) if failure.code() == Some(404) => {
                gone += 1;
                tally.came.answered = true;
            }
            (None, Some(failure)) => tally.failure(&failure, INSTANCES.needs),
            (None, None) => {}
        }
    }
    if gone > 0 {
        let sets = by_set(&ids).len();
        let of = if sets > 0 {
            " (scale sets do not reuse instance numbers)"
        } else {
            ""
        };
        tally
            .notes
            .push(format!("{gone} of the machines are not there any more{of}"));
    }
    for why in requested.left_out {
        tally.cut(why);
    }
}

/// All machines of the subscription, those of scale sets too.
async fn all(query: &SubscriptionQuery<'_>, tally: &mut ResourceTally, out: &mut Vec<Observation>) {
    let pages = query.options.max_pages;
    let deadline = query.fetch_request.deadline;
    let mut machines = Vec::new();
    let mut sets = Vec::new();
    let first = first_page(query.subscription);
    let walk = query.arm.walk(first, pages, deadline, |fields| {
        machines.push(fields);
        true
    });
    let walked = walk.await;
    tally.walked(walked, INSTANCES);
    let list = format!(
        "subscriptions/{}/providers/Microsoft.Compute/virtualMachineScaleSets",
        query.subscription
    );
    let walk = query
        .arm
        .walk(path(&list, &[VERSION]), pages, deadline, |fields| {
            sets.extend(field::owned(&fields, &["id"]));
            true
        });
    let walked = walk.await;
    tally.walked(walked, INSTANCES);
    for set in &sets {
        if machines.len() >= query.options.max_machines {
            tally.cut(format!(
                "not all scale sets: more than {} machines",
                query.options.max_machines
            ));
            break;
        }
        let members = path(&format!("{set}/virtualMachines"), &[VERSION, STATE]);
        let walk = query.arm.walk(members, pages, deadline, |fields| {
            machines.push(fields);
            true
        });
        let mut walked = walk.await;
        // A flexible set has its machines among the others.
        let other = |failure: &HttpError| matches!(failure.code(), Some(400 | 404 | 409));
        if walked.pages == 0 && walked.failure.as_ref().is_some_and(other) {
            walked.failure = None;
        }
        tally.walked(walked, INSTANCES);
    }
    for fields in &machines {
        take(query, fields, tally, out);
    }
}

fn take(
    query: &SubscriptionQuery<'_>,
    fields: &Map<String, Value>,
    tally: &mut ResourceTally,
    out: &mut Vec<Observation>,
) {
    tally.came.answered = true;
    match query.decode(fields, "value") {
        Ok(emitted) => {
            tally.rows += 1;
            out.extend(emitted);
        }
        Err(why) => tally.rejected(why),
    }
}
