//! What has failed has its other pods deleted. Where the pod whose end was the one too many had
//! been made before those, what ended it leads.

use whathappened_connectors::time::{Nanos, SECOND};
use whathappened_core::death::Death;

use super::bounds::CLOCKS;
use super::gang::Finding;

/// How long a controller takes from the end of a pod to the deletion of the others.
const NOTICED: Nanos = 15 * SECOND;

/// Marks what was only deleted with the rest of its run, and that the run did not get over the
/// end before it.
pub(super) fn mark(deaths: &[Death], findings: &mut [Finding]) {
    let rests: Vec<usize> = (0..findings.len())
        .filter(|number| is_rest(&findings[*number]))
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

/// Whether nothing is known but that their controller deleted these pods.
fn is_rest(finding: &Finding) -> bool {
    !finding.recovered && finding.candidate.is_none() && finding.victims.is_empty()
}

fn was_last_straw(deaths: &[Death], finding: &Finding, rest: &Finding) -> bool {
    let all = |finding: &Finding| -> Vec<&Death> {
        let own = finding.deaths();
        own.filter_map(|death| deaths.get(death)).collect()
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
