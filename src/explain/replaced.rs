//! Pods that wait in the place of one that was taken away: their wait came of its end,
//! and what ended it leads.

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, TaskKind, TaskRow};
use whathappened_core::lifecycle::Mode;
use whathappened_core::signals::{SignalClass, named};
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::candidate::Candidate;
use super::gang::Finding;
use super::requests::SILENCE;
use crate::answer::Level;

/// How long after a pod's end its controller has made another: grace, then the
/// deletion, then the controller's own pace.
const MADE_ANEW: Nanos = 180 * SECOND;

/// What a node that fell silent had on it is given up, and made anew, this much later.
const GIVEN_UP: Nanos = 420 * SECOND;

/// Marks what waits in the place of another, and that the run did not get over the
/// other's end.
pub(super) fn mark(graph: &EntityGraph, deaths: &[Death], findings: &mut [Finding]) {
    let waits: Vec<usize> = (0..findings.len())
        .filter(|number| is_wait(graph, deaths, &findings[*number]))
        .collect();
    for wait in waits {
        let before = (0..findings.len()).find(|number| {
            *number != wait && made_way(graph, deaths, &findings[*number], &findings[wait])
        });
        let before = before.or_else(|| gave_up_for(graph, deaths, findings, wait));
        if let Some(before) = before {
            findings[wait].follows = true;
            // A wait that was over with the run is as little why that ended, and nothing waits now.
            if findings[wait].recovered {
                continue;
            }
            let wrong = wrong_before(deaths, findings, before);
            for number in wrong.into_iter().chain([before]) {
                findings[number].recovered = false;
            }
            // Whoever then takes away what waits ends the wait, and nothing that ran.
            for ended in ends_of(deaths, findings, wait) {
                findings[ended].follows = true;
            }
        }
    }
}

/// The last of what ended pods of a run, where its Job gave it up for its failures: it was not ended by a pod that waited until
/// then.
fn gave_up_for(
    graph: &EntityGraph,
    deaths: &[Death],
    findings: &[Finding],
    wait: usize,
) -> Option<usize> {
    let waits = &findings[wait];
    let waited = pods_of(deaths, waits);
    let root = waited
        .iter()
        .find_map(|(_, pod)| graph.pods.get(*pod))?
        .root;
    let gave_up = graph.last_signal_at(root, named::K8S_WORKLOAD_BACKOFF_LIMIT)?;
    let ended = |finding: &Finding| {
        let own = finding.deaths().filter_map(|death| deaths.get(death));
        let mut own =
            own.filter(|death| matches!(death.state, DeathState::Died | DeathState::Restarted));
        own.any(|death| {
            death.mode != Mode::None
                && !waited.contains(&(death.run, death.pod))
                && death.time.lo <= gave_up.saturating_add(CLOCKS)
        })
    };
    (0..findings.len())
        .filter(|number| *number != wait && findings[*number].run == waits.run)
        .filter(|number| findings[*number].candidate.is_some() && ended(&findings[*number]))
        .max_by_key(|number| (findings[*number].attempt, std::cmp::Reverse(*number)))
}

/// The findings that tell how a wait ended: of its pods alone.
fn ends_of(deaths: &[Death], findings: &[Finding], wait: usize) -> Vec<usize> {
    let waited = pods_of(deaths, &findings[wait]);
    (0..findings.len())
        .filter(|number| *number != wait)
        .filter(|number| {
            let own = pods_of(deaths, &findings[*number]);
            !own.is_empty() && own.iter().all(|pod| waited.contains(pod))
        })
        .collect()
}

/// The pods that a finding is about, with their runs.
fn pods_of(deaths: &[Death], finding: &Finding) -> Vec<(usize, Option<TaskRow>)> {
    let own = finding.deaths().filter_map(|death| deaths.get(death));
    own.map(|death| (death.run, death.pod)).collect()
}

/// What was wrong with the same pods before they were taken away: the run did not get over
/// that either while nothing runs in their place.
fn wrong_before(deaths: &[Death], findings: &[Finding], ended: usize) -> Vec<usize> {
    let taken = pods_of(deaths, &findings[ended]);
    let was_wrong = |finding: &Finding| {
        let mut own = finding
            .victims
            .iter()
            .filter_map(|death| deaths.get(*death));
        finding.candidate.is_some()
            && !finding.victims.is_empty()
            && own.all(|death| {
                matches!(
                    death.state,
                    DeathState::CrashLoop | DeathState::StuckStarting
                )
            })
            && pods_of(deaths, finding)
                .iter()
                .all(|pod| taken.contains(pod))
    };
    (0..findings.len())
        .filter(|number| *number != ended && was_wrong(&findings[*number]))
        .collect()
}

fn is_wait(graph: &EntityGraph, deaths: &[Death], finding: &Finding) -> bool {
    // What keeps a pod from starting is its own trouble, where it is known, unless that is what the one before has kept.
    let waits = |death: &Death| match death.state {
        DeathState::NeverScheduled => true,
        DeathState::StuckStarting => {
            finding.candidate.is_none() || waits_for_release(graph, finding)
        }
        _ => false,
    };
    let mut own = finding
        .victims
        .iter()
        .filter_map(|death| deaths.get(*death));
    !finding.victims.is_empty() && own.all(waits)
}

/// Whether what a pod waits for is still kept for the one before it.
fn waits_for_release(graph: &EntityGraph, waits: &Finding) -> bool {
    let root = waits.candidate.as_ref().map(Candidate::root);
    let root = root.and_then(|root| graph.facts.get(root));
    let record = root.and_then(|root| graph.evidence.event(root.row).ok());
    record.is_some_and(|record| {
        graph
            .traits
            .any(&record.signals, SignalClass::HeldElsewhere)
    })
}

/// Whether what ended a pod is that nothing was heard of its machine any more: nobody there lets go of what the pod had.
fn fell_silent(graph: &EntityGraph, ended: &Finding) -> bool {
    let path = ended.candidate.iter().flat_map(|candidate| &candidate.path);
    let mut facts = path.filter_map(|step| graph.facts.get(step.fact));
    facts.any(|fact| SILENCE.contains(&graph.name(fact.signal)))
}

/// Whether what a batch job waits for is no reason of its own: Slurm gives one that it requeues a later begin, cleans up
/// after its last run, and has it wait for nodes that were its own.
fn waits_since(graph: &EntityGraph, waits: &Finding) -> bool {
    let root = waits.candidate.as_ref().map(Candidate::root);
    let Some(root) = root.and_then(|root| graph.facts.get(root)) else {
        return false;
    };
    match graph.name(root.signal) {
        named::SLURM_WAITING_CAPACITY | named::SLURM_WAITING_CLEANING => true,
        named::SLURM_WAITING_TURN => graph.name(root.detail) == "BeginTime",
        _ => false,
    }
}

/// Whether each pod that waits was made just after the end of one that the other finding is about.
fn made_way(graph: &EntityGraph, deaths: &[Death], ended: &Finding, waits: &Finding) -> bool {
    let deaths_of = || ended.deaths().filter_map(|death| deaths.get(death));
    let ends: Vec<&Death> = deaths_of()
        .filter(|death| death.state == DeathState::Died)
        .collect();
    let took_its_place = |death: &Death| {
        let pod = graph.pods.get(death.pod);
        // A batch job that was put back into the queue is the same one.
        let is_job = pod.is_some_and(|pod| pod.kind == TaskKind::Job);
        let requeued = |end: &Death| end.pod == death.pod && end.state == DeathState::Restarted;
        let waits_for_it = waits.candidate.is_none() || waits_since(graph, waits);
        if is_job && waits_for_it && deaths_of().any(requeued) {
            return true;
        }
        let begin = pod.and_then(|pod| pod.created.map(|made| made.lo).or(pod.begin()));
        begin.is_some_and(|begin| {
            ends.iter().any(|end| {
                let after = match end.mode {
                    Mode::Lost => MADE_ANEW.saturating_add(GIVEN_UP),
                    _ => MADE_ANEW,
                };
                begin >= end.time.lo.saturating_sub(CLOCKS)
                    && begin <= end.time.hi.saturating_add(after)
            })
        })
    };
    // A pod of the same rank waits in its place, whatever ended it.
    let of_rank = |death: &Death| graph.pods.get(death.pod)?.rank;
    let is_next = |death: &Death| {
        let rank = of_rank(death);
        let taken = |end: &&&Death| matches!(end.mode, Mode::Killed | Mode::Lost);
        rank.is_some() && ends.iter().filter(taken).any(|end| of_rank(end) == rank)
    };
    let waiting = || waits.victims.iter().filter_map(|death| deaths.get(*death));
    let is_known =
        ended.level() >= Level::Supported || ended.candidate.is_some() && waiting().all(is_next);
    // Where its machine answers, that what it had is kept is a trouble of its own.
    let is_held = || !waits_for_release(graph, waits) || fell_silent(graph, ended);
    ended.run == waits.run && is_known && waiting().all(took_its_place) && is_held()
}
