//! What is found in the logs, and how it is asked for.

use serde_json::json;

use super::server::{Cloud, entry, system};
use super::*;
use crate::coverage::Status;

const HOST_ERROR: &str = "compute.instances.hostError";

#[tokio::test]
async fn what_happened_to_the_nodes_of_a_question_is_found_and_no_more() {
    let fake = Cloud {
        entries: vec![
            system("lab", ("a", "2026-11-21T11:00:00Z"), HOST_ERROR, "gpu-1"),
            // Another machine whose name begins alike, and one of another zone.
            system("lab", ("b", "2026-11-21T11:00:00Z"), HOST_ERROR, "gpu-10"),
            entry(
                "lab",
                "system_event",
                ("c", "2026-11-21T11:00:00Z"),
                HOST_ERROR,
                "projects/lab/zones/z-b/instances/gpu-1",
            ),
            // Before the window, and a record that came late.
            system("lab", ("d", "2026-11-21T09:00:00Z"), HOST_ERROR, "gpu-1"),
            system(
                "lab",
                ("e", "2026-11-21T12:10:00Z"),
                "compute.instances.automaticRestart",
                "gpu-1",
            ),
            // What is announced counts for a week.
            system(
                "lab",
                ("f", "2026-11-16T09:00:00Z"),
                "compute.instances.upcomingMaintenance",
                "gpu-1",
            ),
            system(
                "lab",
                ("g", "2026-11-13T09:00:00Z"),
                "compute.instances.upcomingMaintenance",
                "gpu-1",
            ),
            entry(
                "lab",
                "activity",
                ("h", "2026-11-21T11:30:00Z"),
                "v1.compute.instances.delete",
                "projects/77/zones/z-a/instances/gpu-1",
            ),
            entry(
                "other",
                "activity",
                ("i", "2026-11-21T11:30:00Z"),
                "v1.compute.instances.delete",
                "projects/78/zones/z-a/instances/gpu-1",
            ),
        ],
        ..Cloud::default()
    }
    .start();
    let gcp = open(options(&fake));
    let (emitted, rows) = fetch(&gcp, &about(vec![node("lab", "gpu-1")])).await;
    let emitted = events(&emitted);
    let named: Vec<_> = emitted
        .iter()
        .map(|event| event.attribute("event_id").unwrap())
        .collect();
    assert_eq!(
        named,
        ["operation-a", "operation-h", "operation-e", "operation-f"]
    );
    assert!(
        emitted
            .iter()
            .all(|event| event.entities.node.as_deref() == Some("gpu-1"))
    );
    assert!(
        emitted
            .iter()
            .all(|event| event.observed == Some(at("2026-11-21T15:30:01Z")))
    );

    let activity = row(&rows, "activity", "lab");
    assert_eq!(activity.status, Status::Complete, "{activity:?}");
    assert_eq!(activity.rows, 4);
    assert_eq!(activity.asked_from, Some(at("2026-11-21T10:00:00Z")));
    assert_eq!(activity.got_to, Some(at("2026-11-21T12:15:00Z")));
    assert_eq!(activity.retention_s, Some(400 * 86_400));
    // Only the project that the node names.
    assert_eq!(rows.len(), 2, "{rows:#?}");
    let requested = fake.requests();
    let list = requested
        .iter()
        .find(|requested| requested.path == "/v2/entries:list")
        .unwrap();
    assert_eq!(list.body["resourceNames"], json!(["projects/lab"]));
    assert_eq!(list.body["pageSize"], 1000);
    assert_eq!(list.body["orderBy"], "timestamp asc");
    assert_eq!(list.header("content-type"), "application/json");
}

#[tokio::test]
async fn pages_are_read_to_the_end_also_where_some_are_empty() {
    let id = |n: usize| format!("x{n:03}");
    let entries = (0..25).map(|n| {
        let time = format!("2026-11-21T11:00:{:02}Z", n % 7);
        system("lab", (&id(n), &time), HOST_ERROR, "gpu-1")
    });
    let fake = Cloud {
        entries: entries.collect(),
        page: 10,
        empty_pages: true,
        ..Cloud::default()
    }
    .start();
    let gcp = open(options(&fake));
    let fetch_request = about(vec![node("lab", "gpu-1")]);
    let (emitted, rows) = fetch(&gcp, &fetch_request).await;
    assert_eq!(events(&emitted).len(), 25);
    assert_eq!(row(&rows, "activity", "lab").rows, 25);
    assert_eq!(
        fake.count(|requested| requested.path == "/v2/entries:list"),
        9
    );
    // The same again, in the same order.
    let again = fetch(&gcp, &fetch_request).await;
    assert_eq!((emitted, rows), again);
}

#[tokio::test]
async fn groups_node_pools_and_the_autoscaler_are_asked_about_too() {
    let node_name = "gke-lab-gpu-1a2b3c4d-x9z8";
    let group = "projects/77/zones/z-a/instanceGroupManagers/gke-lab-gpu-1a2b3c4d-grp";
    let mut resize = entry(
        "lab",
        "activity",
        ("a", "2026-11-21T11:00:00Z"),
        "v1.compute.instanceGroupManagers.resize",
        group,
    );
    resize["resource"]["type"] = json!("gce_instance_group_manager");
    let delete = "v1.compute.instanceGroupManagers.deleteInstances";
    let mut named = entry(
        "lab",
        "activity",
        ("b", "2026-11-21T11:01:00Z"),
        delete,
        group,
    );
    named["protoPayload"]["request"] =
        json!({"instances": [format!("zones/z-a/instances/{node_name}")]});
    let pool = |id: (&str, &str), cluster: &str| {
        let resource = format!("projects/77/locations/z/clusters/{cluster}/nodePools/gpu");
        let mut one = entry(
            "lab",
            "activity",
            id,
            "google.container.v1.ClusterManager.DeleteNodePool",
            &resource,
        );
        one["resource"] = json!({"type": "gke_nodepool",
            "labels": {"cluster_name": cluster, "nodepool_name": "gpu", "location": "z", "project_id": "lab"}});
        one
    };
    let scaler = |id: &str, payload: serde_json::Value| {
        json!({"insertId": id, "timestamp": "2026-11-21T11:03:00Z", "jsonPayload": payload,
            "logName": "projects/lab/logs/container.googleapis.com%2Fcluster-autoscaler-visibility",
            "resource": {"type": "k8s_cluster", "labels": {"cluster_name": "lab", "location": "z", "project_id": "lab"}}})
    };
    let down = json!({"decision": {"decideTime": "1795258980", "eventId": "e1", "scaleDown": {"nodesToBeRemoved": [
        {"node": {"name": node_name}, "evictedPodsTotalCount": 0}]}}});
    let idle = json!({"noDecisionStatus": {"noScaleDown": {"reason": {"messageId": "no.scale.down.in.backoff"}}}});
    let cloud = || Cloud {
        entries: vec![
            resize.clone(),
            named.clone(),
            pool(("c", "2026-11-21T11:02:00Z"), "lab"),
            pool(("d", "2026-11-21T11:02:30Z"), "lab-2"),
            scaler("e", down.clone()),
            scaler("f", idle.clone()),
        ],
        ..Cloud::default()
    };
    let fake = cloud().start();
    let fetch_request = about(vec![node("lab", node_name)]);
    let (emitted, rows) = fetch(&open(options(&fake)), &fetch_request).await;
    let ids = |emitted: &[Observation]| -> Vec<String> {
        let emitted = events(emitted).into_iter();
        emitted
            .map(|event| event.attribute("event_id").unwrap().to_owned())
            .collect()
    };
    // The cluster is not known, so that all of the project count.
    assert_eq!(
        ids(&emitted),
        [
            "operation-b",
            "operation-a",
            "operation-c",
            "operation-d",
            "e1"
        ]
    );
    assert_eq!(
        row(&rows, "activity", "lab").rows,
        5,
        "a call that two filters find is one"
    );

    // The inventory says which cluster it is.
    let mut one = server::instance("lab", "z-a", node_name, "42");
    one["labels"]["goog-k8s-cluster-name"] = json!("lab");
    let fake = Cloud {
        instances: vec![("lab", "z-a", one)],
        ..cloud()
    }
    .start();
    let (emitted, _) = fetch(&open(options(&fake)), &fetch_request).await;
    assert!(!ids(&emitted).contains(&"operation-d".to_owned()));
}

#[tokio::test]
async fn without_machines_recent_activity_is_asked_for() {
    let fake = Cloud {
        entries: vec![
            system("lab", ("a", "2026-11-21T15:00:00Z"), HOST_ERROR, "gpu-1"),
            system("lab-2", ("b", "2026-11-21T15:10:00Z"), HOST_ERROR, "gpu-2"),
            system("lab", ("c", "2026-11-19T15:10:00Z"), HOST_ERROR, "gpu-2"),
        ],
        ..Cloud::default()
    }
    .start();
    let mut options = options(&fake);
    options.projects = vec!["lab".to_owned(), "lab-2".to_owned()];
    let gcp = open(options);
    assert_eq!(gcp.place(), "projects/lab,lab-2");
    let mut fetch_request = about(Vec::new());
    fetch_request.window = Window::default();
    let (emitted, rows) = fetch(&gcp, &fetch_request).await;
    assert_eq!(events(&emitted).len(), 2);
    for project in ["lab", "lab-2"] {
        let activity = row(&rows, "activity", project);
        assert_eq!(activity.rows, 1);
        // What was written a moment ago may not be there yet.
        assert_eq!(activity.got_to, Some(at("2026-11-21T15:25:00Z")));
    }
    // Both projects in one request: machines, clusters, announcements, Google's own troubles.
    assert_eq!(
        fake.count(|requested| requested.path == "/v2/entries:list"),
        4
    );
}

#[tokio::test]
async fn machines_of_other_clouds_are_not_asked_about() {
    let fake = Cloud::default().start();
    let gcp = open(options(&fake));
    let mut elsewhere = node("lab", "n");
    elsewhere.uid = Some("aws:///us-east-1a/i-0123456789abcdef0".to_owned());
    let (emitted, rows) = fetch(&gcp, &about(vec![elsewhere])).await;
    assert!(emitted.is_empty() && fake.requests().is_empty());
    assert_eq!(rows.len(), 1);
    assert_eq!(rows[0].status, Status::NotConfigured);
    assert!(said(&rows[0]).contains("none of the 1 machines"));
}

#[tokio::test]
async fn entries_that_cannot_be_read_are_counted_and_told() {
    let mut broken = system("lab", ("b", "2026-11-21T11:00:00Z"), HOST_ERROR, "gpu-1");
    broken["protoPayload"]["methodName"] = json!("v1.compute.instances.stop");
    broken["timestamp"] = json!("2026-11-21T11:00:00Z");
    let page = json!({"entries": [
        {"logName": "projects/lab/logs/x", "insertId": "1", "protoPayload": {}}, 7, broken]});
    let fake = Fake::start(move |requested| {
        let page = match requested.path.as_str() {
            "/v2/entries:list" => page.clone(),
            _ => json!({"kind": "compute#instanceAggregatedList"}),
        };
        whathappened_loopback::Reply::Json(200, page)
    });
    let (emitted, rows) = fetch(&open(options(&fake)), &about(vec![node("lab", "gpu-1")])).await;
    assert_eq!(events(&emitted).len(), 1);
    let activity = row(&rows, "activity", "lab");
    assert_eq!(activity.rows, 3);
    assert!(
        said(activity).contains("2 records cannot be parsed"),
        "{activity:?}"
    );
    assert!(said(activity).contains("timestamp"), "{activity:?}");
}

#[tokio::test]
async fn what_clusters_and_serial_ports_left_in_the_log_is_read_too() {
    let node_name = "gke-lab-gpu-1a2b3c4d-x9z8";
    let put = |log: &str,
               id: &str,
               time: &str,
               resource: serde_json::Value,
               (key, payload): (&str, serde_json::Value)| {
        json!({"logName": format!("projects/lab/logs/{log}"), "insertId": id, "timestamp": time, "resource": resource, key: payload})
    };
    let node_resource = json!({"type": "k8s_node", "labels": {"project_id": "lab", "location": "z-a", "cluster_name": "lab", "node_name": node_name}});
    let event = |reason: &str, kind: &str, name: &str, time: &str| {
        json!({"apiVersion": "v1", "kind": "Event", "metadata": {"name": format!("{name}.{reason}"), "namespace": "ml"},
            "involvedObject": {"kind": kind, "name": name, "namespace": if kind == "Node" { "" } else { "ml" }},
            "reason": reason, "message": "x", "firstTimestamp": time, "lastTimestamp": time, "type": "Normal", "source": {"component": "kubelet"}})
    };
    let cluster = json!({"type": "k8s_cluster", "labels": {"project_id": "lab", "location": "z-a", "cluster_name": "lab"}});
    let audit = json!({"@type": "type.googleapis.com/google.cloud.audit.AuditLog", "serviceName": "k8s.io",
        "methodName": "io.k8s.core.v1.pods.eviction.create", "resourceName": "core/v1/namespaces/ml/pods/p-0/eviction",
        "authenticationInfo": {"principalEmail": "ada@lab.example"}, "status": {}});
    let mut serial = put(
        "serialconsole.googleapis.com%2Fserial_port_1_output",
        "s",
        "2026-11-21T11:00:00Z",
        json!({"type": "gce_instance", "labels": {"project_id": "lab", "zone": "z-a", "instance_id": "42"}}),
        (
            "textPayload",
            json!("[  99.1] Kernel panic - not syncing: Fatal exception\r\n"),
        ),
    );
    serial["labels"] = json!({"compute.googleapis.com/resource_name": node_name});
    let mut healthy = serial.clone();
    healthy["insertId"] = json!("t");
    healthy["textPayload"] = json!("[  99.0] eth0: entered promiscuous mode\r\n");
    let fake = Cloud {
        entries: vec![
            serial,
            healthy,
            put("events", "a", "2026-11-21T11:00:10Z", node_resource.clone(), ("jsonPayload", event("NodeNotReady", "Node", node_name, "2026-11-21T11:00:10Z"))),
            put("events", "b", "2026-11-21T11:00:11Z", cluster.clone(), ("jsonPayload", event("Killing", "Pod", "p-0", "2026-11-21T11:00:11Z"))),
            put("events", "c", "2026-11-21T11:00:12Z", cluster.clone(), ("jsonPayload", event("Killing", "Pod", "p-01", "2026-11-21T11:00:12Z"))),
            put("cloudaudit.googleapis.com%2Factivity", "d", "2026-11-21T11:00:13Z", cluster, ("protoPayload", audit)),
            put(
                "servicehealth.googleapis.com%2Factivity",
                "e",
                "2026-11-21T08:00:00Z",
                json!({"type": "servicehealth.googleapis.com/Event", "labels": {"event_id": "ev-1", "location": "global"}}),
                (
                    "jsonPayload",
                    json!({"@type": "type.googleapis.com/google.cloud.servicehealth.logging.v1.EventLog", "category": "INCIDENT", "state": "ACTIVE",
                        "detailedState": "CONFIRMED", "relevance": "RELATED", "title": "trouble", "description": "x",
                        "impactedProducts": "['Google Compute Engine']", "impactedLocations": "['z-a']", "startTime": "2026-11-21T07:50:00Z"}),
                ),
            ),
        ],
        ..Cloud::default()
    }
    .start();
    let mut fetch_request = about(vec![node("lab", node_name)]);
    fetch_request.scope.pods = vec![Entity {
        name: "p-0".to_owned(),
        namespace: Some("ml".to_owned()),
        ..Entity::default()
    }];
    let (emitted, _) = fetch(&open(options(&fake)), &fetch_request).await;
    let shown: Vec<String> = events(&emitted)
        .iter()
        .map(|event| {
            let subject = event
                .entities
                .pod
                .as_deref()
                .or(event.entities.node.as_deref());
            let what = event
                .reason
                .as_deref()
                .or(event.message.as_deref())
                .unwrap_or_default();
            format!("{} {} {what}", event.fact, subject.unwrap_or_default())
        })
        .collect();
    for part in [
        &format!("node.log {node_name} Kernel panic - not syncing: Fatal exception"),
        &format!("k8s.event {node_name} NodeNotReady"),
        "k8s.event p-0 Killing",
        "cloud.host_event  CONFIRMED",
    ] {
        assert!(shown.iter().any(|one| one == part), "{part} in {shown:#?}");
    }
    assert!(
        shown.iter().any(|one| one.starts_with("k8s.audit")),
        "{shown:#?}"
    );
    assert!(
        !shown
            .iter()
            .any(|one| one.contains("p-01") || one.contains("promiscuous")),
        "{shown:#?}"
    );
}
