//! Runs as the answer shows them.

use whathappened_core::death::RunState;
use whathappened_core::graph::{EntityGraph, Task};
use whathappened_core::lifecycle::{End, State};
use whathappened_core::resolve::{Root, Run as ResolvedRun};
use whathappened_core::signals::named;
use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND, Stamp, rfc3339};

use super::actor::owner;
use super::record::reported;
use crate::answer::{Attempt, Run};

/// A run as the answer shows it.
pub(super) fn run(
    graph: &EntityGraph,
    ends: &Table<Task, End>,
    run: &ResolvedRun,
    state: RunState,
) -> Run {
    let (_, kind, namespace, name) = run.names(graph);
    let attempts: Vec<Attempt> = run
        .attempts
        .iter()
        .enumerate()
        .map(|(index, attempt)| {
            let own: Vec<&End> = attempt
                .pods
                .iter()
                .filter_map(|pod| ends.get(*pod))
                .collect();
            let last = index + 1 == run.attempts.len();
            let begin = attempt
                .pods
                .iter()
                .filter_map(|pod| graph.pods.get(*pod)?.begin())
                .min();
            Attempt {
                number: u32::try_from(index).unwrap_or(0) + 1,
                start: begin.map(rfc3339),
                end: over(&own, begin).map(rfc3339),
                pods: own.len(),
                died: own
                    .iter()
                    .filter(|end| matches!(end.state, State::Died | State::CrashLoop))
                    .count(),
                state: attempt_state(&own, last, state),
            }
        })
        .collect();
    let made = match run.root {
        Root::Workload(root) => graph.workloads.get(root).and_then(|one| one.created),
        Root::Pod(_) => None,
    };
    let pods = run.pods.iter();
    let begun = pods.filter_map(|pod| graph.pods.get(*pod)?.known_begin());
    // That it was first seen then is not that it began then.
    let is_known = made.is_some() || begun.min().is_some();
    let gone = match run.root {
        Root::Workload(root) => graph.workloads.get(root).and_then(|one| one.gone),
        Root::Pod(_) => None,
    };
    let ended = state.is_over();
    let end = attempts
        .last()
        .and_then(|attempt| attempt.end.clone())
        // What was cleared away later had ended when it was over.
        .or_else(|| recorded_end(graph, run, state).map(rfc3339))
        .or_else(|| gone.map(|gone| rfc3339(gone.lo)));
    Run {
        number: 1,
        of: 1,
        id: run.id(graph),
        kind: kind.to_owned(),
        name: name.to_owned(),
        namespace: Some(namespace.to_owned()).filter(|namespace| !namespace.is_empty()),
        cluster: None,
        owner: owner(graph, run),
        start: run.begin.filter(|_| is_known).map(rfc3339),
        end: end.filter(|_| ended),
        state,
        attempts,
    }
}

/// When the last of them was over, if all of them are: where the time of an end is not known
/// to the minute, the time by which it was over, and where it is hardly known at all, none.
fn over(ends: &[&End], begin: Option<i64>) -> Option<i64> {
    const KNOWN: i64 = 60 * SECOND;
    let by = |time: Stamp| {
        let width = time.hi.saturating_sub(time.lo);
        let lasted = begin.map_or(i64::MAX, |begin| time.hi.saturating_sub(begin));
        let is_wide = width > KNOWN && time.hi != i64::MAX;
        (!is_wide || width < lasted / 2).then_some(if is_wide { time.hi } else { time.lo })
    };
    let times: Option<Vec<i64>> = ends
        .iter()
        .map(|end| reported(end.final_time()?).and_then(by))
        .collect();
    times?.into_iter().max()
}

fn attempt_state(ends: &[&End], last: bool, state: RunState) -> RunState {
    let any = |wanted: &[State]| ends.iter().any(|end| wanted.contains(&end.state));
    if last && matches!(state, RunState::Completed | RunState::Failed) {
        return state;
    }
    if any(&[State::Died, State::CrashLoop]) {
        RunState::Failed
    } else if any(&[State::NeverScheduled, State::StuckStarting]) || ends.is_empty() {
        RunState::Pending
    } else if ends.iter().all(|end| end.state == State::Completed) {
        RunState::Completed
    } else {
        RunState::Running
    }
}

/// When a workload of whose pods no end is known was over, by its own word.
fn recorded_end(graph: &EntityGraph, run: &ResolvedRun, state: RunState) -> Option<Nanos> {
    let root = run.root.workload()?;
    let signal = match state {
        RunState::Completed => named::K8S_WORKLOAD_COMPLETED,
        RunState::Failed => named::K8S_WORKLOAD_FAILED,
        RunState::Deleted
        | RunState::Deleting
        | RunState::Pending
        | RunState::Running
        | RunState::Unknown => return None,
    };
    let mut facts = graph.facts.iter();
    let last = facts.rfind(|fact| fact.workload == Some(root) && graph.name(fact.signal) == signal);
    last.map(|fact| fact.time.lo)
        .filter(|time| *time != Nanos::MIN)
}
