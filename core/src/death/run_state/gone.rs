//! Runs whose pods were taken away, with their workload, their namespace or alone.

use whathappened_model::table::{HasRow as _, Table};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{RunState, all_of_last, is_there, runs};
use crate::graph::{EntityGraph, Task, TaskKind, TaskRow, Workload};
use crate::lifecycle::{End, Mode, State};
use crate::resolve::{Root, Run};
use crate::signals::named;

/// Whether nobody wants any pods of a service any more, and all that there were were taken away for that.
pub(super) fn is_scaled_away(graph: &EntityGraph, run: &Run, ends: &Table<Task, End>) -> bool {
    const SCALED: &str = named::K8S_WORKLOAD_SCALED_TO_ZERO;
    let Root::Workload(number) = run.root else {
        return false;
    };
    let Some(root) = graph.workloads.get(number) else {
        return false;
    };
    let scaled = graph.last_signal_at(number, SCALED);
    let made_since = |pod: &TaskRow| {
        let begin = graph.pods.get(*pod).and_then(Task::known_begin);
        begin
            .zip(scaled)
            .is_some_and(|(begin, scaled)| begin >= scaled)
    };
    let wants_none = match root.body.as_ref().and_then(|body| body.replicas) {
        Some(wanted) => wanted == 0,
        None => scaled.is_some() && !run.pods.iter().any(made_since),
    };
    let taken = |pod: &TaskRow| {
        let end = ends.get(*pod);
        end.is_some_and(|end| end.state == State::Died && end.mode == Mode::Killed)
    };
    crate::death::whole_run::serves(graph.name(root.kind)) && wants_none && all_of_last(run, taken)
}

/// How a pod that nobody owns stands, where its end was asked for while it ran: nothing makes it anew. What was sent
/// away for reasons of the cluster's, or was lost, failed.
pub(super) fn taken_away(
    graph: &EntityGraph,
    run: &Run,
    ends: &Table<Task, End>,
) -> Option<RunState> {
    if !matches!(run.root, Root::Pod(_)) && !super::is_of_bare_pods(graph, run) {
        return None;
    }
    let pods = &run.attempts.last()?.pods;
    let mut there = false;
    for pod in pods {
        let (one, end) = (graph.pods.get(*pod)?, ends.get(*pod)?);
        let asked = one.deletion_requested.is_some() || one.is_asked || one.gone.is_some();
        let killed = end.state == State::Died && end.mode == Mode::Killed;
        if one.kind != TaskKind::Pod || !killed || !asked {
            return None;
        }
        there |= one.body.is_some() && one.gone.is_none() && one.exits.is_empty();
    }
    if is_of_cluster(graph, pods) {
        return None;
    }
    Some(match there {
        true => RunState::Deleting,
        false => RunState::Deleted,
    })
}

/// Whether a record says that the cluster sent some of these pods away for reasons of its own, or lost them.
pub(super) fn is_of_cluster(graph: &EntityGraph, pods: &[TaskRow]) -> bool {
    let of_cluster = |signal: &str| {
        let sent = [
            "k8s.pod.evicted",
            named::K8S_POD_PREEMPTED,
            named::K8S_POD_NODE_LOST,
        ];
        let deleted = signal.strip_prefix("k8s.pod.deleted_by_");
        let obeys = ["user", "kubelet", "gc", "namespace_controller"];
        sent.iter().any(|stem| signal.starts_with(stem))
            || deleted.is_some_and(|by| !obeys.contains(&by))
    };
    let mut facts = graph.facts.iter().filter(|fact| pods.has(fact.pod));
    facts.any(|fact| of_cluster(graph.name(fact.signal)))
}

/// Whether all pods of a Job were printed as being on their way out: what is printed of a Job does not show that its end was
/// asked for. A Job puts another pod in the place of one that is sent away, unless it goes itself.
pub(super) fn goes_with_its_job(graph: &EntityGraph, run: &Run, ends: &Table<Task, End>) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    let job = graph.workloads.get(root);
    let is_job = job.is_some_and(|job| graph.name(job.kind) == "Job" && job.gone.is_none());
    let leaves = |pod: &TaskRow| {
        let (Some(one), Some(end)) = (graph.pods.get(*pod), ends.get(*pod)) else {
            return false;
        };
        let killed = end.state == State::Died && end.mode == Mode::Killed;
        let printed = one.body.is_some() && !one.uid.is_some();
        let waits = one.gone.is_none() && one.exits.is_empty() && one.is_shown_leaving();
        killed && printed && waits
    };
    let last = run.attempts.last();
    is_job && all_of_last(run, leaves) && last.is_some_and(|last| !is_of_cluster(graph, &last.pods))
}

/// Whether a workload's pods were taken away with its namespace, and it said that it failed only after somebody
/// had asked for that one's end.
pub(super) fn goes_with_its_namespace(
    graph: &EntityGraph,
    run: &Run,
    root: &Workload,
    failed: Nanos,
    ends: &Table<Task, End>,
) -> bool {
    let begun = root.created.map_or(Nanos::MIN, |created| created.lo);
    let taken = |pod: &TaskRow| {
        let end = ends.get(*pod);
        end.is_some_and(|end| end.state != State::Died || end.mode == Mode::Killed)
    };
    let were_taken = all_of_last(run, taken);
    were_taken
        && graph.facts.iter().any(|fact| {
            let name = graph.evidence.rows().get(fact.row);
            graph
                .name(fact.signal)
                .starts_with("k8s.namespace.deleted_by_")
                && name.is_some_and(|row| row.workload == root.namespace)
                && fact.time.lo >= begun
                && fact.time.hi <= failed
        })
}

/// Whether a pod was seen to run after its workload was gone: one that was orphaned goes on. The garbage collector takes the owner
/// off such pods, and leaves it on those that it is to take away.
pub(super) fn outlives(
    graph: &EntityGraph,
    run: &Run,
    gone: Stamp,
    ends: &Table<Task, End>,
) -> bool {
    let later = |pod: &&TaskRow| {
        let pod = graph.pods.get(**pod);
        let seen = pod.and_then(|pod| pod.unasked);
        seen.is_some_and(|seen| seen > gone.hi.saturating_add(SETTLED))
            || pod.is_some_and(Task::is_released)
    };
    let mut pods = run.pods.iter().filter(later);
    pods.any(|pod| is_there(graph, *pod) && runs(ends, *pod))
}

/// Whether all pods of a run's last attempt had ended by themselves before its workload was deleted:
/// what was cleared away is told by its end.
pub(super) fn was_over(
    graph: &EntityGraph,
    run: &Run,
    root: &Workload,
    gone: Stamp,
    ends: &Table<Task, End>,
) -> bool {
    let asked = root.leaving.map_or(gone, |leaving| leaving.asked.min(gone));
    let over = |pod: &TaskRow| {
        let end = ended_by_itself(ends, *pod);
        end.is_some_and(|end| end.time.hi.saturating_add(SETTLED) < gone.lo)
            || was_counted_before(graph, *pod, asked)
    };
    all_of_last(run, over)
}

/// Whether a Job's controller had counted a pod as ended before anybody asked for its end, or for that of its workload. It
/// counts those that are on their way out as well, once they are.
fn was_counted_before(graph: &EntityGraph, pod: TaskRow, asked: Stamp) -> bool {
    let Some(pod) = graph.pods.get(pod) else {
        return false;
    };
    let asked = pod.first_asked().map_or(asked, |own| own.min(asked));
    pod.untracked
        .is_some_and(|counted| counted.hi.saturating_add(SECOND) < asked.lo)
}

/// Whether all pods of a run's last attempt ended by themselves after its workload was gone, and nobody had asked for
/// their end by then, as the garbage collector would have: they were orphaned.
pub(super) fn ended_after(
    graph: &EntityGraph,
    run: &Run,
    gone: Stamp,
    ends: &Table<Task, End>,
) -> bool {
    let later = |pod: &TaskRow| {
        let end = ended_by_itself(ends, *pod);
        let seen = graph.pods.get(*pod).and_then(|pod| pod.unasked);
        let ended = end.map(|end| end.time.lo).filter(|ended| {
            *ended > gone.hi.saturating_add(COLLECTED) && seen.is_some_and(|seen| seen >= *ended)
        });
        ended.is_some() && is_there(graph, *pod)
    };
    all_of_last(run, later)
}

/// How a pod ended that nobody had to end.
pub(super) fn ended_by_itself(ends: &Table<Task, End>, pod: TaskRow) -> Option<&End> {
    let end = ends.get(pod)?;
    let by_itself = match end.state {
        State::Completed => true,
        State::Died => end.mode == Mode::Exited,
        _ => false,
    };
    by_itself.then_some(end)
}

/// A garbage collector that works asks for the end of a pod soon after its owner is gone.
const COLLECTED: Nanos = 10 * SECOND;

/// The garbage collector has asked for the end of a workload's pods by then.
const SETTLED: Nanos = 60 * SECOND;
