//! Sources that cannot be followed: asked again and again, each stretch of time
//! from a little before where the last question ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use whathappened_model::connector::{Connector, Cursor, FetchRequest, Scope, Stop, Window};
use whathappened_model::coverage::{Coverage, Mode, Status};
use whathappened_model::observation::Observation;
use whathappened_model::time::{Nanos, SECOND, rfc3339};
use whathappened_store::{Store, StoreError};

use super::intake::{Intake, WriteBatch};
use super::jitter::Jitter;
use super::outcome::{PollOutcome, judge};
use super::schedule::PollSchedule;
use super::status::CollectorStatus;
use super::{CollectOptions, heartbeat};

/// How long one question may take.
const PATIENCE: Duration = Duration::from_secs(120);
/// The pause after the first question that was not answered; doubles.
const FIRST: Duration = Duration::from_secs(5);
/// The longest such pause.
const LONGEST: Duration = Duration::from_secs(600);
/// The shortest stretch that a question is cut to.
const SHORTEST: Nanos = 300 * SECOND;
/// How often a stretch is asked for that comes short each time.
const TRIES: u32 = 3;
/// Observations that are written at once.
const LOT: usize = 2_000;

const DAY: Nanos = 86_400 * SECOND;

/// One source, and how far it was read.
pub(super) struct Poll {
    source: Arc<dyn Connector>,
    schedule: PollSchedule,
    how: CollectOptions,
    intake: Intake,
    collector_status: Arc<CollectorStatus>,
    stop: Stop,
    jitter: Jitter,
    /// How long a stretch the next question is about at most.
    slice: Nanos,
    /// Questions in a row that came short, or were not answered.
    failures: u32,
    /// A row says that it does not answer since then.
    outage: Option<Nanos>,
    /// The start of what is said of each day and resource.
    days: BTreeMap<String, Coverage>,
}

impl Poll {
    pub(super) fn new(
        source: Arc<dyn Connector>,
        schedule: PollSchedule,
        how: CollectOptions,
        intake: Intake,
        collector_status: &Arc<CollectorStatus>,
        stop: &Stop,
    ) -> Self {
        Self {
            jitter: Jitter::new(how.seed),
            slice: schedule.slice,
            source,
            schedule,
            how,
            intake,
            collector_status: Arc::clone(collector_status),
            stop: stop.clone(),
            failures: 0,
            outage: None,
            days: BTreeMap::new(),
        }
    }

    /// Asks until the stop.
    pub(super) async fn run(mut self) {
        let until = match self.until().await {
            Ok(until) => until,
            Err(error) => {
                tracing::warn!(%error, source = self.source.name(), "the cursor cannot be read");
                None
            }
        };
        let again = until.map_or_else(String::new, |until| format!(" from {}", rfc3339(until)));
        (self.how.say)(&format!("polling {}{again}", self.source.name()));
        let mut until = until.unwrap_or_else(|| (self.how.clock)() - self.schedule.first);
        let (stop, intake) = (self.stop.clone(), self.intake.clone());
        loop {
            let pause = tokio::select! {
                () = stop.cancelled() => return,
                () = intake.closed() => return,
                pause = self.step(&mut until) => pause,
            };
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// The cursor's name among those of the source's place.
    fn resource(&self) -> String {
        format!("poll of {}", self.source.name())
    }

    /// Until when the source was read.
    async fn until(&self) -> Result<Option<Nanos>, StoreError> {
        let (path, place) = (self.how.store.clone(), self.source.place().to_owned());
        let read = move || Store::open_to_read(&path)?.cursors(&place);
        let cursors = match tokio::task::spawn_blocking(read).await {
            Ok(cursors) => cursors?,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        };
        let resource = self.resource();
        let own = cursors.iter().find(|cursor| cursor.resource == resource);
        Ok(own.and_then(|cursor| cursor.position.parse().ok()))
    }

    /// Asks for the next stretch and keeps what is said; how long to wait then.
    pub(super) async fn step(&mut self, until: &mut Nanos) -> Duration {
        let now = (self.how.clock)();
        // The clock may have been set back.
        let mut done = (*until).min(now);
        let mut rows = Vec::new();
        let forgotten = now - self.schedule.keeps;
        if done < forgotten {
            rows.push(self.gap(done, forgotten));
            done = forgotten;
        }
        let to = now.min(done.saturating_add(self.slice));
        let ask = FetchRequest {
            scope: Scope::default(),
            window: Window {
                from: Some((done - self.schedule.late).max(forgotten)),
                to: Some(to),
            },
            now,
            deadline: Instant::now() + PATIENCE,
        };
        let mut reported: Vec<Observation> = Vec::new();
        let fetched = self.source.fetch(&ask, &mut reported).await;
        let went = judge(&fetched);
        let moves = match went {
            PollOutcome::Well => true,
            PollOutcome::Not => false,
            // What is still short after all is told as such.
            PollOutcome::Short => to - done <= SHORTEST && self.failures + 1 >= TRIES,
        };
        self.failures = if moves { 0 } else { self.failures + 1 };
        if moves {
            rows.extend(self.over(done, to));
            rows.extend(self.daily(&fetched, done, to, went));
            self.slice = (self.slice * 2).min(self.schedule.slice);
        } else {
            rows.push(self.short(&fetched, done, now));
            self.slice = (self.slice.min(to - done) / 2).max(SHORTEST);
        }
        self.note(&fetched, moves, to, reported.len());
        if !self.keep(reported, rows, moves.then_some(to)).await {
            return LONGEST;
        }
        if !moves {
            return self.jitter.backoff(self.failures, FIRST, LONGEST);
        }
        *until = to;
        if to < now {
            Duration::ZERO
        } else {
            self.jitter.about(self.schedule.every)
        }
    }

    /// Hands over what was told; the cursor comes with the last of it.
    async fn keep(
        &self,
        mut reported: Vec<Observation>,
        coverage: Vec<(String, Coverage)>,
        until: Option<Nanos>,
    ) -> bool {
        while reported.len() > LOT {
            let rest = reported.split_off(LOT);
            let write_batch = WriteBatch {
                observations: std::mem::replace(&mut reported, rest),
                ..WriteBatch::default()
            };
            if !self.intake.hand(write_batch).await {
                return false;
            }
        }
        let cursor = until.map(|until| Cursor {
            place: self.source.place().to_owned(),
            resource: self.resource(),
            namespace: String::new(),
            position: until.to_string(),
            at: (self.how.clock)(),
        });
        let write_batch = WriteBatch {
            observations: reported,
            cursors: cursor.into_iter().collect(),
            coverage,
            receipt: None,
        };
        self.intake.hand(write_batch).await
    }

    fn row(&self, from: Nanos, to: Nanos) -> Coverage {
        Coverage {
            mode: Mode::Interval,
            asked_from: Some(from),
            asked_to: Some(to),
            retention_s: Some(self.schedule.keeps / SECOND),
            ..Coverage::new(self.source.name(), self.schedule.gap.0)
        }
    }

    /// What the source has forgotten before it was asked.
    fn gap(&self, from: Nanos, to: Nanos) -> (String, Coverage) {
        self.collector_status
            .gap((self.source.name(), self.source.place(), "poll"));
        let row = Coverage {
            status: Status::Expired,
            detail: Some(format!(
                "not queried from {} to {}, and the data has expired since",
                rfc3339(from),
                rfc3339(to)
            )),
            would_have_shown: Some(self.schedule.gap.1.to_owned()),
            ..self.row(from, to)
        };
        (heartbeat::key("gap", &row, from), row)
    }

    /// The row of a source that does not answer, or not in full, since `from`;
    /// it grows while that lasts.
    fn short(&mut self, fetched: &[Coverage], from: Nanos, now: Nanos) -> (String, Coverage) {
        let from = *self.outage.get_or_insert(from);
        let why = fetched.iter().find_map(|row| {
            let short = matches!(row.status, Status::Failed | Status::Truncated);
            row.detail.as_ref().filter(|_| short)
        });
        let why = why.map_or("no reason was given", String::as_str);
        let row = Coverage {
            status: Status::Failed,
            detail: Some(format!(
                "not read from {} to {} yet, still retrying: {why}",
                rfc3339(from),
                rfc3339(now)
            )),
            would_have_shown: Some(self.schedule.gap.1.to_owned()),
            ..self.row(from, now)
        };
        (heartbeat::key("outage", &row, from), row)
    }

    /// Takes the row of an outage back, as far as it was caught up on.
    fn over(&mut self, done: Nanos, to: Nanos) -> Option<(String, Coverage)> {
        let from = self.outage.take()?;
        let row = Coverage {
            got_from: Some(from.min(done)),
            got_to: Some(to),
            detail: Some("it did not respond for a while; this was read later".to_owned()),
            ..self.row(from, to)
        };
        Some((heartbeat::key("outage", &row, from), row))
    }

    /// A row a day and resource that grows with each question, and one for each
    /// stretch that stayed short.
    fn daily(
        &mut self,
        fetched: &[Coverage],
        from: Nanos,
        to: Nanos,
        went: PollOutcome,
    ) -> Vec<(String, Coverage)> {
        let day = to / DAY;
        self.days
            .retain(|_, row| row.asked_to.is_some_and(|at| at / DAY == day));
        let mut rows = Vec::new();
        for row in fetched {
            if went == PollOutcome::Short
                && matches!(row.status, Status::Failed | Status::Truncated)
            {
                rows.push((heartbeat::key("short", row, from), row.clone()));
                continue;
            }
            let key = heartbeat::key("day", row, day);
            let grown = match self.days.get(&key).filter(|_| row.mode == Mode::Interval) {
                Some(before) => Coverage {
                    asked_from: earlier(before.asked_from, row.asked_from),
                    got_from: earlier(before.got_from, row.got_from),
                    rows: before.rows + row.rows,
                    ..row.clone()
                },
                None => row.clone(),
            };
            self.days.insert(key.clone(), grown.clone());
            rows.push((key, grown));
        }
        rows
    }

    fn note(&self, fetched: &[Coverage], moves: bool, to: Nanos, reported: usize) {
        let of = (self.source.name(), self.source.place(), "poll");
        self.collector_status.reported(of, reported as u64);
        let denied = fetched.iter().find(|row| row.status == Status::Denied);
        let failed = fetched
            .iter()
            .find(|row| matches!(row.status, Status::Failed | Status::Truncated));
        let why = failed.or(denied).and_then(|row| row.detail.as_deref());
        if moves {
            self.collector_status.reached(of, to);
        } else {
            let why = why.unwrap_or("no reason was given");
            tracing::warn!(source = of.0, failures = self.failures, "{why}");
            self.collector_status.failed(of, why);
        }
    }
}

/// The earlier of two times that may be unknown.
fn earlier(a: Option<Nanos>, b: Option<Nanos>) -> Option<Nanos> {
    a.into_iter().chain(b).min()
}
