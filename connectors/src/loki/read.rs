//! Reading a query's lines over a stretch of time, each once.
//!
//! Loki has no cursor. `start` is part of an answer and `end` is not, `limit`
//! counts lines of all streams, many lines share a nanosecond, and lines of one
//! nanosecond come stream by stream. So the next page begins at the last
//! nanosecond of the page before, less what was seen of it. A nanosecond that
//! fills a page by itself is drained, if need be stream by stream and from both
//! ends; what still is missing then is told.
//!
//! Time is asked for in slices. One that is too much for Loki is halved; after
//! some that were not, they grow again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::client::{LokiClient, MINUTE, Page};
use super::logql::{MatchOp, Matcher, Query};
use super::refusal::{Remedy, remedy};
use crate::http::HttpError;
use crate::log_store::{Labels, Span, StoredLine};
use crate::time::{Nanos, SECOND, rfc3339};

/// Slices that went well before they grow again.
const WELL: usize = 3;

/// Lines asked for at once where one nanosecond is fuller than a page. Loki says
/// how many it allows.
const DRAIN: usize = 50_000;

/// What Loki said it allows; learned once, kept for all questions.
#[derive(Debug)]
pub(super) struct LearnedLimits {
    lines: AtomicUsize,
    most_lines: AtomicUsize,
    length: AtomicI64,
    labels: Mutex<BTreeSet<String>>,
}

impl LearnedLimits {
    pub(super) fn new(page: usize) -> Self {
        Self {
            lines: AtomicUsize::new(page.max(1)),
            most_lines: AtomicUsize::new(DRAIN.max(page)),
            length: AtomicI64::new(Nanos::MAX),
            labels: Mutex::new(BTreeSet::new()),
        }
    }

    /// The longest stretch of time for one question.
    pub(super) fn length(&self) -> Nanos {
        self.length.load(Ordering::Relaxed)
    }

    /// The query with the labels that every query must name.
    pub(super) fn dress(&self, query: &Query) -> Query {
        let labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
        query.requiring(labels.iter())
    }

    /// Takes in what a refusal says.
    pub(super) fn learn(&self, remedy: &Remedy) {
        match remedy {
            Remedy::Lines(most) => {
                self.lines.fetch_min(*most, Ordering::Relaxed);
                self.most_lines.fetch_min(*most, Ordering::Relaxed);
            }
            Remedy::Length(most) => {
                self.length.fetch_min(*most, Ordering::Relaxed);
            }
            Remedy::Labels(names) => {
                let mut labels = self.labels.lock().unwrap_or_else(PoisonError::into_inner);
                labels.extend(names.iter().cloned());
            }
            Remedy::Less | Remedy::None => {}
        }
    }
}

/// What is to be read.
pub(super) struct ReadRequest<'w> {
    pub(super) wire: &'w LokiClient,
    pub(super) learned: &'w LearnedLimits,
    pub(super) query: &'w Query,
    pub(super) span: Span,
    pub(super) newest: bool,
    /// Enough lines.
    pub(super) enough: usize,
    /// Time asked for at once; `None` for as much as Loki allows.
    pub(super) slice: Option<Nanos>,
    pub(super) deadline: Instant,
    /// Whether a line is one of those meant; may add to what is known of it.
    pub(super) keep: &'w (dyn Fn(&mut StoredLine) -> bool + Sync),
}

/// What was read.
#[derive(Debug, Default)]
pub(super) struct ReadResult {
    /// Oldest first.
    pub(super) lines: Vec<StoredLine>,
    /// Why some may be missing.
    pub(super) partial: Vec<String>,
    /// Why reading ended early.
    pub(super) failure: Option<HttpError>,
    /// Not one page was read.
    pub(super) nothing: bool,
}

/// Lines of one nanosecond that were seen, and how often.
type SeenLines = BTreeMap<(Labels, String), usize>;

struct Reader<'w> {
    wanted: &'w ReadRequest<'w>,
    lines: Vec<StoredLine>,
    partial: BTreeSet<String>,
    /// Where the next line stands among those of its stream and time.
    order: i64,
    /// At the nanosecond where the next page begins.
    seen: SeenLines,
    read_some: bool,
}

/// Reads until there is enough or no more.
pub(super) async fn read(wanted: &ReadRequest<'_>) -> ReadResult {
    let mut reader = Reader {
        wanted,
        lines: Vec::new(),
        partial: BTreeSet::new(),
        order: 0,
        seen: SeenLines::new(),
        read_some: false,
    };
    let mut left = wanted.span;
    let failure = reader.run(&mut left).await.err();
    if let Some(failure) = &failure {
        reader.partial.insert(format!(
            "not read from {} to {}: {failure}",
            rfc3339(left.from),
            rfc3339(left.to)
        ));
    }
    let mut lines = reader.lines;
    lines.sort_by(in_order);
    ReadResult {
        lines,
        partial: reader.partial.into_iter().collect(),
        nothing: failure.is_some() && !reader.read_some,
        failure,
    }
}

/// By time, then by stream, then as Loki had them.
pub(super) fn in_order(a: &StoredLine, b: &StoredLine) -> std::cmp::Ordering {
    (a.stamp, &a.labels, a.order).cmp(&(b.stamp, &b.labels, b.order))
}

impl Reader<'_> {
    async fn run(&mut self, left: &mut Span) -> Result<(), HttpError> {
        let ReadRequest {
            newest, learned, ..
        } = *self.wanted;
        let widest = || {
            let slice = self.wanted.slice.unwrap_or(Nanos::MAX);
            slice.min(learned.length()).max(1)
        };
        let mut width = widest();
        let mut well = 0;
        while left.from < left.to && self.lines.len() < self.wanted.enough {
            let window = if newest {
                Span {
                    from: left.to.saturating_sub(width).max(left.from),
                    to: left.to,
                }
            } else {
                Span {
                    from: left.from,
                    to: left.from.saturating_add(width).min(left.to),
                }
            };
            let allowed = learned.lines.load(Ordering::Relaxed);
            // One more than what is wanted and what is known already.
            let known: usize = self.seen.values().sum();
            let wanted = self.wanted.enough - self.lines.len();
            let limit = wanted.saturating_add(known).saturating_add(1).min(allowed);
            let page = match self
                .fetch_request(self.wanted.query, window, limit, newest)
                .await
            {
                Ok(page) => page,
                Err(failure) => {
                    let advice = remedy(&failure);
                    learned.learn(&advice);
                    width = match advice {
                        Remedy::Lines(most) if limit > most => width,
                        Remedy::Length(most) if window.length() > most => most,
                        Remedy::Less if window.length() > MINUTE => {
                            (window.length() / 2).max(MINUTE)
                        }
                        _ => return Err(failure),
                    };
                    well = 0;
                    continue;
                }
            };
            self.read_some = true;
            let full = page.counted >= limit;
            let edge = if newest { window.to - 1 } else { window.from };
            let reached = page
                .lines
                .iter()
                .map(|line| line.stamp.lo)
                .filter(|at| window.holds(*at))
                .reduce(if newest { Nanos::min } else { Nanos::max });
            let next = page_at(&page, reached.unwrap_or(edge));
            self.take(page.lines, window, edge);
            if !full {
                if newest {
                    left.to = window.from;
                } else {
                    left.from = window.to;
                }
                self.seen.clear();
                well += 1;
                if well >= WELL {
                    (width, well) = (width.saturating_mul(2).min(widest()), 0);
                }
                continue;
            }
            match reached {
                None => {
                    return Err(HttpError::Garbage(
                        "lines from other times than requested".to_owned(),
                    ));
                }
                Some(at) if at != edge => {
                    self.seen = next;
                    if newest {
                        left.to = at + 1;
                    } else {
                        left.from = at;
                    }
                }
                Some(_) => {
                    if self.lines.len() < self.wanted.enough {
                        self.drain(edge).await?;
                    }
                    self.seen.clear();
                    if newest {
                        left.to = edge;
                    } else {
                        left.from = edge + 1;
                    }
                }
            }
        }
        Ok(())
    }

    /// Takes what is new of a page. `edge` is the nanosecond that was begun before.
    fn take(&mut self, lines: Vec<StoredLine>, window: Span, edge: Nanos) {
        let mut here = SeenLines::new();
        for mut line in lines {
            let at = line.stamp.lo;
            if !window.holds(at) {
                continue;
            }
            if at == edge {
                let key = identity(&line);
                let count = here.entry(key).or_default();
                *count += 1;
                let count = *count;
                let known = self.seen.entry(identity(&line)).or_default();
                if count <= *known {
                    continue;
                }
                *known = count;
            }
            self.order += 1;
            line.order = if self.wanted.newest {
                -self.order
            } else {
                self.order
            };
            if (self.wanted.keep)(&mut line) {
                self.lines.push(line);
            }
        }
    }

    /// Reads all of one nanosecond.
    async fn drain(&mut self, at: Nanos) -> Result<(), HttpError> {
        let ReadRequest { newest, query, .. } = *self.wanted;
        let span = Span {
            from: at,
            to: at + 1,
        };
        let (page, full) = self.most(query, span, newest).await?;
        self.take(page.lines, span, at);
        if !full {
            return Ok(());
        }
        // The index knows streams by larger pieces of time.
        let around = Span {
            from: at.saturating_sub(SECOND),
            to: at.saturating_add(SECOND),
        };
        let selector = self.wanted.learned.dress(query).selector();
        let deadline = self.wanted.deadline;
        for labels in self.wanted.wire.series(&selector, around, deadline).await? {
            let one = Query {
                streams: labels
                    .iter()
                    .map(|(name, value)| Matcher::new(name, MatchOp::Is, value))
                    .collect(),
                filters: query.filters.clone(),
            };
            let (page, full) = self.most(&one, span, newest).await?;
            let first: BTreeSet<_> = page.lines.iter().map(identity).collect();
            self.take(page.lines, span, at);
            if !full {
                continue;
            }
            // From the other end: where both meet, nothing is missing.
            let (mut page, _) = self.most(&one, span, !newest).await?;
            page.lines.reverse();
            let meet = page
                .lines
                .iter()
                .any(|line| first.contains(&identity(line)));
            self.take(page.lines, span, at);
            if !meet {
                self.partial.insert(format!(
                    "lines of {} at {} are missing: more lines share this nanosecond than Loki returns",
                    one.selector(),
                    rfc3339(at)
                ));
            }
        }
        Ok(())
    }

    /// As many lines as Loki gives at once, and whether there may be more.
    async fn most(
        &mut self,
        query: &Query,
        span: Span,
        newest: bool,
    ) -> Result<(Page, bool), HttpError> {
        let learned = self.wanted.learned;
        loop {
            let limit = learned.most_lines.load(Ordering::Relaxed);
            match self.fetch_request(query, span, limit, newest).await {
                Ok(page) => {
                    let full = page.counted >= limit;
                    return Ok((page, full));
                }
                Err(failure) => match remedy(&failure) {
                    Remedy::Lines(most) if limit > most => learned.learn(&Remedy::Lines(most)),
                    _ => return Err(failure),
                },
            }
        }
    }

    async fn fetch_request(
        &mut self,
        query: &Query,
        span: Span,
        limit: usize,
        newest: bool,
    ) -> Result<Page, HttpError> {
        let ReadRequest {
            wire,
            learned,
            deadline,
            ..
        } = *self.wanted;
        loop {
            if Instant::now() >= deadline {
                return Err(HttpError::TimedOut(Duration::ZERO));
            }
            let dressed = learned.dress(query);
            let text = dressed.to_string();
            let page = match wire.page(&text, span, limit, newest, deadline).await {
                Ok(page) => page,
                Err(failure) => match remedy(&failure) {
                    Remedy::Labels(names) if names.iter().any(|name| !dressed.names(name)) => {
                        learned.learn(&Remedy::Labels(names));
                        continue;
                    }
                    _ => return Err(failure),
                },
            };
            for warning in &page.warnings {
                self.partial.insert(format!("Loki warns: {warning}"));
            }
            return Ok(page);
        }
    }
}

/// What tells a line from others of its time: both encodings give the same.
fn identity(line: &StoredLine) -> (Labels, String) {
    let mut all = line.metadata.clone();
    let labels = line.labels.iter();
    all.extend(labels.map(|(name, value)| (name.clone(), value.clone())));
    (all, line.text.clone())
}

/// The lines of a page that are of one nanosecond.
fn page_at(page: &Page, at: Nanos) -> SeenLines {
    let mut seen = SeenLines::new();
    for line in page.lines.iter().filter(|line| line.stamp.lo == at) {
        *seen.entry(identity(line)).or_default() += 1;
    }
    seen
}
