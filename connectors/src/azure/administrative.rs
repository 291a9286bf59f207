//! Calls: of people, applications, and of Azure's own services.

use super::activity::{Activity, part};
use crate::cloud::fact::{self, FactBuilder, Outcome, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::ForeignOutput;
use crate::machine::{Cloud, Machine};
use crate::observation::{Observation, Rejection};

/// Providers whose operations end machines; what stands deeper does not.
const CONCERNS: [&str; 3] = [
    "microsoft.compute/virtualmachines/",
    "microsoft.compute/virtualmachinescalesets/",
    "microsoft.containerservice/managedclusters/",
];

/// The name under which Azure itself acts on machines.
const PLATFORM: &str = "Microsoft.Compute";

pub(super) fn decode(
    activity: &Activity<'_>,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let method = activity.operation.as_str();
    let concerns = CONCERNS.iter().any(|start| method.starts_with(start));
    if !concerns || method.contains("/extensions/") || method.ends_with("/read") {
        return Err(Rejection::Irrelevant(format!(
            "an operation of Azure: {method}"
        )));
    }
    let failure = CallFailure::of(activity);
    let outcome = activity.outcome();
    let what = fact::Activity {
        method,
        outcome,
        event_id: activity.event_id,
        actor: activity.caller(),
        error: (outcome == Outcome::Failed).then_some(failure.code.as_str()),
    };
    // Nobody calls it: it is what the platform does to a machine that it takes back.
    let by_platform = method.ends_with("/evictspotvm/action");
    let what = fact::Activity {
        actor: what.actor.or(by_platform.then_some(PLATFORM)),
        ..what
    };
    for machine in machines(activity) {
        let mut event = facts.activity(activity.at, &machine, what);
        let kind = if method.contains("/managedclusters/") {
            if machine.group.is_some() {
                "NodePool"
            } else {
                "Cluster"
            }
        } else {
            "InstanceGroup"
        };
        event.object_kind.get_or_insert_with(|| kind.to_owned());
        activity.place(&mut event);
        if outcome == Outcome::Failed {
            set_message(&mut event, &failure.text);
        }
        event.entities.cluster = part(&activity.resource_id, "managedClusters").map(str::to_owned);
        let by = activity.claim("idtyp").map(str::to_owned).or_else(|| {
            let caller = activity.caller()?;
            Some(if caller.contains('@') { "user" } else { "app" }.to_owned())
        });
        set_text(&mut event, "identity_type", by.as_deref());
        set_text(&mut event, "principal", activity.claim("name"));
        set_text(&mut event, "application", activity.claim("appid"));
        set_text(&mut event, "status", Some(&activity.status));
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
    Ok(())
}

/// The machines that an operation names: in its resource, or in the body of a
/// call to a scale set.
fn machines(activity: &Activity<'_>) -> Vec<Machine> {
    let resource = activity.resource_id.as_ref();
    if let Some(machine) = Machine::azure(resource) {
        return vec![machine];
    }
    let set = part(resource, "virtualMachineScaleSets");
    if set.is_some() {
        let body: Fields =
            serde_json::from_str(activity.property(&["requestbody"])).unwrap_or_default();
        let named: Vec<Machine> = field::words(&body, &["instanceIds"])
            .filter_map(|id| Machine::azure(&format!("{resource}/virtualMachines/{id}")))
            .collect();
        if !named.is_empty() {
            return named;
        }
    }
    let pool = part(resource, "agentPools");
    vec![Machine {
        account: activity.subscription(),
        group: set.or(pool).map(str::to_owned),
        ..Machine::of(Cloud::Azure)
    }]
}

/// An error's code and text: in `statusMessage`, as JSON in a text.
struct CallFailure {
    code: String,
    text: String,
}

impl CallFailure {
    fn of(activity: &Activity<'_>) -> Self {
        let status_message = activity.property(&["statusMessage"]);
        let parsed: Fields = serde_json::from_str(status_message).unwrap_or_default();
        let error = field::object(&parsed, &["error"]).unwrap_or(&parsed);
        let detail = field::objects(error, &["details"]).next().unwrap_or(error);
        let code = field::text(detail, &["code"])
            .or_else(|| field::text(error, &["code"]))
            .unwrap_or_else(|| {
                let status = activity.property(&["statusCode"]);
                let sub =
                    activity.text(&["subStatus", "resultSignature", "ActivitySubstatusValue"]);
                if sub.is_empty() { status } else { sub }
            });
        let text = field::text(detail, &["message"])
            .or_else(|| field::text(error, &["message"]))
            .unwrap_or(status_message);
        Self {
            code: code.to_owned(),
            text: text.to_owned(),
        }
    }
}
