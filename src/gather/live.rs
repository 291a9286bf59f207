//! Asks live sources and keeps what they say, so that the question and those
//! after it are answered from the store.

use std::time::{Duration, Instant};

use whathappened_connectors::cluster::{
    Cluster, ClusterOptions, Connected, Contexts, LogOptions, PodLogs,
};
use whathappened_connectors::connector::{Ask, Scope, Window};
use whathappened_connectors::coverage::{Coverage, Status};
use whathappened_connectors::observation::Observation;
use whathappened_connectors::recording::Sink;
use whathappened_connectors::time::Nanos;
use whathappened_core::resolve::Name;
use whathappened_core::signals::Ruleset;
use whathappened_store::{Bulk, Store, StoreError};

use crate::config::Kubernetes;
use crate::error::Error;

/// Logs of the pods of one question: a large gang says the same many times.
const MOST_LOGS: usize = 256;

/// What asking gave.
#[derive(Debug, Default)]
pub struct Live {
    /// What every source could and could not show.
    pub coverage: Vec<Coverage>,
    /// How many clusters answered.
    pub clusters: usize,
    /// Facts and versions that the store did not have.
    pub new: u64,
}

/// Takes in what clusters say: classified, and straight into the store.
struct Keeper<'a> {
    bulk: Bulk<'a>,
    signals: &'a Ruleset,
    failed: Option<StoreError>,
}

impl Sink for Keeper<'_> {
    fn observe(&mut self, observations: Vec<Observation>) {
        for mut observation in observations {
            if let Observation::Event(event) = &mut observation {
                self.signals.classify(event);
            }
            if self.failed.is_none() {
                self.failed = self.bulk.push(observation).err();
            }
        }
    }
}

/// The options of connecting that a configuration asks for.
#[must_use]
pub fn options(config: &Kubernetes) -> ClusterOptions {
    let contexts = match config.contexts.as_slice() {
        [] => Contexts::Current,
        [one] if one == "all" => Contexts::All,
        names => Contexts::Named(names.to_vec()),
    };
    ClusterOptions {
        kubeconfig: config.kubeconfig.clone(),
        contexts,
        namespaces: config.namespaces.clone(),
        ..ClusterOptions::default()
    }
}

/// Asks clusters for all they have, then for the logs of the pods that a
/// name means, and keeps it.
///
/// # Errors
/// When the store cannot be written. A cluster that does not answer is a row
/// of coverage.
pub async fn fetch(
    store: &mut Store,
    connected: Connected,
    name: Option<&Name>,
    signals: &Ruleset,
    (now, deadline): (Nanos, Instant),
) -> Result<Live, Error> {
    let Connected { clusters, failed } = connected;
    let mut live = Live {
        clusters: clusters.len(),
        ..Live::default()
    };
    for error in &failed {
        let mut row = error.coverage("kubernetes", now);
        // What one cluster does not tell takes nothing from what another does.
        if !clusters.is_empty() {
            "another cluster".clone_into(&mut row.resource);
        }
        live.coverage.push(row);
    }
    for cluster in &clusters {
        let ask = Ask {
            scope: Scope::default(),
            window: Window::default(),
            now,
            deadline,
        };
        let mut keeper = Keeper {
            bulk: store.bulk(now),
            signals,
            failed: None,
        };
        let rows = cluster.fetch(&ask, &mut keeper).await;
        live.new += finish(keeper)?;
        live.coverage.extend(rows);
        if let Some(name) = name {
            logs(store, cluster, name, signals, (now, deadline), &mut live).await?;
        }
    }
    let kept: Vec<(String, Coverage)> = live
        .coverage
        .iter()
        .map(|row| (key(row, now), row.clone()))
        .collect();
    store.keep_coverage(&kept, now)?;
    Ok(live)
}

fn finish(mut keeper: Keeper<'_>) -> Result<u64, Error> {
    if let Some(error) = keeper.failed {
        return Err(error.into());
    }
    Ok(keeper.bulk.flush()?.new)
}

/// Second round: what the containers of the pods concerned said.
async fn logs(
    store: &mut Store,
    cluster: &Cluster,
    name: &Name,
    signals: &Ruleset,
    (now, deadline): (Nanos, Instant),
    live: &mut Live,
) -> Result<(), Error> {
    let Some(found) = store.snapshot()?.find(name)? else {
        return Ok(());
    };
    let prefix = format!("{}/", cluster.alias());
    let mut pods: Vec<PodLogs> = found
        .objects
        .iter()
        .filter(|object| !object.version.deleted)
        .filter(|object| object.version.origin.file.starts_with(&prefix))
        .filter_map(|object| PodLogs::of(&object.version))
        .collect();
    pods.sort();
    pods.dedup_by(|a, b| (&a.namespace, &a.pod) == (&b.namespace, &b.pod));
    let left_out = pods.len().saturating_sub(MOST_LOGS);
    pods.truncate(MOST_LOGS);
    if pods.is_empty() {
        return Ok(());
    }
    let mut keeper = Keeper {
        bulk: store.bulk(now),
        signals,
        failed: None,
    };
    // What was listed already is worth more than the last logs.
    let deadline = deadline.max(Instant::now() + Duration::from_secs(5));
    let mut rows = cluster
        .logs(&pods, &LogOptions::default(), now, deadline, &mut keeper)
        .await;
    live.new += finish(keeper)?;
    if left_out > 0
        && let Some(row) = rows.first_mut()
    {
        row.status = Status::Sampled;
        row.detail = Some(format!(
            "the logs of {MOST_LOGS} pods were read, those of {left_out} more were not"
        ));
    }
    live.coverage.extend(rows);
    Ok(())
}

/// The latest row of an hour counts.
fn key(row: &Coverage, now: Nanos) -> String {
    let hour = now / 3_600_000_000_000;
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    format!(
        "{hour:012}|{}|{}|{}|{}",
        row.source,
        part(&row.cluster),
        row.resource,
        part(&row.namespace)
    )
}
