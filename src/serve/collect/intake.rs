//! The one way into the store. What waits is bounded in number and, for what is
//! pushed to us, in bytes.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use whathappened_model::connector::{Cursor, Stop};
use whathappened_model::coverage::Coverage;
use whathappened_model::observation::Observation;

use super::status::CollectorStatus;

/// Batches waiting to be written to the store before sources wait, too.
pub(super) const QUEUE: usize = 64;

/// Bytes of pushed bodies that are under way at once. What is made of them in
/// memory is some five times as much.
const ROOM: usize = 64 << 20;

/// How long somebody who pushes waits for a place before being sent away.
const PATIENCE: Duration = Duration::from_secs(2);

/// What is to be kept together: all of it, or nothing.
#[derive(Debug, Default)]
pub(super) struct WriteBatch {
    pub(super) observations: Vec<Observation>,
    pub(super) cursors: Vec<Cursor>,
    pub(super) coverage: Vec<(String, Coverage)>,
    /// Told once it is kept; without one it is kept for until it is.
    pub(super) receipt: Option<oneshot::Sender<Result<WriteReceipt, IntakeError>>>,
}

/// What became of something that was pushed: it is on disk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteReceipt {
    /// Facts and versions in it.
    pub reported: u64,
}

/// Why something is not kept. Whoever has it should come again.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IntakeError {
    /// Too much waits already.
    #[error("the store's queue is full")]
    Full,
    /// The store cannot be written.
    #[error("cannot write to the store: {0}")]
    Broken(String),
    /// The collector has ended.
    #[error("the collector is shutting down")]
    Stopping,
}

/// The way into the store; cheap to clone.
#[derive(Clone, Debug)]
pub struct Intake {
    to: mpsc::Sender<WriteBatch>,
    room: Arc<Semaphore>,
    collector_status: Arc<CollectorStatus>,
    stop: Stop,
}

/// Bytes that are set aside until this is dropped.
#[derive(Debug)]
pub struct ReservedBytes(OwnedSemaphorePermit);

impl ReservedBytes {
    /// Sets aside both.
    pub fn add(&mut self, more: Self) {
        self.0.merge(more.0);
    }
}

/// A way in, and what comes through it.
pub(super) fn open(
    collector_status: &Arc<CollectorStatus>,
    stop: &Stop,
) -> (Intake, mpsc::Receiver<WriteBatch>) {
    let (to, from) = mpsc::channel(QUEUE);
    let intake = Intake {
        to,
        room: Arc::new(Semaphore::new(ROOM)),
        collector_status: Arc::clone(collector_status),
        stop: stop.clone(),
    };
    (intake, from)
}

impl Intake {
    /// Hands over what a source read; waits where the queue is full. Whether
    /// anybody takes it.
    pub(super) async fn hand(&self, write_batch: WriteBatch) -> bool {
        self.to.send(write_batch).await.is_ok()
    }

    /// Whether nobody takes anything any more.
    pub(super) async fn closed(&self) {
        self.to.closed().await;
    }

    /// Sets room aside for a body of `bytes`, before it is taken apart.
    ///
    /// # Errors
    /// When there is none: too much is under way, or it could not be kept.
    pub fn room(&self, bytes: usize) -> Result<ReservedBytes, IntakeError> {
        if let Some(why) = self.collector_status.broken() {
            return Err(IntakeError::Broken(why));
        }
        if self.stop.is_cancelled() {
            return Err(IntakeError::Stopping);
        }
        let wanted = u32::try_from(bytes.min(ROOM)).unwrap_or(u32::MAX);
        let taken = Arc::clone(&self.room).try_acquire_many_owned(wanted);
        taken.map(ReservedBytes).map_err(|_| IntakeError::Full)
    }

    /// Keeps what was pushed: once this says so, it is on disk. `coverage` are
    /// rows with the keys by which they replace each other.
    ///
    /// # Errors
    /// When it is not kept, none of it.
    pub async fn keep(
        &self,
        observations: Vec<Observation>,
        coverage: Vec<(String, Coverage)>,
    ) -> Result<WriteReceipt, IntakeError> {
        let (receipt, reported) = oneshot::channel();
        let write_batch = WriteBatch {
            observations,
            coverage,
            receipt: Some(receipt),
            ..WriteBatch::default()
        };
        match self.to.send_timeout(write_batch, PATIENCE).await {
            Ok(()) => reported.await.unwrap_or(Err(IntakeError::Stopping)),
            Err(mpsc::error::SendTimeoutError::Timeout(_)) => Err(IntakeError::Full),
            Err(mpsc::error::SendTimeoutError::Closed(_)) => Err(IntakeError::Stopping),
        }
    }

    /// How many parcels wait, and how many can.
    #[must_use]
    pub fn depth(&self) -> (usize, usize) {
        let most = self.to.max_capacity();
        (most - self.to.capacity(), most)
    }
}
