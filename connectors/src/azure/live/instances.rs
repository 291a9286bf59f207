//! What machines are: tags, zone, whether they run.

use serde_json::{Map, Value};

use super::arm::path;
use super::asking::{Asking, each};
use super::cover::{Resource, Tally};
use super::wanted::by_set;
use crate::cloud::field;
use crate::coverage::Coverage;
use crate::http::Trouble;
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
    asking: &Asking<'_>,
    mut tally: Tally,
) -> (Vec<Observation>, Vec<Coverage>) {
    let mut out = Vec::new();
    if asking.wanted.all {
        all(asking, &mut tally, &mut out).await;
    } else {
        some(asking, &mut tally, &mut out).await;
    }
    let now = asking.ask.now;
    let row = tally.row(
        &asking.options.name,
        asking.subscription,
        INSTANCES,
        Some((now, now)),
        Some((now, now)),
    );
    (out, vec![row])
}

/// The machines of the question, one by one.
async fn some(asking: &Asking<'_>, tally: &mut Tally, out: &mut Vec<Observation>) {
    let ids = asking.wanted.ids_in(asking.subscription);
    let asked = each(&ids, asking.options, |id| async move {
        let one = path(id, &[VERSION, STATE]);
        let answer = asking.arm.get(&one, asking.ask.deadline).await;
        match answer.and_then(|answer| answer.json::<Map<String, Value>>()) {
            Ok(fields) => (Some(fields), None),
            Err(trouble) => (None, Some(trouble)),
        }
    });
    let asked = Box::pin(asked).await;
    let mut gone = 0;
    for (fields, trouble) in asked.answers {
        match (fields, trouble) {
            (Some(fields), _) => take(asking, &fields, tally, out),
            (None, Some(trouble)) if trouble.code() == Some(404) => {
                gone += 1;
                tally.answered = true;
            }
            (None, Some(trouble)) => tally.trouble(&trouble, INSTANCES.needs),
            (None, None) => {}
        }
    }
    if gone > 0 {
        let sets = by_set(&ids).len();
        let of = if sets > 0 {
            " (scale sets give the same numbers to no machine again)"
        } else {
            ""
        };
        tally
            .notes
            .push(format!("{gone} of the machines are not there any more{of}"));
    }
    for why in asked.left_out {
        tally.cut(why);
    }
}

/// All machines of the subscription, those of scale sets too.
async fn all(asking: &Asking<'_>, tally: &mut Tally, out: &mut Vec<Observation>) {
    let pages = asking.options.max_pages;
    let deadline = asking.ask.deadline;
    let mut machines = Vec::new();
    let mut sets = Vec::new();
    let first = first_page(asking.subscription);
    let walk = asking.arm.walk(first, pages, deadline, |fields| {
        machines.push(fields);
        true
    });
    let walked = walk.await;
    tally.walked(walked, INSTANCES);
    let list = format!(
        "subscriptions/{}/providers/Microsoft.Compute/virtualMachineScaleSets",
        asking.subscription
    );
    let walk = asking
        .arm
        .walk(path(&list, &[VERSION]), pages, deadline, |fields| {
            sets.extend(field::owned(&fields, &["id"]));
            true
        });
    let walked = walk.await;
    tally.walked(walked, INSTANCES);
    for set in &sets {
        if machines.len() >= asking.options.max_machines {
            tally.cut(format!(
                "not all scale sets: more than {} machines",
                asking.options.max_machines
            ));
            break;
        }
        let members = path(&format!("{set}/virtualMachines"), &[VERSION, STATE]);
        let walk = asking.arm.walk(members, pages, deadline, |fields| {
            machines.push(fields);
            true
        });
        let mut walked = walk.await;
        // A flexible set has its machines among the others.
        let other = |trouble: &Trouble| matches!(trouble.code(), Some(400 | 404 | 409));
        if walked.pages == 0 && walked.trouble.as_ref().is_some_and(other) {
            walked.trouble = None;
        }
        tally.walked(walked, INSTANCES);
    }
    for fields in &machines {
        take(asking, fields, tally, out);
    }
}

fn take(
    asking: &Asking<'_>,
    fields: &Map<String, Value>,
    tally: &mut Tally,
    out: &mut Vec<Observation>,
) {
    tally.answered = true;
    match asking.decode(fields, "value") {
        Ok(told) => {
            tally.rows += 1;
            out.extend(told);
        }
        Err(why) => tally.rejected(why),
    }
}
