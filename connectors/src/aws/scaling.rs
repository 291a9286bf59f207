//! Auto Scaling: what a group did to its instances, and why.

use super::bridge::Envelope;
use super::machine;
use crate::cloud::fact::{FactBuilder, Outcome, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::machine::Machine;
use crate::observation::{Observation, Rejection};
use crate::text_time::ParsedTime;

const ACTOR: &str = "autoscaling.amazonaws.com";

/// An activity as `describe-scaling-activities` lists it.
pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let facts = FactBuilder::new(SourceKind::Aws, &record);
    activity(record.fields, None, &facts, emitted)
}

/// The same as `EventBridge` delivers it.
pub(super) fn delivered(
    envelope: &Envelope<'_>,
    kind: &str,
    detail: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    activity(detail, Some((kind, envelope)), facts, emitted)
}

fn activity(
    fields: &Fields,
    delivered: Option<(&str, &Envelope<'_>)>,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let text = |key: &str| field::text(fields, &[key]).unwrap_or_default();
    let description = text("Description");
    let Some(at) = field::time(fields, &["StartTime"]).or(delivered.map(|(_, of)| of.at)) else {
        return Err(Rejection::Malformed(
            "a scaling activity without StartTime".to_owned(),
        ));
    };
    let kind = delivered.map_or("", |(kind, _)| kind);
    let reason = if description.starts_with("Launching") || kind.contains("Launch") {
        "launch"
    } else if description.starts_with("Terminating") || kind.contains("Terminate") {
        "terminate"
    } else {
        "other"
    };
    let mut machine = machine(
        field::text(fields, &["EC2InstanceId"]).or_else(|| instance_in(description)),
        delivered.and_then(|(_, of)| of.account),
    );
    machine.group = field::owned(fields, &["AutoScalingGroupName"]);
    machine.zone = zone(fields);
    let outcome = match text("StatusCode") {
        "Successful" => Outcome::Succeeded,
        "Failed" | "Cancelled" => Outcome::Failed,
        _ if kind.ends_with("Unsuccessful") => Outcome::Failed,
        _ if kind.ends_with("Successful") => Outcome::Succeeded,
        _ => Outcome::Started,
    };
    let words = [description, text("StatusMessage"), text("Cause")];
    let texts: Vec<&str> = words.into_iter().filter(|text| !text.is_empty()).collect();
    let done = ScalingActivity {
        at,
        reason,
        outcome,
        id: text("ActivityId"),
        machine: &machine,
        message: &texts.join("\n"),
        cause: text("Cause"),
    };
    let ended = field::time(fields, &["EndTime"]);
    done.emit(ended, facts, emitted);
    Ok(())
}

/// A lifecycle hook: the group is about to launch or terminate an instance.
pub(super) fn lifecycle(
    envelope: &Envelope<'_>,
    kind: &str,
    detail: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let mut machine = machine(field::text(detail, &["EC2InstanceId"]), envelope.account);
    machine.group = field::owned(detail, &["AutoScalingGroupName"]);
    let transition = field::text(detail, &["LifecycleTransition"]).unwrap_or_default();
    let terminates = transition.ends_with("TERMINATING") || kind.contains("-terminate");
    let id = field::text(detail, &["LifecycleActionToken"]).unwrap_or(envelope.id);
    let done = ScalingActivity {
        at: envelope.at,
        reason: if terminates { "terminate" } else { "launch" },
        outcome: Outcome::Started,
        id,
        machine: &machine,
        message: kind,
        cause: "",
    };
    done.emit(None, facts, emitted);
    Ok(())
}

/// What a group did.
struct ScalingActivity<'d> {
    at: ParsedTime,
    reason: &'d str,
    outcome: Outcome,
    id: &'d str,
    machine: &'d Machine,
    message: &'d str,
    cause: &'d str,
}

impl ScalingActivity<'_> {
    fn emit(
        &self,
        ended: Option<ParsedTime>,
        facts: &FactBuilder<'_>,
        emitted: &mut ForeignOutput,
    ) {
        let about = format!("{} {}", self.machine.key(), self.outcome.as_str());
        let mut event = facts.group_activity(self.at, ACTOR, self.reason, self.id, &about);
        self.machine.name_in(&mut event);
        event
            .object_kind
            .get_or_insert_with(|| "InstanceGroup".to_owned());
        event.end = ended
            .map(|read| read.stamp)
            .filter(|end| end.hi > event.time.hi);
        event.set_attribute("outcome", Some(self.outcome.as_str()));
        set_message(&mut event, self.message);
        set_text(&mut event, "cause", Some(self.cause));
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
}

/// `Terminating EC2 instance: i-… - Waiting for …` names it only here.
fn instance_in(description: &str) -> Option<&str> {
    description
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '-')
        .find(|word| word.starts_with("i-") && Machine::ec2(word).is_some())
}

/// The details are an object, or JSON in a text.
fn zone(fields: &Fields) -> Option<String> {
    if let Some(zone) = field::owned(fields, &["Details", "Availability Zone"]) {
        return Some(zone);
    }
    let details: Fields = serde_json::from_str(field::text(fields, &["Details"])?).ok()?;
    field::owned(&details, &["Availability Zone"])
}
