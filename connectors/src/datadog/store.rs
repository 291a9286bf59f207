//! Datadog as a log store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::answer::partial;
use super::check;
use super::client::{Api, COUNT, EVENTS, Filter, LOGS};
use super::decode::{Line, moment};
use super::event::DatadogEvent;
use super::options::{DatadogOptions, Tier};
use super::page::{MAX_PAGE, MILLI, Search, SearchResult};
use super::query;
use crate::connector::Health;
use crate::coverage::{Coverage, Status, Tally};
use crate::event::{Origin, SourceKind};
use crate::http::HttpError;
use crate::log_store::{
    Counts, LabelNames, Limits, LineFilter, LineQuery, LineSubject, LinesRead, LogStore, Minute,
    Span, StoredLine,
};
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::{Nanos, SECOND};

/// Lines were seen to take half of this until they were found.
const LAG: Nanos = 60 * SECOND;

const MINUTE: Nanos = 60 * SECOND;

/// Minutes that one count is asked for.
const MINUTES_AT_ONCE: Nanos = 1440;

/// Counts of longer stretches cost too many requests.
const MAX_MINUTES: Nanos = 3 * MINUTES_AT_ONCE;

/// Events of one question.
const MAX_EVENTS: usize = 5_000;

/// What is missing where events are.
const WOULD_HAVE_SHOWN: &str = "Kubernetes Events that the cluster agent sent, deployments, alerts";

/// Why a Kubernetes Event that is not there may have been.
const FILTERED: &str = "unless configured otherwise Datadog's agent sends few reasons (of pods Failed, BackOff, Unhealthy, FailedScheduling, FailedMount, FailedAttachVolume; of nodes TerminatingEvictedPod, NodeNotReady, Rebooted, HostPortConflict): the absence of others, such as Evicted, Preempted or Killing, proves nothing";

/// Datadog, to be asked.
#[derive(Debug)]
pub struct Datadog {
    pub(super) options: DatadogOptions,
    pub(super) api: Api,
    place: String,
    /// Tiers that nobody asked for by name and that the account turned out not to have.
    missing: Mutex<BTreeSet<Tier>>,
}

impl Datadog {
    /// Prepares to ask; asks nothing yet.
    ///
    /// # Errors
    /// For keys that are missing and options that do not make sense.
    pub fn new(options: DatadogOptions) -> Result<Self, HttpError> {
        let api = Api::new(&options)?;
        Ok(Self {
            place: api.address(),
            options,
            api,
            missing: Mutex::default(),
        })
    }

    /// The tiers to ask, and whether each was asked for by name.
    pub(super) fn tiers(&self) -> Vec<(Tier, bool)> {
        let missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
        let mut tiers = self.options.tiers();
        tiers.retain(|(tier, _)| !missing.contains(tier));
        tiers
    }

    pub(super) fn search<'a>(
        &'a self,
        query: &'a str,
        tier: Option<Tier>,
        span: Span,
    ) -> Search<'a> {
        Search {
            endpoint: if tier.is_some() { LOGS } else { EVENTS },
            filter: Filter {
                query,
                from: span.from.div_euclid(MILLI),
                to: span.to.div_euclid(MILLI) + Nanos::from(span.to.rem_euclid(MILLI) > 0),
                tier,
                indexes: &self.options.indexes,
            },
            span,
            newest: false,
            limit: 0,
            page: self.options.page.clamp(1, MAX_PAGE),
        }
    }

    /// Notes what one tier gave. Whether the others are worth asking.
    fn judge(
        &self,
        tier: Tier,
        named: bool,
        failure: Option<HttpError>,
        sum: &mut AnswerSummary,
    ) -> bool {
        let Some(failure) = failure else {
            sum.answered = true;
            return true;
        };
        let refused = matches!(failure.code(), Some(400 | 403 | 404 | 422));
        if !named && refused && sum.answered {
            let mut missing = self.missing.lock().unwrap_or_else(PoisonError::into_inner);
            missing.insert(tier);
            return true;
        }
        sum.say(format!("{}: {failure}; {}", tier.as_str(), failure.hint()));
        let hopeless = failure.is_denied() || matches!(failure, HttpError::BudgetSpent(_));
        sum.failure.get_or_insert(failure);
        !hopeless || sum.answered
    }

    async fn read(&self, query: &LineQuery, deadline: Instant) -> Result<LinesRead, HttpError> {
        if query.limit == 0 || query.span.from >= query.span.to {
            return Ok(LinesRead::default());
        }
        let mut left = self.options.requests_per_question;
        let mut lines: BTreeMap<(Nanos, String), StoredLine> = BTreeMap::new();
        let mut sum = AnswerSummary::default();
        let mut cut = false;
        'asking: for question in query::logs(&query.about, query.only, &self.options) {
            for (tier, named) in self.tiers() {
                let search = Search {
                    newest: query.newest,
                    limit: query.limit,
                    ..self.search(&question, Some(tier), query.span)
                };
                let found: SearchResult<Line> = search.run(&self.api, &mut left, deadline).await;
                sum.date = sum.date.or(found.date);
                cut |= found.items.len() > query.limit;
                // What was read before the trouble is an answer, if not a whole one.
                sum.answered |= !found.items.is_empty();
                lines.extend(found.items.into_iter().map(|(key, line)| (key, line.0)));
                for words in found.partial {
                    sum.say(format!("{}: {words}", tier.as_str()));
                }
                if !self.judge(tier, named, found.failure, &mut sum) {
                    break 'asking;
                }
            }
        }
        sum.lag(query.span);
        let partial = sum.finish()?;
        cut |= lines.len() > query.limit;
        while lines.len() > query.limit {
            if query.newest {
                lines.pop_first();
            } else {
                lines.pop_last();
            }
        }
        Ok(LinesRead {
            lines: lines.into_values().collect(),
            cut,
            partial,
        })
    }

    async fn count(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
    ) -> Result<Option<Counts>, HttpError> {
        let first = span.from.div_euclid(MINUTE) * MINUTE;
        let questions = query::logs(about, LineFilter::All, &self.options);
        if span.from >= span.to || questions.is_empty() {
            return Ok(Some(Counts::default()));
        }
        let minutes = (span.to - first).div_euclid(MINUTE) + 1;
        let days = minutes.div_euclid(MINUTES_AT_ONCE) + 1;
        let cost = u64::try_from(days).unwrap_or(u64::MAX) * (questions.len() as u64);
        if minutes > MAX_MINUTES || cost > self.options.requests_per_question / 2 {
            return Ok(None);
        }
        let mut all: BTreeMap<Nanos, u64> = BTreeMap::new();
        let mut sum = AnswerSummary::default();
        'asking: for question in questions {
            // A line that is in two tiers is one line.
            let mut most: BTreeMap<Nanos, u64> = BTreeMap::new();
            for (tier, named) in self.tiers() {
                let mut counted = BTreeMap::new();
                let mut failure = None;
                let mut from = span.from;
                while from < span.to && failure.is_none() {
                    let to = span.to.min(from.saturating_add(MINUTES_AT_ONCE * MINUTE));
                    let filter = self.search(&question, Some(tier), Span { from, to }).filter;
                    let requested = self.minutes(&filter, &mut counted, &mut sum, deadline);
                    failure = requested.await.err();
                    from = to;
                }
                for (minute, lines) in counted {
                    let known = most.entry(minute).or_default();
                    *known = lines.max(*known);
                }
                if !self.judge(tier, named, failure, &mut sum) {
                    break 'asking;
                }
            }
            for (minute, lines) in most {
                *all.entry(minute).or_default() += lines;
            }
        }
        sum.lag(span);
        let partial = sum.finish()?;
        let minutes = all.into_iter().map(|(at, lines)| Minute { at, lines });
        Ok(Some(Counts {
            minutes: minutes.collect(),
            partial,
        }))
    }

    /// Counts the lines of one tier by minute.
    async fn minutes(
        &self,
        filter: &Filter<'_>,
        counted: &mut BTreeMap<Nanos, u64>,
        sum: &mut AnswerSummary,
        deadline: Instant,
    ) -> Result<(), HttpError> {
        let body = json!({
            "filter": filter.json(),
            "compute": [{ "aggregation": "count", "type": "timeseries", "interval": "1m" }],
        });
        let answer = self.api.post(COUNT, &body, deadline).await?;
        let value: Value = answer.json()?;
        sum.date = sum.date.or(answer.date());
        for words in partial(&value["meta"]) {
            sum.say(words);
        }
        let buckets = value.pointer("/data/buckets").and_then(Value::as_array);
        let buckets = buckets.ok_or_else(|| {
            HttpError::Garbage(
                "a JSON document without buckets, which is not a count response".to_owned(),
            )
        })?;
        let points = buckets
            .iter()
            .filter_map(|bucket| bucket.pointer("/computes/c0")?.as_array());
        for point in points.flatten() {
            let at = point.get("time").and_then(moment);
            let lines = point.get("value").and_then(Value::as_f64);
            let (Some(at), Some(lines)) = (at, lines) else {
                sum.say("a count of Datadog could not be read".to_owned());
                continue;
            };
            let minute = at.lo.div_euclid(MINUTE) * MINUTE;
            // Counts are whole, and far below what this cannot hold.
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "see above"
            )]
            let lines = lines.max(0.0) as u64;
            if lines > 0 {
                *counted.entry(minute).or_default() += lines;
            }
        }
        Ok(())
    }

    async fn any(&self, span: Span, deadline: Instant) -> Result<bool, HttpError> {
        let mut sum = AnswerSummary::default();
        for (tier, named) in self.tiers() {
            let mut left = 1;
            let search = self.search("*", Some(tier), span);
            let found: SearchResult<Line> = search.run(&self.api, &mut left, deadline).await;
            if !found.items.is_empty() {
                return Ok(true);
            }
            if !self.judge(tier, named, found.failure, &mut sum) {
                break;
            }
        }
        sum.finish().map(|_| false)
    }

    async fn events(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        let questions = query::events(about, &self.options);
        if questions.is_empty() || span.from >= span.to {
            return Vec::new();
        }
        let mut left = self.options.requests_per_question;
        let mut items: BTreeMap<(Nanos, String), DatadogEvent> = BTreeMap::new();
        let mut sum = AnswerSummary::default();
        let mut cut = false;
        for question in &questions {
            let search = Search {
                limit: MAX_EVENTS,
                ..self.search(question, None, span)
            };
            let found: SearchResult<DatadogEvent> =
                search.run(&self.api, &mut left, deadline).await;
            sum.date = sum.date.or(found.date);
            cut |= found.items.len() > MAX_EVENTS;
            sum.answered |= !found.items.is_empty() || found.failure.is_none();
            items.extend(found.items);
            for words in found.partial {
                sum.say(words);
            }
            if let Some(failure) = found.failure {
                sum.say(format!("{failure}; {}", failure.hint()));
                sum.failure.get_or_insert(failure);
                break;
            }
        }
        sum.lag(span);
        let origin = Origin {
            file: self.place.as_str().into(),
            line: 0,
        };
        let facts: Vec<Observation> = items
            .values()
            .flat_map(|emitted| emitted.facts(&origin, sum.date))
            .map(|fact| Observation::Event(Box::new(fact)))
            .collect();
        let row = Coverage {
            rows: facts.len() as u64,
            ..Coverage::new(&self.options.name, "events")
        };
        if !facts.is_empty() {
            sink.observe(facts);
        }
        if cut {
            sum.say(format!("only the first {MAX_EVENTS} events were read"));
        }
        let mut details = std::mem::take(&mut sum.partial);
        let mut came = Tally::of(sum.answered);
        if let Some(failure) = &sum.failure {
            came.failed(failure.status(), failure.to_string());
        }
        // Complete would mean that what is absent did not happen.
        let status = came.status(if cut {
            Status::Truncated
        } else {
            Status::Sampled
        });
        let asked = Some((span.from, span.to));
        let row = match &sum.failure {
            Some(failure) if !sum.answered => {
                if failure.is_denied() {
                    details.push("the application key needs the permission events_read".to_owned());
                }
                row.ended(status, &details).lacking(WOULD_HAVE_SHOWN)
            }
            failure => {
                details.push(FILTERED.to_owned());
                let row = row.got(asked).ended(status, &details);
                if cut || failure.is_some() {
                    row.lacking(WOULD_HAVE_SHOWN)
                } else {
                    row
                }
            }
        };
        vec![row.asked(asked)]
    }
}

/// What the parts of one answer come to.
#[derive(Debug, Default)]
struct AnswerSummary {
    partial: Vec<String>,
    /// The first trouble.
    failure: Option<HttpError>,
    /// Some tier answered.
    answered: bool,
    /// The server's time.
    date: Option<Nanos>,
}

impl AnswerSummary {
    fn say(&mut self, words: String) {
        if !self.partial.contains(&words) {
            self.partial.push(words);
        }
    }

    /// Says so where what was asked for may not have been indexed yet.
    fn lag(&mut self, span: Span) {
        if self.date.is_some_and(|date| span.to > date - LAG) {
            self.say(format!(
                "the last {} s may be incomplete: Datadog finds records only a while after they were sent",
                LAG / SECOND
            ));
        }
    }

    /// The words, unless nothing was answered at all.
    fn finish(self) -> Result<Vec<String>, HttpError> {
        match self.failure {
            Some(failure) if !self.answered => Err(failure),
            _ => Ok(self.partial),
        }
    }
}

impl LogStore for Datadog {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Datadog
    }

    fn limits(&self) -> Limits {
        Limits {
            pods_at_once: 50,
            questions_at_once: 2,
            metered: true,
            lag: LAG,
        }
    }

    fn names(&self) -> &LabelNames {
        &self.options.names
    }

    fn requests(&self) -> u64 {
        self.api.sent()
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(check::check(self, now, deadline))
    }

    fn lines<'a>(
        &'a self,
        query: &'a LineQuery,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<LinesRead, HttpError>> {
        Box::pin(self.read(query, deadline))
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
        Box::pin(self.any(span, deadline))
    }

    fn others<'a>(
        &'a self,
        about: &'a LineSubject,
        span: Span,
        deadline: Instant,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        Box::pin(self.events(about, span, deadline, sink))
    }
}
