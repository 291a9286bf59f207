//! What is read of a store, and what is said of the rest.

mod shelf;

use std::sync::Arc;
use std::time::{Duration, Instant};

use shelf::{Shelf, line};

use super::{Depth, LogSource, LogStore as _};
use crate::connector::{Ask, Connector as _, Entity, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::event::Event;
use crate::http::Trouble;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

const START: Nanos = 1_795_274_000 * SECOND;

fn at(seconds: i64) -> Nanos {
    START + seconds * SECOND
}

/// Pods with the second each died in.
fn ask(pods: &[(&str, i64)]) -> Ask {
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
    Ask {
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

async fn read(shelf: &Arc<Shelf>, ask: &Ask, depth: Depth) -> (Vec<Event>, Vec<Coverage>) {
    let mut out: Vec<Observation> = Vec::new();
    let store: Arc<dyn super::LogStore> = Arc::clone(shelf) as _;
    let source = LogSource::new(store, depth);
    let rows = source.fetch(ask, &mut out).await;
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

/// An hour of steps of two workers; the second ends in a traceback, the first
/// hangs for ten minutes more.
fn run() -> Shelf {
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
    Shelf::new(lines)
}

const DEATHS: [(&str, i64); 2] = [("gpt-1", 3_601), ("gpt-0", 4_201)];

#[tokio::test]
async fn short_logs_are_read_whole() {
    let lines = (0..50).map(|n| line("gpt-0", at(n), &format!("line {n}")));
    let shelf = Arc::new(Shelf::new(lines.collect()));
    let (events, rows) = read(&shelf, &ask(&[("gpt-0", 60)]), Depth::default()).await;
    assert_eq!(events.len(), 50);
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].status, rows[0].rows), (Status::Complete, 50));
    assert_eq!(rows[0].detail, None);
}

#[tokio::test]
async fn of_long_logs_what_tells_is_read_and_the_rest_is_told() {
    let shelf = Arc::new(run());
    let (events, rows) = read(&shelf, &ask(&DEATHS), Depth::default()).await;
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
    let (all, rows) = read(&shelf, &ask(&DEATHS), Depth::all()).await;
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
    let (events, rows) = read(&shelf, &ask(&DEATHS), depth).await;
    assert!(
        events
            .iter()
            .any(|event| event.attribute("exception").is_some())
    );
    let detail = rows[0].detail.as_deref().unwrap();
    assert!(
        detail.contains(
            "not asked after 3 requests: last lines of pods (2 times), telling lines (once)"
        ),
        "{detail}"
    );
    assert_eq!(rows[0].status, Status::Sampled);
    assert_eq!(shelf.requests(), 3);
}

#[tokio::test]
async fn what_fails_is_told_and_the_rest_is_kept() {
    let refused = |code| Trouble::Refused {
        code,
        message: "no".to_owned(),
        wait: None,
    };
    let mut shelf = run();
    shelf.fails = Some((refused(504), true));
    let (events, rows) = read(&Arc::new(shelf), &ask(&DEATHS), Depth::default()).await;
    assert!(!events.is_empty());
    assert_eq!(rows[0].status, Status::Truncated);
    let detail = rows[0].detail.as_deref().unwrap();
    assert!(
        detail.contains("telling lines: the server answers 504: no"),
        "{detail}"
    );

    for (code, status) in [(403, Status::Denied), (500, Status::Failed)] {
        let mut shelf = run();
        shelf.fails = Some((refused(code), false));
        let (events, rows) = read(&Arc::new(shelf), &ask(&DEATHS), Depth::default()).await;
        assert!(events.is_empty());
        assert_eq!(rows[0].status, status);
        assert!(rows[0].would_have_shown.is_some());
    }
}

#[tokio::test]
async fn silence_is_told_from_what_is_not_kept() {
    let nothing = Shelf::new(Vec::new());
    let (_, rows) = read(&Arc::new(nothing), &ask(&DEATHS), Depth::default()).await;
    assert_eq!(rows[0].status, Status::Expired);
    let others = Shelf::new(vec![line("other", at(5), "x")]);
    let (_, rows) = read(&Arc::new(others), &ask(&DEATHS), Depth::default()).await;
    assert_eq!((rows[0].status, rows[0].rows), (Status::Complete, 0));
    let detail = rows[0].detail.as_deref().unwrap();
    assert!(detail.contains("none of these pods"), "{detail}");
}

#[tokio::test]
async fn how_much_was_said_is_told_once_and_only_when_it_is_complete() {
    let shelf = Arc::new(run());
    let mut out: Vec<Observation> = Vec::new();
    let store: Arc<dyn super::LogStore> = Arc::clone(&shelf) as _;
    let mut ask = ask(&DEATHS);
    ask.now = at(2_000);
    ask.window.to = Some(at(2_000));
    LogSource::new(store, Depth::default())
        .fetch(&ask, &mut out)
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
    let mut ask = ask(&[]);
    ask.scope.experiments = vec!["gpt".to_owned()];
    let (events, rows) = read(&shelf, &ask, Depth::default()).await;
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
    let silent = |ask: Ask| {
        let store: Arc<dyn super::LogStore> = Arc::clone(&shelf) as _;
        async move {
            let mut out: Vec<Observation> = Vec::new();
            LogSource::new(store, Depth::default())
                .fetch(&ask, &mut out)
                .await;
            out.into_iter().find_map(|one| match one {
                Observation::Event(event) if event.fact == "log.silent" => Some(*event),
                _ => None,
            })
        }
    };
    // The last line stands at 4,200 s; the pods were there for two hours.
    let told = silent(ask(&DEATHS)).await.unwrap();
    assert!(told.time.lo <= at(4_200) && at(4_200) < told.time.hi);
    assert_eq!(told.end.unwrap().lo, at(7_200));
    let mut sooner = ask(&DEATHS);
    sooner.now = at(4_500);
    assert!(silent(sooner).await.is_none());
}
