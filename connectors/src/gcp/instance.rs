//! `gcloud compute instances list`: what an instance is, and what is announced for it.

use super::compute::upcoming;
use crate::cloud::fact::FactBuilder;
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::SourceKind;
use crate::machine::{Cloud, Machine};
use crate::object::ObjectBody;
use crate::observation::{Observation, Rejection};

/// Whether it is a bare `upcomingMaintenance` object.
pub(super) fn is_maintenance(fields: &Fields) -> bool {
    fields.contains_key("maintenanceStatus")
        && ["windowStartTime", "latestWindowStartTime", "canReschedule"]
            .iter()
            .any(|key| fields.contains_key(*key))
}

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let Some(name) = field::owned(fields, &["name"]) else {
        return Err(Rejection::Malformed(
            "an instance of Compute Engine without a name".to_owned(),
        ));
    };
    let mut machine = field::text(fields, &["selfLink"])
        .and_then(Machine::gce)
        .unwrap_or_else(|| Machine::of(Cloud::Gcp));
    machine.name = Some(name);
    machine.id = field::at(fields, &["id"]).and_then(field::scalar);
    let stamp = |path: &[&str]| field::time(fields, path).map(|read| read.stamp);
    let status = field::owned(fields, &["status"]);
    let stopped = matches!(
        status.as_deref(),
        Some("TERMINATED" | "STOPPED" | "SUSPENDED")
    );
    let created = stamp(&["creationTimestamp"]);
    let started = stamp(&["lastStartTimestamp"]).or(created);
    let ended = stamp(&["lastStopTimestamp"]).filter(|_| stopped);
    let body = ObjectBody {
        api_version: "compute/v1".to_owned(),
        labels: field::texts(fields, &["labels"]),
        created,
        started,
        ended,
        phase: status,
        ..ObjectBody::default()
    };
    let facts = FactBuilder::new(SourceKind::Gcp, &record);
    emitted
        .observations
        .push(facts.instance(&machine, ended.or(started), body));
    // It has no time of its own: the window's start is the time that matters.
    let announced = field::object(fields, &["resourceStatus", "upcomingMaintenance"])
        .or_else(|| field::object(fields, &["upcomingMaintenance"]));
    if let Some(announced) = announced
        && let Some(at) = field::time(announced, &["windowStartTime"])
            .or_else(|| field::time(announced, &["latestWindowStartTime"]))
    {
        let named = ("compute.instances.upcomingMaintenance", "");
        let event = upcoming(&facts, at, &machine, named, announced, "");
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
    Ok(())
}
