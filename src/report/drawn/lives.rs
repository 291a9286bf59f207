//! How each pod of a run lived: the states that a picture draws as bars. A state is drawn only where
//! records tell of it.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_core::death::{DeathState, deaths};
use whathappened_core::graph::{EntityGraph, Task, TaskKind, TaskRow};
use whathappened_core::lifecycle::{End, State, is_helpers};
use whathappened_core::resolve::Run;
use whathappened_core::signals::named;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{Nanos, Stamp};

use super::super::record::reported;
use crate::answer::{Incident, Life, LifeState};
use crate::case::Case;

/// Pods whose lives are told; a picture has room for fewer.
const LIVES: usize = 10_000;

/// States of a run in which it is there and its work does not get on.
const STUCK: [DeathState; 2] = [DeathState::Stalled, DeathState::Failing];

/// A state, from when, and until when.
type Stretch = (LifeState, Nanos, Option<Nanos>);

/// The lives of a run's pods, as far as there is room.
pub(super) fn of(case: &Case, number: usize, run: &Run, incidents: &[Incident]) -> Vec<Life> {
    let graph = &case.graph;
    let stuck = stuck(case, number, run, incidents);
    let pods = run.pods.iter().take(LIVES);
    let lives = pods.filter_map(|number| {
        let (pod, end) = (graph.pods.get(*number)?, case.ends.get(*number)?);
        let text = |symbol| Some(graph.name(symbol).to_owned()).filter(|text| !text.is_empty());
        Some(Life {
            pod: graph.name(pod.name).to_owned(),
            node: text(pod.node),
            rank: pod.rank,
            states: states(graph, pod, end, stuck.get(number).copied()),
        })
    });
    lives.collect()
}

/// Since when the work of pods does not get on, or did not before they ended.
fn stuck(
    case: &Case,
    number: usize,
    run: &Run,
    incidents: &[Incident],
) -> BTreeMap<TaskRow, Nanos> {
    let mut found = BTreeMap::new();
    for death in deaths(&case.graph, &case.runs, &[number], &case.ends) {
        let Some(since) = reported(death.time).filter(|_| STUCK.contains(&death.state)) else {
            continue;
        };
        // A gang works as one: where one member does not get on, none does.
        let attempt = run.attempt(death.attempt).map(|attempt| &attempt.pods);
        let members = attempt.filter(|_| death.state == DeathState::Stalled);
        let alone = death.pod.as_slice();
        for pod in members.map_or(alone, Vec::as_slice) {
            found.insert(*pod, since.lo);
        }
    }
    for incident in incidents {
        for (pod, since) in waited(case, run, incident) {
            found.insert(pod, since);
        }
    }
    found
}

/// Members that waited in a collective until it timed out, as their own logs say, and since when.
fn waited(case: &Case, run: &Run, incident: &Incident) -> Vec<(TaskRow, Nanos)> {
    let graph = &case.graph;
    let of_run = incident.run_id.as_deref() == Some(run.id(graph).as_str());
    let known = || {
        let waited = incident.said.collective.as_ref().filter(|_| of_run)?;
        let since = waited.since.as_deref().and_then(Stamp::parse)?.lo;
        let pods: BTreeSet<TaskRow> = run
            .attempt(incident.attempt?)?
            .pods
            .iter()
            .copied()
            .collect();
        let signal = graph.evidence.symbols.find(named::NCCL_TIMEOUT)?;
        let begins = graph
            .facts
            .iter()
            .filter(|fact| fact.signal == signal && fact.time.lo >= since && pods.has(fact.pod));
        Some(begins.filter_map(|fact| Some((fact.pod?, since))).collect())
    };
    known().unwrap_or_default()
}

fn states(graph: &EntityGraph, pod: &Task, end: &End, stuck: Option<Nanos>) -> Vec<Stretch> {
    let at = |stamp: Option<Stamp>| stamp.and_then(reported).map(|stamp| stamp.lo);
    let over = at(end.final_time()).filter(|_| !is_ending(pod));
    let Some(begin) = at(pod.created).or_else(|| pod.begin()) else {
        return Vec::new();
    };
    // What is told of a later moment than its end was told late.
    let within = |time: &Nanos| *time >= begin && over.is_none_or(|over| *time <= over);
    // Most times are of whole seconds: what may have been later than what came before it was so.
    let after = |stamp: Option<Stamp>, floor: Nanos| {
        let stamp = stamp.and_then(reported).filter(|stamp| stamp.hi > floor)?;
        Some(stamp.lo.max(floor)).filter(within)
    };
    let bound = after(pod.bound, begin);
    // Clocks differ: whatever it says, no pod runs before it has its machine.
    let started = after(pod.started, begin).filter(|_| ran(pod, end));
    let started = started.map(|started| bound.map_or(started, |bound| started.max(bound)));
    let asked = at(pod.deletion_requested).filter(within);
    let mut marks: Vec<(LifeState, Nanos)> = Vec::new();
    if at(pod.created).is_some() {
        // Of a pod that started nobody may have told when it got its machine.
        let placed = bound.is_none() && (started.is_some() || pod.node.is_some());
        let state = match placed && pod.kind == TaskKind::Pod {
            true => LifeState::Pending,
            false => LifeState::Waiting,
        };
        marks.push((state, begin));
    }
    if let Some(bound) = bound {
        let state = match restarts_unseen(pod) {
            true => LifeState::There,
            false => LifeState::Starting,
        };
        marks.push((state, bound));
    }
    match started {
        Some(started) => {
            marks.push((LifeState::Running, started));
            marks.extend(restarts(graph, pod, end, within));
            let stuck = stuck.filter(within).filter(|stuck| *stuck >= started);
            marks.extend(stuck.map(|since| (LifeState::Stuck, since)));
        }
        // Nothing tells when it started; that it is there is known.
        None if !is_unstarted(pod, end) => {
            let since = bound.unwrap_or(begin);
            marks.push((LifeState::There, since));
            let stuck = stuck.filter(within).filter(|stuck| *stuck >= since);
            marks.extend(stuck.map(|stuck| (LifeState::Stuck, stuck)));
        }
        None => {}
    }
    if let Some(asked) = asked {
        marks.retain(|(_, time)| *time <= asked);
        marks.push((LifeState::Terminating, asked));
    }
    marks.sort_by_key(|(_, time)| *time);
    let nexts = marks.iter().skip(1).map(|(_, time)| Some(*time));
    let nexts: Vec<Option<Nanos>> = nexts.chain([over]).collect();
    let whole = marks.into_iter().zip(nexts);
    whole
        .map(|((state, from), to)| (state, from, to))
        .filter(|(_, from, to)| to.is_none_or(|to| to > *from))
        .collect()
}

/// Whether the object of a pod shows that its end was asked for, and not that it has ended.
fn is_ending(pod: &Task) -> bool {
    pod.body.is_some()
        && pod.deletion_requested.is_some()
        && pod.phase.as_deref() == Some("Running")
        && pod.gone.is_none()
        && pod.exits.is_empty()
}

/// Whether a main container ran: one that never got past its preparation did not, and one that ran
/// and cannot be started again did.
fn ran(pod: &Task, end: &End) -> bool {
    let waits = matches!(end.state, State::NeverScheduled | State::StuckStarting);
    !waits
        || pod.exits.iter().any(|exit| !exit.init)
        || end.restarts.iter().any(|one| !one.exit.init)
}

/// Whether records tell that nothing of it ran: it waits for a place or for its start, a container
/// that prepares it fails, or it was taken away before it got past that.
fn is_unstarted(pod: &Task, end: &End) -> bool {
    match end.state {
        State::NeverScheduled | State::StuckStarting => !ran(pod, end),
        State::CrashLoop => end.exit.as_ref().is_some_and(|exit| exit.init),
        State::Died => {
            let spoke = pod.last_line.is_some() || pod.untimed.last > 0 || pod.held_back.is_some();
            let waited = pod.stuck.is_some() || pod.unplaced.is_some() && !pod.node.is_some();
            let silent = pod.exits.is_empty() && pod.starts.is_empty() && !spoke;
            waited && silent && pod.kind == TaskKind::Pod
        }
        State::NotReady | State::Running | State::Completed => false,
    }
}

/// Whether the kubelet counts more restarts than there are ends on record: the first start that is
/// known is then not the first one.
fn restarts_unseen(pod: &Task) -> bool {
    let counted = pod.body.iter().flat_map(|body| body.restarts.values());
    let counted = counted.copied().max().unwrap_or(0);
    let known = pod.exits.iter().filter(|exit| !exit.init).count();
    usize::try_from(counted).is_ok_and(|counted| counted > known)
}

/// Ends of the main container that its pod outlived, and when it ran again.
fn restarts(
    graph: &EntityGraph,
    pod: &Task,
    end: &End,
    within: impl Fn(&Nanos) -> bool,
) -> Vec<(LifeState, Nanos)> {
    let at = |stamp: Stamp| reported(stamp).map(|stamp| stamp.lo).filter(&within);
    let looping = (end.state == State::CrashLoop).then_some(end.exit.as_ref());
    let outlived = end.restarts.iter().map(|restart| &restart.exit);
    // What ended beside the main container took nothing away.
    let own = outlived.filter(|exit| !exit.init && !is_helpers(graph, pod, exit));
    let ends: BTreeSet<Nanos> = own
        .chain(looping.flatten())
        .filter_map(|exit| at(exit.time))
        .collect();
    let mut starts: Vec<Nanos> = pod.starts.iter().filter_map(|start| at(*start)).collect();
    starts.sort_unstable();
    let mut marks = Vec::new();
    for out in ends {
        marks.push((LifeState::Restarting, out));
        // One that started in the second of its end was ready since, or the end is the last that is known.
        let after = starts.iter().find(|start| **start > out);
        let same = || starts.iter().find(|start| **start == out);
        let runs = || {
            let is_up = pod.waits.is_empty() && pod.phase.as_deref() == Some("Running");
            end.state == State::Running || is_up
        };
        let again = after.or_else(|| same().filter(|_| runs()));
        marks.extend(again.map(|again| (LifeState::Running, *again)));
    }
    marks
}

#[cfg(test)]
mod tests;
