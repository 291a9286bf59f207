//! Runs that are still there and do not get on, get on more slowly than they did, or whose
//! log fails to its end.

use crate::signals::{SignalClass, named};
use std::collections::BTreeMap;

use whathappened_model::table::{HasRow as _, Table};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::death::{Death, DeathState, RunState, run_state};
use crate::graph::{EntityGraph, Fact, Task, TaskKind, TaskRow};
use crate::lifecycle::{End, State};
use crate::resolve::{Root, Run};
use crate::symbols::Symbol;

/// The stall of a run: nobody writes any more, or lines go on without a step.
/// `None` where the run is over, or says that training is done.
pub(crate) fn stalled(
    graph: &EntityGraph,
    number: usize,
    run: &Run,
    ends: &Table<Task, End>,
) -> Option<Death> {
    if run_state(graph, run, ends) != RunState::Running {
        return None;
    }
    let attempt = run.attempts.last()?;
    let own = |fact: &&Fact| {
        let of_run = matches!(run.root, Root::Workload(root) if fact.workload == Some(root));
        attempt.pods.has(fact.pod) || (fact.pod.is_none() && of_run)
    };
    let says = |signal: &str| {
        let signal = graph.evidence.symbols.find(signal)?;
        // Facts are in time order, so that the last silence counts.
        let mut of_run = graph.facts.iter().filter(own);
        of_run.rfind(|fact| fact.signal == signal)
    };
    if says(named::LOG_TRAINING_DONE).is_some() {
        return None;
    }
    let fact = says(named::LOG_SILENT)
        .or_else(|| says(named::LOG_NO_PROGRESS))
        .or_else(|| says(named::LOG_UNHEARD));
    // Who writes on and makes steps, and loses them again and again, makes no progress either.
    let again = says(named::LOG_RESTART_LOOP);
    let attempts = run.last_attempt();
    let Some(fact) = fact else {
        let fact = again?;
        let death = Death::without_end(number, attempts, fact.pod, DeathState::Stalled, fact.time);
        return Some(death);
    };
    // Who stopped first may be who the others wait for, if it is still there.
    let there = |pod: &&TaskRow| {
        let end = ends.get(**pod);
        end.is_none_or(|end| end.state == State::Running)
    };
    let first = attempt
        .pods
        .iter()
        .filter(there)
        .filter_map(|pod| {
            let progress = graph.pods.get(*pod)?.progress.as_deref()?;
            Some((progress.last, *pod))
        })
        .min()
        .map(|(_, pod)| pod);
    Some(Death::without_end(
        number,
        attempts,
        first.or(attempt.pods.first().copied()),
        DeathState::Stalled,
        fact.time,
    ))
}

/// What tells that a run is slow, the most telling first, and the state that it is in by that: a rank that is slower
/// than the others explains why all are.
pub const SLOW: [(&str, DeathState); 4] = [
    (named::LOG_RANK_SLOW, DeathState::Slow),
    (named::LOG_RANK_BEHIND, DeathState::Slow),
    (named::LOG_SLOW, DeathState::Slow),
    (named::LOG_SLOW_PASSED, DeathState::Slowed),
];

/// A run whose steps take longer than they did, or of which one rank takes longer than the others, to the end of what is known of
/// them; or whose steps did for a while.
pub(crate) fn slow(
    graph: &EntityGraph,
    number: usize,
    run: &Run,
    ends: &Table<Task, End>,
) -> Option<Death> {
    if run_state(graph, run, ends) != RunState::Running {
        return None;
    }
    let attempt = run.attempts.last()?;
    let number_of = run.last_attempt();
    SLOW.into_iter().find_map(|(signal, state)| {
        let signal = graph.evidence.symbols.find(signal)?;
        // Facts are in time order: ranks wait for each other, and the first to tell of it counts.
        let fact = graph
            .facts
            .iter()
            .find(|fact| fact.signal == signal && attempt.pods.has(fact.pod))?;
        let until = fact.end.filter(|_| state == DeathState::Slowed);
        Some(Death {
            until,
            ..Death::without_end(number, number_of, fact.pod, state, fact.time)
        })
    })
}

/// So many such lines in a row are no hiccup.
const IN_A_ROW: u64 = 5;

/// A log that ended longer ago than this tells nothing of now.
const RECENT: Nanos = 600 * SECOND;

/// A pod that runs and whose log is nothing but failures since its last step, if it had one.
pub(crate) fn failing(
    graph: &EntityGraph,
    number: usize,
    run: &Run,
    ends: &Table<Task, End>,
) -> Option<Death> {
    if run_state(graph, run, ends) != RunState::Running {
        return None;
    }
    let now = graph.now?;
    let attempt = run.attempts.last()?;
    // How a container ended says more than its log.
    let ended_badly = |pod: &TaskRow| {
        let end = ends.get(*pod);
        end.is_some_and(|end| matches!(end.state, State::Died | State::CrashLoop))
    };
    if attempt.pods.iter().any(ended_badly) {
        return None;
    }
    let signals: Vec<Symbol> = graph
        .traits
        .of(SignalClass::KeepsFailing)
        .iter()
        .filter_map(|signal| graph.evidence.symbols.find(signal))
        .collect();
    if signals.is_empty() {
        return None;
    }
    let raised = graph.evidence.symbols.find(named::LOG_TRACEBACK);
    let mut streaks: BTreeMap<TaskRow, (Stamp, Stamp, u64, bool)> = BTreeMap::new();
    let reported = || {
        let failures = graph.facts.iter().filter(|fact| {
            signals.contains(&fact.signal) && attempt.pods.has(fact.pod) && fact.time != Stamp::OPEN
        });
        failures.filter_map(|fact| Some((fact.pod?, fact)))
    };
    // What it says once is not what it fails of again and again.
    let mut counts: BTreeMap<(TaskRow, Symbol), u64> = BTreeMap::new();
    for (pod, fact) in reported() {
        *counts.entry((pod, fact.signal)).or_default() += fact.count.max(1);
    }
    let again = |(pod, fact): &(TaskRow, &Fact)| {
        let alone = graph
            .pods
            .get(*pod)
            .is_some_and(|one| one.kind == TaskKind::Instance);
        let once = alone && Some(fact.signal) == raised;
        once || counts
            .get(&(*pod, fact.signal))
            .is_some_and(|times| *times > 1)
    };
    for (number, fact) in reported().filter(again) {
        let pod = graph.pods.get(number);
        let step = pod.and_then(|pod| pod.progress.as_deref());
        if step.is_some_and(|step| fact.time.lo <= step.last.lo) {
            continue;
        }
        let streak = streaks
            .entry(number)
            .or_insert((fact.time, fact.time, 0, false));
        streak.1 = streak.1.max(fact.end.unwrap_or(fact.time));
        streak.2 = streak.2.saturating_add(fact.count.max(1));
        streak.3 = Some(fact.signal) == raised;
    }
    let (pod, (first, ..)) = streaks
        .into_iter()
        .filter(|(pod, (_, last, lines, raised))| {
            let line = graph.pods.get(*pod).and_then(|pod| pod.last_line);
            // Of a log that was not read further, the end is what is known.
            let to_the_end =
                line.is_some_and(|line| line.lo <= last.hi.saturating_add(60 * SECOND));
            // Nobody tells how a program on a bare machine ended, but its log.
            let alone = graph
                .pods
                .get(*pod)
                .is_some_and(|one| one.kind == TaskKind::Instance);
            let often = *lines >= IN_A_ROW || alone && *raised;
            often && (to_the_end || now.saturating_sub(last.hi) < RECENT)
        })
        .min_by_key(|(pod, (first, ..))| (*first, *pod))?;
    let attempt = run.last_attempt();
    Some(Death::without_end(
        number,
        attempt,
        Some(pod),
        DeathState::Failing,
        first,
    ))
}
