//! A store that is a list of lines.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use futures::future::BoxFuture;

use crate::connector::Health;
use crate::event::SourceKind;
use crate::http::HttpError;
use crate::log_store::{
    Counts, LabelNames, Labels, Limits, LineFilter, LineQuery, LineSubject, LinesRead, LogStore,
    Minute, Span, StoredLine,
};
use crate::time::{Nanos, SECOND, Stamp};

#[derive(Debug)]
pub(super) struct MemoryStore {
    lines: Vec<StoredLine>,
    names: LabelNames,
    requested: AtomicU64,
    pub(super) metered: bool,
    /// What lines are answered with; only telling ones where so.
    pub(super) fails: Option<(HttpError, bool)>,
}

pub(super) fn line(pod: &str, at: Nanos, text: &str) -> StoredLine {
    let labels = [("namespace", "research"), ("pod", pod)];
    let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
    StoredLine {
        stamp: Stamp::exact(at),
        text: text.to_owned(),
        labels: Arc::new(labels.into()),
        metadata: Labels::new(),
        id: None,
        order: 0,
        number: 0,
    }
}

/// A line of a machine's own log.
pub(super) fn host_line(host: &str, at: Nanos, text: &str) -> StoredLine {
    let labels = [("host", host), ("job", "journal"), ("transport", "kernel")];
    let labels = labels.map(|(name, value)| (name.to_owned(), value.to_owned()));
    StoredLine {
        labels: Arc::new(labels.into()),
        ..line("", at, text)
    }
}

impl MemoryStore {
    pub(super) fn new(mut lines: Vec<StoredLine>) -> Self {
        lines.sort_by_key(|line| line.stamp);
        for (order, line) in (0..).zip(&mut lines) {
            line.order = order;
        }
        Self {
            lines,
            names: LabelNames::default(),
            requested: AtomicU64::new(0),
            metered: false,
            fails: None,
        }
    }

    fn of<'a>(
        &'a self,
        about: &'a LineSubject,
        span: Span,
    ) -> impl Iterator<Item = &'a StoredLine> {
        self.lines.iter().filter(move |line| {
            let own = |label: &str| line.labels.get(label).map_or("", String::as_str);
            let meant = match about {
                LineSubject::Pods(pods) => pods.iter().any(|pod| pod.name == own("pod")),
                LineSubject::Experiment(name) => own("pod").starts_with(name.as_str()),
                LineSubject::Nodes(nodes) => nodes.iter().any(|node| node == own("host")),
            };
            meant && span.holds(line.stamp.lo)
        })
    }

    fn note(&self) {
        self.requested.fetch_add(1, Ordering::SeqCst);
    }
}

impl LogStore for MemoryStore {
    fn name(&self) -> &str {
        "shelf"
    }

    fn place(&self) -> &str {
        "http://shelf"
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Loki
    }

    fn limits(&self) -> Limits {
        Limits {
            pods_at_once: 8,
            questions_at_once: 3,
            metered: self.metered,
            lag: 0,
        }
    }

    fn names(&self) -> &LabelNames {
        &self.names
    }

    fn requests(&self) -> u64 {
        self.requested.load(Ordering::SeqCst)
    }

    fn check(&self, _: Nanos, _: Instant) -> BoxFuture<'_, Health> {
        Box::pin(std::future::ready(Health::default()))
    }

    fn lines<'a>(
        &'a self,
        query: &'a LineQuery,
        _: Instant,
    ) -> BoxFuture<'a, Result<LinesRead, HttpError>> {
        self.note();
        if let Some((failure, only_significant)) = &self.fails
            && (!only_significant || query.only == LineFilter::Significant)
        {
            return Box::pin(std::future::ready(Err(failure.clone())));
        }
        let found = self.of(&query.about, query.span);
        let evidence = query.about.evidence();
        let mut lines: Vec<StoredLine> = found
            .filter(|line| query.only == LineFilter::All || evidence.is_in(&line.text))
            .cloned()
            .collect();
        let cut = lines.len() > query.limit;
        if cut && query.newest {
            lines.drain(..lines.len() - query.limit);
        }
        lines.truncate(query.limit);
        let got = LinesRead {
            lines,
            cut,
            partial: Vec::new(),
        };
        Box::pin(std::future::ready(Ok(got)))
    }

    fn counts<'a>(
        &'a self,
        about: &'a LineSubject,
        span: Span,
        _: Instant,
    ) -> BoxFuture<'a, Result<Option<Counts>, HttpError>> {
        self.note();
        let mut counts = Counts::default();
        for line in self.of(about, span) {
            let at = line.stamp.lo.div_euclid(60 * SECOND) * 60 * SECOND;
            match counts.minutes.last_mut() {
                Some(minute) if minute.at == at => minute.lines += 1,
                _ => counts.minutes.push(Minute { at, lines: 1 }),
            }
        }
        Box::pin(std::future::ready(Ok(Some(counts))))
    }

    fn has_any(&self, span: Span, _: Instant) -> BoxFuture<'_, Result<bool, HttpError>> {
        self.note();
        let any = self.lines.iter().any(|line| span.holds(line.stamp.lo));
        Box::pin(std::future::ready(Ok(any)))
    }
}
