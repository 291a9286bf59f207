//! Which pods of an indexed Job had done their part, as the Job counted them: its status names
//! the indexes that completed, also where nothing else is known of their pods.

use std::collections::BTreeMap;

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, Stamp};

use super::TaskKind;
use super::identity::{Pods, Workloads};
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
        let ranges = event.attribute("completed_indexes")?.split(',');
        let ranges: Option<Vec<(i32, i32)>> = ranges.map(range).collect();
        Some(Self {
            ranges: ranges?,
            by: event.time,
        })
    }

    fn contains(&self, index: i32) -> bool {
        let within = |(first, last): &(i32, i32)| (*first..=*last).contains(&index);
        self.ranges.iter().any(within)
    }
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
        let label = pod.body.as_ref().and_then(|body| {
            let key = "batch.kubernetes.io/job-completion-index";
            body.labels.get(key).or_else(|| body.annotations.get(key))
        });
        let index = match label {
            Some(label) => label.parse().ok(),
            None => index_in_name(symbols.name(pod.name), symbols.name(owner.name)),
        };
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
            ranges: "0-2,5"
                .split(',')
                .map(range)
                .collect::<Option<_>>()
                .unwrap(),
            by: Stamp::OPEN,
        };
        let inside: Vec<i32> = (0..8).filter(|index| done.contains(*index)).collect();
        assert_eq!(inside, [0, 1, 2, 5]);
        assert_eq!(range("a-b"), None);
        assert_eq!(index_in_name("grid-3-x2k8f", "grid"), Some(3));
        assert_eq!(index_in_name("grid-x2k8f", "grid"), None);
    }
}
