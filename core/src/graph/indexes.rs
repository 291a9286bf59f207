//! Which pods of an indexed Job had done their part, as the Job counted them: its status names
//! the indexes that completed, also where nothing else is known of their pods.

use std::collections::BTreeMap;

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, Stamp};

use super::identity::{Pods, Workloads};
use super::{EntityGraph, Task, TaskKind, Workload};
use crate::graph::{TaskRow, WorkloadRow};
use crate::symbols::SymbolTable;

/// The indexes that a Job had counted as completed at some time: `0-2,5` in its status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedIndexes {
    ranges: Vec<(i32, i32)>,
    by: Stamp,
}

impl CompletedIndexes {
    /// Reads what the Job's last condition brought with it.
    pub(super) fn of(event: &Event) -> Option<Self> {
        Some(Self {
            ranges: ranges(event.attribute("completed_indexes")?)?,
            by: event.time,
        })
    }

    fn contains(&self, index: i32) -> bool {
        is_within(&self.ranges, index)
    }
}

impl EntityGraph {
    /// Whether a pod is of an index that its Job has given up: where each index has a limit of its own, what has reached it is never
    /// replaced, however many others go on.
    #[must_use]
    pub fn failed_for_good(&self, pod: impl Into<Option<TaskRow>>) -> bool {
        let Some(pod) = self.pods.get(pod.into()) else {
            return false;
        };
        let owner = self.workloads.get(pod.owner);
        let job = owner.filter(|owner| self.name(owner.kind) == "Job");
        let index = job.and_then(|job| index_of(&self.evidence.symbols, pod, job));
        let failed = job.and_then(|job| job.body.as_ref()?.failed_indexes.as_deref());
        let failed = failed.and_then(ranges).unwrap_or_default();
        index.is_some_and(|index| is_within(&failed, index))
    }
}

fn is_within(ranges: &[(i32, i32)], index: i32) -> bool {
    let within = |(first, last): &(i32, i32)| (*first..=*last).contains(&index);
    ranges.iter().any(within)
}

fn ranges(text: &str) -> Option<Vec<(i32, i32)>> {
    text.split(',').map(range).collect()
}

fn range(text: &str) -> Option<(i32, i32)> {
    let text = text.trim();
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    Some((first.parse().ok()?, last.parse().ok()?))
}

/// Marks the pods whose index their Job had counted as completed. To be called once pods have owners.
pub(super) fn mark(symbols: &SymbolTable, pods: &mut Pods, workloads: &Workloads) {
    // Of several pods of one index the last one did it.
    let mut last: BTreeMap<(WorkloadRow, i32), (Nanos, TaskRow)> = BTreeMap::new();
    for (number, pod) in pods.all.numbered() {
        let Some((owner_number, owner)) = pod.owner.zip(workloads.all.get(pod.owner)) else {
            continue;
        };
        let Some(done) = owner.done.as_ref() else {
            continue;
        };
        // How its containers ended says more, where that was seen.
        if pod.kind != TaskKind::Pod || pod.exits.iter().any(|exit| !exit.init) {
            continue;
        }
        let index = index_of(symbols, pod, owner);
        if let Some(index) = index.filter(|index| done.contains(*index)) {
            let begun = pod.begin().unwrap_or(Nanos::MIN);
            let known = last.entry((owner_number, index)).or_insert((begun, number));
            *known = (begun, number).max(*known);
        }
    }
    for ((owner, _), (begun, number)) in last {
        let done = workloads.all.get(owner);
        if let (Some(pod), Some(done)) = (
            pods.all.get_mut(number),
            done.and_then(|owner| owner.done.as_ref()),
        ) {
            pod.index_done = Some(Stamp {
                lo: begun.min(done.by.lo),
                hi: done.by.hi,
            });
        }
    }
}

/// The index of a pod within its Job.
fn index_of(symbols: &SymbolTable, pod: &Task, job: &Workload) -> Option<i32> {
    let label = pod.body.as_ref().and_then(|body| {
        let key = "batch.kubernetes.io/job-completion-index";
        body.labels.get(key).or_else(|| body.annotations.get(key))
    });
    match label {
        Some(label) => label.parse().ok(),
        None => index_in_name(symbols.name(pod.name), symbols.name(job.name)),
    }
}

/// The index in the name of a pod, `JOB-3-x2k8f`.
pub(super) fn index_in_name(pod: &str, job: &str) -> Option<i32> {
    let stem = super::parent::drawn(pod).or_else(|| super::parent::loosely_drawn(pod))?;
    stem.strip_prefix(job)?.strip_prefix('-')?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_as_the_job_controller_writes_them() {
        let done = CompletedIndexes {
            ranges: ranges("0-2,5").unwrap(),
            by: Stamp::OPEN,
        };
        let inside: Vec<i32> = (0..8).filter(|index| done.contains(*index)).collect();
        assert_eq!(inside, [0, 1, 2, 5]);
        assert_eq!(range("a-b"), None);
        assert_eq!(index_in_name("grid-3-x2k8f", "grid"), Some(3));
        assert_eq!(index_in_name("grid-x2k8f", "grid"), None);
    }
}
