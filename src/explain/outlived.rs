//! Pods of a run that outlived the end of another one, and saw a new pod start in its place: what
//! ends them then ends the generation that they are in by then, and not the one before.

use std::collections::HashMap;

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, Task};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::Run;
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::candidate::Candidate;
use super::gang::is_act;
use super::rule::Rule;
use crate::answer::Level;

/// Who waits for a member that is gone does so for longer, or ends within seconds.
const WAITS: Nanos = 300 * SECOND;

/// Counts each such death to the generation in which its pod ended, and keeps the order of
/// (run, generation).
pub(super) fn carry(
    graph: &EntityGraph,
    runs: &[Run],
    rules: &[Rule],
    deaths: Vec<Death>,
    candidates: Vec<Vec<Candidate>>,
) -> (Vec<Death>, Vec<Vec<Candidate>>) {
    let carried: Vec<Option<u32>> = (0..deaths.len())
        .map(|number| {
            let found = candidates.get(number).and_then(|all| all.first());
            let later = joined(graph, runs, &deaths, number)?;
            let own = is_of_its_own(rules, &deaths, number, found);
            (own || was_stopped_later(graph, runs, &deaths, number)).then_some(later)
        })
        .collect();
    // What is torn down with them, or with one made for that generation that failed, goes with them.
    let mut since: HashMap<(usize, u32), Nanos> = HashMap::new();
    for (death, attempt) in deaths.iter().zip(&carried) {
        let chosen = matches!(death.exit_code, Some(1..=125));
        let failed = death.state == DeathState::Died && death.mode == Mode::Exited && chosen;
        let own = failed.then_some(death.attempt);
        if let Some(attempt) = attempt.or(own) {
            let first = since.entry((death.run, attempt)).or_insert(death.time.lo);
            *first = death.time.lo.min(*first);
        }
    }
    let attempts: Vec<u32> = (0..deaths.len())
        .zip(&deaths)
        .map(|(number, death)| {
            let with_others = || {
                let later = joined(graph, runs, &deaths, number)?;
                let first = since.get(&(death.run, later))?;
                (death.time.lo >= first.saturating_sub(CLOCKS)).then_some(later)
            };
            let own = carried.get(number).copied().flatten();
            own.or_else(with_others).unwrap_or(death.attempt)
        })
        .collect();
    let mut all: Vec<(Death, Vec<Candidate>)> = deaths
        .into_iter()
        .zip(attempts)
        .map(|(death, attempt)| Death { attempt, ..death })
        .zip(candidates)
        .collect();
    all.sort_by_key(|(death, _)| (death.run, death.attempt));
    all.into_iter().unzip()
}

/// The latest generation of its run that had begun when a pod of an earlier one died, whose own
/// place nobody had taken.
fn joined(graph: &EntityGraph, runs: &[Run], deaths: &[Death], number: usize) -> Option<u32> {
    let death = deaths.get(number)?;
    let run = runs.get(death.run)?;
    let pod = graph.pods.get(death.pod)?;
    if death.state != DeathState::Died {
        return None;
    }
    let mut found = None;
    let mut made = 0;
    for (index, attempt) in (1_u32..).zip(&run.attempts).skip(death.attempt as usize) {
        let pods = || {
            let pods = attempt.pods.iter();
            pods.filter_map(|pod| graph.pods.get(*pod))
        };
        let began = pods().filter_map(started).min()?;
        let same_rank = pods().any(|other| other.rank.is_some() && other.rank == pod.rank);
        made += pods().count();
        // Of pods that are known from their ends alone nobody knows when they began, but that they had by then.
        let unseen = pods().all(|pod| pod.known_begin().is_none());
        let had_begun = match unseen {
            true => began <= death.time.hi.saturating_add(CLOCKS),
            false => began.saturating_add(CLOCKS) < death.time.lo,
        };
        if !had_begun || same_rank {
            break;
        }
        let ended_before = |other: &&Death| other.run == death.run && other.time.hi < began;
        // Where no ranks are known, as many were made as had ended.
        if pod.rank.is_none() && made > deaths.iter().filter(ended_before).count() {
            break;
        }
        found = Some(index);
    }
    found
}

/// When a pod's own program began to run.
fn started(pod: &Task) -> Option<Nanos> {
    let start = pod.starts.first().copied().or(pod.started);
    start.map(|start| start.lo).or(pod.begin())
}

/// Whether a member was stopped by whomever, and its run is a plain Job: that stops none of its pods for the end of another in whose
/// place it made a new one.
fn was_stopped_later(graph: &EntityGraph, runs: &[Run], deaths: &[Death], number: usize) -> bool {
    let Some(death) = deaths.get(number) else {
        return false;
    };
    let root = runs.get(death.run).and_then(|run| run.root.workload());
    let root = graph.workloads.get(root);
    death.mode == Mode::Killed && root.is_some_and(|root| graph.name(root.kind) == "Job")
}

/// Whether a death is none that the end of another member brings about: somebody's deed, a fault,
/// or an end that comes neither at once nor after a wait.
fn is_of_its_own(
    rules: &[Rule],
    deaths: &[Death],
    number: usize,
    found: Option<&Candidate>,
) -> bool {
    let Some(death) = deaths.get(number) else {
        return false;
    };
    let cause = found.and_then(|found| rules.get(found.rule));
    let cause = cause.map_or("", |rule| rule.cause.as_str());
    match found {
        Some(found) if found.level >= Level::Supported => {
            is_act(found) || !cause.starts_with("hang.") && cause != "dep.service"
        }
        _ => {
            let before = |other: &&Death| {
                (other.run, other.attempt) == (death.run, death.attempt)
                    && other.time.hi < death.time.lo
            };
            let last = deaths
                .iter()
                .filter(before)
                .map(|other| other.time.lo)
                .max();
            death.mode == Mode::Exited
                && matches!(cause, "" | "code.exception")
                && !matches!(death.exit_code, None | Some(134 | 137 | 143))
                && last.is_some_and(|last| death.time.lo.saturating_sub(last) < WAITS)
        }
    }
}
