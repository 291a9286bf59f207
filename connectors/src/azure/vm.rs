//! A machine as `az vm list`, `az vmss list-instances` and the API show it: what
//! it is, and what is announced for it.

use std::collections::BTreeMap;

use crate::cloud::fact::{FactBuilder, HostEvent, Phase, set_message};
use crate::cloud::field::{self, Fields};
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::{Event, SourceKind};
use crate::machine::Machine;
use crate::object::ObjectBody;
use crate::observation::{Observation, Rejection};

pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let id = field::text(fields, &["id"]).unwrap_or_default();
    let Some(mut machine) = Machine::azure(id) else {
        return Err(Rejection::Irrelevant(
            "an Azure resource that is not a machine".to_owned(),
        ));
    };
    let host = either(fields, &["osProfile", "computerName"]);
    machine.name = host
        .map(str::to_owned)
        .filter(|_| machine.group.is_some())
        .or(machine.name);
    machine.zone = field::words(fields, &["zones"]).next().map(str::to_owned);
    let created = field::time(fields, &["timeCreated"])
        .or_else(|| field::time(fields, &["properties", "timeCreated"]))
        .map(|read| read.stamp);
    let body = ObjectBody {
        api_version: "Microsoft.Compute".to_owned(),
        labels: field::texts(fields, &["tags"]),
        annotations: about(fields),
        created,
        started: created,
        phase: power(fields),
        ..ObjectBody::default()
    };
    let facts = FactBuilder::new(SourceKind::Azure, &record);
    emitted
        .observations
        .push(facts.instance(&machine, created, body));
    let announced = maintenance(&facts, &machine, fields);
    emitted
        .observations
        .extend(announced.map(|event| Observation::Event(Box::new(event))));
    Ok(())
}

/// A text that the command line has at the top and the API among the properties.
fn either<'a>(fields: &'a Fields, path: &[&str]) -> Option<&'a str> {
    let deeper = [&["properties"], path].concat();
    field::text(fields, path).or_else(|| field::text(fields, &deeper))
}

/// What else tells it from others, under Azure's names.
fn about(fields: &Fields) -> BTreeMap<String, String> {
    let size = either(fields, &["hardwareProfile", "vmSize"]);
    let zone = field::words(fields, &["zones"]).next();
    let all = [
        ("location", field::text(fields, &["location"])),
        ("priority", either(fields, &["priority"])),
        ("vmId", either(fields, &["vmId"])),
        (
            "vmSize",
            size.or_else(|| field::text(fields, &["sku", "name"])),
        ),
        ("zone", zone),
    ];
    all.into_iter()
        .filter_map(|(key, value)| Some((key.to_owned(), value?.to_owned())))
        .collect()
}

/// Whether it runs, in the words of the command line: `VM running`.
fn power(fields: &Fields) -> Option<String> {
    let state = field::owned(fields, &["powerState"]);
    state.or_else(|| {
        let statuses = statuses(fields, &["instanceView", "statuses"]).chain(statuses(
            fields,
            &["properties", "instanceView", "statuses"],
        ));
        let mut power = statuses.filter_map(|status| {
            let code = field::text(status, &["code"])?.strip_prefix("PowerState/")?;
            let shown = field::text(status, &["displayStatus"]);
            Some(shown.map_or_else(|| format!("VM {code}"), str::to_owned))
        });
        power.next()
    })
}

fn statuses<'a>(fields: &'a Fields, path: &[&str]) -> impl Iterator<Item = &'a Fields> + use<'a> {
    field::objects(fields, path)
}

/// Maintenance that will restart the machine. It has no time of its own: the
/// window's start is the time that matters.
fn maintenance(facts: &FactBuilder<'_>, machine: &Machine, fields: &Fields) -> Option<Event> {
    const KEY: &str = "maintenanceRedeployStatus";
    let status = field::object(fields, &["instanceView", KEY])
        .or_else(|| field::object(fields, &["properties", "instanceView", KEY]))?;
    let at = field::time(status, &["maintenanceWindowStartTime"])?;
    let until = field::time(status, &["maintenanceWindowEndTime"]);
    let what = HostEvent {
        name: KEY,
        phase: Phase::Announced,
        planned: Some(true),
        event_id: "",
        not_before: Some(at.stamp),
        not_after: until.map(|read| read.stamp),
    };
    let mut event = facts.host_event(at, machine, what);
    let message = field::text(status, &["lastOperationMessage"]).unwrap_or_default();
    set_message(&mut event, message);
    Some(event)
}
