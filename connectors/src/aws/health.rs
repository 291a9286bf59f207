//! AWS Health: what is scheduled for, or wrong with, machines and services.

use super::bridge::Envelope;
use super::machine;
use crate::cloud::fact::{FactBuilder, HostEvent, Phase, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::{Event, SourceKind};
use crate::machine::Machine;
use crate::observation::{Observation, Rejection};
use crate::place::set_places;
use crate::text_time::ParsedTime;

/// A health event as `EventBridge` delivers it, with its entities.
pub(super) fn delivered(
    envelope: &Envelope<'_>,
    detail: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let description = field::objects(detail, &["eventDescription"])
        .find_map(|text| field::text(text, &["latestDescription"]));
    let health = Health {
        event: detail,
        at: envelope.at,
        region: envelope.region,
        description,
        facts,
    };
    health.check()?;
    let mut entities = 0;
    for entity in field::objects(detail, &["affectedEntities"]) {
        let id = field::text(entity, &["entityValue"]);
        let status = field::text(entity, &["status"]).or(field::text(entity, &["statusCode"]));
        health.emit(&machine(id, envelope.account), status, emitted);
        entities += 1;
    }
    if entities == 0 {
        health.emit(&machine(None, envelope.account), None, emitted);
    }
    Ok(())
}

/// An event as `DescribeEvents` lists it, without the machines.
pub(super) fn listed(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    list(record, record.fields, None, emitted)
}

/// An event with its text, as `DescribeEventDetails` answers.
pub(super) fn details(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let Some(event) = field::object(record.fields, &["event"]) else {
        return Err(Rejection::Irrelevant(
            "not a health event of AWS".to_owned(),
        ));
    };
    let description = field::text(record.fields, &["eventDescription", "latestDescription"]);
    list(record, event, description, emitted)
}

fn list(
    record: ForeignRecord<'_>,
    event: &Fields,
    description: Option<&str>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let at = field::time(event, &["lastUpdatedTime"])
        .or_else(|| field::time(event, &["startTime"]))
        .ok_or_else(|| Rejection::Malformed("a health event of AWS without a time".to_owned()))?;
    let facts = FactBuilder::new(SourceKind::Aws, &record);
    let health = Health {
        event,
        at,
        region: field::text(event, &["region"]),
        description,
        facts: &facts,
    };
    health.check()?;
    health.emit(&machine(None, None), None, emitted);
    Ok(())
}

/// A machine of an event, as `DescribeAffectedEntities` lists it.
pub(super) fn entity(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let Some(at) = field::time(fields, &["lastUpdatedTime"]) else {
        return Err(Rejection::Malformed(
            "an affected entity without lastUpdatedTime".to_owned(),
        ));
    };
    let arn = field::text(fields, &["eventArn"]).unwrap_or_default();
    let code = code_in(arn);
    let value = field::text(fields, &["entityValue"]);
    let machine = machine(value, field::text(fields, &["awsAccountId"]));
    if machine.id.is_none() {
        return Err(Rejection::Irrelevant(
            "an AWS Health event that is not about an instance".to_owned(),
        ));
    }
    let status = field::text(fields, &["statusCode"]);
    let what = HostEvent {
        name: &code,
        phase: phase(code.ends_with("_SCHEDULED"), status == Some("RESOLVED")),
        planned: Some(code.ends_with("_SCHEDULED")),
        event_id: arn,
        not_before: None,
        not_after: None,
    };
    let facts = FactBuilder::new(SourceKind::Aws, &record);
    let mut event = facts.host_event(at, &machine, what);
    set_text(&mut event, "entity_status", status);
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}

fn phase(scheduled: bool, over: bool) -> Phase {
    match (over, scheduled) {
        (true, _) => Phase::Ended,
        (false, true) => Phase::Announced,
        (false, false) => Phase::Started,
    }
}

/// The event's code, which its ARN holds: as a part of its own, else before the
/// id that ends it.
fn code_in(arn: &str) -> String {
    let path: Vec<&str> = arn.split('/').skip(1).collect();
    if let [_, code, _] = path.as_slice() {
        return (*code).to_owned();
    }
    let last = path.last().copied().unwrap_or_default();
    let Some((head, tail)) = last.rsplit_once('_') else {
        return last.to_owned();
    };
    let word: String = tail.chars().take_while(char::is_ascii_uppercase).collect();
    if word.is_empty() {
        return head.to_owned();
    }
    format!("{head}_{word}")
}

struct Health<'h> {
    event: &'h Fields,
    at: ParsedTime,
    region: Option<&'h str>,
    description: Option<&'h str>,
    facts: &'h FactBuilder<'h>,
}

impl Health<'_> {
    /// Turns away notices that are about no machine and no outage.
    fn check(&self) -> Result<(), Rejection> {
        let category = self.text("eventTypeCategory");
        // That a machine was moved off a failed host is told as a notice to its owner.
        // https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-configuration-recovery.html
        let recovered = self.text("eventTypeCode").contains("_AUTO_RECOVERY_");
        if !recovered && matches!(category, "accountNotification" | "investigation") {
            return Err(Rejection::Irrelevant(
                "a notice of AWS Health about the account".to_owned(),
            ));
        }
        Ok(())
    }

    fn text(&self, key: &str) -> &str {
        field::text(self.event, &[key]).unwrap_or_default()
    }

    fn emit(&self, machine: &Machine, entity_status: Option<&str>, emitted: &mut ForeignOutput) {
        let scheduled = self.text("eventTypeCategory") == "scheduledChange";
        let over = self.text("statusCode") == "closed" || entity_status == Some("RESOLVED");
        let mut say = |at: ParsedTime, phase: Phase| {
            let event = self.say(at, phase, machine, entity_status);
            emitted
                .observations
                .push(Observation::Event(Box::new(event)));
        };
        if scheduled {
            return say(self.at, phase(scheduled, over));
        }
        // A trouble lasts, from its start to its end: when AWS last wrote of it does not matter.
        let time = |key: &str| field::time(self.event, &[key]);
        let begun = time("startTime");
        if begun.is_some() || !over {
            say(begun.unwrap_or(self.at), Phase::Started);
        }
        if over {
            say(time("endTime").unwrap_or(self.at), Phase::Ended);
        }
    }

    fn say(
        &self,
        at: ParsedTime,
        phase: Phase,
        machine: &Machine,
        entity_status: Option<&str>,
    ) -> Event {
        let scheduled = self.text("eventTypeCategory") == "scheduledChange";
        let arn = field::text(self.event, &["eventArn"]).unwrap_or_else(|| self.text("arn"));
        let stamp = |key: &str| field::time(self.event, &[key]).map(|read| read.stamp);
        let what = HostEvent {
            name: self.text("eventTypeCode"),
            phase,
            planned: Some(scheduled),
            event_id: arn,
            not_before: stamp("startTime"),
            not_after: stamp("endTime"),
        };
        let mut event = self.facts.host_event(at, machine, what);
        if phase == Phase::Started {
            event.end = stamp("endTime").filter(|end| end.lo > event.time.lo);
        }
        event.reason = Some(self.text("eventTypeCategory").to_owned());
        set_message(
            &mut event,
            &self.description.unwrap_or_default().replace("\\n", "\n"),
        );
        set_text(&mut event, "region", self.region);
        set_text(&mut event, "service", Some(self.text("service")));
        set_text(&mut event, "entity_status", entity_status);
        set_text(&mut event, "scope", Some(self.text("eventScopeCode")));
        // Of one zone it is true there alone.
        let zone = self.text("availabilityZone");
        let place = if zone.is_empty() {
            self.region
        } else {
            Some(zone)
        };
        if machine.id.is_none() {
            set_places(&mut event, place.into_iter());
        }
        event
    }
}

#[cfg(test)]
mod tests {
    use super::code_in;

    #[test]
    fn an_arn_holds_the_code() {
        for (arn, code) in [
            (
                "arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED3d77",
                "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
            ),
            (
                "arn:aws:health:us-east-1::event/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED12-34",
                "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
            ),
            (
                "arn:aws:health:us-east-1::event/AWS_EC2_OPERATIONAL_ISSUE_1484",
                "AWS_EC2_OPERATIONAL_ISSUE",
            ),
        ] {
            assert_eq!(code_in(arn), code);
        }
    }
}
