//! What failed the same way each time that it was tried has not got over it by being tried once more.

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, TaskRow};
use whathappened_core::lifecycle::Mode;
use whathappened_core::resolve::Run;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::gang::{Finding, NO_RUN};

/// What has run for this long runs.
const SETTLED: Nanos = 600 * SECOND;

/// Marks the last failure of a run of which the attempt that is under way has not yet lasted as
/// long as those before it did.
pub(super) fn mark(graph: &EntityGraph, runs: &[Run], deaths: &[Death], findings: &mut [Finding]) {
    for finding in findings {
        if finding.run == NO_RUN || !finding.recovered {
            continue;
        }
        let Some(run) = runs.get(finding.run) else {
            continue;
        };
        let is_last = finding.attempt as usize + 1 == run.attempts.len();
        if is_last && is_habit(graph, run, deaths, finding) {
            finding.recovered = false;
        }
    }
}

/// Whether the attempt before ended in the same way, and the one after has not outlived either.
fn is_habit(graph: &EntityGraph, run: &Run, deaths: &[Death], finding: &Finding) -> bool {
    let of = |attempt: u32| {
        let died = move |death: &&Death| {
            (death.run, death.attempt) == (finding.run, attempt)
                && (death.state, death.mode) == (DeathState::Died, Mode::Exited)
        };
        deaths.iter().filter(died)
    };
    let now = run.attempts.last().and_then(|attempt| {
        let begun = attempt
            .pods
            .iter()
            .filter_map(|pod| begin(graph, Some(*pod)));
        Some(graph.now?.saturating_sub(begun.min()?))
    });
    let Some(now) = now.filter(|now| *now < SETTLED) else {
        return false;
    };
    let longer = |death: &&Death| lasted(graph, death).is_some_and(|lasted| lasted >= now);
    of(finding.attempt).filter(longer).any(|last| {
        let mut before = of(finding.attempt.saturating_sub(1)).filter(longer);
        before.any(|before| before.exit_code.is_some() && before.exit_code == last.exit_code)
    })
}

/// How long a pod lasted.
fn lasted(graph: &EntityGraph, death: &Death) -> Option<Nanos> {
    (death.time != Stamp::OPEN)
        .then(|| Some(death.time.lo.saturating_sub(begin(graph, death.pod)?)))
        .flatten()
}

fn begin(graph: &EntityGraph, pod: Option<TaskRow>) -> Option<Nanos> {
    graph.pods.get(pod)?.known_begin()
}
