//! What has failed has its other pods deleted. Where the pod whose end was the one too many had
//! been made before those, what ended it leads.

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::EntityGraph;
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::{Root, Run};
use whathappened_core::signals::named;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::gang::Finding;
use super::rule::Rule;
use super::survived::Survived;
use crate::answer::Level;

/// What a workload says when it fails.
const FAILED: [&str; 2] = [
    named::K8S_WORKLOAD_FAILED,
    named::K8S_WORKLOAD_BACKOFF_LIMIT,
];

/// How long a controller takes from the end of a pod to the deletion of the others.
const NOTICED: Nanos = 15 * SECOND;

/// The same where the workload says that it failed meanwhile.
const FAILED_MEANWHILE: Nanos = 60 * SECOND;

/// Marks what was only deleted with the rest of its run, and that the run did not get over the
/// end before it.
pub(super) fn mark(
    graph: &EntityGraph,
    runs: &[Run],
    rules: &[Rule],
    survived: &Survived,
    deaths: &[Death],
    findings: &mut [Finding],
) {
    for rest in 0..findings.len() {
        let Some(limit) = notice(graph, runs, rules, deaths, &findings[rest]) else {
            continue;
        };
        let straws: Vec<usize> = (0..findings.len())
            .filter(|number| {
                let (straw, rest) = (&findings[*number], &findings[rest]);
                was_last_straw(graph, survived, deaths, straw, rest, limit)
            })
            .collect();
        for straw in &straws {
            findings[*straw].recovered = false;
        }
        findings[rest].follows |= !straws.is_empty();
    }
}

/// Within which time of another's end nothing is known of these pods but that they were deleted: by their controller, as
/// it says, or by nobody that is known, when their workload had just said that it failed.
fn notice(
    graph: &EntityGraph,
    runs: &[Run],
    rules: &[Rule],
    deaths: &[Death],
    finding: &Finding,
) -> Option<Nanos> {
    if finding.recovered {
        return None;
    }
    let own = || finding.deaths().filter_map(|death| deaths.get(death));
    let failed_at = || {
        let Root::Workload(root) = runs.get(finding.run)?.root else {
            return None;
        };
        let times = FAILED
            .iter()
            .filter_map(|signal| graph.last_signal_at(root, signal));
        times.max()
    };
    let failed = failed_at().is_some_and(|failed| {
        own().all(|death| {
            death.time.lo.saturating_sub(failed).saturating_abs() <= NOTICED
                // Who is deleted ends on the signal to stop, whether or not its deletion is on record.
                && (death.mode == Mode::Killed || death.exit_code == Some(143))
        })
    });
    let limit = if failed { FAILED_MEANWHILE } else { NOTICED };
    match &finding.candidate {
        None => (finding.victims.is_empty() || failed).then_some(limit),
        Some(root) => {
            let rule = rules.get(root.rule).map(|rule| rule.cause.as_str());
            let of_nobody = graph
                .facts
                .get(root.root())
                .is_some_and(|act| !act.actor.is_some());
            let unproven = root.level <= Level::Hypothesis;
            (failed && unproven && of_nobody && rule == Some("ops.manual_delete")).then_some(limit)
        }
    }
}

fn was_last_straw(
    graph: &EntityGraph,
    survived: &Survived,
    deaths: &[Death],
    finding: &Finding,
    rest: &Finding,
    limit: Nanos,
) -> bool {
    let of = |own: &[usize]| -> Vec<&Death> {
        own.iter().filter_map(|death| deaths.get(*death)).collect()
    };
    let deleted = rest.deaths().filter_map(|death| deaths.get(death));
    let Some(deleted) = deleted.map(|death| death.time.lo).min() else {
        return false;
    };
    // Those that waited for the first one gave up by themselves; what was taken away with it is no reason.
    let gave_up = |death: &&Death| {
        death.mode == Mode::Exited
            && !matches!(death.exit_code, Some(137 | 143))
            && death.time.hi <= deleted
    };
    let followed = of(&finding.collateral);
    let followed = followed.into_iter().filter(gave_up);
    finding.run == rest.run
        && finding.attempt < rest.attempt
        && of(&finding.victims)
            .into_iter()
            .chain(followed)
            .any(|death| {
                let pod = graph.pods.get(death.pod);
                // What was lost with its node counts as failed once it is cleared away.
                let counted = pod.into_iter().flat_map(|pod| [pod.untracked, pod.gone]);
                let known = counted.flatten().chain([death.time]);
                let soon = |time: Stamp| {
                    let lag = deleted.saturating_sub(time.hi);
                    (-CLOCKS..=limit).contains(&lag)
                };
                death.state == DeathState::Died
                    && !survived.has(death)
                    && known.into_iter().any(soon)
            })
}
