//! Lines are read whole, in order, and what is missing is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;

use super::fake::{FakeDialect, FakeDocument, FakeServer, serve};
use crate::connector::Verdict;
use crate::elasticsearch::{Elasticsearch, ElasticsearchOptions};
use crate::http::HttpError;
use crate::log_store::tests::one_fact;
use crate::log_store::{
    LineFilter, LineQuery, LineSubject, LinesRead, LogStore as _, PodRef, Span,
};
use crate::time::{Nanos, SECOND, Stamp};

const START: Nanos = 1_795_273_200 * SECOND;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

async fn store_with(served: &FakeServer, page: usize) -> Elasticsearch {
    let mut options = ElasticsearchOptions::new(served.fake.url());
    options.indices = "fluent*".to_owned();
    options.page = page;
    options.http.tries = 1;
    Elasticsearch::open(options, Arc::new(|| START))
        .await
        .unwrap()
}

/// Lines of three pods: forty to a millisecond, every fifth tells something.
fn docs(n: i64) -> Vec<FakeDocument> {
    let doc = |number: i64| {
        let at = START + number / 40 * 1_000_000;
        let pod = format!("w-{}", number % 3);
        let text = if number % 5 == 0 {
            format!("RuntimeError {number}\n")
        } else {
            format!("step {number}\n")
        };
        FakeDocument {
            at,
            source: json!({
                "@timestamp": crate::time::rfc3339(at), "log": text,
                "kubernetes": {
                    "pod_name": pod, "namespace_name": "ml", "container_name": "main",
                    "host": "n1", "labels": { "experiment": "llama" },
                },
            }),
        }
    };
    (0..n).map(doc).collect()
}

fn fetch_request(pods: &[&str], only: LineFilter, newest: bool, limit: usize) -> LineQuery {
    LineQuery {
        about: LineSubject::Pods(
            pods.iter()
                .map(|name| PodRef {
                    namespace: Some("ml".to_owned()),
                    name: (*name).to_owned(),
                })
                .collect(),
        ),
        span: Span {
            from: START,
            to: START + 3_600 * SECOND,
        },
        only,
        newest,
        limit,
    }
}

fn numbers(got: &LinesRead) -> Vec<i64> {
    let number = |text: &str| text.rsplit(' ').next().unwrap().parse().unwrap();
    got.lines.iter().map(|line| number(&line.text)).collect()
}

/// Streams of one time stand one after the other; within them order is kept.
fn in_order(wanted: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut wanted: Vec<i64> = wanted.collect();
    wanted.sort_by_key(|number| (number / 40, number % 3, *number));
    wanted
}

#[tokio::test]
async fn every_line_once_and_in_order_however_pages_follow_each_other() {
    const N: i64 = 2_400;
    for plays in [
        FakeDialect::Elasticsearch,
        FakeDialect::OpenSearch,
        FakeDialect::WithoutPit,
    ] {
        let served = serve(plays, docs(N));
        // Fewer than stand at one time, and not a divisor of anything.
        let store = store_with(&served, 37).await;
        for only in [LineFilter::All, LineFilter::Significant] {
            let step = if only == LineFilter::All { 1 } else { 5 };
            let all: Vec<i64> = (0..N).filter(|n| n % step == 0 && n % 3 != 2).collect();
            for newest in [false, true] {
                let requested = fetch_request(&["w-0", "w-1"], only, newest, 10_000);
                let got = store.lines(&requested, soon()).await.unwrap();
                assert_eq!(
                    numbers(&got),
                    in_order(all.iter().copied()),
                    "{plays:?} {only:?}"
                );
                assert_eq!((got.cut, &got.partial), (false, &Vec::new()));

                let requested = fetch_request(&["w-0", "w-1"], only, newest, 300);
                let got = store.lines(&requested, soon()).await.unwrap();
                let got_numbers = numbers(&got);
                assert!(got.cut && got_numbers.len() == 300);
                // All times but the one at the edge are whole.
                let edge = if newest {
                    got_numbers[0]
                } else {
                    got_numbers[299]
                } / 40;
                let inner = |n: &i64| {
                    if newest { n / 40 > edge } else { n / 40 < edge }
                };
                let kept: Vec<i64> = got_numbers.into_iter().filter(inner).collect();
                assert_eq!(kept, in_order(all.iter().copied().filter(inner)));
            }
        }
        assert!(!served.open_pit(), "closed at the end");
    }
}

#[tokio::test]
async fn a_lost_point_in_time_loses_no_line() {
    let served = serve(FakeDialect::Elasticsearch, docs(1_000));
    served.state.lock().unwrap().lose_pit_at = Some(4);
    let store = store_with(&served, 100).await;
    let got = store
        .lines(
            &fetch_request(&["w-0"], LineFilter::All, false, 10_000),
            soon(),
        )
        .await
        .unwrap();
    assert_eq!(numbers(&got), in_order((0..1_000).filter(|n| n % 3 == 0)));
    assert!(got.partial.is_empty() && !served.open_pit());
}

#[tokio::test]
async fn small_windows_are_found_and_more_ties_than_a_page_holds_are_told() {
    let served = serve(FakeDialect::Elasticsearch, docs(1_000));
    served.state.lock().unwrap().window = Some(500);
    let store = store_with(&served, 1_000).await;
    let requested = fetch_request(&["w-0"], LineFilter::All, false, 10_000);
    let got = store.lines(&requested, soon()).await.unwrap();
    assert_eq!(got.lines.len(), 334);
}

#[tokio::test]
async fn shards_that_do_not_answer_are_told_and_the_others_are_used() {
    let served = serve(FakeDialect::Elasticsearch, docs(300));
    served.state.lock().unwrap().failed_shards = 1;
    let store = store_with(&served, 100).await;
    let requested = fetch_request(&["w-1"], LineFilter::All, false, 1_000);
    let got = store.lines(&requested, soon()).await.unwrap();
    assert_eq!(got.lines.len(), 100);
    let said = got.partial.join("; ");
    assert!(said.contains("1 of 3 shards did not answer"), "{said}");
}

#[tokio::test]
async fn words_are_searched_as_the_server_allows() {
    let mut all = docs(30);
    all[1].source["log"] = json!("an error at last");
    let served = serve(FakeDialect::Elasticsearch, all);
    served.state.lock().unwrap().no_regexp = true;
    let store = store_with(&served, 100).await;
    let requested = fetch_request(
        &["w-0", "w-1", "w-2"],
        LineFilter::Significant,
        false,
        1_000,
    );
    let got = store.lines(&requested, soon()).await.unwrap();
    assert_eq!(got.lines.len(), 1);
    assert!(got.partial[0].contains("not search within words"));
}

#[tokio::test]
async fn nodes_are_asked_for_their_own_lines_and_experiments_for_whatever_bears_the_name() {
    let mut all = docs(30);
    all.push(FakeDocument {
        at: START + SECOND,
        source: json!({
            "@timestamp": "2026-11-21T15:00:01Z", "log": "NVRM: Xid", "kubernetes": { "host": "n1" },
        }),
    });
    let served = serve(FakeDialect::Elasticsearch, all);
    let store = store_with(&served, 100).await;
    let mut requested = fetch_request(&[], LineFilter::All, false, 1_000);
    requested.about = LineSubject::Nodes(vec!["n1.example".to_owned()]);
    let got = store.lines(&requested, soon()).await.unwrap();
    assert_eq!(got.lines.len(), 1);
    let entities = store.names().entities(&got.lines[0].labels);
    assert_eq!((entities.node.as_deref(), entities.pod), (Some("n1"), None));
    requested.about = LineSubject::Experiment("llama".to_owned());
    assert_eq!(
        store.lines(&requested, soon()).await.unwrap().lines.len(),
        30
    );

    let counts = store.counts(&requested.about, requested.span, soon()).await;
    let counts = counts.unwrap().unwrap();
    assert_eq!((counts.minutes.len(), counts.minutes[0].lines), (1, 30));
    assert!(store.has_any(requested.span, soon()).await.unwrap());
    let empty = Span {
        from: 0,
        to: SECOND,
    };
    assert!(!store.has_any(empty, soon()).await.unwrap());
}

#[tokio::test]
async fn what_a_machine_said_is_asked_by_whole_words() {
    let xid = "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, GPU has fallen off the bus.";
    let mut all = docs(30);
    for (host, text) in [("n1", xid), ("n1", "usb 1-1: debugging"), ("n11", xid)] {
        all.push(FakeDocument {
            at: START + 400_000_000,
            source: json!({
                "@timestamp": crate::time::rfc3339(START + 400_000_000), "log": text,
                "_TRANSPORT": "kernel", "kubernetes": { "host": host },
            }),
        });
    }
    let served = serve(FakeDialect::Elasticsearch, all);
    let store = Arc::new(store_with(&served, 100).await);
    one_fact(store, "n1.example", START, ("n1", xid)).await;
}

#[tokio::test]
async fn times_are_as_exact_as_the_document_says() {
    let mut all = docs(2);
    all[0].at = START + 123_456_789;
    all[0].source["@timestamp"] = json!("2026-11-21T15:00:00.123456789Z");
    let served = serve(FakeDialect::Elasticsearch, all);
    let store = store_with(&served, 100).await;
    let requested = fetch_request(&["w-0"], LineFilter::All, false, 10);
    let got = store.lines(&requested, soon()).await.unwrap();
    assert_eq!(got.lines[0].stamp, Stamp::exact(START + 123_456_789));
    assert_eq!(got.lines[0].text, "RuntimeError 0");
    assert_eq!(got.lines[0].id.as_deref(), Some("fluent-1/d0"));
}

#[tokio::test]
async fn it_says_whether_it_can_be_used() {
    let served = serve(FakeDialect::OpenSearch, docs(3));
    let store = store_with(&served, 100).await;
    let health = store.check(START, soon()).await;
    assert_eq!(health.version.as_deref(), Some("opensearch 2.17.0"));
    assert_eq!(health.reaches_back_to, Some(START));
    assert!(health.skew.is_some() && health.unreachable.is_none());
    assert!(
        health
            .permissions
            .iter()
            .all(|p| p.verdict == Verdict::Allowed)
    );
    assert!(
        health
            .notes
            .iter()
            .any(|note| note.contains("kubernetes.pod_name")),
        "{health:?}"
    );
}

#[tokio::test]
async fn refusals_are_told_in_its_words() {
    use whathappened_loopback::{Fake, Reply};
    for (reply, words, denied) in [
        (
            (
                401,
                r#"{"error":{"type":"security_exception","reason":"missing authentication credentials"},"status":401}"#,
            ),
            "missing authentication credentials",
            true,
        ),
        (
            (
                502,
                "<html><head><title>502 Bad Gateway</title></head></html>",
            ),
            "502 Bad Gateway",
            false,
        ),
        (
            (
                429,
                r#"{"error":{"type":"es_rejected_execution_exception","reason":"queue full"},"status":429}"#,
            ),
            "queue full",
            false,
        ),
        (
            (
                404,
                r#"{"error":{"type":"index_not_found_exception","reason":"no such index [x]"},"status":404}"#,
            ),
            "no such index [x]",
            false,
        ),
    ] {
        let fake = Fake::start(move |_| Reply::Text(reply.0, reply.1.to_owned()));
        let mut options = ElasticsearchOptions::new(fake.url());
        options.http.tries = 1;
        let store = Elasticsearch::open(options, Arc::new(|| START))
            .await
            .unwrap();
        let requested = fetch_request(&["w-0"], LineFilter::All, false, 10);
        let failure: HttpError = store.lines(&requested, soon()).await.unwrap_err();
        assert!(failure.to_string().contains(words), "{failure}");
        assert_eq!(failure.is_denied(), denied, "{failure}");
        let health = store.check(START, soon()).await;
        assert!(health.unreachable.is_some() || health.permissions[0].verdict != Verdict::Allowed);
    }
}

#[tokio::test]
async fn the_next_node_is_asked_where_one_is_gone() {
    let served = serve(FakeDialect::Elasticsearch, docs(3));
    let mut options = ElasticsearchOptions::new("http://127.0.0.1:9");
    options.more_nodes = vec![served.fake.url()];
    options.http.tries = 1;
    let store = Elasticsearch::open(options, Arc::new(|| START))
        .await
        .unwrap();
    let requested = fetch_request(&["w-0"], LineFilter::All, false, 10);
    assert_eq!(
        store.lines(&requested, soon()).await.unwrap().lines.len(),
        1
    );
}
