//! A Job that has failed deletes the pods that it has left. Where the pod whose end was the
//! one too many had been made before those, what ended it leads.

use whathappened_connectors::time::{Nanos, SECOND};
use whathappened_core::death::Death;
use whathappened_core::resolve::{Root, Run};
use whathappened_core::world::World;

use super::bounds::CLOCKS;
use super::gang::Finding;

/// How long the Job controller takes from the end of a pod to the deletion of the others.
const NOTICED: Nanos = 15 * SECOND;

/// Marks what was only deleted with the rest of its Job, and that the Job did not get over the
/// end before it.
pub(super) fn mark(world: &World, runs: &[Run], deaths: &[Death], findings: &mut [Finding]) {
    let rests: Vec<usize> = (0..findings.len())
        .filter(|number| is_rest(world, runs, &findings[*number]))
        .collect();
    for rest in rests {
        let straws: Vec<usize> = (0..findings.len())
            .filter(|number| was_last_straw(deaths, &findings[*number], &findings[rest]))
            .collect();
        for straw in &straws {
            findings[*straw].recovered = false;
        }
        findings[rest].follows |= !straws.is_empty();
    }
}

/// Whether nothing is known but that a Job deleted these pods.
fn is_rest(world: &World, runs: &[Run], finding: &Finding) -> bool {
    let of_job = runs.get(finding.run).is_some_and(|run| match run.root {
        Root::Workload(root) => {
            let root = world.workloads.get(root as usize);
            root.is_some_and(|root| world.name(root.kind) == "Job")
        }
        Root::Pod(_) => false,
    });
    of_job && !finding.recovered && finding.candidate.is_none() && finding.victims.is_empty()
}

fn was_last_straw(deaths: &[Death], finding: &Finding, rest: &Finding) -> bool {
    let all = |finding: &Finding| -> Vec<&Death> {
        let own = finding.victims.iter().chain(&finding.collateral);
        own.filter_map(|death| deaths.get(*death)).collect()
    };
    let Some(deleted) = all(rest).iter().map(|death| death.time.lo).min() else {
        return false;
    };
    finding.run == rest.run
        && finding.attempt < rest.attempt
        && all(finding).iter().any(|death| {
            let lag = deleted.saturating_sub(death.time.hi);
            death.state == "died" && (-CLOCKS..=NOTICED).contains(&lag)
        })
}
