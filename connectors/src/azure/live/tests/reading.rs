//! What is asked for, what is told of it, what is left out.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::manager::Manager;
use super::*;
use crate::coverage::Status;
use crate::http::fake::Reply;
use crate::recording::{Input, Options, read};

const GROUP: &str = "/subscriptions/0B1F6471-1BF0-4DDA-AEC3-CB9272F09590/resourcegroups/mc_RG_lab_eastus/providers/Microsoft.Compute";

fn vmss() -> String {
    format!("{GROUP}/virtualMachineScaleSets/aks-gpu-1-vmss")
}

fn record(time: &str, resource: &str, operation: &str, more: Value) -> Value {
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
fn log() -> Vec<Value> {
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

fn instance(n: u32) -> Value {
    json!({"id": format!("{}/virtualMachines/{n}", vmss()), "name": format!("aks-gpu-1-vmss_{n}"), "instanceId": n.to_string(),
        "type": "Microsoft.Compute/virtualMachineScaleSets/virtualMachines", "zones": ["1"], "tags": {"pool": "gpu"},
        "properties": {"vmId": format!("v-{n}"), "osProfile": {"computerName": format!("aks-gpu-1-vmss00000{n}")},
            "instanceView": {"statuses": [{"code": "PowerState/running", "displayStatus": "VM running"}]}}})
}

fn down(id: &str, time: &str) -> (String, Vec<Value>) {
    let status = json!({"id": format!("{id}/providers/Microsoft.ResourceHealth/availabilityStatuses/current"), "name": "current",
        "type": "Microsoft.ResourceHealth/AvailabilityStatuses",
        "properties": {"availabilityState": "Unavailable", "reasonType": "Unplanned", "occuredTime": time, "title": "down"}});
    (id.to_lowercase(), vec![status])
}

fn cluster() -> Manager {
    Manager {
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
        ..Manager::default()
    }
}

fn methods(events: &[Event]) -> BTreeSet<String> {
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

#[tokio::test]
async fn what_concerns_a_machine_its_set_its_cluster_and_azure_is_told() {
    for page in [0, 2] {
        let fake = Manager { page, ..cluster() }.start();
        let azure = azure(&fake, &outside::login());
        let (events, kept, rows) = fetched(&azure, &ask(vec![of_set(3)])).await;
        let told: Vec<String> = methods(&events).into_iter().collect();
        assert_eq!(
            told,
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
    let (events, ..) = fetched(&azure(&fake, &outside::login()), &ask(vec![])).await;
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
    let (events, kept, rows) = fetched(&azure(&fake, &outside::login()), &ask(vec![])).await;
    assert!(
        methods(&events)
            .iter()
            .any(|told| told.ends_with("vmss000007"))
    );
    assert_eq!(
        kept.iter()
            .filter(|one| matches!(one, Observation::Object(_)))
            .count(),
        2
    );
    assert_eq!(rows.len(), 3);
    let asked = fake.requests();
    let log = asked.iter().filter(|one| one.path.ends_with("/values"));
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
    let (events, _, rows) = fetched(&azure, &ask(vec![node("aks-gpu-1-vmss000003", None)])).await;
    assert!(methods(&events).contains("down aks-gpu-1-vmss000003"));
    assert_eq!(rows.len(), 4);
    // What is nowhere is said, and nothing else is asked about it.
    let before = fake.requests().len();
    let (events, _, rows) = fetched(&azure, &ask(vec![node("elsewhere", None)])).await;
    assert!(events.is_empty());
    let instances = row(&rows, "instances");
    assert_eq!((rows.len(), instances.status), (1, Status::Complete));
    assert!(detail(instances).contains("1 of the machines are not in this subscription"));
    assert_eq!(fake.requests().len() - before, 2);
    let other = node("gke-1", Some("gce://p/z/gke-1"));
    assert!(fetched(&azure, &ask(vec![other])).await.2.is_empty());
}

#[tokio::test]
async fn subscriptions_come_from_machines_else_from_what_we_may_see() {
    let fake = cluster().start();
    let open = || {
        azure_with(&fake, &outside::login(), |options| {
            options.subscriptions.clear();
        })
    };
    let (.., rows) = fetched(&open(), &ask(vec![of_set(3)])).await;
    assert_eq!(
        row(&rows, "activity").namespace.as_deref(),
        Some(SUBSCRIPTION)
    );
    assert_eq!(fake.count(|asked| asked.path == "/subscriptions"), 0);
    let (.., rows) = fetched(&open(), &ask(vec![])).await;
    assert_eq!(
        row(&rows, "activity").namespace.as_deref(),
        Some(SUBSCRIPTION)
    );
    assert_eq!(fake.count(|asked| asked.path == "/subscriptions"), 1);
}

#[tokio::test]
async fn what_is_cut_says_from_when_it_is_whole() {
    let fake = Manager {
        page: 1,
        ..cluster()
    }
    .start();
    let azure = azure_with(&fake, &outside::login(), |options| options.max_pages = 3);
    let (.., rows) = fetched(&azure, &ask(vec![of_set(3)])).await;
    let activity = row(&rows, "activity");
    assert_eq!(activity.status, Status::Truncated);
    // An empty page and the two newest records.
    assert_eq!(activity.got_from, Some(at("2026-11-21T10:40:00.1234567Z")));
    assert!(detail(activity).contains("cut after 3 pages"));

    let fake = Manager {
        page: 1,
        reads_left: Some(7),
        ..cluster()
    }
    .start();
    let (.., rows) = fetched(
        &super::azure(&fake, &outside::login()),
        &ask(vec![of_set(3)]),
    )
    .await;
    assert!(
        detail(row(&rows, "activity")).contains("7 reads"),
        "{rows:#?}"
    );
    assert_eq!(row(&rows, "activity").status, Status::Truncated);
}

#[tokio::test]
async fn tokens_go_to_no_other_host_and_no_page_is_read_twice() {
    let stranger = Fake::start(|_| Reply::Json(200, json!({"value": []})));
    for links_to in [
        stranger.url(),
        "https://management.azure.com.example".to_owned(),
    ] {
        let fake = Manager {
            page: 1,
            links_to: Some(links_to),
            ..cluster()
        }
        .start();
        let (.., rows) = fetched(&azure(&fake, &outside::login()), &ask(vec![of_set(3)])).await;
        let activity = row(&rows, "activity");
        assert_eq!(activity.status, Status::Truncated);
        assert!(
            detail(activity).contains("said to be elsewhere"),
            "{activity:?}"
        );
    }
    assert_eq!(stranger.requests().len(), 0);
    let same = Fake::start(|asked| {
        let link = format!("http://{}/x", asked.header("host"));
        Reply::Json(200, json!({"value": [], "nextLink": link}))
    });
    let (.., rows) = fetched(&azure(&same, &outside::login()), &ask(vec![])).await;
    assert!(detail(row(&rows, "activity")).contains("read before"));
    assert!(same.requests().len() < 12);
}

#[tokio::test]
async fn what_is_denied_names_the_permission_and_the_rest_is_used() {
    let fake = Manager {
        denied: vec!["Microsoft.Insights", "Microsoft.ResourceHealth"],
        ..cluster()
    }
    .start();
    let azure = azure(&fake, &outside::login());
    let nodes: Vec<Entity> = (1..6).map(of_set).collect();
    let (_, kept, rows) = fetched(&azure, &ask(nodes)).await;
    assert_eq!(kept.len(), 1);
    for (resource, needs) in [
        (
            "activity",
            "Microsoft.Insights/eventtypes/values/Read: the role Monitoring Reader or Reader",
        ),
        (
            "health",
            "Microsoft.ResourceHealth/availabilityStatuses/read: the role Reader",
        ),
    ] {
        let row = row(&rows, resource);
        assert_eq!(row.status, Status::Denied);
        assert!(detail(row).contains(needs), "{row:?}");
        assert!(row.would_have_shown.is_some() && row.got_from.is_none());
    }
    // One refusal is enough for a group.
    assert_eq!(fake.count(|asked| asked.path.contains("ResourceHealth")), 1);
    assert!(detail(row(&rows, "health")).contains("4 machines more"));
    assert!(detail(row(&rows, "instances")).contains("4 of the machines are not there any more"));

    let health = azure.check(at(NOON), soon()).await;
    assert_eq!(health.unreachable, None);
    let verdicts: Vec<_> = health.permissions.iter().map(|one| one.verdict).collect();
    use crate::connector::Verdict::{Allowed, Denied};
    assert_eq!(verdicts, [Denied, Denied, Allowed]);
    assert!(
        health
            .notes
            .iter()
            .any(|note| note == "logged in by the client secret")
    );
}

#[tokio::test]
async fn quotas_pages_for_browsers_and_other_tenants_are_told() {
    let of = |reply: fn() -> Reply| async move {
        let fake = Fake::start(move |_| reply());
        let (.., rows) = fetched(&azure(&fake, &outside::login()), &ask(vec![of_set(3)])).await;
        let row = row(&rows, "activity");
        (row.status, detail(row).to_owned())
    };
    let (status, told) = of(|| {
        let body = json!({"error": {"code": "SubscriptionRequestsThrottled", "message": "Number of requests exceeded the limit."}});
        Reply::Full(429, vec![("Retry-After", "61".to_owned())], body.to_string())
    })
    .await;
    assert!(
        status == Status::Failed && told.contains("ask again in 61 s"),
        "{told}"
    );
    let (status, told) = of(|| Reply::Text(200, "<html><title>Sign in</title>".to_owned())).await;
    assert!(
        status == Status::Failed && told.contains("Sign in"),
        "{told}"
    );
    let (status, told) = of(|| {
        manager::error(
            401,
            "InvalidAuthenticationTokenTenant",
            "The access token is from the wrong issuer.",
        )
    })
    .await;
    assert!(
        status == Status::Denied && told.contains("AZURE_TENANT_ID"),
        "{told}"
    );
    let (_, told) = of(|| {
        manager::error(
            404,
            "SubscriptionNotFound",
            "The subscription could not be found.",
        )
    })
    .await;
    assert!(told.contains("AZURE_SUBSCRIPTION_ID"), "{told}");
}

#[tokio::test]
async fn what_is_older_than_kept_is_not_asked_for() {
    let fake = cluster().start();
    let azure = azure(&fake, &outside::login());
    let mut old = ask(vec![of_set(3)]);
    old.window = Window {
        from: Some(at("2026-05-01T00:00:00Z")),
        to: Some(at("2026-05-02T00:00:00Z")),
    };
    let (.., rows) = fetched(&azure, &old).await;
    assert_eq!(row(&rows, "activity").status, Status::Expired);
    assert_eq!(row(&rows, "health").status, Status::Expired);
    assert_eq!(fake.count(|asked| asked.path.ends_with("/values")), 0);
    // Some of it is: the API refuses to be asked for more.
    old.window.to = None;
    let (.., rows) = fetched(&azure, &old).await;
    let activity = row(&rows, "activity");
    assert_eq!(activity.status, Status::Truncated);
    assert_eq!(
        activity.got_from,
        Some(at(NOON) - 90 * 24 * HOUR + HOUR / 6)
    );
    assert!(activity.rows > 0 && detail(activity).contains("90 days"));
}

#[tokio::test]
async fn broken_records_are_counted_and_the_rest_is_used() {
    let fake = Fake::start(|asked| {
        if !asked.path.ends_with("/values") {
            return Reply::Json(200, json!({"value": []}));
        }
        let mut no_time = record(
            "21T10:20:00",
            &vmss(),
            "Microsoft.Compute/virtualMachineScaleSets/write",
            json!({}),
        );
        no_time["eventTimestamp"] = json!("soon");
        let good = record(
            "21T10:20:00",
            &vmss(),
            "Microsoft.Compute/virtualMachineScaleSets/write",
            json!({}),
        );
        Reply::Json(200, json!({"value": [no_time, 7, good]}))
    });
    let (events, _, rows) = fetched(&azure(&fake, &outside::login()), &ask(vec![])).await;
    let activity = row(&rows, "activity");
    assert_eq!(
        (events.len(), activity.rows, activity.status),
        (1, 1, Status::Truncated)
    );
    assert!(detail(activity).contains("without a time") && detail(activity).contains("no object"));
}

#[tokio::test]
async fn scheduled_events_are_asked_for_inside_a_machine() {
    let metadata = Fake::start(|asked| {
        if asked.header("metadata") != "true" || asked.query("api-version").is_empty() {
            return Reply::Json(
                400,
                json!({"error": "Bad request. Required metadata header not specified"}),
            );
        }
        assert_eq!(asked.path, "/metadata/scheduledevents");
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
    let (events, _, rows) = fetched(&inside, &ask(vec![of_set(3)])).await;
    assert!(methods(&events).contains("Preempt aks-gpu-1-vmss000003"));
    assert!(!methods(&events).contains("Reboot aks-gpu-1-vmss000007"));
    let scheduled = row(&rows, "scheduled_events");
    assert_eq!((scheduled.status, scheduled.rows), (Status::Complete, 1));

    let nobody = azure_with(&fake, &outside::login(), |options| {
        options.scheduled_events = Some("http://127.0.0.1:9/metadata/scheduledevents".to_owned());
    });
    let (.., rows) = fetched(&nobody, &ask(vec![of_set(3)])).await;
    assert_eq!(row(&rows, "scheduled_events").status, Status::Failed);
    assert!(detail(row(&rows, "scheduled_events")).contains("only told inside"));
    assert_eq!(row(&rows, "activity").status, Status::Complete);
}

#[tokio::test]
async fn recorded_answers_are_read_in_place() {
    let folder =
        std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/recordings/azure");
    if !folder.exists() {
        println!("skipped: no ../shared");
        return;
    }
    let parse = |name: &str| -> Value {
        serde_json::from_slice(&std::fs::read(folder.join(name)).unwrap()).unwrap()
    };
    let cassette = parse("custodian-activitylog-list.json");
    let health = parse("docs-activitylog-resourcehealth.json");
    let service = parse("docs-activitylog-servicehealth.json");
    let fake = Fake::start(move |asked| {
        if !asked.path.ends_with("/values") {
            return Reply::Json(200, json!({"value": []}));
        }
        if asked.query("page").is_empty() {
            let mut first = cassette["response"].clone();
            let link = format!("http://{}{}?page=2", asked.header("host"), asked.path);
            first["nextLink"] = json!(link);
            return Reply::Json(200, first);
        }
        Reply::Json(200, json!({"value": [health, service]}))
    });
    let (events, _, rows) = fetched(&azure(&fake, &outside::login()), &ask(vec![])).await;
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
