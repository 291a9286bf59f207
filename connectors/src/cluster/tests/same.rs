//! What comes live is what comes from `kubectl get -o json`.

use serde_json::{Value, json};

use super::fake;
use super::*;
use crate::contract::{Input, Options};
use crate::event::EventId;
use crate::recording::read;

const PODS: &str = include_str!("../testdata/pods_by_label.json");
const EVENTS: &str = include_str!("../testdata/events_core_page1.json");
const EVENTS_V1: &str = include_str!("../testdata/events_v1_page1.json");
const JOB: &str = include_str!("../testdata/job.json");

/// As kubectl writes it: a List whose items say their kind.
fn kubectl(api_version: &str, kind: &str, body: &Value) -> Vec<Observation> {
    let mut items = body["items"].clone();
    for item in items.as_array_mut().unwrap() {
        item["apiVersion"] = json!(api_version);
        item["kind"] = json!(kind);
    }
    let text = json!({ "apiVersion": "v1", "kind": "List", "items": items, "metadata": { "resourceVersion": "" } });
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("get.json");
    std::fs::write(&file, serde_json::to_string_pretty(&text).unwrap()).unwrap();
    let mut kept = Collected::default();
    read(&[Input::Path(file)], &Options::default(), &mut kept);
    kept.0
}

/// Without where and when it was read, and how the record was laid out.
fn bare(observations: Vec<Observation>) -> Vec<Observation> {
    let strip = |mut one: Observation| {
        match &mut one {
            Observation::Event(event) => {
                event.origin = crate::event::Origin::default();
                event.observed = None;
                event.entities.cluster = None;
                if event.fact == "k8s.event" {
                    event.raw.clear();
                }
            }
            Observation::Object(version) => version.origin = crate::event::Origin::default(),
            Observation::EventGrew { .. } => {}
        }
        one
    };
    observations.into_iter().map(strip).collect()
}

async fn live(path: &'static str, body: Value) -> Vec<Observation> {
    let (_fake, cluster) = cluster(move |request| {
        let mut page = body.clone();
        page["metadata"] = json!({ "resourceVersion": "1" });
        (request.path == path).then_some(Reply::Json(200, page))
    })
    .await;
    fetch(&cluster).await.0.0
}

#[tokio::test]
async fn pods_events_and_jobs() {
    let jobs = json!({ "kind": "JobList", "apiVersion": "batch/v1", "items": [fake::body(JOB)] });
    for (path, api_version, kind, body) in [
        ("/api/v1/pods", "v1", "Pod", fake::body(PODS)),
        ("/api/v1/events", "v1", "Event", fake::body(EVENTS)),
        ("/apis/batch/v1/jobs", "batch/v1", "Job", jobs),
    ] {
        let recorded = bare(kubectl(api_version, kind, &body));
        let live = bare(live(path, body).await);
        assert!(!live.is_empty());
        assert_eq!(live, recorded, "{path}");
    }
}

#[tokio::test]
async fn an_event_has_one_id_through_both_groups() {
    let core = live("/api/v1/events", fake::body(EVENTS)).await;
    let other = bare(kubectl("events.k8s.io/v1", "Event", &fake::body(EVENTS_V1)));
    let ids = |all: &[Observation]| -> Vec<EventId> {
        let id = |one: &Observation| match one {
            Observation::Event(event) => event.id,
            _ => panic!("not an Event"),
        };
        all.iter().map(id).collect()
    };
    assert_eq!(ids(&core).len(), 20);
    assert_eq!(ids(&core), ids(&other));
}
