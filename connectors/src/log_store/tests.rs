//! What is read of a store, and what is said of the rest.

mod memory_store;

use std::sync::Arc;
use std::time::{Duration, Instant};

use memory_store::{MemoryStore, host_line, line};

use super::{Depth, LogSource, LogStore as _};
use crate::connector::{Connector as _, Entity, FetchRequest, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::event::Event;
use crate::http::HttpError;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

const START: Nanos = 1_795_274_000 * SECOND;

fn at(seconds: i64) -> Nanos {
    START + seconds * SECOND
}

/// Pods with the second each died in.
fn fetch_request(pods: &[(&str, i64)]) -> FetchRequest {
    let pods = pods.iter().map(|(name, died)| Entity {
        namespace: Some("research".to_owned()),
        name: (*name).to_owned(),
        moments: vec![at(*died)],
        ..Entity::default()
    });
    let workload = Entity {
        namespace: Some("research".to_owned()),
        name: "gpt".to_owned(),
        ..Entity::default()
    };
    FetchRequest {
        scope: Scope {
            pods: pods.collect(),
            workloads: vec![("PyTorchJob".to_owned(), workload)],
            ..Scope::default()
        },
        window: Window {
            from: Some(at(0)),
            to: Some(at(7_200)),
        },
        now: at(7_200),
        deadline: Instant::now() + Duration::from_secs(20),
    }
}

async fn read(
    shelf: &Arc<MemoryStore>,
    fetch_request: &FetchRequest,
    depth: Depth,
) -> (Vec<Event>, Vec<Coverage>) {
    let mut out: Vec<Observation> = Vec::new();
    let store: Arc<dyn super::LogStore> = Arc::clone(shelf) as _;
    let source = LogSource::new(store, depth);
    let rows = source.fetch(fetch_request, &mut out).await;
    let mut events: Vec<Event> = out
        .into_iter()
        .map(|one| match one {
            Observation::Event(event) => *event,
            other => panic!("{other:?}"),
        })
        .filter(|event| event.fact == "log.line")
        .collect();
    events.sort_by_key(|event| (event.time, event.id));
    (events, rows)
}

/// Asks a store what a machine said around a death in the hour after `start`, and
/// holds that it tells one line of that hour's first second, which is the fact that
/// the machine's own file tells.
pub(crate) async fn one_fact(
    store: Arc<dyn super::LogStore>,
    node: &str,
    start: Nanos,
    (host, text): (&str, &str),
) -> Event {
    let mut out: Vec<Observation> = Vec::new();
    let fetch_request = FetchRequest {
        scope: Scope {
            nodes: vec![Entity {
                name: node.to_owned(),
                window: Window {
                    from: Some(start - 60 * SECOND),
                    to: Some(start + 3_600 * SECOND),
                },
                moments: vec![start + 20 * SECOND],
                ..Entity::default()
            }],
            ..Scope::default()
        },
        window: Window {
            from: Some(start - 60 * SECOND),
            to: Some(start + 3_600 * SECOND),
        },
        now: start + 7_200 * SECOND,
        deadline: Instant::now() + Duration::from_secs(20),
    };
    let kind = store.source_kind();
    let rows = LogSource::new(store, Depth::default())
        .fetch(&fetch_request, &mut out)
        .await;
    let row = rows.iter().find(|row| row.resource == "kernel").unwrap();
    assert_eq!((row.status, &row.detail), (Status::Complete, &None));
    let events: Vec<Event> = out
        .into_iter()
        .map(|one| match one {
            Observation::Event(event) => *event,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(events.len(), 1, "{events:?}");
    let event = &events[0];
    assert_eq!(event.fact, "node.log");
    assert_eq!(event.entities.node.as_deref(), Some(node));
    assert_eq!(event.attribute("xid"), Some("79"));
    assert_eq!(
        (event.source_kind, event.observed),
        (kind, Some(fetch_request.now))
    );
    let file = format!("{} {host} kernel: {text}\n", crate::time::rfc3339(start));
    let (_, of_file) = crate::node_log::tests::read_bytes(file.as_bytes());
    assert_eq!(of_file.len(), 1, "{of_file:?}");
    assert_eq!(event.id, of_file[0].id, "{event:?} {:?}", of_file[0]);
    event.clone()
}

/// An hour of steps of two workers; the second ends in a traceback, the first
/// hangs for ten minutes more.
fn run() -> MemoryStore {
    let mut lines = Vec::new();
    for second in 0..3_600 {
        for pod in ["gpt-0", "gpt-1"] {
            lines.push(line(pod, at(second), &format!("step={second} loss=2.5")));
        }
    }
    for (n, text) in [
        "Traceback (most recent call last):",
        "  File \"train.py\", line 9, in <module>",
        "ValueError: no",
    ]
    .iter()
    .enumerate()
    {
        lines.push(line("gpt-1", at(3_600) + n as i64, text));
        // A harmless one, long before.
        lines.push(line("gpt-0", at(600) + n as i64, text));
    }
    let last = "[rank0]: Watchdog caught collective operation timeout";
    lines.push(line("gpt-0", at(4_200), last));
    MemoryStore::new(lines)
}

const DEATHS: [(&str, i64); 2] = [("gpt-1", 3_601), ("gpt-0", 4_201)];

#[tokio::test]
async fn short_logs_are_read_whole() {
    let lines = (0..50).map(|n| line("gpt-0", at(n), &format!("line {n}")));
    let shelf = Arc::new(MemoryStore::new(lines.collect()));
    let (events, rows) = read(&shelf, &fetch_request(&[("gpt-0", 60)]), Depth::default()).await;
    assert_eq!(events.len(), 50);
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].status, rows[0].rows), (Status::Complete, 50));
    assert_eq!(rows[0].detail, None);
}

#[tokio::test]
async fn of_long_logs_what_tells_is_read_and_the_rest_is_told() {
    let shelf = Arc::new(run());
    let (events, rows) = read(&shelf, &fetch_request(&DEATHS), Depth::default()).await;
    let said = |words: &str| {
        let found = events.iter().filter(|event| {
            event
                .message
                .as_deref()
                .is_some_and(|text| text.contains(words))
        });
        found.count()
    };
    assert_eq!(
        said("ValueError: no"),
        2,
        "both tracebacks, also the one far from any death"
    );
    let traceback = events
        .iter()
        .filter(|event| event.attribute("exception").is_some());
    assert!(
        traceback
            .clone()
            .all(|event| event.attributes["lines"] == 3),
        "each is whole"
    );
    assert_eq!(said("Watchdog"), 1);
    assert_eq!(said("step=3599"), 2, "what came before the death");
    assert_eq!(said("step=0 "), 2, "how it began");
    assert_eq!(said("step=1800 "), 0, "not the whole log");
    let row = &rows[0];
    assert_eq!((rows.len(), row.status), (1, Status::Sampled));
    let detail = row.detail.as_deref().unwrap();
    assert!(
        detail.contains(&format!("{} of 7207 lines", row.rows)),
        "{detail}"
    );

    // The same facts as of the whole log, and nothing twice.
    let (all, rows) = read(&shelf, &fetch_request(&DEATHS), Depth::all()).await;
    assert_eq!(rows[0].status, Status::Complete);
    assert_eq!(all.len(), 7_203);
    for event in &events {
        assert!(all.contains(event), "{event:?}");
    }
    let mut ids: Vec<_> = events.iter().map(|event| event.id).collect();
    ids.dedup();
    assert_eq!(ids.len(), events.len());
}

#[tokio::test]
async fn a_budget_is_spent_on_what_tells_most() {
    let mut shelf = run();
    shelf.metered = true;
    let shelf = Arc::new(shelf);
    let depth = Depth {
        requests: 3,
        ..Depth::default()
    };
    let (events, rows) = read(&shelf, &fetch_request(&DEATHS), depth).await;
    assert!(
        events
            .iter()
            .any(|event| event.attribute("exception").is_some())
    );
    let detail = rows[0].detail.as_deref().unwrap();
    assert!(
        detail.contains(
            "not queried because the limit of 3 requests was reached: last lines of pods (2 times), significant lines (once)"
        ),
        "{detail}"
    );
    assert_eq!(rows[0].status, Status::Sampled);
    assert_eq!(shelf.requests(), 3);
}

#[tokio::test]
async fn what_fails_is_told_and_the_rest_is_kept() {
    let refused = |code| HttpError::Refused {
        code,
        message: "no".to_owned(),
        wait: None,
    };
    let mut shelf = run();
    shelf.fails = Some((refused(504), true));
    let (events, rows) = read(&Arc::new(shelf), &fetch_request(&DEATHS), Depth::default()).await;
    assert!(!events.is_empty());
    assert_eq!(rows[0].status, Status::Truncated);
    let detail = rows[0].detail.as_deref().unwrap();
    assert!(
        detail.contains("significant lines: the server returned 504: no"),
        "{detail}"
    );

    for (code, status) in [(403, Status::Denied), (500, Status::Failed)] {
        let mut shelf = run();
        shelf.fails = Some((refused(code), false));
        let (events, rows) =
            read(&Arc::new(shelf), &fetch_request(&DEATHS), Depth::default()).await;
        assert!(events.is_empty());
        assert_eq!(rows[0].status, status);
        assert!(rows[0].would_have_shown.is_some());
    }
}

const XID: &str = "NVRM: Xid (PCI:0000:9b:00): 79, pid=4711, GPU has fallen off the bus.";

#[tokio::test]
async fn what_the_machine_said_is_the_fact_that_its_file_tells() {
    let lines = vec![
        host_line("gpu-7", START, XID),
        // Said before the pod was there, after it was gone, and by others.
        host_line("gpu-7", START - 120 * SECOND, XID),
        host_line("gpu-7", START + 3_000 * SECOND, XID),
        host_line("gpu-8", START, XID),
        host_line(
            "gpu-7",
            START,
            "mlx5_core 0000:5c:00.0: firmware version: 28.1",
        ),
    ];
    let event = one_fact(
        Arc::new(MemoryStore::new(lines)),
        "gpu-7",
        START,
        ("gpu-7", XID),
    )
    .await;
    assert_eq!(event.attribute("gpu_pci"), Some("0000:9b:00"));
}

#[tokio::test]
async fn a_machine_that_says_nothing_is_told_from_one_whose_log_is_not_kept() {
    let row = |lines| async {
        let mut requested = fetch_request(&[]);
        requested.scope.nodes = vec![Entity {
            name: "gpu-7.lab".to_owned(),
            ..Entity::default()
        }];
        let (_, rows) = read(
            &Arc::new(MemoryStore::new(lines)),
            &requested,
            Depth::default(),
        )
        .await;
        assert_eq!(rows.len(), 1, "{rows:?}");
        assert_eq!(rows[0].resource, "kernel");
        rows.into_iter().next().unwrap()
    };
    let healthy = row(vec![host_line("gpu-7", at(5), "usb 1-1: new device")]).await;
    assert_eq!(
        (healthy.status, healthy.would_have_shown),
        (Status::Complete, None)
    );
    let others = row(vec![host_line("gpu-8", at(5), XID)]).await;
    assert_eq!(others.status, Status::NotConfigured);
    assert!(others.would_have_shown.unwrap().contains("Xid"));
}

#[tokio::test]
async fn where_requests_cost_machines_are_asked_before_the_ends_of_logs() {
    let mut lines: Vec<_> = (0..9_000)
        .map(|n| line("gpt-0", at(n / 3), "step"))
        .collect();
    lines.push(host_line("gpu-7", at(2_990), XID));
    let mut shelf = MemoryStore::new(lines);
    shelf.metered = true;
    let mut requested = fetch_request(&[("gpt-0", 3_000)]);
    requested.scope.nodes = vec![Entity {
        name: "gpu-7".to_owned(),
        moments: vec![at(3_000)],
        ..Entity::default()
    }];
    let depth = Depth {
        requests: 3,
        ..Depth::default()
    };
    let (_, rows) = read(&Arc::new(shelf), &requested, depth).await;
    let of = |resource: &str| rows.iter().find(|row| row.resource == resource).unwrap();
    assert_eq!(
        (of("kernel").rows, of("kernel").status),
        (1, Status::Complete)
    );
    let detail = of("logs").detail.clone().unwrap();
    assert!(
        detail.contains("not queried because the limit of 3 requests was reached"),
        "{detail}"
    );
}

#[tokio::test]
async fn silence_is_told_from_what_is_not_kept() {
    let nothing = MemoryStore::new(Vec::new());
    let (_, rows) = read(
        &Arc::new(nothing),
        &fetch_request(&DEATHS),
        Depth::default(),
    )
    .await;
    assert_eq!(rows[0].status, Status::Expired);
    let others = MemoryStore::new(vec![line("other", at(5), "x")]);
    let (_, rows) = read(&Arc::new(others), &fetch_request(&DEATHS), Depth::default()).await;
    assert_eq!((rows[0].status, rows[0].rows), (Status::Complete, 0));
    let detail = rows[0].detail.as_deref().unwrap();
    assert!(detail.contains("none of these pods"), "{detail}");
}

#[tokio::test]
async fn how_much_was_said_is_told_once_and_only_when_it_is_complete() {
    let shelf = Arc::new(run());
    let mut out: Vec<Observation> = Vec::new();
    let store: Arc<dyn super::LogStore> = Arc::clone(&shelf) as _;
    let mut fetch_request = fetch_request(&DEATHS);
    fetch_request.now = at(2_000);
    fetch_request.window.to = Some(at(2_000));
    LogSource::new(store, Depth::default())
        .fetch(&fetch_request, &mut out)
        .await;
    let density: Vec<&Event> = out
        .iter()
        .filter_map(|one| match one {
            Observation::Event(event) if event.fact == "log.lines_per_minute" => Some(&**event),
            _ => None,
        })
        .collect();
    // START lies 200 s into a stretch of ten minutes; the last one is not over.
    assert_eq!(density.len(), 3);
    assert_eq!(density[1].count, Some(1_203));
    assert_eq!(
        density[1].attributes["minutes"].as_array().unwrap().len(),
        10
    );
    assert_eq!(density[1].entities.workload.as_deref(), Some("gpt"));
}

#[tokio::test]
async fn without_pods_the_name_is_asked_for() {
    let shelf = Arc::new(run());
    let mut fetch_request = fetch_request(&[]);
    fetch_request.scope.experiments = vec!["gpt".to_owned()];
    let (events, rows) = read(&shelf, &fetch_request, Depth::default()).await;
    assert!(
        events
            .iter()
            .any(|event| event.attribute("exception").is_some())
    );
    assert_eq!(rows[0].status, Status::Sampled);
}

#[tokio::test]
async fn a_silence_while_the_pods_were_there_is_told() {
    let shelf = Arc::new(run());
    let silent = |fetch_request: FetchRequest| {
        let store: Arc<dyn super::LogStore> = Arc::clone(&shelf) as _;
        async move {
            let mut out: Vec<Observation> = Vec::new();
            LogSource::new(store, Depth::default())
                .fetch(&fetch_request, &mut out)
                .await;
            out.into_iter().find_map(|one| match one {
                Observation::Event(event) if event.fact == "log.silent" => Some(*event),
                _ => None,
            })
        }
    };
    // The last line stands at 4,200 s; the pods were there for two hours.
    let emitted = silent(fetch_request(&DEATHS)).await.unwrap();
    assert!(emitted.time.lo <= at(4_200) && at(4_200) < emitted.time.hi);
    assert_eq!(emitted.end.unwrap().lo, at(7_200));
    let mut sooner = fetch_request(&DEATHS);
    sooner.now = at(4_500);
    assert!(silent(sooner).await.is_none());
}
