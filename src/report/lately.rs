//! Runs whose program failed a moment ago and was started again.

use whathappened_core::graph::Exit;
use whathappened_core::lifecycle::{Mode, State};
use whathappened_core::resolve::Run;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::case::Case;

/// A kubelet has forgotten after this long that a container kept failing, and starts its back-off anew: what runs for
/// less may fail the same way again.
const FORGOTTEN: Nanos = 600 * SECOND;

/// Whether a program of a run ended by itself in a failure, and runs again and not yet for long.
pub(super) fn failed_lately(case: &Case, run: &Run) -> bool {
    let (Some(now), Some(last)) = (case.graph.now, run.attempts.last()) else {
        return false;
    };
    // What a runtime does not know the end of, its machine's boot has ended.
    let is_own = |exit: &Exit| {
        let unknown = ["ContainerStatusUnknown", "Unknown"];
        exit.exit_code != Some(0) && !unknown.contains(&case.graph.name(exit.reason))
    };
    let ends = last.pods.iter().filter_map(|pod| case.ends.get(*pod));
    let mut failures = ends
        .filter(|end| end.state == State::Running)
        .flat_map(|end| &end.restarts)
        .filter(|restart| restart.mode == Mode::Exited && is_own(&restart.exit))
        .map(|restart| restart.exit.time)
        .filter(|time| *time != Stamp::OPEN);
    failures.any(|time| now.saturating_sub(time.lo) < FORGOTTEN)
}
