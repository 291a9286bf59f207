//! Alerts and silences: whom they are about, and when they are over.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::decode::{KnownEntities, alert, silence};
use super::{Alertmanager, AlertmanagerOptions};
use crate::connector::{Connector as _, Entity, FetchRequest, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::event::{Event, Origin};
use crate::http::{Client, Endpoint, HttpOptions, Request};
use crate::observation::Observation;
use crate::prometheus::Names;
use crate::prometheus::tests::real::{port, program, serve};
use crate::time::{Nanos, Stamp};
use whathappened_loopback::{Fake, Reply};

fn at(text: &str) -> Nanos {
    Stamp::parse(text).unwrap().lo
}

fn options(url: String) -> AlertmanagerOptions {
    AlertmanagerOptions {
        name: "alertmanager".to_owned(),
        reach: Endpoint {
            url: Some(url),
            ..Endpoint::default()
        },
    }
}

fn fetch_request() -> FetchRequest {
    let entity = |name: &str, namespace: Option<&str>| Entity {
        name: name.to_owned(),
        namespace: namespace.map(str::to_owned),
        ..Entity::default()
    };
    FetchRequest {
        scope: Scope {
            nodes: vec![entity("gpu-1", None), entity("gpu-2", None)],
            pods: vec![entity("run-0", Some("lab"))],
            ..Scope::default()
        },
        window: Window {
            from: Some(at("2026-03-01T10:00:00Z")),
            to: Some(at("2026-03-01T12:00:00Z")),
        },
        now: at("2026-03-01T12:30:00Z"),
        deadline: Instant::now() + Duration::from_secs(20),
    }
}

async fn requested(
    source: &Alertmanager,
    fetch_request: &FetchRequest,
) -> (Vec<Event>, Vec<Coverage>) {
    let mut emitted: Vec<Observation> = Vec::new();
    let rows = source.fetch(fetch_request, &mut emitted).await;
    let events = emitted.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(*event),
        _ => None,
    });
    (events.collect(), rows)
}

fn fired(labels: &Value, ends: &str) -> Value {
    json!({ "labels": labels, "annotations": { "summary": "it is bad" }, "fingerprint": labels.to_string(),
        "startsAt": "2026-03-01T11:00:00.250Z", "endsAt": ends, "updatedAt": "2026-03-01T12:29:00Z",
        "status": { "state": "active", "silencedBy": [], "inhibitedBy": [] } })
}

fn silenced(matchers: &Value, comment: &str) -> Value {
    json!({ "id": comment, "status": { "state": "active" }, "comment": comment, "createdBy": "alice",
        "startsAt": "2026-03-01T10:30:00Z", "endsAt": "2026-03-01T14:00:00Z", "matchers": matchers })
}

#[tokio::test]
async fn alerts_and_silences_of_what_was_asked_are_told() {
    let fake = Fake::start(|requested| match requested.path.as_str() {
        "/am/api/v2/alerts" => Reply::Json(
            200,
            json!([
                            fired(
            &json!({ "alertname": "KubeNodeNotReady", "node": "gpu-1", "pod": "ksm-0", "namespace": "monitoring" }), "2026-03-01T12:34:00Z"),
                            fired(
            &json!({ "alertname": "PodSlow", "pod": "run-0", "namespace": "lab" }), "2026-03-01T11:20:00Z"),
                            fired(
            &json!({ "alertname": "PodSlow", "pod": "run-0", "namespace": "other" }), "2026-03-01T12:34:00Z"),
                            fired(
            &json!({ "alertname": "Watchdog" }), "2026-03-01T12:34:00Z"),
                            { "labels": 7 },
                        ]),
        ),
        "/am/api/v2/silences" => Reply::Json(
            200,
            json!([
                silenced(
                    &json!([{ "name": "instance", "value": "gpu-(1|3):.*", "isRegex": true, "isEqual": true }]),
                    "rack"
                ),
                silenced(
                    &json!([{ "name": "alertname", "value": "X", "isRegex": false }]),
                    "gpu-2 gets a new card"
                ),
                silenced(
                    &json!([{ "name": "node", "value": "gpu-2", "isRegex": false, "isEqual": false }]),
                    "others"
                ),
                silenced(
                    &json!([{ "name": "team", "value": "x", "isRegex": false }]),
                    "nobody here"
                ),
            ]),
        ),
        other => Reply::Text(404, other.to_owned()),
    });
    let source = Alertmanager::new(&options(format!("{}/am/api/v2/", fake.url()))).unwrap();
    let (events, rows) = requested(&source, &fetch_request()).await;
    let emitted: Vec<(&str, Option<&str>, Option<&str>, bool)> = events
        .iter()
        .map(|one| {
            let names = &one.entities;
            (
                one.fact.as_str(),
                names.node.as_deref(),
                names.pod.as_deref(),
                one.end.is_some(),
            )
        })
        .collect();
    assert_eq!(emitted.len(), 4, "{emitted:?}");
    for wanted in [
        ("alert.silence", Some("gpu-1"), None, true),
        ("alert.silence", Some("gpu-2"), None, true),
        // One whose end lies ahead fires still.
        ("alert.fired", Some("gpu-1"), None, false),
        ("alert.fired", None, Some("run-0"), true),
    ] {
        assert!(emitted.contains(&wanted), "{wanted:?}: {emitted:?}");
    }
    let silence = events
        .iter()
        .find(|one| one.fact == "alert.silence")
        .unwrap();
    assert_eq!(silence.actor.as_deref(), Some("alice"));
    assert!(
        rows.iter()
            .all(|row| row.status == Status::Complete && row.rows == 2),
        "{rows:#?}"
    );
    assert!(
        rows[0]
            .detail
            .as_ref()
            .unwrap()
            .contains("could not be parsed")
    );
}

#[tokio::test]
async fn asked_about_nobody_it_tells_of_everybody() {
    let fires = "2026-03-01T12:34:00Z";
    let fake = Fake::start(move |requested| match requested.path.as_str() {
        "/api/v2/alerts" => Reply::Json(
            200,
            json!([
                fired(&json!({ "alertname": "FanSlow", "node": "gpu-7" }), fires),
                fired(
                    &json!({ "alertname": "PodSlow", "pod": "p", "namespace": "lab" }),
                    fires
                ),
                fired(&json!({ "alertname": "Watchdog" }), fires),
            ]),
        ),
        _ => Reply::Json(
            200,
            json!([silenced(
                &json!([{ "name": "node", "value": "gpu-8", "isRegex": false }]),
                "rack"
            )]),
        ),
    });
    let source = Alertmanager::new(&options(fake.url())).unwrap();
    let everybody = FetchRequest {
        scope: Scope::default(),
        ..fetch_request()
    };
    let (events, _) = requested(&source, &everybody).await;
    let mut whose: Vec<Option<&str>> = events
        .iter()
        .map(|one| one.entities.node.as_deref().or(one.entities.pod.as_deref()))
        .collect();
    whose.sort_unstable();
    assert_eq!(whose, [Some("gpu-7"), Some("gpu-8"), Some("p")]);
    // A name that nobody knows is somebody.
    let unknown = FetchRequest {
        scope: Scope {
            experiments: vec!["x".to_owned()],
            ..Scope::default()
        },
        ..fetch_request()
    };
    let (events, _) = requested(&source, &unknown).await;
    let pods = events.iter().filter(|one| one.entities.pod.is_some());
    assert_eq!(pods.count(), 0, "{events:?}");
    assert!(events.iter().all(|one| one.fact != "alert.silence"));
}

#[tokio::test]
async fn one_of_the_two_that_fails_is_a_row_of_its_own() {
    let fake = Fake::start(|requested| match requested.path.as_str() {
        "/api/v2/alerts" => Reply::Json(400, json!("unexpected open or close brace: {{")),
        "/api/v2/silences" => Reply::Json(200, json!([])),
        _ => Reply::Json(410, json!({ "status": "deprecated" })),
    });
    let source = Alertmanager::new(&options(fake.url())).unwrap();
    let (_, rows) = requested(&source, &fetch_request()).await;
    assert_eq!(
        (rows[0].status, rows[1].status),
        (Status::Failed, Status::Complete)
    );
    assert!(
        rows[0].detail.as_ref().unwrap().contains("brace"),
        "{rows:#?}"
    );
    let health = source
        .check(0, Instant::now() + Duration::from_secs(5))
        .await;
    assert!(health.unreachable.unwrap().contains("410"));
}

#[test]
fn a_file_names_whom_its_matchers_spell_out() {
    let nobody = (Names::default(), BTreeSet::new(), BTreeSet::new());
    let known = KnownEntities {
        names: &nobody.0,
        nodes: &nobody.1,
        pods: &nobody.2,
        any: true,
        now: None,
        origin: Origin::default(),
    };
    let of = |matchers: Value| -> Vec<String> {
        let emitted = silence(&silenced(&matchers, "c"), &known).unwrap();
        emitted
            .into_iter()
            .filter_map(|one| one.entities.node)
            .collect()
    };
    let regex =
        |value: &str| json!([{ "name": "node", "value": value, "isRegex": true, "isEqual": true }]);
    assert_eq!(of(regex("gpu-1|gpu-2")), ["gpu-1", "gpu-2"]);
    assert!(of(regex("gpu-[0-9]+")).is_empty());
    let exact = json!([{ "name": "instance", "value": "gpu-3:9100", "isRegex": false }]);
    assert_eq!(of(exact), ["gpu-3"]);
    // By its own last word, an alert of a file has ended or not.
    let ends = |text: &str| {
        let one = fired(&json!({ "alertname": "A", "node": "gpu-1" }), text);
        alert(&one, &known).unwrap()[0].end.is_some()
    };
    assert!(ends("2026-03-01T12:00:00Z") && !ends("2026-03-01T12:34:00Z"));
}

#[test]
fn recorded_answers_are_read() {
    let nodes = BTreeSet::from(["gpu-node-03".to_owned()]);
    let names = Names::of(nodes.iter().cloned());
    let pods = BTreeSet::new();
    let known = KnownEntities {
        names: &names,
        nodes: &nodes,
        pods: &pods,
        any: false,
        now: Some(at("2026-11-21T14:10:03Z")),
        origin: Origin::default(),
    };
    for (file, decode) in [
        ("alerts", alert as fn(&Value, &KnownEntities<'_>) -> _),
        ("silences", silence),
    ] {
        let path = format!("../../shared/recordings/alertmanager/{file}.json");
        let Ok(bytes) = std::fs::read(path) else {
            whathappened_loopback::skipped("no ../shared");
            return;
        };
        let recorded: Value = serde_json::from_slice(&bytes).unwrap();
        for one in recorded["response"]["body"].as_array().unwrap() {
            let emitted: Vec<Event> = decode(one, &known).unwrap();
            assert_eq!(
                emitted[0].entities.node.as_deref(),
                Some("gpu-node-03"),
                "{file}"
            );
        }
    }
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a real server has the present time"
)]
async fn a_real_alertmanager_tells_its_alerts_and_silences() {
    let Some(server) = program(&["prometheus-alertmanager", "alertmanager"]) else {
        whathappened_loopback::skipped("no alertmanager");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("alertmanager.yml");
    std::fs::write(
        &config,
        "route: { receiver: none }\nreceivers: [ { name: none } ]\n",
    )
    .unwrap();
    let port = port();
    let mut command = Command::new(server);
    command
        .arg(format!("--config.file={}", config.display()))
        .arg(format!("--storage.path={}", folder.path().display()))
        .arg("--cluster.listen-address=")
        .arg(format!("--web.listen-address=127.0.0.1:{port}"));
    let _server = serve(command, "Listening on");
    let url = format!("http://127.0.0.1:{port}");
    let client = Client::new(HttpOptions::new(&url)).unwrap();
    let now = chrono::Utc::now();
    let time = |minutes: i64| (now + chrono::Duration::minutes(minutes)).to_rfc3339();
    let deadline = Instant::now() + Duration::from_secs(20);
    let alerts = json!([{ "labels": { "alertname": "KubeNodeNotReady", "node": "gpu-1" },
        "annotations": { "summary": "it is silent" }, "startsAt": time(-10) }]);
    let post = Request::post("api/v2/alerts").json(&alerts).unwrap();
    client.send(&post, deadline).await.unwrap();
    let silence = json!({ "matchers": [{ "name": "node", "value": "gpu-(1|2)", "isRegex": true, "isEqual": true }],
        "startsAt": time(0), "endsAt": time(60), "createdBy": "alice", "comment": "new cards" });
    let post = Request::post("api/v2/silences").json(&silence).unwrap();
    client.send(&post, deadline).await.unwrap();
    let source = Alertmanager::new(&options(url)).unwrap();
    let mut fetch_request = fetch_request();
    fetch_request.window = Window::default();
    fetch_request.now = now.timestamp_nanos_opt().unwrap() + 1_000_000_000;
    let mut found = requested(&source, &fetch_request).await;
    for _ in 0..50 {
        if found.0.len() == 3 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
        found = requested(&source, &fetch_request).await;
    }
    let (events, rows) = found;
    let emitted: Vec<(&str, Option<&str>)> = events
        .iter()
        .map(|one| (one.fact.as_str(), one.entities.node.as_deref()))
        .collect();
    assert_eq!(emitted.len(), 3, "{emitted:?}");
    assert!(
        emitted.contains(&("alert.fired", Some("gpu-1"))),
        "{emitted:?}"
    );
    assert!(
        emitted.contains(&("alert.silence", Some("gpu-2"))),
        "{emitted:?}"
    );
    assert!(
        rows.iter().all(|row| row.status == Status::Complete),
        "{rows:#?}"
    );
    let health = source.check(fetch_request.now, deadline).await;
    assert!(
        health.unreachable.is_none() && health.version.is_some(),
        "{health:#?}"
    );
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a real server has the present time"
)]
async fn e2e_an_alertmanager_of_ones_own() {
    let get = |name: &str| std::env::var(format!("E2E_{name}")).ok();
    if get("ALERTMANAGER_URL").is_none() {
        whathappened_loopback::skipped("E2E_ALERTMANAGER_URL is not set");
        return;
    }
    let source = Alertmanager::new(&AlertmanagerOptions::from_env(&get)).unwrap();
    let now = chrono::Utc::now().timestamp_nanos_opt().unwrap();
    let health = source
        .check(now, Instant::now() + Duration::from_secs(30))
        .await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
}

pub(crate) fn conforming(
    seconds: Vec<i64>,
) -> futures::future::BoxFuture<'static, crate::tests::conformance::Subject> {
    let start = at("2026-03-01T11:00:00Z");
    let alerts = seconds.into_iter().zip(0..).map(|(second, number)| {
        let labels = json!({ "alertname": format!("record-{number}"), "node": "gpu-1" });
        let mut alert = fired(&labels, "2026-03-01T12:34:00Z");
        alert["startsAt"] = json!(crate::time::rfc3339(start + second * crate::time::SECOND));
        alert
    });
    let alerts: Vec<Value> = alerts.collect();
    let server = Fake::start(move |request| match request.path.as_str() {
        "/api/v2/alerts" => Reply::Json(200, json!(alerts)),
        _ => Reply::Json(200, json!([])),
    });
    let subject = crate::tests::conformance::Subject {
        source: Box::new(Alertmanager::new(&options(server.url())).unwrap()),
        server,
        _others: Vec::new(),
        request: fetch_request(),
        start,
        is_data: |request| request.path == "/api/v2/alerts",
        resource: "alerts",
    };
    Box::pin(std::future::ready(subject))
}
