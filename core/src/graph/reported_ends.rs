//! Ends of containers that the workload's object tells of its pods: they count for pods of which nothing else tells the end.

use std::collections::HashSet;

use whathappened_model::event::Event;
use whathappened_model::table::Table;

use super::{Fact, Task};
use crate::evidence::EvidenceRow;
use crate::graph::TaskRow;

/// Whether the end of a container is told by another object than its pod.
pub(super) fn is_reported(event: &Event) -> bool {
    event.fact == "k8s.container.terminated" && event.attribute("told_by").is_some()
}

/// Takes out what was told of pods whose own records tell their ends: the workload's controller saw the same, a while later.
/// `reported` are rows, each with the pod it is about. To be called once what was heard of ends is settled.
pub(super) fn forget(
    reported: &[(EvidenceRow, Option<TaskRow>)],
    pods: &Table<Task>,
    facts: &mut Vec<Fact>,
) {
    let is_known = |pod: Option<TaskRow>| pods.get(pod).is_some_and(|pod| !pod.heard.is_empty());
    let known = reported.iter().filter(|(_, pod)| is_known(*pod));
    let rows: HashSet<EvidenceRow> = known.map(|(row, _)| *row).collect();
    if !rows.is_empty() {
        facts.retain(|fact| !rows.contains(&fact.row));
    }
}
