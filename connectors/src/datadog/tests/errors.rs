//! What servers, gateways and accounts do, and what is made of it.

use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::json;

use super::super::Tier;
use super::server::{Server, StoredRecord, bad_cursor, forbidden};
use super::*;
use crate::http::HttpError;
use crate::log_store::LogStore as _;
use whathappened_loopback::{ReceivedRequest, Reply};

fn lines(count: usize) -> Vec<StoredRecord> {
    let line = |n: usize| StoredRecord::line(n, 0, n as i64 / 3, &format!("line {n}"));
    (0..count).map(line).collect()
}

fn server(
    fault: impl Fn(usize, &ReceivedRequest) -> Option<Reply> + Send + Sync + 'static,
) -> Server {
    Server {
        logs: lines(100),
        fault: Some(Box::new(fault)),
        ..Server::default()
    }
}

fn indexes(options: &mut DatadogOptions) {
    options.tiers = Some(vec![Tier::Indexes]);
    options.page = 10;
    options.requests_per_question = 100;
}

#[tokio::test]
async fn a_cursor_that_is_rejected_costs_one_more_try_and_no_line() {
    for newest in [false, true] {
        let rejected = AtomicUsize::new(0);
        let fake = server(move |_, requested| {
            let late = requested.body["page"]["cursor"].is_string();
            let third = late && rejected.fetch_add(1, Ordering::SeqCst) == 2;
            third.then(bad_cursor)
        })
        .start();
        let store = store_with(&fake, indexes);
        let query = LineQuery {
            newest,
            ..all(pods(1), 1_000)
        };
        let got = store.lines(&query, soon()).await.unwrap();
        assert_eq!(
            (got.lines.len(), got.cut, got.partial),
            (100, false, vec![])
        );
        // Only what was not there yet was asked for anew.
        assert!(fake.requests().len() < 15);
    }
    let fake = server(|_, requested| {
        requested.body["page"]["cursor"]
            .is_string()
            .then(bad_cursor)
    })
    .start();
    let got = store_with(&fake, indexes)
        .lines(&all(pods(1), 1_000), soon())
        .await
        .unwrap();
    assert!(got.lines.len() < 100);
    assert!(
        got.partial[0].contains("invalid cursor"),
        "{:?}",
        got.partial
    );
}

#[tokio::test]
async fn a_429_is_waited_for_whatever_its_body_says() {
    let fake = server(|number, _| {
        let headers = vec![
            ("X-RateLimit-Limit", "10".to_owned()),
            ("X-RateLimit-Remaining", "0".to_owned()),
            ("X-RateLimit-Reset", "1".to_owned()),
        ];
        (number == 2).then(|| Reply::Full(429, headers, "{\"data\":[]}".to_owned()))
    })
    .start();
    let start = Instant::now();
    let got = store_with(&fake, indexes)
        .lines(&all(pods(1), 1_000), soon())
        .await
        .unwrap();
    assert_eq!((got.lines.len(), got.partial), (100, vec![]));
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_share_of_the_rate_is_left_to_people() {
    let with_rate = |limit, reset| {
        let server = Server {
            logs: lines(100),
            rate: Some((limit, reset)),
            ..Server::default()
        };
        server.start()
    };
    // Seven of ten are ours, and the next period is far.
    let fake = with_rate(10, 3600);
    let store = store_with(&fake, indexes);
    let got = store.lines(&all(pods(1), 1_000), soon()).await.unwrap();
    assert_eq!((fake.requests().len(), got.lines.len()), (7, 70));
    assert!(
        got.partial[0].contains("budget of 7 requests"),
        "{:?}",
        got.partial
    );
    let none = store.lines(&all(pods(1), 1_000), soon()).await.unwrap_err();
    assert_eq!(none, HttpError::BudgetSpent(7));
    assert_eq!(fake.requests().len(), 7);
    // Where it is near it is waited for.
    let fake = with_rate(10, 1);
    let start = Instant::now();
    let got = store_with(&fake, indexes)
        .lines(&all(pods(1), 1_000), soon())
        .await
        .unwrap();
    assert_eq!((got.lines.len(), got.partial), (100, vec![]));
    assert!(start.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_question_costs_no_more_than_allowed() {
    let fake = server(|_, _| None).start();
    let store = store_with(&fake, |options| {
        indexes(options);
        options.requests_per_question = 3;
    });
    let got = store.lines(&all(pods(1), 1_000), soon()).await.unwrap();
    assert_eq!((fake.requests().len(), got.lines.len()), (3, 30));
    assert!(
        got.partial[0].contains("number of requests"),
        "{:?}",
        got.partial
    );
}

#[tokio::test]
async fn tiers_fail_apart() {
    let only_indexes = || Server {
        logs: lines(5),
        tiers: vec!["indexes"],
        ..Server::default()
    };
    let flex = |requested: &ReceivedRequest| requested.body["filter"]["storage_tier"] == "flex";
    // Nobody asked for Flex by name: that it is not there is no news.
    let fake = only_indexes().start();
    let store = store(&fake);
    for _ in 0..2 {
        let got = store.lines(&all(pods(1), 100), soon()).await.unwrap();
        assert_eq!((got.lines.len(), got.partial), (5, vec![]));
    }
    assert_eq!(fake.count(flex), 1);
    // Who names it wants to know.
    let fake = only_indexes().start();
    let named = store_with(&fake, |options| {
        options.tiers = Some(vec![Tier::Flex, Tier::Indexes]);
    });
    let got = named.lines(&all(pods(1), 100), soon()).await.unwrap();
    assert_eq!(got.lines.len(), 5);
    assert!(
        got.partial[0].starts_with("flex: ") && got.partial[0].contains("storage tier"),
        "{:?}",
        got.partial
    );
}

#[tokio::test]
async fn what_is_not_whole_is_told() {
    let fake = server(|number, _| {
        let record = json!({"type": "log", "id": "A", "attributes": {"timestamp": "2026-11-21T15:00:00.005Z", "message": "x"}});
        let odd = json!({"type": "log", "id": "B", "attributes": {"message": "no time"}});
        let body = json!({"data": [record, odd], "meta": {"status": "timeout", "page": {"after": "c"}}});
        (number == 1).then_some(Reply::Json(200, body))
    })
    .start();
    let got = store_with(&fake, indexes)
        .lines(&all(pods(1), 1), soon())
        .await
        .unwrap();
    let emitted = got.partial.join("\n");
    assert!(emitted.contains("status: timeout"), "{emitted}");
    assert!(
        emitted.contains("1 of its records cannot be parsed: a log of Datadog without a time"),
        "{emitted}"
    );

    let fake = server(|_, _| None).start();
    let store = store_with(&fake, |options| {
        indexes(options);
        options.indexes = vec!["main".to_owned(), "old".to_owned()];
    });
    let got = store.lines(&all(pods(1), 1_000), soon()).await.unwrap();
    assert_eq!(got.lines.len(), 100);
    assert_eq!(got.partial.len(), 1);
    assert!(
        got.partial[0].contains("unknown_index") && got.partial[0].contains("old"),
        "{:?}",
        got.partial
    );

    // The fake's clock says 15:30:00.
    let late = |to: Nanos| LineQuery {
        span: Span { from: START, to },
        ..all(pods(1), 1_000)
    };
    let got = store
        .lines(&late(START + 30 * MINUTE), soon())
        .await
        .unwrap();
    assert!(got.partial.iter().any(|words| words.contains("incomplete")));
    let got = store
        .lines(&late(START + 28 * MINUTE), soon())
        .await
        .unwrap();
    assert!(!got.partial.iter().any(|words| words.contains("incomplete")));
}

#[tokio::test]
async fn errors_are_told_in_datadogs_words() {
    let of = async |reply: fn() -> Reply| {
        let fake = server(move |_, _| Some(reply())).start();
        let store = store_with(&fake, |options| {
            indexes(options);
            options.http.tries = 1;
        });
        store.lines(&all(pods(1), 10), soon()).await.unwrap_err()
    };
    for (reply, words) in [
        (
            (|| Reply::Json(400, json!({"errors": ["Invalid query"]}))) as fn() -> Reply,
            "400: Invalid query",
        ),
        (forbidden, "403: Forbidden"),
        (
            || {
                Reply::Json(
                    400,
                    json!({"error": {"code": "InvalidArgument", "message": "Invalid event id"}}),
                )
            },
            "InvalidArgument; Invalid event id",
        ),
        (
            || {
                Reply::Json(
                    400,
                    json!({"errors": [{"status": "400", "title": "Bad Request", "detail": "no such field"}]}),
                )
            },
            "Bad Request; no such field",
        ),
        (|| Reply::Text(500, String::new()), "500: an empty response"),
        (
            || Reply::Text(502, "<html><title>502 Bad Gateway</title>".to_owned()),
            "502 Bad Gateway",
        ),
        (
            || Reply::Text(200, "<html><title>Sign in</title>".to_owned()),
            "Sign in",
        ),
        (|| Reply::Text(200, String::new()), "an empty response"),
        (|| Reply::Json(200, json!({"status": "ok"})), "without data"),
    ] {
        let failure = of(reply).await;
        assert!(failure.to_string().contains(words), "{failure}");
    }
    assert!(of(forbidden).await.is_denied());
}

#[tokio::test]
async fn pages_too_large_are_asked_for_in_smaller_ones() {
    let fake = server(|_, _| None).start();
    let store = store_with(&fake, |options| {
        indexes(options);
        options.page = 100;
        options.http.max_body = 8_000;
    });
    let got = store.lines(&all(pods(1), 1_000), soon()).await.unwrap();
    assert_eq!((got.lines.len(), got.partial), (100, vec![]));
}
