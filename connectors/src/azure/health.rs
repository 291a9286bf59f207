//! Resource Health and Service Health, as the Activity Log has them.

use serde_json::Value;

use super::activity::Activity;
use crate::cloud::fact::{HostEvent, Phase, Scribe, set_message, set_text};
use crate::cloud::identity::{Cloud, Machine};
use crate::cloud::time;
use crate::observation::{Observation, Rejection};
use crate::recording::Told;
use crate::time::Stamp;

/// A machine's health changed. The properties come in two dialects.
pub(super) fn of_resource(
    activity: &Activity<'_>,
    scribe: &Scribe<'_>,
    told: &mut Told,
) -> Result<(), Rejection> {
    let Some(machine) = Machine::azure(&activity.resource_id) else {
        return Err(Rejection::Irrelevant(
            "the health of a resource of Azure that is no machine".to_owned(),
        ));
    };
    let stage = stage(activity);
    let category = activity.property(&["healthEventCategory", "category"]);
    let title = activity.property(&["title"]);
    let named = activity.property(&["annotationName", "eventName"]);
    let name = if named.is_empty() { title } else { named };
    let what = HostEvent {
        name: if name.is_empty() {
            &activity.operation
        } else {
            name
        },
        phase: match stage.as_str() {
            "resolved" => Phase::Ended,
            "pending" => Phase::Announced,
            "updated" | "inprogress" => Phase::Started,
            _ => Phase::Acted,
        },
        planned: match category.to_ascii_lowercase().as_str() {
            "planned" => Some(true),
            "unplanned" => Some(false),
            _ => None,
        },
        event_id: activity.event_id,
        not_before: None,
        not_after: None,
    };
    let mut event = scribe.host_event(activity.at, &machine, what);
    activity.place(&mut event);
    let cause = activity.property(&["healthEventCause", "cause"]);
    event.reason = (!cause.is_empty()).then(|| cause.to_owned());
    let details = activity.property(&["details"]);
    set_message(&mut event, &format!("{title}\n{details}"));
    let health = activity.property(&["healthStatus", "currentHealthStatus"]);
    set_text(&mut event, "health", Some(health));
    let before = activity.property(&["previousHealthStatus"]);
    set_text(&mut event, "previous_health", Some(before));
    let kind = activity.property(&["healthEventType", "type"]);
    set_text(&mut event, "health_event_type", Some(kind));
    set_text(&mut event, "category", Some(category));
    told.observations.push(Observation::Event(Box::new(event)));
    Ok(())
}

/// The stage: of the properties, else the operation's word.
fn stage(activity: &Activity<'_>) -> String {
    let words: Vec<&str> = activity.operation.split('/').collect();
    let of_operation = words.get(2).filter(|_| words.len() == 4);
    let word = of_operation.copied().unwrap_or_default();
    let word = if word.is_empty() {
        activity.property(&["stage"])
    } else {
        word
    };
    let resolved = activity.status == "resolved"
        || activity
            .property(&["stage"])
            .eq_ignore_ascii_case("resolved");
    if resolved {
        return "resolved".to_owned();
    }
    word.to_ascii_lowercase()
}

/// Azure itself has trouble, or plans maintenance, in a region.
pub(super) fn of_service(
    activity: &Activity<'_>,
    scribe: &Scribe<'_>,
    told: &mut Told,
) -> Result<(), Rejection> {
    let kind = activity.property(&["incidentType"]);
    let kind = if kind.is_empty() {
        activity.operation.split('/').nth(1).unwrap_or_default()
    } else {
        kind
    };
    let maintenance = kind.eq_ignore_ascii_case("maintenance");
    if !maintenance && !kind.eq_ignore_ascii_case("incident") {
        return Err(Rejection::Irrelevant(format!(
            "a notice of Azure about the account: {kind}"
        )));
    }
    let stage = activity.property(&["stage"]).to_ascii_lowercase();
    let over = ["resolved", "complete", "completed", "canceled", "rca"].contains(&stage.as_str())
        || activity.status == "resolved";
    let stamp = |keys: &[&str]| -> Option<Stamp> {
        let read = time::read(&Value::from(activity.property(keys)))?;
        Some(read.stamp)
    };
    let tracking = activity.property(&["trackingId"]);
    let what = HostEvent {
        name: kind,
        phase: match stage.as_str() {
            _ if over => Phase::Ended,
            "planned" => Phase::Announced,
            _ => Phase::Started,
        },
        planned: Some(maintenance),
        event_id: if tracking.is_empty() {
            activity.event_id
        } else {
            tracking
        },
        not_before: stamp(&["impactStartTime"]),
        not_after: stamp(&["impactMitigationTime"]),
    };
    let mut event = scribe.host_event(activity.at, &Machine::of(Cloud::Azure), what);
    activity.place(&mut event);
    event.reason = (!stage.is_empty()).then_some(stage);
    set_text(&mut event, "region", Some(activity.property(&["region"])));
    set_text(&mut event, "service", Some(activity.property(&["service"])));
    let title = activity.property(&["title", "defaultLanguageTitle"]);
    let said = activity.property(&["communication", "defaultLanguageContent"]);
    set_message(&mut event, &format!("{title}\n{said}"));
    told.observations.push(Observation::Event(Box::new(event)));
    Ok(())
}
