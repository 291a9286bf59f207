//! Resource Health's availability statuses: what a machine's health was, from when.

use crate::cloud::fact::{HostEvent, Phase, Scribe, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::cloud::identity::Machine;
use crate::cloud::time::Read;
use crate::event::SourceKind;
use crate::observation::{Observation, Rejection};
use crate::recording::{ForeignRecord, Told};

pub(super) fn decode(record: ForeignRecord<'_>, told: &mut Told) -> Result<(), Rejection> {
    let fields = record.fields;
    let id = field::text(fields, &["id"]).unwrap_or_default();
    let empty = Fields::new();
    let properties = field::object(fields, &["properties"]).unwrap_or(&empty);
    let Some(machine) = Machine::azure(id) else {
        return Err(Rejection::Irrelevant(
            "the health of a resource of Azure that is no machine".to_owned(),
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
                "the health of a machine that has no trouble".to_owned(),
            ));
        }
        (state, _) => (at, None, state),
    };
    let Some(at) = at else {
        return Err(Rejection::Malformed(
            "an availability status of Azure without occuredTime".to_owned(),
        ));
    };
    let scribe = Scribe::new(SourceKind::Azure, &record);
    tell(&scribe, (at, ended), &machine, state, properties, told);
    Ok(())
}

fn tell(
    scribe: &Scribe<'_>,
    (at, ended): (Read, Option<Read>),
    machine: &Machine,
    state: &str,
    properties: &Fields,
    told: &mut Told,
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
    let mut event = scribe.host_event(at, machine, what);
    event.end = ended.map(|read| read.stamp);
    // The words of the Activity Log for the same.
    let cause = match reason {
        "Planned" | "Unplanned" => Some("PlatformInitiated"),
        "UserInitiated" | "Customer Initiated" => Some("UserInitiated"),
        _ => None,
    };
    event.reason = cause.map(str::to_owned);
    set_text(&mut event, "health", Some(state));
    set_text(&mut event, "category", Some(reason));
    set_text(
        &mut event,
        "health_event_type",
        Some("Downtime").filter(|_| state == "Unavailable"),
    );
    let said = [title, text("summary"), text("detailedStatus")];
    set_message(&mut event, &said.join("\n"));
    told.observations.push(Observation::Event(Box::new(event)));
}
