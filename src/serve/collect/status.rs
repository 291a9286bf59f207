//! How each source is doing, for `/metrics`, `/readyz` and people.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use whathappened_model::time::Nanos;

/// How one source is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// What it is asked for: `pods`, `poll`.
    pub resource: String,
    /// Until when everything it told is kept, by our clock.
    pub until: Option<Nanos>,
    /// Why it does not answer.
    pub error: Option<String>,
    /// How often it did not, since the start.
    pub errors: u64,
    /// Gaps that were recorded of it, since the start.
    pub gaps: u64,
    /// Facts and versions that it told, since the start.
    pub reported: u64,
}

/// What came in since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Facts and versions told.
    pub reported: u64,
    /// Facts and versions received that were new to the store.
    pub new: u64,
}

/// What a line is of: the source's name, its place, and the resource.
pub type Key = (String, String, String);

/// How all sources are doing.
#[derive(Debug, Default)]
pub struct CollectorStatus {
    lines: Mutex<BTreeMap<Key, Line>>,
    broken: Mutex<Option<String>>,
    reported: AtomicU64,
    new: AtomicU64,
    over: std::sync::atomic::AtomicBool,
}

impl CollectorStatus {
    fn lines_mut(&self) -> MutexGuard<'_, BTreeMap<Key, Line>> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn with(&self, (source, place, resource): (&str, &str, &str), change: impl FnOnce(&mut Line)) {
        let key = (source.to_owned(), place.to_owned(), resource.to_owned());
        let mut lines = self.lines_mut();
        let line = lines.entry(key).or_insert_with(|| Line {
            resource: resource.to_owned(),
            ..Line::default()
        });
        change(line);
    }

    /// Everything of a source up to `until` is kept.
    pub(super) fn reached(&self, of: (&str, &str, &str), until: Nanos) {
        self.with(of, |line| {
            line.until = Some(until);
            line.error = None;
        });
    }

    /// A source told something.
    pub(super) fn reported(&self, of: (&str, &str, &str), observations: u64) {
        self.with(of, |line| line.reported += observations);
    }

    /// A source did not answer.
    pub(super) fn failed(&self, of: (&str, &str, &str), why: &str) {
        self.with(of, |line| {
            line.error = Some(why.to_owned());
            line.errors += 1;
        });
    }

    /// A gap of a source was recorded.
    pub(super) fn gap(&self, of: (&str, &str, &str)) {
        self.with(of, |line| line.gaps += 1);
    }

    /// Something was kept.
    pub(super) fn stored(&self, reported: u64, new: u64) {
        self.reported.fetch_add(reported, Ordering::Relaxed);
        self.new.fetch_add(new, Ordering::Relaxed);
    }

    /// The store can or cannot be written.
    pub(super) fn store(&self, broken: Option<String>) {
        *self.broken.lock().unwrap_or_else(PoisonError::into_inner) = broken;
    }

    /// Nothing is kept any more.
    pub(super) fn over(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// All lines, in order of source, place and resource.
    #[must_use]
    pub fn lines(&self) -> BTreeMap<Key, Line> {
        self.lines_mut().clone()
    }

    /// Why nothing can be kept; `None` when it can.
    #[must_use]
    pub fn broken(&self) -> Option<String> {
        if self.over.load(Ordering::Relaxed) {
            return Some("the collector has ended".to_owned());
        }
        let broken = self.broken.lock();
        broken.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What came in since the start.
    #[must_use]
    pub fn totals(&self) -> Totals {
        Totals {
            reported: self.reported.load(Ordering::Relaxed),
            new: self.new.load(Ordering::Relaxed),
        }
    }
}
