//! Pages, and what goes wrong with them.

use std::sync::atomic::AtomicU32;

use serde_json::{Value, json};

use super::fake::{self, list, recorded, status};
use super::*;
use crate::coverage::{Mode, Status};

const PAGE_1: &str = include_str!("../testdata/events_core_page1.json");
const PAGE_2: &str = include_str!("../testdata/events_core_page2.json");

fn pod(name: &str) -> Value {
    json!({ "metadata": { "name": name, "namespace": "research", "uid": name } })
}

fn pods(request: &Request) -> bool {
    request.path == "/api/v1/pods" && !fake::is_watch(request)
}

/// The last page: a recorded one without its token.
fn last(recording: &str) -> Reply {
    let mut body = fake::body(recording);
    body["metadata"] = json!({ "resourceVersion": "3051" });
    Reply::Json(200, body)
}

#[tokio::test]
async fn pages_are_joined() {
    let (fake, cluster) = cluster(|request| {
        (request.path == "/api/v1/events").then(|| match request.query("continue") {
            "" => recorded(PAGE_1),
            _ => last(PAGE_2),
        })
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    assert_eq!(kept.events().len(), 40);
    let row = row(&rows, "events");
    assert_eq!(
        (row.rows, row.mode, row.retention_s),
        (40, Mode::Interval, Some(3600))
    );
    assert_eq!(row.got_to, Some(now()));
    let oldest = kept
        .events()
        .iter()
        .map(|event| event.end.unwrap_or(event.time).lo)
        .min();
    assert_eq!(row.got_from, oldest);
    assert!(detail(row).contains("the oldest Event is"), "{row:?}");
    let event = kept.events()[0];
    assert_eq!(event.entities.cluster.as_deref(), Some(fake::UID));
    assert_eq!(event.observed, Some(now()));
    assert_eq!(event.origin.to_string(), "lab/api/v1/events:1");
    let token = fake::body(PAGE_1)["metadata"]["continue"].clone();
    assert_eq!(fake.count(|request| *request.query("continue") == token), 1);
    assert_eq!(
        fake.count(|request| request.path == "/api/v1/pods" && request.query("limit") == "500"),
        1
    );
}

#[tokio::test]
async fn the_order_does_not_depend_on_the_network() {
    let mut orders = Vec::new();
    for slow in ["/api/v1/pods", "/apis/batch/v1/jobs"] {
        let (_fake, cluster) = cluster(move |request| {
            if request.path == slow {
                std::thread::sleep(Duration::from_millis(200));
            }
            match request.path.as_str() {
                "/api/v1/pods" => Some(list(&[pod("b"), pod("c")], "1", "")),
                "/apis/batch/v1/jobs" => Some(list(&[pod("a")], "1", "")),
                _ => None,
            }
        })
        .await;
        orders.push(fetch(&cluster).await.0.objects());
    }
    assert_eq!(orders[0], ["b", "c", "a"]);
    assert_eq!(orders[0], orders[1]);
}

#[tokio::test]
async fn a_list_that_expires_goes_on_with_the_token_it_is_given() {
    let (_fake, cluster) = cluster(|request| {
        pods(request).then(|| match request.query("continue") {
            "" => list(&[pod("a")], "1", "old"),
            "old" => status(
                410,
                "Expired",
                "The provided continue parameter is too old",
                Some("new"),
            ),
            _ => list(&[pod("b")], "9", ""),
        })
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    assert_eq!(kept.objects(), ["a", "b"]);
    let row = row(&rows, "pods");
    assert_eq!((row.status, row.rows), (Status::Complete, 2));
    assert!(
        detail(row).contains("expired while it was being read"),
        "{row:?}"
    );
}

#[tokio::test]
async fn a_list_that_expires_without_a_token_starts_anew() {
    let times = AtomicU32::new(0);
    let (_fake, cluster) = cluster(move |request| {
        pods(request).then(|| match request.query("continue") {
            "" => list(&[pod("a")], "1", "old"),
            _ if times.fetch_add(1, Ordering::Relaxed) == 0 => {
                status(410, "Expired", "too old", None)
            }
            _ => list(&[pod("b")], "9", ""),
        })
    })
    .await;
    let (_kept, rows) = fetch(&cluster).await;
    let row = row(&rows, "pods");
    assert_eq!((row.status, row.rows), (Status::Complete, 2));
}

#[tokio::test]
async fn a_list_that_always_expires_is_truncated() {
    let (fake, cluster) = cluster(|request| {
        pods(request).then(|| match request.query("continue") {
            "" => list(&[pod("a")], "1", "old"),
            _ => status(410, "Expired", "too old", None),
        })
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    let row = row(&rows, "pods");
    assert_eq!(row.status, Status::Truncated);
    assert!(!kept.objects().is_empty());
    assert_eq!(fake.count(|request| request.query("continue") == "old"), 3);
}

/// [real] etcd answers a token of a compacted revision with an empty list.
#[tokio::test]
async fn an_empty_page_is_no_end_while_there_is_more() {
    let times = AtomicU32::new(0);
    let (_fake, cluster) = cluster(move |request| {
        pods(request).then(|| match request.query("continue") {
            "" => Reply::Json(
                200,
                json!({ "kind": "PodList", "metadata": { "resourceVersion": "5", "continue": "x", "remainingItemCount": 1 }, "items": [pod("a")] }),
            ),
            _ if times.fetch_add(1, Ordering::Relaxed) == 0 => list(&[], "1", ""),
            _ => list(&[pod("b")], "5", ""),
        })
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    assert_eq!(row(&rows, "pods").status, Status::Complete);
    assert!(kept.objects().contains(&"b".to_owned()));
}

#[tokio::test]
async fn a_server_that_repeats_its_token_is_left() {
    let (fake, cluster) =
        cluster(|request| pods(request).then(|| list(&[pod("a")], "1", "same"))).await;
    let (_kept, rows) = fetch(&cluster).await;
    let row = row(&rows, "pods");
    assert_eq!(row.status, Status::Truncated);
    assert!(
        detail(row).contains("repeats its continue token"),
        "{row:?}"
    );
    assert_eq!(fake.count(pods), 2);
}

#[tokio::test]
async fn a_page_that_is_too_large_is_asked_for_in_pieces() {
    let (fake, cluster) = cluster_with(
        |request| {
            let limit: usize = request.query("limit").parse().unwrap_or(0);
            let from: usize = request.query("continue").parse().unwrap_or(0);
            pods(request).then(|| {
                let all: Vec<Value> = (0..100).map(|n| pod(&format!("{n:0200}"))).collect();
                let to = (from + limit).min(all.len());
                let next = if to < all.len() {
                    to.to_string()
                } else {
                    String::new()
                };
                list(&all[from..to], "1", &next)
            })
        },
        |options| options.max_page_bytes = 10_000,
    )
    .await;
    let (kept, rows) = fetch(&cluster).await;
    assert_eq!(kept.objects().len(), 100);
    assert_eq!(row(&rows, "pods").status, Status::Complete);
    assert!(fake.count(pods) > 4);
}

#[tokio::test]
async fn an_object_that_is_too_large_is_told() {
    let (_fake, cluster) = cluster_with(
        |request| pods(request).then(|| list(&[pod(&"x".repeat(50_000))], "1", "")),
        |options| options.max_page_bytes = 10_000,
    )
    .await;
    let (_kept, rows) = fetch(&cluster).await;
    let row = row(&rows, "pods");
    assert_eq!(row.status, Status::Failed);
    assert!(detail(row).contains("larger than 10000 bytes"), "{row:?}");
    assert!(row.would_have_shown.is_some());
}

#[tokio::test]
async fn objects_beyond_the_bound_are_cut_off() {
    let (_fake, cluster) = cluster_with(
        |request| {
            let from: usize = request.query("continue").parse().unwrap_or(0);
            pods(request).then(|| list(&[pod(&from.to_string())], "1", &(from + 1).to_string()))
        },
        |options| options.max_objects = 5,
    )
    .await;
    let (kept, rows) = fetch(&cluster).await;
    assert_eq!(kept.objects().len(), 5);
    assert_eq!(row(&rows, "pods").status, Status::Truncated);
}

#[tokio::test]
async fn garbage_is_told_and_the_rest_is_used() {
    let (_fake, cluster) = cluster(|request| match request.path.as_str() {
        "/api/v1/pods" => Some(Reply::Text(200, "<html>captive portal</html>".to_owned())),
        "/api/v1/nodes" => Some(Reply::Json(
            200,
            json!({ "kind": "NodeList", "metadata": {}, "items": [7, { "metadata": {} }, { "metadata": { "name": "n1", "uid": "n1" } }] }),
        )),
        _ => None,
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    let pods = row(&rows, "pods");
    assert_eq!(pods.status, Status::Failed);
    assert!(detail(pods).contains("captive portal"), "{pods:?}");
    assert_eq!(kept.objects(), ["n1"]);
    assert!(
        detail(row(&rows, "nodes")).contains("2 could not be used"),
        "{rows:#?}"
    );
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_asked_for_again() {
    let times = AtomicU32::new(0);
    let (_fake, cluster) = cluster(move |request| {
        pods(request).then(|| {
            if times.fetch_add(1, Ordering::Relaxed) == 0 {
                let cut = fake::BodyPart::Text("{\"kind\":\"PodList\",".to_owned());
                return Reply::Stream(vec![cut, fake::BodyPart::Cut]);
            }
            list(&[pod("a")], "1", "")
        })
    })
    .await;
    let (kept, rows) = fetch(&cluster).await;
    assert_eq!(row(&rows, "pods").status, Status::Complete);
    assert_eq!(kept.objects(), ["a"]);
}

#[tokio::test]
async fn the_deadline_holds_and_what_is_there_is_used() {
    let (_fake, cluster) = cluster(|request| match request.path.as_str() {
        "/api/v1/pods" if request.query("continue").is_empty() => {
            Some(list(&[pod("a")], "1", "more"))
        }
        "/api/v1/pods" | "/apis/apps/v1/deployments" => Some(Reply::Hang),
        "/api/v1/nodes" => Some(list(&[json!({ "metadata": { "name": "n1" } })], "1", "")),
        _ => None,
    })
    .await;
    let begun = Instant::now();
    let mut kept = Collected::default();
    let fetch_request = FetchRequest {
        deadline: begun + Duration::from_millis(800),
        ..fetch_request()
    };
    let rows = cluster.fetch(&fetch_request, &mut kept).await;
    assert!(
        begun.elapsed() < Duration::from_secs(3),
        "{:?}",
        begun.elapsed()
    );
    assert_eq!(kept.objects(), ["a", "n1"]);
    assert_eq!(row(&rows, "pods").status, Status::Truncated);
    assert_eq!(row(&rows, "deployments").status, Status::Failed);
    assert_eq!(row(&rows, "nodes").status, Status::Complete);
}

#[tokio::test]
async fn events_that_are_forgotten_are_told() {
    let (_fake, cluster) =
        cluster(|request| (request.path == "/api/v1/events").then(|| last(PAGE_1))).await;
    let mut fetch_request = fetch_request();
    fetch_request.window.from = Some(now() - 7200 * SECOND);
    let rows = cluster
        .fetch(&fetch_request, &mut Collected::default())
        .await;
    let events = row(&rows, "events");
    assert_eq!(events.status, Status::Expired);
    assert!(detail(events).contains("have expired"), "{events:?}");
    let (_fake, empty) = super::cluster(|_| None).await;
    let rows = fetch(&empty).await.1;
    assert!(detail(row(&rows, "events")).contains("there are no Events"));
}
