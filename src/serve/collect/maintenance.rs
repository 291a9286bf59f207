//! Turns what came into segments and lets go of what is old, beside the one who
//! writes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use whathappened_model::connector::{Clock, Stop};
use whathappened_store::{Store, StoreError};

use super::CollectOptions;
use super::shared::Shared;
use super::status::CollectorStatus;

/// How often it is looked whether there is enough for a segment.
const SETTLE: Duration = Duration::from_secs(1);
/// How often old things go and small segments become large ones.
const TIDY: Duration = Duration::from_secs(1_800);
/// Segments after which small ones become large ones at once: every write looks
/// at each segment of its day.
const MANY: u64 = 32;

pub(super) struct Maintenance {
    how: CollectOptions,
    clock: Clock,
    collector_status: Arc<CollectorStatus>,
}

impl Maintenance {
    pub(super) fn new(how: &CollectOptions, collector_status: &Arc<CollectorStatus>) -> Self {
        Self {
            how: how.clone(),
            clock: Arc::clone(&how.clock),
            collector_status: Arc::clone(collector_status),
        }
    }

    /// Until `stop`; to be called on a thread that may wait.
    pub(super) fn run(self, stop: &Stop) {
        let waiting = Handle::current();
        let mut tidied = Instant::now();
        let mut shared = Shared::new(&self.how);
        let (mut store, mut written) = (None, 0);
        loop {
            let stopped = waiting.block_on(async {
                tokio::select! {
                    () = stop.cancelled() => true,
                    () = tokio::time::sleep(SETTLE) => false,
                }
            });
            let lake = shared.tend(stopped, (self.clock)());
            if let Err(error) = lake {
                // What is not flushed now stays in the store.
                tracing::warn!(%error, "the lake could not be used");
                self.collector_status
                    .failed(("store", "", "lake"), &error.to_string());
            }
            if stopped {
                return;
            }
            if shared.is_index {
                continue;
            }
            let due = tidied.elapsed() >= TIDY;
            if due {
                tidied = Instant::now();
            }
            if let Err(error) = self.tidy(&mut store, due, &mut written) {
                // What is not tidied now is tidied later.
                tracing::warn!(%error, "the store's maintenance failed");
                self.collector_status
                    .failed(("store", "", "tidy"), &error.to_string());
                store = None;
            }
        }
    }

    /// `written` counts segments since they were last joined.
    fn tidy(
        &self,
        store: &mut Option<Store>,
        due: bool,
        written: &mut u64,
    ) -> Result<(), StoreError> {
        let store = match store {
            Some(store) => store,
            None => store.insert(Store::open(&self.how.store, self.how.limits)?),
        };
        let now = (self.clock)();
        *written += u64::from(store.settle(now)? > 0);
        if due {
            match &self.how.lake {
                Some(lake) => store.retain_unflushed(now, &lake.url)?,
                None => store.retain(now)?,
            };
        }
        if due || *written >= MANY {
            *written = 0;
            let most = store.limits().segments_a_day;
            store.compact(most, now, &mut |_, _| {})?;
        }
        Ok(())
    }
}
