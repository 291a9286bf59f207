//! What became of a workload itself: that it failed, was deleted or wants no pods, or that pods of it never came to be.

use whathappened_model::table::{HasRow as _, Table};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::run_state::{FAILED, RunState, run_state};
use super::{Death, DeathState, TIDIED};
use crate::graph::{EntityGraph, Fact, Task, TaskRow, WorkloadRow};
use crate::lifecycle::{End, Mode, State, is_operated};
use crate::resolve::{Attempt, Root, Run};
use crate::signals::{SignalClass, named};

/// A workload that failed although no record tells how any of its last pods ended.
pub(super) fn failed_unseen(
    graph: &EntityGraph,
    number: usize,
    run: &Run,
    ends: &Table<Task, End>,
) -> Option<Death> {
    let root = run.root.workload()?;
    let last = run.attempts.last();
    let seen = last
        .into_iter()
        .flat_map(|last| &last.pods)
        .any(|pod| ends.get(*pod).is_some_and(|end| end.state.is_bad()));
    if seen || run_state(graph, run, ends) != RunState::Failed {
        return None;
    }
    let fact = graph
        .facts
        .iter()
        .find(|fact| fact.workload == Some(root) && FAILED.contains(&graph.name(fact.signal)))?;
    let attempt = run.last_attempt();
    if broke_with(graph, run, ends) {
        return None;
    }
    Some(without_pod(number, attempt, DeathState::Failed, fact.time))
}

/// Whether a job whose pods are not its processes, and go on, failed just after a container of one of them had
/// broken: that end is what there is to explain.
fn broke_with(graph: &EntityGraph, run: &Run, ends: &Table<Task, End>) -> bool {
    let ends = run.pods.iter().filter_map(|pod| ends.get(*pod));
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
    let root = graph.workloads.get(number);
    let is_rays = root.is_some_and(|root| graph.name(root.kind) == "RayJob");
    let times = FAILED
        .iter()
        .filter_map(|signal| graph.last_signal_at(number, signal));
    let failed = times.max().filter(|_| is_rays && broke != Stamp::OPEN);
    failed.is_some_and(|failed| {
        broke.lo <= failed.saturating_add(SECOND) && failed.saturating_sub(broke.hi) <= NOTICED
    })
}

/// A workload without a single pod: held back, or refused.
pub(super) fn never_created(graph: &EntityGraph, number: usize, run: &Run) -> Option<Death> {
    let root = run.root.workload()?;
    let workload = graph.workloads.get(root)?;
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
        .find(|fact| family.has(fact.workload))
        .map(|fact| fact.time);
    let since = workload.created.or(first)?;
    Some(without_pod(number, 1, DeathState::NeverCreated, since))
}

/// A workload that was deleted, of whose pods none is known to have ended.
pub(super) fn deleted(
    graph: &EntityGraph,
    number: usize,
    run: &Run,
    ends: &Table<Task, End>,
) -> Option<Death> {
    let root = run.root.workload()?;
    let root = graph.workloads.get(root)?;
    let gone = root.gone.or(root.leaving.map(|leaving| leaving.asked))?;
    let last = run.attempts.last();
    let mut pods = last.into_iter().flat_map(|last| &last.pods);
    let ended = |pod: &TaskRow| {
        let end = ends.get(*pod);
        end.is_some_and(|end| end.state.is_bad() || end.state == State::Completed)
    };
    let state = run_state(graph, run, ends);
    if pods.any(ended) || !matches!(state, RunState::Deleted | RunState::Deleting) {
        return None;
    }
    let attempt = run.last_attempt();
    Some(Death {
        mode: Mode::Killed,
        ..without_pod(number, attempt, DeathState::Deleted, gone)
    })
}

/// Whether a kind of workload goes on until somebody wants it no more.
pub(super) fn serves(kind: &str) -> bool {
    matches!(
        kind,
        "Deployment" | "LeaderWorkerSet" | "ReplicaSet" | "StatefulSet"
    )
}

fn wants_none(graph: &EntityGraph, root: WorkloadRow) -> bool {
    let root = graph.workloads.get(root);
    root.and_then(|root| root.body.as_ref()?.replicas) == Some(0)
}

/// A workload of which somebody wants no pods any more.
pub(super) fn scaled_to_zero(graph: &EntityGraph, number: usize, run: &Run) -> Option<Death> {
    let root = run.root.workload()?;
    let workload = graph.workloads.get(root)?;
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
        .rfind(|fact| family.has(fact.workload) && SCALED.contains(&graph.name(fact.signal)));
    let since = scaled.map(|fact| fact.time).or(workload.created)?;
    let attempt = run.last_attempt();
    Some(without_pod(
        number,
        attempt,
        DeathState::ScaledToZero,
        since,
    ))
}

/// A gang that lacks members whose creation was refused: those that are there wait for them.
pub(super) fn short_of_members(
    graph: &EntityGraph,
    number: usize,
    run: &Run,
    ends: &Table<Task, End>,
) -> Option<Death> {
    let root = run.root.workload()?;
    let wanted = graph.pods_wanted(root);
    let stands = run_state(graph, run, ends);
    if !matches!(stands, RunState::Running | RunState::Pending) {
        return None;
    }
    let last = run.attempts.last()?;
    let there = last
        .pods
        .iter()
        .filter(|pod| ends.get(**pod).is_some_and(|end| end.state != State::Died));
    let there = i64::try_from(there.count()).unwrap_or(i64::MAX);
    if wanted.is_some_and(|wanted| there >= wanted) {
        return None;
    }
    let family = graph.family(root);
    let newest = last
        .pods
        .iter()
        .filter_map(|pod| graph.pods.get(*pod)?.begin())
        .max()?;
    // A refusal counts while nothing was created after it.
    const REFUSED: [&str; 2] = [named::K8S_QUOTA_EXCEEDED, named::K8S_WORKLOAD_CREATE_FAILED];
    let mut refusals = graph.facts.iter().filter(|fact| {
        family.has(fact.workload)
            && REFUSED.contains(&graph.name(fact.signal))
            && fact.end.unwrap_or(fact.time).hi >= newest
    });
    let attempt = run.last_attempt();
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
    let job = graph.workloads.get(refusal.workload);
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
        let mut pods = pods.filter_map(|pod| graph.pods.get(*pod));
        pods.any(|pod| {
            let steps = pod.progress.as_deref();
            steps.is_some_and(|steps| steps.last.lo > last.hi.saturating_add(TIDIED))
        })
    };
    makes_gangs && lately && !made_steps()
}

fn without_pod(run: usize, attempt: u32, state: DeathState, since: Stamp) -> Death {
    Death::without_end(run, attempt, None, state, since)
}
