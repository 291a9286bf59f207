//! `az vm list` and `az vmss list-instances`: what a machine is.

use crate::cloud::fact::Scribe;
use crate::cloud::field;
use crate::cloud::identity::Machine;
use crate::event::SourceKind;
use crate::object::ObjectBody;
use crate::observation::Rejection;
use crate::recording::{ForeignRecord, Told};

pub(super) fn decode(record: ForeignRecord<'_>, told: &mut Told) -> Result<(), Rejection> {
    let fields = record.fields;
    let id = field::text(fields, &["id"]).unwrap_or_default();
    let Some(mut machine) = Machine::azure(id) else {
        return Err(Rejection::Irrelevant(
            "a resource of Azure that is no machine".to_owned(),
        ));
    };
    let host = field::owned(fields, &["osProfile", "computerName"])
        .or_else(|| field::owned(fields, &["properties", "osProfile", "computerName"]));
    machine.name = host.filter(|_| machine.group.is_some()).or(machine.name);
    let created = field::time(fields, &["timeCreated"])
        .or_else(|| field::time(fields, &["properties", "timeCreated"]))
        .map(|read| read.stamp);
    let body = ObjectBody {
        api_version: "Microsoft.Compute".to_owned(),
        labels: field::texts(fields, &["tags"]),
        created,
        started: created,
        phase: field::owned(fields, &["powerState"]),
        ..ObjectBody::default()
    };
    let scribe = Scribe::new(SourceKind::Azure, &record);
    told.observations
        .push(scribe.instance(&machine, created, body));
    Ok(())
}
