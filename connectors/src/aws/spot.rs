//! `aws ec2 describe-spot-instance-requests`: how a spot instance came to its end.

use super::{machine, tags};
use crate::cloud::fact::{Activity, FactBuilder, HostEvent, Outcome, Phase, set_message, set_text};
use crate::cloud::field;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::observation::{Observation, Rejection};

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let code = field::text(fields, &["Status", "Code"]).unwrap_or_default();
    let waits = matches!(
        code,
        "capacity-not-available"
            | "capacity-oversubscribed"
            | "price-too-low"
            | "launch-group-constraint"
            | "az-group-constraint"
            | "placement-group-constraint"
            | "constraint-not-fulfillable"
    );
    let marked = code.starts_with("marked-for-");
    let taken = (code.starts_with("instance-terminated-") || code.starts_with("instance-stopped-"))
        && !code.ends_with("-by-user")
        && !code.ends_with("-by-schedule");
    if !waits && !marked && !taken {
        return Err(Rejection::Irrelevant(format!("a spot request: {code}")));
    }
    let Some(at) = field::time(fields, &["Status", "UpdateTime"]) else {
        return Err(Rejection::Malformed(
            "a spot request without the time of its status".to_owned(),
        ));
    };
    let mut machine = machine(field::text(fields, &["InstanceId"]), None);
    machine.zone = field::owned(fields, &["LaunchedAvailabilityZone"]);
    let event_id = field::text(fields, &["SpotInstanceRequestId"]).unwrap_or_default();
    let facts = FactBuilder::new(SourceKind::Aws, &record);
    let mut event = if waits {
        let what = Activity {
            method: "RequestSpotInstances",
            outcome: Outcome::Failed,
            event_id,
            actor: None,
            error: Some(code),
        };
        facts.activity(at, &machine, what)
    } else {
        let what = HostEvent {
            name: code,
            phase: if marked {
                Phase::Announced
            } else {
                Phase::Acted
            },
            planned: Some(false),
            event_id,
            not_before: None,
            not_after: None,
        };
        facts.host_event(at, &machine, what)
    };
    let labels = tags(field::objects(fields, &["Tags"]));
    event.entities.experiment = field::experiment(&labels);
    set_message(
        &mut event,
        field::text(fields, &["Status", "Message"]).unwrap_or_default(),
    );
    set_text(&mut event, "spot_request", Some(event_id));
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}
