//! Pods that were deleted and had nothing left to stop: a kubelet deletes what ran, once it has stopped it,
//! from the API server. Where an audit log holds such requests and goes on, and none is for this pod, it had
//! ended before, or was removed by force.

use crate::graph::{EntityGraph, Task, TaskRow, WorkloadRow};
use crate::signals::named;
use std::collections::HashSet;

use whathappened_model::event::SourceKind;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::loss::Losses;

/// A kubelet has stopped what ran, and told so, after this long.
const STOPPED_WITHIN: Nanos = 120 * SECOND;

/// What kubelets' requests tell of the pods that they saw to their end.
pub(super) struct SeenOff {
    pods: HashSet<TaskRow>,
    /// From when to when there is an audit log that holds kubelets' requests.
    recorded: Option<(Nanos, Nanos)>,
    /// Workloads of which their cluster itself tells.
    heard_of: HashSet<WorkloadRow>,
    /// The time of the latest record.
    now: Option<Nanos>,
}

impl SeenOff {
    pub(super) fn of(graph: &EntityGraph) -> Self {
        let mut pods = HashSet::new();
        let mut recorded: Option<(Nanos, Nanos)> = None;
        let mut by_kubelet = false;
        let mut heard_of = HashSet::new();
        for fact in &graph.facts {
            let signal = graph.name(fact.signal);
            if matches!(
                signal,
                named::K8S_POD_DELETED_BY_KUBELET | named::K8S_CONTAINER_KILLING
            ) {
                pods.extend(fact.pod);
            }
            by_kubelet |= signal == named::K8S_POD_DELETED_BY_KUBELET;
            if fact.source_kind == SourceKind::Kubernetes {
                heard_of.extend(fact.workload);
            }
            if fact.source_kind == SourceKind::KubernetesAudit && fact.time != Stamp::OPEN {
                let (first, last) = recorded.unwrap_or((fact.time.lo, fact.time.hi));
                recorded = Some((first.min(fact.time.lo), last.max(fact.time.hi)));
            }
        }
        Self {
            pods,
            recorded: recorded.filter(|_| by_kubelet),
            heard_of,
            now: graph.now,
        }
    }

    /// Since when a pod may have been over, of which nothing but the request for its deletion is known. Who made it
    /// would have told of an end before; of a pod that nobody made, nobody would.
    pub(super) fn over_since(
        &self,
        graph: &EntityGraph,
        losses: &Losses,
        (number, pod): (TaskRow, &Task),
    ) -> Option<Nanos> {
        let asked = pod.first_asked()?;
        // Of a workload of which requests alone are known nobody would be heard to say so either.
        let owner = graph.workloads.get(pod.owner);
        let is_unheard = owner.is_some_and(|owner| owner.body.is_none())
            && !self.heard_of.has(pod.owner)
            && self.goes_on_after(asked);
        let is_unmade = pod.owner.is_none() || is_unheard;
        // A kubelet that is not there sees nobody off.
        let is_lost = losses
            .get(&pod.node)
            .is_some_and(|losses| !losses.is_empty());
        let is_known = pod.body.is_some() || !pod.exits.is_empty() || self.pods.contains(&number);
        let wrote = pod.last_line.map(|line| line.lo);
        let started = pod.starts.last().map(|start| start.lo);
        let made = owner.and_then(|owner| owner.created).filter(|_| is_unheard);
        let alive = pod.known_begin().max(wrote).max(started);
        let alive = alive.or(made.map(|made| made.lo))?;
        let was_left = (is_unmade || self.covers(asked)) && !is_lost && !is_known;
        (was_left && alive < asked.lo).then_some(alive)
    }

    /// Whether kubelets' requests after one for a deletion are on record.
    fn covers(&self, asked: Stamp) -> bool {
        self.recorded.is_some_and(|(first, last)| {
            first <= asked.lo && last > asked.hi.saturating_add(STOPPED_WITHIN)
        })
    }

    /// Whether something is known of a time at which a kubelet would have stopped what was to be deleted.
    fn goes_on_after(&self, asked: Stamp) -> bool {
        self.now
            .is_some_and(|now| now > asked.hi.saturating_add(STOPPED_WITHIN))
    }
}
