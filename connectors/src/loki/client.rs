//! Loki's requests, one function each.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use serde::Deserialize;

use super::answer::{Answer, Series, Stream};
use super::decode::of_stream;
use crate::http::{self, Client, HttpError, Request};
use crate::log_store::{Labels, Minute, Span, StoredLine};
use crate::time::{Nanos, SECOND};

/// Queries longer than this are sent as a form, for proxies cut long addresses.
const LONG: usize = 2_000;

/// The seconds of a minute.
pub(super) const MINUTE: Nanos = 60 * SECOND;

/// A Loki as its API is.
#[derive(Debug)]
pub(super) struct LokiClient {
    http: Client,
    encoding: AtomicU8,
}

/// How Loki tells what it knows of single lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    /// No answer has shown it yet.
    Unknown,
    /// Apart from the stream's labels, as asked for.
    Categorized,
    /// Merged into them: Loki is old, or a proxy took our header away.
    Merged,
}

/// One page of lines.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// In the answer's order: by stream, each in the order asked for.
    pub(super) lines: Vec<StoredLine>,
    /// How many Loki counted; more than there are where some cannot be read.
    pub(super) counted: usize,
    pub(super) warnings: Vec<String>,
}

/// `{"status": "success"}` has no data where there is none.
#[derive(Deserialize)]
struct Listed<T> {
    data: Option<Vec<T>>,
}

#[derive(Deserialize)]
struct Build {
    #[serde(default)]
    version: String,
    #[serde(default)]
    revision: String,
}

impl LokiClient {
    pub(super) fn new(http: Client) -> Self {
        Self {
            http,
            encoding: AtomicU8::new(0),
        }
    }

    pub(super) fn address(&self) -> String {
        self.http.address()
    }

    pub(super) fn sent(&self) -> u64 {
        self.http.sent()
    }

    pub(super) fn encoding(&self) -> Encoding {
        match self.encoding.load(Ordering::Relaxed) {
            0 => Encoding::Unknown,
            1 => Encoding::Categorized,
            _ => Encoding::Merged,
        }
    }

    /// At most `limit` lines of a stretch of time, the oldest or the newest.
    pub(super) async fn page(
        &self,
        query: &str,
        span: Span,
        limit: usize,
        newest: bool,
        deadline: Instant,
    ) -> Result<Page, HttpError> {
        let limit = limit.to_string();
        let direction = if newest { "backward" } else { "forward" };
        let more = [("limit", limit.as_str()), ("direction", direction)];
        let answer = self.range(query, span, &more, deadline).await?;
        let answer: Answer<'_> = answer.json()?;
        let mut page = Page {
            warnings: answer.warnings.unwrap_or_default(),
            ..Page::default()
        };
        let Some(data) = answer.data else {
            return Ok(page);
        };
        if data.result_type != "streams" {
            return Err(HttpError::Garbage(format!(
                "expected lines, but the response has the type {:?}",
                data.result_type
            )));
        }
        if !data.result.is_empty() {
            let flags = data.flags.unwrap_or_default();
            let categorized = flags.iter().any(|flag| flag == "categorize-labels");
            self.encoding
                .store(if categorized { 1 } else { 2 }, Ordering::Relaxed);
        }
        let mut unread = 0;
        for part in data.result {
            let stream: Stream<'_> = serde_json::from_str(part.get())
                .map_err(|error| HttpError::Garbage(format!("not a Loki stream: {error}")))?;
            page.counted += stream.values.len();
            of_stream(stream, 0, &mut page.lines, &mut |_, read| {
                unread += usize::from(read.is_err());
            });
        }
        if unread > 0 {
            page.warnings
                .push(format!("the times of {unread} lines cannot be parsed"));
        }
        Ok(page)
    }

    /// How many lines a query without `sum(count_over_time(…))` around it has in
    /// each minute of a span that begins and ends with minutes. A line at a full
    /// minute counts to the minute before it.
    pub(super) async fn minutes(
        &self,
        query: &str,
        span: Span,
        deadline: Instant,
    ) -> Result<(Vec<Minute>, Vec<String>), HttpError> {
        let query = format!("sum(count_over_time({query} [1m]))");
        // The value at a time counts the minute before it.
        let ends = Span {
            from: span.from.saturating_add(MINUTE),
            to: span.to,
        };
        let answer = self
            .range(&query, ends, &[("step", "60")], deadline)
            .await?;
        let answer: Answer<'_> = answer.json()?;
        let mut minutes = Vec::new();
        for part in answer.data.map(|data| data.result).unwrap_or_default() {
            let series: Series<'_> = serde_json::from_str(part.get())
                .map_err(|error| HttpError::Garbage(format!("not a Loki series: {error}")))?;
            for (seconds, count) in series.values {
                let lines = count.parse::<f64>().unwrap_or_default();
                minutes.push(Minute {
                    // Minutes fit a double exactly.
                    at: (seconds as Nanos).saturating_mul(SECOND) - MINUTE,
                    lines: lines as u64,
                });
            }
        }
        Ok((minutes, answer.warnings.unwrap_or_default()))
    }

    /// The names of labels that streams of this time have.
    pub(super) async fn labels(
        &self,
        span: Span,
        deadline: Instant,
    ) -> Result<(BTreeSet<String>, Option<Nanos>), HttpError> {
        let answer = self
            .http
            .send(&timed("loki/api/v1/labels", span), deadline)
            .await?;
        let listed: Listed<String> = answer.json()?;
        let names = listed.data.unwrap_or_default().into_iter().collect();
        Ok((names, answer.date()))
    }

    /// The labels of the streams that a selector fits.
    pub(super) async fn series(
        &self,
        selector: &str,
        span: Span,
        deadline: Instant,
    ) -> Result<Vec<Labels>, HttpError> {
        let request = if selector.len() > LONG {
            let (from, to) = (span.from.to_string(), span.to.to_string());
            Request::post("loki/api/v1/series").form(&[
                ("match[]", selector),
                ("start", &from),
                ("end", &to),
            ])
        } else {
            timed("loki/api/v1/series", span).query("match[]", selector)
        };
        let listed: Listed<Labels> = self.http.json(&request, deadline).await?;
        let mut all = listed.data.unwrap_or_default();
        all.sort();
        all.dedup();
        Ok(all)
    }

    /// Whether it is ready to be asked. Needs no tenant.
    pub(super) async fn ready(&self, deadline: Instant) -> Result<(), HttpError> {
        self.http.send(&Request::get("ready"), deadline).await?;
        Ok(())
    }

    /// Its version.
    pub(super) async fn version(&self, deadline: Instant) -> Result<Option<String>, HttpError> {
        let request = Request::get("loki/api/v1/status/buildinfo");
        let build: Build = self.http.json(&request, deadline).await?;
        // Builds by hand have neither.
        Ok([build.version, build.revision]
            .into_iter()
            .find(|text| !text.is_empty()))
    }

    async fn range(
        &self,
        query: &str,
        span: Span,
        more: &[(&str, &str)],
        deadline: Instant,
    ) -> Result<http::Answer, HttpError> {
        const PATH: &str = "loki/api/v1/query_range";
        let request = if query.len() > LONG {
            let (from, to) = (span.from.to_string(), span.to.to_string());
            let mut fields = vec![("query", query), ("start", &*from), ("end", &*to)];
            fields.extend(more);
            Request::post(PATH).form(&fields)
        } else {
            let request = timed(PATH, span).query("query", query);
            more.iter().fold(request, |request, (name, value)| {
                request.query(name, *value)
            })
        };
        let request = request.header("X-Loki-Response-Encoding-Flags", "categorize-labels");
        self.http.send(&request, deadline).await
    }
}

/// Nanoseconds have 19 digits; of fewer than eleven Loki makes seconds.
fn timed(path: &str, span: Span) -> Request {
    Request::get(path)
        .query("start", span.from.to_string())
        .query("end", span.to.to_string())
}
