//! `EventBridge`: what services announce while it happens.

use super::{health, machine, scaling, trail};
use crate::cloud::fact::{HostEvent, Phase, Scribe, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::cloud::time::Read;
use crate::event::SourceKind;
use crate::observation::{Observation, Rejection};
use crate::recording::{ForeignRecord, Told};

pub(super) fn decode(record: ForeignRecord<'_>, told: &mut Told) -> Result<(), Rejection> {
    let fields = record.fields;
    let kind = field::text(fields, &["detail-type"]).unwrap_or_default();
    let Some(detail) = field::object(fields, &["detail"]) else {
        return Err(Rejection::Malformed(
            "an event of EventBridge whose detail is no object".to_owned(),
        ));
    };
    if kind.ends_with("via CloudTrail") {
        let fields = detail;
        return trail::decode(ForeignRecord { fields, ..record }, told);
    }
    let Some(at) = field::time(fields, &["time"]) else {
        return Err(Rejection::Malformed(
            "an event of EventBridge without a time that can be read".to_owned(),
        ));
    };
    let scribe = Scribe::new(SourceKind::Aws, &record);
    let envelope = Envelope {
        account: field::text(fields, &["account"]),
        region: field::text(fields, &["region"]),
        id: field::text(fields, &["id"]).unwrap_or_default(),
        at,
    };
    match kind {
        "AWS Health Event" => health::delivered(&envelope, detail, &scribe, told),
        _ if kind.starts_with("EC2 Instance Launch ")
            || kind.starts_with("EC2 Instance Terminate ") =>
        {
            scaling::delivered(&envelope, kind, detail, &scribe, told)
        }
        _ if kind.ends_with("Lifecycle Action") => {
            scaling::lifecycle(&envelope, kind, detail, &scribe, told)
        }
        _ => about_instance(&envelope, kind, detail, &scribe, told),
    }
}

/// What every event has around its detail.
pub(super) struct Envelope<'e> {
    pub(super) account: Option<&'e str>,
    pub(super) region: Option<&'e str>,
    pub(super) id: &'e str,
    pub(super) at: Read,
}

fn about_instance(
    envelope: &Envelope<'_>,
    kind: &str,
    detail: &Fields,
    scribe: &Scribe<'_>,
    told: &mut Told,
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
    let what = HostEvent {
        name: kind,
        phase,
        planned,
        event_id: envelope.id,
        not_before: None,
        not_after: None,
    };
    let mut event = scribe.host_event(envelope.at, &machine, what);
    let action = field::text(detail, &["instance-action"]);
    event.reason = action
        .or_else(|| field::text(detail, &["state"]))
        .map(str::to_owned);
    set_text(&mut event, "region", envelope.region);
    let said = event.reason.as_deref().unwrap_or_default();
    let message = format!("{kind}: {said}");
    set_message(&mut event, message.trim_end_matches(": "));
    told.observations.push(Observation::Event(Box::new(event)));
    Ok(())
}
