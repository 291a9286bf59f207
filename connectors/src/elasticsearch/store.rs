//! The log store.

use std::time::Instant;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::check;
use super::client::{SearchClient, SearchTarget};
use super::decode::DocumentDecoder;
use super::fields::Fields;
use super::options::ElasticsearchOptions;
use super::page::{self, Pages, Plan};
use super::query::{self, WordMatch};
use crate::aws_auth::AwsAccess;
use crate::connector::{Clock, Health};
use crate::event::SourceKind;
use crate::http::HttpError;
use crate::log_store::{
    Counts, LabelNames, Limits, LineFilter, LineQuery, LineSubject, LinesRead, LogStore, Minute,
    Span,
};
use crate::time::{Nanos, SECOND};

/// Minutes are counted in slices of this many days, since answers hold 65,536 at most.
const SLICE: Nanos = 30 * 24 * 3_600 * SECOND;

/// More slices than these are no longer a few requests.
const MOST_SLICES: i64 = 12;

/// An Elasticsearch or `OpenSearch`.
#[derive(Debug)]
pub struct Elasticsearch {
    wire: SearchClient,
    place: String,
}

impl Elasticsearch {
    /// Prepares to reach it; asks nothing but, where requests are signed for AWS,
    /// its profiles. `clock` tells the times of signatures.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub async fn open(mut options: ElasticsearchOptions, clock: Clock) -> Result<Self, HttpError> {
        if let Some(signing) = &options.signing {
            let access = AwsAccess::load(&signing.aws, clock).await;
            options.http.auth = access.signs_for(&signing.service)?;
        }
        let indices = options.indices.clone();
        let wire = SearchClient::new(options)?;
        let place = format!("{} {indices}", wire.address());
        Ok(Self { wire, place })
    }

    async fn read(
        &self,
        fetch_request: &LineQuery,
        deadline: Instant,
    ) -> Result<LinesRead, HttpError> {
        let fields = self.wire.fields(deadline).await?;
        if fields.indices == Some(0) {
            return Ok(LinesRead {
                partial: vec![self.wire.no_index()],
                ..LinesRead::default()
            });
        }
        let about = query::about(fields, &fetch_request.about)?;
        let words = [WordMatch::Within, WordMatch::Beginning];
        let mut tries = match fetch_request.only {
            LineFilter::All => vec![None],
            LineFilter::Significant => words.map(Some).to_vec(),
        }
        .into_iter()
        .peekable();
        while let Some(words) = tries.next() {
            let evidence = words
                .and_then(|words| query::evidence(fields, words, &fetch_request.about.evidence()));
            let plan = Plan {
                fields,
                query: [Some(about.clone()), evidence]
                    .into_iter()
                    .flatten()
                    .collect(),
                span: fetch_request.span,
                newest: fetch_request.newest,
                limit: fetch_request.limit,
            };
            match page::read(&self.wire, &plan, deadline).await {
                Ok(mut pages) => {
                    if words == Some(WordMatch::Beginning) {
                        pages.partial.insert(
                            "the server does not search within words: `error` does not find `RuntimeError`"
                                .to_owned(),
                        );
                    }
                    return Ok(self.got(pages, fetch_request, fields));
                }
                Err(failure) if failure.code() == Some(400) && tries.peek().is_some() => {}
                Err(failure) => return Err(failure),
            }
        }
        Ok(LinesRead::default())
    }

    fn got(&self, pages: Pages, fetch_request: &LineQuery, fields: &Fields) -> LinesRead {
        let options = &self.wire.options;
        let names = &options.names;
        let mut reading = DocumentDecoder::new(
            names,
            &options.message_fields,
            &fields.time,
            fields.resolution,
        );
        let mut partial = pages.partial;
        if fields.indices.is_none() {
            partial.insert(
                "no permission to look up fields (view_index_metadata); the usual ones were used"
                    .to_owned(),
            );
        }
        let mut lines = Vec::new();
        let mut unusable = std::collections::BTreeMap::new();
        for hit in &pages.hits {
            match reading.line(hit, 0) {
                Ok(line) => lines.push(line),
                Err(why) => *unusable.entry(why).or_insert(0_u64) += 1,
            }
        }
        for (why, count) in unusable {
            partial.insert(format!("{count} times {why}"));
        }
        lines.retain(|line| {
            fetch_request.span.holds(line.stamp.lo)
                && is_asked_for(&fetch_request.about, names, &line.labels)
        });
        lines.sort_by(|a, b| {
            (a.stamp, &a.labels, a.order, &a.id).cmp(&(b.stamp, &b.labels, b.order, &b.id))
        });
        LinesRead {
            lines,
            cut: pages.cut,
            partial: partial.into_iter().collect(),
        }
    }

    async fn count(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
    ) -> Result<Option<Counts>, HttpError> {
        if span.length() / SLICE >= MOST_SLICES {
            return Ok(None);
        }
        let fields = self.wire.fields(deadline).await?;
        let about = query::about(fields, about)?;
        let mut counts = Counts::default();
        let mut from = span.from;
        while from < span.to {
            let to = (from / SLICE + 1).saturating_mul(SLICE).min(span.to);
            let slice = Span { from, to };
            let body = json!({
                "size": 0,
                "track_total_hits": false,
                "query": query::all(&[about.clone(), query::within(fields, slice)]),
                "aggs": { "minutes": { "date_histogram": {
                    "field": fields.time, "fixed_interval": "1m", "min_doc_count": 1,
                } } },
            });
            let answer = self
                .wire
                .search(&SearchTarget::Live, body, true, deadline)
                .await?;
            counts.partial.extend(answer.shortfalls());
            if answer.is_of_nothing() {
                counts.partial.push(self.wire.no_index());
            }
            let buckets = answer.aggregations.pointer("/minutes/buckets");
            let buckets = buckets.and_then(Value::as_array).into_iter().flatten();
            for bucket in buckets {
                let at = bucket.get("key").and_then(Value::as_i64);
                let lines = bucket.get("doc_count").and_then(Value::as_u64);
                if let (Some(at), Some(lines)) = (at, lines) {
                    let at = at.saturating_mul(1_000_000);
                    counts.minutes.push(Minute { at, lines });
                }
            }
            from = to;
        }
        counts.partial.sort();
        counts.partial.dedup();
        Ok(Some(counts))
    }

    async fn any(&self, span: Span, deadline: Instant) -> Result<bool, HttpError> {
        let fields = self.wire.fields(deadline).await?;
        let body = json!({
            "size": 0,
            "track_total_hits": 1,
            "terminate_after": 1,
            "query": query::all(&[query::within(fields, span)]),
        });
        let answer = self
            .wire
            .search(&SearchTarget::Live, body, true, deadline)
            .await?;
        Ok(answer.found_any())
    }
}

/// Searches by words find names that only begin alike; labels tell.
fn is_asked_for(
    about: &LineSubject,
    names: &LabelNames,
    labels: &crate::log_store::Labels,
) -> bool {
    let LineSubject::Pods(pods) = about else {
        return true;
    };
    match names.entities(labels).pod {
        Some(name) => pods.iter().any(|pod| pod.name == name),
        None => true,
    }
}

impl LogStore for Elasticsearch {
    fn name(&self) -> &str {
        &self.wire.options.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Elasticsearch
    }

    fn limits(&self) -> Limits {
        Limits {
            pods_at_once: 200,
            questions_at_once: 3,
            metered: false,
            lag: 60 * SECOND,
        }
    }

    fn names(&self) -> &LabelNames {
        &self.wire.options.names
    }

    fn requests(&self) -> u64 {
        self.wire.sent()
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(check::check(&self.wire, &self.place, now, deadline))
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
}
