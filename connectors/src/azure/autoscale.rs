//! Autoscale: a rule changed the size of a scale set.

use super::activity::{Activity, part};
use crate::cloud::fact::{FactBuilder, set_message, set_text};
use crate::contract::ForeignOutput;
use crate::observation::{Observation, Rejection};

const ACTOR: &str = "Microsoft.Insights/autoscaleSettings";

pub(super) fn decode(
    activity: &Activity<'_>,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let operation = activity.operation.as_str();
    let reason = if operation.contains("/scaledown") {
        "scale_down"
    } else if operation.contains("/scaleup") {
        "scale_up"
    } else {
        return Err(Rejection::Irrelevant(format!(
            "an operation of Azure: {operation}"
        )));
    };
    let resource = activity.property(&["ResourceName"]);
    let outcome = activity.outcome().as_str();
    let about = format!("{resource} {outcome}");
    let mut event = facts.group_activity(activity.at, ACTOR, reason, activity.event_id, &about);
    event.object_kind = Some("InstanceGroup".to_owned());
    activity.place(&mut event);
    let group = part(resource, "virtualMachineScaleSets").or(resource.rsplit('/').next());
    set_text(&mut event, "group", group);
    set_text(
        &mut event,
        "from",
        Some(activity.property(&["OldInstancesCount"])),
    );
    set_text(
        &mut event,
        "to",
        Some(activity.property(&["NewInstancesCount"])),
    );
    event.set_attribute("outcome", Some(outcome));
    let description = activity.property(&["Description"]);
    let description = if description.is_empty() {
        activity.text(&["description"])
    } else {
        description
    };
    set_message(&mut event, description);
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}
