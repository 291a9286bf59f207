//! Reads what matches, page by page, each document once.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};

use super::answer::{Hit, SearchAnswer};
use super::client::{Dialect, PointInTime, SearchClient, SearchTarget};
use super::decode::sorted_at;
use super::fields::{Fields, Resolution};
use super::query;
use crate::http::HttpError;
use crate::log_store::Span;
use crate::time::{Nanos, rfc3339};

/// What servers let one page hold.
const WINDOW: usize = 10_000;

/// Parts of documents that are large and tell nothing here.
const LEFT_OUT: [&str; 10] = [
    "agent",
    "ecs",
    "elastic_agent",
    "data_stream",
    "event.original",
    "kubernetes.annotations",
    "kubernetes.node.labels",
    "kubernetes.namespace_labels",
    "host.ip",
    "host.mac",
];

/// What is read.
#[derive(Debug)]
pub(super) struct Plan<'p> {
    pub(super) fields: &'p Fields,
    /// Whose lines and which.
    pub(super) query: Vec<Value>,
    pub(super) span: Span,
    pub(super) newest: bool,
    pub(super) limit: usize,
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// In the order asked for.
    pub(super) hits: Vec<Hit>,
    /// There are more.
    pub(super) cut: bool,
    pub(super) partial: BTreeSet<String>,
}

/// How pages follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paging {
    /// After the last document, told by time and `_shard_doc`.
    After,
    /// From the last time on, without what was seen of it.
    Overlapping,
}

struct Reader<'r> {
    wire: &'r SearchClient,
    plan: &'r Plan<'r>,
    view: SearchTarget,
    follow: Paging,
    page: usize,
    allow_partial: bool,
    /// A point in time was lost and opened anew.
    reopened: bool,
    got: Pages,
    /// The time of the last document, and all documents of that time.
    last: Option<Nanos>,
    seen: BTreeSet<(String, String)>,
    /// Overlapping pages go on from here.
    bound: Option<Nanos>,
}

/// Reads at most `plan.limit` documents.
///
/// # Errors
/// Where nothing was obtained.
pub(super) async fn read(
    wire: &SearchClient,
    plan: &Plan<'_>,
    deadline: Instant,
) -> Result<Pages, HttpError> {
    let view = wire.open(deadline).await?;
    let mut reader = Reader {
        wire,
        plan,
        follow: follow(&view),
        view,
        page: wire.options.page.clamp(1, WINDOW),
        allow_partial: false,
        reopened: false,
        got: Pages::default(),
        last: None,
        seen: BTreeSet::new(),
        bound: None,
    };
    let ended = reader.run(deadline).await;
    let view = std::mem::replace(&mut reader.view, SearchTarget::Live);
    wire.close(view).await;
    let mut got = reader.got;
    match ended {
        Ok(()) => {}
        Err(failure) if got.hits.is_empty() => return Err(failure),
        Err(failure) => {
            got.cut = true;
            got.partial.insert(format!(
                "reading was interrupted: {failure}; {}",
                failure.hint()
            ));
        }
    }
    if got.hits.len() > plan.limit {
        got.hits.truncate(plan.limit);
        got.cut = true;
    }
    Ok(got)
}

/// `_shard_doc` is Elasticsearch's; others have it late or not at all.
fn follow(view: &SearchTarget) -> Paging {
    match view {
        SearchTarget::Pit(PointInTime {
            of: Dialect::Elasticsearch,
            ..
        }) => Paging::After,
        _ => Paging::Overlapping,
    }
}

impl Reader<'_> {
    async fn run(&mut self, deadline: Instant) -> Result<(), HttpError> {
        loop {
            // One more than wanted shows whether there are more.
            let wanted = (self.plan.limit + 1).saturating_sub(self.got.hits.len());
            if wanted == 0 {
                return Ok(());
            }
            let size = match self.follow {
                Paging::After => wanted.min(self.page),
                Paging::Overlapping => (wanted + self.seen.len()).min(self.page),
            };
            let search =
                self.wire
                    .search(&self.view, self.body(size), self.allow_partial, deadline);
            match search.await {
                Ok(answer) => {
                    if self.take(answer, size) {
                        return Ok(());
                    }
                }
                Err(failure) => self.adapt(failure, deadline).await?,
            }
        }
    }

    fn body(&self, size: usize) -> Value {
        let order = if self.plan.newest { "desc" } else { "asc" };
        let mut time = json!({});
        time[self.plan.fields.time.as_str()] = json!({
            // Nanoseconds, whatever the index stores and in whichever form.
            "order": order, "numeric_type": "date_nanos", "unmapped_type": "date",
        });
        let mut sort = vec![time];
        let mut parts = self.plan.query.clone();
        parts.push(query::within(self.plan.fields, self.plan.span));
        let mut after = None;
        match self.follow {
            Paging::After => {
                sort.push(json!({ "_shard_doc": order }));
                after = self.got.hits.last().map(|hit| &hit.sort);
            }
            Paging::Overlapping => {
                if let Some(bound) = self.bound {
                    let side = if self.plan.newest { "lte" } else { "gte" };
                    parts.push(json!({ "range": { self.plan.fields.time.as_str(): {
                        side: rfc3339(bound), "format": "strict_date_optional_time_nanos",
                    } } }));
                }
            }
        }
        let mut body = json!({
            "size": size,
            "query": query::all(&parts),
            "sort": sort,
            "track_total_hits": false,
            "seq_no_primary_term": true,
            "_source": { "excludes": LEFT_OUT },
        });
        if let Some(after) = after {
            body["search_after"] = json!(after);
        }
        body
    }

    /// Takes a page; `true` where it is the last.
    fn take(&mut self, answer: SearchAnswer, size: usize) -> bool {
        let short = answer.shortfalls();
        let whole = short.is_empty();
        self.got.partial.extend(short);
        if answer.is_of_nothing() && matches!(self.view, SearchTarget::Live) {
            self.got.partial.insert(self.wire.no_index());
        }
        if let (SearchTarget::Pit(pit), Some(newest)) = (&mut self.view, answer.pit_id) {
            pit.id = newest;
        }
        let full = answer.hits.hits.len() >= size;
        let mut fresh = 0;
        for hit in answer.hits.hits {
            let at = sorted_at(&hit.sort);
            let name = (hit.index.clone(), hit.id.clone());
            if at != self.last {
                self.last = at;
                self.seen.clear();
            }
            if !self.seen.insert(name) {
                continue;
            }
            fresh += 1;
            self.got.hits.push(hit);
        }
        if self.follow == Paging::After {
            return fresh == 0 || (!full && whole);
        }
        if !full {
            return true;
        }
        let Some(last) = self.last else {
            return true;
        };
        self.bound = Some(last);
        if fresh > 0 {
            // Next time there must be room for what is seen again.
            self.page = self.page.max((self.seen.len() + 1).min(WINDOW));
            return false;
        }
        if self.page < WINDOW && size == self.page {
            self.page = WINDOW;
            return false;
        }
        // More lines at one time than a page can hold: the rest of them is lost.
        self.got.partial.insert(format!(
            "more than {size} lines have the time {}; the rest of them are left out",
            rfc3339(last)
        ));
        let step = match self.plan.fields.resolution {
            Resolution::Millis => 1_000_000,
            Resolution::Nanos | Resolution::Mixed => 1,
        };
        self.bound = Some(if self.plan.newest {
            last - step
        } else {
            last + step
        });
        false
    }

    /// What can be done about an error, is.
    async fn adapt(&mut self, failure: HttpError, deadline: Instant) -> Result<(), HttpError> {
        let text = failure.to_string();
        let has = |words: &[&str]| words.iter().any(|word| text.contains(word));
        let code = failure.code();
        if has(&["search_context_missing", "No search context found"]) && !self.reopened {
            self.reopened = true;
            self.view = self.wire.open(deadline).await?;
            self.overlap();
            return Ok(());
        }
        if self.follow == Paging::After && code == Some(400) && has(&["_shard_doc"]) {
            self.overlap();
            return Ok(());
        }
        let too_large = has(&["Result window is too large", "max_result_window"]);
        if (too_large || matches!(failure, HttpError::TooLarge(_)) || code == Some(413))
            && self.page > 100
        {
            self.page = (self.page / 4).max(100);
            return Ok(());
        }
        // All shards or nothing was asked for; some are better than none.
        if !self.allow_partial
            && matches!(code, Some(500 | 503 | 504))
            && has(&["search_phase_execution", "no_shard_available", "shard"])
        {
            self.allow_partial = true;
            self.got
                .partial
                .insert("some shards do not answer: what they hold is missing".to_owned());
            return Ok(());
        }
        Err(failure)
    }

    /// Goes on from the last time, by what was seen instead of by position.
    fn overlap(&mut self) {
        self.follow = Paging::Overlapping;
        self.bound = self.last;
    }
}
