//! Annotations page by page, and whom they name.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::decode::annotation;
use super::{Grafana, GrafanaOptions};
use crate::connector::{Connector as _, Entity, FetchRequest, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::event::{Event, Origin};
use crate::http::Endpoint;
use crate::observation::Observation;
use crate::time::SECOND;
use whathappened_loopback::{Fake, Reply};

const NOON: i64 = 1_790_000_000;

fn options(url: String) -> GrafanaOptions {
    GrafanaOptions {
        name: "grafana".to_owned(),
        reach: Endpoint {
            url: Some(url),
            token: Some("glsa_x".into()),
            ..Endpoint::default()
        },
        organisation: None,
    }
}

fn fetch_request() -> FetchRequest {
    let node = Entity {
        name: "gpu-1".to_owned(),
        ..Entity::default()
    };
    FetchRequest {
        scope: Scope {
            nodes: vec![node],
            ..Scope::default()
        },
        window: Window {
            from: Some(NOON * SECOND),
            to: Some((NOON + 600) * SECOND),
        },
        now: (NOON + 600) * SECOND,
        deadline: Instant::now() + Duration::from_secs(10),
    }
}

async fn requested(source: &Grafana) -> (Vec<Event>, Coverage) {
    let mut emitted: Vec<Observation> = Vec::new();
    let mut rows = source.fetch(&fetch_request(), &mut emitted).await;
    let events = emitted.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(*event),
        _ => None,
    });
    (events.collect(), rows.pop().unwrap())
}

fn note(id: i64, second: i64, text: &str, tags: &[&str]) -> Value {
    json!({ "id": id, "time": (NOON + second) * 1_000, "timeEnd": (NOON + second) * 1_000,
        "dashboardUID": "x", "text": text, "tags": tags, "newState": "", "login": "alice" })
}

/// A Grafana that gives the latest first, no more than asked for.
fn grafana(all: Vec<Value>) -> Fake {
    Fake::start(move |requested| {
        assert_eq!(requested.header("authorization"), "Bearer glsa_x");
        let number = |name: &str| requested.query(name).parse::<i64>().unwrap();
        let (from, to) = (number("from"), number("to"));
        let inside = |one: &&Value| (from..=to).contains(&one["time"].as_i64().unwrap());
        let mut found: Vec<Value> = all.iter().filter(inside).cloned().collect();
        found.sort_by_key(|one| -one["time"].as_i64().unwrap());
        found.truncate(usize::try_from(number("limit")).unwrap());
        Reply::Json(200, json!(found))
    })
}

#[tokio::test]
async fn all_pages_are_read_and_notes_once() {
    // Several of one moment, over the edge of a page.
    let all = (0..25).map(|id| note(id, (id / 3) * 10, "deployed gpu-1", &[]));
    let fake = grafana(all.collect());
    let source = Grafana::new(&options(fake.url())).unwrap().with_pages_of(4);
    let (events, row) = requested(&source).await;
    assert_eq!((events.len(), row.status), (25, Status::Complete));
    assert!(
        events
            .iter()
            .all(|one| one.entities.node.as_deref() == Some("gpu-1"))
    );
    assert!(
        events
            .windows(2)
            .all(|two| two[0].time.lo <= two[1].time.lo)
    );
}

#[tokio::test]
async fn a_moment_of_more_notes_than_a_page_holds_is_read_or_told_of() {
    let all = |count: i64| (0..count).map(|id| note(id, 30 - id / 20, "deployed gpu-1", &[]));
    let fake = grafana(all(45).collect());
    let source = Grafana::new(&options(fake.url())).unwrap().with_pages_of(4);
    let (events, row) = requested(&source).await;
    assert_eq!((events.len(), row.status), (45, Status::Complete));
    // Twenty pages at once are the most that is asked for.
    let fake = grafana(
        (0..50)
            .map(|id| note(id, 30, "deployed gpu-1", &[]))
            .collect(),
    );
    let source = Grafana::new(&options(fake.url())).unwrap().with_pages_of(2);
    let (events, row) = requested(&source).await;
    assert_eq!((events.len(), row.status), (40, Status::Truncated));
    assert!(row.detail.unwrap().contains("the others were not obtained"));
}

#[tokio::test]
async fn whom_a_note_names_it_is_about_and_others_alerts_are_left_out() {
    let mut alert = note(3, 30, "", &[]);
    alert["newState"] = json!("Alerting");
    alert["alertName"] = json!("Disk");
    let fake = grafana(vec![
        note(
            1,
            10,
            "<b>Rack 7</b> goes down",
            &["maintenance", "node:gpu-1"],
        ),
        note(2, 20, "new release of the gateway", &["deploy"]),
        note(4, 40, "gpu-10 is drained", &[]),
        alert,
    ]);
    let source = Grafana::new(&options(fake.url())).unwrap();
    let (events, _) = requested(&source).await;
    let emitted: Vec<(&str, Option<&str>)> = events
        .iter()
        .map(|one| {
            (
                one.message.as_deref().unwrap(),
                one.entities.node.as_deref(),
            )
        })
        .collect();
    assert_eq!(
        emitted,
        [
            ("Rack 7 goes down", Some("gpu-1")),
            ("new release of the gateway", None),
            ("gpu-10 is drained", None)
        ]
    );
    assert_eq!(events[0].actor.as_deref(), Some("alice"));
    assert_eq!(events[0].attribute("tags"), Some("maintenance,node:gpu-1"));
    assert_eq!(events[0].end, None);
}

#[tokio::test]
async fn what_is_denied_is_a_row() {
    let fake = Fake::start(|_| Reply::Json(403, json!({ "message": "no annotations:read" })));
    let source = Grafana::new(&options(fake.url())).unwrap();
    let (events, row) = requested(&source).await;
    assert!(events.is_empty());
    assert_eq!(row.status, Status::Denied);
    let health = source
        .check(0, Instant::now() + Duration::from_secs(5))
        .await;
    assert!(health.unreachable.unwrap().contains("annotations:read"));
}

#[test]
fn a_stretch_has_an_end_and_what_is_broken_is_told() {
    let mut one = note(1, 10, "x", &[]);
    one["timeEnd"] = json!((NOON + 70) * 1_000);
    let events = annotation(&one, None, &Origin::default()).unwrap();
    assert_eq!(events[0].end.unwrap().lo, (NOON + 70) * SECOND);
    one["time"] = json!(i64::MAX);
    assert!(annotation(&one, None, &Origin::default()).is_err());
    assert!(annotation(&json!({ "id": "x" }), None, &Origin::default()).is_err());
}

#[test]
fn the_documented_answer_is_read() {
    let path = "../../shared/recordings/grafana/annotations-get-200.json";
    let Ok(bytes) = std::fs::read(path) else {
        whathappened_loopback::skipped("no ../shared");
        return;
    };
    let recorded: Value = serde_json::from_slice(&bytes).unwrap();
    for one in recorded["response"]["body"].as_array().unwrap() {
        let events = annotation(one, None, &Origin::default()).unwrap();
        assert_eq!(events[0].message.as_deref(), Some("test"));
    }
}

#[tokio::test]
#[expect(
    clippy::disallowed_methods,
    reason = "a real server has the present time"
)]
async fn e2e_a_grafana_of_ones_own() {
    let get = |name: &str| std::env::var(format!("E2E_{name}")).ok();
    if get("GRAFANA_URL").is_none() {
        whathappened_loopback::skipped("E2E_GRAFANA_URL is not set");
        return;
    }
    let source = Grafana::new(&GrafanaOptions::from_env(&get)).unwrap();
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
    let notes = (0..).zip(seconds);
    let notes = notes.map(|(id, second)| note(id, second, &format!("record-{id} on gpu-1"), &[]));
    let server = grafana(notes.collect());
    let subject = crate::tests::conformance::Subject {
        source: Box::new(
            Grafana::new(&options(server.url()))
                .unwrap()
                .with_pages_of(6),
        ),
        server,
        _others: Vec::new(),
        request: fetch_request(),
        start: NOON * SECOND,
        is_data: |request| request.path == "/api/annotations",
        resource: "annotations",
    };
    Box::pin(std::future::ready(subject))
}
