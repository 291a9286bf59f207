//! Deaths, and the states that are as bad: what there is to explain.

mod lingering;
mod other_zone;
mod run_state;
mod state;

use crate::signals::{SignalClass, named};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::graph::{EntityGraph, Exit, Fact, NO, Task};
use crate::lifecycle::{End, Mode, State, failing_start, is_operated, ran_on_after};
use crate::resolve::{Attempt, Root, Run};
use crate::stall;
use crate::symbols::Symbol;

pub use crate::stall::SLOW;
use run_state::FAILED;
pub use run_state::{RunState, fails_now, has_failed, run_state};
pub use state::DeathState;

/// Something to explain.
#[derive(Clone, Debug)]
pub struct Death {
    /// Number of the run in [`crate::resolve::runs`].
    pub run: usize,
    /// The generation of the gang, from 1.
    pub attempt: u32,
    /// The pod, [`NO`] where a run never got one.
    pub pod: u32,
    /// What became of it.
    pub state: DeathState,
    /// In which way it died.
    pub mode: Mode,
    /// When, or since when.
    pub time: Stamp,
    /// Until when records can speak of it: the next start of its container.
    pub until: Option<Stamp>,
    /// Since when: the last end before, for containers that start again.
    pub since: Option<Stamp>,
    /// Exit code of the container that tells most.
    pub exit_code: Option<i32>,
    /// What its status claims.
    pub reason: Symbol,
    /// Which container.
    pub container: Symbol,
}

/// What a rank writes that waited for another one until its time was up.
pub(crate) const WAITED: &str = named::NCCL_TIMEOUT;

impl Death {
    /// A state in which no end of a container is known.
    pub(crate) fn without_end(
        run: usize,
        attempt: u32,
        pod: u32,
        state: DeathState,
        time: Stamp,
    ) -> Self {
        Self {
            run,
            attempt,
            pod,
            state,
            mode: Mode::None,
            time,
            until: None,
            since: None,
            exit_code: None,
            reason: Symbol::NONE,
            container: Symbol::NONE,
        }
    }

    /// Whether it is no end but a state that goes on.
    #[must_use]
    pub fn goes_on(&self) -> bool {
        self.mode == Mode::None || self.state == DeathState::CrashLoop
    }
}

/// The deaths of some runs, in order of (run, attempt, time, pod).
#[must_use]
pub fn deaths(graph: &EntityGraph, runs: &[Run], chosen: &[usize], ends: &[End]) -> Vec<Death> {
    let mut found = Vec::new();
    let placed = other_zone::placed(graph, runs, ends);
    for number in chosen {
        let Some(run) = runs.get(*number) else {
            continue;
        };
        if run.pods.is_empty() {
            let never = never_created(graph, *number, run);
            let never = never.or_else(|| failed_unseen(graph, *number, run, ends));
            found.extend(never.or_else(|| deleted(graph, *number, run, ends)));
        } else {
            found.extend(failed_unseen(graph, *number, run, ends));
            let stalled = stall::stalled(graph, *number, run, ends);
            let stalled = stalled.or_else(|| stall::failing(graph, *number, run, ends));
            found.extend(stalled.or_else(|| stall::slow(graph, *number, run, ends)));
            found.extend(short_of_members(graph, *number, run, ends));
            found.extend(deleted(graph, *number, run, ends));
        }
        // Pods that went with it say so themselves.
        let died = |pod: &u32| {
            let end = ends.get(*pod as usize);
            end.is_some_and(|end| end.state == State::Died)
        };
        if !run.pods.iter().any(died) {
            found.extend(scaled_to_zero(graph, *number, run));
        }
        for (index, attempt) in run.attempts.iter().enumerate() {
            let attempt_number = u32::try_from(index).unwrap_or(0) + 1;
            for pod in attempt.pods.iter().filter(|pod| !placed.contains(pod)) {
                if let Some(end) = ends.get(*pod as usize) {
                    let before = wrong_before(graph, *number, attempt_number, *pod, end);
                    let spoke = || graph.pods.get(*pod as usize)?.last_words;
                    let failed =
                        || failed_before(graph, *number, attempt_number, *pod, (end, spoke()?));
                    if before.is_some() {
                        found.extend(before);
                    } else if let Some(failed) = failed() {
                        // What had ended is not ended again by who tidies up.
                        found.push(failed);
                        continue;
                    }
                    of_pod(*number, attempt_number, *pod, end, &mut found);
                }
            }
            lingering::lingering(graph, *number, (attempt_number, attempt), ends, &mut found);
        }
    }
    found.sort_by_key(|death| {
        let state = death.state.as_str();
        (death.run, death.attempt, death.time, death.pod, state)
    });
    found
}

/// A pod that never ran, or that kept failing, and was taken away at last: what was
/// wrong with it is what needs explaining, not who tidied up. A deadline that only
/// ended the wait says so itself.
fn wrong_before(
    graph: &EntityGraph,
    run: usize,
    attempt: u32,
    pod: u32,
    end: &End,
) -> Option<Death> {
    let one = graph.pods.get(pod as usize)?;
    if end.state != State::Died
        || end.mode == Mode::Exited
        || one.kind != crate::graph::TaskKind::Pod
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
        pod,
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
fn failed_before(
    graph: &EntityGraph,
    run: usize,
    attempt: u32,
    pod: u32,
    (end, spoke): (&End, Stamp),
) -> Option<Death> {
    let one = graph.pods.get(pod as usize)?;
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
        ..Death::without_end(run, attempt, pod, DeathState::Died, spoke)
    })
}

/// Whoever deletes a pod does so this long after it had failed, or does not know of it.
const TIDIED: Nanos = 60 * SECOND;

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

fn of_pod(run: usize, attempt: u32, pod: u32, end: &End, found: &mut Vec<Death>) {
    let mut since = None;
    for restart in &end.restarts {
        let exit = &restart.exit;
        // A container that ends well and starts again has lost nothing.
        if exit.exit_code != Some(0) {
            found.push(Death {
                run,
                attempt,
                pod,
                state: DeathState::Restarted,
                mode: restart.mode,
                time: exit.time,
                until: Some(exit.time),
                since,
                exit_code: exit.exit_code,
                reason: exit.reason,
                container: exit.container,
            });
        }
        since = Some(exit.time);
    }
    if let Some(state) = DeathState::of(end.state) {
        found.push(Death {
            run,
            attempt,
            pod,
            state,
            mode: end.mode,
            time: end.time,
            until: None,
            since: if end.state == State::CrashLoop {
                None
            } else {
                since
            },
            exit_code: end.exit.as_ref().and_then(|exit| exit.exit_code),
            reason: end.exit.as_ref().map_or(Symbol::NONE, |exit| exit.reason),
            container: end
                .exit
                .as_ref()
                .map_or(Symbol::NONE, |exit| exit.container),
        });
    }
}

/// A workload that failed although no record tells how any of its last pods ended.
fn failed_unseen(graph: &EntityGraph, number: usize, run: &Run, ends: &[End]) -> Option<Death> {
    let Root::Workload(root) = run.root else {
        return None;
    };
    let last = run.attempts.last();
    let seen = last.into_iter().flat_map(|last| &last.pods).any(|pod| {
        ends.get(*pod as usize)
            .is_some_and(|end| end.state.is_bad())
    });
    if seen || run_state(graph, run, ends) != RunState::Failed {
        return None;
    }
    let fact = graph
        .facts
        .iter()
        .find(|fact| fact.workload == root && FAILED.contains(&graph.name(fact.signal)))?;
    let attempt = u32::try_from(run.attempts.len()).unwrap_or(1).max(1);
    if broke_with(graph, run, ends) {
        return None;
    }
    Some(without_pod(number, attempt, DeathState::Failed, fact.time))
}

/// Whether a job whose pods are not its processes, and go on, failed just after a container of one of them had
/// broken: that end is what there is to explain.
fn broke_with(graph: &EntityGraph, run: &Run, ends: &[End]) -> bool {
    let ends = run.pods.iter().filter_map(|pod| ends.get(*pod as usize));
    let mut restarts = ends.flat_map(|end| &end.restarts);
    restarts.any(|restart| {
        let exit = &restart.exit;
        exit.exit_code.is_some_and(|code| code != 0) && failed_upon(graph, run, exit.time)
    })
}

/// Whether a job of Ray's says that it failed just after a time: Ray gives up what was lost with a node of its
/// own, and its operator asks for that.
#[must_use]
pub fn failed_upon(graph: &EntityGraph, run: &Run, broke: Stamp) -> bool {
    const NOTICED: Nanos = 60 * SECOND;
    let Root::Workload(number) = run.root else {
        return false;
    };
    let root = graph.workloads.get(number as usize);
    let is_rays = root.is_some_and(|root| graph.name(root.kind) == "RayJob");
    let said = FAILED
        .iter()
        .filter_map(|signal| graph.last_said(number, signal));
    let failed = said.max().filter(|_| is_rays && broke != Stamp::OPEN);
    failed.is_some_and(|failed| {
        broke.lo <= failed.saturating_add(SECOND) && failed.saturating_sub(broke.hi) <= NOTICED
    })
}

/// A workload without a single pod: held back, or refused.
fn never_created(graph: &EntityGraph, number: usize, run: &Run) -> Option<Death> {
    let Root::Workload(root) = run.root else {
        return None;
    };
    let workload = graph.workloads.get(root as usize)?;
    let family = graph.family(root);
    let says = |signal: &str| family.iter().any(|one| graph.says(*one, signal));
    let held = graph.traits.of(SignalClass::HoldsBack);
    // Pods that are merely not in the input were not refused.
    if wants_none(graph, root)
        || graph.says(root, named::K8S_WORKLOAD_COMPLETED)
        || !held.iter().any(|signal| says(signal))
    {
        return None;
    }
    let first = graph
        .facts
        .iter()
        .find(|fact| family.contains(&fact.workload))
        .map(|fact| fact.time);
    let since = workload.created.or(first)?;
    Some(without_pod(number, 1, DeathState::NeverCreated, since))
}

/// A workload that was deleted, of whose pods none is known to have ended.
fn deleted(graph: &EntityGraph, number: usize, run: &Run, ends: &[End]) -> Option<Death> {
    let Root::Workload(root) = run.root else {
        return None;
    };
    let root = graph.workloads.get(root as usize)?;
    let gone = root.gone.or(root.leaving.map(|leaving| leaving.asked))?;
    let last = run.attempts.last();
    let mut pods = last.into_iter().flat_map(|last| &last.pods);
    let ended = |pod: &u32| {
        let end = ends.get(*pod as usize);
        end.is_some_and(|end| end.state.is_bad() || end.state == State::Completed)
    };
    let state = run_state(graph, run, ends);
    if pods.any(ended) || !matches!(state, RunState::Deleted | RunState::Deleting) {
        return None;
    }
    let attempt = u32::try_from(run.attempts.len()).unwrap_or(1).max(1);
    Some(Death {
        mode: Mode::Killed,
        ..without_pod(number, attempt, DeathState::Deleted, gone)
    })
}

/// Whether a kind of workload goes on until somebody wants it no more.
fn serves(kind: &str) -> bool {
    matches!(
        kind,
        "Deployment" | "LeaderWorkerSet" | "ReplicaSet" | "StatefulSet"
    )
}

fn wants_none(graph: &EntityGraph, root: u32) -> bool {
    let root = graph.workloads.get(root as usize);
    root.and_then(|root| root.body.as_ref()?.replicas) == Some(0)
}

/// A workload of which somebody wants no pods any more.
fn scaled_to_zero(graph: &EntityGraph, number: usize, run: &Run) -> Option<Death> {
    let Root::Workload(root) = run.root else {
        return None;
    };
    let workload = graph.workloads.get(root as usize)?;
    // Jobs that want no pods were made so, or are done.
    if !serves(graph.name(workload.kind)) || !wants_none(graph, root) || workload.gone.is_some() {
        return None;
    }
    const SCALED: [&str; 3] = [
        named::K8S_WORKLOAD_SCALED_TO_ZERO,
        named::K8S_WORKLOAD_SPEC_CHANGED,
        named::K8S_WORKLOAD_UPDATED_BY_USER,
    ];
    let family = graph.family(root);
    let scaled = graph
        .facts
        .iter()
        .rfind(|fact| family.contains(&fact.workload) && SCALED.contains(&graph.name(fact.signal)));
    let since = scaled.map(|fact| fact.time).or(workload.created)?;
    let attempt = u32::try_from(run.attempts.len()).unwrap_or(1).max(1);
    Some(without_pod(
        number,
        attempt,
        DeathState::ScaledToZero,
        since,
    ))
}

/// A gang that lacks members whose creation was refused: those that are there wait for them.
fn short_of_members(graph: &EntityGraph, number: usize, run: &Run, ends: &[End]) -> Option<Death> {
    let Root::Workload(root) = run.root else {
        return None;
    };
    let wanted = graph.pods_wanted(root);
    let stands = run_state(graph, run, ends);
    if !matches!(stands, RunState::Running | RunState::Pending) {
        return None;
    }
    let last = run.attempts.last()?;
    let there = last.pods.iter().filter(|pod| {
        ends.get(**pod as usize)
            .is_some_and(|end| end.state != State::Died)
    });
    let there = i64::try_from(there.count()).unwrap_or(i64::MAX);
    if wanted.is_some_and(|wanted| there >= wanted) {
        return None;
    }
    let family = graph.family(root);
    let newest = last
        .pods
        .iter()
        .filter_map(|pod| graph.pods.get(*pod as usize)?.begin())
        .max()?;
    // A refusal counts while nothing was created after it.
    const REFUSED: [&str; 2] = [named::K8S_QUOTA_EXCEEDED, named::K8S_WORKLOAD_CREATE_FAILED];
    let mut refusals = graph.facts.iter().filter(|fact| {
        family.contains(&fact.workload)
            && REFUSED.contains(&graph.name(fact.signal))
            && fact.end.unwrap_or(fact.time).hi >= newest
    });
    let attempt = u32::try_from(run.attempts.len()).unwrap_or(1);
    let first = refusals.find(|fact| wanted.is_some() || goes_on(graph, last, fact))?;
    Some(without_pod(
        number,
        attempt,
        DeathState::NeverCreated,
        first.time,
    ))
}

/// Whether a controller of jobs was refused a pod lately: it tries again for as long as it lacks one, however many it is to have.
/// A gang that makes steps lacks none.
fn goes_on(graph: &EntityGraph, attempt: &Attempt, refusal: &Fact) -> bool {
    /// Events are kept for as long.
    const LATELY: Nanos = 3_600 * SECOND;
    let job = graph.workloads.get(refusal.workload as usize);
    let makes_gangs = job.is_some_and(|job| {
        let kind = graph.name(job.kind);
        kind == "Job" || is_operated(kind)
    });
    let last = refusal.end.unwrap_or(refusal.time);
    let lately = graph
        .now
        .is_some_and(|now| last != Stamp::OPEN && now.saturating_sub(last.hi) <= LATELY);
    let made_steps = || {
        let pods = attempt.pods.iter();
        let mut pods = pods.filter_map(|pod| graph.pods.get(*pod as usize));
        pods.any(|pod| {
            let steps = pod.progress.as_deref();
            steps.is_some_and(|steps| steps.last.lo > last.hi.saturating_add(TIDIED))
        })
    };
    makes_gangs && lately && !made_steps()
}

fn without_pod(run: usize, attempt: u32, state: DeathState, since: Stamp) -> Death {
    Death::without_end(run, attempt, NO, state, since)
}
