//! Loki as a log store.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use futures::future::BoxFuture;

use super::check;
use super::client::{LokiClient, MINUTE};
use super::events;
use super::logql::Query;
use super::options::LokiOptions;
use super::plan::{Plan, Schema, plan};
use super::read::{LearnedLimits, ReadRequest, ReadResult, in_order, read};
use super::refusal::{Remedy, remedy};
use crate::connector::Health;
use crate::coverage::{Coverage, Status};
use crate::event::SourceKind;
use crate::http::{Client, HttpError};
use crate::log_store::{
    Counts, LabelNames, Limits, LineFilter, LineQuery, LineSubject, LinesRead, LogStore, Minute,
    Span, StoredLine,
};
use crate::sink::Sink;
use crate::time::{Nanos, rfc3339};

/// Windows are widened to this when it is asked what is there.
const GRID: Nanos = 60 * MINUTE;

/// Windows that are remembered; some for each pod of a large run.
const REMEMBERED: usize = 4_096;

/// Points of a metric query, below Loki's 11,000.
const POINTS: i64 = 10_000;

/// Kubernetes Events are read up to this many.
const EVENTS: usize = 20_000;

/// A Loki.
pub struct Loki {
    pub(super) options: LokiOptions,
    pub(super) wire: LokiClient,
    place: String,
    learned: LearnedLimits,
    schemas: Mutex<BTreeMap<Span, Arc<Schema>>>,
    streams: Mutex<BTreeMap<(Span, String), bool>>,
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

    /// Which labels streams have in a stretch of time. Asked once for each hour's grid.
    pub(super) async fn schema(
        &self,
        span: Span,
        deadline: Instant,
    ) -> Result<Arc<Schema>, HttpError> {
        let around = grid(span);
        if let Some(known) = lock(&self.schemas).get(&around) {
            return Ok(Arc::clone(known));
        }
        let mut labels = BTreeSet::new();
        for piece in self.ends(around, deadline).await? {
            labels.extend(piece);
        }
        let schema = Arc::new(Schema { labels });
        let mut schemas = lock(&self.schemas);
        if schemas.len() >= REMEMBERED {
            schemas.clear();
        }
        schemas.insert(around, Arc::clone(&schema));
        Ok(schema)
    }

    /// Labels of a window, or of both its ends where it is longer than Loki allows.
    async fn ends(
        &self,
        span: Span,
        deadline: Instant,
    ) -> Result<Vec<BTreeSet<String>>, HttpError> {
        match self.wire.labels(span, deadline).await {
            Ok((labels, _)) => Ok(vec![labels]),
            Err(failure) => match remedy(&failure) {
                Remedy::Length(most) if most < span.length() => {
                    self.learned.learn(&Remedy::Length(most));
                    let mut all = Vec::new();
                    for (from, to) in [
                        (span.from, span.from.saturating_add(most)),
                        (span.to.saturating_sub(most), span.to),
                    ] {
                        all.push(self.wire.labels(Span { from, to }, deadline).await?.0);
                    }
                    Ok(all)
                }
                // Gateways that let queries through and nothing else.
                _ if matches!(failure.code(), Some(403..=405)) => {
                    let usual = ["namespace", "pod", "container", "node_name", "job", "app"];
                    Ok(vec![usual.map(str::to_owned).into()])
                }
                _ => Err(failure),
            },
        }
    }

    /// Whether there are streams that a query would look at; "yes" where Loki
    /// cannot say.
    async fn has_streams(&self, query: &Query, span: Span, deadline: Instant) -> bool {
        let key = (grid(span), self.learned.dress(query).selector());
        if let Some(known) = lock(&self.streams).get(&key) {
            return *known;
        }
        let Ok(found) = self.wire.series(&key.1, key.0, deadline).await else {
            return true;
        };
        let mut streams = lock(&self.streams);
        if streams.len() >= REMEMBERED {
            streams.clear();
        }
        streams.insert(key, !found.is_empty());
        !found.is_empty()
    }

    async fn read_plan(&self, plan: &Plan, query: &LineQuery, deadline: Instant) -> ReadResult {
        let text = match query.only {
            LineFilter::All => plan.query.clone(),
            LineFilter::Telling => plan.evidence(query.about.evidence()),
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

    async fn count(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
    ) -> Result<Option<Counts>, HttpError> {
        let Some(span) = sound(span) else {
            return Ok(Some(Counts::default()));
        };
        let schema = self.schema(span, deadline).await?;
        let tiers = plan(about, &self.options.names, &schema);
        // Lines that hold a name are counted by reading them, at its price.
        let tiers = tiers
            .iter()
            .filter(|tier| tier.iter().all(|plan| plan.note.is_none()));
        let mut requested = false;
        let mut all: BTreeMap<Nanos, u64> = BTreeMap::new();
        let mut partial = BTreeSet::new();
        for tier in tiers {
            requested = true;
            for plan in tier {
                if plan.looks_at_all && !self.has_streams(&plan.query, span, deadline).await {
                    continue;
                }
                self.count_plan(&plan.query, span, deadline, &mut all, &mut partial)
                    .await?;
            }
            if !all.is_empty() {
                break;
            }
        }
        Ok(requested.then(|| Counts {
            minutes: all
                .into_iter()
                .map(|(at, lines)| Minute { at, lines })
                .collect(),
            partial: partial.into_iter().collect(),
        }))
    }

    async fn count_plan(
        &self,
        query: &Query,
        span: Span,
        deadline: Instant,
        all: &mut BTreeMap<Nanos, u64>,
        partial: &mut BTreeSet<String>,
    ) -> Result<(), HttpError> {
        let end = up(span.to, MINUTE);
        let mut from = down(span.from, MINUTE);
        let mut width = POINTS * MINUTE;
        while from < end {
            let to = from.saturating_add(width).min(end);
            let text = self.learned.dress(query).to_string();
            let window = Span { from, to };
            match self.wire.minutes(&text, window, deadline).await {
                Ok((minutes, warnings)) => {
                    for minute in minutes.into_iter().filter(|one| one.lines > 0) {
                        *all.entry(minute.at).or_default() += minute.lines;
                    }
                    partial.extend(warnings.iter().map(|text| format!("Loki warns: {text}")));
                    from = to;
                }
                Err(failure) => {
                    let said = remedy(&failure);
                    let length = to - from;
                    width = match &said {
                        Remedy::Length(most) if *most < length => down(*most, MINUTE),
                        Remedy::Less if length > GRID => down(length / 2, MINUTE),
                        Remedy::Labels(names)
                            if names
                                .iter()
                                .any(|name| !self.learned.dress(query).names(name)) =>
                        {
                            width
                        }
                        _ => return Err(failure),
                    };
                    self.learned.learn(&said);
                    if width == 0 || Instant::now() >= deadline {
                        return Err(failure);
                    }
                }
            }
        }
        Ok(())
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

    async fn read_events(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
        sink: &mut (dyn Sink + Send),
    ) -> Option<Coverage> {
        let span = sound(span)?;
        let mut row = Coverage {
            asked_from: Some(span.from),
            asked_to: Some(span.to),
            ..Coverage::new(&self.options.name, "events")
        };
        let schema = match self.schema(span, deadline).await {
            Ok(schema) => schema,
            Err(failure) => return Some(failed(row, &failure)),
        };
        let mut lines = Vec::new();
        let (mut partial, mut failure) = (BTreeSet::new(), None);
        let mut requested = false;
        for query in events::queries(about, &schema) {
            if !self.has_streams(&query, span, deadline).await {
                continue;
            }
            requested = true;
            let read = read(&ReadRequest {
                wire: &self.wire,
                learned: &self.learned,
                query: &query,
                span,
                newest: false,
                enough: EVENTS,
                slice: Some(self.options.slice),
                deadline,
                keep: &|_| true,
            })
            .await;
            if read.lines.len() >= EVENTS {
                partial.insert(format!("only the first {EVENTS} Events were read"));
            }
            lines.extend(read.lines);
            partial.extend(read.partial);
            failure = failure.or(read.failure);
        }
        if !requested {
            return None;
        }
        if let Some(failure) = failure.filter(|_| lines.is_empty()) {
            return Some(failed(row, &failure));
        }
        lines.sort_by(in_order);
        let mut emitted = Vec::new();
        let place: Arc<str> = self.place.as_str().into();
        let none = events::emit(&lines, &self.options.names, &place, &mut emitted);
        row.rows = emitted.len() as u64;
        (row.got_from, row.got_to) = (row.asked_from, row.asked_to);
        if !partial.is_empty() {
            row.status = Status::Truncated;
        }
        if none > 0 {
            partial.insert(format!("{none} lines are not Events in a known format"));
        }
        let detail: Vec<String> = partial.into_iter().collect();
        row.detail = (!detail.is_empty()).then(|| detail.join("; "));
        if !emitted.is_empty() {
            sink.observe(emitted);
        }
        Some(row)
    }
}

fn failed(row: Coverage, failure: &HttpError) -> Coverage {
    Coverage {
        status: failure.status(),
        detail: Some(format!("{failure}; {}", failure.hint())),
        would_have_shown: Some("Kubernetes Events that an agent sent there".to_owned()),
        ..row
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

/// Within the times that Loki knows.
fn sound(span: Span) -> Option<Span> {
    span.cut(Span {
        from: 0,
        to: Nanos::MAX - 2 * GRID,
    })
}

fn grid(span: Span) -> Span {
    Span {
        from: down(span.from, GRID),
        to: up(span.to, GRID),
    }
}

fn down(at: Nanos, step: Nanos) -> Nanos {
    at.div_euclid(step) * step
}

fn up(at: Nanos, step: Nanos) -> Nanos {
    down(at.saturating_add(step - 1), step)
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
