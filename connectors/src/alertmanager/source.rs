//! Alertmanager as a source of a question.

use std::collections::BTreeSet;
use std::time::Instant;

use futures::future::{BoxFuture, join};
use serde_json::Value;

use super::decode::{KnownEntities, alert, silence};
use super::options::AlertmanagerOptions;
use crate::connector::{Connector, FetchRequest, Health, Scope, Skew};
use crate::coverage::{Coverage, Mode, Status};
use crate::event::{Event, Origin, SourceKind};
use crate::http::{Answer, Client, HttpError, Request};
use crate::observation::{Observation, Rejection};
use crate::prometheus::Names;
use crate::sink::Sink;
use crate::time::{Nanos, SECOND};

/// Silences are kept this long after they expired unless told otherwise.
const RETENTION_S: i64 = 120 * 3_600;

/// What was so shortly before and after belongs to the story.
const MARGIN: Nanos = 3_600 * SECOND;

const ALERTS: (&str, &str) = ("alerts", "which alerts fire about these pods and machines");
const SILENCES: (&str, &str) = (
    "silences",
    "who silenced alerts for these machines, as is done before maintenance",
);

/// An Alertmanager, to be asked.
#[derive(Debug)]
pub struct Alertmanager {
    name: String,
    place: String,
    client: Client,
}

impl Alertmanager {
    /// Prepares to ask; asks nothing yet.
    ///
    /// # Errors
    /// Says which option is missing or does not make sense.
    pub fn new(options: &AlertmanagerOptions) -> Result<Self, HttpError> {
        let client = Client::new(options.http()?)?;
        Ok(Self {
            name: options.name.clone(),
            place: client.address(),
            client,
        })
    }

    async fn list(&self, path: &str, deadline: Instant) -> Result<Vec<Value>, HttpError> {
        self.client.json(&Request::get(path), deadline).await
    }

    async fn read(
        &self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        let alerts = self.list("api/v2/alerts", fetch_request.deadline);
        let silences = self.list("api/v2/silences", fetch_request.deadline);
        let (alerts, silences) = join(alerts, silences).await;
        let scope = &fetch_request.scope;
        let machines = scope.nodes.iter().chain(&scope.instances);
        let nodes: BTreeSet<String> = machines.map(|node| node.name.clone()).collect();
        let pods = scope.pods.iter();
        let pods = pods
            .map(|pod| (pod.name.clone(), pod.namespace.clone()))
            .collect();
        let names = Names::of(nodes.iter().cloned());
        let known = KnownEntities {
            names: &names,
            nodes: &nodes,
            pods: &pods,
            any: *scope == Scope::default(),
            now: Some(fetch_request.now),
            origin: Origin {
                file: self.name.as_str().into(),
                line: 0,
            },
        };
        let mut out = Vec::new();
        let rows = [
            (ALERTS, alerts, alert as AlertDecoder),
            (SILENCES, silences, silence),
        ]
        .map(|((resource, shows), answer, decode)| {
            let mut row = Coverage {
                mode: Mode::Snapshot,
                asked_to: Some(fetch_request.now),
                ..Coverage::new(&self.name, resource)
            };
            match answer {
                Ok(all) => {
                    let (found, broken) = decoded(&all, decode, &known, fetch_request);
                    row.rows = u64::try_from(found.len()).unwrap_or(u64::MAX);
                    row.got_to = Some(fetch_request.now);
                    if resource == SILENCES.0 {
                        row.retention_s = Some(RETENTION_S);
                    }
                    out.extend(found);
                    row.ended(Status::Complete, &coverage_notes(resource, broken))
                }
                Err(failure) => {
                    let why = format!("{failure}; {}", failure.hint());
                    row.ended(failure.status(), &[why]).lacking(shows)
                }
            }
        });
        out.sort_by_key(|event| (event.time, event.id));
        if !out.is_empty() {
            let boxed = out.into_iter().map(Box::new);
            sink.observe(boxed.map(Observation::Event).collect());
        }
        rows.into()
    }
}

type AlertDecoder = fn(&Value, &KnownEntities<'_>) -> Result<Vec<Event>, Rejection>;

fn coverage_notes(resource: &str, broken: Option<Rejection>) -> Vec<String> {
    let own = (resource == ALERTS.0)
        .then(|| "only what fires now: its past is in Prometheus, in the metric ALERTS".to_owned());
    let broken = broken.map(|why| format!("some could not be parsed: {why}"));
    own.into_iter().chain(broken).collect()
}

/// Those of a list that are about what was asked and near it in time.
fn decoded(
    all: &[Value],
    decode: AlertDecoder,
    known: &KnownEntities<'_>,
    fetch_request: &FetchRequest,
) -> (Vec<Event>, Option<Rejection>) {
    let (mut found, mut broken) = (Vec::new(), None);
    for one in all {
        match decode(one, known) {
            Ok(events) => found.extend(events),
            Err(why) => broken = broken.or(Some(why)),
        }
    }
    let from = fetch_request
        .window
        .from
        .map(|from| from.saturating_sub(MARGIN));
    let to = fetch_request.window.to.map(|to| to.saturating_add(MARGIN));
    found.retain(|event: &Event| {
        let named = event.entities.node.is_some() || event.entities.pod.is_some();
        let after = from.is_none_or(|from| event.end.is_none_or(|end| end.hi >= from));
        named && after && to.is_none_or(|to| event.time.lo <= to)
    });
    (found, broken)
}

impl Connector for Alertmanager {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Alertmanager
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(async move {
            let mut health = Health {
                source: self.name.clone(),
                place: self.place.clone(),
                ..Health::default()
            };
            let start = Instant::now();
            let answer = self
                .client
                .send(&Request::get("api/v2/status"), deadline)
                .await;
            let read = |answer: Answer| {
                let took = Nanos::try_from(start.elapsed().as_nanos()).unwrap_or(Nanos::MAX);
                let skew = answer.date().map(|date| Skew {
                    by: date + SECOND / 2 - (now + took / 2),
                    within: SECOND / 2 + took / 2,
                });
                answer.json::<Value>().map(|status| (status, skew))
            };
            match answer.and_then(read) {
                Ok((status, skew)) => {
                    let version = status["versionInfo"]["version"].as_str();
                    health.version = version.map(str::to_owned);
                    health.skew = skew;
                }
                Err(failure) => {
                    health.unreachable = Some(format!("{failure}; {}", failure.hint()));
                }
            }
            health
        })
    }

    fn fetch<'a>(
        &'a self,
        fetch_request: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(self.read(fetch_request, sink))
    }
}
