//! `gcloud compute operations list`: what was done, with start and end in one.

use super::compute::nature;
use super::error;
use crate::cloud::fact::{Activity, FactBuilder, HostEvent, Outcome, set_message};
use crate::cloud::field;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::machine::Machine;
use crate::observation::{Observation, Rejection};

/// Operations that the platform itself started.
fn is_platforms(kind: &str, user: &str) -> bool {
    user == "system" || user == "system@google.com" || kind.starts_with("compute.instances.")
}

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let target = field::text(fields, &["targetLink"]).unwrap_or_default();
    let Some(mut machine) = Machine::gce(target) else {
        return Err(Rejection::Irrelevant(
            "a Compute Engine operation that is not about an instance".to_owned(),
        ));
    };
    machine.id = field::at(fields, &["targetId"])
        .and_then(field::scalar)
        .or(machine.id);
    let Some(time) =
        field::time(fields, &["startTime"]).or_else(|| field::time(fields, &["insertTime"]))
    else {
        return Err(Rejection::Malformed(
            "an operation of Compute Engine without startTime".to_owned(),
        ));
    };
    let kind = field::text(fields, &["operationType"]).unwrap_or_default();
    let user = field::text(fields, &["user"]).unwrap_or_default();
    let event_id = field::text(fields, &["name"]).unwrap_or_default();
    let failure = error::of_list(field::objects(fields, &["error", "errors"]));
    let facts = FactBuilder::new(SourceKind::Gcp, &record);
    let mut event = if is_platforms(kind, user) {
        let (phase, planned) = nature(kind);
        let what = HostEvent {
            name: kind,
            phase,
            planned,
            event_id,
            not_before: None,
            not_after: None,
        };
        facts.host_event(time, &machine, what)
    } else {
        let done = field::text(fields, &["status"]) == Some("DONE");
        let method = format!("compute.instances.{kind}");
        let what = Activity {
            method: &method,
            outcome: match (&failure, done) {
                (Some(_), _) => Outcome::Failed,
                (None, true) => Outcome::Succeeded,
                (None, false) => Outcome::Started,
            },
            event_id,
            actor: Some(user).filter(|user| !user.is_empty()),
            error: failure.as_ref().map(|failure| failure.code.as_str()),
        };
        facts.activity(time, &machine, what)
    };
    event.actor = Some(user.to_owned()).filter(|user| !user.is_empty());
    let ended = field::time(fields, &["endTime"]).map(|read| read.stamp);
    event.end = ended.filter(|end| end.hi > event.time.hi);
    let status_message = field::text(fields, &["statusMessage"])
        .map(str::to_owned)
        .or_else(|| failure.map(|failure| failure.text));
    set_message(&mut event, &status_message.unwrap_or_default());
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}
