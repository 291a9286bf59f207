//! Members that had not ended when the others gave up waiting for one of them.

use whathappened_model::time::Stamp;

use super::{Death, WAITED};
use crate::graph::EntityGraph;
use crate::lifecycle::{End, State};
use crate::resolve::Attempt;

/// A process that waits in a driver, or for a file that does not come, cannot even be killed:
/// its container goes on. It is nothing to explain by itself, but may be who was missing.
pub(super) fn lingering(
    graph: &EntityGraph,
    run: usize,
    attempt: (u32, &Attempt),
    ends: &[End],
    found: &mut Vec<Death>,
) {
    let (number, attempt) = attempt;
    let Some(waited) = graph.evidence.symbols.find(WAITED) else {
        return;
    };
    let state = |pod: &u32| ends.get(*pod as usize).map(|end| end.state);
    let goes_on = |pod: &&u32| state(pod) == Some(State::Running);
    if !attempt.pods.iter().any(|pod| goes_on(&pod)) {
        return;
    }
    let gave_up = graph
        .facts
        .iter()
        .filter(|fact| fact.signal == waited && fact.time != Stamp::OPEN)
        .map(|fact| fact.pod)
        .filter(|pod| attempt.pods.contains(pod) && state(pod) == Some(State::Died));
    let first = gave_up
        .filter_map(|pod| Some(ends.get(pod as usize)?.time))
        .min();
    let Some(first) = first.filter(|first| *first != Stamp::OPEN) else {
        return;
    };
    let lingering = |pod: &u32| Death::without_end(run, number, *pod, "lingering", first);
    found.extend(attempt.pods.iter().filter(goes_on).map(lingering));
}
