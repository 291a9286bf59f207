//! Pods that their Job deleted because a container had ended too often in them.
//!
//! With `restartPolicy: OnFailure` the same pod is started again in place, each start counts as
//! a retry, and the Job deletes the pod at the start that was one too many. What ended such a
//! pod is the end before that start, not the deletion.

use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::graph::{EntityGraph, Exit, Task, TaskRow, WorkloadRow};

/// The Job's controller sees a start, and asks for the pod's end, within this long: a rank that
/// had started anew before that had got over its end.
const AT_ONCE: Nanos = 30 * SECOND;

/// When pods were deleted by a Job of which too many had failed.
pub(super) type BackoffDeletions = HashMap<TaskRow, Stamp>;

/// Who deletes pods beside the controllers of their workloads.
fn by_others(signal: &str) -> bool {
    const CONFIRM: [&str; 2] = [
        named::K8S_POD_DELETED_BY_GC,
        named::K8S_POD_DELETED_BY_KUBELET,
    ];
    (signal.starts_with("k8s.pod.deleted_by_") && !CONFIRM.contains(&signal))
        || signal.starts_with("k8s.pod.evicted")
        || signal == named::K8S_POD_PREEMPTED
}

/// The pods that a Job which had used up its retries deleted, as it or the audit log tells.
pub(super) fn spent(graph: &EntityGraph) -> BackoffDeletions {
    let is_job = |workload: WorkloadRow| {
        let job = graph.workloads.get(workload);
        job.is_some_and(|job| graph.name(job.kind) == "Job")
            && graph.says(workload, named::K8S_WORKLOAD_BACKOFF_LIMIT)
    };
    let (mut spent, mut others) = (BackoffDeletions::new(), HashMap::<TaskRow, Stamp>::new());
    // Facts are in time order: the first of each counts.
    for fact in &graph.facts {
        let signal = graph.name(fact.signal);
        if let Some(deleted) = graph.taken_by_its_controller(fact)
            && let Some(pod) = graph.pods.get(deleted)
            && pod.owner.is_some_and(is_job)
        {
            spent.entry(deleted).or_insert(fact.time);
        } else if let Some(pod) = fact.pod.filter(|_| by_others(signal)) {
            others.entry(pod).or_insert(fact.time);
        }
    }
    // Who had asked before the Job did ended it.
    spent.retain(|pod, by| others.get(pod).is_none_or(|other| other.lo >= by.hi));
    spent
}

/// Within which the end that was one too many lies, for a pod whose ends nobody saw: its kubelet
/// held its container back since it had failed, until its Job deleted it.
pub(super) fn unseen_straw(pod: &Task, main: &[&Exit], by: Stamp) -> Option<Stamp> {
    let asked = pod.deletion_requested.map_or(by, |asked| asked.min(by));
    let held = pod.held_back.filter(|held| held.lo <= asked.hi)?;
    main.is_empty().then(|| Stamp {
        lo: held.lo.min(asked.lo),
        hi: asked.hi,
    })
}

/// The end that was one too many, for a pod that its Job deleted then.
pub(super) fn last_straw<'a>(pod: &Task, main: &[&'a Exit], by: Stamp) -> Option<&'a Exit> {
    let asked = pod.deletion_requested.map_or(by, |asked| asked.min(by));
    let bad =
        |exit: &&&Exit| exit.time != Stamp::OPEN && exit.exit_code.is_some_and(|code| code != 0);
    // Its container had ended and was not started again: the kubelet held it back until the Job gave up.
    let down = main
        .iter()
        .filter(bad)
        .filter(|exit| exit.time.hi <= asked.lo)
        .max_by_key(|exit| exit.time);
    let again = |end: &Exit| {
        pod.starts
            .iter()
            .any(|start| start.hi > end.time.lo && start.lo <= asked.hi)
    };
    if let Some(down) = down.filter(|end| !again(end)) {
        return Some(down);
    }
    let anew = pod.starts.iter().rev().find(|start| start.lo <= asked.hi)?;
    let last = main
        .iter()
        .filter(bad)
        .filter(|exit| exit.time.lo <= anew.lo)
        .max_by_key(|exit| exit.time)?;
    let started_anew =
        last.time.lo < anew.hi && pod.starts.iter().any(|one| one.hi <= last.time.hi);
    let at_once = asked.lo.saturating_sub(anew.hi) <= AT_ONCE;
    (started_anew && at_once).then_some(last)
}
