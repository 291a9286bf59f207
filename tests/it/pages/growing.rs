//! What changes while somebody looks: a verdict that grows, a run that goes on, folded lanes.

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

use serde_json::Value;

use super::{LAB, incidents};
use crate::service::Service;

fn part(name: &str) -> String {
    format!("{LAB}/{name}")
}

#[test]
fn an_incident_keeps_its_address_when_its_verdict_grows() {
    let without_audit = [
        "events-list.json.gz",
        "jobs-list.json.gz",
        "nodes-list.json.gz",
        "pods-list.json.gz",
        "watch-events.ndjson.gz",
        "watch-jobs.ndjson.gz",
        "watch-nodes.ndjson.gz",
        "watch-pods.ndjson.gz",
    ]
    .map(part);
    let without_audit: Vec<&str> = without_audit.iter().map(String::as_str).collect();
    let service = Service::start(&without_audit, "");
    let of = |all: &[Value]| -> Value {
        let own = all.iter().find(|one| one["experiment"] == "rlhf-prod-eval");
        own.unwrap()["incident"].clone()
    };
    let before = of(&incidents(&service, &[]));
    let id = before["id"].as_str().unwrap();
    let page = service.get(&format!("/i/{id}"), &[]).text();
    assert!(!page.contains("How this verdict changed"), "{page}");
    let audit = std::fs::read(part("audit.log.gz")).unwrap();
    let done = service.ask("POST", "/api/v1/imports?name=audit.log.gz", &[], &audit);
    assert_eq!(done.status, 200, "{}", done.text());
    let told = service.get("/api/v1/answers/rlhf-prod-eval", &[]).json();
    let after = &told["incidents"][0];
    assert_ne!(
        (&before["cause"], &before["level"]),
        (&after["cause"], &after["level"])
    );
    assert_eq!(after["id"], id);
    let page = service.get(&format!("/i/{id}"), &[]);
    assert_eq!(page.status, 200);
    let text = page.text();
    assert!(text.contains("How this verdict changed"), "{text}");
    for verdict in [&before, after] {
        let cause = verdict["cause"].as_str().unwrap();
        assert!(text.contains(cause), "{cause}: {text}");
    }
}

#[test]
fn a_page_follows_a_run_that_goes_on() {
    let service = Service::start(&[LAB], "");
    let all = service.get("/api/v1/experiments?limit=1000", &[]).json();
    let all = all["items"].as_array().unwrap();
    let going = all
        .iter()
        .find(|run| run["state"] == "running" || run["state"] == "pending");
    let name = going.unwrap()["experiment"].as_str().unwrap();
    let text = service.get(&format!("/x/{name}"), &[]).text();
    assert!(
        text.contains(&format!("data-follow=\"/x/{name}/follow?seen=")),
        "{text}"
    );
    let over = service.get("/x/gpt2-small-7f3", &[]).text();
    assert!(!over.contains("data-follow"), "{over}");
    // Whoever saw something else is told at once that there is news.
    let mut to = service.connect();
    to.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let host = service.base().replace("http://", "");
    write!(
        to,
        "GET /x/{name}/follow?seen=else HTTP/1.1\r\nhost: {host}\r\n\r\n"
    )
    .unwrap();
    let lines: Vec<String> = BufReader::new(to)
        .lines()
        .map_while(Result::ok)
        .take_while(|line| !line.starts_with("data:"))
        .collect();
    assert!(
        lines.iter().any(|line| line == "event: changed"),
        "{lines:?}"
    );
    assert!(
        lines.iter().any(|line| line
            .to_lowercase()
            .starts_with("content-type: text/event-stream")),
        "{lines:?}"
    );
}

#[test]
fn a_browsers_page_changes_by_itself() {
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let Some(mut browser) = super::Browser::start() else {
        return;
    };
    let path = format!("{base}/x/dota-5v5-scale");
    super::judge(&browser.open(&path), &base, "/x");
    browser.until("document.getElementById('following')?.checkVisibility()");
    let news = "9 Insufficient nvidia.com/gpu (and a word that nobody said before)";
    assert!(!browser.text().contains(news), "{}", browser.text());
    browser.eval("window.before = 1");
    browser.forget();
    let event = serde_json::json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "FailedScheduling",
        "message": news, "metadata": {"name": "dota-5v5-scale-0-j8zbz.zz", "namespace": "research", "uid": "ev-zz-1",
            "creationTimestamp": "2026-11-21T15:25:00Z"},
        "source": {"component": "default-scheduler"}, "count": 1,
        "involvedObject": {"kind": "Pod", "namespace": "research", "name": "dota-5v5-scale-0-j8zbz"},
        "firstTimestamp": "2026-11-21T15:25:00Z", "lastTimestamp": "2026-11-21T15:25:00Z"});
    let body = event.to_string();
    let done = service.ask(
        "POST",
        "/api/v1/imports?name=event.json",
        &[],
        body.as_bytes(),
    );
    assert_eq!(done.status, 200, "{}", done.text());
    // Nobody touches the page: it is another one, and tells the news.
    browser.until(&format!(
        "window.before === undefined && document.body.textContent.includes({news:?})"
    ));
    super::judge(&browser.loaded("the page that follows"), &base, "/x");
}

#[test]
fn watching_ends_when_nothing_goes_on() {
    let (code, out, err) = crate::whathappened(&["gpt2-small-7f3", "--from", LAB, "-q", "--watch"]);
    assert_eq!(code, Some(0), "{err}");
    let (_, once, _) = crate::whathappened(&["gpt2-small-7f3", "--from", LAB, "-q"]);
    assert_eq!(out, once);
    let (code, _, err) = crate::whathappened(&["gpt2-small-7f3", "--from", LAB, "--watch=1x"]);
    assert!(code == Some(2) && err.contains("--watch"), "{err}");
}
