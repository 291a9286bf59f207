//! Watches, and how they go on.

use std::sync::atomic::AtomicU32;

use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::fake::{self, BodyPart, allowed, list};
use super::*;
use crate::connector::{Batch, Cursor, Stop};
use crate::coverage::Status;
use crate::time::rfc3339;

fn pod(name: &str, version: u32, phase: &str) -> Value {
    json!({ "kind": "Pod", "apiVersion": "v1",
        "metadata": { "name": name, "namespace": "research", "uid": name, "resourceVersion": version.to_string(), "creationTimestamp": "2026-11-21T15:00:00Z" },
        "status": { "phase": phase } })
}

fn line(kind: &str, object: &Value) -> BodyPart {
    BodyPart::Text(format!("{}\n", json!({ "type": kind, "object": object })))
}

fn bookmark(version: u32) -> BodyPart {
    let object = json!({ "kind": "Pod", "metadata": { "resourceVersion": version.to_string() } });
    line("BOOKMARK", &object)
}

fn expired() -> BodyPart {
    let object = json!({ "kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version: 1 (7)" });
    line("ERROR", &object)
}

fn on() -> BodyPart {
    BodyPart::Wait(Duration::from_secs(30))
}

fn of_pods(request: &Request) -> bool {
    request.path == "/api/v1/pods" && request.query("limit") != "1"
}

/// Follows `cluster` until `enough` of what came; gives all batches.
async fn follow(
    cluster: &Cluster,
    cursors: Vec<Cursor>,
    enough: impl Fn(&[Batch]) -> bool,
) -> Vec<Batch> {
    let (to, mut from) = mpsc::channel(4);
    let stop = Stop::new();
    let watching = tokio::spawn({
        let (cluster, stop) = (cluster.clone(), stop.clone());
        async move { cluster.watch(cursors, ticking(), stop, to).await }
    });
    let mut batches = Vec::new();
    let taking = async {
        while let Some(batch) = from.recv().await {
            batches.push(batch);
            if enough(&batches) {
                stop.cancel();
            }
        }
    };
    let taken = tokio::time::timeout(Duration::from_secs(15), taking).await;
    assert!(taken.is_ok(), "not enough came: {batches:#?}");
    tokio::time::timeout(Duration::from_secs(5), watching)
        .await
        .unwrap()
        .unwrap();
    batches
}

/// `name phase` of each version, `-name` where it is gone.
fn versions(batches: &[Batch]) -> Vec<String> {
    let of = |one: &Observation| match one {
        Observation::Object(version) if version.deleted => Some(format!("-{}", version.key.name)),
        Observation::Object(version) => {
            let phase = version.body.phase.as_deref().unwrap_or_default();
            Some(format!("{} {phase}", version.key.name))
        }
        _ => None,
    };
    batches
        .iter()
        .flat_map(|batch| &batch.observations)
        .filter_map(of)
        .collect()
}

fn positions(batches: &[Batch], resource: &str) -> Vec<String> {
    let cursors = batches.iter().filter_map(|batch| batch.cursor.as_ref());
    let of = cursors.filter(|cursor| cursor.resource == resource);
    of.map(|cursor| cursor.position.clone()).collect()
}

fn rows<'a>(batches: &'a [Batch], resource: &str) -> Vec<&'a Coverage> {
    let all = batches.iter().flat_map(|batch| &batch.coverage);
    all.filter(|row| row.resource == resource).collect()
}

#[tokio::test]
async fn a_list_then_changes_then_the_end() {
    let (fake, cluster) = cluster(|request| {
        of_pods(request).then(|| match request.query("resourceVersion") {
            "" => list(&[pod("a", 3, "Pending")], "5", ""),
            "5" => Reply::Stream(vec![
                line("MODIFIED", &pod("a", 6, "Running")),
                bookmark(8),
                line("DELETED", &pod("a", 9, "Failed")),
            ]),
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        positions(batches, "pods").contains(&"9".to_owned())
    })
    .await;
    assert_eq!(versions(&batches), ["a Pending", "a Running", "-a"]);
    let positions = positions(&batches, "pods");
    assert_eq!(positions.first().map(String::as_str), Some("5"));
    let cursor = batches
        .iter()
        .find_map(|batch| batch.cursor.clone())
        .unwrap();
    assert_eq!(cursor.place, fake::UID);
    assert!(
        fake.count(
            |request| fake::is_watch(request) && request.query("allowWatchBookmarks") == "true"
        ) > 0
    );
    assert_eq!(
        fake.count(|request| fake::is_watch(request)
            && request
                .headers
                .get("accept-encoding")
                .is_some_and(|is| is.contains("gzip"))),
        0
    );
}

#[tokio::test]
async fn the_recorded_watch() {
    let (_fake, cluster) = cluster(|request| {
        of_pods(request).then(|| match request.query("resourceVersion") {
            "" => list(&[], "1", ""),
            "1" => {
                let body = fake::body(include_str!("../testdata/watch_bookmarks.json"));
                Reply::Stream(vec![
                    BodyPart::Text(body.as_str().unwrap().to_owned()),
                    on(),
                ])
            }
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        positions(batches, "pods").contains(&"3073".to_owned())
    })
    .await;
    assert_eq!(versions(&batches).len(), 6);
}

#[tokio::test]
async fn a_stored_cursor_goes_on_without_a_list() {
    let (fake, cluster) = cluster(|request| {
        of_pods(request).then(|| match request.query("resourceVersion") {
            "77" => Reply::Stream(vec![line("ADDED", &pod("b", 78, "Running")), on()]),
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let cursor = Cursor {
        place: fake::UID.to_owned(),
        resource: "pods".to_owned(),
        namespace: String::new(),
        position: "77".to_owned(),
        at: now() - 60 * SECOND,
    };
    let elsewhere = Cursor {
        place: "another cluster".to_owned(),
        position: "1".to_owned(),
        ..cursor.clone()
    };
    let batches = follow(&cluster, vec![elsewhere, cursor], |batches| {
        positions(batches, "pods").contains(&"78".to_owned())
    })
    .await;
    assert_eq!(versions(&batches), ["b Running"]);
    assert_eq!(
        fake.count(|request| of_pods(request) && !fake::is_watch(request)),
        0
    );
    assert!(rows(&batches, "pods").is_empty());
}

#[tokio::test]
async fn a_watch_that_expired_is_listed_anew_and_the_gap_is_told() {
    let lists = AtomicU32::new(0);
    let (_fake, cluster) = cluster(move |request| {
        of_pods(request).then(|| match request.query("resourceVersion") {
            "" if lists.fetch_add(1, Ordering::Relaxed) == 0 => {
                list(&[pod("a", 3, "Running")], "5", "")
            }
            "" => list(&[pod("a", 3, "Running"), pod("b", 8, "Running")], "9", ""),
            "5" => Reply::Stream(vec![expired()]),
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        positions(batches, "pods").contains(&"9".to_owned())
    })
    .await;
    // What has not changed is not told again.
    assert_eq!(versions(&batches), ["a Running", "b Running"]);
    let gaps = rows(&batches, "pods");
    assert_eq!(gaps.len(), 1);
    assert_eq!(gaps[0].status, Status::Truncated);
    let (from, to) = (gaps[0].asked_from.unwrap(), gaps[0].asked_to.unwrap());
    assert!(now() <= from && from < to, "{gaps:?}");
    assert!(detail(gaps[0]).contains(&rfc3339(from)), "{gaps:?}");
}

#[tokio::test]
async fn a_stored_cursor_that_expired_leaves_a_gap_from_when_it_was_stored() {
    let (_fake, cluster) = cluster(|request| {
        let events = request.path == "/api/v1/events" && request.query("limit") != "1";
        (of_pods(request) || events).then(|| match request.query("resourceVersion") {
            "" => list(&[], "9", ""),
            "1" => fake::status(410, "Expired", "too old resource version", None),
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let at = now() - 600 * SECOND;
    let cursor = |resource: &str| Cursor {
        place: fake::UID.to_owned(),
        resource: resource.to_owned(),
        namespace: String::new(),
        position: "1".to_owned(),
        at,
    };
    let batches = follow(
        &cluster,
        vec![cursor("pods"), cursor("events")],
        |batches| !rows(batches, "pods").is_empty() && !rows(batches, "events").is_empty(),
    )
    .await;
    let pods = rows(&batches, "pods")[0];
    assert_eq!(
        (pods.asked_from, pods.status),
        (Some(at), Status::Truncated)
    );
    // Ten minutes are nothing to Events, which are kept for an hour.
    let events = rows(&batches, "events")[0];
    assert_eq!(
        (events.got_from, events.status),
        (Some(at), Status::Complete)
    );
}

#[tokio::test]
async fn a_connection_that_breaks_in_a_line_goes_on_before_it() {
    let (fake, cluster) = cluster(|request| {
        of_pods(request).then(|| match request.query("resourceVersion") {
            "" => list(&[], "5", ""),
            "5" => Reply::Stream(vec![
                line("ADDED", &pod("a", 6, "Running")),
                BodyPart::Text("{\"type\":\"ADDED\",\"object\":{\"kind\":\"Pod\",".to_owned()),
                BodyPart::Wait(Duration::from_millis(300)),
                BodyPart::Cut,
            ]),
            "6" => Reply::Stream(vec![line("ADDED", &pod("b", 7, "Running")), on()]),
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        positions(batches, "pods").contains(&"7".to_owned())
    })
    .await;
    assert_eq!(versions(&batches), ["a Running", "b Running"]);
    assert!(rows(&batches, "pods").is_empty(), "{batches:#?}");
    assert_eq!(
        fake.count(|request| of_pods(request) && !fake::is_watch(request)),
        1
    );
}

#[tokio::test]
async fn lines_that_cannot_be_used_are_told_and_passed_over() {
    let (_fake, cluster) = cluster_with(
        |request| {
            of_pods(request).then(|| match request.query("resourceVersion") {
                "" => list(&[], "5", ""),
                "5" => Reply::Stream(vec![
                    BodyPart::Text("<html>\n".to_owned()),
                    BodyPart::Text(format!(
                        "{{\"type\":\"ADDED\",\"x\":\"{}\"}}\n",
                        "y".repeat(60_000)
                    )),
                    line(
                        "ADDED",
                        &json!({ "kind": "Pod", "metadata": { "resourceVersion": "6" } }),
                    ),
                    line("ADDED", &pod("a", 7, "Running")),
                    on(),
                ]),
                _ => Reply::Stream(vec![on()]),
            })
        },
        |options| options.max_line_bytes = 50_000,
    )
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        positions(batches, "pods").contains(&"7".to_owned())
    })
    .await;
    assert_eq!(versions(&batches), ["a Running"]);
    let emitted = rows(&batches, "pods");
    assert!(emitted.iter().all(|row| row.status == Status::Truncated));
    let count: usize = emitted.len();
    assert!(
        count >= 1 && detail(emitted[0]).contains("could not be used"),
        "{emitted:#?}"
    );
}

#[tokio::test]
async fn heartbeats_are_left_out() {
    let node = |version: u32, beat: &str, ready: &str| {
        json!({ "kind": "Node", "apiVersion": "v1", "metadata": { "name": "n1", "uid": "n1", "resourceVersion": version.to_string() },
            "status": { "conditions": [{ "type": "Ready", "status": ready, "lastHeartbeatTime": beat, "lastTransitionTime": "2026-11-21T15:00:00Z" }] } })
    };
    let (_fake, cluster) = cluster(move |request| {
        let nodes = request.path == "/api/v1/nodes";
        nodes.then(|| match request.query("resourceVersion") {
            "" => list(&[node(1, "2026-11-21T15:20:00Z", "True")], "5", ""),
            "5" => Reply::Stream(vec![
                line("MODIFIED", &node(6, "2026-11-21T15:25:00Z", "True")),
                line("MODIFIED", &node(7, "2026-11-21T15:26:00Z", "True")),
                line("MODIFIED", &node(8, "2026-11-21T15:27:00Z", "False")),
                on(),
            ]),
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        positions(batches, "nodes").contains(&"8".to_owned())
    })
    .await;
    assert_eq!(versions(&batches).len(), 2);
}

#[tokio::test]
async fn what_may_not_be_watched_is_told_at_once() {
    let (fake, cluster) = cluster(|request| {
        let reviewed = fake::reviewed(request)?;
        Some(allowed(reviewed != "watch nodes"))
    })
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        !rows(batches, "nodes").is_empty()
    })
    .await;
    let row = rows(&batches, "nodes")[0];
    assert_eq!(row.status, Status::Denied);
    assert_eq!(
        detail(row),
        "missing permission: watch nodes at cluster scope (apiGroup \"\")"
    );
    assert_eq!(fake.count(|request| request.path == "/api/v1/nodes"), 0);
}

#[tokio::test]
async fn failures_are_told_and_tried_further() {
    let times = AtomicU32::new(0);
    let (_fake, cluster) = cluster(move |request| {
        if !of_pods(request) {
            return None;
        }
        if times.fetch_add(1, Ordering::Relaxed) < 4 {
            return Some(Reply::Text(200, "<html>".to_owned()));
        }
        Some(match request.query("resourceVersion") {
            "" => list(&[pod("a", 1, "Running")], "5", ""),
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        positions(batches, "pods").contains(&"5".to_owned())
    })
    .await;
    let emitted = rows(&batches, "pods");
    assert_eq!(emitted.len(), 1, "{emitted:#?}");
    assert_eq!(emitted[0].status, Status::Failed);
    assert!(
        detail(emitted[0]).contains("3 times in a row"),
        "{emitted:#?}"
    );
    assert_eq!(versions(&batches), ["a Running"]);
}

/// The row of an outage is of the same stretch as the one that takes it back.
#[tokio::test]
async fn a_watch_that_went_on_where_it_was_missed_nothing() {
    let times = AtomicU32::new(0);
    let (_fake, cluster) = cluster(move |request| {
        of_pods(request).then(|| match request.query("resourceVersion") {
            "" => list(&[], "5", ""),
            _ if times.fetch_add(1, Ordering::Relaxed) < 4 => {
                Reply::Text(500, "starting".to_owned())
            }
            _ => Reply::Stream(vec![line("ADDED", &pod("a", 6, "Running")), on()]),
        })
    })
    .await;
    let batches = follow(&cluster, Vec::new(), |batches| {
        positions(batches, "pods").contains(&"6".to_owned())
    })
    .await;
    let emitted = rows(&batches, "pods");
    let (last, before) = emitted.split_last().unwrap();
    assert!(!before.is_empty(), "{emitted:#?}");
    assert!(last.asked_from.is_some());
    for row in before {
        assert_eq!(row.status, Status::Failed);
        assert_eq!(row.asked_from, last.asked_from);
        assert!(last.got_to >= row.asked_to, "{emitted:#?}");
    }
    assert_eq!(last.status, Status::Complete);
    assert_eq!(versions(&batches), ["a Running"]);
}

/// A cursor of a clock that was ahead makes no row that ends before it begins.
#[tokio::test]
async fn a_cursor_from_the_future_leaves_a_row_that_makes_sense() {
    let (_fake, cluster) = cluster(|request| {
        of_pods(request).then(|| match request.query("resourceVersion") {
            "" => list(&[], "9", ""),
            "1" => fake::status(410, "Expired", "too old resource version", None),
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let cursor = Cursor {
        place: fake::UID.to_owned(),
        resource: "pods".to_owned(),
        namespace: String::new(),
        position: "1".to_owned(),
        at: now() + 86_400 * SECOND,
    };
    let batches = follow(&cluster, vec![cursor], |batches| {
        !rows(batches, "pods").is_empty()
    })
    .await;
    let row = rows(&batches, "pods")[0];
    assert_eq!(row.status, Status::Truncated);
    assert!(row.asked_from <= row.asked_to, "{row:?}");
}

#[tokio::test]
async fn a_server_that_always_says_expired_is_not_hammered() {
    let (fake, cluster) = cluster_with(
        |request| {
            of_pods(request).then(|| match request.query("resourceVersion") {
                "" => list(&[], "5", ""),
                _ => Reply::Stream(vec![expired()]),
            })
        },
        |options| options.backoff = Duration::from_millis(200),
    )
    .await;
    let begun = Instant::now();
    follow(&cluster, Vec::new(), |_| {
        begun.elapsed() > Duration::from_secs(1)
    })
    .await;
    let requested = fake.count(|request| of_pods(request) && !fake::is_watch(request));
    assert!(requested < 12, "{requested} lists in a second");
}

#[tokio::test]
async fn nothing_is_kept_for_a_receiver_that_is_gone() {
    let (_fake, cluster) = cluster(|_| None).await;
    let (to, from) = mpsc::channel(1);
    drop(from);
    let watching = cluster.watch(Vec::new(), ticking(), Stop::new(), to);
    tokio::time::timeout(Duration::from_secs(5), watching)
        .await
        .unwrap();
}

#[tokio::test]
async fn a_slow_receiver_is_waited_for() {
    let (_fake, cluster) = cluster(|request| {
        of_pods(request).then(|| match request.query("resourceVersion") {
            "" => list(&[], "5", ""),
            "5" => {
                let mut parts: Vec<BodyPart> = (0..2000)
                    .map(|n| line("ADDED", &pod(&format!("p{n}"), 6 + n, "Running")))
                    .collect();
                parts.push(on());
                Reply::Stream(parts)
            }
            _ => Reply::Stream(vec![on()]),
        })
    })
    .await;
    let (to, mut from) = mpsc::channel(1);
    let stop = Stop::new();
    let watching = tokio::spawn({
        let (cluster, stop) = (cluster.clone(), stop.clone());
        async move { cluster.watch(Vec::new(), ticking(), stop, to).await }
    });
    let mut batches = Vec::new();
    while let Some(batch) = from.recv().await {
        tokio::time::sleep(Duration::from_millis(20)).await;
        batches.push(batch);
        if positions(&batches, "pods").contains(&"2005".to_owned()) {
            stop.cancel();
        }
    }
    watching.await.unwrap();
    assert_eq!(versions(&batches).len(), 2000);
}
