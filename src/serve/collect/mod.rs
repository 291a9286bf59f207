//! The collector: follows clusters, asks again and again what cannot be
//! followed, takes what is pushed, and keeps all of it in the store.
//!
//! | file | idea |
//! |---|---|
//! | `clusters` | a task for each cluster, from the first attempt to connect on |
//! | `polls` `habit` `judge` | a task for each source that is asked over and over, with a cursor |
//! | `intake` `keeper` | one way into the store: what waits is bounded, what is acknowledged is kept |
//! | `beat` | whether the collector itself was there |
//! | `tidy` | segments, retention |
//! | `board` | how each source is doing |
//!
//! A source's trouble never ends the others. Whatever a source was not asked
//! for, or could not give, is a coverage row.

mod clusters;
mod heartbeat;
mod intake;
mod jitter;
mod maintenance;
mod outcome;
mod polls;
mod schedule;
mod shared;
mod status;
mod writer;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use tokio::task::{JoinHandle, JoinSet};
use whathappened_connectors::cluster::{ClusterError, ClusterOptions};
use whathappened_model::connector::{Clock, Stop};
use whathappened_model::coverage::Coverage;
use whathappened_model::time::rfc3339;
use whathappened_store::{Claim, Limits, Store};

pub use clusters::are_there;
pub use intake::{Intake, IntakeError, ReservedBytes, WriteReceipt};
pub use status::{CollectorStatus, Key, Line, Totals};

use crate::case::Rules;
use crate::error::Error;
use crate::fetch::Sources;

/// What is collected.
#[derive(Debug, Default)]
pub struct CollectTargets {
    /// Clusters that are followed; none where `None`.
    pub clusters: Option<ClusterOptions>,
    /// Sources that are asked again and again, those of them that can be.
    pub sources: Sources,
    /// What is pushed to us: a row for each kind, whose source, resource and
    /// `would_have_shown` tell of the times when we were not there.
    pub pushed: Vec<Coverage>,
}

/// The lake that what was collected is flushed into.
#[derive(Clone, Debug)]
pub struct FlushTarget {
    /// Where it is.
    pub url: String,
    /// The folder of its index.
    pub index: PathBuf,
    /// How long something waits at most while the lake can be written.
    pub every: std::time::Duration,
}

/// How it is collected.
#[derive(Clone)]
pub struct CollectOptions {
    /// The store's folder.
    pub store: PathBuf,
    /// How much is kept.
    pub limits: Limits,
    /// What facts mean.
    pub rules: Arc<Rules>,
    /// The present.
    pub clock: Clock,
    /// Spreads pauses, so that many collectors do not all come at once.
    pub seed: u64,
    /// Where what was collected goes, if it does not stay in the store.
    pub lake: Option<FlushTarget>,
    /// Told what a person who watches would like to know.
    pub say: Arc<dyn Fn(&str) + Send + Sync>,
}

impl std::fmt::Debug for CollectOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("How")
            .field("store", &self.store)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// A collector at work.
#[derive(Debug)]
pub struct Collector {
    intake: Intake,
    collector_status: Arc<CollectorStatus>,
    stop: Stop,
    /// Nothing more is to be kept.
    last: Stop,
    sources: JoinSet<()>,
    writer: JoinHandle<Result<(), Error>>,
    tidier: JoinHandle<()>,
}

impl Collector {
    /// Starts to collect, until `stop`.
    ///
    /// # Errors
    /// When the store or the kubeconfig cannot be used.
    pub fn start(what: CollectTargets, how: &CollectOptions, stop: &Stop) -> Result<Self, Error> {
        let each = match &what.clusters {
            Some(options) => clusters::each(options)?,
            None => Vec::new(),
        };
        let collects =
            !each.is_empty() || !what.sources.usable.is_empty() || !what.pushed.is_empty();
        let since = rfc3339((how.clock)());
        let who = format!("process {}, since {since}", std::process::id());
        let claim = collects
            .then(|| Claim::take(&how.store, &who))
            .transpose()?;
        let store = Store::open(&how.store, how.limits)?;
        let collector_status = Arc::new(CollectorStatus::default());
        let (intake, waiting) = intake::open(&collector_status, stop);
        let mut writer =
            writer::StoreWriter::new(store, how, &collector_status, &what.pushed, collects)?;
        for row in what.sources.failed {
            collector_status.failed((&row.source, "", &row.resource), "it cannot be used");
            writer.note_uncollected(row);
        }
        let (stopped, last) = (stop.clone(), Stop::new());
        let ended = last.clone();
        let writer = tokio::task::spawn_blocking(move || {
            // Held as long as something may be written.
            let _claim = claim;
            writer.run(waiting, (&stopped, &ended))
        });
        let mut sources = JoinSet::new();
        let claimed = Arc::<Mutex<_>>::default();
        for one in each {
            let follow = clusters::ClusterFollower {
                options: ClusterOptions {
                    seed: how.seed,
                    ..one
                },
                how: how.clone(),
                intake: intake.clone(),
                collector_status: Arc::clone(&collector_status),
                claimed: Arc::clone(&claimed),
                stop: stop.clone(),
            };
            sources.spawn(follow.run());
        }
        for (number, source) in (1_u64..).zip(what.sources.usable) {
            let Some(schedule) = schedule::of(source.source_kind()) else {
                continue;
            };
            let how = CollectOptions {
                seed: jitter::mix(how.seed, number),
                ..how.clone()
            };
            let poll = polls::Poll::new(
                source,
                schedule,
                how,
                intake.clone(),
                &collector_status,
                stop,
            );
            sources.spawn(poll.run());
        }
        let (tidy, stopped) = (
            maintenance::Maintenance::new(how, &collector_status),
            stop.clone(),
        );
        let tidier = tokio::task::spawn_blocking(move || tidy.run(&stopped));
        Ok(Self {
            intake,
            collector_status,
            stop: stop.clone(),
            last,
            sources,
            writer,
            tidier,
        })
    }

    /// The way in for what is pushed.
    #[must_use]
    pub fn intake(&self) -> Intake {
        self.intake.clone()
    }

    /// How the sources are doing.
    #[must_use]
    pub fn collector_status(&self) -> Arc<CollectorStatus> {
        Arc::clone(&self.collector_status)
    }

    /// Whether there is nothing to follow and nothing to ask.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.sources.is_empty()
    }

    /// Waits for the stop and until everything that was read is kept. What is
    /// pushed from then on is refused.
    ///
    /// # Errors
    /// When the store could not be written in the end.
    pub async fn finish(self) -> Result<Totals, Error> {
        let Self {
            intake: _,
            collector_status,
            stop,
            last,
            mut sources,
            writer,
            tidier,
        } = self;
        stop.cancelled().await;
        while let Some(ended) = sources.join_next().await {
            resume(ended);
        }
        last.cancel();
        let stored = match writer.await {
            Ok(stored) => stored,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        };
        resume(tidier.await);
        stored.map(|()| collector_status.totals())
    }
}

/// A mistake in a task is one of the whole.
fn resume(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        std::panic::resume_unwind(error.into_panic());
    }
}

/// What a cluster says when it cannot be used, in one line.
fn words(error: &ClusterError) -> String {
    format!("{}; {}", error.message, error.hint)
}
