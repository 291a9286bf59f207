//! What is done for a lake beside collecting: its index is kept up to date where it
//! answers, and what was collected goes into it where it is flushed.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use whathappened_model::time::Nanos;
use whathappened_store::{StoreError, lake};

use super::CollectOptions;

/// How old the index of a lake may be that answers.
const FRESH: Duration = Duration::from_secs(10);
/// How often incidents that were explained here are added to the lake.
#[cfg(feature = "lake")]
const SHARE: Duration = Duration::from_secs(60);
/// How long a lake that could not be written is left alone: a service may be allowed to read only.
#[cfg(feature = "lake")]
const READ_ONLY: Duration = Duration::from_secs(3_600);

/// What a lake has to do with a store.
#[derive(Debug)]
pub(super) struct Shared {
    store: PathBuf,
    /// The store is the index of a lake: nothing of it is tidied here.
    pub(super) is_index: bool,
    followed: Instant,
    #[cfg(feature = "lake")]
    sharer: Sharer,
    #[cfg(feature = "lake")]
    flusher: Option<flusher::Flusher>,
}

impl Shared {
    pub(super) fn new(how: &CollectOptions) -> Self {
        Self {
            store: how.store.clone(),
            is_index: lake::is_index(&how.store),
            followed: Instant::now(),
            #[cfg(feature = "lake")]
            sharer: Sharer::new(),
            #[cfg(feature = "lake")]
            flusher: how
                .lake
                .clone()
                .map(|target| flusher::Flusher::new(how, target)),
        }
    }

    #[cfg_attr(
        not(feature = "lake"),
        expect(unused_variables, reason = "only a flush asks what time it is")
    )]
    /// Does what is due; `last` says that there is no other time.
    pub(super) fn tend(&mut self, last: bool, now: Nanos) -> Result<(), StoreError> {
        if self.is_index && !last && self.followed.elapsed() >= FRESH {
            self.followed = Instant::now();
            lake::follow(&self.store)?;
        }
        #[cfg(feature = "lake")]
        if self.is_index {
            self.sharer.share(&self.store, last, now);
        }
        #[cfg(feature = "lake")]
        if let Some(flusher) = &mut self.flusher {
            return flusher.flush(last, now);
        }
        Ok(())
    }
}

/// Adds to the lake what this service explained of it.
#[cfg(feature = "lake")]
#[derive(Debug)]
struct Sharer {
    next: Instant,
    /// What was explained before is in the lake.
    since: Nanos,
}

#[cfg(feature = "lake")]
impl Sharer {
    fn new() -> Self {
        Self {
            next: Instant::now() + SHARE,
            since: Nanos::MIN,
        }
    }

    fn share(&mut self, index: &std::path::Path, last: bool, now: Nanos) {
        let is_read_only = self.next.saturating_duration_since(Instant::now()) > SHARE;
        if Instant::now() < self.next && (!last || is_read_only) {
            return;
        }
        match lake::share_incidents(index, self.since, now) {
            Ok(_) => {
                self.since = now;
                self.next = Instant::now() + SHARE;
            }
            Err(error) => {
                tracing::warn!(%error, "incidents could not be added to the lake and stay in this service's index");
                self.next = Instant::now() + READ_ONLY;
            }
        }
    }
}

#[cfg(feature = "lake")]
mod flusher {
    //! Flushes a collector's store into a lake, on time and on size.

    use super::*;
    use crate::serve::collect::FlushTarget;
    use whathappened_store::{Limits, Store};

    /// Bytes of the lake that a collector keeps: it only writes.
    const CACHE: u64 = 256 << 20;

    #[derive(Debug)]
    pub(super) struct Flusher {
        store: PathBuf,
        limits: Limits,
        target: FlushTarget,
        open: Option<(Store, lake::Index)>,
        flushed: Instant,
    }

    impl Flusher {
        pub(super) fn new(how: &CollectOptions, target: FlushTarget) -> Self {
            Self {
                store: how.store.clone(),
                limits: how.limits,
                target,
                open: None,
                flushed: Instant::now(),
            }
        }

        pub(super) fn flush(&mut self, last: bool, now: Nanos) -> Result<(), StoreError> {
            let waited = self.flushed.elapsed();
            let (mut store, mut index) = match self.open.take() {
                Some(open) => open,
                // A lake that did not answer is not asked every second.
                None if !last && waited < self.target.every.min(FRESH) => return Ok(()),
                None => (
                    Store::open(&self.store, self.limits)?,
                    lake::open(&self.target.url, &self.target.index, CACHE, true)?,
                ),
            };
            let is_full = store.hot_rows()? > self.limits.hot_rows;
            if last || is_full || waited >= self.target.every {
                self.flushed = Instant::now();
                lake::flush(&mut store, &mut index, now)?;
                if !last {
                    index.merge_small(now)?;
                }
            }
            self.open = Some((store, index));
            Ok(())
        }
    }
}
