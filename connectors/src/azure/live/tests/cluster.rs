//! A cluster of Azure that loses machines.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::SUBSCRIPTION;
use super::manager::FakeManager;
use crate::event::Event;

const GROUP: &str = "/subscriptions/0B1F6471-1BF0-4DDA-AEC3-CB9272F09590/resourcegroups/mc_RG_lab_eastus/providers/Microsoft.Compute";

pub(super) fn vmss() -> String {
    format!("{GROUP}/virtualMachineScaleSets/aks-gpu-1-vmss")
}

pub(super) fn record(time: &str, resource: &str, operation: &str, more: Value) -> Value {
    let mut record = json!({
        "eventTimestamp": format!("2026-11-{time}.1234567Z"), "submissionTimestamp": "2026-11-21T11:00:00Z",
        "correlationId": "c-1", "eventDataId": format!("d-{time}"), "caller": "ada@example.com", "level": "Informational",
        "operationName": {"value": operation, "localizedValue": "x"}, "category": {"value": "Administrative"},
        "status": {"value": "Succeeded"}, "subStatus": {"value": null}, "resourceId": resource, "properties": {},
        "resourceProviderName": {"value": operation.split('/').next()}, "httpRequest": {"clientIpAddress": "192.0.2.1"},
    });
    let (Value::Object(to), Value::Object(more)) = (&mut record, more) else {
        panic!()
    };
    to.extend(more);
    record
}

/// A cluster that loses machines, and noise around it.
pub(super) fn log() -> Vec<Value> {
    let set = vmss();
    let machine = |n: u32| format!("{set}/virtualMachines/{n}");
    let delete =
        |ids: &str| json!({"properties": {"requestbody": format!("{{\"instanceIds\":[{ids}]}}")}});
    let health = json!({"category": {"value": "ResourceHealth"}, "caller": null, "status": {"value": "Active"},
        "properties": {"title": "down", "healthStatus": "Unavailable", "healthEventType": "Downtime", "healthEventCause": "PlatformInitiated", "healthEventCategory": "Unplanned"}});
    let maintenance = json!({"category": {"value": "ServiceHealth"}, "status": {"value": "Active"}, "resourceProviderName": {"value": null},
        "properties": {"incidentType": "Maintenance", "stage": "Planned", "trackingId": "T-1", "impactStartTime": "2026-11-21T10:30:00Z", "title": "hosts"}});
    vec![
        record(
            "21T10:40:00",
            &set,
            "Microsoft.Compute/virtualMachineScaleSets/delete/action",
            delete("\"3\""),
        ),
        record(
            "21T10:41:00",
            &set,
            "Microsoft.Compute/virtualMachineScaleSets/delete/action",
            delete("\"7\""),
        ),
        record(
            "21T10:30:00",
            &machine(3),
            "Microsoft.Resourcehealth/healthevent/Activated/action",
            health.clone(),
        ),
        record(
            "21T10:31:00",
            &machine(7),
            "Microsoft.Resourcehealth/healthevent/Activated/action",
            health,
        ),
        record(
            "21T10:20:00",
            &set,
            "Microsoft.Compute/virtualMachineScaleSets/write",
            json!({}),
        ),
        record(
            "21T10:10:00",
            &format!("{GROUP}/disks/d"),
            "Microsoft.Compute/disks/write",
            json!({}),
        ),
        record(
            "15T10:10:00",
            &machine(3),
            "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/restart/action",
            json!({}),
        ),
        record(
            "01T10:10:00",
            &machine(3),
            "Microsoft.Compute/virtualMachineScaleSets/virtualMachines/restart/action",
            json!({}),
        ),
        record(
            "21T10:00:00",
            &format!(
                "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/lab/agentPools/gpu"
            ),
            "Microsoft.ContainerService/managedClusters/agentPools/write",
            json!({}),
        ),
        record(
            "21T10:00:01",
            &format!(
                "/subscriptions/{SUBSCRIPTION}/resourceGroups/rg/providers/Microsoft.ContainerService/managedClusters/other/agentPools/gpu"
            ),
            "Microsoft.ContainerService/managedClusters/agentPools/write",
            json!({}),
        ),
        record(
            "18T09:00:00",
            &format!("/subscriptions/{SUBSCRIPTION}"),
            "Microsoft.ServiceHealth/maintenance/action",
            maintenance,
        ),
    ]
}

pub(super) fn instance(n: u32) -> Value {
    json!({"id": format!("{}/virtualMachines/{n}", vmss()), "name": format!("aks-gpu-1-vmss_{n}"), "instanceId": n.to_string(),
        "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines", "zones": ["1"], "tags": {"pool": "gpu"},
        "properties": {"vmId": format!("v-{n}"), "osProfile": {"computerName": format!("aks-gpu-1-vmss00000{n}")},
            "instanceView": {"statuses": [{"code": "PowerState/running", "displayStatus": "VM running"}]}}})
}

pub(super) fn down(id: &str, time: &str) -> (String, Vec<Value>) {
    let status = json!({"id": format!("{id}/providers/Microsoft.ResourceHealth/availabilityStatuses/current"), "name": "current",
        "type": "Microsoft.ResourceHealth/AvailabilityStatuses",
        "properties": {"availabilityState": "Unavailable", "reasonType": "Unplanned", "occuredTime": time, "title": "down"}});
    (id.to_lowercase(), vec![status])
}

pub(super) fn cluster() -> FakeManager {
    FakeManager {
        log: log(),
        machines: vec![instance(3), instance(7)],
        sets: vec![
            json!({"id": vmss(), "name": "aks-gpu-1-vmss", "type": "Microsoft.Compute/virtualMachineScaleSets",
            "properties": {"virtualMachineProfile": {"osProfile": {"computerNamePrefix": "aks-gpu-1-vmss"}}}}),
        ],
        health: vec![
            down(
                &format!("{}/virtualMachines/3", vmss()),
                "2026-11-21T10:30:00Z",
            ),
            down(
                &format!("{}/virtualMachines/7", vmss()),
                "2026-11-21T10:31:00Z",
            ),
        ],
        ..FakeManager::default()
    }
}

pub(super) fn methods(events: &[Event]) -> BTreeSet<String> {
    events
        .iter()
        .map(|event| {
            let what = event.attribute("method").or(event.attribute("host_event"));
            let node = event.entities.node.as_deref().unwrap_or("-");
            let cluster = event.entities.cluster.as_deref().unwrap_or("");
            format!(
                "{} {node}{cluster}",
                what.unwrap_or_default()
                    .rsplit("microsoft.")
                    .next()
                    .unwrap()
            )
        })
        .collect()
}
