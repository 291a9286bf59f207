//! Whole questions to a small Prometheus.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::emit::NOON;
use super::server::{answer, start};
use crate::connector::{Connector as _, Entity, FetchRequest, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::event::Event;
use crate::http::Endpoint;
use crate::observation::Observation;
use crate::prometheus::{Prometheus, PrometheusOptions};
use crate::time::SECOND;
use whathappened_loopback::{Fake, Reply};

pub(super) fn options(url: String) -> PrometheusOptions {
    PrometheusOptions {
        name: "prometheus".to_owned(),
        reach: Endpoint {
            url: Some(url),
            ..Endpoint::default()
        },
        grafana_url: None,
        datasource_uid: None,
        grafana_token: None,
    }
}

pub(super) fn fetch_request(nodes: &[&str], pods: &[&str]) -> FetchRequest {
    let died = vec![(NOON + 600) * SECOND];
    let entity = |name: &&str, namespace: Option<&str>| Entity {
        namespace: namespace.map(str::to_owned),
        name: (*name).to_owned(),
        moments: died.clone(),
        ..Entity::default()
    };
    FetchRequest {
        scope: Scope {
            nodes: nodes.iter().map(|name| entity(name, None)).collect(),
            pods: pods.iter().map(|name| entity(name, Some("lab"))).collect(),
            ..Scope::default()
        },
        window: Window::default(),
        now: (NOON + 7_200) * SECOND,
        deadline: Instant::now() + Duration::from_secs(20),
    }
}

pub(super) async fn requested(
    source: &Prometheus,
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

fn series(labels: &Value, values: &[&str]) -> Value {
    let step = i64::try_from(1_200 / values.len()).unwrap();
    let mut at = NOON;
    let mut all = Vec::new();
    for value in values {
        all.push(json!([at, value]));
        at += step;
    }
    json!({ "metric": labels, "values": all })
}

/// What a lab has: an exporter that is only known by its pod's address.
fn lab() -> Vec<Value> {
    let ten: Vec<&str> = ["0"; 5].into_iter().chain(["79"; 5]).collect();
    vec![
        series(
            &json!({ "__name__": "up", "job": "node", "instance": "10.0.0.5:9100" }),
            &["1"; 10],
        ),
        series(
            &json!({ "__name__": "kube_node_info", "node": "gpu-1", "internal_ip": "10.0.0.5" }),
            &["1"; 10],
        ),
        series(
            &json!({ "__name__": "kube_pod_info", "node": "gpu-1", "namespace": "monitoring", "pod": "dcgm-exporter-x" }),
            &["1"; 10],
        ),
        series(
            &json!({ "__name__": "DCGM_FI_DEV_XID_ERRORS", "gpu": "3", "UUID": "GPU-3", "Hostname": "dcgm-exporter-x",
                "namespace": "monitoring", "pod": "dcgm-exporter-x", "instance": "10.244.0.9:9400" }),
            &ten,
        ),
        // Another machine's.
        series(
            &json!({ "__name__": "DCGM_FI_DEV_XID_ERRORS", "gpu": "0", "UUID": "GPU-9", "Hostname": "gpu-11" }),
            &ten,
        ),
        series(
            &json!({ "__name__": "container_memory_working_set_bytes", "namespace": "lab", "pod": "run-0", "container": "main" }),
            &["10"; 40],
        ),
        series(
            &json!({ "__name__": "kube_pod_container_resource_limits", "resource": "memory", "exported_namespace": "lab",
                "exported_pod": "run-0", "exported_container": "main", "namespace": "monitoring", "pod": "ksm-0" }),
            &["100"; 40],
        ),
        series(
            &json!({ "__name__": "ALERTS", "alertname": "KubeNodeNotReady", "alertstate": "firing", "node": "gpu-1" }),
            &["1"; 40],
        ),
    ]
}

#[tokio::test]
async fn what_was_measured_is_found_by_whatever_label_names_the_machine() {
    let fake = start(lab());
    let source = Prometheus::new(&options(format!("{}/prom", fake.url()))).unwrap();
    let (events, rows) = requested(&source, &fetch_request(&["gpu-1"], &["run-0"])).await;
    let facts: Vec<(&str, Option<&str>)> = events
        .iter()
        .map(|one| (one.fact.as_str(), one.entities.node.as_deref()))
        .collect();
    for wanted in [
        ("metric.gpu.xid", Some("gpu-1")),
        ("alert.fired", Some("gpu-1")),
        ("metric.container.memory", None),
    ] {
        assert!(facts.contains(&wanted), "{wanted:?}: {facts:?}");
    }
    assert_eq!(facts.len(), 3, "{facts:?}");
    let memory = events
        .iter()
        .find(|one| one.fact == "metric.container.memory");
    assert_eq!(memory.unwrap().attribute("level"), Some("far"));
    assert_eq!(rows.len(), 2);
    assert!(
        rows.iter().all(|row| row.status == Status::Complete),
        "{rows:#?}"
    );
    assert!(rows.iter().all(|row| row.rows > 0), "{rows:#?}");
    // The same again says the same.
    let again = requested(&source, &fetch_request(&["gpu-1"], &["run-0"])).await;
    assert_eq!(again.0, events);
    assert!(fake.requests().iter().all(|one| one.method == "POST"));
}

#[tokio::test]
async fn asked_about_nobody_it_tells_the_same_alerts_in_each_window() {
    let of = |name: &str, value: &str| {
        series(
            &json!({ "__name__": name, "alertname": "DiskSlow", "alertstate": "firing", "instance": "10.0.0.5:9100" }),
            &[value; 40],
        )
    };
    let mut all = lab();
    all.push(of("ALERTS", "1"));
    let mut since = of("ALERTS_FOR_STATE", &(NOON - 60).to_string());
    let labels = since["metric"].as_object_mut().unwrap();
    labels.remove("alertstate");
    all.push(since);
    let fake = start(all);
    let source = Prometheus::new(&options(format!("{}/prom", fake.url()))).unwrap();
    let mut ids = Vec::new();
    for (from, to) in [(-600, 600), (300, 1_500)] {
        let everybody = FetchRequest {
            window: Window {
                from: Some((NOON + from) * SECOND),
                to: Some((NOON + to) * SECOND),
            },
            ..fetch_request(&[], &[])
        };
        let (events, rows) = requested(&source, &everybody).await;
        assert!(events.iter().all(|one| one.fact == "alert.fired"));
        let nodes = events.iter().map(|one| one.entities.node.as_deref());
        assert!(nodes.eq(events.iter().map(|_| Some("gpu-1"))), "{events:?}");
        let disk = events
            .iter()
            .find(|one| one.reason.as_deref() == Some("DiskSlow"));
        ids.push(disk.unwrap().id);
        let [row] = rows.as_slice() else {
            panic!("{rows:?}");
        };
        assert_eq!(row.resource, "alerts");
        assert_eq!(row.status, Status::Complete);
        assert_eq!(row.rows, events.len() as u64);
        // One that began before the window, nobody says when, has no id of its own.
        assert_eq!(events.len(), if from < 0 { 2 } else { 1 });
    }
    assert_eq!(ids[0], ids[1]);
}

#[tokio::test]
async fn what_the_server_leaves_out_is_said() {
    let lab = lab();
    let fake = Fake::start(move |requested| match answer(requested, &lab) {
        Reply::Json(code, mut body) => {
            body["warnings"] = json!(["store gateway 2 did not answer"]);
            Reply::Json(code, body)
        }
        other => other,
    });
    let source = Prometheus::new(&options(format!("{}/prom", fake.url()))).unwrap();
    let (events, rows) = requested(&source, &fetch_request(&["gpu-1"], &[])).await;
    assert!(!events.is_empty());
    for row in rows {
        assert_eq!(row.status, Status::Truncated);
        assert!(row.detail.unwrap().contains("store gateway 2"));
    }
}

#[tokio::test]
async fn what_is_forgotten_and_what_is_unknown_are_not_the_same() {
    let fake = start(Vec::new());
    let source = Prometheus::new(&options(fake.url())).unwrap();
    let (_, rows) = requested(&source, &fetch_request(&["gpu-1"], &[])).await;
    assert_eq!(rows[1].status, Status::Expired, "{rows:#?}");
    let up = json!({ "__name__": "up", "job": "x", "instance": "other:1" });
    let fake = start(vec![series(&up, &["1"; 120])]);
    let source = Prometheus::new(&options(fake.url())).unwrap();
    let (_, rows) = requested(&source, &fetch_request(&["gpu-1"], &["run-0"])).await;
    assert_eq!((rows[1].status, rows[1].rows), (Status::Complete, 0));
    let detail = rows[1].detail.clone().unwrap();
    assert!(detail.contains("none of 1 machines and 1 pods"), "{detail}");
}

#[tokio::test]
async fn a_source_that_does_not_answer_is_a_row() {
    for (reply, status) in [(401, Status::Denied), (404, Status::Failed)] {
        let fake = Fake::start(move |_| Reply::Text(reply, "no".to_owned()));
        let source = Prometheus::new(&options(fake.url())).unwrap();
        let (events, rows) = requested(&source, &fetch_request(&["gpu-1"], &["run-0"])).await;
        assert!(events.is_empty());
        assert!(rows.iter().all(|row| row.status == status), "{rows:#?}");
        let health = source
            .check(0, Instant::now() + Duration::from_secs(5))
            .await;
        assert!(health.unreachable.is_some());
    }
    for body in [
        "<html>login</html>",
        "",
        "{\"status\":\"error\",\"error\":\"x\"}",
    ] {
        let fake = Fake::start(move |_| Reply::Text(200, body.to_owned()));
        let source = Prometheus::new(&options(fake.url())).unwrap();
        let (_, rows) = requested(&source, &fetch_request(&["gpu-1"], &[])).await;
        assert!(
            rows.iter().all(|row| row.status == Status::Failed),
            "{rows:#?}"
        );
    }
}

#[tokio::test]
async fn less_is_asked_for_where_it_is_too_much_and_get_where_post_is_refused() {
    let lab = lab();
    let fake = Fake::start(move |requested| {
        if requested.method == "POST" {
            return Reply::Text(405, "method not allowed".to_owned());
        }
        let query = requested.query("query");
        let several = query.contains("pod=~\"run-0|run-1\"");
        if query.starts_with('{') && several {
            return Reply::Json(
                422,
                json!({ "status": "error", "errorType": "execution",
                    "error": "query processing would load too many samples into memory in query execution" }),
            );
        }
        answer(requested, &lab)
    });
    let source = Prometheus::new(&options(fake.url())).unwrap();
    let (events, rows) = requested(&source, &fetch_request(&[], &["run-0", "run-1"])).await;
    assert_eq!(events.len(), 1, "{events:#?}");
    assert!(
        rows.iter().all(|row| row.status == Status::Complete),
        "{rows:#?}"
    );
}

#[tokio::test]
async fn machines_of_one_name_in_two_clusters_are_left_out() {
    let of = |cluster: &str| {
        series(
            &json!({ "__name__": "DCGM_FI_DEV_XID_ERRORS", "gpu": "0", "UUID": cluster, "Hostname": "gpu-1",
                "cluster": cluster }),
            &["0", "79", "79", "79"],
        )
    };
    let fake = start(vec![of("a"), of("b")]);
    let source = Prometheus::new(&options(fake.url())).unwrap();
    let (events, rows) = requested(&source, &fetch_request(&["gpu-1"], &[])).await;
    assert!(events.is_empty(), "{events:#?}");
    let detail = rows[1].detail.clone().unwrap();
    assert!(detail.contains("in several clusters (a, b)"), "{detail}");
}

#[tokio::test]
async fn the_doctor_hears_the_version_and_what_is_not_scraped() {
    let fake = start(lab());
    let source = Prometheus::new(&options(fake.url())).unwrap();
    let now = (NOON + 300) * SECOND;
    let health = source
        .check(now, Instant::now() + Duration::from_secs(5))
        .await;
    assert_eq!(
        (health.unreachable, health.version.as_deref()),
        (None, Some("2.99.0"))
    );
    assert!(
        health.notes.iter().any(|note| note.contains("15d")),
        "{:?}",
        health.notes
    );
    assert!(
        health
            .notes
            .iter()
            .any(|note| note.contains("node-exporter"))
    );
}
