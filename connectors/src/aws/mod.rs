//! AWS: `CloudTrail`, `EventBridge`, Health, and what EC2 and Auto Scaling list.
//!
//! Contract: files of `CloudTrail`, answers of `aws … --output json|yaml`, and
//! events of `EventBridge` as rules deliver them. A record about several
//! instances is a fact for each.

mod bridge;
mod health;
mod instance;
pub(crate) mod live;
mod scaling;
mod spot;
mod state;
mod status;
mod trail;

#[cfg(test)]
mod tests;

pub use live::{Aws, LiveOptions};

use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::machine::{Cloud, Machine};
use crate::observation::Rejection;

/// Top-level keys that YAML of the command line is known by.
pub(crate) const YAML_KEYS: &[&str] = &[
    "CloudTrailEvent",
    "eventSource",
    "Reservations",
    "InstanceStatuses",
    "SpotInstanceRequests",
    "Activities",
    "AutoScalingGroupName",
    "eventTypeCode",
];

type Decode = fn(ForeignRecord<'_>, &mut ForeignOutput) -> Result<(), Rejection>;

/// What is known by which keys; all of them must be there.
const KINDS: &[(&[&str], Decode)] = &[
    (&["CloudTrailEvent"], trail::found),
    (&["eventSource", "eventName", "eventTime"], trail::decode),
    (&["detail-type", "detail"], bridge::decode),
    (&["ReservationId", "Instances"], instance::reservation),
    (&["InstanceId", "LaunchTime", "State"], instance::decode),
    (&["InstanceId", "SystemStatus"], status::decode),
    (&["SpotInstanceRequestId", "Status"], spot::decode),
    (&["ActivityId", "AutoScalingGroupName"], scaling::decode),
    (&["eventTypeCode", "arn"], health::listed),
    (&["eventArn", "entityValue"], health::entity),
    (&["event", "eventDescription"], health::details),
    (&["NotBefore", "Code", "EventId"], unnamed),
];

fn kind_of(fields: &Fields) -> Option<Decode> {
    let found = KINDS
        .iter()
        .find(|(keys, _)| keys.iter().all(|key| fields.contains_key(*key)));
    found.map(|(_, decode)| *decode)
}

/// Whether it is one of these records.
pub(crate) fn recognise(fields: &Fields, _within: &str) -> bool {
    kind_of(fields).is_some()
}

/// Decodes what [`recognise`] knows.
///
/// # Errors
/// Says why a record is of no use.
pub(crate) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    match kind_of(record.fields) {
        Some(decode) => decode(record, emitted),
        None => Err(Rejection::Irrelevant("not a record of AWS".to_owned())),
    }
}

/// What the metadata service says to the instance itself.
fn unnamed(_: ForeignRecord<'_>, _: &mut ForeignOutput) -> Result<(), Rejection> {
    Err(Rejection::Irrelevant(
        "maintenance of an unnamed instance".to_owned(),
    ))
}

/// An instance by its id, or one that is not known.
fn machine(id: Option<&str>, account: Option<&str>) -> Machine {
    let mut machine = id
        .and_then(Machine::ec2)
        .unwrap_or_else(|| Machine::of(Cloud::Aws));
    machine.account = machine.account.or_else(|| account.map(str::to_owned));
    machine
}

/// Tags as lists of pairs, in either spelling.
fn tags<'a>(pairs: impl Iterator<Item = &'a Fields>) -> std::collections::BTreeMap<String, String> {
    let either = |pair: &Fields, a: &str, b: &str| {
        field::owned(pair, &[a]).or_else(|| field::owned(pair, &[b]))
    };
    pairs
        .filter_map(|pair| Some((either(pair, "Key", "key")?, either(pair, "Value", "value")?)))
        .collect()
}

/// The tag by which Auto Scaling marks its instances.
const GROUP_TAG: &str = "aws:autoscaling:groupName";
