//! JSON records about machines and containers on them: MAAS's events, Redfish's log entries, reports
//! of a GPU diagnostic, a team's own calendar, and what Terraform says.

use std::sync::Arc;

use chrono::NaiveDateTime;
use serde_json::{Map, Value};

use super::emit::Emitter;
use super::line::{HostLine, LineTime};
use super::place::PlacedTime;
use super::{calendar, container, dcgm, terraform};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::logs::clock::Clock;
use crate::observation::{Observation, Rejection};
use crate::time::Stamp;

fn has(fields: &Map<String, Value>, keys: &[&str]) -> bool {
    keys.iter().all(|key| fields.contains_key(*key))
}

/// Whether it is a record of one of these.
pub(crate) fn recognise(fields: &Map<String, Value>, _within: &str) -> bool {
    is_maas(fields)
        || is_redfish(fields)
        || calendar::is_record(fields)
        || dcgm::is_report(fields)
        || container::is_record(fields)
        || terraform::is_record(fields)
}

fn is_maas(fields: &Map<String, Value>) -> bool {
    has(
        fields,
        &[
            "hostname",
            "level",
            "created",
            "type",
            "description",
            "node",
        ],
    )
}

fn is_redfish(fields: &Map<String, Value>) -> bool {
    let typed = fields
        .get("@odata.type")
        .and_then(Value::as_str)
        .is_some_and(|kind| kind.starts_with("#LogEntry."));
    typed || has(fields, &["EntryType", "Created", "Message", "Severity"])
}

/// Decodes it.
pub(crate) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    if calendar::is_record(record.fields) {
        return calendar::decode(record, emitted);
    }
    if dcgm::is_report(record.fields) {
        return dcgm::decode(record, emitted);
    }
    if container::is_record(record.fields) {
        return container::decode(record, emitted);
    }
    if terraform::is_record(record.fields) {
        return terraform::decode(record, emitted);
    }
    let fields = record.fields;
    let get = |key: &str| {
        let text = fields.get(key).and_then(Value::as_str);
        text.map(str::trim).filter(|text| !text.is_empty())
    };
    let (line, stamp, actor) = if is_maas(fields) {
        maas(&get)?
    } else {
        redfish(fields, &get)?
    };
    let placed = PlacedTime {
        stamp: Some(stamp),
        inferred: None,
        ahead: None,
    };
    let raw = Value::Object(fields.clone()).to_string();
    let file = Arc::clone(&record.origin.file);
    let identity = file.to_string();
    let mut event = Emitter::new(file, identity, None).emit(line, placed, &raw, record.origin.line);
    event.actor = actor;
    emitted
        .observations
        .push(Observation::Event(Box::new(event)));
    Ok(())
}

type Read = Result<(HostLine, Stamp, Option<String>), Rejection>;

/// Types of MAAS's events that say what became of a machine.
const MAAS: &[&str] = &[
    "Node powered off",
    "Node changed status",
    "Marking node broken",
    "Marking node failed",
    "Rebooting",
    "Performing PXE boot",
    "Entering rescue mode",
    "Releasing",
    "Failed to query node's BMC",
    "Powering off",
    "User powering down node",
    "User releasing node",
    "User marking node broken",
    "User starting deployment",
    "User starting node commissioning",
    "User starting node testing",
    "Commissioning",
    "Failed commissioning",
    "Testing",
    "Failed testing",
    "Deploying",
    "Deployed",
    "Released",
    "Failed to power off node",
    "Failed to power on node",
];

fn maas<'t>(get: &dyn Fn(&str) -> Option<&'t str>) -> Read {
    let kind = get("type").unwrap_or_default();
    if !MAAS.contains(&kind) {
        return Err(Rejection::Irrelevant(format!("MAAS: {kind}")));
    }
    let created = get("created").unwrap_or_default();
    // `Thu, 29 Sep. 2022 20:04:17`, in UTC
    let stamp = NaiveDateTime::parse_from_str(created, "%a, %d %b. %Y %H:%M:%S")
        .or_else(|_| NaiveDateTime::parse_from_str(created, "%a, %d %b %Y %H:%M:%S"))
        .ok()
        .and_then(|time| time.and_utc().timestamp_nanos_opt())
        .map(Stamp::second)
        .ok_or_else(|| Rejection::Malformed("a MAAS event whose time is none".to_owned()))?;
    let message = match get("description") {
        Some(description) => format!("{kind}: {description}"),
        None => kind.to_owned(),
    };
    let line = HostLine {
        host: get("hostname").map(str::to_owned),
        program: Some("maas".to_owned()),
        severity: get("level").map(str::to_owned),
        ..HostLine::new(LineTime::Clock(Clock::Full(stamp)), &message)
    };
    let actor = get("username").filter(|name| *name != "unknown");
    Ok((line, stamp, actor.map(str::to_owned)))
}

fn redfish<'t>(fields: &Map<String, Value>, get: &dyn Fn(&str) -> Option<&'t str>) -> Read {
    let severity = get("Severity").unwrap_or("OK");
    if severity == "OK" {
        return Err(Rejection::Irrelevant("a log entry that says OK".to_owned()));
    }
    let stamp = get("EventTimestamp")
        .or_else(|| get("Created"))
        .and_then(Stamp::parse)
        .ok_or_else(|| Rejection::Malformed("a log entry whose time is none".to_owned()))?;
    let mut message = get("Message").unwrap_or_default().to_owned();
    if let Some(sensor) = get("SensorType") {
        message = format!("{sensor}: {message}");
    }
    if let Some(code) = get("EntryCode") {
        // As IPMI says it.
        let code = match code {
            "Assert" => "Asserted",
            "Deassert" => "Deasserted",
            other => other,
        };
        message = format!("{message}, {code}");
    }
    let host = ["HostName", "hostname", "SystemName"];
    let line = HostLine {
        host: host
            .iter()
            .find_map(|key| fields.get(*key)?.as_str())
            .map(str::to_owned),
        program: Some("bmc".to_owned()),
        severity: Some(severity.to_ascii_lowercase()),
        ..HostLine::new(LineTime::Clock(Clock::Full(stamp)), &message)
    };
    Ok((line, stamp, None))
}
