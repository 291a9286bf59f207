//! Compute Engine's audit records: what the platform did to an instance, and
//! what somebody asked for.

use super::entry::{Entry, principal};
use super::error;
use crate::cloud::fact::{Activity, FactBuilder, HostEvent, Outcome, Phase, set_message, set_text};
use crate::cloud::field::{self, Fields};
use crate::contract::ForeignOutput;
use crate::event::Event;
use crate::machine::Machine;
use crate::observation::{Observation, Rejection};
use crate::text_time::ParsedTime;

/// What changes nothing.
const READING: [&str; 6] = [
    "list",
    "aggregatedList",
    "get",
    "describe",
    "testIamPermissions",
    "getIamPolicy",
];

pub(super) fn decode(
    entry: &Entry<'_>,
    audit: &Fields,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let method = unversioned(field::text(audit, &["methodName"]).unwrap_or_default());
    let verb = method.rsplit('.').next().unwrap_or_default();
    if READING.contains(&verb) || verb.starts_with("list") || entry.log.ends_with("/data_access") {
        return Err(Rejection::Irrelevant(
            "an audit record of a request that changes nothing".to_owned(),
        ));
    }
    if entry.log.ends_with("/system_event") {
        emitted
            .observations
            .push(Observation::Event(Box::new(system_event(
                entry, audit, method, facts,
            ))));
        return Ok(());
    }
    activity(entry, audit, method, facts, emitted)
}

/// `v1.compute.instances.delete` without what comes before `compute`.
pub(super) fn unversioned(method: &str) -> &str {
    match method.split_once('.') {
        Some((version, rest))
            if matches!(version, "alpha" | "beta")
                || (version.starts_with('v')
                    && version[1..].starts_with(|c: char| c.is_ascii_digit())) =>
        {
            rest
        }
        _ => method,
    }
}

/// How far an event of the platform is, and whether the platform chose its time.
pub(super) fn nature(method: &str) -> (Phase, Option<bool>) {
    match method.rsplit('.').next().unwrap_or_default() {
        "hostError"
        | "preempted"
        | "guestTerminate"
        | "recreateInstance"
        | "baremetalCaretakerPreempted" => (Phase::Acted, Some(false)),
        "migrateOnHostMaintenance" | "terminateOnHostMaintenance" => (Phase::Acted, Some(true)),
        "automaticRestart" => (Phase::Ended, Some(false)),
        _ => (Phase::Acted, None),
    }
}

fn system_event(entry: &Entry<'_>, audit: &Fields, method: &str, facts: &FactBuilder<'_>) -> Event {
    let machine = entry.machine(field::text(audit, &["resourceName"]));
    let message = field::text(audit, &["status", "message"]).unwrap_or_default();
    let empty = Fields::new();
    let metadata = field::object(audit, &["metadata"]).unwrap_or(&empty);
    let announced = field::object(metadata, &["upcomingMaintenance"]).unwrap_or(metadata);
    let mut event = if method.ends_with(".upcomingMaintenance")
        || method.ends_with(".upcomingInfraMaintenance")
    {
        let id = entry.event_id();
        upcoming(
            facts,
            entry.time,
            &machine,
            (method, id),
            announced,
            message,
        )
    } else {
        let (phase, planned) = nature(method);
        let what = HostEvent {
            name: method,
            phase,
            planned,
            event_id: entry.event_id(),
            not_before: None,
            not_after: None,
        };
        facts.host_event(entry.time, &machine, what)
    };
    entry.place(&mut event);
    event.actor = principal(audit).map(str::to_owned);
    set_message(&mut event, message);
    // Which physical machine it is on, where the platform tells.
    event.entities.host = field::owned(metadata, &["serverId"]);
    set_text(
        &mut event,
        "node_type",
        field::text(metadata, &["nodeType"]),
    );
    event
}

/// Maintenance that an `upcomingMaintenance` object tells of; `named` is its
/// name and id.
pub(super) fn upcoming(
    facts: &FactBuilder<'_>,
    at: ParsedTime,
    machine: &Machine,
    (name, event_id): (&str, &str),
    emitted: &Fields,
    message: &str,
) -> Event {
    let status = field::text(emitted, &["maintenanceStatus"]).unwrap_or_default();
    let over = ["completed", "canceled", "cancelled", "been removed"];
    let phase = if over.iter().any(|word| message.contains(word)) {
        Phase::Ended
    } else {
        match status {
            "ONGOING" => Phase::Started,
            "COMPLETE" | "COMPLETED" | "CANCELED" | "CANCELLED" => Phase::Ended,
            _ => Phase::Announced,
        }
    };
    let stamp = |key: &str| field::time(emitted, &[key]).map(|read| read.stamp);
    let what = HostEvent {
        name,
        phase,
        planned: field::text(emitted, &["type"]).map(|kind| kind != "UNSCHEDULED"),
        event_id,
        not_before: stamp("windowStartTime"),
        not_after: stamp("windowEndTime").or_else(|| stamp("latestWindowStartTime")),
    };
    let mut event = facts.host_event(at, machine, what);
    let reasons: Vec<&str> = field::words(emitted, &["maintenanceReasons"]).collect();
    event.reason = (!reasons.is_empty()).then(|| reasons.join(","));
    set_text(&mut event, "maintenance_status", Some(status));
    // A machine has one window at a time; each notice of it bears an id of its own.
    let series = name.rsplit('.').next();
    set_text(&mut event, "series", series);
    event
}

fn activity(
    entry: &Entry<'_>,
    audit: &Fields,
    method: &str,
    facts: &FactBuilder<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let about = method.split('.').nth(1).unwrap_or_default();
    let concerns = matches!(
        about,
        "instances"
            | "instanceGroupManagers"
            | "regionInstanceGroupManagers"
            | "instanceGroups"
            | "autoscalers"
            | "regionAutoscalers"
    ) || matches!(
        entry.resource,
        "gce_instance" | "gce_instance_group_manager"
    );
    if !concerns {
        return Err(Rejection::Irrelevant(format!(
            "an audit record about {about} of Compute Engine"
        )));
    }
    let failure = error::of_audit(audit);
    let first = field::flag(entry.record.fields, &["operation", "first"]);
    let last = field::flag(entry.record.fields, &["operation", "last"]);
    let outcome = match (&failure, first && !last) {
        (Some(_), _) => Outcome::Failed,
        (None, true) => Outcome::Started,
        (None, false) => Outcome::Succeeded,
    };
    let what = Activity {
        method,
        outcome,
        event_id: entry.event_id(),
        actor: principal(audit),
        error: failure.as_ref().map(|failure| failure.code.as_str()),
    };
    let resource = field::text(audit, &["resourceName"]);
    let group = resource.and_then(group_name);
    let mut machines: Vec<Machine> = field::words(audit, &["request", "instances"])
        .filter_map(|name| Machine::gce(name).or_else(|| relative(entry, name)))
        .collect();
    if machines.is_empty() {
        machines.push(entry.machine(resource));
    }
    for mut machine in machines {
        machine.group = machine.group.or_else(|| group.map(str::to_owned));
        let mut event = facts.activity(entry.time, &machine, what);
        event
            .object_kind
            .get_or_insert_with(|| "InstanceGroup".to_owned());
        entry.place(&mut event);
        if let Some(failure) = &failure {
            set_message(&mut event, &failure.text);
        }
        let agent = ["requestMetadata", "callerSuppliedUserAgent"];
        set_text(&mut event, "user_agent", field::text(audit, &agent));
        let size = field::at(audit, &["request", "size"]).and_then(field::scalar);
        event.set_attribute("size", size);
        let labels = labels(audit);
        event.entities.experiment = field::experiment(&labels);
        emitted
            .observations
            .push(Observation::Event(Box::new(event)));
    }
    Ok(())
}

/// `zones/Z/instances/N`, as requests to groups name instances.
fn relative(entry: &Entry<'_>, name: &str) -> Option<Machine> {
    let project = entry.project().unwrap_or_default();
    Machine::gce(&format!(
        "projects/{project}/{}",
        name.trim_start_matches('/')
    ))
}

fn group_name(resource: &str) -> Option<&str> {
    let (_, group) = resource.split_once("/instanceGroupManagers/")?;
    group.split('/').next()
}

/// The labels that an insert asks for: a list of pairs, or a map.
fn labels(audit: &Fields) -> std::collections::BTreeMap<String, String> {
    let mut labels = field::texts(audit, &["request", "labels"]);
    for pair in field::objects(audit, &["request", "labels"]) {
        if let (Some(key), Some(value)) =
            (field::owned(pair, &["key"]), field::owned(pair, &["value"]))
        {
            labels.insert(key, value);
        }
    }
    labels
}
