//! Google Cloud: log entries, operations and instances, read from files or asked
//! live ([`Gcp`]).
//!
//! Contract: `LogEntry` as `gcloud logging read`, `entries:list` and sinks write
//! it, and what `gcloud compute … list --format json` prints. One record is
//! decoded at a time: the two entries of a long operation are two facts with
//! one `event_id`.

mod activity_log;
mod autoscaler;
mod cluster;
mod compute;
mod entry;
mod error;
mod instance;
mod kubernetes;
mod lines;
pub(crate) mod live;
mod operation;
mod service_health;
mod table;

#[cfg(test)]
mod tests;

use entry::Entry;
pub use live::{Gcp, GcpLogin, GcpOptions};
pub(crate) use table::ENTRIES;

use crate::cloud::fact::FactBuilder;
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::observation::Rejection;

/// Top-level keys of a log entry that YAML is known by.
pub(crate) const YAML_KEYS: &[&str] = &["logName", "protoPayload", "insertId"];

/// Whether it is a log entry, an operation or an instance.
pub(crate) fn recognise(fields: &Fields, _within: &str) -> bool {
    is_entry(fields) || compute_kind(fields).is_some() || instance::is_maintenance(fields)
}

fn is_entry(fields: &Fields) -> bool {
    const PARTS: [&str; 5] = [
        "protoPayload",
        "jsonPayload",
        "textPayload",
        "insertId",
        "resource",
    ];
    fields
        .get("logName")
        .is_some_and(serde_json::Value::is_string)
        && PARTS.iter().any(|part| fields.contains_key(*part))
}

/// `instance` of `compute#instance`.
fn compute_kind(fields: &Fields) -> Option<&str> {
    field::text(fields, &["kind"])?.strip_prefix("compute#")
}

/// Decodes what [`recognise`] knows.
///
/// # Errors
/// Says why a record is of no use.
pub(crate) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    if let Some(kind) = compute_kind(record.fields) {
        return match kind {
            "operation" => operation::decode(record, emitted),
            "instance" => instance::decode(record, emitted),
            other => Err(Rejection::Irrelevant(format!(
                "a resource of Compute Engine: {other}"
            ))),
        };
    }
    if !is_entry(record.fields) {
        return Err(Rejection::Irrelevant(
            "maintenance of an unnamed instance".to_owned(),
        ));
    }
    let entry = Entry::read(record)?;
    let facts = FactBuilder::new(SourceKind::Gcp, &record);
    if let Some(audit) = entry.object("protoPayload") {
        return match field::text(audit, &["serviceName"]).unwrap_or_default() {
            "k8s.io" => kubernetes::audit(&entry, audit, emitted),
            "compute.googleapis.com" => compute::decode(&entry, audit, &facts, emitted),
            "container.googleapis.com" => cluster::decode(&entry, audit, &facts, emitted),
            other => Err(Rejection::Irrelevant(format!("an audit record of {other}"))),
        };
    }
    match (entry.log.as_str(), entry.object("jsonPayload")) {
        ("compute.googleapis.com/activity_log", Some(payload)) => {
            activity_log::decode(&entry, payload, &facts, emitted)
        }
        ("container.googleapis.com/cluster-autoscaler-visibility", Some(payload)) => {
            autoscaler::decode(&entry, payload, &facts, emitted)
        }
        (_, Some(payload)) if service_health::is_notice(payload) => {
            service_health::decode(&entry, payload, &facts, emitted)
        }
        // What a container wrote is a program's word, whatever it looks like.
        (_, Some(payload)) if kubernetes::is_event(payload) && !entry.is_of_container() => {
            kubernetes::event(&entry, payload, emitted)
        }
        _ => lines::decode(&entry, &facts, emitted),
    }
}
