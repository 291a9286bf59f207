//! The log store.

use std::time::Instant;

use futures::future::BoxFuture;
use serde_json::{Value, json};

use super::check;
use super::decode::Reading;
use super::fields::Fields;
use super::options::ElasticsearchOptions;
use super::page::{self, Pages, Plan};
use super::query::{self, Words};
use super::wire::{View, Wire};
use crate::aws_auth::AwsAccess;
use crate::connector::{Clock, Health};
use crate::event::SourceKind;
use crate::http::Trouble;
use crate::log_store::{
    About, Counts, Got, LabelNames, Limits, LineQuery, LogStore, Minute, Only, Span,
};
use crate::time::{Nanos, SECOND};

/// Minutes are counted in slices of this many days, since answers hold 65,536 at most.
const SLICE: Nanos = 30 * 24 * 3_600 * SECOND;

/// More slices than these are no longer a few requests.
const MOST_SLICES: i64 = 12;

/// An Elasticsearch or `OpenSearch`.
#[derive(Debug)]
pub struct Elasticsearch {
    wire: Wire,
    place: String,
}

impl Elasticsearch {
    /// Prepares to reach it; asks nothing but, where requests are signed for AWS,
    /// its profiles. `clock` tells the times of signatures.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub async fn open(mut options: ElasticsearchOptions, clock: Clock) -> Result<Self, Trouble> {
        if let Some(signing) = &options.signing {
            let access = AwsAccess::load(&signing.aws, clock).await;
            options.http.auth = access.signs_for(&signing.service)?;
        }
        let indices = options.indices.clone();
        let wire = Wire::new(options)?;
        let place = format!("{} {indices}", wire.address());
        Ok(Self { wire, place })
    }

    async fn read(&self, ask: &LineQuery, deadline: Instant) -> Result<Got, Trouble> {
        let fields = self.wire.fields(deadline).await?;
        if fields.indices == Some(0) {
            return Ok(Got {
                partial: vec![self.wire.no_index()],
                ..Got::default()
            });
        }
        let about = query::about(fields, &ask.about)?;
        let words = [Words::Within, Words::Beginning];
        let mut tries = match ask.only {
            Only::All => vec![None],
            Only::Telling => words.map(Some).to_vec(),
        }
        .into_iter()
        .peekable();
        while let Some(words) = tries.next() {
            let telling =
                words.and_then(|words| query::telling(fields, words, ask.about.telling()));
            let plan = Plan {
                fields,
                query: [Some(about.clone()), telling]
                    .into_iter()
                    .flatten()
                    .collect(),
                span: ask.span,
                newest: ask.newest,
                limit: ask.limit,
            };
            match page::read(&self.wire, &plan, deadline).await {
                Ok(mut pages) => {
                    if words == Some(Words::Beginning) {
                        pages.partial.insert(
                            "the server searches no parts of words: `RuntimeError` is not found by `error`"
                                .to_owned(),
                        );
                    }
                    return Ok(self.got(pages, ask, fields));
                }
                Err(trouble) if trouble.code() == Some(400) && tries.peek().is_some() => {}
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(Got::default())
    }

    fn got(&self, pages: Pages, ask: &LineQuery, fields: &Fields) -> Got {
        let options = &self.wire.options;
        let names = &options.names;
        let mut reading = Reading::new(
            names,
            &options.message_fields,
            &fields.time,
            fields.resolution,
        );
        let mut partial = pages.partial;
        if fields.indices.is_none() {
            partial.insert(
                "fields may not be looked up (view_index_metadata); the usual ones were asked for"
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
            ask.span.holds(line.stamp.lo) && is_asked_for(&ask.about, names, &line.labels)
        });
        lines.sort_by(|a, b| {
            (a.stamp, &a.labels, a.order, &a.id).cmp(&(b.stamp, &b.labels, b.order, &b.id))
        });
        Got {
            lines,
            cut: pages.cut,
            partial: partial.into_iter().collect(),
        }
    }

    async fn count(
        &self,
        about: &About,
        span: Span,
        deadline: Instant,
    ) -> Result<Option<Counts>, Trouble> {
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
            let answer = self.wire.search(&View::Live, body, true, deadline).await?;
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

    async fn any(&self, span: Span, deadline: Instant) -> Result<bool, Trouble> {
        let fields = self.wire.fields(deadline).await?;
        let body = json!({
            "size": 0,
            "track_total_hits": 1,
            "terminate_after": 1,
            "query": query::all(&[query::within(fields, span)]),
        });
        let answer = self.wire.search(&View::Live, body, true, deadline).await?;
        Ok(answer.found_any())
    }
}

/// Searches by words find names that only begin alike; labels tell.
fn is_asked_for(about: &About, names: &LabelNames, labels: &crate::log_store::Labels) -> bool {
    let About::Pods(pods) = about else {
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
    ) -> BoxFuture<'a, Result<Got, Trouble>> {
        Box::pin(self.read(query, deadline))
    }

    fn counts<'a>(
        &'a self,
        about: &'a About,
        span: Span,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Option<Counts>, Trouble>> {
        Box::pin(self.count(about, span, deadline))
    }

    fn has_any(&self, span: Span, deadline: Instant) -> BoxFuture<'_, Result<bool, Trouble>> {
        Box::pin(self.any(span, deadline))
    }
}
