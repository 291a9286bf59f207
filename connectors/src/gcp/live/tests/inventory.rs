//! Which machines there are, and what follows from it for the logs.

use serde_json::json;

use super::server::{Cloud, entry, instance, system};
use super::*;
use crate::coverage::{Mode, Status};

fn instances(emitted: &[Observation]) -> Vec<(String, String)> {
    let found = emitted.iter().filter_map(|one| match one {
        Observation::Object(object) => Some((object.key.name.clone(), object.key.uid.clone())),
        _ => None,
    });
    found.collect()
}

#[tokio::test]
async fn machines_are_told_with_labels_and_what_is_to_come() {
    let mut one = instance("lab", "z-a", "gpu-1", "42");
    one["resourceStatus"] = json!({"upcomingMaintenance": {
        "maintenanceStatus": "PENDING", "type": "SCHEDULED", "windowStartTime": "2026-11-30T00:00:00Z"}});
    let fake = Cloud {
        instances: vec![
            ("lab", "z-a", one),
            ("lab", "z-b", instance("lab", "z-b", "gpu-1", "43")),
            ("lab", "z-a", instance("lab", "z-a", "gpu-9", "49")),
        ],
        ..Cloud::default()
    }
    .start();
    let fetch_request = about(vec![node("lab", "gpu-1"), node("lab", "gpu-2")]);
    let (emitted, rows) = fetch(&open(options(&fake)), &fetch_request).await;
    assert_eq!(instances(&emitted), [("gpu-1".to_owned(), "42".to_owned())]);
    let events = events(&emitted);
    assert_eq!(events[0].attribute("phase"), Some("announced"));
    assert_eq!(
        crate::time::rfc3339(events[0].time.lo),
        "2026-11-30T00:00:00Z"
    );
    let row = row(&rows, "instances", "lab");
    assert_eq!(
        (row.status, row.mode, row.rows),
        (Status::Complete, Mode::Snapshot, 1)
    );
    assert!(
        said(row).contains("1 of the machines no longer exist"),
        "{row:?}"
    );
    let requested = fake.requests();
    let list = requested
        .iter()
        .find(|requested| requested.path.contains("aggregated"))
        .unwrap();
    assert_eq!(list.method, "GET");
    assert_eq!(list.path, "/compute/v1/projects/lab/aggregated/instances");
    assert_eq!(
        list.query("filter"),
        r#"(name = "gpu-1") OR (name = "gpu-2")"#
    );
    assert_eq!(list.query("returnPartialSuccess"), "true");
}

#[tokio::test]
async fn a_machine_is_found_in_the_logs_by_the_number_that_the_inventory_has() {
    let mut by_number = system(
        "lab",
        ("a", "2026-11-21T11:00:00Z"),
        "compute.instances.hostError",
        "-",
    );
    by_number["protoPayload"]["resourceName"] = json!("");
    let fake = Cloud {
        entries: vec![by_number],
        instances: vec![("lab", "z-a", instance("lab", "z-a", "gpu-1", "42"))],
        ..Cloud::default()
    }
    .start();
    let (emitted, _) = fetch(&open(options(&fake)), &about(vec![node("lab", "gpu-1")])).await;
    assert_eq!(events(&emitted).len(), 1);
}

#[tokio::test]
async fn a_question_by_number_alone_finds_the_name() {
    let fake = Cloud {
        entries: vec![entry(
            "lab",
            "activity",
            ("a", "2026-11-21T11:00:00Z"),
            "v1.compute.instanceGroupManagers.resize",
            "projects/77/zones/z-a/instanceGroupManagers/trainers",
        )],
        instances: vec![("lab", "z-a", instance("lab", "z-a", "trainer-a1b2", "42"))],
        groups: vec![("trainer-a1b2", "trainers")],
        ..Cloud::default()
    }
    .start();
    let mut options = options(&fake);
    options.projects = vec!["lab".to_owned()];
    let mut fetch_request = about(Vec::new());
    fetch_request.scope.instances = vec![Entity {
        name: "42".to_owned(),
        ..Entity::default()
    }];
    let (emitted, rows) = fetch(&open(options), &fetch_request).await;
    assert_eq!(instances(&emitted).len(), 1);
    // Its group is known by who refers to it.
    let events = events(&emitted);
    assert_eq!(events[0].attribute("group"), Some("trainers"), "{rows:#?}");
    let requested = fake.requests();
    assert!(
        requested
            .iter()
            .any(|requested| requested.query("filter") == "(id = 42)")
    );
}

#[tokio::test]
async fn without_machines_all_pages_of_the_inventory_are_read() {
    let names = ["a", "b", "c", "d", "e"];
    let fake = Cloud {
        instances: names
            .map(|name| ("lab", "z-a", instance("lab", "z-a", name, name)))
            .into(),
        page: 2,
        zone_down: true,
        ..Cloud::default()
    }
    .start();
    let mut options = options(&fake);
    options.projects = vec!["lab".to_owned()];
    let (emitted, rows) = fetch(&open(options), &about(Vec::new())).await;
    assert_eq!(instances(&emitted).len(), 5);
    let row = row(&rows, "instances", "lab");
    assert_eq!((row.status, row.rows), (Status::Truncated, 5));
    assert!(said(row).contains("no response from z-down"), "{row:?}");
}

#[tokio::test]
async fn logs_are_read_also_where_the_inventory_may_not_be() {
    let fake = Cloud {
        entries: vec![system(
            "lab",
            ("a", "2026-11-21T11:00:00Z"),
            "compute.instances.preempted",
            "gpu-1",
        )],
        no_instances: vec!["lab"],
        ..Cloud::default()
    }
    .start();
    let (emitted, rows) = fetch(&open(options(&fake)), &about(vec![node("lab", "gpu-1")])).await;
    assert_eq!(events(&emitted).len(), 1);
    assert_eq!(row(&rows, "activity", "lab").status, Status::Complete);
    let row = row(&rows, "instances", "lab");
    assert_eq!(row.status, Status::Denied);
    let words = "missing permission: compute.instances.list on project lab (roles/compute.viewer)";
    assert!(said(row).contains(words), "{row:?}");
}
