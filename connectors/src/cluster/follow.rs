//! Following one resource: list, watch, and list again where the watch expired.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio::time::{sleep_until, timeout};

use super::client::RequestError;
use super::connect::Inner;
use super::cover;
use super::decode::Decoder;
use super::lines::{Lines, Next};
use super::list::{ListOptions, ListOutcome, ListTarget, list};
use super::pending::PendingChanges;
use super::unchanged::UnchangedFilter;
use crate::connector::{Batch, Clock, Cursor, Stop};
use crate::coverage::{Coverage, Mode, Status};
use crate::time::{Nanos, SECOND, rfc3339};

/// The longest pause between two attempts.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// So many failures in a row may be of a server that is not ready, whatever it says.
const DOUBTED: u32 = 3;

/// Failures in a row after which it is told.
const REPORTED_AFTER: u32 = 3;

/// Failures in a row from which on each is told, as they come once a minute by
/// then: the row's end moves on.
const REPORTED_AGAIN: u32 = 8;

/// How long a list for a watch may take in all.
const LISTING: Duration = Duration::from_secs(300);

/// A watch that lasted this long was a good one.
const GOOD: Duration = Duration::from_secs(5);

/// How much longer than it was asked to a watch may be silent.
const SILENCE: Duration = Duration::from_secs(30);

/// Follows one resource, in one namespace or in all.
pub(super) struct ResourceFollower {
    inner: Arc<Inner>,
    target: ListTarget,
    decoder: Decoder,
    clock: Clock,
    stop: Stop,
    to: mpsc::Sender<Batch>,
    quiet: UnchangedFilter,
    /// Where the watch goes on; `None` before a list.
    position: Option<String>,
    /// When the resource was last known to be followed.
    seen: Option<Nanos>,
    failures: u32,
    /// A row says that it is not followed since [`Self::seen`].
    emitted: bool,
    expired: Option<Instant>,
}

/// How a step ended.
enum StepEnd {
    /// Go on at once.
    Renewed,
    /// The position is gone.
    Expired,
    /// Go on after a pause.
    Failed(RequestError),
    /// Stopped, or nobody takes the batches.
    Stopped,
}

impl ResourceFollower {
    pub(super) fn new(
        inner: Arc<Inner>,
        target: ListTarget,
        cursor: Option<&Cursor>,
        clock: &Clock,
        stop: &Stop,
        to: &mpsc::Sender<Batch>,
    ) -> Self {
        let decoder = target.decoder(&inner, &target.path());
        let position = cursor.map(|cursor| cursor.position.clone());
        Self {
            inner,
            target,
            decoder,
            clock: Arc::clone(clock),
            stop: stop.clone(),
            to: to.clone(),
            quiet: UnchangedFilter::default(),
            position: position.filter(|position| !position.is_empty()),
            seen: cursor.map(|cursor| cursor.at),
            failures: 0,
            emitted: false,
            expired: None,
        }
    }

    pub(super) async fn run(mut self) {
        loop {
            let begun = Instant::now();
            let end = match self.position.clone() {
                None => self.list().await,
                Some(position) => self.watch(&position).await,
            };
            match end {
                StepEnd::Stopped => return,
                StepEnd::Expired => {
                    self.position = None;
                    // A server that forgets at once is not hammered either.
                    let before = self.expired.replace(Instant::now());
                    let again = before.is_some_and(|before| before.elapsed() < GOOD);
                    if again && self.pause(self.inner.options.backoff).await {
                        return;
                    }
                }
                StepEnd::Renewed => {
                    self.failures = 0;
                    // A server that ends every watch at once is not hammered.
                    if begun.elapsed() < GOOD && self.pause(self.inner.options.backoff).await {
                        return;
                    }
                }
                StepEnd::Failed(failure) => {
                    if begun.elapsed() > GOOD {
                        self.failures = 0;
                    }
                    if self.failed(&failure).await {
                        return;
                    }
                }
            }
        }
    }

    /// Notes a failure and waits; whether to stop.
    async fn failed(&mut self, failure: &RequestError) -> bool {
        self.failures += 1;
        let name = self.target.resource.name();
        tracing::debug!(resource = %name, failures = self.failures, "watch failed: {}", failure.words());
        let due = self.failures == REPORTED_AFTER || self.failures >= REPORTED_AGAIN;
        if due || (failure.is_denied() && self.failures == 1) {
            let row = self.failure(failure);
            self.emitted = true;
            if self.send(vec![row], None).await {
                return true;
            }
        }
        let doubled = 2_u32.saturating_pow(self.failures.saturating_sub(1).min(10));
        let pause = self.inner.options.backoff.saturating_mul(doubled);
        // An API server that starts refuses everybody until it has read who may do what.
        let pause = if failure.is_denied() && self.failures > DOUBTED {
            LONGEST_PAUSE
        } else {
            pause
        };
        self.pause(self.jittered(pause.min(LONGEST_PAUSE))).await
    }

    /// Up to a quarter more or less, so that the watches of a server that comes
    /// back do not all come at once.
    fn jittered(&self, pause: Duration) -> Duration {
        let mut hash = blake3::Hasher::new();
        hash.update(&self.inner.options.seed.to_le_bytes());
        hash.update(self.inner.id.as_bytes());
        hash.update(self.target.path().as_bytes());
        hash.update(&self.failures.to_le_bytes());
        let by = hash.finalize().as_bytes()[0];
        pause.mul_f64(0.75 + f64::from(by) / 512.0)
    }

    /// Waits; whether to stop.
    async fn pause(&self, pause: Duration) -> bool {
        tokio::select! {
            () = self.stop.cancelled() => true,
            () = self.to.closed() => true,
            () = tokio::time::sleep(pause) => false,
        }
    }

    /// Sends rows; whether nobody takes them.
    async fn send(&self, coverage: Vec<Coverage>, cursor: Option<Cursor>) -> bool {
        let batch = Batch {
            coverage,
            cursor,
            ..Batch::default()
        };
        self.to.send(batch).await.is_err()
    }

    fn cursor(&self, position: &str) -> Cursor {
        Cursor {
            place: self.inner.id.to_string(),
            resource: self.target.resource.name(),
            namespace: self.target.namespace.clone().unwrap_or_default(),
            position: position.to_owned(),
            at: (self.clock)(),
        }
    }

    /// Lists what there is; a watch then goes on from the list's moment.
    async fn list(&mut self) -> StepEnd {
        let now = (self.clock)();
        let reading = ListOptions {
            exact: true,
            ..ListOptions::whole(&self.inner, now, Instant::now() + LISTING)
        };
        let (pages_to, mut pages) = mpsc::channel(1);
        let inner = Arc::clone(&self.inner);
        let target = self.target.clone();
        let decoder = Arc::new(target.decoder(&inner, &target.path()));
        let listing = async move { list(&inner, &target, &decoder, &reading, &pages_to).await };
        let taking = async {
            while let Some(page) = pages.recv().await {
                let observations = self.quiet.keep(page);
                let batch = Batch {
                    observations,
                    ..Batch::default()
                };
                if !batch.observations.is_empty() && self.to.send(batch).await.is_err() {
                    return;
                }
            }
        };
        let both = async { tokio::join!(listing, taking) };
        let (listed, ()) = tokio::select! {
            () = self.stop.cancelled() => return StepEnd::Stopped,
            both = both => both,
        };
        if self.to.is_closed() {
            return StepEnd::Stopped;
        }
        self.listed(listed, now).await
    }

    async fn listed(&mut self, listed: ListOutcome, now: Nanos) -> StepEnd {
        if let Some(failure) = listed.failure {
            return StepEnd::Failed(failure);
        }
        if let Some(cut) = listed.cut {
            return StepEnd::Failed(RequestError::Garbage(cut));
        }
        if listed.resource_version.is_empty() {
            return StepEnd::Failed(RequestError::Garbage(
                "a list without resourceVersion".to_owned(),
            ));
        }
        let mut rows: Vec<Coverage> = self.gap(now).into_iter().collect();
        self.emitted = false;
        if let Some(first) = listed.first_rejected {
            rows.push(Coverage {
                status: Status::Truncated,
                detail: Some(format!(
                    "{} could not be used, the first: {first}",
                    listed.rejected
                )),
                rows: listed.rows,
                ..self.row(now)
            });
        }
        let cursor = self.cursor(&listed.resource_version);
        self.position = Some(listed.resource_version);
        self.seen = Some(now);
        if self.send(rows, Some(cursor)).await {
            return StepEnd::Stopped;
        }
        self.failures = 0;
        // The watch follows without a pause.
        Box::pin(self.watch_from_here()).await
    }

    async fn watch_from_here(&mut self) -> StepEnd {
        match self.position.clone() {
            Some(position) => self.watch(&position).await,
            None => StepEnd::Expired,
        }
    }

    /// Reads one watch to its end.
    async fn watch(&mut self, position: &str) -> StepEnd {
        let lasts = self.inner.options.watch_lasts;
        let version: String = url::form_urlencoded::byte_serialize(position.as_bytes()).collect();
        let path = format!(
            "{}?watch=1&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={version}",
            self.target.path(),
            lasts.as_secs().max(1),
        );
        let after = self.inner.options.request_timeout;
        let opening = timeout(after, self.inner.wire.open(&path, None, false));
        let opened = tokio::select! {
            () = self.stop.cancelled() => return StepEnd::Stopped,
            opened = opening => opened.unwrap_or(Err(RequestError::TimedOut(after))),
        };
        let answer = match opened {
            Ok(answer) => answer,
            Err(failure) if failure.is_expired() => return StepEnd::Expired,
            Err(failure) => return StepEnd::Failed(failure),
        };
        let mut lines = Lines::new(answer, self.inner.options.max_line_bytes);
        let mut pending = PendingChanges::default();
        let silent = tokio::time::Instant::now() + lasts + SILENCE;
        let mut number = 0;
        let end = loop {
            let next = tokio::select! {
                biased;
                () = self.stop.cancelled() => break StepEnd::Stopped,
                () = sleep_until(pending.due()), if pending.is_due() => {
                    if self.flush(&mut pending).await {
                        return StepEnd::Stopped;
                    }
                    continue;
                }
                next = lines.next() => next,
                () = sleep_until(silent) => {
                    break StepEnd::Failed(RequestError::TimedOut(lasts + SILENCE));
                }
            };
            number += 1;
            match next {
                Ok(Next::Line(line)) => {
                    let line = String::from_utf8_lossy(&line);
                    match pending.take(&line, number, &self.decoder, (self.clock)()) {
                        Ok(()) => {}
                        Err(failure) if failure.is_expired() => break StepEnd::Expired,
                        Err(failure @ RequestError::Status { .. }) => {
                            break StepEnd::Failed(failure);
                        }
                        Err(failure) => pending.reject(&failure.words()),
                    }
                }
                Ok(Next::TooLong) => pending.reject("a line that is too long"),
                Ok(Next::End) => break StepEnd::Renewed,
                Err(error) => {
                    break StepEnd::Failed(RequestError::Broken(super::error::chain(&error)));
                }
            }
            if pending.is_full() && self.flush(&mut pending).await {
                return StepEnd::Stopped;
            }
        };
        if self.flush(&mut pending).await {
            return StepEnd::Stopped;
        }
        end
    }

    /// Sends what has come; whether nobody takes it.
    async fn flush(&mut self, pending: &mut PendingChanges) -> bool {
        let now = (self.clock)();
        let mut coverage = Vec::new();
        if let Some((count, first)) = pending.take_rejected() {
            coverage.push(Coverage {
                mode: Mode::Interval,
                asked_from: self.seen,
                status: Status::Truncated,
                detail: Some(format!(
                    "{count} lines of the watch could not be used, the first: {first}"
                )),
                would_have_shown: Some(self.target.resource.shows().to_owned()),
                ..self.row(now)
            });
        }
        let (observations, position) = pending.drain();
        let observations = self.quiet.keep(observations);
        let cursor = position.map(|position| {
            if std::mem::take(&mut self.emitted) {
                coverage.push(self.healed(now));
            }
            let cursor = self.cursor(&position);
            self.position = Some(position);
            self.seen = Some(now);
            self.failures = 0;
            cursor
        });
        if observations.is_empty() && cursor.is_none() && coverage.is_empty() {
            return false;
        }
        let batch = Batch {
            observations,
            cursor,
            coverage,
        };
        self.to.send(batch).await.is_err()
    }

    fn row(&self, now: Nanos) -> Coverage {
        let resource = &self.target.resource;
        Coverage {
            mode: cover::mode(resource),
            ..cover::row(
                &self.inner,
                &resource.name(),
                self.target.namespace.as_deref(),
                now,
            )
        }
    }

    fn failure(&self, failure: &RequestError) -> Coverage {
        let now = (self.clock)();
        let resource = &self.target.resource;
        if failure.is_denied() {
            let namespace = self.target.namespace.as_deref();
            let why = failure.words();
            return cover::denied(
                &self.inner,
                resource,
                "list, watch",
                namespace,
                Some(&why),
                now,
            );
        }
        Coverage {
            mode: Mode::Interval,
            asked_from: self.seen.map(|seen| seen.min(now)),
            status: Status::Failed,
            detail: Some(format!(
                "the watch of {} failed {} times in a row and is tried further: {}",
                self.target.path(),
                self.failures,
                failure.words()
            )),
            would_have_shown: Some(resource.shows().to_owned()),
            ..self.row(now)
        }
    }

    /// The row in place of [`Self::failure`]'s once the watch went on where it was.
    fn healed(&self, now: Nanos) -> Coverage {
        let from = self.seen.map(|seen| seen.min(now));
        Coverage {
            mode: Mode::Interval,
            asked_from: from,
            got_from: from,
            got_to: Some(now),
            detail: Some(format!(
                "the watch of {} failed and then went on where it was: nothing is missing",
                self.target.path()
            )),
            ..self.row(now)
        }
    }

    /// The row of the time between the last that was followed and this list.
    fn gap(&self, now: Nanos) -> Option<Coverage> {
        // The clock may have been set back meanwhile.
        let from = self.seen?.min(now);
        let resource = &self.target.resource;
        // The server keeps Events for a while, so the list has them all.
        let is_retained = resource.is_events() && now - from < cover::EVENTS_RETENTION_S * SECOND;
        let (status, would_have_shown) = if is_retained {
            (Status::Complete, None)
        } else {
            let missed = "objects that came and went in between, and states that did not last";
            (Status::Truncated, Some(missed.to_owned()))
        };
        let detail = format!(
            "not watched from {} to {}, because the resourceVersion had expired; it was listed again",
            rfc3339(from),
            rfc3339(now)
        );
        Some(Coverage {
            mode: Mode::Interval,
            asked_from: Some(from),
            got_from: is_retained.then_some(from),
            got_to: is_retained.then_some(now),
            status,
            detail: Some(detail),
            would_have_shown,
            ..self.row(now)
        })
    }
}
