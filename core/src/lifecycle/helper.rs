//! Containers that run beside the one that does the pod's work.

use whathappened_model::object::Container;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use crate::graph::{EntityGraph, Exit, Task};

/// What needs its helper fails within this long without it.
const NEEDED: Nanos = 120 * SECOND;

/// Lines are written this long after what they tell of at most.
const LATE: Nanos = 10 * SECOND;

/// Whether an end is that of a helper only: the container beside it that has the GPUs runs on, or
/// ran on past it, or the log trains on. A name tells nothing of what a container is.
#[must_use]
pub fn is_helpers(graph: &EntityGraph, pod: &Task, exit: &Exit) -> bool {
    let Some(body) = pod.body.as_ref().filter(|_| exit.time != Stamp::OPEN) else {
        return false;
    };
    let name = graph.name(exit.container);
    let own = body.containers.iter().find(|one| one.name == name);
    let mut others = body.containers.iter().filter(|one| one.name != name);
    // What works is what has the GPUs.
    if own.is_some_and(wants_gpus) {
        return false;
    }
    let trains_on = trains_on(pod, exit);
    others.any(|other| (wants_gpus(other) || trains_on) && outlasts(graph, pod, other, exit))
}

/// Whether the log tells of steps after an end: whatever ended, it was not what trains.
fn trains_on(pod: &Task, exit: &Exit) -> bool {
    let last = pod.progress.as_deref().map(|progress| progress.last);
    last.is_some_and(|last| last.lo > exit.time.hi.saturating_add(LATE))
        && !pod.starts.iter().any(|start| start.lo > exit.time.lo)
}

/// Whether a container ran on after the end of another: it has not ended, or later and badly.
fn outlasts(graph: &EntityGraph, pod: &Task, other: &Container, exit: &Exit) -> bool {
    let ends = || {
        let own = |one: &&Exit| !one.init && graph.name(one.container) == other.name;
        pod.exits.iter().filter(own)
    };
    if ends().next().is_none() {
        // It is there, and has not ended, as far as the pod's own status tells.
        let is_listed = pod
            .body
            .as_ref()
            .is_some_and(|body| body.restarts.contains_key(&other.name));
        let runs = is_listed && pod.waits.is_empty() && pod.phase.as_deref() == Some("Running");
        // It ran on, as far as anybody knows, until somebody asked for the pod's end.
        return runs || wants_gpus(other) && asked_after(pod, exit).is_some();
    }
    let asked = asked_after(pod, exit);
    ends().any(|end| {
        let alone = end.time.lo > exit.time.hi.saturating_add(NEEDED) && end.exit_code != Some(0);
        alone || asked.is_some_and(|asked| end.time.lo >= asked.lo.saturating_sub(CLOCKS))
    })
}

/// When somebody asked for the pod's end, if that was after one of its containers had ended: what
/// ran until then ended for that.
fn asked_after(pod: &Task, exit: &Exit) -> Option<Stamp> {
    pod.first_asked()
        .filter(|asked| asked.lo > exit.time.hi.saturating_add(CLOCKS))
}

fn wants_gpus(container: &Container) -> bool {
    let asks = |name: &String| name.ends_with("/gpu") || name.contains("nvidia.com/mig-");
    container
        .limits
        .keys()
        .chain(container.requests.keys())
        .any(asks)
}
