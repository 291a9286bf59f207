//! What is asked for, and what is told of it.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cluster::{cluster, log, methods};
use super::manager::FakeManager;
use super::*;
use crate::contract::{Input, Options};
use crate::coverage::Status;
use crate::recording::read;
use whathappened_loopback::Reply;

#[tokio::test]
async fn what_concerns_a_machine_its_set_its_cluster_and_azure_is_told() {
    for page in [0, 2] {
        let fake = FakeManager { page, ..cluster() }.start();
        let azure = azure(&fake, &outside::login());
        let (events, kept, rows) = fetched(&azure, &fetch_request(vec![of_set(3)])).await;
        let emitted: Vec<String> = methods(&events).into_iter().collect();
        assert_eq!(
            emitted,
            [
                "Maintenance -",
                "compute/virtualmachinescalesets/delete/action aks-gpu-1-vmss000003",
                "compute/virtualmachinescalesets/virtualmachines/restart/action aks-gpu-1-vmss000003",
                "compute/virtualmachinescalesets/write -",
                "containerservice/managedclusters/agentpools/write -lab",
                "down aks-gpu-1-vmss000003",
            ]
        );
        let objects = kept
            .iter()
            .filter(|one| matches!(one, Observation::Object(_)));
        assert_eq!(objects.count(), 1);
        assert!(events.iter().all(|event| event.observed == Some(at(NOON))));

        let activity = row(&rows, "activity");
        assert_eq!((activity.status, activity.rows), (Status::Complete, 5));
        assert_eq!(activity.namespace.as_deref(), Some(SUBSCRIPTION));
        assert_eq!(activity.asked_from, Some(at("2026-11-14T10:00:00Z")));
        assert_eq!(activity.asked_to, Some(at("2026-11-21T11:45:00Z")));
        // Records may still come.
        assert_eq!(activity.got_to, Some(at("2026-11-21T11:40:00Z")));
        assert_eq!(activity.retention_s, Some(90 * 86_400));
        assert!(
            detail(activity).contains("3 records of other machines left out"),
            "{activity:?}"
        );
        assert_eq!(row(&rows, "service_health").rows, 1);
        assert_eq!(row(&rows, "health").rows, 1);
        assert_eq!(row(&rows, "instances").status, Status::Complete);
        assert_eq!(rows.len(), 4);
    }
}

#[tokio::test]
async fn a_live_record_gives_the_facts_that_it_gives_in_a_file() {
    let fake = cluster().start();
    let (events, ..) = fetched(&azure(&fake, &outside::login()), &fetch_request(vec![])).await;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("activity.json");
    std::fs::write(&path, json!({"value": log()}).to_string()).unwrap();
    let mut kept: Vec<Observation> = Vec::new();
    read(&[Input::Path(path)], &Options::default(), &mut kept);
    let mut in_file = BTreeSet::new();
    for one in &kept {
        let Observation::Event(event) = one else {
            panic!()
        };
        // Before the time that is asked for.
        if event.time.lo >= at("2026-11-14T10:00:00Z") {
            in_file.insert((
                event.id,
                event.actor.clone(),
                event
                    .attributes
                    .clone()
                    .into_iter()
                    .map(|(k, v)| format!("{k}={v}"))
                    .collect::<Vec<_>>(),
            ));
        }
    }
    let live: BTreeSet<_> = events
        .iter()
        .filter(|event| event.raw.contains("eventTimestamp"))
        .map(|event| {
            (
                event.id,
                event.actor.clone(),
                event
                    .attributes
                    .clone()
                    .into_iter()
                    .map(|(k, v)| format!("{k}={v}"))
                    .collect::<Vec<_>>(),
            )
        })
        .collect();
    assert_eq!(live, in_file);
    assert!(events.iter().all(|event| !event.raw.contains("192.0.2.1")));
}

#[tokio::test]
async fn without_a_machine_everything_recent_is_told() {
    let fake = cluster().start();
    let (events, kept, rows) =
        fetched(&azure(&fake, &outside::login()), &fetch_request(vec![])).await;
    assert!(
        methods(&events)
            .iter()
            .any(|emitted| emitted.ends_with("vmss000007"))
    );
    assert_eq!(
        kept.iter()
            .filter(|one| matches!(one, Observation::Object(_)))
            .count(),
        2
    );
    assert_eq!(rows.len(), 3);
    let requested = fake.requests();
    let log = requested.iter().filter(|one| one.path.ends_with("/values"));
    assert!(
        log.clone().count() == 1
            && log
                .clone()
                .all(|one| one.query("$filter").matches(" and ").count() == 1)
    );
}

#[tokio::test]
async fn a_machine_known_by_name_alone_is_found() {
    let fake = cluster().start();
    let azure = azure(&fake, &outside::login());
    let (events, _, rows) = fetched(
        &azure,
        &fetch_request(vec![node("aks-gpu-1-vmss000003", None)]),
    )
    .await;
    assert!(methods(&events).contains("down aks-gpu-1-vmss000003"));
    assert_eq!(rows.len(), 4);
    // What is nowhere is said, and nothing else is asked about it.
    let before = fake.requests().len();
    let (events, _, rows) = fetched(&azure, &fetch_request(vec![node("elsewhere", None)])).await;
    assert!(events.is_empty());
    let instances = row(&rows, "instances");
    assert_eq!((rows.len(), instances.status), (1, Status::Complete));
    assert!(detail(instances).contains("1 of the machines are not in this subscription"));
    assert_eq!(fake.requests().len() - before, 2);
    let other = node("gke-1", Some("gce://p/z/gke-1"));
    assert!(
        fetched(&azure, &fetch_request(vec![other]))
            .await
            .2
            .is_empty()
    );
}

#[tokio::test]
async fn subscriptions_come_from_machines_else_from_what_we_may_see() {
    let fake = cluster().start();
    let open = || {
        azure_with(&fake, &outside::login(), |options| {
            options.subscriptions.clear();
        })
    };
    let (.., rows) = fetched(&open(), &fetch_request(vec![of_set(3)])).await;
    assert_eq!(
        row(&rows, "activity").namespace.as_deref(),
        Some(SUBSCRIPTION)
    );
    assert_eq!(
        fake.count(|requested| requested.path == "/subscriptions"),
        0
    );
    let (.., rows) = fetched(&open(), &fetch_request(vec![])).await;
    assert_eq!(
        row(&rows, "activity").namespace.as_deref(),
        Some(SUBSCRIPTION)
    );
    assert_eq!(
        fake.count(|requested| requested.path == "/subscriptions"),
        1
    );
}

#[tokio::test]
async fn scheduled_events_are_asked_for_inside_a_machine() {
    let metadata = Fake::start(|requested| {
        if requested.header("metadata") != "true" || requested.query("api-version").is_empty() {
            return Reply::Json(
                400,
                json!({"error": "Bad request. Required metadata header not specified"}),
            );
        }
        assert_eq!(requested.path, "/metadata/scheduledevents");
        Reply::Json(
            200,
            json!({"DocumentIncarnation": 2, "Events": [
            {"EventId": "e-1", "EventType": "Preempt", "ResourceType": "VirtualMachine", "Resources": ["aks-gpu-1-vmss_3"],
             "EventStatus": "Scheduled", "NotBefore": "Sat, 21 Nov 2026 12:00:30 GMT", "EventSource": "Platform", "DurationInSeconds": -1},
            {"EventId": "e-2", "EventType": "Reboot", "ResourceType": "VirtualMachine", "Resources": ["aks-gpu-1-vmss_7"],
             "EventStatus": "Scheduled", "NotBefore": "Sat, 21 Nov 2026 12:15:00 GMT"}]}),
        )
    });
    let fake = cluster().start();
    let inside = azure_with(&fake, &outside::login(), |options| {
        options.scheduled_events = Some(format!("{}/metadata/scheduledevents", metadata.url()));
    });
    let (events, _, rows) = fetched(&inside, &fetch_request(vec![of_set(3)])).await;
    assert!(methods(&events).contains("Preempt aks-gpu-1-vmss000003"));
    assert!(!methods(&events).contains("Reboot aks-gpu-1-vmss000007"));
    let scheduled = row(&rows, "scheduled_events");
    assert_eq!((scheduled.status, scheduled.rows), (Status::Complete, 1));

    let nobody = azure_with(&fake, &outside::login(), |options| {
        options.scheduled_events = Some("http://127.0.0.1:9/metadata/scheduledevents".to_owned());
    });
    let (.., rows) = fetched(&nobody, &fetch_request(vec![of_set(3)])).await;
    assert_eq!(row(&rows, "scheduled_events").status, Status::Failed);
    assert!(detail(row(&rows, "scheduled_events")).contains("only available on"));
    assert_eq!(row(&rows, "activity").status, Status::Complete);
}

#[tokio::test]
async fn recorded_answers_are_read_in_place() {
    let folder = std::path::Path::new("../../shared/recordings/azure");
    if !folder.exists() {
        whathappened_loopback::skipped("no ../shared");
        return;
    }
    let parse = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
    };
    let cassette = parse("custodian-activitylog-list.json");
    let health = parse("docs-activitylog-resourcehealth.json");
    let service = parse("docs-activitylog-servicehealth.json");
    let fake = Fake::start(move |requested| {
        if !requested.path.ends_with("/values") {
            return Reply::Json(200, json!({"value": []}));
        }
        if requested.query("page").is_empty() {
            let mut first = cassette["response"].clone();
            let link = format!(
                "http://{}{}?page=2",
                requested.header("host"),
                requested.path
            );
            first["nextLink"] = json!(link);
            return Reply::Json(200, first);
        }
        Reply::Json(200, json!({"value": [health, service]}))
    });
    let (events, _, rows) = fetched(&azure(&fake, &outside::login()), &fetch_request(vec![])).await;
    assert_eq!(
        (row(&rows, "activity").status, events.len()),
        (Status::Complete, 3),
        "{rows:#?}"
    );
    let facts: Vec<&str> = events.iter().map(|event| event.fact.as_str()).collect();
    assert_eq!(
        facts,
        ["cloud.activity", "cloud.host_event", "cloud.host_event"]
    );
}
