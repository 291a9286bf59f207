//! Against a real Loki, where `E2E_LOKI_URL` names one. It is only read unless
//! `E2E_LOKI_PUSH=1`, which pushes some lines under a label of this run.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::log_store::{LineFilter, LineQuery, LineSubject, LinesRead, LogStore as _, Span};
use crate::loki::logql::Query;
use crate::loki::plan::Schema;
use crate::loki::read::{LearnedLimits, ReadRequest, read};
use crate::loki::{Loki, LokiOptions};
use crate::time::{Nanos, SECOND};

fn options() -> Option<LokiOptions> {
    let get = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let Some(address) = get("E2E_LOKI_URL") else {
        whathappened_loopback::skipped("E2E_LOKI_URL is not set");
        return None;
    };
    Some(LokiOptions {
        address: Some(address),
        tenants: get("E2E_LOKI_TENANT").into_iter().collect(),
        bearer_token: get("E2E_LOKI_TOKEN").map(Into::into),
        username: get("E2E_LOKI_USERNAME"),
        password: get("E2E_LOKI_PASSWORD").map(Into::into),
        ..LokiOptions::default()
    })
}

#[expect(
    clippy::disallowed_methods,
    reason = "a real Loki has the present time"
)]
fn now() -> Nanos {
    chrono::Utc::now().timestamp_nanos_opt().unwrap()
}

fn deadline() -> Instant {
    Instant::now() + Duration::from_secs(120)
}

fn texts(got: &LinesRead) -> Vec<(Nanos, String)> {
    let mut all: Vec<_> = got
        .lines
        .iter()
        .map(|line| (line.stamp.lo, format!("{:?} {}", line.labels, line.text)))
        .collect();
    all.sort();
    all
}

#[tokio::test]
async fn e2e_lines_of_a_real_loki_come_once() {
    let Some(options) = options() else {
        return;
    };
    let now = now();
    let store = Loki::new(options.clone()).unwrap();
    let health = store.check(now, deadline()).await;
    println!("{health:#?}");
    assert_eq!(health.unreachable, None);
    let push = std::env::var("E2E_LOKI_PUSH").is_ok_and(|value| value == "1");
    if !push {
        // The last hour but the last minutes, in which lines still come.
        let span = Span {
            from: now - 3_600 * SECOND,
            to: now - 300 * SECOND,
        };
        let schema: Schema = (*store.schema(span, deadline()).await.unwrap()).clone();
        let Some(any) = schema.everything().into_iter().next() else {
            whathappened_loopback::skipped("no streams in the last hour");
            return;
        };
        let query = Query::of(any);
        let mut all = Vec::new();
        for page in [5_000, 37] {
            let got = read(&ReadRequest {
                wire: &store.wire,
                learned: &LearnedLimits::new(page),
                query: &query,
                span,
                newest: false,
                enough: 3_000,
                slice: Some(600 * SECOND),
                deadline: deadline(),
                keep: &|_| true,
            })
            .await;
            assert_eq!((got.failure, got.partial), (None, Vec::new()));
            let mut lines: Vec<_> = got
                .lines
                .into_iter()
                .map(|line| (line.stamp.lo, line.labels, line.metadata, line.text))
                .collect();
            lines.sort();
            let last = lines.last().map_or(0, |line| line.0);
            let full = lines.len() >= 3_000;
            // Where reading ends early, the last nanosecond may be there in part.
            lines.retain(|line| !full || line.0 < last);
            println!("{} lines with pages of {page}", lines.len());
            all.push(lines);
        }
        let count = all[0].len().min(all[1].len());
        assert_eq!(all[0][..count], all[1][..count]);
        return;
    }
    let name = format!("whathappened-e2e-{now}");
    let base = now - 120 * SECOND;
    let mut streams = Vec::new();
    let mut pushed = Vec::new();
    for pod in 0..3 {
        let mut values = Vec::new();
        for number in 0..60 {
            // Thirty lines a nanosecond over the streams, and some twice.
            let at = base + number / 10;
            values.push(json!([at.to_string(), format!("tie {number}")]));
            if number % 7 == 0 {
                values.push(json!([at.to_string(), format!("tie {number}")]));
            }
            pushed.push((at, pod, format!("tie {number}")));
        }
        let stream =
            json!({"experiment": name, "namespace": "e2e", "pod": format!("{name}-{pod}")});
        streams.push(json!({"stream": stream, "values": values}));
    }
    let client = crate::http::Client::new(options.http().unwrap()).unwrap();
    let request = crate::http::Request::post("loki/api/v1/push")
        .json(&json!({ "streams": streams }))
        .unwrap()
        .once();
    client.send(&request, deadline()).await.unwrap();
    let span = Span {
        from: base - SECOND,
        to: base + SECOND,
    };
    for page in [5_000, 50, 17, 9] {
        for newest in [false, true] {
            let store = Loki::new(LokiOptions {
                page,
                ..options.clone()
            })
            .unwrap();
            let question = LineQuery {
                about: LineSubject::Experiment(name.clone()),
                span,
                only: LineFilter::All,
                newest,
                limit: 10_000,
            };
            let got = store.lines(&question, deadline()).await.unwrap();
            println!(
                "pages of {page}: {} lines, {} requests",
                got.lines.len(),
                store.requests()
            );
            assert_eq!((got.cut, &got.partial), (false, &Vec::new()));
            let all = texts(&got);
            assert_eq!(all.len(), pushed.len());
            for (at, pod, text) in &pushed {
                let found = all.iter().filter(|(when, line)| {
                    when == at && line.ends_with(text) && line.contains(&format!("{name}-{pod}\""))
                });
                assert_eq!(found.count(), 1, "{at} {pod} {text}");
            }
        }
    }
    let counts = store
        .counts(&LineSubject::Experiment(name.clone()), span, deadline())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(
        counts.minutes.iter().map(|one| one.lines).sum::<u64>(),
        pushed.len() as u64
    );
}
