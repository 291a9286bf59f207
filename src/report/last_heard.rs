//! Until when a cluster was heard of: how its pods stand is known up to then, and not up to the end of
//! everything that is known.

use std::collections::{BTreeMap, BTreeSet};
use whathappened_core::signals::named;

use whathappened_core::graph::{EntityGraph, Task, TaskKind};
use whathappened_core::resolve::Run;
use whathappened_core::symbols::Symbol;
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::event::SourceKind;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::case::Case;
use crate::explain::is_cut_file;

/// Kubelets write that their node is there every five minutes at least: where nothing of a cluster is
/// known for this long, it was not looked at any more.
const UNHEARD: Nanos = 900 * SECOND;

/// Until when a cluster was heard of.
#[derive(Clone, Copy, Debug)]
pub(super) struct LastHeard {
    until: Nanos,
    /// A file of objects, or an audit log, was read in part: later words may stand in the rest.
    cut: bool,
}

/// When the cluster that a case is of was heard of last: by an object, an Event, or because it was asked.
pub(super) fn of_cluster(case: &Case) -> Option<LastHeard> {
    let evidence = &case.graph.evidence;
    let versions = evidence.objects.iter().flat_map(|(_, versions)| versions);
    let shown = versions
        .filter(|version| version.listed)
        .filter_map(|version| version.at)
        .filter(|at| *at != Stamp::OPEN)
        .map(|at| at.lo);
    let rows = evidence.rows().iter();
    let recorded = rows
        .filter(|row| row.source_kind() == SourceKind::Kubernetes && row.time.hi != Nanos::MAX)
        .map(whathappened_core::evidence::Row::last);
    let asked = case.coverage.iter().filter(|row| is_list_of_pods(row));
    let asked = asked.filter_map(|row| row.got_to);
    let beside = case.held.cluster_until;
    let until = shown.chain(recorded).chain(asked).chain(beside).max()?;
    let cut = case
        .coverage
        .iter()
        .any(|row| is_cut_file(row) || is_cut_audit_log(row));
    Some(LastHeard { until, cut })
}

/// Whether an audit log was read in part: what it tells of later is not known.
fn is_cut_audit_log(row: &Coverage) -> bool {
    row.resource == "file"
        && row.source == SourceKind::KubernetesAudit.as_str()
        && matches!(row.status, Status::Truncated | Status::Failed)
}

fn is_list_of_pods(row: &Coverage) -> bool {
    row.resource == "pods" && row.status == Status::Complete
}

/// Until when a run, or the cluster that its pods are in, was heard of.
pub(crate) fn heard_until(case: &Case, run: &Run) -> Option<Nanos> {
    let pods = &case.graph.pods;
    let mut own = run.pods.iter().filter_map(|pod| pods.get(*pod));
    let is_of_cluster = run.pods.is_empty() || own.any(|pod| pod.kind == TaskKind::Pod);
    let heard = of_cluster(case).filter(|_| is_of_cluster);
    heard.map_or(case.graph.now, |heard| Some(heard.until))
}

impl LastHeard {
    /// Whether what is known of a pod may be past: it did not write when everything else that is known
    /// goes on, and its cluster was not heard of, or not whole.
    pub(super) fn is_past(&self, graph: &EntityGraph, pod: &Task) -> bool {
        let unheard = |heard: Nanos| {
            let since = |now: Nanos| now.saturating_sub(heard) > UNHEARD;
            graph.now.is_some_and(since)
        };
        pod.last_line.is_none_or(|line| unheard(line.hi)) && (self.cut || unheard(self.until))
    }
}

/// The nodes that were taken out of their cluster and not seen in it since, and when.
pub(super) struct RemovedNodes {
    removed: BTreeMap<Symbol, Stamp>,
    /// The nodes of a cluster that was asked for all of them; empty where nobody asked.
    listed: BTreeSet<Symbol>,
}

impl RemovedNodes {
    pub(super) fn of(case: &Case) -> Self {
        let graph = &case.graph;
        let mut removed = BTreeMap::new();
        // Facts are in time order.
        for fact in graph.facts.iter().filter(|fact| fact.node.is_some()) {
            match graph.name(fact.signal) {
                signal if signal.starts_with(named::K8S_NODE_DELETED) => {
                    removed.insert(fact.node, fact.time);
                }
                named::K8S_NODE_READY => drop(removed.remove(&fact.node)),
                _ => {}
            }
        }
        let all = |row: &Coverage| row.resource == "nodes" && row.status == Status::Complete;
        let objects = graph.evidence.objects.iter();
        let nodes = objects.filter(|(key, _)| key.kind == "Node");
        let listed = nodes
            .filter_map(|(key, _)| graph.evidence.symbols.find(&key.name))
            .filter(|_| case.coverage.iter().any(all))
            .collect();
        Self { removed, listed }
    }

    /// Whether the node that a pod is on was taken away while it ran, and the pod was not heard of since:
    /// a node's machine seldom outlives it, and who cleans up comes minutes later. One that is not among
    /// the nodes of its cluster was taken away at a time that nobody tells.
    pub(super) fn held(&self, pod: &Task) -> bool {
        let begin = pod.known_begin().unwrap_or(Nanos::MIN);
        let is_missing = pod.node.is_some()
            && !self.listed.is_empty()
            && !self.listed.contains(&pod.node)
            && pod.last_line.is_none();
        let is_removed = self.removed.get(&pod.node).is_some_and(|gone| {
            gone.lo >= begin && pod.last_line.is_none_or(|line| line.lo <= gone.hi)
        });
        is_missing || is_removed
    }
}
