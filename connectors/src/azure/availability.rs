//! Resource Health's availability statuses: what a machine's health was, from when.

use super::set_initiator;
use crate::cloud::fact::{FactBuilder, HostEvent, Phase, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::machine::Machine;
use crate::observation::{Observation, Rejection};
use crate::text_time::ParsedTime;

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let id = field::text(fields, &["id"]).unwrap_or_default();
    let empty = Fields::new();
    let properties = field::object(fields, &["properties"]).unwrap_or(&empty);
    let Some(machine) = Machine::azure(id) else {
        return Err(Rejection::Irrelevant(
            "the health of an Azure resource that is not a machine".to_owned(),
        ));
    };
    // The API misspells it.
    let at = field::time(properties, &["occuredTime"])
        .or_else(|| field::time(properties, &["occurredTime"]));
    let state = field::text(properties, &["availabilityState"]).unwrap_or_default();
    let was = field::object(properties, &["recentlyResolved"]);
    let (at, ended, state) = match (state, was) {
        ("Available", Some(was)) => (
            field::time(was, &["unavailableOccuredTime"])
                .or_else(|| field::time(was, &["unavailableOccurredTime"])),
            field::time(was, &["resolvedTime"]),
            "Unavailable",
        ),
        ("Available" | "Unknown" | "", None) => {
            return Err(Rejection::Irrelevant(
                "the health of a healthy machine".to_owned(),
            ));
        }
        (state, _) => (at, None, state),
    };
    let Some(at) = at else {
        return Err(Rejection::Malformed(
            "an availability status of Azure without occuredTime".to_owned(),
        ));
    };
    let facts = FactBuilder::new(SourceKind::Azure, &record);
    emit(&facts, (at, ended), &machine, state, properties, emitted);
    Ok(())
}

fn emit(
    facts: &FactBuilder<'_>,
    (at, ended): (ParsedTime, Option<ParsedTime>),
    machine: &Machine,
    state: &str,
    properties: &Fields,
    emitted: &mut ForeignOutput,
) {
    let text = |key: &str| field::text(properties, &[key]).unwrap_or_default();
    let reason = text("reasonType");
    let title = text("title");
    let what = HostEvent {
        name: if title.is_empty() { state } else { title },
        phase: Phase::Acted,
        planned: match reason {
            "Planned" => Some(true),
            "Unplanned" => Some(false),
            _ => None,
        },
        event_id: "",
        not_before: None,
        not_after: None,
    };
    let mut event = facts.host_event(at, machine, what);
    event.end = ended.map(|read| read.stamp);
    // The words of the Activity Log for the same.
    let cause = match reason {
        "Planned" | "Unplanned" => Some("PlatformInitiated"),
        "UserInitiated" | "Customer Initiated" => Some("UserInitiated"),
        _ => None,
    };
    event.reason = cause.map(str::to_owned);
    set_initiator(&mut event, cause.unwrap_or_default());
    set_text(&mut event, "health", Some(state));
    set_text(&mut event, "category", Some(reason));
    set_text(
        &mut event,
        "health_event_type",
        Some("Downtime").filter(|_| state == "Unavailable"),
    );
    let texts = [title, text("summary"), text("detailedStatus")];
    set_message(&mut event, &texts.join("\n"));
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
}
