//! `compute.googleapis.com/activity_log`, which Cloud Audit replaced.

use super::compute::nature;
use super::entry::Entry;
use super::error;
use crate::cloud::fact::{Activity, FactBuilder, HostEvent, Outcome, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::ForeignOutput;
use crate::observation::{Observation, Rejection};

pub(super) fn decode(
    entry: &Entry<'_>,
    payload: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let Some(method) = field::text(payload, &["event_subtype"]) else {
        return Err(Rejection::Malformed(
            "an activity of Compute Engine without event_subtype".to_owned(),
        ));
    };
    let mut machine = entry.machine(None);
    if field::text(payload, &["resource", "type"]) == Some("instance") {
        machine.name = field::owned(payload, &["resource", "name"]).or(machine.name);
        machine.id = field::owned(payload, &["resource", "id"]).or(machine.id);
        machine.zone = field::owned(payload, &["resource", "zone"]).or(machine.zone);
    }
    let event_id = field::text(payload, &["operation", "name"])
        .or_else(|| field::text(payload, &["trace_id"]))
        .unwrap_or_else(|| entry.event_id());
    let actor = field::text(payload, &["actor", "user"]);
    let failure = error::of_list(field::objects(payload, &["error"]));
    let mut event = if actor == Some("system") {
        let (phase, planned) = nature(method);
        let what = HostEvent {
            name: method,
            phase,
            planned,
            event_id,
            not_before: None,
            not_after: None,
        };
        facts.host_event(entry.time, &machine, what)
    } else {
        let done = field::text(payload, &["event_type"]) == Some("GCE_OPERATION_DONE");
        let outcome = match (&failure, done) {
            (Some(_), _) => Outcome::Failed,
            (None, true) => Outcome::Succeeded,
            (None, false) => Outcome::Started,
        };
        let what = Activity {
            method,
            outcome,
            event_id,
            actor,
            error: failure.as_ref().map(|failure| failure.code.as_str()),
        };
        facts.activity(entry.time, &machine, what)
    };
    entry.place(&mut event);
    event.actor = actor.map(str::to_owned);
    let details = field::objects(payload, &["info"])
        .find_map(|info| field::text(info, &["detail_message"]))
        .map(str::to_owned)
        .or_else(|| failure.map(|failure| failure.text));
    set_message(&mut event, &details.unwrap_or_default());
    set_text(
        &mut event,
        "user_agent",
        field::text(payload, &["user_agent"]),
    );
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}
