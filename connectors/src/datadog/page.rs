//! All pages of one search.

use std::collections::BTreeMap;
use std::time::Instant;

use serde_json::json;

use super::answer::AnswerPage;
use super::client::{Api, Filter};
use crate::http::HttpError;
use crate::log_store::Span;
use crate::time::Nanos;

/// The most that Datadog gives at once.
pub(super) const MAX_PAGE: usize = 1000;

/// Nanoseconds of a millisecond.
pub(super) const MILLI: Nanos = 1_000_000;

/// A record as it is decoded.
pub(super) trait Item: Sized {
    /// Decodes one; the error is in words.
    fn read(json: &str) -> Result<Self, String>;
    /// Datadog's own name of it.
    fn id(&self) -> Option<&str>;
    /// When.
    fn at(&self) -> Nanos;
    /// Whether it is of the stretch that was asked for.
    fn is_of(&self, span: Span) -> bool;
}

/// One search.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) endpoint: &'static str,
    pub(super) filter: Filter<'a>,
    /// The same window to the nanosecond.
    pub(super) span: Span,
    pub(super) newest: bool,
    /// Stop beyond this many records.
    pub(super) limit: usize,
    /// Records of one page.
    pub(super) page: usize,
}

/// What a search gave.
#[derive(Debug)]
pub(super) struct SearchResult<T> {
    /// By time and id, each once.
    pub(super) items: BTreeMap<(Nanos, String), T>,
    /// Why some may be missing.
    pub(super) partial: Vec<String>,
    /// What ended it before its end.
    pub(super) failure: Option<HttpError>,
    /// The server's time when it answered first.
    pub(super) date: Option<Nanos>,
}

impl Search<'_> {
    /// Reads pages until there are none, or more than `limit` records, or no
    /// requests `left`.
    pub(super) async fn run<T: Item>(
        &self,
        api: &Api,
        left: &mut u64,
        deadline: Instant,
    ) -> SearchResult<T> {
        let mut found = SearchResult {
            items: BTreeMap::new(),
            partial: Vec::new(),
            failure: None,
            date: None,
        };
        let mut filter = self.filter.clone();
        // One more than wanted tells whether there are more.
        let mut size = self
            .page
            .min(self.limit.saturating_add(1))
            .clamp(1, MAX_PAGE);
        let mut cursor: Option<String> = None;
        let mut begun_anew = false;
        let mut unread = UnreadRecords::default();
        while found.items.len() <= self.limit {
            if *left == 0 {
                found.partial.push(
                    "stopped at the number of requests that one question may cost".to_owned(),
                );
                break;
            }
            *left -= 1;
            let requested = self.page(api, &filter, size, cursor.as_deref(), deadline);
            let page = match requested.await {
                Ok(page) => page,
                // A cursor may expire. What is there stays; only the rest is asked for.
                Err(failure) if cursor.is_some() && !begun_anew && is_cursor(&failure) => {
                    begun_anew = true;
                    cursor = None;
                    self.narrow(&mut filter, &found.items);
                    continue;
                }
                Err(HttpError::TooLarge(_)) if size > 10 => {
                    size /= 10;
                    cursor = None;
                    self.narrow(&mut filter, &found.items);
                    continue;
                }
                Err(failure) => {
                    found.failure = Some(failure);
                    break;
                }
            };
            found.date = found.date.or(page.date);
            for words in page.partial {
                if !found.partial.contains(&words) {
                    found.partial.push(words);
                }
            }
            if page.records.is_empty() {
                break;
            }
            for record in &page.records {
                match T::read(record.get()) {
                    Ok(item) if !item.is_of(self.span) => {}
                    Ok(item) => {
                        let id = item
                            .id()
                            .map_or_else(|| record.get().to_owned(), str::to_owned);
                        found.items.insert((item.at(), id), item);
                    }
                    Err(why) => unread.add(why),
                }
            }
            match page.after {
                Some(after) if cursor.as_ref() != Some(&after) => cursor = Some(after),
                _ => break,
            }
        }
        found.partial.extend(unread.emitted());
        found
    }

    async fn page(
        &self,
        api: &Api,
        filter: &Filter<'_>,
        size: usize,
        cursor: Option<&str>,
        deadline: Instant,
    ) -> Result<AnswerPage, HttpError> {
        let mut body = json!({
            "filter": filter.json(),
            "sort": if self.newest { "-timestamp" } else { "timestamp" },
            "page": { "limit": size },
        });
        if let Some(cursor) = cursor {
            body["page"]["cursor"] = cursor.into();
        }
        AnswerPage::of(&api.post(self.endpoint, &body, deadline).await?)
    }

    /// Leaves out of the window what was read, but for the last millisecond.
    fn narrow<T>(&self, filter: &mut Filter<'_>, items: &BTreeMap<(Nanos, String), T>) {
        if self.newest {
            if let Some(((at, _), _)) = items.first_key_value() {
                filter.to = filter.to.min(at.div_euclid(MILLI) + 1);
            }
        } else if let Some(((at, _), _)) = items.last_key_value() {
            filter.from = filter.from.max(at.div_euclid(MILLI));
        }
    }
}

/// Whether it is the cursor that Datadog does not like.
fn is_cursor(failure: &HttpError) -> bool {
    matches!(failure, HttpError::Refused { code: 400 | 410, message, .. }
        if message.to_ascii_lowercase().contains("cursor"))
}

/// Records that could not be read: how many, and why the first.
#[derive(Default)]
struct UnreadRecords {
    count: u64,
    why: Option<String>,
}

impl UnreadRecords {
    fn add(&mut self, why: String) {
        self.count += 1;
        self.why.get_or_insert(why);
    }

    fn emitted(self) -> Option<String> {
        let why = self.why?;
        Some(format!(
            "{} of its records cannot be parsed: {why}",
            self.count
        ))
    }
}
