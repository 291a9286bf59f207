//! Every line once and in order, however it is paged.

use super::server::{Server, StoredRecord};
use super::*;
use std::sync::Arc;

use crate::log_store::tests::one_fact;
use crate::log_store::{LinesRead, LogStore as _, StoredLine};

const LINES: usize = 2_000;

/// Lines of five pods, seven in a millisecond, in two tiers, some in both.
fn lines() -> Vec<StoredRecord> {
    (0..LINES)
        .map(|n| {
            let message = match n % 10 {
                0 => format!("step {n}: CUDA error: Out Of Memory"),
                5 => format!("worker{n} OOMKilled, retrying"),
                _ => format!("step {n} loss 0.3"),
            };
            let mut line = StoredRecord::line(n, n % 5, (n / 7) as i64, &message);
            line.tiers = match n % 4 {
                0 => vec!["flex"],
                1 => vec!["indexes", "flex"],
                _ => vec!["indexes"],
            };
            line
        })
        .collect()
}

fn server() -> Server {
    let mut logs = lines();
    // Of nobody who is asked for.
    logs.push(StoredRecord::line(LINES, 77, 3, "Traceback of another pod"));
    let mut namesake = StoredRecord::line(LINES + 1, 0, 3, "of another namespace");
    namesake.tags[0] = "kube_namespace:prod".to_owned();
    logs.push(namesake);
    Server {
        logs,
        ..Server::default()
    }
}

fn read(store: &Datadog, query: &LineQuery) -> LinesRead {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().unwrap();
    runtime.block_on(store.lines(query, soon())).unwrap()
}

fn key(line: &StoredLine) -> (Nanos, &str) {
    (line.stamp.lo, line.id.as_deref().unwrap())
}

#[test]
fn each_line_once_and_in_order_whatever_is_asked() {
    let fake = server().start();
    let store = store_with(&fake, |options| {
        options.page = 100;
        options.requests_per_question = 1_000;
    });
    for only in [LineFilter::All, LineFilter::Significant] {
        let mut wanted: Vec<(Nanos, String)> = lines()
            .into_iter()
            .filter(|line| only == LineFilter::All || line.message.contains('O'))
            .map(|line| (START + line.at * MS, line.id))
            .collect();
        wanted.sort();
        let whole = wanted.len();
        for newest in [false, true] {
            for limit in [whole + 5, whole, whole - 1, 123] {
                let query = LineQuery {
                    only,
                    newest,
                    ..all(pods(5), limit)
                };
                let got = read(&store, &query);
                assert_eq!(got.partial, [""; 0]);
                assert_eq!(got.cut, limit < whole, "{only:?} {newest} {limit}");
                let found: Vec<_> = got.lines.iter().map(key).collect();
                assert!(found.is_sorted() && found.windows(2).all(|two| two[0] != two[1]));
                let part = if newest {
                    &wanted[whole.saturating_sub(limit)..]
                } else {
                    &wanted[..limit.min(whole)]
                };
                // Which of the lines of one millisecond are cut off nobody can say.
                let times = |found: &[(Nanos, &str)]| -> Vec<Nanos> {
                    found.iter().map(|(at, _)| *at).collect()
                };
                let part: Vec<_> = part.iter().map(|(at, id)| (*at, id.as_str())).collect();
                assert_eq!(times(&found), times(&part), "{only:?} {newest} {limit}");
                if !got.cut {
                    assert_eq!(found, part);
                }
            }
        }
    }
    for requested in fake.requests() {
        assert_eq!(requested.method, "POST");
        assert!(requested.body["filter"]["to"].is_string());
        assert!(requested.body["filter"]["storage_tier"].is_string());
    }
}

#[test]
fn a_window_is_kept_to_the_nanosecond_and_pages_are_of_one_window() {
    let fake = server().start();
    let store = store_with(&fake, |options| {
        options.page = 50;
        options.requests_per_question = 1_000;
    });
    let of = |from: Nanos, to: Nanos| {
        let span = Span { from, to };
        let query = LineQuery {
            span,
            ..all(pods(5), 5_000)
        };
        read(&store, &query).lines
    };
    let (start, middle, end) = (START, START + 100 * MS + 500, START + 200 * MS);
    let whole = of(start, end);
    let mut parts = of(start, middle);
    parts.extend(of(middle, end));
    assert_eq!(whole, parts);
    assert!(whole.iter().all(|line| line.stamp.width() == MS));
    // 100 ms and what lies on its last millisecond.
    assert_eq!(whole.len(), 1400);
}

#[test]
fn what_is_told_of_a_line_is_whose_it_is() {
    let fake = server().start();
    let got = read(&store(&fake), &all(pods(1), 1));
    let line = &got.lines[0];
    let entities = store(&fake).names().entities(&line.labels);
    assert_eq!(entities.pod.as_deref(), Some("llama-ft-7-0"));
    assert_eq!(entities.node.as_deref(), Some("gpu-7"));
    assert_eq!(entities.container.as_deref(), Some("trainer"));
}

#[test]
fn experiments_and_nodes_are_found_and_their_namesakes_are_not() {
    let mut logs = Vec::new();
    let mut add = |tags: &[&str], host: &str, message: &str, attributes: serde_json::Value| {
        let mut line = StoredRecord::line(logs.len(), 0, 5, message);
        line.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        host.clone_into(&mut line.host);
        line.attributes = attributes;
        logs.push(line);
    };
    let none = || serde_json::json!({});
    add(&["pod_name:llama-ft-7-0"], "h", "by pod", none());
    add(&["kube_job:llama-ft-7"], "h", "by job", none());
    add(&["experiment:llama-ft-7"], "h", "by tag", none());
    add(
        &[],
        "h",
        "by attribute",
        serde_json::json!({"experiment": "Llama-ft-7"}),
    );
    add(&[], "h", "started Llama-FT-7, by text", none());
    add(
        &["pod_name:llama-ft-70-0"],
        "h",
        "another experiment",
        none(),
    );
    add(&[], "Gpu-7", "kernel: Xid", none());
    add(&[], "Gpu-7-prod", "kernel: oom", none());
    add(&["kube_node:gpu-7"], "i-0abc", "kubelet", none());
    add(
        &["pod_name:x", "kube_node:gpu-7"],
        "Gpu-7",
        "a pod on it",
        none(),
    );
    add(&[], "Gpu-77", "another node", none());
    let fake = Server {
        logs,
        ..Server::default()
    }
    .start();
    let store = store(&fake);
    let said = |about: LineSubject| {
        let mut said: Vec<String> = read(&store, &all(about, 100))
            .lines
            .into_iter()
            .map(|line| line.text)
            .collect();
        said.sort();
        said
    };
    assert_eq!(
        said(LineSubject::Experiment("Llama-ft-7".to_owned())),
        [
            "by attribute",
            "by job",
            "by pod",
            "by tag",
            "started Llama-FT-7, by text"
        ]
    );
    assert_eq!(
        said(LineSubject::Nodes(vec!["Gpu-7".to_owned()])),
        ["kernel: Xid", "kernel: oom", "kubelet"]
    );
    for odd in [
        "a\"b",
        "x:(y) OR *",
        "\\",
        "run [7] #1 = ~^",
        "“curly”",
        "a && b || !c",
    ] {
        assert_eq!(
            said(LineSubject::Experiment(odd.to_owned())),
            [""; 0],
            "{odd}"
        );
    }
}

#[tokio::test]
async fn what_a_machine_said_is_asked_by_whole_words() {
    let xid = "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, GPU has fallen off the bus.";
    let mut logs = Vec::new();
    let mut add = |host: &str, tags: &[&str], message: &str| {
        let mut line = StoredRecord::line(logs.len(), 0, 400, message);
        line.tags = tags.iter().map(|tag| (*tag).to_owned()).collect();
        host.clone_into(&mut line.host);
        line.attributes = serde_json::json!({"journald": {"_TRANSPORT": "kernel"}});
        logs.push(line);
    };
    add("gpu-7", &[], xid);
    add("gpu-7", &[], "usb 1-1: debugging a new device");
    add("gpu-7", &["pod_name:x"], xid);
    add("gpu-77", &[], xid);
    let fake = Server {
        logs,
        ..Server::default()
    }
    .start();
    let store = Arc::new(store(&fake));
    one_fact(store, "gpu-7", START, ("gpu-7", xid)).await;
}

#[tokio::test]
async fn lines_are_counted_by_minute_and_lines_of_two_tiers_once() {
    let mut logs = lines();
    for line in &mut logs {
        line.at *= 600;
    }
    let fake = Server {
        logs: logs.clone(),
        ..Server::default()
    }
    .start();
    let store = store_with(&fake, |options| {
        options.tiers = Some(vec![super::super::Tier::Indexes]);
    });
    let span = all(pods(5), 1).span;
    let counts = store.counts(&pods(5), span, soon()).await.unwrap().unwrap();
    let wanted = |minute: i64| {
        let of =
            |line: &&StoredRecord| line.at / 60_000 == minute && line.tiers.contains(&"indexes");
        logs.iter().filter(of).count() as u64
    };
    assert_eq!(counts.minutes.len(), 3);
    for (n, minute) in (0..).zip(&counts.minutes) {
        assert_eq!((minute.at, minute.lines), (START + n * MINUTE, wanted(n)));
    }
    assert_eq!(fake.requests().len(), 1);
    let long = Span {
        from: START - 30 * 86_400_000 * MS,
        to: START,
    };
    assert_eq!(store.counts(&pods(5), long, soon()).await.unwrap(), None);
    let nobody = store.counts(&pods(0), span, soon()).await.unwrap().unwrap();
    assert!(nobody.minutes.is_empty());
}

#[tokio::test]
async fn whether_there_is_anything_at_all() {
    let fake = server().start();
    let store = store(&fake);
    let span = |from: Nanos| Span {
        from,
        to: from + MINUTE,
    };
    assert!(store.has_any(span(START), soon()).await.unwrap());
    assert_eq!(fake.requests().len(), 1);
    assert!(
        !store
            .has_any(span(START + 5 * MINUTE), soon())
            .await
            .unwrap()
    );
}
