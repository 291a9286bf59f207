//! Writes what comes, so that what is acknowledged is kept and what is not kept
//! is not acknowledged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;
use whathappened_model::connector::{Clock, Cursor, Stop};
use whathappened_model::coverage::Coverage;
use whathappened_model::observation::Observation;
use whathappened_model::redact;
use whathappened_store::{Store, StoreError, lake};

use super::CollectOptions;
use super::heartbeat::{self, ClockMonitor};
use super::intake::{IntakeError, QUEUE, WriteBatch, WriteReceipt};
use super::status::CollectorStatus;
use crate::case::Rules;
use crate::error::Error;

/// How long a store that cannot be written is left alone; doubles.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest such pause.
const LONGEST: Duration = Duration::from_secs(15);

/// The one that writes small batches.
pub(super) struct StoreWriter {
    store: Store,
    rules: Arc<Rules>,
    clock: Clock,
    collector_status: Arc<CollectorStatus>,
    clock_monitor: ClockMonitor,
    /// What is said of ourselves and was not written yet.
    own: Vec<(String, Coverage)>,
    /// Whether there is anything to collect: who has nothing was never there.
    collects: bool,
    /// Whether the store is the index of a lake, which takes nothing in.
    is_index: bool,
}

impl StoreWriter {
    /// Opens the books: reads when the collector was last there.
    pub(super) fn new(
        store: Store,
        how: &CollectOptions,
        collector_status: &Arc<CollectorStatus>,
        pushed: &[Coverage],
        collects: bool,
    ) -> Result<Self, Error> {
        let now = (how.clock)();
        let own = heartbeat::absence(&store.cursors(heartbeat::PLACE)?, pushed, now);
        for (_, row) in &own {
            collector_status.gap((&row.source, "", &row.resource));
        }
        Ok(Self {
            store,
            rules: Arc::clone(&how.rules),
            clock: Arc::clone(&how.clock),
            collector_status: Arc::clone(collector_status),
            clock_monitor: ClockMonitor::new(now, Instant::now()),
            own,
            collects,
            is_index: lake::is_index(&how.store),
        })
    }

    /// Notes what cannot be collected at all.
    pub(super) fn note_uncollected(&mut self, row: Coverage) {
        let hour = (self.clock)() / heartbeat::HOUR;
        self.own.push((heartbeat::key("state", &row, hour), row));
    }

    /// Keeps what comes until `last`, and what waits then. To be called on a
    /// thread that may wait; with `stop`, a broken store is not waited for.
    ///
    /// # Errors
    /// When the store can still not be written once it is time to stop.
    pub(super) fn run(
        mut self,
        mut from: mpsc::Receiver<WriteBatch>,
        (stop, last): (&Stop, &Stop),
    ) -> Result<(), Error> {
        let waiting = Handle::current();
        let collector_status = Arc::clone(&self.collector_status);
        let stored = loop {
            let mut parcels = Vec::new();
            match waiting.block_on(next(&mut from, last)) {
                NextBatch::Parcel(write_batch) => parcels.push(*write_batch),
                NextBatch::Over => break self.last(),
                // The mark moves, and a broken store is tried.
                NextBatch::Nothing => {}
            }
            // What waits is written together: one transaction costs one wait for the disk.
            while !parcels.is_empty()
                && parcels.len() < QUEUE
                && let Ok(more) = from.try_recv()
            {
                parcels.push(more);
            }
            if let Err(error) = self.keep(parcels, &waiting, stop) {
                break Err(error);
            }
        };
        collector_status.over();
        stored.map_err(Error::from)
    }

    /// The last mark.
    fn last(&mut self) -> Result<(), StoreError> {
        self.write(&mut MergedBatch::default()).map(|_| ())
    }

    /// Writes parcels; those that nobody else keeps are tried until they are written.
    fn keep(
        &mut self,
        mut parcels: Vec<WriteBatch>,
        waiting: &Handle,
        stop: &Stop,
    ) -> Result<(), StoreError> {
        let mut pause = PAUSE;
        loop {
            let mut joined = MergedBatch::of(&mut parcels);
            let reported = joined.parts.iter().map(|part| part.reported as u64).sum();
            let began = Instant::now();
            let error = match self.write(&mut joined) {
                Ok(new) => {
                    metrics::histogram!("whathappened_collector_commit_seconds")
                        .record(began.elapsed());
                    self.collector_status.store(None);
                    self.collector_status.stored(reported, new);
                    joined.acknowledge();
                    return Ok(());
                }
                Err(error) => error,
            };
            tracing::error!(%error, "cannot write to the store");
            metrics::counter!("whathappened_store_errors_total").increment(1);
            self.collector_status.store(Some(error.to_string()));
            // Whoever waits for a receipt has it still and comes again.
            parcels = joined.refuse(&error.to_string());
            if parcels.is_empty() {
                return Ok(());
            }
            if stop.is_cancelled() {
                return Err(error);
            }
            waiting.block_on(async {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = tokio::time::sleep(pause) => {}
                }
            });
            pause = (pause * 2).min(LONGEST);
        }
    }

    fn write(&mut self, joined: &mut MergedBatch) -> Result<u64, StoreError> {
        let now = (self.clock)();
        if self.is_index && joined.is_empty() {
            return Ok(0);
        }
        self.own
            .extend(self.clock_monitor.look(now, Instant::now()));
        let mut observations = joined.take_unwritten();
        for observation in &mut observations {
            redact::observation(observation);
            if let Observation::Event(event) = observation {
                self.rules.signals.classify(event);
            }
        }
        let mut cursors = joined.cursors.clone();
        cursors.extend(self.collects.then(|| heartbeat::mark(now)));
        let mut coverage = joined.coverage.clone();
        coverage.extend(self.own.iter().cloned());
        let new = self
            .store
            .write_covered(observations, &cursors, &coverage, now)?;
        self.own.clear();
        Ok(new)
    }
}

/// What came.
enum NextBatch {
    Parcel(Box<WriteBatch>),
    Nothing,
    Over,
}

/// Waits for a parcel; after `last` only for those that wait already.
async fn next(from: &mut mpsc::Receiver<WriteBatch>, last: &Stop) -> NextBatch {
    let came = tokio::select! {
        biased;
        came = timeout(heartbeat::EVERY, from.recv()) => came,
        () = last.cancelled(), if !from.is_closed() => {
            from.close();
            Ok(from.recv().await)
        }
    };
    match came {
        Ok(Some(write_batch)) => NextBatch::Parcel(Box::new(write_batch)),
        Ok(None) => NextBatch::Over,
        Err(_) => NextBatch::Nothing,
    }
}

/// Several parcels as one.
#[derive(Default)]
struct MergedBatch {
    cursors: Vec<Cursor>,
    coverage: Vec<(String, Coverage)>,
    parts: Vec<BatchEnd>,
}

/// Where a parcel ends in it.
struct BatchEnd {
    /// What of it is to be written: nothing once a parcel was handed on that is not tried again.
    observations: Vec<Observation>,
    reported: usize,
    cursors: usize,
    coverage: usize,
    receipt: Option<tokio::sync::oneshot::Sender<Result<WriteReceipt, IntakeError>>>,
}

impl MergedBatch {
    fn of(parcels: &mut Vec<WriteBatch>) -> Self {
        let mut joined = Self::default();
        for write_batch in parcels.drain(..) {
            joined.parts.push(BatchEnd {
                reported: write_batch.observations.len(),
                observations: write_batch.observations,
                cursors: write_batch.cursors.len(),
                coverage: write_batch.coverage.len(),
                receipt: write_batch.receipt,
            });
            joined.cursors.extend(write_batch.cursors);
            joined.coverage.extend(write_batch.coverage);
        }
        joined
    }

    fn is_empty(&self) -> bool {
        let none = self.parts.iter().all(|part| part.observations.is_empty());
        none && self.cursors.is_empty() && self.coverage.is_empty()
    }

    /// What to write. Whoever waits for a receipt comes again if it fails, so that nothing of
    /// that is kept here; a copy would be as large as what was pushed.
    fn take_unwritten(&mut self) -> Vec<Observation> {
        let mut all = Vec::new();
        for part in &mut self.parts {
            match part.receipt {
                Some(_) => all.append(&mut part.observations),
                None => all.extend(part.observations.iter().cloned()),
            }
        }
        all
    }

    fn acknowledge(self) {
        for part in self.parts {
            if let Some(receipt) = part.receipt {
                // Whoever does not wait any more has not lost anything.
                let _gone = receipt.send(Ok(WriteReceipt {
                    reported: part.reported as u64,
                }));
            }
        }
    }

    /// Refuses those who wait for a receipt; gives the others back.
    fn refuse(mut self, why: &str) -> Vec<WriteBatch> {
        let mut left = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            let write_batch = WriteBatch {
                observations: part.observations,
                cursors: self.cursors.drain(..part.cursors).collect(),
                coverage: self.coverage.drain(..part.coverage).collect(),
                receipt: None,
            };
            match part.receipt {
                Some(receipt) => {
                    let _gone = receipt.send(Err(IntakeError::Broken(why.to_owned())));
                }
                None => left.push(write_batch),
            }
        }
        left
    }
}
