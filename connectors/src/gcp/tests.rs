//! Log entries through the front door.

use serde_json::{Value, json};

use crate::contract::{Input, Options};
use crate::event::Event;
use crate::observation::Observation;
use crate::recording::read;
use crate::sink::Sink;

#[derive(Default)]
struct Collected(Vec<Observation>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

fn emitted(text: &str) -> Vec<Event> {
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
    events.collect()
}

fn entry(log: &str, time: &str, resource: &Value, payload: (&str, Value)) -> Value {
    let mut entry = json!({
        "insertId": "x1", "logName": format!("projects/lab/logs/{}", log.replace('/', "%2F")),
        "timestamp": time, "resource": resource, "severity": "NOTICE",
    });
    entry[payload.0] = payload.1;
    entry
}

fn instance() -> Value {
    json!({"type": "gce_instance",
           "labels": {"instance_id": "42", "project_id": "lab", "zone": "z-a"}})
}

fn audit(log: &str, method: &str, more: Value) -> Value {
    let mut payload = json!({
        "@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "serviceName": "compute.googleapis.com", "methodName": method,
        "authenticationInfo": {"principalEmail": "ada@example.com"},
        "resourceName": "projects/7/zones/z-a/instances/gpu-1",
    });
    if let (Value::Object(payload), Value::Object(more)) = (&mut payload, more) {
        payload.extend(more);
    }
    entry(
        log,
        "2026-11-21T10:00:00.5Z",
        &instance(),
        ("protoPayload", payload),
    )
}

const SYSTEM: &str = "cloudaudit.googleapis.com/system_event";
const ACTIVITY: &str = "cloudaudit.googleapis.com/activity";

#[test]
fn a_host_event_names_its_instance_in_every_form_of_file() {
    let mut one = audit(SYSTEM, "compute.instances.hostError", json!({}));
    one["operation"] = json!({"id": "systemevent-1", "first": true, "last": true});
    let pretty = serde_json::to_string_pretty(&json!([one])).unwrap();
    let page = json!({"entries": [one], "nextPageToken": "n"}).to_string();
    let yaml = (
        "---\ninsertId: x1\nlogName: projects/lab/logs/cloudaudit.googleapis.com%2Fsystem_event\n\
         operation:\n  id: systemevent-1\nprotoPayload:\n  methodName: compute.instances.hostError\n  \
         resourceName: projects/7/zones/z-a/instances/gpu-1\n  serviceName: compute.googleapis.com\n\
         resource:\n  labels:\n    instance_id: '42'\n    project_id: lab\n    zone: z-a\n  type: gce_instance\n\
         timestamp: '2026-11-21T10:00:00.5Z'\n"
    ).to_owned();
    let unmarked = yaml.trim_start_matches("---\n").to_owned();
    for text in [one.to_string(), pretty, page, yaml, unmarked] {
        let events = emitted(&text);
        assert_eq!(events.len(), 1, "{text}");
        let event = &events[0];
        assert_eq!(event.fact, "cloud.host_event");
        assert_eq!(event.object_uid.as_deref(), Some("42"));
        assert_eq!(event.entities.node.as_deref(), Some("gpu-1"));
        assert_eq!(event.entities.zone.as_deref(), Some("z-a"));
        assert_eq!(event.attribute("account"), Some("lab"));
        assert_eq!(event.attribute("phase"), Some("acted"));
        assert_eq!(event.attribute("event_id"), Some("systemevent-1"));
        assert_eq!(event.attributes["planned"], json!(false));
        assert_eq!(
            crate::time::rfc3339(event.time.lo),
            "2026-11-21T10:00:00.500Z"
        );
    }
}

#[test]
fn maintenance_is_announced_then_started_then_ended() {
    let phase = |metadata: Value, message: &str| {
        let more = json!({"metadata": metadata, "status": {"message": message}});
        let one = audit(SYSTEM, "compute.instances.upcomingMaintenance", more);
        emitted(&one.to_string()).remove(0)
    };
    let event = phase(
        json!({"maintenanceStatus": "PENDING", "type": "SCHEDULED", "maintenanceReasons": ["FAILURE_GPU"],
               "windowStartTime": "2026-11-22T00:00:00Z", "windowEndTime": "2026-11-22T04:00:00Z"}),
        "Maintenance is scheduled.",
    );
    assert_eq!(event.attribute("phase"), Some("announced"));
    assert_eq!(event.attribute("not_before"), Some("2026-11-22T00:00:00Z"));
    assert_eq!(event.attribute("not_after"), Some("2026-11-22T04:00:00Z"));
    assert_eq!(event.attributes["planned"], json!(true));
    assert_eq!(event.reason.as_deref(), Some("FAILURE_GPU"));
    let event = phase(
        json!({"maintenanceStatus": "ONGOING", "type": "UNSCHEDULED"}),
        "",
    );
    assert_eq!(event.attribute("phase"), Some("started"));
    assert_eq!(event.attributes["planned"], json!(false));
    let event = phase(
        json!({}),
        "Maintenance window has completed for this instance.",
    );
    assert_eq!(event.attribute("phase"), Some("ended"));
}

#[test]
fn the_phases_of_a_call_share_an_id_and_a_failure_is_one() {
    let call = |first: bool, more: Value| {
        let mut one = audit(ACTIVITY, "v1.compute.instances.insert", more);
        one["operation"] = json!({"id": "operation-1"});
        one["operation"][if first { "first" } else { "last" }] = json!(true);
        one
    };
    let text = format!(
        "{}\n{}\n",
        call(true, json!({})),
        call(
            false,
            json!({"status": {"code": 8, "message": "ZONE_RESOURCE_POOL_EXHAUSTED"}})
        )
    );
    let events = emitted(&text);
    let outcomes: Vec<_> = events
        .iter()
        .map(|event| event.attribute("outcome"))
        .collect();
    assert_eq!(outcomes, [Some("started"), Some("failed")]);
    assert!(
        events
            .iter()
            .all(|event| event.attribute("event_id") == Some("operation-1"))
    );
    assert_eq!(
        events[1].reason.as_deref(),
        Some("ZONE_RESOURCE_POOL_EXHAUSTED")
    );
    assert_eq!(events[0].actor.as_deref(), Some("ada@example.com"));
    assert_eq!(
        events[0].attribute("method"),
        Some("compute.instances.insert")
    );
}

#[test]
fn a_call_to_a_group_names_each_instance() {
    let mut one = audit(
        ACTIVITY,
        "v1.compute.instanceGroupManagers.deleteInstances",
        json!({"resourceName": "projects/7/zones/z-a/instanceGroupManagers/gke-grp",
               "request": {"instances": ["zones/z-a/instances/gpu-1", "https://x/compute/v1/projects/lab/zones/z-a/instances/gpu-2"]}}),
    );
    one["resource"] = json!({"type": "gce_instance_group_manager", "labels": {"project_id": "lab", "location": "z-a"}});
    let events = emitted(&one.to_string());
    let names: Vec<_> = events
        .iter()
        .map(|event| event.entities.node.clone().unwrap())
        .collect();
    assert_eq!(names, ["gpu-1", "gpu-2"]);
    assert!(
        events
            .iter()
            .all(|event| event.attribute("group") == Some("gke-grp"))
    );
}

#[test]
fn records_of_kubernetes_inside_are_kubernetes() {
    let cluster = json!({"type": "k8s_cluster", "labels": {"cluster_name": "c", "location": "z", "project_id": "lab"}});
    let event = json!({"kind": "Event", "apiVersion": "v1", "reason": "Killing", "message": "Stopping container trainer",
        "metadata": {"name": "p.17a", "namespace": "ml"}, "involvedObject": {"kind": "Pod", "name": "p", "namespace": "ml"},
        "lastTimestamp": "2026-11-21T10:00:00Z", "type": "Normal"});
    let audit = json!({"@type": "t", "serviceName": "k8s.io", "methodName": "io.k8s.core.v1.pods.eviction.create",
        "authenticationInfo": {"principalEmail": "system:serviceaccount:kube-system:drainer"},
        "resourceName": "core/v1/namespaces/ml/pods/p/eviction", "status": {"code": 0}});
    let text = format!(
        "{}\n{}\n",
        entry(
            "events",
            "2026-11-21T10:00:01Z",
            &cluster,
            ("jsonPayload", event)
        ),
        entry(
            ACTIVITY,
            "2026-11-21T10:00:00Z",
            &cluster,
            ("protoPayload", audit)
        ),
    );
    let events = emitted(&text);
    assert_eq!(events[0].fact, "k8s.event");
    assert_eq!(events[0].entities.pod.as_deref(), Some("p"));
    assert!(
        events[1].fact.starts_with("k8s.audit"),
        "{}",
        events[1].fact
    );
    assert_eq!(
        events[1].actor.as_deref(),
        Some("system:serviceaccount:kube-system:drainer")
    );
    assert_eq!(events[1].entities.pod.as_deref(), Some("p"));
}

#[test]
fn the_lines_of_a_traceback_are_one_also_newest_first() {
    let pod = json!({"type": "k8s_container", "labels": {"cluster_name": "c", "location": "z", "project_id": "lab",
        "namespace_name": "ml", "pod_name": "p", "container_name": "trainer"}});
    let line = |second: u32, text: &str| {
        let mut one = entry(
            "stderr",
            &format!("2026-11-21T10:00:0{second}Z"),
            &pod,
            ("textPayload", json!(text)),
        );
        one["labels"] = json!({"k8s-pod/experiment": "e1"});
        one
    };
    let lines = [
        line(3, "ValueError: bad shape"),
        line(2, "    step()"),
        line(1, "  File \"train.py\", line 3, in <module>"),
        line(0, "Traceback (most recent call last):"),
    ];
    let events = emitted(&Value::from(lines.to_vec()).to_string());
    assert_eq!(events.len(), 1);
    assert_eq!(events[0].fact, "log.line");
    assert_eq!(events[0].attribute("exception"), Some("ValueError"));
    assert_eq!(events[0].entities.pod.as_deref(), Some("p"));
    assert_eq!(events[0].entities.experiment.as_deref(), Some("e1"));
}

#[test]
fn a_serial_port_is_a_log_of_the_machine() {
    let mut one = entry(
        "serialconsole.googleapis.com/serial_port_1_output",
        "2026-11-21T10:00:00Z",
        &instance(),
        (
            "textPayload",
            json!("\u{1b}[0m[  12.5] Kernel panic - not syncing\r\n"),
        ),
    );
    one["labels"] = json!({"compute.googleapis.com/resource_name": "gpu-1"});
    let events = emitted(&one.to_string());
    assert_eq!(events[0].fact, "node.log");
    assert_eq!(
        events[0].message.as_deref(),
        Some("Kernel panic - not syncing")
    );
    assert_eq!(events[0].attribute("program"), Some("kernel"));
    assert_eq!(events[0].entities.node.as_deref(), Some("gpu-1"));
    assert_eq!(events[0].entities.instance.as_deref(), Some("42"));
}

#[test]
fn the_autoscaler_names_nodes_pods_and_errors() {
    let cluster = json!({"type": "k8s_cluster", "labels": {"cluster_name": "c", "location": "z", "project_id": "lab"}});
    let log = "container.googleapis.com/cluster-autoscaler-visibility";
    let say = |payload: Value| {
        emitted(
            &entry(
                log,
                "2026-11-21T10:00:00Z",
                &cluster,
                ("jsonPayload", payload),
            )
            .to_string(),
        )
    };
    let down = say(
        json!({"decision": {"decideTime": "1795255200", "eventId": "e1", "scaleDown": {"nodesToBeRemoved": [
        {"node": {"name": "n1", "mig": {"name": "g", "zone": "z-a"}}, "evictedPodsTotalCount": 1, "evictedPods": [{"namespace": "ml", "name": "p"}]}]}}}),
    );
    assert_eq!(down[0].entities.node.as_deref(), Some("n1"));
    assert_eq!(down[0].reason.as_deref(), Some("scale_down"));
    assert_eq!(down[0].attribute("group"), Some("g"));
    let up = say(
        json!({"decision": {"decideTime": "1795255200", "eventId": "e2", "scaleUp": {
        "increasedMigs": [{"mig": {"name": "g"}, "requestedNodes": 2}], "triggeringPods": [{"namespace": "ml", "name": "p"}]}}}),
    );
    assert_eq!(up[0].entities.pod.as_deref(), Some("p"));
    let out = say(
        json!({"resultInfo": {"results": [{"eventId": "e2", "errorMsg": {"messageId": "scale.up.error.out.of.resources", "parameters": ["g"]}}, {"eventId": "e3"}]}}),
    );
    assert_eq!(out.len(), 1);
    assert_eq!(
        out[0].reason.as_deref(),
        Some("scale.up.error.out.of.resources")
    );
    assert_eq!(out[0].attribute("event_id"), Some("e2"));
}

#[test]
fn operations_and_instances_are_read_as_gcloud_lists_them() {
    let operation = json!({"kind": "compute#operation", "name": "systemevent-2", "operationType": "compute.instances.preempted",
        "targetLink": "https://www.googleapis.com/compute/v1/projects/lab/zones/z-a/instances/gpu-1", "targetId": "42",
        "startTime": "2026-11-21T02:00:00.000-08:00", "endTime": "2026-11-21T02:00:01.000-08:00", "user": "system",
        "status": "DONE", "statusMessage": "Instance was preempted."});
    let instance = json!({"kind": "compute#instance", "id": "42", "name": "gpu-1", "status": "RUNNING",
        "selfLink": "https://www.googleapis.com/compute/v1/projects/lab/zones/z-a/instances/gpu-1",
        "creationTimestamp": "2026-11-20T02:00:00.000-08:00", "labels": {"experiment": "e1"},
        "resourceStatus": {"upcomingMaintenance": {"type": "SCHEDULED", "maintenanceStatus": "PENDING",
            "windowStartTime": "2026-11-30T00:00:00Z"}}});
    let events = emitted(&json!([operation, instance]).to_string());
    assert_eq!(events.len(), 2);
    assert_eq!(
        events[0].attribute("host_event"),
        Some("compute.instances.preempted")
    );
    assert_eq!(
        crate::time::rfc3339(events[0].time.lo),
        "2026-11-21T10:00:00Z"
    );
    assert_eq!(events[1].attribute("phase"), Some("announced"));
    assert_eq!(events[1].object_uid.as_deref(), Some("42"));
}
