//! What is known of a pod's end beside who asked for it.

use whathappened_core::death::{Death, DeathState};
use whathappened_core::graph::{EntityGraph, Fact, Task, TaskKind, Workload, lost_touch};
use whathappened_core::lifecycle::{Mode, given_up};
use whathappened_core::signals::named;
use whathappened_model::event::SourceKind;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

/// Whether the pod's own log tells of the failure that ended it just then.
pub(super) fn log_shows_end(pod: &Task, death: &Death) -> bool {
    let is_near = |failure: Stamp| {
        failure != Stamp::OPEN
            && failure.lo <= death.time.hi.saturating_add(CLOCKS)
            && failure.hi.saturating_add(CLOCKS) >= death.time.lo
    };
    death.mode == Mode::Exited && death.time != Stamp::OPEN && given_up(pod).is_some_and(is_near)
}

/// Whether nothing that is known of a pod tells that it ever ran: what kept it from that may have been why it was taken away.
pub(super) fn never_ran(pod: &Task, death: &Death) -> bool {
    pod.kind == TaskKind::Pod
        && death.mode == Mode::Killed
        && pod.body.is_none()
        && pod.started.is_none()
        && pod.starts.is_empty()
        && pod.exits.is_empty()
        && pod.stopped.is_none()
        && pod.last_line.is_none()
}

/// Whether nothing but an audit log's requests is known of a pod and of what owned it, and none by which either was made: who made it is
/// not heard either, so that it may have been over for long.
pub(super) fn is_unheard_of(graph: &EntityGraph, pod: &Task, death: &Death) -> bool {
    let owner = graph.workloads.get(pod.owner);
    let is_silent = |owner: &Workload| owner.body.is_none() && owner.created.is_none();
    let is_of_either = |fact: &Fact| {
        fact.pod == death.pod && fact.pod.is_some()
            || fact.workload.is_some() && fact.workload == pod.owner
    };
    never_ran(pod, death)
        && pod.known_begin().is_none()
        && owner.is_some_and(is_silent)
        && graph.workloads.get(pod.root).is_none_or(is_silent)
        && graph
            .facts
            .iter()
            .filter(|fact| is_of_either(fact))
            .all(|fact| fact.source_kind == SourceKind::KubernetesAudit)
}

/// Whether the Job of a pod gave up long after the pod had ended, and none that it made meanwhile is known: it had tried
/// again, and another end was one too many. A Job whose indexes have limits of their own says that one failed once the others
/// are done.
pub(super) fn was_tried_again(graph: &EntityGraph, pod: &Task, death: &Death) -> bool {
    /// A pod that is lost or asked to stop may be waited for as long.
    const AT_LAST: Nanos = 1_200 * SECOND;
    let gave_up = graph.last_signal_at(pod.owner, named::K8S_WORKLOAD_BACKOFF_LIMIT);
    let is_later = |other: &Task| {
        let begin = other.known_begin();
        other.owner == pod.owner && begin.is_some_and(|begin| begin > death.time.hi)
    };
    let is_of_index = |fact: &Fact| {
        let kind = graph.name(fact.signal);
        let kind = kind.strip_prefix(named::K8S_WORKLOAD_BACKOFF_LIMIT);
        fact.workload == pod.owner && kind.is_some_and(|kind| kind.starts_with('.'))
    };
    // Whom others missed until it gave up had not been made anew.
    let was_missed = || {
        let lost = lost_touch(graph);
        let mut others = graph
            .pods
            .numbered()
            .filter(|(number, other)| other.owner == pod.owner && Some(*number) != death.pod);
        others.any(|(number, _)| lost.contains(&number))
    };
    death.state == DeathState::Died
        && death.time != Stamp::OPEN
        && gave_up.is_some_and(|at| at.saturating_sub(death.time.hi) > AT_LAST)
        && !graph.pods.iter().any(is_later)
        && !graph.facts.iter().any(is_of_index)
        && !was_missed()
}
