//! A controller that makes a group anew because a member of it failed says which one: the others were deleted for the end of that
//! one, although its kubelet had started its container again.

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, TaskRow};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::Run;
use whathappened_core::signals::named;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::gang::Finding;
use crate::answer::Level;

/// The controller acts within this long of the member's end, and what it deletes has ended within as long again.
const SOON: Nanos = 120 * SECOND;

/// Marks ends for which the rest of a group was deleted.
pub(super) fn mark(
    graph: &EntityGraph,
    runs: &[Run],
    deaths: &[Death],
    findings: &mut Vec<Finding>,
) {
    for (pod, restarted) in failed(graph, runs) {
        let broke = findings.iter().position(|one| {
            let mut victims = one.victims.iter().filter_map(|death| deaths.get(*death));
            victims.any(|death| {
                death.pod == Some(pod)
                    && matches!(death.state, DeathState::Died | DeathState::Restarted)
                    && death.time.lo <= restarted.hi
                    && restarted.lo.saturating_sub(death.time.lo) <= SOON
            })
        });
        let Some(broke) = broke else { continue };
        let (run, attempt) = (findings[broke].run, findings[broke].attempt);
        let torn_down: Vec<usize> = (0..findings.len())
            .filter(|number| {
                let one = &findings[*number];
                *number != broke
                    && one.run == run
                    // Who had taken the place of that one meanwhile is deleted with the others.
                    && (attempt..=attempt.saturating_add(1)).contains(&one.attempt)
                    && was_deleted_for(deaths, one, restarted)
            })
            .collect();
        if torn_down.is_empty() {
            continue;
        }
        findings[broke].recovered = torn_down.iter().all(|number| findings[*number].recovered);
        // Of what nothing else is known the controller's word tells all there is to it.
        let is_unexplained = |number: &usize| findings[*number].candidate.is_none();
        let alone: Vec<usize> = torn_down.iter().copied().filter(is_unexplained).collect();
        for number in torn_down {
            findings[number].follows = true;
        }
        let mut broke = broke;
        for number in alone.into_iter().rev() {
            let rest = findings.remove(number);
            if number < broke {
                broke -= 1;
            }
            findings[broke].collateral.extend(rest.deaths());
        }
    }
}

/// Pods of which a record that a group is made anew says that they failed.
fn failed(graph: &EntityGraph, runs: &[Run]) -> Vec<(TaskRow, Stamp)> {
    let Some(restarting) = graph.evidence.symbols.find(named::K8S_WORKLOAD_RESTARTING) else {
        return Vec::new();
    };
    let restarts = graph.facts.iter().filter(|fact| fact.signal == restarting);
    let named = restarts.filter_map(|fact| {
        let event = graph.evidence.event(fact.row).ok()?;
        let failed = event.attribute("failed_pod")?;
        let is_one = |pod: &TaskRow| {
            let pod = graph.pods.get(*pod);
            pod.is_some_and(|pod| {
                let place = event.entities.namespace.as_deref().unwrap_or_default();
                graph.name(pod.name) == failed && graph.name(pod.namespace) == place
            })
        };
        let mut pods = runs.iter().flat_map(|run| &run.pods).copied();
        Some((pods.find(is_one)?, fact.time))
    });
    named.collect()
}

/// Whether all of a finding was deleted about then, and nothing proves why.
fn was_deleted_for(deaths: &[Death], finding: &Finding, restarted: Stamp) -> bool {
    let mut own = finding.deaths().filter_map(|death| deaths.get(death));
    finding.level() <= Level::Hypothesis
        && own.all(|death| {
            death.mode == Mode::Killed
                && death.time.hi.saturating_add(SECOND) >= restarted.lo
                && death.time.lo.saturating_sub(restarted.hi) <= SOON
        })
}
