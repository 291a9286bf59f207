//! What a log store must be able to answer.

use std::fmt;
use std::time::Instant;

use futures::future::BoxFuture;

use crate::connector::Health;
use crate::contract::LabelNames;
use crate::coverage::Coverage;
use crate::event::SourceKind;
use crate::http::HttpError;
use crate::sink::Sink;
use crate::time::Nanos;

/// A stretch of time `[from, to)`, both known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span {
    /// The start.
    pub from: Nanos,
    /// The end, which is not part of it.
    pub to: Nanos,
}

impl Span {
    /// Whether a time lies in it.
    #[must_use]
    pub fn holds(self, at: Nanos) -> bool {
        self.from <= at && at < self.to
    }

    /// Its length in nanoseconds.
    #[must_use]
    pub fn length(self) -> Nanos {
        self.to.saturating_sub(self.from)
    }

    /// What both have in common, if anything.
    #[must_use]
    pub fn cut(self, other: Self) -> Option<Self> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        (from < to).then_some(Self { from, to })
    }
}

/// A pod as stores know it: by names, for few know uids.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PodRef {
    /// Its namespace, where known.
    pub namespace: Option<String>,
    /// Its name.
    pub name: String,
}

/// Whose lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LineSubject {
    /// Of these pods, at most [`Limits::pods_at_once`] of them.
    Pods(Vec<PodRef>),
    /// Of these nodes: the machine's own log, not that of pods on it.
    Nodes(Vec<String>),
    /// Of whatever bears this name, by label, tag or workload, else whose lines
    /// contain it. For runs whose pods nobody else knows any more.
    Experiment(String),
}

/// Which lines of those.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LineFilter {
    /// All.
    All,
    /// Those with a word that may tell something ([`LineSubject::evidence`]). A store
    /// that cannot ask for all of the words may give more lines, never fewer.
    Significant,
}

/// Lines that are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineQuery {
    /// Whose.
    pub about: LineSubject,
    /// When.
    pub span: Span,
    /// Which.
    pub only: LineFilter,
    /// Whether the newest are wanted where there are more than `limit`; else the oldest.
    pub newest: bool,
    /// At most this many.
    pub limit: usize,
}

pub use crate::contract::StoredLine;

/// What a question for lines gave.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinesRead {
    /// Each line once, oldest first.
    pub lines: Vec<StoredLine>,
    /// There are more: `limit` was reached.
    pub cut: bool,
    /// Why lines may be missing although all were asked for, in words.
    pub partial: Vec<String>,
}

/// Lines in one minute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Minute {
    /// When it begins.
    pub at: Nanos,
    /// How many lines.
    pub lines: u64,
}

/// How many lines there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By minute, in order; minutes without lines may be left out.
    pub minutes: Vec<Minute>,
    /// Why they may be wrong, in words.
    pub partial: Vec<String>,
}

/// What a store allows, and what asking costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Pods that one question may name.
    pub pods_at_once: usize,
    /// Questions that may be open at one time.
    pub questions_at_once: usize,
    /// Requests cost, or are shared with the people who look at dashboards:
    /// the fewer the better.
    pub metered: bool,
    /// Lines may come this late; what is younger than this may be incomplete.
    pub lag: Nanos,
}

/// A log store. Paging, slicing and retrying is its own affair: a question is
/// answered whole, or says how it is not.
pub trait LogStore: Send + Sync + fmt::Debug {
    /// The configured name, that of its kind by default; that of its coverage rows.
    fn name(&self) -> &str;

    /// What tells this store from others: its address and tenant.
    fn place(&self) -> &str;

    /// The kind of its records.
    fn source_kind(&self) -> SourceKind;

    /// What it allows.
    fn limits(&self) -> Limits;

    /// The names under which collectors tell whose line it is.
    fn names(&self) -> &LabelNames;

    /// How many requests were sent so far.
    fn requests(&self) -> u64;

    /// Whether it can be used, and how far back it goes.
    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health>;

    /// Lines. With [`LineSubject::Pods`] and [`LineSubject::Experiment`] whatever the
    /// store calls them: labels, tags, fields, configured names.
    ///
    /// # Errors
    /// Where nothing was obtained; what was obtained in part is in [`LinesRead::partial`].
    fn lines<'a>(
        &'a self,
        query: &'a LineQuery,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<LinesRead, HttpError>>;

    /// How many lines there are, by minute; `None` where the store cannot tell
    /// at the price of a few requests.
    fn counts<'a>(
        &'a self,
        about: &'a LineSubject,
        span: Span,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Option<Counts>, HttpError>>;

    /// Whether there are any lines at all in a stretch of time, of anything.
    /// Tells "this pod said nothing" from "nothing is kept from then", "wrong
    /// tenant" and "wrong index".
    fn has_any(&self, span: Span, deadline: Instant) -> BoxFuture<'_, Result<bool, HttpError>>;

    /// What else the store has beside lines that bears on the question, such as
    /// Kubernetes Events that an agent sent there.
    fn others<'a>(
        &'a self,
        about: &'a LineSubject,
        span: Span,
        deadline: Instant,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        let _unused = (about, span, deadline, sink);
        Box::pin(std::future::ready(Vec::new()))
    }
}
