//! Containers that never came to be. When their pod is taken away, its kubelet gives an end to each of its
//! containers, also to one that it never could start: `ContainerStatusUnknown`, code 137. No program ended there.

use std::collections::HashSet;

use whathappened_model::table::{HasRow as _, Table};

use super::{Fact, Task};
use crate::evidence::{Evidence, SpillError};
use crate::symbols::Symbol;

/// What a kubelet writes for a container that it does not find (`status_manager.go`, `TerminatePod`).
const NOT_FOUND: &str = "ContainerStatusUnknown";

/// Drops such ends of pods whose kubelet told what kept them from starting, and of no start.
///
/// # Errors
/// Where a record cannot be read back.
pub(super) fn forget_ends(
    pods: &mut Table<Task>,
    evidence: &Evidence,
    facts: &mut Vec<Fact>,
) -> Result<(), SpillError> {
    let Some(not_found) = evidence.symbols.find(NOT_FOUND) else {
        return Ok(());
    };
    let mut unended = HashSet::new();
    for (number, pod) in pods.numbered_mut() {
        if never_ran(pod, not_found) {
            pod.exits.retain(|exit| exit.reason != not_found);
            unended.insert(number);
        }
    }
    let mut kept = Vec::with_capacity(facts.len());
    for fact in facts.drain(..) {
        let of_such = unended.has(fact.pod);
        if !of_such || evidence.event(fact.row)?.reason.as_deref() != Some(NOT_FOUND) {
            kept.push(fact);
        }
    }
    *facts = kept;
    Ok(())
}

fn never_ran(pod: &Task, not_found: Symbol) -> bool {
    pod.stuck.is_some()
        && pod.started.is_none()
        && pod.starts.is_empty()
        && pod.exits.iter().any(|exit| exit.reason == not_found)
}
