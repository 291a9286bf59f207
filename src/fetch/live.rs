//! Asks live sources and keeps what they say, so that the question and those
//! after it are answered from the store.
//!
//! In two rounds: first who and where, from the clusters; then everything about
//! those, from all sources at once.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::{LocalBoxFuture, join_all};
use whathappened_connectors::cluster::{
    Cluster, ClusterOptions, Connected, Contexts, Listed, LogOptions, PodLogs, SelectiveList,
};
use whathappened_core::resolve::Name;
use whathappened_model::connector::{Connector, FetchRequest, Scope, Window};
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::event::SourceKind;
use whathappened_model::time::Nanos;
use whathappened_store::{Object, Store};

use super::sources::Sources;
use super::writer::StoreWriter;
use super::{scope, selective, stored};
use crate::case::Rules;
use crate::config::Kubernetes;
use crate::error::Error;

/// Logs of the pods of one question that are read from a cluster: a large gang
/// says the same many times.
const MOST_LOGS: usize = 256;

/// How long past the deadline a source may take to say what it could not do.
const GRACE: Duration = Duration::from_secs(2);

/// Who is asked.
#[derive(Debug, Default)]
pub struct FetchTargets {
    /// Clusters, and those that do not answer.
    pub clusters: Connected,
    /// Log stores and others.
    pub sources: Sources,
    /// Whether clusters are asked for the logs of pods, too.
    pub pod_logs: bool,
    /// Whether a collector follows the clusters, so that the store knows already
    /// what they would list.
    pub followed: bool,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Question {
    /// About what; everything that clusters have where it names nothing.
    pub name: Option<Name>,
    /// The time that the person named, if any.
    pub window: Window,
    /// The present.
    pub now: Nanos,
    /// When the person stops waiting.
    pub deadline: Instant,
}

/// What asking gave.
#[derive(Debug, Default)]
pub struct FetchOutcome {
    /// What each source could and could not show.
    pub coverage: Vec<Coverage>,
    /// How many clusters answered.
    pub clusters: usize,
    /// Facts and versions that the store did not have.
    pub new: u64,
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
        selective: config.selective,
        ..ClusterOptions::default()
    }
}

/// Asks, and keeps what is said.
///
/// # Errors
/// When the store cannot be written. A source that does not answer is a row
/// of coverage.
pub async fn fetch(
    store: &mut Store,
    asked: &FetchTargets,
    question: &Question,
    rules: &Arc<Rules>,
) -> Result<FetchOutcome, Error> {
    let clusters = &asked.clusters.clusters;
    let now = question.now;
    let mut live = FetchOutcome {
        clusters: clusters.len(),
        coverage: asked.sources.failed.clone(),
        ..FetchOutcome::default()
    };
    for error in &asked.clusters.failed {
        let mut row = error.coverage("kubernetes", now);
        // What one cluster does not tell takes nothing from what another does.
        if !clusters.is_empty() {
            "another cluster".clone_into(&mut row.resource);
        }
        live.coverage.push(row);
    }
    let everything = FetchRequest {
        scope: Scope::default(),
        window: Window::default(),
        now,
        deadline: question.deadline,
    };
    let writer = StoreWriter::new(store, &rules.signals, now);
    let listed = if asked.followed {
        &[][..]
    } else {
        &clusters[..]
    };
    let filter = selective::filter(question.name.as_ref());
    let listed = join_all(listed.iter().map(|cluster| {
        let (ask, filter, mut hand) = (&everything, filter.clone(), writer.hand());
        async move { Box::pin(cluster.fetch_for(ask, filter, &mut hand)).await }
    }));
    let mut lists = Vec::new();
    for one in listed.await {
        match one {
            Listed::Whole(rows) => live.coverage.extend(rows),
            Listed::Selective(list) => lists.push(*list),
        }
    }
    live.new += writer.finish()?;
    if let Some(name) = &question.name {
        live.new += selective::complete(store, &mut lists, name, rules, now).await?;
        second(store, asked, name, question, rules, &mut live).await?;
        // Log stores and clouds may tell of machines that the cluster said nothing of.
        live.new += selective::complete(store, &mut lists, name, rules, now).await?;
    }
    // That a source told nothing this once is no evidence for whoever asks later, maybe of other sources.
    let is_evidence = |row: &&Coverage| row.rows > 0 || !row.status.caps_a_verdict();
    let stored: Vec<(String, Coverage)> = live
        .coverage
        .iter()
        .filter(is_evidence)
        .map(|row| (key(row, now), row.clone()))
        .collect();
    store.keep_coverage(&stored, now)?;
    // What was read for this question alone covers no other.
    live.coverage
        .extend(lists.iter().flat_map(SelectiveList::rows));
    Ok(live)
}

/// Second round: what the processes of the pods concerned said, wherever it is.
async fn second(
    store: &mut Store,
    asked: &FetchTargets,
    name: &Name,
    question: &Question,
    rules: &Arc<Rules>,
    live: &mut FetchOutcome,
) -> Result<(), Error> {
    let now = question.now;
    let found = store.snapshot()?.find(name)?;
    let objects = found.as_ref().map_or(&[][..], |found| &found.objects);
    let wanted: Vec<(&Cluster, PodsOf)> = asked
        .clusters
        .clusters
        .iter()
        .filter(|_| asked.pod_logs)
        .map(|cluster| (cluster, pods_of(cluster, objects)))
        .filter(|(_, wanted)| !wanted.pods.is_empty())
        .collect();
    let about = match found {
        Some(found) => {
            let case = stored::of_found(found, Vec::new(), Arc::clone(rules))?;
            scope::scope(&case, name, now)
        }
        None => None,
    };
    // What nobody has heard of may still have a log.
    let unknown = || {
        let scope = if name.is_machine() {
            scope::machine(name)
        } else {
            Scope {
                experiments: vec![name.name.clone()],
                ..Scope::default()
            }
        };
        (scope, Window::default())
    };
    let (scope, window) = about.unwrap_or_else(unknown);
    let ask = FetchRequest {
        scope,
        window: Window {
            from: question.window.from.or(window.from),
            to: question.window.to.or(window.to),
        },
        now,
        deadline: question.deadline,
    };
    let sources = if name.is_everything() {
        &[][..]
    } else {
        &asked.sources.usable
    };
    let writer = StoreWriter::new(store, &rules.signals, now);
    let mut all: Vec<LocalBoxFuture<'_, Vec<Coverage>>> = Vec::new();
    for (cluster, wanted) in &wanted {
        let mut hand = writer.hand();
        all.push(Box::pin(async move {
            let options = LogOptions::default();
            let read = cluster.logs(&wanted.pods, &options, now, question.deadline, &mut hand);
            wanted.with_left_out(read.await)
        }));
    }
    for source in sources {
        let (ask, mut hand) = (&ask, writer.hand());
        all.push(Box::pin(async move {
            let fetched = source.fetch(ask, &mut hand);
            let late = question.deadline + GRACE;
            match tokio::time::timeout_at(late.into(), fetched).await {
                Ok(rows) => rows,
                Err(_) => unanswered(source.as_ref()),
            }
        }));
    }
    live.coverage
        .extend(join_all(all).await.into_iter().flatten());
    live.new += writer.finish()?;
    Ok(())
}

/// What a source that does not come back would have shown: nothing of it is known.
fn unanswered(source: &dyn Connector) -> Vec<Coverage> {
    let resources: &[&str] = match source.source_kind() {
        SourceKind::Prometheus => &["metrics"],
        SourceKind::Slurm => &["jobs"],
        store if store.is_log_store() => &["logs", "kernel", "events"],
        SourceKind::Alertmanager => &["alerts"],
        SourceKind::Grafana => &["annotations"],
        _ => &["activity"],
    };
    let row = |resource: &&str| Coverage {
        status: Status::Failed,
        detail: Some("no response in the time allowed; allow more time with --timeout".to_owned()),
        ..Coverage::new(source.name(), resource)
    };
    resources.iter().map(row).collect()
}

/// The pods of one cluster whose logs are read there.
struct PodsOf {
    pods: Vec<PodLogs>,
    left_out: usize,
}

fn pods_of(cluster: &Cluster, objects: &[Object]) -> PodsOf {
    let prefix = format!("{}/", cluster.alias());
    let mut pods: Vec<PodLogs> = objects
        .iter()
        .filter(|object| !object.version.deleted)
        .filter(|object| object.version.origin.file.starts_with(&prefix))
        .filter_map(|object| PodLogs::of(&object.version))
        .collect();
    pods.sort();
    pods.dedup_by(|a, b| (&a.namespace, &a.pod) == (&b.namespace, &b.pod));
    let left_out = pods.len().saturating_sub(MOST_LOGS);
    pods.truncate(MOST_LOGS);
    PodsOf { pods, left_out }
}

impl PodsOf {
    /// Says of the pods that were left out.
    fn with_left_out(&self, mut rows: Vec<Coverage>) -> Vec<Coverage> {
        if self.left_out > 0
            && let Some(row) = rows.first_mut()
        {
            row.status = Status::Sampled;
            row.detail = Some(format!(
                "the logs of {MOST_LOGS} pods were read, those of {} more were not",
                self.left_out
            ));
        }
        rows
    }
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
