//! What a Loki is asked, and how its refusals and silences are borne.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::paging::{BASE, about, loki, query, soon};
use super::server::{Entry, Rules, Server, entry, labels, serve};
use crate::connector::Verdict;
use crate::http::HttpError;
use crate::log_store::tests::one_fact;
use crate::log_store::{LineFilter, LineQuery, LineSubject, LogStore as _, Span};
use crate::time::{Nanos, SECOND};
use whathappened_loopback::{Fake, Reply};

const HOUR: Nanos = 3_600 * SECOND;

const POD: [(&str, &str); 3] = [
    ("namespace", "n"),
    ("pod", "run-0"),
    ("service_name", "run"),
];

fn hours(count: Nanos) -> Span {
    Span {
        from: BASE,
        to: BASE + count * HOUR,
    }
}

fn some_lines() -> Vec<Entry> {
    (0..100)
        .map(|number| {
            entry(
                BASE + (1 + number * 720) * SECOND,
                &POD,
                &format!("line {number}"),
            )
        })
        .collect()
}

/// A Loki that answers some requests for lines with something else: the first
/// `count` of them.
fn odd_at_first(count: usize, reply: impl Fn() -> Reply + Send + Sync + 'static) -> Fake {
    let server = Arc::new(Server::new(some_lines(), Rules::default()));
    let asked_so_far = AtomicUsize::new(0);
    Fake::start(move |requested| {
        let lines = requested.path.ends_with("query_range");
        if lines && asked_so_far.fetch_add(1, Ordering::SeqCst) < count {
            reply()
        } else {
            server.answer(requested)
        }
    })
}

#[tokio::test]
async fn questions_are_sent_as_loki_reads_them_rightly() {
    let fake = serve(some_lines(), Rules::default());
    let store = loki(&fake, |options| {
        options.tenants = vec!["a".to_owned(), "b".to_owned()];
    });
    let got = store
        .lines(&query(about(&["run-0"]), hours(1)), soon())
        .await
        .unwrap();
    assert_eq!(got.lines.len(), 5);
    for requested in fake.requests() {
        assert_eq!(requested.query("start").len(), 19);
        assert_eq!(requested.query("end").len(), 19);
        assert_eq!(requested.header("x-scope-orgid"), "a|b");
        assert!(requested.header("accept-encoding").contains("gzip"));
        for never in ["interval", "since", "step"] {
            assert_eq!(requested.query(never), "");
        }
        assert!(!requested.query("query").contains("line_format"));
    }
    // The labels are asked for over the question's own time, on the hour.
    let labels = fake
        .requests()
        .into_iter()
        .find(|one| one.path.ends_with("/labels"));
    assert!(labels.unwrap().query("start") <= BASE.to_string().as_str());
    // And once.
    store
        .lines(&query(about(&["run-0"]), hours(1)), soon())
        .await
        .unwrap();
    assert_eq!(fake.count(|one| one.path.ends_with("/labels")), 1);
    // Long queries go as a form.
    let many: Vec<String> = (0..40)
        .map(|number| format!("{}-{number}", "x".repeat(60)))
        .collect();
    let names: Vec<&str> = many.iter().map(String::as_str).chain(["run-0"]).collect();
    let got = store
        .lines(&query(about(&names), hours(1)), soon())
        .await
        .unwrap();
    assert_eq!(got.lines.len(), 5);
    assert!(fake.count(|one| one.method == "POST") > 0);
}

#[tokio::test]
async fn a_few_lines_cost_a_few_lines() {
    let fake = serve(some_lines(), Rules::default());
    let store = loki(&fake, |_| {});
    let question = LineQuery {
        newest: true,
        limit: 3,
        ..query(about(&["run-0"]), hours(24))
    };
    let got = store.lines(&question, soon()).await.unwrap();
    let texts: Vec<&str> = got.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["line 97", "line 98", "line 99"]);
    assert!(got.cut);
    let lines = |one: &whathappened_loopback::ReceivedRequest| one.path.ends_with("query_range");
    assert_eq!(fake.count(lines), 1);
    assert_eq!(
        fake.requests()
            .into_iter()
            .find(lines)
            .unwrap()
            .query("limit"),
        "5"
    );
}

#[tokio::test]
async fn what_is_too_much_is_asked_for_in_less() {
    for rules in [
        Rules {
            too_slow: Some(HOUR),
            ..Rules::default()
        },
        Rules {
            longest: Some(90 * 60 * SECOND),
            cap: 7,
            ..Rules::default()
        },
        Rules {
            required: vec!["namespace", "service_name"],
            ..Rules::default()
        },
    ] {
        let fake = serve(some_lines(), rules.clone());
        let store = loki(&fake, |_| {});
        for newest in [false, true] {
            let question = LineQuery {
                newest,
                ..query(about(&["run-0"]), hours(48))
            };
            let got = store.lines(&question, soon()).await.unwrap();
            assert_eq!(got.lines.len(), 100, "{rules:?}");
            assert_eq!(got.partial, Vec::<String>::new());
        }
        // Lines that time out are not asked for by the minute.
        assert!(store.requests() < 400, "{}", store.requests());
        let counts = store.counts(&about(&["run-0"]), hours(48), soon()).await;
        let counts = counts.unwrap().unwrap();
        assert_eq!(counts.minutes.iter().map(|one| one.lines).sum::<u64>(), 100);
    }
}

#[tokio::test]
async fn passing_trouble_passes() {
    for reply in [
        (|| Reply::Text(429, "too many outstanding requests".to_owned())) as fn() -> Reply,
        || {
            Reply::Text(
                502,
                "<html><head><title>502 Bad Gateway</title></head></html>".to_owned(),
            )
        },
        || {
            Reply::Text(
                500,
                "rpc error: code = ResourceExhausted desc = x".to_owned(),
            )
        },
    ] {
        // Without a second try: each refusal halves the stretch of time.
        let fake = odd_at_first(3, reply);
        let store = loki(&fake, |_| {});
        let got = store
            .lines(&query(about(&["run-0"]), hours(24)), soon())
            .await
            .unwrap();
        assert_eq!((got.lines.len(), got.partial.len()), (100, 0));
    }
    let fake = odd_at_first(1, || {
        Reply::Text(429, "too many outstanding requests".to_owned())
    });
    let store = loki(&fake, |options| options.tries = 2);
    let got = store
        .lines(&query(about(&["run-0"]), hours(24)), soon())
        .await
        .unwrap();
    assert_eq!(got.lines.len(), 100);
}

#[tokio::test]
async fn lasting_trouble_is_told() {
    let page = || {
        Reply::Text(
            502,
            "<html><title>502 Bad Gateway</title></html>".to_owned(),
        )
    };
    for (reply, words) in [
        (
            Box::new(page) as Box<dyn Fn() -> Reply + Send + Sync>,
            "502 Bad Gateway",
        ),
        (
            Box::new(|| {
                Reply::Text(
                    429,
                    "querying is disabled, please contact your Loki operator".to_owned(),
                )
            }),
            "querying is disabled",
        ),
        (
            Box::new(|| Reply::Text(200, "<!doctype html><title>Sign in</title>".to_owned())),
            "Sign in",
        ),
        (
            Box::new(|| {
                Reply::Json(
                    200,
                    json!({"status":"success","data":{"resultType":"matrix","result":[]}}),
                )
            }),
            "matrix",
        ),
    ] {
        let fake = odd_at_first(usize::MAX, reply);
        let store = loki(&fake, |_| {});
        let failure = store
            .lines(&query(about(&["run-0"]), hours(1)), soon())
            .await
            .unwrap_err();
        assert!(failure.to_string().contains(words), "{failure}");
    }
    // What was read before is kept, and the rest is said to be missing.
    let server = Arc::new(Server::new(some_lines(), Rules::default()));
    let fake = Fake::start(move |requested| {
        if requested.path.ends_with("query_range")
            && requested.query("start") > BASE.to_string().as_str()
        {
            return Reply::Text(500, "empty ring".to_owned());
        }
        server.answer(requested)
    });
    let store = loki(&fake, |options| options.slice = 10 * HOUR);
    let got = store
        .lines(&query(about(&["run-0"]), hours(24)), soon())
        .await
        .unwrap();
    assert_eq!(got.lines.len(), 50);
    assert!(
        got.partial[0].starts_with("not read from ") && got.partial[0].contains("empty ring"),
        "{:?}",
        got.partial
    );
}

#[tokio::test]
async fn a_slow_loki_does_not_hold_us_past_the_deadline() {
    let fake = odd_at_first(usize::MAX, || Reply::Hang);
    let store = loki(&fake, |_| {});
    let begun = Instant::now();
    let failure = store
        .lines(
            &query(about(&["run-0"]), hours(24)),
            begun + Duration::from_millis(500),
        )
        .await
        .unwrap_err();
    assert!(matches!(failure, HttpError::TimedOut(_)), "{failure}");
    assert!(begun.elapsed() < Duration::from_secs(5));
}

#[tokio::test]
async fn warnings_are_told() {
    let warning =
        "maximum number of series (500) reached for a single query; returning partial results";
    let fake = serve(
        some_lines(),
        Rules {
            warning: Some(warning),
            ..Rules::default()
        },
    );
    let got = loki(&fake, |_| {})
        .lines(&query(about(&["run-0"]), hours(24)), soon())
        .await
        .unwrap();
    assert_eq!(got.partial, [format!("Loki warns: {warning}")]);
}

fn with_metadata(
    at: Nanos,
    stream: &[(&str, &str)],
    metadata: &[(&str, &str)],
    text: &str,
) -> Entry {
    Entry {
        metadata: labels(metadata),
        ..entry(at, stream, text)
    }
}

#[tokio::test]
async fn a_pod_is_found_whatever_its_collector_calls_it() {
    let all = vec![
        entry(BASE + 1, &[("namespace", "n"), ("pod", "run-0")], "label"),
        entry(
            BASE + 2,
            &[("namespace", "m"), ("pod", "run-0")],
            "elsewhere",
        ),
        entry(BASE + 3, &[("pod", "run-0"), ("job", "x")], "no namespace"),
        entry(
            BASE + 4,
            &[("k8s_pod_name", "run-0"), ("k8s_namespace_name", "n")],
            "otel",
        ),
        with_metadata(
            BASE + 5,
            &[("namespace", "n"), ("service_name", "s")],
            &[("k8s_pod_name", "run-0")],
            "metadata",
        ),
        with_metadata(
            BASE + 6,
            &[("k8s_namespace_name", "m"), ("service_name", "s")],
            &[("k8s_pod_name", "run-0")],
            "metadata elsewhere",
        ),
        entry(
            BASE + 7,
            &[("namespace", "n"), ("pod", "run-00")],
            "another",
        ),
        entry(
            BASE + 8,
            &[("namespace", "n"), ("pod", "router")],
            "run-0 is mentioned",
        ),
    ];
    for merged in [false, true] {
        let rules = Rules {
            merged,
            ..Rules::default()
        };
        let fake = serve(all.clone(), rules);
        let got = loki(&fake, |_| {})
            .lines(&query(about(&["run-0"]), hours(1)), soon())
            .await
            .unwrap();
        let texts: Vec<&str> = got.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, ["label", "no namespace", "otel", "metadata"]);
        assert_eq!(got.partial, Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_pod_that_only_its_lines_name_is_found_and_that_is_said() {
    let bit = r#"{"log":"boom","kubernetes":{"pod_name":"run-0","namespace_name":"n"}}"#;
    let other = r#"{"log":"run-0 died","kubernetes":{"pod_name":"router","namespace_name":"n"}}"#;
    let all = vec![
        entry(BASE + 1, &[("job", "fluentbit")], bit),
        entry(BASE + 2, &[("job", "fluentbit")], other),
        entry(BASE + 3, &[("job", "fluentbit")], "run-01 x"),
    ];
    let fake = serve(all, Rules::default());
    let store = loki(&fake, |_| {});
    let got = store
        .lines(&query(about(&["run-0"]), hours(1)), soon())
        .await
        .unwrap();
    assert_eq!(got.lines.len(), 1);
    assert_eq!(got.lines[0].metadata["kubernetes_pod_name"], "run-0");
    assert!(got.partial[0].contains("no label names pods"));
}

#[tokio::test]
async fn experiments_are_found_by_label_then_workload_then_stem_then_words() {
    let at = |second: Nanos| BASE + second * SECOND;
    let all = vec![
        entry(at(1), &[("experiment", "by.label"), ("pod", "a")], "1"),
        entry(at(2), &[("job", "n/by-job"), ("pod", "b")], "2"),
        entry(at(3), &[("pod", "by-stem-worker-0")], "3"),
        with_metadata(at(4), &[("pod", "c")], &[("experiment_id", "by-fact")], "4"),
        entry(at(5), &[("pod", "d")], "starting by-words now"),
        entry(at(6), &[("experiment", "byxlabel"), ("pod", "a")], "6"),
    ];
    let fake = serve(all, Rules::default());
    let store = loki(&fake, |_| {});
    for (name, text) in [
        ("by.label", "1"),
        ("by-job", "2"),
        ("by-stem", "3"),
        ("by-fact", "4"),
        ("by-words", "starting by-words now"),
    ] {
        let question = query(LineSubject::Experiment(name.to_owned()), hours(1));
        let got = store.lines(&question, soon()).await.unwrap();
        let texts: Vec<&str> = got.lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(texts, [text], "{name}");
        assert_eq!(got.partial.len(), usize::from(name == "by-words"));
    }
    let nothing = query(LineSubject::Experiment("no-such".to_owned()), hours(1));
    assert!(
        store
            .lines(&nothing, soon())
            .await
            .unwrap()
            .lines
            .is_empty()
    );
}

#[tokio::test]
async fn a_nodes_own_log_is_not_that_of_its_pods() {
    let all = vec![
        entry(BASE + 1, &[("node_name", "g-1"), ("pod", "run-0")], "pod"),
        entry(
            BASE + 2,
            &[("node_name", "g-1"), ("job", "systemd-journal")],
            "kernel",
        ),
        entry(
            BASE + 3,
            &[("hostname", "g-1"), ("job", "syslog")],
            "syslog",
        ),
        entry(
            BASE + 4,
            &[("node_name", "g-11"), ("job", "systemd-journal")],
            "another",
        ),
    ];
    let fake = serve(all, Rules::default());
    let question = query(LineSubject::Nodes(vec!["g-1".to_owned()]), hours(1));
    let got = loki(&fake, |_| {}).lines(&question, soon()).await.unwrap();
    let texts: Vec<&str> = got.lines.iter().map(|line| line.text.as_str()).collect();
    assert_eq!(texts, ["kernel", "syslog"]);
}

#[tokio::test]
async fn what_a_machine_said_is_asked_by_its_own_words() {
    let xid = "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, GPU has fallen off the bus.";
    let journal = [
        ("hostname", "g-1"),
        ("job", "systemd-journal"),
        ("transport", "kernel"),
    ];
    let at = BASE + 400_000_000;
    let all = vec![
        entry(at, &journal, xid),
        entry(at, &journal, "usb 1-1: new device"),
        entry(at, &[("node_name", "g-1"), ("pod", "run-0")], xid),
        entry(at, &[("hostname", "g-11"), ("job", "systemd-journal")], xid),
    ];
    let fake = serve(all, Rules::default());
    let store = Arc::new(loki(&fake, |_| {}));
    one_fact(store, "g-1", BASE, ("g-1", xid)).await;
    let words =
        |one: &whathappened_loopback::ReceivedRequest| one.query("query").contains("nvrm: xid");
    assert!(fake.count(words) > 0);
}

#[tokio::test]
async fn minutes_are_counted_and_silence_is_told_from_nothing() {
    let fake = serve(some_lines(), Rules::default());
    let store = loki(&fake, |_| {});
    let counts = store
        .counts(&about(&["run-0"]), hours(24 * 30), soon())
        .await
        .unwrap()
        .unwrap();
    assert_eq!(counts.minutes.len(), 100);
    assert!(counts.minutes.iter().all(|one| one.at % (60 * SECOND) == 0));
    assert!(store.has_any(hours(1), soon()).await.unwrap());
    let before = Span {
        from: BASE - 48 * HOUR,
        to: BASE - 24 * HOUR,
    };
    assert!(!store.has_any(before, soon()).await.unwrap());
    let evidence = LineQuery {
        only: LineFilter::Significant,
        ..query(about(&["run-0"]), hours(24))
    };
    assert!(
        store
            .lines(&evidence, soon())
            .await
            .unwrap()
            .lines
            .is_empty()
    );
}

#[tokio::test]
async fn a_check_tells_what_is_there() {
    let fake = serve(
        some_lines(),
        Rules {
            tenant: Some("lab"),
            ..Rules::default()
        },
    );
    let now = BASE + 30 * HOUR;
    let nobody = loki(&fake, |_| {}).check(now, soon()).await;
    assert_eq!(nobody.permissions[0].verdict, Verdict::Denied);
    let detail = nobody.permissions[0].detail.as_deref().unwrap();
    assert!(
        detail.contains("no org id") && detail.contains("LOKI_ORG_ID"),
        "{detail}"
    );

    let wrong = loki(&fake, |options| options.tenants = vec!["other".to_owned()]);
    let wrong = wrong.check(now, soon()).await;
    assert!(
        wrong.notes.iter().any(|note| note.contains("no streams")),
        "{wrong:?}"
    );
    assert_eq!(wrong.reaches_back_to, None);

    let store = loki(&fake, |options| options.tenants = vec!["lab".to_owned()]);
    let health = store.check(BASE + 20 * HOUR, soon()).await;
    assert_eq!(health.unreachable, None);
    assert_eq!(health.version.as_deref(), Some("3.5.1"));
    assert_eq!(health.permissions[0].verdict, Verdict::Allowed);
    assert!(health.notes[0].contains("pods by pod"), "{health:?}");
    assert_eq!(health.reaches_back_to, Some(BASE + SECOND));
    assert!(health.skew.is_some());
    // What is older than that is said not to be there.
    let before = Span {
        from: BASE - 48 * HOUR,
        to: BASE + HOUR,
    };
    let got = store
        .lines(&query(about(&["run-0"]), before), soon())
        .await
        .unwrap();
    assert!(
        got.partial[0].contains("nothing from before"),
        "{:?}",
        got.partial
    );

    let starting = Fake::start(|requested| match requested.path.as_str() {
        "/ready" => Reply::Text(
            503,
            "Ingester not ready: waiting for 15s after being ready\n".to_owned(),
        ),
        _ => Reply::Json(200, json!({"status": "success"})),
    });
    let health = loki(&starting, |_| {}).check(now, soon()).await;
    assert!(health.notes[0].contains("Ingester not ready"), "{health:?}");
}

#[tokio::test]
async fn grafana_may_stand_between() {
    let server = Arc::new(Server::new(
        some_lines(),
        Rules {
            merged: true,
            ..Rules::default()
        },
    ));
    let fake = Fake::start(move |requested| {
        if requested.header("authorization") != "Bearer glsa" {
            return Reply::Json(401, json!({"message": "Invalid API key", "traceID": ""}));
        }
        if !requested
            .path
            .starts_with("/grafana/api/datasources/proxy/uid/logs/")
        {
            return Reply::Json(
                404,
                json!({"message": "Data source not found", "traceID": ""}),
            );
        }
        server.answer(requested)
    });
    let through = |uid: &str, token: &str| {
        let (uid, token) = (uid.to_owned(), token.to_owned());
        loki(&fake, |options| {
            options.address = None;
            options.grafana_url = Some(format!("{}/grafana", fake.url()));
            options.datasource_uid = Some(uid.clone());
            options.grafana_token = Some(token.as_str().into());
        })
    };
    let store = through("logs", "glsa");
    let got = store
        .lines(&query(about(&["run-0"]), hours(24)), soon())
        .await
        .unwrap();
    assert_eq!(got.lines.len(), 100);
    let health = store.check(BASE + 20 * HOUR, soon()).await;
    assert!(
        health
            .notes
            .iter()
            .any(|note| note.contains("X-Loki-Response-Encoding-Flags")),
        "{health:?}"
    );
    let health = through("nope", "glsa").check(BASE, soon()).await;
    let why = health.unreachable.unwrap();
    assert!(
        why.contains("Data source not found") && why.contains("uid"),
        "{why}"
    );
    let health = through("logs", "old").check(BASE, soon()).await;
    let why = health.permissions[0].detail.clone().unwrap();
    assert!(
        why.contains("Invalid API key") && why.contains("Grafana's token"),
        "{why}"
    );
}
