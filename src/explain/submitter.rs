//! The submitter of a job of Ray's follows the job: it ends when the head is gone, or a worker that the job cannot do without, also
//! where a kubelet has started the container of that one again.

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, TaskRow};
use whathappened_core::lifecycle::Mode;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::gang::Finding;
use crate::answer::Level;

/// Ray finds a process to be gone, and the submitter hears of it, within this long.
const NOTICED: Nanos = 120 * SECOND;

/// Marks ends of Ray's pods that a job did not get over although what ended was started again.
pub(super) fn mark(graph: &EntityGraph, deaths: &[Death], findings: &mut [Finding]) {
    for number in 0..findings.len() {
        let Some(end) = submitters_end(graph, deaths, &findings[number]) else {
            continue;
        };
        let of_job = |one: &Finding| {
            let own = &findings[number];
            (one.run, one.attempt) == (own.run, own.attempt)
        };
        let broke: Vec<usize> = (0..findings.len())
            .filter(|other| {
                let one = &findings[*other];
                of_job(one) && broke_before(graph, deaths, one, end)
            })
            .collect();
        for other in &broke {
            findings[*other].recovered = false;
        }
        findings[number].follows |= !broke.is_empty();
    }
}

/// When the submitter ended that a finding is about, where its own log does not prove why.
fn submitters_end(graph: &EntityGraph, deaths: &[Death], finding: &Finding) -> Option<Stamp> {
    if finding.recovered || finding.level() > Level::Hypothesis {
        return None;
    }
    let mut own = finding.deaths().filter_map(|death| deaths.get(death));
    let is_submitters = |death: &Death| {
        death.mode == Mode::Exited && kinds_above(graph, death.pod) == Some(("Job", "RayJob"))
    };
    let first = own.next().filter(|death| is_submitters(death))?;
    own.all(is_submitters).then_some(first.time)
}

/// Whether a pod of the job's cluster ended just before, for a reason that is known.
fn broke_before(graph: &EntityGraph, deaths: &[Death], finding: &Finding, end: Stamp) -> bool {
    let just_before = |death: &Death| {
        let of_cluster =
            kinds_above(graph, death.pod).is_some_and(|(kind, _)| kind == "RayCluster");
        of_cluster && death.time.lo <= end.hi && end.lo.saturating_sub(death.time.lo) <= NOTICED
    };
    let mut victims = finding
        .victims
        .iter()
        .filter_map(|death| deaths.get(*death));
    finding.level() >= Level::Supported && victims.any(just_before)
}

/// The kinds of a pod's owner and of what owns that.
fn kinds_above(graph: &EntityGraph, pod: Option<TaskRow>) -> Option<(&str, &str)> {
    let owner = graph.workloads.get(graph.pods.get(pod)?.owner)?;
    let above = graph.workloads.get(owner.owner);
    Some((
        graph.name(owner.kind),
        above.map_or("", |above| graph.name(above.kind)),
    ))
}
