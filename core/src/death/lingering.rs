//! Members that had not ended when the others gave up waiting for one of them, or that a launcher names as
//! those in which a rank was killed.

use crate::signals::named;
use whathappened_model::table::{HasRow as _, Table};
use whathappened_model::time::Stamp;

use super::{Death, DeathState, WAITED};
use crate::graph::{EntityGraph, Task, TaskRow};
use crate::lifecycle::{End, State};
use crate::resolve::Attempt;

/// A launcher's word for the rank that ended, and where.
const PROCESS_DIED: &str = named::MPI_PROCESS_DIED;

/// A process that waits in a driver, or for a file that does not come, cannot even be killed:
/// its container goes on. It is nothing to explain by itself, but may be who was missing.
pub(super) fn lingering(
    graph: &EntityGraph,
    run: usize,
    attempt: (u32, &Attempt),
    ends: &Table<Task, End>,
    found: &mut Vec<Death>,
) {
    let (number, attempt) = attempt;
    let state = |pod: &TaskRow| ends.get(*pod).map(|end| end.state);
    let goes_on = |pod: &&TaskRow| state(pod) == Some(State::Running);
    if !attempt.pods.iter().any(|pod| goes_on(&pod)) {
        return;
    }
    let waited = graph.evidence.symbols.find(WAITED);
    let gave_up = graph
        .facts
        .iter()
        .filter(|fact| Some(fact.signal) == waited && fact.time != Stamp::OPEN)
        .filter_map(|fact| fact.pod)
        .filter(|pod| attempt.pods.contains(pod) && state(pod) == Some(State::Died));
    let first = gave_up.filter_map(|pod| Some(ends.get(pod)?.time)).min();
    if let Some(first) = first.filter(|first| *first != Stamp::OPEN) {
        let lingering = |pod: &TaskRow| {
            Death::without_end(run, number, Some(*pod), DeathState::Lingering, first)
        };
        found.extend(attempt.pods.iter().filter(goes_on).map(lingering));
        return;
    }
    for (pod, killed_at) in killed_in(graph, attempt, ends) {
        if goes_on(&&pod) {
            found.push(Death::without_end(
                run,
                number,
                Some(pod),
                DeathState::Lingering,
                killed_at,
            ));
        }
    }
}

/// The members that a launcher names when it ends because a rank in them was killed, and when it ended: the
/// process that keeps a worker's pod is not the rank, and goes on.
fn killed_in(
    graph: &EntityGraph,
    attempt: &Attempt,
    ends: &Table<Task, End>,
) -> Vec<(TaskRow, Stamp)> {
    const KILLED: &str = "9";
    let Some(died) = graph.evidence.symbols.find(PROCESS_DIED) else {
        return Vec::new();
    };
    let mut found: Vec<(TaskRow, Stamp)> = Vec::new();
    let deaths = graph
        .facts
        .iter()
        .filter(|fact| fact.signal == died && attempt.pods.has(fact.pod));
    for fact in deaths {
        let end = ends.get(fact.pod);
        let Some(end) = end.filter(|end| end.state == State::Died && end.time != Stamp::OPEN)
        else {
            continue;
        };
        let Ok(event) = graph.evidence.event(fact.row) else {
            continue;
        };
        // Workers are called by their names, or by those with which their service finds them.
        let host = event.attribute("on_node").unwrap_or_default();
        let host = host.split('.').next().unwrap_or_default();
        let is_named = |pod: &Task| !host.is_empty() && graph.name(pod.name) == host;
        let named = attempt.pods.iter().copied().find(|number| {
            Some(*number) != fact.pod && graph.pods.get(*number).is_some_and(is_named)
        });
        if let Some(named) = named.filter(|_| event.attribute("signal") == Some(KILLED))
            && found.iter().all(|(known, _)| *known != named)
        {
            found.push((named, end.time));
        }
    }
    found
}
