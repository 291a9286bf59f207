//! Azure: Activity Log, Resource Health, Service Health, Scheduled Events, machines.
//! [`Azure`] asks for them; what they say is read here, wherever it comes from.
//!
//! Contract: the Activity Log as `az monitor activity-log list` and the API
//! answer it, as diagnostic settings export it (other keys, other cases) and as
//! Log Analytics keeps it (`AzureActivity`); availability statuses; the document
//! of Scheduled Events; `az vm list`; containers' lines in `ContainerLogV2`. Values are compared in any mix of cases.

mod activity;
mod administrative;
mod autoscale;
mod availability;
mod container_log;
mod health;
pub(crate) mod live;
mod scheduled;
mod vm;

#[cfg(test)]
mod tests;

pub(crate) use container_log::ROWS_CSV;
pub use live::{Azure, AzureOptions, CloudPlace, LoginMethod, SCHEDULED_EVENTS};

use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::Event;
use crate::observation::Rejection;

/// Top-level keys that YAML of the command line is known by.
pub(crate) const YAML_KEYS: &[&str] = &["eventDataId", "eventTimestamp", "DocumentIncarnation"];

type Decode = fn(ForeignRecord<'_>, &mut ForeignOutput) -> Result<(), Rejection>;

fn kind_of(fields: &Fields) -> Option<Decode> {
    let has = |keys: &[&str]| keys.iter().all(|key| fields.contains_key(*key));
    let kind = field::text(fields, &["type"])
        .unwrap_or_default()
        .to_ascii_lowercase();
    if kind == "microsoft.resourcehealth/availabilitystatuses" {
        return Some(availability::decode);
    }
    if kind.starts_with("microsoft.compute/virtualmachine") && has(&["id", "name"]) {
        return Some(vm::decode);
    }
    if has(&["EventId", "EventType", "Resources"]) {
        return Some(scheduled::decode);
    }
    if container_log::is_row(fields) {
        return Some(container_log::decode);
    }
    activity::is_activity(fields).then_some(activity::decode)
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
        None => Err(Rejection::Irrelevant("not a record of Azure".to_owned())),
    }
}

/// Notes that a person asked for what Azure reports of a machine: `UserInitiated` in Resource Health,
/// `User` as the source of a scheduled event.
fn set_initiator(event: &mut Event, cause: &str) {
    let by_user = cause
        .chars()
        .filter(char::is_ascii_alphabetic)
        .collect::<String>()
        .to_ascii_lowercase();
    let by_user = ["user", "userinitiated", "customerinitiated"].contains(&by_user.as_str());
    event.set_attribute("initiated_by", by_user.then_some("user"));
}
