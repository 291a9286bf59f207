//! `EventBridge`: what services announce while it happens.

use super::{health, machine, scaling, trail};
use crate::cloud::fact::{FactBuilder, HostEvent, Phase, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::observation::{Observation, Rejection};
use crate::text_time::ParsedTime;

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let kind = field::text(fields, &["detail-type"]).unwrap_or_default();
    let Some(detail) = field::object(fields, &["detail"]) else {
        return Err(Rejection::Malformed(
            "an EventBridge event whose detail is not an object".to_owned(),
        ));
    };
    if kind.ends_with("via CloudTrail") {
        let fields = detail;
        return trail::decode(ForeignRecord { fields, ..record }, emitted);
    }
    let Some(at) = field::time(fields, &["time"]) else {
        return Err(Rejection::Malformed(
            "an event of EventBridge without a time that can be read".to_owned(),
        ));
    };
    let facts = FactBuilder::new(SourceKind::Aws, &record);
    let envelope = Envelope {
        account: field::text(fields, &["account"]),
        region: field::text(fields, &["region"]),
        id: field::text(fields, &["id"]).unwrap_or_default(),
        at,
    };
    match kind {
        "AWS Health Event" => health::delivered(&envelope, detail, &facts, emitted),
        _ if kind.starts_with("EC2 Instance Launch ")
            || kind.starts_with("EC2 Instance Terminate ") =>
        {
            scaling::delivered(&envelope, kind, detail, &facts, emitted)
        }
        _ if kind.ends_with("Lifecycle Action") => {
            scaling::lifecycle(&envelope, kind, detail, &facts, emitted)
        }
        _ => about_instance(&envelope, kind, detail, &facts, emitted),
    }
}

/// What every event has around its detail.
pub(super) struct Envelope<'e> {
    pub(super) account: Option<&'e str>,
    pub(super) region: Option<&'e str>,
    pub(super) id: &'e str,
    pub(super) at: ParsedTime,
}

fn about_instance(
    envelope: &Envelope<'_>,
    kind: &str,
    detail: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let (phase, planned) = match kind {
        "EC2 Spot Instance Interruption Warning"
        | "EC2 Instance Rebalance Recommendation"
        | "EC2 Interruptible Capacity Reservation Instance Interruption Warning"
        | "EC2 Capacity Block Reservation Expiration Warning" => (Phase::Announced, Some(false)),
        "EC2 Instance State-change Notification" => (Phase::Acted, None),
        other => {
            return Err(Rejection::Irrelevant(format!(
                "an event of EventBridge: {other}"
            )));
        }
    };
    let id = field::text(detail, &["instance-id"]).or_else(|| field::text(detail, &["instanceId"]));
    let machine = machine(id, envelope.account);
    let ends = field::time(detail, &["instance-termination-time"]);
    let what = HostEvent {
        name: kind,
        phase,
        planned,
        event_id: envelope.id,
        not_before: ends.map(|at| at.stamp),
        not_after: None,
    };
    let mut event = facts.host_event(envelope.at, &machine, what);
    let action = field::text(detail, &["instance-action"]);
    event.reason = action
        .or_else(|| field::text(detail, &["state"]))
        .map(str::to_owned);
    set_text(&mut event, "region", envelope.region);
    let reason = event.reason.as_deref().unwrap_or_default();
    let message = format!("{kind}: {reason}");
    set_message(&mut event, message.trim_end_matches(": "));
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}
