//! Writes what comes, so that what is acknowledged is kept and what is not kept
//! is not acknowledged.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::timeout;
use whathappened_connectors::connector::{Clock, Cursor, Stop};
use whathappened_connectors::coverage::Coverage;
use whathappened_connectors::observation::Observation;
use whathappened_connectors::redact;
use whathappened_store::{Store, StoreError};

use super::How;
use super::beat::{self, Watchman};
use super::board::Board;
use super::intake::{Kept, Parcel, QUEUE, Refused};
use crate::case::Rules;
use crate::error::Error;

/// How long a store that cannot be written is left alone; doubles.
const PAUSE: Duration = Duration::from_millis(500);
/// The longest such pause.
const LONGEST: Duration = Duration::from_secs(15);

/// The one that writes small batches.
pub(super) struct Keeper {
    store: Store,
    rules: Arc<Rules>,
    clock: Clock,
    board: Arc<Board>,
    watchman: Watchman,
    /// What is said of ourselves and was not written yet.
    own: Vec<(String, Coverage)>,
    /// Whether there is anything to collect: who has nothing was never there.
    collects: bool,
}

impl Keeper {
    /// Opens the books: reads when the collector was last there.
    pub(super) fn new(
        store: Store,
        how: &How,
        board: &Arc<Board>,
        pushed: &[Coverage],
        collects: bool,
    ) -> Result<Self, Error> {
        let now = (how.clock)();
        let own = beat::absence(&store.cursors(beat::PLACE)?, pushed, now);
        for (_, row) in &own {
            board.gap((&row.source, "", &row.resource));
        }
        Ok(Self {
            store,
            rules: Arc::clone(&how.rules),
            clock: Arc::clone(&how.clock),
            board: Arc::clone(board),
            watchman: Watchman::new(now, Instant::now()),
            own,
            collects,
        })
    }

    /// Notes what cannot be collected at all.
    pub(super) fn tell(&mut self, row: Coverage) {
        let hour = (self.clock)() / beat::HOUR;
        self.own.push((beat::key("state", &row, hour), row));
    }

    /// Keeps what comes until `last`, and what waits then. To be called on a
    /// thread that may wait; with `stop`, a broken store is not waited for.
    ///
    /// # Errors
    /// When the store can still not be written once it is time to stop.
    pub(super) fn run(
        mut self,
        mut from: mpsc::Receiver<Parcel>,
        (stop, last): (&Stop, &Stop),
    ) -> Result<(), Error> {
        let waiting = Handle::current();
        let board = Arc::clone(&self.board);
        let kept = loop {
            let mut parcels = Vec::new();
            match waiting.block_on(next(&mut from, last)) {
                Next::Parcel(parcel) => parcels.push(*parcel),
                Next::Over => break self.last(),
                // The mark moves, and a broken store is tried.
                Next::Nothing => {}
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
        board.over();
        kept.map_err(Error::from)
    }

    /// The last mark.
    fn last(&mut self) -> Result<(), StoreError> {
        self.write(&mut Joined::default()).map(|_| ())
    }

    /// Writes parcels; those that nobody else keeps are tried until they are written.
    fn keep(
        &mut self,
        mut parcels: Vec<Parcel>,
        waiting: &Handle,
        stop: &Stop,
    ) -> Result<(), StoreError> {
        let mut pause = PAUSE;
        loop {
            let mut joined = Joined::of(&mut parcels);
            let told = joined.observations.len() as u64;
            let began = Instant::now();
            let error = match self.write(&mut joined) {
                Ok(new) => {
                    metrics::histogram!("whathappened_collector_commit_seconds")
                        .record(began.elapsed());
                    self.board.store(None);
                    self.board.kept(told, new);
                    joined.acknowledge();
                    return Ok(());
                }
                Err(error) => error,
            };
            tracing::error!(%error, "the store cannot be written");
            metrics::counter!("whathappened_store_errors_total").increment(1);
            self.board.store(Some(error.to_string()));
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

    fn write(&mut self, joined: &mut Joined) -> Result<u64, StoreError> {
        let now = (self.clock)();
        self.own.extend(self.watchman.look(now, Instant::now()));
        let mut observations = joined.observations.clone();
        for observation in &mut observations {
            redact::observation(observation);
            if let Observation::Event(event) = observation {
                self.rules.signals.classify(event);
            }
        }
        let mut cursors = joined.cursors.clone();
        cursors.extend(self.collects.then(|| beat::mark(now)));
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
enum Next {
    Parcel(Box<Parcel>),
    Nothing,
    Over,
}

/// Waits for a parcel; after `last` only for those that wait already.
async fn next(from: &mut mpsc::Receiver<Parcel>, last: &Stop) -> Next {
    let came = tokio::select! {
        biased;
        came = timeout(beat::EVERY, from.recv()) => came,
        () = last.cancelled(), if !from.is_closed() => {
            from.close();
            Ok(from.recv().await)
        }
    };
    match came {
        Ok(Some(parcel)) => Next::Parcel(Box::new(parcel)),
        Ok(None) => Next::Over,
        Err(_) => Next::Nothing,
    }
}

/// Several parcels as one.
#[derive(Default)]
struct Joined {
    observations: Vec<Observation>,
    cursors: Vec<Cursor>,
    coverage: Vec<(String, Coverage)>,
    parts: Vec<Part>,
}

/// Where a parcel ends in it.
struct Part {
    observations: usize,
    cursors: usize,
    coverage: usize,
    receipt: Option<tokio::sync::oneshot::Sender<Result<Kept, Refused>>>,
}

impl Joined {
    fn of(parcels: &mut Vec<Parcel>) -> Self {
        let mut joined = Self::default();
        for parcel in parcels.drain(..) {
            joined.parts.push(Part {
                observations: parcel.observations.len(),
                cursors: parcel.cursors.len(),
                coverage: parcel.coverage.len(),
                receipt: parcel.receipt,
            });
            joined.observations.extend(parcel.observations);
            joined.cursors.extend(parcel.cursors);
            joined.coverage.extend(parcel.coverage);
        }
        joined
    }

    fn acknowledge(self) {
        for part in self.parts {
            if let Some(receipt) = part.receipt {
                // Whoever does not wait any more has not lost anything.
                let _gone = receipt.send(Ok(Kept {
                    told: part.observations as u64,
                }));
            }
        }
    }

    /// Refuses those who wait for a receipt; gives the others back.
    fn refuse(mut self, why: &str) -> Vec<Parcel> {
        let mut left = Vec::new();
        for part in std::mem::take(&mut self.parts) {
            let parcel = Parcel {
                observations: self.observations.drain(..part.observations).collect(),
                cursors: self.cursors.drain(..part.cursors).collect(),
                coverage: self.coverage.drain(..part.coverage).collect(),
                receipt: None,
            };
            match part.receipt {
                Some(receipt) => {
                    let _gone = receipt.send(Err(Refused::Broken(why.to_owned())));
                }
                None => left.push(parcel),
            }
        }
        left
    }
}
