//! What has failed has its other pods deleted. Where the pod whose end was the one too many had
//! been made before those, what ended it leads.

use whathappened_core::death::Death;
use whathappened_core::graph::EntityGraph;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::bounds::CLOCKS;
use super::gang::Finding;

/// How long a controller takes from the end of a pod to the deletion of the others.
const NOTICED: Nanos = 15 * SECOND;

/// Marks what was only deleted with the rest of its run, and that the run did not get over the
/// end before it.
pub(super) fn mark(graph: &EntityGraph, deaths: &[Death], findings: &mut [Finding]) {
    let rests: Vec<usize> = (0..findings.len())
        .filter(|number| is_rest(&findings[*number]))
        .collect();
    for rest in rests {
        let straws: Vec<usize> = (0..findings.len())
            .filter(|number| was_last_straw(graph, deaths, &findings[*number], &findings[rest]))
            .collect();
        for straw in &straws {
            findings[*straw].recovered = false;
        }
        findings[rest].follows |= !straws.is_empty();
    }
}

/// Whether nothing is known but that their controller deleted these pods.
fn is_rest(finding: &Finding) -> bool {
    !finding.recovered && finding.candidate.is_none() && finding.victims.is_empty()
}

fn was_last_straw(
    graph: &EntityGraph,
    deaths: &[Death],
    finding: &Finding,
    rest: &Finding,
) -> bool {
    let of = |own: &[usize]| -> Vec<&Death> {
        own.iter().filter_map(|death| deaths.get(*death)).collect()
    };
    let Some(deleted) = of(&rest.collateral).iter().map(|death| death.time.lo).min() else {
        return false;
    };
    finding.run == rest.run
        && finding.attempt < rest.attempt
        && of(&finding.victims).iter().any(|death| {
            let pod = graph.pods.get(death.pod as usize);
            // What was lost with its node counts as failed once it is cleared away.
            let counted = pod.into_iter().flat_map(|pod| [pod.untracked, pod.gone]);
            let known = counted.flatten().chain([death.time]);
            let soon = |time: Stamp| {
                let lag = deleted.saturating_sub(time.hi);
                (-CLOCKS..=NOTICED).contains(&lag)
            };
            death.state == "died" && known.into_iter().any(soon)
        })
}
