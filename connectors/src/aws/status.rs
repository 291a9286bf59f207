//! `aws ec2 describe-instance-status`: events ahead, and checks that fail.

use super::machine;
use crate::cloud::fact::{FactBuilder, HostEvent, Phase, set_message, set_text};
use crate::cloud::field;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::observation::{Observation, Rejection};

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let mut machine = machine(field::text(fields, &["InstanceId"]), None);
    machine.zone = field::owned(fields, &["AvailabilityZone"]);
    let facts = FactBuilder::new(SourceKind::Aws, &record);
    let before = emitted.observations.len();
    for scheduled in field::objects(fields, &["Events"]) {
        // When it was announced is not said: the time is that of the event.
        let Some(at) = field::time(scheduled, &["NotBefore"]) else {
            return Err(Rejection::Malformed(
                "a scheduled event of EC2 without NotBefore".to_owned(),
            ));
        };
        let description = field::text(scheduled, &["Description"]).unwrap_or_default();
        let over = ["[Completed]", "[Canceled]"]
            .iter()
            .find(|word| description.starts_with(**word));
        let not_after = field::time(scheduled, &["NotAfter"]).map(|read| read.stamp);
        let what = HostEvent {
            name: field::text(scheduled, &["Code"]).unwrap_or_default(),
            phase: if over.is_some() {
                Phase::Ended
            } else {
                Phase::Announced
            },
            planned: Some(true),
            event_id: field::text(scheduled, &["InstanceEventId"]).unwrap_or_default(),
            not_before: Some(at.stamp),
            not_after,
        };
        let mut event = facts.host_event(at, &machine, what);
        event.end = not_after.filter(|end| end.lo > at.stamp.lo);
        let over = over.map(|word| word.trim_matches(['[', ']']));
        event.reason = over.map(str::to_owned);
        set_message(&mut event, description);
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
    for check in ["SystemStatus", "InstanceStatus", "AttachedEbsStatus"] {
        let impaired = field::objects(fields, &[check, "Details"])
            .find_map(|detail| field::time(detail, &["ImpairedSince"]));
        let status = field::text(fields, &[check, "Status"]);
        let (Some(at), Some("impaired")) = (impaired, status) else {
            continue;
        };
        let what = HostEvent {
            name: check,
            phase: Phase::Started,
            planned: Some(false),
            event_id: "",
            not_before: None,
            not_after: None,
        };
        let mut event = facts.host_event(at, &machine, what);
        event.reason = status.map(str::to_owned);
        set_text(&mut event, "check", Some(check));
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
    if emitted.observations.len() == before {
        return Err(Rejection::Irrelevant(
            "the status of a healthy instance".to_owned(),
        ));
    }
    Ok(())
}
