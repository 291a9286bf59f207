//! Records of Azure through the front door.

use serde_json::{Value, json};

use crate::contract::{Input, Options};
use crate::event::Event;
use crate::observation::Observation;
use crate::recording::{Summary, read};
use crate::sink::Sink;
use crate::time::rfc3339;

#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

fn observed(text: &str) -> (Summary, Vec<Event>) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    std::fs::write(&path, text).unwrap();
    let mut kept = Collected::default();
    let summary = read(&[Input::Path(path)], &Options::default(), &mut kept);
    assert_eq!(summary.total.rejected, 0, "{:?}", summary.rejected);
    let events = kept.0.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(*event),
        _ => None,
    });
    (summary, events.collect())
}

fn emitted(value: &Value) -> Vec<Event> {
    observed(&value.to_string()).1
}

const VM: &str =
    "/subscriptions/S-1/resourceGroups/RG/providers/Microsoft.Compute/virtualMachines/gpu-1";
const SET: &str = "/subscriptions/s-1/resourceGroups/rg/providers/Microsoft.Compute/virtualMachineScaleSets/aks-gpu-1-vmss";

fn activity(operation: &str, status: &str, more: Value) -> Value {
    let mut record = json!({
        "eventTimestamp": "2026-11-21T10:00:00.1234567Z", "submissionTimestamp": "2026-11-21T10:05:00Z",
        "correlationId": "c-1", "eventDataId": "d-1", "caller": "ada@example.com", "level": "Informational",
        "operationName": {"value": operation, "localizedValue": "x"}, "category": {"value": "Administrative"},
        "status": {"value": status}, "resourceId": VM, "properties": {},
    });
    if let (Value::Object(record), Value::Object(more)) = (&mut record, more) {
        record.extend(more);
    }
    record
}

#[test]
fn one_operation_is_told_alike_in_every_form_of_the_log() {
    let api = activity(
        "Microsoft.Compute/virtualMachines/delete",
        "Succeeded",
        json!({}),
    );
    let export = json!({"time": "2026-11-21T10:00:00.1234567Z", "resourceId": VM.to_uppercase(), "category": "Administrative",
        "operationName": "MICROSOFT.COMPUTE/VIRTUALMACHINES/DELETE", "resultType": "Success", "correlationId": "c-1",
        "identity": {"claims": {"http://schemas.xmlsoap.org/ws/2005/05/identity/claims/upn": "ada@example.com"}}});
    let analytics = json!({"TimeGenerated": "2026-11-21T10:00:00.1234567Z", "OperationNameValue": "MICROSOFT.COMPUTE/VIRTUALMACHINES/DELETE",
        "ActivityStatusValue": "Success", "Caller": "ada@example.com", "CorrelationId": "c-1", "_ResourceId": VM.to_lowercase(), "Properties": "{}"});
    let mut ids = Vec::new();
    for text in [
        api.clone(),
        json!([api]),
        json!({"value": [api], "nextLink": "x"}),
        export.clone(),
        json!({"records": [export]}),
        analytics,
    ] {
        let events = emitted(&text);
        assert_eq!(events.len(), 1, "{text}");
        let event = &events[0];
        assert_eq!(event.fact, "cloud.activity");
        assert_eq!(event.actor.as_deref(), Some("ada@example.com"));
        assert_eq!(event.attribute("outcome"), Some("succeeded"));
        assert_eq!(
            event.attribute("method"),
            Some("microsoft.compute/virtualmachines/delete")
        );
        assert_eq!(event.object_uid, Some(VM.to_lowercase()));
        assert_eq!(
            event
                .entities
                .node
                .as_deref()
                .map(str::to_lowercase)
                .as_deref(),
            Some("gpu-1")
        );
        assert_eq!(rfc3339(event.time.lo), "2026-11-21T10:00:00.123456700Z");
        ids.push(event.id);
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
}

#[test]
fn phases_share_an_id_and_a_failure_has_its_code() {
    let started = activity(
        "Microsoft.Compute/virtualMachines/write",
        "Started",
        json!({}),
    );
    let failed = activity(
        "Microsoft.Compute/virtualMachines/write",
        "Failed",
        json!({"properties": {"statusCode": "Conflict", "statusMessage": "{\"status\":\"Failed\",\"error\":{\"code\":\"ResourceOperationFailure\",\"message\":\"m\",\"details\":[{\"code\":\"AllocationFailed\",\"message\":\"no capacity\"}]}}"}}),
    );
    let events = emitted(&json!([started, failed]));
    assert_eq!(
        events[0].attribute("event_id"),
        events[1].attribute("event_id")
    );
    assert_eq!(events[0].attribute("outcome"), Some("started"));
    assert_eq!(events[1].attribute("outcome"), Some("failed"));
    assert_eq!(events[1].reason.as_deref(), Some("AllocationFailed"));
    assert_eq!(events[1].message.as_deref(), Some("no capacity"));
}

#[test]
fn a_call_to_a_scale_set_names_its_machines() {
    let record = activity(
        "Microsoft.Compute/virtualMachineScaleSets/delete/action",
        "Accepted",
        json!({"resourceId": SET, "properties": {"requestbody": "{\"instanceIds\":[\"3\",\"46\"]}"}}),
    );
    let events = emitted(&record);
    let names: Vec<_> = events
        .iter()
        .filter_map(|event| event.entities.node.as_deref())
        .collect();
    assert_eq!(names, ["aks-gpu-1-vmss000003", "aks-gpu-1-vmss00001a"]);
    assert!(
        events
            .iter()
            .all(|event| event.attribute("group") == Some("aks-gpu-1-vmss"))
    );
    let whole = activity(
        "Microsoft.Compute/virtualMachineScaleSets/delete",
        "Succeeded",
        json!({"resourceId": SET}),
    );
    assert_eq!(
        emitted(&whole)[0].object_kind.as_deref(),
        Some("InstanceGroup")
    );
}

#[test]
fn health_is_read_in_both_dialects() {
    let health = |operation: &str, properties: Value| {
        let more = json!({"category": {"value": "ResourceHealth"}, "caller": null, "properties": properties});
        emitted(&activity(operation, "Active", more)).remove(0)
    };
    let one = health(
        "Microsoft.Resourcehealth/healthevent/Activated/action",
        json!({"title": "Unavailable", "details": "x", "healthStatus": "Unavailable", "healthEventType": "Downtime",
               "healthEventCause": "PlatformInitiated", "healthEventCategory": "Unplanned"}),
    );
    let other = health(
        "Microsoft.Resourcehealth/healthevent/Activated/action",
        json!({"title": "Unavailable", "details": "x", "currentHealthStatus": "Unavailable", "previousHealthStatus": "Available",
               "type": "Downtime", "cause": "PlatformInitiated"}),
    );
    for event in [&one, &other] {
        assert_eq!(event.fact, "cloud.host_event");
        assert_eq!(event.reason.as_deref(), Some("PlatformInitiated"));
        assert_eq!(event.attribute("health"), Some("Unavailable"));
        assert_eq!(event.attribute("health_event_type"), Some("Downtime"));
        assert_eq!(event.attribute("phase"), Some("acted"));
    }
    assert_eq!(one.attributes["planned"], json!(false));
    let ended = health(
        "Microsoft.Resourcehealth/healthevent/Resolved/action",
        json!({"title": "t"}),
    );
    assert_eq!(ended.attribute("phase"), Some("ended"));
}

#[test]
fn scheduled_events_name_machines_and_their_time() {
    let document = json!({"DocumentIncarnation": 2, "Events": [
        {"EventId": "e-1", "EventType": "Preempt", "ResourceType": "VirtualMachine", "Resources": ["aks-gpu-1-vmss_3"],
         "EventStatus": "Scheduled", "NotBefore": "Sat, 21 Nov 2026 10:00:30 GMT", "EventSource": "Platform", "DurationInSeconds": -1},
        {"EventId": "e-2", "EventType": "Freeze", "ResourceType": "VirtualMachine", "Resources": ["gpu-1", "gpu-2"],
         "EventStatus": "Started", "NotBefore": ""}]});
    let events = emitted(&document);
    assert_eq!(events.len(), 3);
    assert_eq!(
        events[0].entities.node.as_deref(),
        Some("aks-gpu-1-vmss000003")
    );
    assert_eq!(rfc3339(events[0].time.lo), "2026-11-21T10:00:30Z");
    assert_eq!(events[0].attributes["planned"], json!(false));
    assert_eq!(events[1].attribute("phase"), Some("started"));
    assert_eq!(events[1].attribute("time_inferred"), Some("none"));
}

#[test]
fn availability_is_told_where_there_was_trouble() {
    let status = |properties: Value| {
        json!({"value": [{"id": format!("{VM}/providers/Microsoft.ResourceHealth/availabilityStatuses/current"),
            "type": "Microsoft.ResourceHealth/AvailabilityStatuses", "properties": properties}]})
    };
    let down = status(
        json!({"availabilityState": "Unavailable", "reasonType": "Unplanned", "occuredTime": "2026-11-21T10:00:00Z"}),
    );
    let events = emitted(&down);
    assert_eq!(events[0].object_uid, Some(VM.to_lowercase()));
    assert_eq!(events[0].reason.as_deref(), Some("PlatformInitiated"));
    let fine =
        status(json!({"availabilityState": "Available", "occuredTime": "2026-11-21T10:00:00Z"}));
    let (summary, events) = observed(&fine.to_string());
    assert_eq!((summary.total.irrelevant, events.len()), (1, 0));
}

#[test]
fn autoscale_and_outages_say_what_of_whom() {
    let scale = activity(
        "Microsoft.Insights/AutoscaleSettings/Scaledown/Action",
        "Succeeded",
        json!({"category": {"value": "Autoscale"}, "resourceId": "/subscriptions/s-1/resourceGroups/rg/providers/microsoft.insights/autoscalesettings/a",
               "properties": {"ResourceName": SET, "OldInstancesCount": "3", "NewInstancesCount": "2"}}),
    );
    let event = emitted(&scale).remove(0);
    assert_eq!(event.fact, "cloud.group_activity");
    assert_eq!(event.reason.as_deref(), Some("scale_down"));
    assert_eq!(event.attribute("group"), Some("aks-gpu-1-vmss"));
    let outage = activity(
        "Microsoft.ServiceHealth/incident/action",
        "Active",
        json!({"category": {"value": "ServiceHealth"}, "resourceId": "/subscriptions/s-1", "properties": {"incidentType": "Incident",
               "stage": "Active", "trackingId": "T-1", "region": "UK South", "service": "Virtual Machines",
               "impactStartTime": "2026-11-21T09:00:00.0000000Z", "title": "trouble"}}),
    );
    let event = emitted(&outage).remove(0);
    assert_eq!(event.attribute("host_event"), Some("Incident"));
    assert_eq!(event.attribute("phase"), Some("started"));
    assert_eq!(event.attribute("event_id"), Some("T-1"));
    assert_eq!(event.attribute("not_before"), Some("2026-11-21T09:00:00Z"));
    assert_eq!(event.object_kind, None);
    assert_eq!(rfc3339(event.time.lo), "2026-11-21T09:00:00Z");
    assert_eq!(event.attribute("places"), Some("uksouth"));
}

#[test]
fn an_outage_that_is_over_began_and_ended() {
    let impacted = json!([{"ImpactedRegions": [{"RegionName": "West US 2"}, {"RegionName": "Global"}], "ServiceName": "Virtual Machines"},
        {"ImpactedRegions": [{"RegionName": "West US 2"}], "ServiceName": "Azure Kubernetes Service (AKS)"}]);
    let outage = activity(
        "Microsoft.ServiceHealth/incident/action",
        "Resolved",
        json!({"category": {"value": "ServiceHealth"}, "resourceId": "/subscriptions/s-1", "properties": {"incidentType": "Incident",
               "stage": "RCA", "trackingId": "T-1", "region": "West US 2", "service": "Virtual Machines", "impactedServices": impacted.to_string(),
               "impactStartTime": "2026-11-21T09:00:00Z", "impactMitigationTime": "2026-11-21T10:30:00Z", "title": "trouble"}}),
    );
    let events = emitted(&outage);
    let phases: Vec<_> = events
        .iter()
        .map(|event| (event.attribute("phase"), rfc3339(event.time.lo)))
        .collect();
    assert_eq!(
        phases,
        [
            (Some("started"), "2026-11-21T09:00:00Z".to_owned()),
            (Some("ended"), "2026-11-21T10:30:00Z".to_owned())
        ]
    );
    assert_eq!(
        events[0].end.map(|end| rfc3339(end.lo)).as_deref(),
        Some("2026-11-21T10:30:00Z")
    );
    assert_eq!(
        events[0].attribute("service"),
        Some("Azure Kubernetes Service (AKS), Virtual Machines")
    );
    assert_eq!(events[0].attribute("places"), Some("westus2"));
}

#[test]
fn a_machine_is_told_alike_by_the_api_and_by_the_command_line() {
    let api = json!({"id": VM, "name": "gpu-1", "type": "Microsoft.Compute/virtualMachines", "zones": ["2"], "tags": {"experiment": "llama"},
        "properties": {"vmId": "v-1", "priority": "Spot", "hardwareProfile": {"vmSize": "Standard_ND96"}, "timeCreated": "2026-11-01T00:00:00Z",
            "instanceView": {"statuses": [{"code": "ProvisioningState/succeeded"}, {"code": "PowerState/running", "displayStatus": "VM running"}],
                "maintenanceRedeployStatus": {"maintenanceWindowStartTime": "2026-12-01T00:00:00Z", "maintenanceWindowEndTime": "2026-12-04T00:00:00Z"}}}});
    let cli = json!({"id": VM, "name": "gpu-1", "type": "Microsoft.Compute/virtualMachines", "zones": ["2"], "tags": {"experiment": "llama"},
        "vmId": "v-1", "priority": "Spot", "hardwareProfile": {"vmSize": "Standard_ND96"}, "timeCreated": "2026-11-01T00:00:00Z", "powerState": "VM running"});
    let body = |text: &Value| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("given");
        std::fs::write(&path, text.to_string()).unwrap();
        let mut kept = Collected::default();
        read(&[Input::Path(path)], &Options::default(), &mut kept);
        let bodies = kept.0.into_iter().find_map(|one| match one {
            Observation::Object(object) => Some((object.key, object.body)),
            _ => None,
        });
        bodies.unwrap()
    };
    assert_eq!(body(&api), body(&cli));
    let (key, body) = body(&api);
    assert_eq!(
        (key.name.as_str(), body.phase.as_deref()),
        ("gpu-1", Some("VM running"))
    );
    assert_eq!(body.annotations["priority"], "Spot");
    assert_eq!(body.experiment(), Some("llama"));
    let event = emitted(&api).remove(0);
    assert_eq!(
        event.attribute("host_event"),
        Some("maintenanceRedeployStatus")
    );
    assert_eq!(event.attribute("not_after"), Some("2026-12-04T00:00:00Z"));
    assert_eq!(event.entities.zone.as_deref(), Some("2"));
}

#[test]
fn the_audit_log_of_a_cluster_is_kubernetes() {
    let log = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "auditID": "a", "stage": "ResponseComplete", "verb": "delete",
        "user": {"username": "ada"}, "objectRef": {"resource": "pods", "namespace": "ml", "name": "p"},
        "responseStatus": {"code": 200}, "requestReceivedTimestamp": "2026-11-21T10:00:00.000000Z", "stageTimestamp": "2026-11-21T10:00:00.100000Z"});
    let line = json!({"time": "2026-11-21T10:00:00Z", "category": "kube-audit-admin", "operationName": "Microsoft.ContainerService/managedClusters/diagnosticLogs/Read",
        "resourceId": "/SUBSCRIPTIONS/S/x", "properties": {"log": log.to_string(), "stream": "stdout"}});
    let events = emitted(&line);
    assert_eq!(events[0].entities.pod.as_deref(), Some("p"));
    assert_eq!(events[0].actor.as_deref(), Some("ada"));
}

#[test]
fn an_application_is_called_by_the_resource_whose_identity_it_has() {
    let who = |caller: &str, claims: Value| {
        let record = activity(
            "Microsoft.Compute/virtualMachines/delete",
            "Started",
            json!({"resourceId": VM, "caller": caller, "claims": claims}),
        );
        emitted(&record).remove(0).actor
    };
    const OBJECT: &str = "00000000-0000-4000-8000-00000000000a";
    let cluster = "/subscriptions/s/resourcegroups/r/providers/Microsoft.ContainerService/managedClusters/lab";
    for (caller, claims, actor) in [
        ("ada@example.com", json!({"appid": "a"}), "ada@example.com"),
        (
            OBJECT,
            json!({"idtyp": "app", "appid": "7319c514-987d-4e9b-ac3d-d38c4f427f4c"}),
            "7319c514-987d-4e9b-ac3d-d38c4f427f4c",
        ),
        (
            OBJECT,
            json!({"idtyp": "app", "appid": "a", "xms_mirid": cluster}),
            "managedClusters/lab",
        ),
        (OBJECT, json!({}), OBJECT),
    ] {
        assert_eq!(who(caller, claims).as_deref(), Some(actor));
    }
}
