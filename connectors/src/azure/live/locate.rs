//! Finding the resources of machines that are known by name or `vmId` alone.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::{Map, Value};

use super::arm::{Arm, path};
use super::cover::ResourceTally;
use super::instances::{INSTANCES, VERSION};
use super::machine_scope::MachineScope;
use super::options::AzureOptions;
use crate::cloud::field;

/// What the machines of a subscription are called.
#[derive(Debug, Default)]
struct MachineNames {
    /// Resource ids by host name.
    by_name: BTreeMap<String, Vec<String>>,
    by_vm_id: BTreeMap<String, String>,
}

/// Looks for the resources of machines in a subscription.
pub(super) async fn locate(
    arm: &Arm,
    options: &AzureOptions,
    subscription: &str,
    wanted: &mut MachineScope,
    deadline: Instant,
    tally: &mut ResourceTally,
) {
    let mut found = MachineNames::default();
    let machines = list(subscription, "virtualMachines");
    let walked = arm
        .walk(machines, options.max_pages, deadline, |fields| {
            found.machine(&fields);
            true
        })
        .await;
    let mut whole = tally.walked(walked, INSTANCES);
    if !wanted.nameless.is_empty() {
        let sets = list(subscription, "virtualMachineScaleSets");
        let names = wanted.nameless.clone();
        let walked = arm
            .walk(sets, options.max_pages, deadline, |fields| {
                found.set(&fields, names.iter().map(String::as_str));
                true
            })
            .await;
        whole &= tally.walked(walked, INSTANCES);
    }
    for (name, ids) in &found.by_name {
        if !wanted.nameless.contains(name) {
            continue;
        }
        if ids.len() > 1 {
            let many = ids.len();
            tally
                .notes
                .push(format!("{name} is the name of {many} machines"));
        }
        for id in ids {
            wanted.found(Some(name), None, id);
        }
    }
    for (vm_id, id) in &found.by_vm_id {
        if wanted.vm_ids.contains(vm_id) {
            wanted.found(None, Some(vm_id), id);
        }
    }
    let missing = wanted.nameless.len() + wanted.vm_ids.len();
    if missing > 0 && whole {
        tally.notes.push(format!(
            "{missing} of the machines are not in this subscription, or not any more"
        ));
    }
}

fn list(subscription: &str, kind: &str) -> String {
    path(
        &format!("subscriptions/{subscription}/providers/Microsoft.Compute/{kind}"),
        &[VERSION],
    )
}

impl MachineNames {
    fn machine(&mut self, fields: &Map<String, Value>) {
        let Some(id) = field::owned(fields, &["id"]) else {
            return;
        };
        let text = |path: &[&str]| field::text(fields, path).map(str::to_ascii_lowercase);
        if let Some(vm_id) = text(&["properties", "vmId"]) {
            self.by_vm_id.insert(vm_id, id.clone());
        }
        let host = text(&["properties", "osProfile", "computerName"]);
        if let Some(name) = host.or_else(|| text(&["name"])) {
            self.named(&name, &id);
        }
    }

    /// The machines of a set are called by its prefix and a number.
    fn set<'n>(&mut self, fields: &Map<String, Value>, names: impl Iterator<Item = &'n str>) {
        let profile = ["properties", "virtualMachineProfile", "osProfile"];
        let prefix = field::text(fields, &[&profile[..], &["computerNamePrefix"]].concat())
            .or_else(|| field::text(fields, &["name"]))
            .map(str::to_ascii_lowercase);
        let (Some(prefix), Some(id)) = (prefix, field::text(fields, &["id"])) else {
            return;
        };
        for name in names {
            let number = name.strip_prefix(prefix.as_str()).and_then(number);
            if let Some(number) = number {
                self.named(name, &format!("{id}/virtualMachines/{number}"));
            }
        }
    }

    fn named(&mut self, name: &str, id: &str) {
        let ids = self.by_name.entry(name.to_owned()).or_default();
        if !ids.iter().any(|known| known.eq_ignore_ascii_case(id)) {
            ids.push(id.to_owned());
        }
    }
}

/// The number of a machine of a scale set: six digits to the base 36.
fn number(digits: &str) -> Option<u32> {
    let good = digits.len() == 6 && digits.bytes().all(|byte| byte.is_ascii_alphanumeric());
    u32::from_str_radix(digits, 36).ok().filter(|_| good)
}
