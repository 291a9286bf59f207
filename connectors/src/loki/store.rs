//! Loki as a log store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::future::BoxFuture;

use super::check;
use super::client::LokiClient;
use super::logql::Query;
use super::options::LokiOptions;
use super::plan::{Plan, Schema, plan};
use super::read::{LearnedLimits, ReadRequest, ReadResult, in_order, read};
use super::window::sound;
use crate::connector::Health;
use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::http::{Client, HttpError};
use crate::log_store::{
    Counts, LabelNames, Limits, LineFilter, LineQuery, LineSubject, LinesRead, LogStore, Span,
    StoredLine,
};
use crate::sink::Sink;
use crate::time::{Nanos, rfc3339};

/// A Loki.
pub struct Loki {
    pub(super) options: LokiOptions,
    pub(super) wire: LokiClient,
    pub(super) place: String,
    pub(super) learned: LearnedLimits,
    pub(super) schemas: Mutex<BTreeMap<Span, Arc<Schema>>>,
    pub(super) streams: Mutex<BTreeMap<(Span, String), bool>>,
    /// How far back `check` found anything.
    pub(super) reaches_back_to: Mutex<Option<Nanos>>,
}

impl fmt::Debug for Loki {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Loki")
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl Loki {
    /// Prepares to ask a Loki; asks nothing yet.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub fn new(options: LokiOptions) -> Result<Self, HttpError> {
        let wire = LokiClient::new(Client::new(options.http()?)?);
        let place = match options.tenant() {
            Some(tenant) => format!("{} ({tenant})", wire.address()),
            None => wire.address(),
        };
        Ok(Self {
            place,
            learned: LearnedLimits::new(options.page),
            wire,
            options,
            schemas: Mutex::default(),
            streams: Mutex::default(),
            reaches_back_to: Mutex::default(),
        })
    }

    async fn read_plan(&self, plan: &Plan, query: &LineQuery, deadline: Instant) -> ReadResult {
        let text = match query.only {
            LineFilter::All => plan.query.clone(),
            LineFilter::Significant => plan.evidence(&query.about.evidence()),
        };
        let names = &self.options.names;
        read(&ReadRequest {
            wire: &self.wire,
            learned: &self.learned,
            query: &text,
            span: query.span,
            newest: query.newest,
            // One more tells whether there are more.
            enough: query.limit.saturating_add(1),
            slice: Some(self.options.slice),
            deadline,
            keep: &|line| plan.keeps(names, line),
        })
        .await
    }

    async fn read_lines(
        &self,
        query: &LineQuery,
        deadline: Instant,
    ) -> Result<LinesRead, HttpError> {
        let mut got = LinesRead::default();
        let Some(query) = requested(query) else {
            return Ok(got);
        };
        let schema = self.schema(query.span, deadline).await?;
        let mut partial = BTreeSet::new();
        for tier in plan(&query.about, &self.options.names, &schema) {
            let (mut nothing, mut failure) = (true, None);
            for plan in &tier {
                if plan.looks_at_all && !self.has_streams(&plan.query, query.span, deadline).await {
                    continue;
                }
                let read = self.read_plan(plan, &query, deadline).await;
                nothing &= read.nothing;
                partial.extend(read.partial);
                if !read.lines.is_empty() {
                    partial.extend(plan.note.map(str::to_owned));
                }
                got.lines.extend(read.lines);
                failure = failure.or(read.failure);
            }
            if let Some(failure) = failure {
                if nothing && got.lines.is_empty() {
                    return Err(failure);
                }
                break;
            }
            if !got.lines.is_empty() {
                break;
            }
        }
        let back = *lock(&self.reaches_back_to);
        if let Some(back) = back.filter(|back| query.span.from < *back) {
            partial.insert(format!("Loki shows nothing from before {}", rfc3339(back)));
        }
        got.partial = partial.into_iter().collect();
        got.lines.sort_by(in_order);
        got.cut = cut(&mut got.lines, query.limit, query.newest);
        Ok(got)
    }

    /// The oldest or the newest line of anything in a stretch of time.
    pub(super) async fn any_line(
        &self,
        span: Span,
        newest: bool,
        deadline: Instant,
    ) -> Result<Option<StoredLine>, HttpError> {
        let Some(span) = sound(span) else {
            return Ok(None);
        };
        let schema = self.schema(span, deadline).await?;
        for everything in schema.everything() {
            let query = Query::of(everything);
            let read = read(&ReadRequest {
                wire: &self.wire,
                learned: &self.learned,
                query: &query,
                span,
                newest,
                enough: 1,
                // Loki stops at the first line itself.
                slice: None,
                deadline,
                keep: &|_| true,
            })
            .await;
            if let Some(line) = read.lines.into_iter().next() {
                return Ok(Some(line));
            }
            if let Some(failure) = read.failure {
                return Err(failure);
            }
        }
        Ok(None)
    }
}

/// Leaves the first lines, or the last; whether there were more.
fn cut(lines: &mut Vec<StoredLine>, limit: usize, newest: bool) -> bool {
    let over = lines.len().saturating_sub(limit);
    if newest {
        lines.drain(..over);
    } else {
        lines.truncate(limit);
    }
    over > 0
}

/// A question that can be asked.
fn requested(query: &LineQuery) -> Option<LineQuery> {
    let span = sound(query.span)?;
    (query.limit > 0).then(|| LineQuery {
        span,
        ..query.clone()
    })
}

pub(super) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl LogStore for Loki {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Loki
    }

    fn limits(&self) -> Limits {
        Limits {
            // With their names a query still fits an address of the web.
            pods_at_once: 40,
            questions_at_once: 2,
            metered: false,
            lag: self.options.lag,
        }
    }

    fn names(&self) -> &LabelNames {
        &self.options.names
    }

    fn requests(&self) -> u64 {
        self.wire.sent()
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(check::check(self, now, deadline))
    }

    fn lines<'a>(
        &'a self,
        query: &'a LineQuery,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<LinesRead, HttpError>> {
        Box::pin(self.read_lines(query, deadline))
    }

    fn counts<'a>(
        &'a self,
        about: &'a LineSubject,
        span: Span,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Option<Counts>, HttpError>> {
        Box::pin(self.count(about, span, deadline))
    }

    fn has_any(&self, span: Span, deadline: Instant) -> BoxFuture<'_, Result<bool, HttpError>> {
        Box::pin(async move { Ok(self.any_line(span, true, deadline).await?.is_some()) })
    }

    fn others<'a>(
        &'a self,
        about: &'a LineSubject,
        span: Span,
        deadline: Instant,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(async move {
            let row = self.read_events(about, span, deadline, sink).await;
            row.into_iter().collect()
        })
    }
}
