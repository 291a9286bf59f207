//! Lines are read whole, in order, and what is missing is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;

use super::fake::{FakeBehaviour, FakeEvent, GROUP, serve};
use crate::aws_auth::AwsAccess;
use crate::cloudwatch::{CloudWatch, CloudWatchOptions};
use crate::connector::Verdict;
use crate::log_store::tests::one_fact;
use crate::log_store::{
    LineFilter, LineQuery, LineSubject, LinesRead, LogStore as _, PodRef, Span,
};
use crate::time::{Nanos, SECOND};
use whathappened_loopback::{Fake, Reply};

pub(super) const START: Nanos = 1_795_273_200 * SECOND;

fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub(super) fn store_with(fake: &Fake, change: impl Fn(&mut CloudWatchOptions)) -> CloudWatch {
    let keys = Credentials::new("AKIDEXAMPLE", "s", None, None, "test");
    let keys = SharedCredentialsProvider::new(keys);
    let access = AwsAccess::with(keys, "eu-west-1", Some(fake.url()), Arc::new(|| START));
    let mut options = CloudWatchOptions::default();
    change(&mut options);
    CloudWatch::with(options, &access).unwrap()
}

pub(super) fn stream(pod: &str) -> String {
    let id = "0f".repeat(32);
    format!("n1-application.var.log.containers.{pod}_ml_main-{id}.log")
}

/// Lines of three pods over a quarter of an hour: thirty to a millisecond.
fn puts(n: i64) -> Vec<FakeEvent> {
    let put = |number: i64| FakeEvent {
        stream: stream(&format!("w-{}", number % 3)),
        at: START / 1_000_000 + number / 30 * 6_700,
        message: if number % 5 == 0 {
            format!("RuntimeERROR {number}\n")
        } else {
            format!("step {number}\n")
        },
    };
    (0..n).map(put).collect()
}

fn fetch_request(pods: &[&str], only: LineFilter, newest: bool, limit: usize) -> LineQuery {
    let pods = pods.iter().map(|name| PodRef {
        namespace: Some("ml".to_owned()),
        name: (*name).to_owned(),
    });
    LineQuery {
        about: LineSubject::Pods(pods.collect()),
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

fn in_order(wanted: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut wanted: Vec<i64> = wanted.collect();
    wanted.sort_by_key(|number| (number / 30, number % 3, *number));
    wanted
}

#[tokio::test]
async fn every_line_once_and_in_order_though_pages_are_empty() {
    const N: i64 = 4_000;
    for no_regex in [false, true] {
        let manner = FakeBehaviour {
            page: 97,
            throttles: None,
            no_regex,
        };
        let fake = serve(manner, puts(N));
        let store = store_with(&fake, |_| {});
        for only in [LineFilter::All, LineFilter::Significant] {
            let step = if only == LineFilter::All { 1 } else { 5 };
            let all: Vec<i64> = (0..N).filter(|n| n % step == 0 && n % 3 != 2).collect();
            for newest in [false, true] {
                let requested = fetch_request(&["w-0", "w-1"], only, newest, 10_000);
                let got = store.lines(&requested, soon()).await.unwrap();
                assert_eq!(
                    numbers(&got),
                    in_order(all.iter().copied()),
                    "{only:?} {newest}"
                );
                assert_eq!((got.cut, &got.partial), (false, &Vec::new()));

                let requested = fetch_request(&["w-0", "w-1"], only, newest, 300);
                let got = store.lines(&requested, soon()).await.unwrap();
                let got_numbers = numbers(&got);
                assert!(got.cut && got_numbers.len() == 300);
                let edge = if newest {
                    got_numbers[0]
                } else {
                    got_numbers[299]
                } / 30;
                let inner = |n: &i64| {
                    if newest { n / 30 > edge } else { n / 30 < edge }
                };
                let kept: Vec<i64> = got_numbers.into_iter().filter(inner).collect();
                assert_eq!(kept, in_order(all.iter().copied().filter(inner)));
            }
        }
    }
}

#[tokio::test]
async fn the_window_ends_where_it_is_said_to_and_throttling_is_borne() {
    let manner = FakeBehaviour {
        page: 500,
        throttles: Some(3),
        no_regex: false,
    };
    let fake = serve(manner, puts(300));
    let store = store_with(&fake, |_| {});
    let mut requested = fetch_request(&["w-0", "w-1", "w-2"], LineFilter::All, false, 1_000);
    // The second group of thirty lies at 6.7 s; the end is not part of it.
    requested.span.to = START + 6_700 * 1_000_000;
    let got = store.lines(&requested, soon()).await.unwrap();
    assert_eq!(got.lines.len(), 30);
    let entities = store.names().entities(&got.lines[0].labels);
    assert_eq!(entities.cluster.as_deref(), Some("prod"));
    assert_eq!(entities.node.as_deref(), Some("n1"));
    assert_eq!(entities.container.as_deref(), Some("main"));
}

#[tokio::test]
async fn where_streams_do_not_tell_bodies_do() {
    let body = |pod: &str, text: &str| {
        serde_json::json!({
            "log": format!("{text}\n"), "stream": "stderr", "time": "2026-11-21T15:00:00.000123456Z",
            "kubernetes": { "pod_name": pod, "namespace_name": "ml", "host": "n1" },
        })
        .to_string()
    };
    let put = |message: String| FakeEvent {
        stream: "fluentbit".to_owned(),
        at: START / 1_000_000,
        message,
    };
    let events = vec![
        put(body("w-0", "mine error")),
        put(body("w-1", "of another, about w-0")),
        put("w-0 in plain text".to_owned()),
    ];
    let manner = FakeBehaviour {
        page: 500,
        ..FakeBehaviour::default()
    };
    let fake = serve(manner, events);
    let store = store_with(&fake, |_| {});
    for only in [LineFilter::All, LineFilter::Significant] {
        let requested = fetch_request(&["w-0"], only, true, 1_000);
        let got = store.lines(&requested, soon()).await.unwrap();
        assert_eq!(got.lines.len(), 1);
        assert_eq!(got.lines[0].text, "mine error");
        assert_eq!(got.lines[0].stamp.lo, START + 123_456);
    }
}

#[tokio::test]
async fn what_machines_say_is_in_a_group_of_their_own() {
    let put = |stream: &str, message: &str| FakeEvent {
        stream: stream.to_owned(),
        at: START / 1_000_000 + 1,
        message: message.to_owned(),
    };
    let xid = "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, GPU has fallen off the bus.";
    let line = format!("Nov 21 15:00:00 n1 kernel: {xid}");
    let events = vec![
        put("n1.lab-host.messages", &line),
        put(
            "n1.lab-host.messages",
            "Nov 21 15:00:00 n1 sshd[7]: session opened",
        ),
        put("n10.lab-host.messages", &line),
        put(&stream("w-0"), xid),
    ];
    for no_regex in [false, true] {
        let manner = FakeBehaviour {
            page: 500,
            no_regex,
            ..FakeBehaviour::default()
        };
        let fake = serve(manner, events.clone());
        let store = Arc::new(store_with(&fake, |_| {}));
        one_fact(store, "n1.lab", START, ("n1", xid)).await;
    }
}

#[tokio::test]
async fn groups_that_are_not_there_are_told_and_others_used() {
    let manner = FakeBehaviour {
        page: 500,
        ..FakeBehaviour::default()
    };
    let fake = serve(manner, puts(30));
    let store = store_with(&fake, |options| {
        options.groups = vec!["gone".to_owned(), GROUP.to_owned()];
    });
    let got = store
        .lines(
            &fetch_request(&["w-0"], LineFilter::All, false, 100),
            soon(),
        )
        .await
        .unwrap();
    assert_eq!(got.lines.len(), 10);
    assert!(got.partial.join("; ").contains("no log group gone"));
    let health = store.check(START, soon()).await;
    let verdicts: Vec<Verdict> = health.permissions.iter().map(|p| p.verdict).collect();
    assert_eq!(verdicts, [Verdict::Allowed, Verdict::Unknown]);
    assert!(
        store
            .has_any(fetch_request(&[], LineFilter::All, false, 1).span, soon())
            .await
            .unwrap()
    );
}

#[tokio::test]
async fn counting_is_left_alone_unless_it_may_cost() {
    let manner = FakeBehaviour {
        page: 500,
        ..FakeBehaviour::default()
    };
    let fake = serve(manner, puts(30));
    let requested = fetch_request(&["w-0"], LineFilter::All, false, 100);
    let free = store_with(&fake, |_| {});
    let none = free
        .counts(&requested.about, requested.span, soon())
        .await
        .unwrap();
    assert_eq!((none, fake.requests().len()), (None, 0));
    let paid = store_with(&fake, |options| options.insights = true);
    let counts = paid
        .counts(&requested.about, requested.span, soon())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(counts.minutes.len(), 1);
    assert_eq!(counts.minutes[0].lines, 12);
}

#[tokio::test]
async fn expired_credentials_say_so() {
    let fake = Fake::start(|_| {
        let error = "The security token included in the request is expired";
        Reply::Json(
            400,
            serde_json::json!({ "__type": "ExpiredTokenException", "message": error }),
        )
    });
    let store = store_with(&fake, |_| {});
    let health = store.check(START, soon()).await;
    let said = health.unreachable.unwrap();
    assert!(
        said.contains("token included in the request is expired"),
        "{said}"
    );
    let failure = store
        .lines(
            &fetch_request(&["w-0"], LineFilter::All, false, 100),
            soon(),
        )
        .await
        .unwrap_err();
    assert!(failure.is_denied());
}
