//! Clusters: followed from when they first answer on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use whathappened_connectors::cluster::{
    Cluster, ClusterError, ClusterOptions, Contexts, Reason, contexts,
};
use whathappened_model::connector::{Batch, Cursor, Stop};
use whathappened_model::coverage::{Coverage, Mode, Status};
use whathappened_store::{Store, StoreError};

use super::intake::{Intake, WriteBatch};
use super::jitter::Jitter;
use super::status::CollectorStatus;
use super::{CollectOptions, heartbeat, words};
use crate::error::Error;

/// The pause after the first attempt to connect that failed; doubles.
const FIRST: Duration = Duration::from_secs(1);
/// The longest such pause.
const LONGEST: Duration = Duration::from_secs(60);
/// Batches of one cluster that wait, beside what waits for the store.
const BATCHES: usize = 4;

/// The options of each single cluster that `options` means.
///
/// # Errors
/// When the kubeconfig cannot be used at all.
pub(super) fn each(options: &ClusterOptions) -> Result<Vec<ClusterOptions>, Error> {
    let names = match &options.contexts {
        Contexts::Current => return Ok(vec![options.clone()]),
        Contexts::Named(names) => names.clone(),
        Contexts::All => {
            let all = contexts(options.kubeconfig.as_deref());
            let all = all.map_err(|error| Error::Usage(words(&error)))?;
            all.into_iter().map(|context| context.name).collect()
        }
    };
    let one = |name: String| ClusterOptions {
        contexts: Contexts::Named(vec![name]),
        ..options.clone()
    };
    Ok(names.into_iter().map(one).collect())
}

/// Whether there are clusters to follow at all: a kubeconfig with the contexts
/// that are meant, or the cluster of the pod that this is.
///
/// # Errors
/// When a kubeconfig is there and cannot be used, or has no such context:
/// trying again does not help before somebody changes it.
pub fn are_there(options: &ClusterOptions) -> Result<bool, Error> {
    let all = match contexts(options.kubeconfig.as_deref()) {
        Ok(all) => all,
        Err(error) if error.reason == Reason::NoKubeconfig && options.kubeconfig.is_none() => {
            return Ok(std::env::var_os("KUBERNETES_SERVICE_HOST").is_some());
        }
        Err(error) => return Err(Error::Usage(words(&error))),
    };
    let Contexts::Named(names) = &options.contexts else {
        return Ok(!all.is_empty());
    };
    match names
        .iter()
        .find(|name| !all.iter().any(|one| one.name == **name))
    {
        Some(name) => {
            let known: Vec<&str> = all.iter().map(|one| one.name.as_str()).collect();
            Err(Error::misused(
                format!("the kubeconfig has no context {name:?}"),
                format!("its contexts are: {}", known.join(", ")),
            ))
        }
        None => Ok(true),
    }
}

/// One cluster to follow.
pub(super) struct ClusterFollower {
    pub(super) options: ClusterOptions,
    pub(super) how: CollectOptions,
    pub(super) intake: Intake,
    pub(super) collector_status: Arc<CollectorStatus>,
    /// Clusters that somebody follows already, by id.
    pub(super) claimed: Arc<Mutex<BTreeSet<String>>>,
    pub(super) stop: Stop,
}

impl ClusterFollower {
    /// Follows until the stop.
    pub(super) async fn run(self) {
        let Some(cluster) = self.connect().await else {
            return;
        };
        let (id, alias) = (cluster.id().to_owned(), cluster.alias().to_owned());
        // Two contexts of one cluster are one.
        if !self.claim(&id) {
            return;
        }
        let cursors = match self.cursors(id.clone()).await {
            Ok(cursors) => cursors,
            Err(error) => {
                // Without them it is listed anew, which loses no more than a gap.
                tracing::warn!(%error, cluster = alias, "cursors cannot be read");
                Vec::new()
            }
        };
        let again = if cursors.is_empty() {
            ""
        } else {
            ", resuming where it left off"
        };
        (self.how.say)(&format!("watching {alias} ({}){again}", cluster.server()));
        let (to, from) = mpsc::channel(BATCHES);
        let clock = Arc::clone(&self.how.clock);
        let watching = cluster.watch(cursors, clock, self.stop.clone(), to);
        tokio::join!(Box::pin(watching), self.pass_on(&cluster, from));
    }

    fn claim(&self, id: &str) -> bool {
        let claimed = self.claimed.lock();
        let mut claimed = claimed.unwrap_or_else(PoisonError::into_inner);
        claimed.insert(id.to_owned())
    }

    /// Tries until it answers; `None` at the stop.
    async fn connect(&self) -> Option<Cluster> {
        let mut jitter = Jitter::new(self.how.seed);
        let mut reported = None;
        for failures in 1.. {
            let tried = tokio::select! {
                () = self.stop.cancelled() => return None,
                tried = Cluster::connect(&self.options) => tried,
            };
            let error = match tried {
                Ok(cluster) => {
                    self.answered(&mut reported).await;
                    return Some(cluster);
                }
                Err(error) => error,
            };
            if failures == 1 {
                (self.how.say)(&format!("not watched yet: {}", words(&error)));
            }
            self.failed(&error, &mut reported).await;
            let pause = jitter.backoff(failures, FIRST, LONGEST);
            tokio::select! {
                () = self.stop.cancelled() => return None,
                () = tokio::time::sleep(pause) => {}
            }
        }
        None
    }

    /// The row of a cluster that does not answer grows until it does.
    async fn failed(&self, error: &ClusterError, reported: &mut Option<Coverage>) {
        let now = (self.how.clock)();
        let source = &self.options.source;
        let place = error.context.clone().unwrap_or_default();
        tracing::warn!(source, place, "{}", words(error));
        self.collector_status
            .failed((source, &place, "connect"), &words(error));
        let began = reported.as_ref().and_then(|row| row.asked_from);
        let row = Coverage {
            mode: Mode::Interval,
            asked_from: Some(began.unwrap_or(now).min(now)),
            ..error.coverage(source, now)
        };
        self.report(row, reported).await;
    }

    async fn answered(&self, reported: &mut Option<Coverage>) {
        let Some(before) = reported.clone() else {
            return;
        };
        let now = (self.how.clock)();
        let place = before.cluster.clone().unwrap_or_default();
        self.collector_status
            .reached((&before.source, &place, "connect"), now);
        // Events of the last hour are still there; of objects only what is left.
        let short = before
            .asked_from
            .is_some_and(|from| now - from < heartbeat::HOUR);
        let row = Coverage {
            asked_to: Some(now),
            status: if short {
                Status::Complete
            } else {
                Status::Truncated
            },
            detail: Some(
                "it did not respond at first; its data was read as soon as it did".to_owned(),
            ),
            ..before
        };
        self.report(row, reported).await;
    }

    async fn report(&self, row: Coverage, reported: &mut Option<Coverage>) {
        let key = heartbeat::key("connect", &row, row.asked_from.unwrap_or_default());
        *reported = Some(row.clone());
        let write_batch = WriteBatch {
            coverage: vec![(key, row)],
            ..WriteBatch::default()
        };
        self.intake.hand(write_batch).await;
    }

    async fn cursors(&self, id: String) -> Result<Vec<Cursor>, StoreError> {
        let path = self.how.store.clone();
        let read = move || Store::open_to_read(&path)?.cursors(&id);
        match tokio::task::spawn_blocking(read).await {
            Ok(cursors) => cursors,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        }
    }

    async fn pass_on(&self, cluster: &Cluster, mut from: mpsc::Receiver<Batch>) {
        let source = self.options.source.clone();
        let place = cluster.alias().to_owned();
        let mut last: BTreeMap<String, u64> = BTreeMap::new();
        while let Some(batch) = from.recv().await {
            let reported = batch.observations.len() as u64;
            let resource = batch.cursor.as_ref().map(|cursor| cursor.resource.clone());
            *last
                .entry(resource.clone().unwrap_or_default())
                .or_default() += reported;
            if let Some(cursor) = &batch.cursor {
                let of = (source.as_str(), place.as_str(), cursor.resource.as_str());
                self.collector_status.reached(of, cursor.at);
                let lists = last.remove("").unwrap_or_default();
                let own = last.remove(&cursor.resource).unwrap_or_default();
                self.collector_status.reported(of, lists + own);
            }
            let coverage: Vec<(String, Coverage)> = batch
                .coverage
                .into_iter()
                .map(|row| {
                    self.note(&source, &place, &row);
                    (watch_key(&row), row)
                })
                .collect();
            let write_batch = WriteBatch {
                observations: batch.observations,
                cursors: batch.cursor.into_iter().collect(),
                coverage,
                receipt: None,
            };
            if !self.intake.hand(write_batch).await {
                return;
            }
        }
    }

    fn note(&self, source: &str, place: &str, row: &Coverage) {
        let of = (source, place, row.resource.as_str());
        let why = row.detail.as_deref().unwrap_or_default();
        match row.status {
            Status::Truncated => self.collector_status.gap(of),
            Status::Failed | Status::Denied => self.collector_status.failed(of, why),
            _ => {}
        }
    }
}

/// Rows of one stretch replace each other: the outage, and what took it back.
/// Others say what is so now; the latest of an hour counts.
fn watch_key(row: &Coverage) -> String {
    match row.asked_from {
        Some(from) => heartbeat::key("watch", row, from),
        None => heartbeat::key(
            "state",
            row,
            row.asked_to.unwrap_or_default() / heartbeat::HOUR,
        ),
    }
}
