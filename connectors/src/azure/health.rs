//! Resource Health and Service Health, as the Activity Log has them.

use serde_json::Value;

use super::activity::Activity;
use super::set_initiator;
use crate::cloud::fact::{FactBuilder, HostEvent, Phase, set_message, set_text};
use crate::contract::ForeignOutput;
use crate::event::Event;
use crate::machine::{Cloud, Machine};
use crate::observation::{Observation, Rejection};
use crate::place::set_places;
use crate::text_time::{self, ParsedTime};

/// A machine's health changed. The properties come in two dialects.
pub(super) fn of_resource(
    activity: &Activity<'_>,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let Some(machine) = Machine::azure(&activity.resource_id) else {
        return Err(Rejection::Irrelevant(
            "the health of an Azure resource that is not a machine".to_owned(),
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
    let mut event = facts.host_event(activity.at, &machine, what);
    activity.place(&mut event);
    let cause = activity.property(&["healthEventCause", "cause"]);
    event.reason = (!cause.is_empty()).then(|| cause.to_owned());
    set_initiator(&mut event, cause);
    let details = activity.property(&["details"]);
    set_message(&mut event, &format!("{title}\n{details}"));
    let health = activity.property(&["healthStatus", "currentHealthStatus"]);
    set_text(&mut event, "health", Some(health));
    let before = activity.property(&["previousHealthStatus"]);
    set_text(&mut event, "previous_health", Some(before));
    let kind = activity.property(&["healthEventType", "type"]);
    set_text(&mut event, "health_event_type", Some(kind));
    set_text(&mut event, "category", Some(category));
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
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
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
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
    let read = |keys: &[&str]| text_time::read(&Value::from(activity.property(keys)));
    let begun = read(&["impactStartTime"]);
    let ended = read(&["impactMitigationTime"]);
    let notice = HealthNotice {
        activity,
        facts,
        kind,
        stage: &stage,
        window: (begun, ended),
    };
    let mut say = |at: ParsedTime, phase: Phase| {
        let event = notice.say(at, phase, maintenance);
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    };
    if maintenance {
        let phase = match stage.as_str() {
            _ if over => Phase::Ended,
            "planned" => Phase::Announced,
            _ => Phase::Started,
        };
        say(activity.at, phase);
        return Ok(());
    }
    // A trouble lasts, from its start to its end: when Azure last wrote of it does not matter.
    if begun.is_some() || !over {
        say(begun.unwrap_or(activity.at), Phase::Started);
    }
    if over {
        say(ended.unwrap_or(activity.at), Phase::Ended);
    }
    Ok(())
}

struct HealthNotice<'n> {
    activity: &'n Activity<'n>,
    facts: &'n FactBuilder<'n>,
    kind: &'n str,
    stage: &'n str,
    /// When the impact began and ended.
    window: (Option<ParsedTime>, Option<ParsedTime>),
}

impl HealthNotice<'_> {
    fn say(&self, at: ParsedTime, phase: Phase, planned: bool) -> Event {
        let activity = self.activity;
        let tracking = activity.property(&["trackingId"]);
        let (begun, ended) = self.window;
        let what = HostEvent {
            name: self.kind,
            phase,
            planned: Some(planned),
            event_id: if tracking.is_empty() {
                activity.event_id
            } else {
                tracking
            },
            not_before: begun.map(|read| read.stamp),
            not_after: ended.map(|read| read.stamp),
        };
        let machine = Machine::of(Cloud::Azure);
        let mut event = self.facts.host_event(at, &machine, what);
        if phase == Phase::Started && !planned {
            event.end = ended
                .map(|read| read.stamp)
                .filter(|end| end.lo > at.stamp.lo);
        }
        activity.place(&mut event);
        event.reason = (!self.stage.is_empty()).then(|| self.stage.to_owned());
        let (services, regions) = impacted(activity);
        set_text(&mut event, "region", Some(&regions.join(", ")));
        set_text(&mut event, "service", Some(&services.join(", ")));
        set_places(&mut event, regions.iter().map(String::as_str));
        let title = activity.property(&["title", "defaultLanguageTitle"]);
        let communication = activity.property(&["communication", "defaultLanguageContent"]);
        set_message(&mut event, &format!("{title}\n{communication}"));
        event
    }
}

/// The services and regions that a notice is about: a list of both in a text,
/// else one of each.
fn impacted(activity: &Activity<'_>) -> (Vec<String>, Vec<String>) {
    let listed: Vec<Value> =
        serde_json::from_str(activity.property(&["impactedServices"])).unwrap_or_default();
    let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
    let mut services: Vec<String> = Vec::new();
    let mut regions: Vec<String> = Vec::new();
    for one in &listed {
        services.extend(text(one, "ServiceName"));
        let places = one.get("ImpactedRegions").and_then(Value::as_array);
        let names = places.into_iter().flatten();
        regions.extend(names.filter_map(|place| text(place, "RegionName")));
    }
    for (found, key) in [(&mut services, "service"), (&mut regions, "region")] {
        if found.is_empty() {
            let parts = activity.property(&[key]).split([',', ';']);
            found.extend(parts.map(|part| part.trim().to_owned()));
        }
        found.retain(|name| !name.is_empty());
        found.sort_unstable();
        found.dedup();
    }
    (services, regions)
}
