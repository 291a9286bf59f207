//! One table of what may befall a live source, over all of them. A source says in some thirty
//! lines how it is opened against a server that holds numbered records; what holds in each
//! situation is said once, in `situations`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use regex::Regex;
use whathappened_loopback::{Fake, ReceivedRequest};

use crate::connector::{Connector, Entity, FetchRequest, Scope, Window};
use crate::coverage::{Coverage, Status};
use crate::log_store::{Depth, LogSource, LogStore};
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

/// A live source, and the server that plays its service.
pub(crate) struct Subject {
    pub(crate) source: Box<dyn Connector>,
    pub(crate) server: Fake,
    /// Other servers that it needs: those that give tokens.
    pub(crate) _others: Vec<Fake>,
    /// About the records, with a window from `start`.
    pub(crate) request: FetchRequest,
    /// The time from which the records' seconds count.
    pub(crate) start: Nanos,
    /// Whether a request is for records: only those are tampered with.
    pub(crate) is_data: fn(&ReceivedRequest) -> bool,
    /// The resource of the coverage row that is about records.
    pub(crate) resource: &'static str,
}

/// Opens a source whose server holds records `record-0`, `record-1`, … of these seconds, in pages of
/// a few.
pub(crate) type Open = fn(Vec<i64>) -> BoxFuture<'static, Subject>;

/// A log store, asked for ten minutes of the lines of one pod.
pub(crate) fn of_log_store(
    store: impl LogStore + 'static,
    server: Fake,
    (namespace, pod): (&str, &str),
    start: Nanos,
    is_data: fn(&ReceivedRequest) -> bool,
) -> Subject {
    let window = Window {
        from: Some(start),
        to: Some(start + 600 * SECOND),
    };
    let pod = Entity {
        namespace: Some(namespace.to_owned()),
        name: pod.to_owned(),
        window,
        ..Entity::default()
    };
    Subject {
        source: Box::new(LogSource::new(Arc::new(store), Depth::all())),
        server,
        _others: Vec::new(),
        request: FetchRequest {
            scope: Scope {
                pods: vec![pod],
                ..Scope::default()
            },
            window,
            now: start + 3_600 * SECOND,
            deadline: Instant::now() + Duration::from_secs(60),
        },
        start,
        is_data,
        resource: "logs",
    }
}

/// What came of a question.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// Ids of what was emitted, by the number of the record that it tells of.
    pub(crate) emitted: BTreeMap<usize, BTreeSet<String>>,
    /// Ids that came more than once.
    pub(crate) repeated: BTreeSet<String>,
    /// Rows about records.
    pub(crate) rows: Vec<Coverage>,
    pub(crate) took: Duration,
}

impl Subject {
    /// Asks, and waits no longer than this.
    pub(crate) async fn ask(&self, patience: Duration) -> Outcome {
        let begun = Instant::now();
        let request = FetchRequest {
            deadline: begun + patience,
            ..self.request.clone()
        };
        let mut kept: Vec<Observation> = Vec::new();
        let mut rows = self.source.fetch(&request, &mut kept).await;
        rows.retain(|row| row.resource == self.resource);
        let mut emitted: BTreeMap<usize, BTreeSet<String>> = BTreeMap::new();
        let (mut known, mut repeated) = (BTreeSet::new(), BTreeSet::new());
        for one in &kept {
            let Some(number) = number(one) else { continue };
            let id = id(one);
            if !known.insert(id.clone()) {
                repeated.insert(id.clone());
            }
            emitted.entry(number).or_default().insert(id);
        }
        Outcome {
            emitted,
            repeated,
            rows,
            took: begun.elapsed(),
        }
    }
}

impl Outcome {
    /// Whether a row says that not everything was obtained.
    pub(crate) fn is_short(&self) -> bool {
        self.rows.is_empty() || self.rows.iter().any(|row| row.status != Status::Complete)
    }

    /// Whether a row says that something a verdict could rest on may be missing.
    pub(crate) fn caps(&self) -> bool {
        self.rows.iter().any(|row| row.status.caps_a_verdict())
    }

    /// Records that are missing although the rows speak of their time as read.
    pub(crate) fn missed(&self, seconds: &[i64], start: Nanos) -> Vec<usize> {
        let missing = (0..seconds.len()).filter(|number| !self.emitted.contains_key(number));
        let told = |number: &usize| {
            let at = start + seconds[*number] * SECOND;
            self.is_short()
                || self.rows.iter().all(|row| {
                    row.got_to.is_some_and(|to| to < at)
                        || row.got_from.is_some_and(|from| from > at)
                })
        };
        missing.filter(|number| !told(number)).collect()
    }
}

/// The record that an observation tells of.
fn number(one: &Observation) -> Option<usize> {
    static RECORD: OnceLock<Regex> = OnceLock::new();
    let record = RECORD.get_or_init(|| Regex::new(r"record-(\d+)").unwrap());
    let text = format!("{one:?}");
    record.captures(&text)?[1].parse().ok()
}

fn id(one: &Observation) -> String {
    match one {
        Observation::Event(event) => format!("{:?}", event.id),
        Observation::Object(version) => format!("{:?} {:?}", version.key, version.revision),
        Observation::EventGrew { name, .. } => name.clone(),
    }
}
