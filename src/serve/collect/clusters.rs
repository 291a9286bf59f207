//! Clusters: followed from when they first answer on.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use whathappened_connectors::cluster::{
    Cluster, ClusterError, ClusterOptions, Contexts, Reason, contexts,
};
use whathappened_connectors::connector::{Batch, Cursor, Stop};
use whathappened_connectors::coverage::{Coverage, Mode, Status};
use whathappened_store::{Store, StoreError};

use super::board::Board;
use super::dice::Dice;
use super::intake::{Intake, Parcel};
use super::{How, beat, words};
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
            Err(Error::Usage(format!(
                "the kubeconfig has no context {name:?}; there are: {}",
                known.join(", ")
            )))
        }
        None => Ok(true),
    }
}

/// One cluster to follow.
pub(super) struct Follow {
    pub(super) options: ClusterOptions,
    pub(super) how: How,
    pub(super) intake: Intake,
    pub(super) board: Arc<Board>,
    /// Clusters that somebody follows already, by id.
    pub(super) claimed: Arc<Mutex<BTreeSet<String>>>,
    pub(super) stop: Stop,
}

impl Follow {
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
            ", going on where it was"
        };
        (self.how.say)(&format!("following {alias} ({}){again}", cluster.server()));
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
        let mut dice = Dice::new(self.how.seed);
        let mut told = None;
        for failures in 1.. {
            let tried = tokio::select! {
                () = self.stop.cancelled() => return None,
                tried = Cluster::connect(&self.options) => tried,
            };
            let error = match tried {
                Ok(cluster) => {
                    self.answered(&mut told).await;
                    return Some(cluster);
                }
                Err(error) => error,
            };
            if failures == 1 {
                (self.how.say)(&format!("not followed yet: {}", words(&error)));
            }
            self.failed(&error, &mut told).await;
            let pause = dice.backoff(failures, FIRST, LONGEST);
            tokio::select! {
                () = self.stop.cancelled() => return None,
                () = tokio::time::sleep(pause) => {}
            }
        }
        None
    }

    /// The row of a cluster that does not answer grows until it does.
    async fn failed(&self, error: &ClusterError, told: &mut Option<Coverage>) {
        let now = (self.how.clock)();
        let source = &self.options.source;
        let place = error.context.clone().unwrap_or_default();
        tracing::warn!(source, place, "{}", words(error));
        self.board
            .failed((source, &place, "connect"), &words(error));
        let began = told.as_ref().and_then(|row| row.asked_from);
        let row = Coverage {
            mode: Mode::Interval,
            asked_from: Some(began.unwrap_or(now).min(now)),
            ..error.coverage(source, now)
        };
        self.tell(row, told).await;
    }

    async fn answered(&self, told: &mut Option<Coverage>) {
        let Some(before) = told.clone() else { return };
        let now = (self.how.clock)();
        let place = before.cluster.clone().unwrap_or_default();
        self.board.reached((&before.source, &place, "connect"), now);
        // Events of the last hour are still there; of objects only what is left.
        let short = before
            .asked_from
            .is_some_and(|from| now - from < beat::HOUR);
        let row = Coverage {
            asked_to: Some(now),
            status: if short {
                Status::Complete
            } else {
                Status::Truncated
            },
            detail: Some("it did not answer at first; what it had was read when it did".to_owned()),
            ..before
        };
        self.tell(row, told).await;
    }

    async fn tell(&self, row: Coverage, told: &mut Option<Coverage>) {
        let key = beat::key("connect", &row, row.asked_from.unwrap_or_default());
        *told = Some(row.clone());
        let parcel = Parcel {
            coverage: vec![(key, row)],
            ..Parcel::default()
        };
        self.intake.hand(parcel).await;
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
            let told = batch.observations.len() as u64;
            let resource = batch.cursor.as_ref().map(|cursor| cursor.resource.clone());
            *last
                .entry(resource.clone().unwrap_or_default())
                .or_default() += told;
            if let Some(cursor) = &batch.cursor {
                let of = (source.as_str(), place.as_str(), cursor.resource.as_str());
                self.board.reached(of, cursor.at);
                let lists = last.remove("").unwrap_or_default();
                let own = last.remove(&cursor.resource).unwrap_or_default();
                self.board.told(of, lists + own);
            }
            let coverage: Vec<(String, Coverage)> = batch
                .coverage
                .into_iter()
                .map(|row| {
                    self.note(&source, &place, &row);
                    (watch_key(&row), row)
                })
                .collect();
            let parcel = Parcel {
                observations: batch.observations,
                cursors: batch.cursor.into_iter().collect(),
                coverage,
                receipt: None,
            };
            if !self.intake.hand(parcel).await {
                return;
            }
        }
    }

    fn note(&self, source: &str, place: &str, row: &Coverage) {
        let of = (source, place, row.resource.as_str());
        let why = row.detail.as_deref().unwrap_or_default();
        match row.status {
            Status::Truncated => self.board.gap(of),
            Status::Failed | Status::Denied => self.board.failed(of, why),
            _ => {}
        }
    }
}

/// Rows of one stretch replace each other: the outage, and what took it back.
/// Others say what is so now; the latest of an hour counts.
fn watch_key(row: &Coverage) -> String {
    match row.asked_from {
        Some(from) => beat::key("watch", row, from),
        None => beat::key("state", row, row.asked_to.unwrap_or_default() / beat::HOUR),
    }
}
