//! Alerts that came and went before anybody asked: polled and pushed.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};

use super::api_server::ApiServer;
use super::reported;
use super::service::{Service, TOKEN, sql};
use crate::play::{field, play};

/// Whether this is the first time.
fn first(once: &AtomicBool) -> bool {
    !once.swap(true, Ordering::Relaxed)
}

#[test]
fn alerts_that_are_over_when_somebody_asks_were_kept() {
    let server = ApiServer::start();
    let once = AtomicBool::new(false);
    let (alertmanager, _) = play(move |path, _| match path {
        "/api/v2/alerts" if first(&once) => (
            200,
            json!([{ "labels": { "alertname": "FanSlow", "node": "gpu-2" }, "annotations": {}, "fingerprint": "f",
                "startsAt": "2026-01-01T10:00:00Z", "endsAt": "2200-01-01T00:00:00Z",
                "updatedAt": "2026-01-01T10:01:00Z", "status": { "state": "active", "silencedBy": [] } }]),
        ),
        _ => (200, json!([])),
    });
    let once = AtomicBool::new(false);
    let (prometheus, _) = play(move |path, fields| {
        let success = |data: Value| (200, json!({ "status": "success", "data": data }));
        if path.ends_with("/series") {
            return success(json!([
                { "__name__": "kube_node_info", "node": "gpu-1", "internal_ip": "10.0.0.5" },
            ]));
        }
        let asked = field(fields, "query");
        assert!(asked.contains("ALERTS"), "{asked}");
        let to: f64 = field(fields, "time").parse().unwrap();
        let samples: Vec<Value> = (0..10)
            .map(|n| json!([to - 3_000.0 + 30.0 * f64::from(n), "1"]))
            .collect();
        let labels = json!({ "__name__": "ALERTS", "alertname": "DiskSlow", "alertstate": "firing",
            "instance": "10.0.0.5:9100" });
        let fired = json!({ "metric": labels, "values": samples });
        let all = if first(&once) {
            vec![fired]
        } else {
            Vec::new()
        };
        success(json!({ "resultType": "matrix", "result": all }))
    });
    let config =
        format!("[alertmanager]\nurl = '{alertmanager}'\n[prometheus]\nurl = '{prometheus}'\n");
    std::fs::write(server.path("config.toml"), config).unwrap();
    let service = Service::start(&server);
    service.wait_for("/metrics", reported(2));
    assert_eq!(service.stop(), Some(0));
    let rows = sql(
        &server,
        "SELECT node, reason, end_time IS NULL AS fires FROM events WHERE fact = 'alert.fired' ORDER BY node",
    );
    assert_eq!(
        rows,
        json!([
            { "node": "gpu-1", "reason": "DiskSlow", "fires": false },
            { "node": "gpu-2", "reason": "FanSlow", "fires": true },
        ])
    );
    let rows = sql(
        &server,
        "SELECT DISTINCT source, status FROM coverage WHERE resource = 'alerts' AND source <> 'collector' ORDER BY source",
    );
    assert_eq!(
        rows,
        json!([
            { "source": "alertmanager", "status": "complete" },
            { "source": "prometheus", "status": "complete" },
        ])
    );
}

#[test]
fn an_alert_that_is_pushed_is_context_of_the_pods_on_its_node() {
    let config = format!("[serve.hooks.alertmanager]\ntoken = '{TOKEN}'\n");
    let service = crate::service::Service::start(&[], &config);
    let pod = json!({ "apiVersion": "v1", "kind": "Pod",
        "metadata": { "name": "train-0", "namespace": "ml", "uid": "u", "creationTimestamp": "2026-11-20T10:00:00Z" },
        "spec": { "nodeName": "gpu-1", "containers": [{ "name": "main", "image": "x" }] },
        "status": { "phase": "Failed", "startTime": "2026-11-20T10:00:05Z", "containerStatuses": [{ "name": "main",
            "ready": false, "restartCount": 0, "image": "x", "imageID": "x", "state": { "terminated": { "exitCode": 1,
            "reason": "Error", "startedAt": "2026-11-20T10:00:10Z", "finishedAt": "2026-11-20T11:00:00Z" } } }] } });
    let taken = service.ask("POST", "/api/v1/imports", &[], pod.to_string().as_bytes());
    assert_eq!(taken.status, 200, "{}", taken.text());
    let push = |status: &str, ends: &str| {
        let body = json!({ "version": "4", "groupKey": "{}:{}", "status": status, "receiver": "whathappened",
            "groupLabels": {}, "commonLabels": {}, "commonAnnotations": {}, "externalURL": "http://am.test", "truncatedAlerts": 0,
            "alerts": [{ "status": status, "labels": { "alertname": "FanSlow", "node": "gpu-1", "severity": "warning" },
                "annotations": { "summary": "a fan turns slowly" }, "startsAt": "2026-11-20T10:50:00Z", "endsAt": ends,
                "generatorURL": "", "fingerprint": "00aa11bb22cc33dd" }] });
        let token = format!("authorization: Bearer {TOKEN}");
        let body = body.to_string();
        let reported = service.ask("POST", "/hooks/alertmanager", &[&token], body.as_bytes());
        assert_eq!(reported.status, 200, "{}", reported.text());
    };
    let kept = || {
        let reported = service.sql(
            b"SELECT node, reason, message, CAST(end_time AS VARCHAR) AS until FROM events WHERE fact = 'alert.fired'",
            &["accept: application/json"],
        );
        assert_eq!(reported.status, 200, "{}", reported.text());
        reported.text()
    };
    push("firing", "0001-01-01T00:00:00Z");
    let fires = kept();
    for wanted in ["gpu-1", "FanSlow", "a fan turns slowly"] {
        assert!(fires.contains(wanted), "{wanted}: {fires}");
    }
    assert!(!fires.contains("11:05"), "{fires}");
    push("resolved", "2026-11-20T11:05:00Z");
    let over = kept();
    assert!(over.contains("11:05"), "{over}");
    assert_eq!(over.matches("FanSlow").count(), 1, "{over}");
    let answer = service.get("/api/v1/answers/train-0", &[]).json();
    let timeline = answer["timeline"].to_string();
    assert!(timeline.contains("alert FanSlow"), "{answer:#}");
    // It is told beside the cause and is none.
    let main = &answer["incidents"][0];
    assert_eq!(main["cause"], "code.exception", "{main:#}");
    assert!(!main["chain"].to_string().contains("FanSlow"), "{main:#}");
    let metrics = service.get("/metrics", &[]).text();
    let wanted = "whathappened_answers_total{face=\"api\",outcome=\"answered\"} 1";
    assert!(metrics.contains(wanted), "{metrics}");
}

#[test]
fn what_a_killed_service_left_of_an_upload_is_swept_at_the_start() {
    let server = ApiServer::start();
    std::fs::write(server.path("config.toml"), "").unwrap();
    std::fs::create_dir(server.path("store")).unwrap();
    let left = server.path("store/upload-x7Yz");
    std::fs::write(&left, "{").unwrap();
    let service = Service::start(&server);
    service.wait_for("/healthz", |text| text == "ok\n");
    assert!(!std::path::Path::new(&left).exists());
    assert_eq!(service.stop(), Some(0));
}
