//! When jobs were over, of whose pods no end was seen.
//!
//! A Job has failed or is complete once none of its pods runs any more. An operator of training
//! jobs says so at once and then deletes the pods that still run, where it is told to clean up:
//! the ones that it leaves had ended. Where nobody says that the job is over, what kubelets do
//! shows as much: a pod that runs is deleted twice, by who asks for its end and by its kubelet.

use crate::signals::named;
use std::collections::{HashMap, HashSet};

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::helper::is_helpers;
use super::loss::{Losses, silent_at};
use crate::graph::{EntityGraph, Exit, Task, TaskRow, WorkloadRow};

/// What is said of a job that is over.
const OVER: [&str; 3] = [
    named::K8S_WORKLOAD_BACKOFF_LIMIT,
    named::K8S_WORKLOAD_COMPLETED,
    named::K8S_WORKLOAD_FAILED,
];

/// Whether Kubeflow's training operator is behind jobs of a kind.
#[must_use]
pub fn is_operated(kind: &str) -> bool {
    OPERATED.contains(&kind)
}

/// Jobs of Kubeflow's training operator.
const OPERATED: [&str; 7] = [
    "JAXJob",
    "MPIJob",
    "MXJob",
    "PaddleJob",
    "PyTorchJob",
    "TFJob",
    "XGBoostJob",
];

/// What kubelets do for pods that run when somebody asks for their end.
const SEEN_OFF: [&str; 2] = [
    named::K8S_CONTAINER_KILLING,
    named::K8S_POD_DELETED_BY_KUBELET,
];

/// A controller that gives a job up counts those that ended and stops the others within this long.
const AT_ONCE: Nanos = 5 * SECOND;

/// What is taken away this long after its job was over was not cleaned up with it.
const LEFT_OVER: Nanos = 600 * SECOND;

/// When a container of a pod was started last.
fn last_start(pod: &Task) -> Option<Stamp> {
    pod.starts.iter().max().copied()
}

/// When which jobs were over, and what was cleaned up after them.
pub(super) struct JobsOver {
    /// Times of a workload, in order.
    over: HashMap<WorkloadRow, Vec<Stamp>>,
    /// Pods that the controllers of their workloads deleted.
    cleaned: HashSet<TaskRow>,
    /// When the controllers of workloads last deleted a pod.
    cleaned_up: HashMap<WorkloadRow, Stamp>,
    /// When the controllers of workloads deleted pods that ran, as their kubelets confirmed; in order.
    stopped: HashMap<WorkloadRow, Vec<Stamp>>,
    /// Pods whose kubelets saw them to their end.
    seen_off: HashSet<TaskRow>,
}

impl JobsOver {
    pub(super) fn of(graph: &EntityGraph) -> Self {
        let mut found = Self {
            over: HashMap::new(),
            cleaned: HashSet::new(),
            cleaned_up: HashMap::new(),
            stopped: HashMap::new(),
            seen_off: HashSet::new(),
        };
        let mut asked = Vec::new();
        // Facts are in time order.
        for fact in &graph.facts {
            let signal = graph.name(fact.signal);
            if let Some(workload) = fact.workload
                && OVER.contains(&signal)
                && fact.time != Stamp::OPEN
            {
                found.over.entry(workload).or_default().push(fact.time);
            }
            if let Some(cleaned) = graph.taken_by_its_controller(fact)
                && let Some(pod) = graph.pods.get(cleaned)
            {
                found.cleaned.insert(cleaned);
                if let Some(owner) = pod.owner {
                    found.cleaned_up.insert(owner, fact.time);
                    asked.push((cleaned, owner, fact.time));
                }
            }
            if SEEN_OFF.contains(&signal) {
                found.seen_off.extend(fact.pod);
            }
        }
        for (pod, owner, time) in asked {
            if found.seen_off.contains(&pod) {
                found.stopped.entry(owner).or_default().push(time);
            }
        }
        found
    }

    /// When the job of a pod had failed or was complete, and with it the pod had ended.
    pub(super) fn by(
        &self,
        graph: &EntityGraph,
        losses: &Losses,
        (number, pod): (TaskRow, &Task),
    ) -> Option<Stamp> {
        let owner = pod.owner?;
        let kind = graph.name(graph.workloads.get(owner)?.kind);
        // A job of the same name may have been over before.
        let begin = pod.known_begin().unwrap_or(Nanos::MIN);
        let times = self.over.get(&owner).into_iter().flatten();
        let over = times.copied().find(|time| time.hi >= begin);
        let cleaned_up = |over: &Stamp| {
            let last = self.cleaned_up.get(&owner);
            last.is_some_and(|last| last.hi >= over.lo) && !self.cleaned.contains(&number)
        };
        // Of a Job that is given up the pods that still run are deleted, in that very moment.
        let was_left = |over: &Stamp| {
            // What prepared its containers, or helps them, has ended without it.
            let of_others = |exit: &Exit| {
                exit.init && exit.exit_code == Some(0) || is_helpers(graph, pod, exit)
            };
            let asked = pod
                .deletion_requested
                .filter(|_| pod.exits.iter().all(of_others));
            let with_it = asked.is_some_and(|asked| {
                asked.lo >= over.lo.saturating_sub(SECOND)
                    && asked.lo <= over.hi.saturating_add(SECOND)
            });
            !with_it && !self.cleaned.contains(&number)
        };
        // An operator that cleans up does so at once: what somebody takes away much later is a leftover, unless it had worked on.
        let wrote = pod.progress.as_deref().map(|progress| progress.last);
        let alive = wrote
            .into_iter()
            .chain(pod.last_line)
            .chain(last_start(pod));
        let alive = alive.map(|time| time.lo).max();
        let was_left_over = |over: &Stamp| {
            let asked = pod.first_asked();
            let later = asked.is_some_and(|asked| asked.lo.saturating_sub(over.hi) > LEFT_OVER);
            later
                && pod.body.is_none()
                && !self.cleaned.contains(&number)
                && !self.seen_off.contains(&number)
                && alive.is_none_or(|alive| alive <= over.hi.saturating_add(AT_ONCE))
        };
        let ended = |over: &Stamp| {
            kind == "Job" && was_left(over)
                || is_operated(kind) && (cleaned_up(over) || was_left_over(over))
        };
        // What was on a node that did not answer was there until somebody asked for its end.
        let is_heard =
            |over: &Stamp| pod.first_asked().is_none() || silent_at(losses, pod, *over).is_none();
        let left_out = self.left_out(graph, losses, (number, pod));
        // Text for people may not hold the time at which somebody said so.
        over.filter(ended)
            .filter(is_heard)
            .into_iter()
            .chain(left_out)
            .min_by_key(|over| over.hi)
    }

    /// When the controller of a pod's job stopped the others and left this one, which had ended
    /// then: it counted it as such, or its kubelet had nothing to do when it was deleted later.
    fn left_out(
        &self,
        graph: &EntityGraph,
        losses: &Losses,
        (number, pod): (TaskRow, &Task),
    ) -> Option<Stamp> {
        let owner = pod.owner?;
        let kind = graph.name(graph.workloads.get(owner)?.kind);
        if kind != "Job" && !is_operated(kind)
            || self.cleaned.contains(&number)
            || self.seen_off.contains(&number)
        {
            return None;
        }
        // A run that is made smaller goes on with those that are left, and a kubelet that is not
        // there sees nobody off.
        let gone_on = graph.says(owner, named::K8S_WORKLOAD_SCALED)
            || losses
                .get(&pod.node)
                .is_some_and(|losses| !losses.is_empty());
        if gone_on {
            return None;
        }
        let begin = pod.known_begin().unwrap_or(Nanos::MIN);
        let times = self.stopped.get(&owner)?.iter().copied();
        let stopped = times
            .filter(|time| time.hi >= begin)
            .min_by_key(|time| time.hi)?;
        let wrote = pod.last_line.map(|line| line.lo);
        let started = pod.starts.last().map(|start| start.lo);
        let lived = wrote.max(started).is_some_and(|last| last > stopped.hi);
        let asked_later = pod.first_asked().is_some_and(|asked| asked.lo > stopped.hi);
        let counted = pod
            .untracked
            .is_some_and(|counted| counted.lo.abs_diff(stopped.lo) <= AT_ONCE.unsigned_abs());
        ((asked_later || counted) && !lived).then_some(stopped)
    }
}
