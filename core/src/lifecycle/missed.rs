//! Pods that their own controller took away because others of their run had ended by themselves: who was out of reach when
//! those ended is whom they missed.

use std::collections::{HashMap, HashSet};

use whathappened_model::table::AtRow as _;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::helper::is_helpers;
use crate::graph::{EntityGraph, Task, TaskRow, WorkloadRow};

/// A controller takes away the rest within this long of an end.
const TAKEN_WITHIN: Nanos = 60 * SECOND;

/// When pods ended by themselves, by the root of their run, and what was then taken away.
pub(super) struct Missed {
    ended: HashMap<WorkloadRow, Vec<Stamp>>,
    taken: HashSet<TaskRow>,
}

impl Missed {
    pub(super) fn of(graph: &EntityGraph) -> Self {
        let taken: HashSet<TaskRow> = graph
            .facts
            .iter()
            .filter_map(|fact| graph.taken_by_its_controller(fact))
            .collect();
        let mut ended: HashMap<WorkloadRow, Vec<Stamp>> = HashMap::new();
        // Nobody is missed where nobody was taken away.
        let pods = graph.pods.iter().filter(|_| !taken.is_empty());
        for (root, pod) in pods.filter_map(|pod| Some((pod.root?, pod))) {
            let by_itself = pod.exits.iter().filter(|exit| {
                let signalled = matches!(exit.exit_code, None | Some(0 | 137 | 143));
                !exit.init && !signalled && !is_helpers(graph, pod, exit)
            });
            let times = by_itself.map(|exit| exit.time);
            let times = times.filter(|time| *time != Stamp::OPEN);
            ended.entry(root).or_default().extend(times);
        }
        Self { ended, taken }
    }

    /// When pods of the run of one that its controller took away ended by themselves; none of any other pod's.
    pub(super) fn others_of(&self, number: TaskRow, pod: &Task) -> &[Stamp] {
        let ended = self.ended.at(pod.root);
        let ended = ended.filter(|_| self.taken.contains(&number));
        ended.map_or(&[][..], Vec::as_slice)
    }
}

/// Whether one of some ends came after a node had been found to be silent, and a pod on that node was taken away for it.
pub(super) fn is_missed(ends: &[Stamp], silent: Stamp, taken: Stamp) -> bool {
    ends.iter().any(|end| {
        end.lo > silent.hi && end.lo <= taken.hi && taken.lo.saturating_sub(end.hi) <= TAKEN_WITHIN
    })
}
