//! Sources that are asked again and again, played by one that does as it is told.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use tokio::sync::mpsc;
use whathappened_model::connector::{Clock, Connector, FetchRequest, Health, Stop, Window};
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::intake::WriteBatch;
use super::polls::Poll;
use super::status::CollectorStatus;
use super::*;

const NOW: Nanos = 1_795_000_000 * SECOND;
const HOUR: Nanos = 3_600 * SECOND;

/// A cloud that answers with the statuses it was told, then always in full.
#[derive(Debug, Default)]
struct FakeCloud {
    statuses: Mutex<VecDeque<Status>>,
    asked: Mutex<Vec<Window>>,
}

impl Connector for FakeCloud {
    fn name(&self) -> &'static str {
        "aws"
    }

    fn place(&self) -> &'static str {
        "123"
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::Aws
    }

    fn check(&self, _: Nanos, _: Instant) -> BoxFuture<'_, Health> {
        Box::pin(async { Health::default() })
    }

    fn fetch<'a>(
        &'a self,
        ask: &'a FetchRequest,
        sink: &'a mut (dyn Sink + Send),
    ) -> BoxFuture<'a, Vec<Coverage>> {
        self.asked.lock().unwrap().push(ask.window);
        let status = self.statuses.lock().unwrap().pop_front();
        let status = status.unwrap_or(Status::Complete);
        if status != Status::Failed {
            let at = Stamp::second(ask.window.to.unwrap() - SECOND);
            let id = EventId::of(&["test", &at.lo.to_string()]);
            let event = Event::new(id, "test", at, SourceKind::Aws);
            sink.observe(vec![Observation::Event(Box::new(event))]);
        }
        let row = Coverage {
            asked_from: ask.window.from,
            asked_to: ask.window.to,
            status,
            detail: Some("as told".to_owned()),
            ..Coverage::new("aws", "activity")
        };
        Box::pin(async { vec![row] })
    }
}

struct PollTest {
    cloud: Arc<FakeCloud>,
    now: Arc<AtomicI64>,
    poll: Poll,
    parcels: mpsc::Receiver<WriteBatch>,
    until: Nanos,
}

impl PollTest {
    fn new(statuses: &[Status], until: Nanos) -> Self {
        let cloud = Arc::new(FakeCloud::default());
        cloud.statuses.lock().unwrap().extend(statuses);
        let now = Arc::new(AtomicI64::new(NOW));
        let reported = Arc::clone(&now);
        let clock: Clock = Arc::new(move || reported.load(Ordering::Relaxed));
        let collector_status = Arc::new(CollectorStatus::default());
        let stop = Stop::new();
        let (intake, parcels) = intake::open(&collector_status, &stop);
        let how = CollectOptions {
            lake: None,
            store: "none".into(),
            limits: Limits::default(),
            rules: Arc::new(Rules::load(&[]).unwrap()),
            clock,
            seed: 1,
            say: Arc::new(|_| {}),
        };
        let schedule = schedule::of(SourceKind::Aws).unwrap();
        let source: Arc<dyn Connector> = Arc::clone(&cloud) as Arc<dyn Connector>;
        Self {
            poll: Poll::new(source, schedule, how, intake, &collector_status, &stop),
            cloud,
            now,
            parcels,
            until,
        }
    }

    /// One question; the pause after it and what is kept.
    async fn step(&mut self) -> (Duration, WriteBatch) {
        let pause = self.poll.step(&mut self.until).await;
        (pause, self.parcels.try_recv().unwrap())
    }

    fn asked(&self) -> Vec<(Nanos, Nanos)> {
        let asked = self.cloud.asked.lock().unwrap();
        let both = asked.iter().map(|one| (one.from.unwrap(), one.to.unwrap()));
        both.collect()
    }
}

fn row<'p>(write_batch: &'p WriteBatch, what: &str) -> Option<&'p (String, Coverage)> {
    let starts = format!("{what}|");
    write_batch
        .coverage
        .iter()
        .find(|(key, _)| key.starts_with(&starts))
}

#[tokio::test]
async fn what_was_missed_is_caught_up_on_without_a_hole() {
    let mut play = PollTest::new(&[], NOW - 20 * HOUR);
    let mut cursors = Vec::new();
    loop {
        let (pause, write_batch) = play.step().await;
        assert_eq!(write_batch.observations.len(), 1);
        cursors.push(write_batch.cursors[0].position.parse::<Nanos>().unwrap());
        if pause > Duration::ZERO {
            assert!(pause > Duration::from_secs(200), "{pause:?}");
            break;
        }
    }
    assert_eq!(cursors.last(), Some(&NOW));
    let asked = play.asked();
    assert_eq!(asked.len(), 4, "{asked:?}");
    let mut until = NOW - 20 * HOUR;
    for ((from, to), cursor) in asked.iter().zip(&cursors) {
        // What CloudTrail tells late lies before where the last question ended.
        assert!(until - from >= 15 * 60 * SECOND, "{asked:?}");
        assert_eq!(to, cursor);
        until = *to;
    }
}

#[tokio::test]
async fn an_outage_moves_no_cursor_and_is_taken_back_when_it_is_over() {
    let mut play = PollTest::new(&[Status::Failed; 3], NOW - HOUR);
    let mut key = None;
    let mut pauses = Vec::new();
    for n in 0..3 {
        play.now.store(NOW + n * 60 * SECOND, Ordering::Relaxed);
        let (pause, write_batch) = play.step().await;
        pauses.push(pause);
        assert!(write_batch.cursors.is_empty());
        let (now, row) = row(&write_batch, "outage").unwrap().clone();
        assert_eq!(row.status, Status::Failed);
        assert_eq!(row.asked_from, Some(NOW - HOUR));
        assert_eq!(row.asked_to, Some(NOW + n * 60 * SECOND));
        assert_eq!(*key.get_or_insert(now.clone()), now);
    }
    assert!(pauses[0] < pauses[1] && pauses[1] < pauses[2], "{pauses:?}");
    let (_, write_batch) = play.step().await;
    let (again, row) = row(&write_batch, "outage").unwrap();
    assert_eq!(Some(again), key.as_ref());
    assert_eq!(row.status, Status::Complete);
    assert!(play.asked()[3].0 < NOW - HOUR, "{:?}", play.asked());
}

#[tokio::test]
async fn what_is_too_much_at_once_is_asked_for_in_smaller_stretches() {
    let mut play = PollTest::new(&[Status::Truncated; 2], NOW - 6 * HOUR);
    for _ in 0..3 {
        play.step().await;
    }
    let lengths: Vec<Nanos> = play
        .asked()
        .iter()
        .map(|(_, to)| to - (NOW - 6 * HOUR))
        .collect();
    assert_eq!(lengths, [6 * HOUR, 3 * HOUR, 3 * HOUR / 2]);
}

#[tokio::test]
async fn what_stays_short_is_told_and_does_not_hold_up_the_rest() {
    let mut play = PollTest::new(&[Status::Truncated; 20], NOW - 200 * SECOND);
    for _ in 0..2 {
        let (_, write_batch) = play.step().await;
        assert!(write_batch.cursors.is_empty());
        // What it told is kept all the same.
        assert_eq!(write_batch.observations.len(), 1);
    }
    let (_, write_batch) = play.step().await;
    assert_eq!(write_batch.cursors[0].position, NOW.to_string());
    let (_, row) = row(&write_batch, "short").unwrap();
    assert_eq!(row.status, Status::Truncated);
}

#[tokio::test]
async fn a_clock_that_was_set_back_asks_for_no_time_to_come() {
    let mut play = PollTest::new(&[], NOW + 48 * HOUR);
    let (_, write_batch) = play.step().await;
    let (from, to) = play.asked()[0];
    assert!(from < to && to <= NOW, "{from} {to}");
    assert_eq!(write_batch.cursors[0].position, NOW.to_string());
}

#[tokio::test]
async fn what_the_source_has_forgotten_is_a_gap() {
    let mut play = PollTest::new(&[], NOW - 200 * 24 * HOUR);
    let (_, write_batch) = play.step().await;
    let (_, row) = row(&write_batch, "gap").unwrap();
    assert_eq!(row.status, Status::Expired);
    assert_eq!(row.asked_from, Some(NOW - 200 * 24 * HOUR));
    assert_eq!(row.asked_to, Some(NOW - 90 * 24 * HOUR));
    assert!(play.asked()[0].0 >= NOW - 90 * 24 * HOUR);
}

#[tokio::test]
async fn a_day_is_one_row_however_often_it_is_asked() {
    let mut play = PollTest::new(&[], NOW);
    let mut keys = std::collections::BTreeSet::new();
    let mut last = None;
    for n in 1..20 {
        play.now.store(NOW + n * 300 * SECOND, Ordering::Relaxed);
        let (_, write_batch) = play.step().await;
        let (key, row) = row(&write_batch, "day").unwrap().clone();
        keys.insert(key);
        last = Some(row);
    }
    assert!(keys.len() <= 2, "{keys:?}");
    let last = last.unwrap();
    assert!(last.asked_to.unwrap() - last.asked_from.unwrap() > HOUR / 2);
}

/// What is acknowledged is in the store, with a cursor beside it, when the
/// collector ends; what comes afterwards is refused.
#[tokio::test(flavor = "multi_thread")]
async fn what_is_acknowledged_is_kept_and_the_rest_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let how = CollectOptions {
        lake: None,
        store: folder.path().join("store"),
        limits: Limits::default(),
        rules: Arc::new(Rules::load(&[]).unwrap()),
        clock: Arc::new(|| NOW),
        seed: 1,
        say: Arc::new(|_| {}),
    };
    let stop = Stop::new();
    let collector = Collector::start(CollectTargets::default(), &how, &stop).unwrap();
    let intake = collector.intake();
    let event = |n: u64| {
        let id = EventId::of(&["test", &n.to_string()]);
        let event = Event::new(id, "test", Stamp::second(NOW), SourceKind::Aws);
        Observation::Event(Box::new(event))
    };
    for n in 0..10 {
        let stored = intake.keep(vec![event(n), event(n)], Vec::new()).await;
        assert_eq!(stored, Ok(WriteReceipt { reported: 2 }));
    }
    // More than there can ever be room for at once.
    let room = intake.room(60 << 20).unwrap();
    assert_eq!(intake.room(60 << 20).unwrap_err(), IntakeError::Full);
    drop(room);
    assert!(intake.room(60 << 20).is_ok());
    stop.cancel();
    let totals = collector.finish().await.unwrap();
    assert_eq!((totals.reported, totals.new), (20, 10));
    let late = intake.keep(vec![event(11)], Vec::new()).await;
    assert_eq!(late, Err(IntakeError::Stopping));
    assert_eq!(
        intake.room(1).unwrap_err(),
        IntakeError::Broken("the collector has ended".to_owned())
    );
    let store = Store::open_to_read(&how.store).unwrap();
    assert_eq!(store.status().unwrap().hot, 10);
    // Who has no source is missed by nobody.
    assert!(store.cursors(heartbeat::PLACE).unwrap().is_empty());
}

/// A segment that is gone costs what it held, and stops nobody.
#[tokio::test(flavor = "multi_thread")]
async fn a_segment_that_is_gone_stops_nobody() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store");
    let how = CollectOptions {
        lake: None,
        store: path.clone(),
        limits: Limits::default(),
        rules: Arc::new(Rules::load(&[]).unwrap()),
        clock: Arc::new(|| NOW),
        seed: 1,
        say: Arc::new(|_| {}),
    };
    let stop = Stop::new();
    let collector = Collector::start(CollectTargets::default(), &how, &stop).unwrap();
    let (intake, collector_status) = (collector.intake(), collector.collector_status());
    let event = |n: u64| {
        let id = EventId::of(&["test", &n.to_string()]);
        let event = Event::new(id, "test", Stamp::second(NOW), SourceKind::Aws);
        Observation::Event(Box::new(event))
    };
    assert!(intake.keep(vec![event(1)], Vec::new()).await.is_ok());
    Store::open(&path, how.limits).unwrap().flush(NOW).unwrap();
    std::fs::remove_file(segment(&path)).unwrap();
    assert!(intake.keep(vec![event(1)], Vec::new()).await.is_ok());
    let read = WriteBatch {
        observations: vec![event(1), event(2)],
        ..WriteBatch::default()
    };
    assert!(intake.hand(read).await);
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(collector_status.broken().is_none());
    stop.cancel();
    collector.finish().await.unwrap();
    let status = Store::open_to_read(&path).unwrap().status().unwrap();
    assert_eq!(status.hot, 2);
}

/// The only segment of a store.
fn segment(store: &std::path::Path) -> PathBuf {
    let day = std::fs::read_dir(store.join("events")).unwrap().next();
    let mut files = std::fs::read_dir(day.unwrap().unwrap().path()).unwrap();
    files.next().unwrap().unwrap().path()
}
