//! `aws ec2 describe-instances`: what an instance is, and why it stopped.

use super::state::State;
use super::{GROUP_TAG, machine, tags};
use crate::cloud::fact::FactBuilder;
use crate::cloud::field;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::object::ObjectBody;
use crate::observation::{Observation, Rejection};

/// A reservation: the instances that one call made.
pub(super) fn reservation(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let account = field::text(record.fields, &["OwnerId"]);
    for fields in field::objects(record.fields, &["Instances"]) {
        one(ForeignRecord { fields, ..record }, account, emitted)?;
    }
    Ok(())
}

/// An instance alone, as `--query` leaves it.
pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    one(record, None, emitted)
}

fn one(
    record: ForeignRecord<'_>,
    account: Option<&str>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let text = |path: &[&str]| field::text(fields, path).unwrap_or_default();
    let mut machine = machine(field::text(fields, &["InstanceId"]), account);
    if machine.id.is_none() {
        return Err(Rejection::Malformed(
            "an instance of EC2 without a good InstanceId".to_owned(),
        ));
    }
    machine.name = field::owned(fields, &["PrivateDnsName"]);
    machine.zone = field::owned(fields, &["Placement", "AvailabilityZone"]);
    let labels = tags(field::objects(fields, &["Tags"]));
    machine.group = labels.get(GROUP_TAG).cloned();
    let facts = FactBuilder::new(SourceKind::Aws, &record);
    let state = State {
        code: text(&["StateReason", "Code"]),
        message: text(&["StateReason", "Message"]),
        transition: text(&["StateTransitionReason"]),
        state: text(&["State", "Name"]),
    };
    let gone = matches!(state.state, "terminated" | "stopped");
    let launched = field::time(fields, &["LaunchTime"]).map(|read| read.stamp);
    let ended = state.at().map(|read| read.stamp).filter(|_| gone);
    let experiment = field::experiment(&labels);
    let body = ObjectBody {
        api_version: "ec2/2016-11-15".to_owned(),
        labels,
        created: launched,
        started: launched,
        ended,
        phase: Some(state.state.to_owned()),
        ..ObjectBody::default()
    };
    emitted
        .observations
        .push(facts.instance(&machine, ended.or(launched), body));
    if let Some(mut event) = state.emit(&machine, &facts) {
        event.entities.experiment = experiment;
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
    Ok(())
}
