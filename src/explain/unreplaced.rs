//! A member of a gang that ended, and in whose place no other could be made or started: the run did not go on after it.

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, Task};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::Run;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::gang::{Finding, NO_RUN, is_gang};
use crate::answer::Level;

/// A controller tries to make another within its longest back-off, and is refused at once.
const TRIED: Nanos = 600 * SECOND;

/// Steps this long after an end are of a gang that goes on without the member.
const UNDER_WAY: Nanos = 120 * SECOND;

/// Marks ends that the run has not got over. What the run broke of goes before a refusal to make another, where it is known.
pub(super) fn mark(graph: &EntityGraph, runs: &[Run], deaths: &[Death], findings: &mut [Finding]) {
    for ended in 0..findings.len() {
        let one = &findings[ended];
        let run = runs.get(one.run).filter(|_| one.run != NO_RUN);
        let Some(run) = run.filter(|_| one.recovered) else {
            continue;
        };
        let Some(end) = end_of(deaths, one) else {
            continue;
        };
        if holds_its_name(graph, end) {
            findings[ended].recovered = false;
            continue;
        }
        if !is_gang(graph, run) {
            continue;
        }
        if trains_on(graph, run, end.time) || was_replaced(graph, run, end) {
            continue;
        }
        let missed = (0..findings.len()).find(|number| {
            let other = &findings[*number];
            !other.recovered && other.run == one.run && waits_for(graph, deaths, other, end)
        });
        let Some(missed) = missed else { continue };
        let was_refused = is_refusal(deaths, &findings[missed]);
        let is_known = one.level() >= Level::Supported;
        findings[ended].recovered = false;
        findings[missed].follows |= is_known && was_refused;
    }
}

/// The end of the member that a finding is about, where it is one alone.
fn end_of<'a>(deaths: &'a [Death], finding: &Finding) -> Option<&'a Death> {
    let mut own = finding.victims.iter().map(|death| deaths.get(*death));
    let end = own.next()??;
    let is_end = end.state == DeathState::Died && end.pod.is_some() && end.time != Stamp::OPEN;
    (is_end && own.next().is_none()).then_some(end)
}

/// Whether a pod of a `StatefulSet` that was lost with its node is still there, and to be deleted: no other can be made under its name
/// until its node says that it is gone, or somebody does.
fn holds_its_name(graph: &EntityGraph, end: &Death) -> bool {
    let Some(pod) = graph.pods.get(end.pod) else {
        return false;
    };
    let owner = graph.workloads.get(pod.owner);
    let is_fixed = owner.is_some_and(|owner| graph.name(owner.kind) == "StatefulSet");
    let is_asked = pod.first_asked().is_some();
    end.mode == Mode::Lost && is_fixed && is_asked && pod.gone.is_none() && pod.body.is_some()
}

/// Whether another pod of the run started in the place of one that ended.
fn was_replaced(graph: &EntityGraph, run: &Run, end: &Death) -> bool {
    let rank = graph.pods.get(end.pod).and_then(|pod| pod.rank);
    let later = |pod: &Task| pod.started.is_some_and(|start| start.lo > end.time.lo);
    let of_rank = |pod: &Task| rank.is_none() || pod.rank.is_none() || pod.rank == rank;
    let mut others = run.pods.iter().filter(|pod| Some(**pod) != end.pod);
    others.any(|pod| {
        let pod = graph.pods.get(*pod);
        pod.is_some_and(|pod| later(pod) && of_rank(pod))
    })
}

/// Whether others of the run made steps long after the end of one.
fn trains_on(graph: &EntityGraph, run: &Run, end: Stamp) -> bool {
    run.pods.iter().any(|pod| {
        let pod = graph.pods.get(*pod);
        let steps = pod.and_then(|pod| pod.progress.as_deref());
        steps.is_some_and(|steps| steps.last.lo > end.hi.saturating_add(UNDER_WAY))
    })
}

fn is_refusal(deaths: &[Death], finding: &Finding) -> bool {
    let mut own = finding.deaths().filter_map(|death| deaths.get(death));
    own.any(|death| death.state == DeathState::NeverCreated && death.pod.is_none())
}

/// Whether a finding is that another pod could not be made after an end, or that the one which was made in its place does
/// not start.
fn waits_for(graph: &EntityGraph, deaths: &[Death], waits: &Finding, end: &Death) -> bool {
    let rank = graph.pods.get(end.pod).and_then(|pod| pod.rank);
    let mut own = waits.deaths().filter_map(|death| deaths.get(death));
    own.any(|death| match death.state {
        DeathState::NeverCreated => {
            death.pod.is_none()
                && death.time.hi.saturating_add(CLOCKS) >= end.time.lo
                && death.time.lo <= end.time.hi.saturating_add(TRIED)
        }
        DeathState::NeverScheduled | DeathState::StuckStarting => {
            let pod = graph.pods.get(death.pod);
            let made = |pod: &Task| {
                pod.created
                    .is_some_and(|made| made.lo >= end.time.lo.saturating_sub(CLOCKS))
            };
            pod.is_some_and(|pod| rank.is_some() && pod.rank == rank && made(pod))
        }
        _ => false,
    })
}
