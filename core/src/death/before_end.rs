//! What was wrong with a pod before somebody took it away: that is what needs explaining.

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{Death, DeathState, TIDIED};
use crate::graph::{EntityGraph, Exit, Task, TaskKind, TaskRow};
use crate::lifecycle::{End, Mode, State, failing_start, ran_on_after};
use crate::signals::named;
use crate::symbols::Symbol;

/// A pod that never ran, or that kept failing, and was taken away at last: what was
/// wrong with it is what needs explaining, not who tidied up. A deadline that only
/// ended the wait says so itself.
pub(super) fn wrong_before(
    graph: &EntityGraph,
    run: usize,
    attempt: u32,
    pod: TaskRow,
    end: &End,
) -> Option<Death> {
    let one = graph.pods.get(pod)?;
    if end.state != State::Died
        || end.mode == Mode::Exited
        || one.kind != TaskKind::Pod
        || is_late(graph, one)
    {
        return None;
    }
    let waited = || {
        let bound = one.bound.is_some() || one.node.is_some() || !one.waits.is_empty();
        let (state, since) = if bound {
            (DeathState::StuckStarting, one.stuck?)
        } else {
            (DeathState::NeverScheduled, one.unplaced?)
        };
        Some((state, Mode::None, since, None))
    };
    let failed = || {
        let mut bad: Vec<&Exit> = one
            .exits
            .iter()
            .filter(|exit| !exit.init && exit.exit_code.is_some_and(|code| code != 0))
            .filter(|exit| exit.time != Stamp::OPEN && exit.time.hi < end.time.lo)
            .collect();
        bad.sort_by_key(|exit| exit.time);
        bad.dedup_by_key(|exit| exit.time);
        let held = held_back(one, end);
        let last = bad.last().copied();
        let often = bad.len() >= OFTEN || held.is_some();
        let time = last.map(|last| last.time).or(held)?;
        let soon = end.time.lo.saturating_sub(time.hi) < BACK_OFF;
        (often && soon).then_some((DeathState::CrashLoop, Mode::Exited, time, last))
    };
    let looped = || {
        let last = failing_start(graph, one)?;
        Some((DeathState::CrashLoop, Mode::Exited, last.time, Some(last)))
    };
    // What wrote, and was held back after that, had started.
    let ran = one.held_back.is_some() && one.last_line.is_some();
    let (state, mode, time, exit) = if one.started.is_none() && end.exit.is_none() && !ran {
        looped().or_else(waited)?
    } else {
        failed()?
    };
    Some(Death {
        run,
        attempt,
        pod: Some(pod),
        state,
        mode,
        time,
        until: Some(end.time),
        since: None,
        exit_code: exit.and_then(|exit| exit.exit_code),
        reason: exit.map_or(Symbol::NONE, |exit| exit.reason),
        container: exit.map_or(Symbol::NONE, |exit| exit.container),
    })
}

/// When the kubelet held a container back last that somebody then took away: it does so from the second
/// failure on.
fn held_back(pod: &Task, end: &End) -> Option<Stamp> {
    let held = pod.held_back.filter(|held| held.lo <= end.time.hi)?;
    // One that has run for longer since is well.
    let again = pod.starts.last().filter(|start| start.lo > held.hi);
    let well = again.is_some_and(|again| end.time.lo.saturating_sub(again.hi) > TIDIED);
    (!well).then_some(held)
}

/// A pod whose log ends in an error, and which somebody deleted later: how its process
/// ended was not seen, and its last words say more than who tidied up.
pub(super) fn failed_before(
    graph: &EntityGraph,
    run: usize,
    attempt: u32,
    pod: TaskRow,
    (end, spoke): (&End, Stamp),
) -> Option<Death> {
    let one = graph.pods.get(pod)?;
    let step = one.progress.as_deref().map(|progress| progress.last.hi);
    let wrote = one.last_line.map(|line| line.lo);
    let went_on = step.is_some_and(|step| step > spoke.lo)
        || wrote.is_some_and(|wrote| wrote > spoke.hi.saturating_add(TIDIED));
    let long_before = spoke.hi.saturating_add(TIDIED) < end.time.lo;
    let unseen = end.state == State::Died && end.mode != Mode::Exited && end.exit.is_none();
    let went_on = went_on || ran_on_after(graph, one, spoke);
    (unseen && long_before && !went_on).then_some(Death {
        mode: Mode::Exited,
        until: Some(spoke),
        ..Death::without_end(run, attempt, Some(pod), DeathState::Died, spoke)
    })
}

/// Ends after which ending badly is what a container does.
const OFTEN: usize = 2;

/// The kubelet's longest back-off, and as much again.
const BACK_OFF: Nanos = 600 * SECOND;

fn is_late(graph: &EntityGraph, pod: &Task) -> bool {
    let signals = [named::K8S_WORKLOAD_DEADLINE, named::KUEUE_EVICTED_DEADLINE];
    let verdict = pod.verdict.as_ref();
    signals.iter().any(|signal| graph.says(pod.root, signal))
        || verdict.is_some_and(|(_, reason)| reason == "DeadlineExceeded")
}
