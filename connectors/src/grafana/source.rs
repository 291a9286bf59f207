//! Grafana as a source of a question.

use std::collections::BTreeSet;
use std::time::Instant;

use futures::future::BoxFuture;
use serde_json::Value;

use super::decode::{annotation, place};
use super::options::GrafanaOptions;
use crate::connector::{Connector, FetchRequest, Health, Permission, Skew, Verdict};
use crate::coverage::{Coverage, Status};
use crate::event::{Origin, SourceKind};
use crate::http::{Client, HttpError, Request};
use crate::log_store::Span;
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::{Nanos, SECOND};

const SHOWS: &str = "deployments, maintenance and notes recorded by people and tools";

/// What was noted shortly before and after belongs to the story.
const MARGIN: Nanos = 3_600 * SECOND;

/// Where no time is known, the last day is looked at.
const DAY: Nanos = 86_400 * SECOND;

/// Annotations of one page, and pages of one question.
const PAGE: usize = 1_000;
const PAGES: usize = 20;

/// A Grafana, to be asked.
#[derive(Debug)]
pub struct Grafana {
    name: String,
    place: String,
    client: Client,
    page: usize,
}

/// What came of paging.
#[derive(Default)]
struct PagedAnnotations {
    all: Vec<Value>,
    stop: Option<(Status, String)>,
    /// The time up to which nothing is missing, backwards.
    reached: Option<i64>,
}

impl PagedAnnotations {
    /// Takes those of a page that are new.
    fn take(&mut self, page: Vec<Value>, known: &mut BTreeSet<(i64, i64)>) {
        for one in page {
            if place(&one).is_some_and(|place| known.insert(place)) {
                self.all.push(one);
            }
        }
    }

    /// What there is when a request failed.
    fn stopped(mut self, failure: &HttpError) -> Self {
        let status = match self.all.is_empty() {
            true => failure.status(),
            false => Status::Truncated,
        };
        self.stop = Some((status, format!("{failure}; {}", failure.hint())));
        self
    }
}

impl Grafana {
    /// Prepares to ask; asks nothing yet.
    ///
    /// # Errors
    /// Says which option is missing or does not make sense.
    pub fn new(options: &GrafanaOptions) -> Result<Self, HttpError> {
        let client = Client::new(options.http()?)?;
        Ok(Self {
            name: options.name.clone(),
            place: client.address(),
            client,
            page: PAGE,
        })
    }

    /// The same with smaller pages.
    #[cfg(test)]
    pub(super) fn with_pages_of(mut self, page: usize) -> Self {
        self.page = page;
        self
    }

    async fn one(
        &self,
        (from, to): (i64, i64),
        limit: usize,
        deadline: Instant,
    ) -> Result<(Vec<Value>, Option<Nanos>), HttpError> {
        let request = Request::get("api/annotations")
            .query("from", from.to_string())
            .query("to", to.to_string())
            .query("limit", limit.to_string());
        let answer = self.client.send(&request, deadline).await?;
        Ok((answer.json()?, answer.date()))
    }

    /// There is no cursor: the next page ends where this one begins.
    async fn list(&self, span: Span, deadline: Instant) -> PagedAnnotations {
        let millis = |at: Nanos| at.div_euclid(1_000_000);
        let (from, mut to) = (millis(span.from), millis(span.to));
        let mut found = PagedAnnotations::default();
        let mut known: BTreeSet<(i64, i64)> = BTreeSet::new();
        for _ in 0..PAGES {
            let page = match self.one((from, to), self.page, deadline).await {
                Ok((page, _)) => page,
                Err(failure) => return found.stopped(&failure),
            };
            let full = page.len() >= self.page;
            let oldest = page.iter().filter_map(place).map(|(time, _)| time).min();
            let mut times = page.iter().filter_map(place).map(|(time, _)| time);
            let is_one_moment = times.all(|time| Some(time) == oldest);
            found.take(page, &mut known);
            found.reached = oldest.or(found.reached);
            let Some(oldest) = oldest.filter(|_| full) else {
                found.reached = None;
                return found;
            };
            to = oldest;
            // A page full of one moment has no next page: all of that moment is asked for at once.
            if is_one_moment {
                let most = self.page.saturating_mul(PAGES);
                let page = match self.one((oldest, oldest), most, deadline).await {
                    Ok((page, _)) => page,
                    Err(failure) => return found.stopped(&failure),
                };
                if page.len() >= most {
                    let words = format!(
                        "of more than {most} annotations at one time, the others were not obtained"
                    );
                    found.stop = Some((Status::Truncated, words));
                }
                found.take(page, &mut known);
                to = oldest - 1;
            }
            if to < from {
                found.reached = None;
                return found;
            }
        }
        let words = format!("only the last {} annotations were read", found.all.len());
        found.stop = Some((Status::Truncated, words));
        found
    }

    async fn read(
        &self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        let to = fetch_request
            .window
            .to
            .unwrap_or(fetch_request.now)
            .saturating_add(MARGIN)
            .min(fetch_request.now);
        let from = fetch_request.window.from.unwrap_or(to.saturating_sub(DAY));
        let span = Span {
            from: from.saturating_sub(MARGIN).min(to),
            to,
        };
        let found = self.list(span, fetch_request.deadline).await;
        let origin = Origin {
            file: self.name.as_str().into(),
            line: 0,
        };
        let (mut out, mut broken) = (Vec::new(), None);
        for one in &found.all {
            match annotation(one, Some(&fetch_request.scope), &origin) {
                Ok(events) => out.extend(events),
                Err(why) => broken = broken.or(Some(why)),
            }
        }
        // States of alerts that name nobody here are others'.
        out.retain(|event| {
            let names = &event.entities;
            event.reason.is_none()
                || names.node.is_some()
                || names.pod.is_some()
                || names.workload.is_some()
        });
        out.sort_by_key(|event| (event.time, event.id));
        let mut parts: Vec<String> = found.stop.iter().map(|(_, words)| words.clone()).collect();
        parts.extend(broken.map(|why| format!("some could not be parsed: {why}")));
        let status = found
            .stop
            .as_ref()
            .map_or(Status::Complete, |(status, _)| *status);
        let got_from = match (status, found.reached) {
            (Status::Complete, _) => Some(span.from),
            (Status::Truncated, Some(reached)) => reached.checked_mul(1_000_000),
            _ => None,
        };
        let row = Coverage {
            rows: u64::try_from(out.len()).unwrap_or(u64::MAX),
            ..Coverage::new(&self.name, "annotations")
        };
        let row = row
            .asked(Some((span.from, span.to)))
            .got(got_from.map(|from| (from, span.to)))
            .ended(status, &parts)
            .lacking(SHOWS);
        if !out.is_empty() {
            for event in &mut out {
                event.observed = Some(fetch_request.now);
            }
            let boxed = out.into_iter().map(Box::new);
            sink.observe(boxed.map(Observation::Event).collect());
        }
        vec![row]
    }
}

impl Connector for Grafana {
    fn name(&self) -> &str {
        &self.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Grafana
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(async move {
            let mut health = Health {
                source: self.name.clone(),
                place: self.place.clone(),
                ..Health::default()
            };
            let start = Instant::now();
            let millis = now.div_euclid(1_000_000);
            let found = self
                .one((millis - 86_400_000, millis), self.page, deadline)
                .await;
            let took = Nanos::try_from(start.elapsed().as_nanos()).unwrap_or(Nanos::MAX);
            let denied = found.as_ref().err().is_some_and(HttpError::is_denied);
            health.permissions.push(Permission {
                what: "annotations:read".to_owned(),
                verdict: match &found {
                    Ok(_) => Verdict::Allowed,
                    Err(_) if denied => Verdict::Denied,
                    Err(_) => Verdict::Unknown,
                },
                shows: SHOWS.to_owned(),
                detail: found
                    .as_ref()
                    .err()
                    .map(|failure| format!("{failure}; {}", failure.hint())),
            });
            match found {
                Ok((_, date)) => {
                    health.skew = date.map(|date| Skew {
                        by: date + SECOND / 2 - (now + took / 2),
                        within: SECOND / 2 + took / 2,
                    });
                }
                Err(failure) => {
                    health.unreachable = Some(format!("{failure}; {}", failure.hint()));
                }
            }
            let status = self
                .client
                .send(&Request::get("api/health"), deadline)
                .await;
            let status = status.and_then(|answer| answer.json::<Value>());
            let status = status.unwrap_or_default();
            health.version = status["version"].as_str().map(str::to_owned);
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
