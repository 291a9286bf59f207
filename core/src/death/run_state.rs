//! How runs stand.

mod gone;
mod words;

use whathappened_model::table::Table;
use whathappened_model::time::{Nanos, SECOND};
use whathappened_model::words;

use self::gone::{
    ended_after, goes_with_its_job, goes_with_its_namespace, is_scaled_away, outlives, taken_away,
    was_over,
};
pub(super) use self::words::FAILED;
pub use self::words::has_failed;
use self::words::{failed_at, is_made_anew_since, says_it_is_suspended, says_it_runs};
use crate::graph::{EntityGraph, PODS, Task, TaskRow, Workload};
use crate::lifecycle::{BatchState, End, Mode, State};
use crate::resolve::{Attempt, Root, Run};
use crate::signals::named;

words! {
    /// The state of a run or an attempt at the end of the records.
    pub fixed RunState else Unknown {
        /// It finished successfully.
        Completed = "completed",
        /// It ended without finishing its work.
        Failed = "failed",
        /// It is running.
        Running = "running",
        /// It is waiting for its pods, or to be resumed.
        Pending = "pending",
        /// It was deleted before it ended.
        Deleted = "deleted",
        /// It is being deleted.
        Deleting = "deleting",
        /// No record shows its state.
        Unknown = "unknown",
    }
}

impl RunState {
    /// Whether more is to come of it.
    #[must_use]
    pub fn goes_on(self) -> bool {
        matches!(self, Self::Running | Self::Pending)
    }

    /// Whether it is over, one way or another.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Deleted)
    }
}

/// How a run stands at the end of what was seen.
#[must_use]
pub fn run_state(graph: &EntityGraph, run: &Run, ends: &Table<Task, End>) -> RunState {
    // Pods are there for the one that owns them: as that one stands, so does their run.
    if let Some(leader) = leader(graph, run) {
        let own = Run {
            root: Root::Pod(leader),
            pods: vec![leader],
            attempts: vec![Attempt { pods: vec![leader] }],
            begin: run.begin,
        };
        return run_state(graph, &own, ends);
    }
    if let Root::Workload(root) = run.root {
        let completed = graph.last_signal_at(root, named::K8S_WORKLOAD_COMPLETED);
        if completed.is_some_and(|at| !is_made_anew_since(graph, run, root, at)) {
            return RunState::Completed;
        }
        let root = graph.workloads.get(root);
        // A Job whose pods are taken away with it, or with its namespace, says that it failed of that.
        let was_going = |failed: Nanos| {
            let gone = root.and_then(|root| root.gone);
            gone.is_some_and(|gone| gone.hi <= failed)
        };
        if let Some(failed) = failed_at(graph, run).filter(|failed| !was_going(*failed)) {
            let taken = root.filter(|root| goes_with_its_namespace(graph, run, root, failed, ends));
            return match taken.map(|root| root.gone) {
                Some(Some(_)) => RunState::Deleted,
                Some(None) => RunState::Deleting,
                None => RunState::Failed,
            };
        }
        if root.is_some_and(Workload::is_being_deleted) {
            return RunState::Deleting;
        }
        let gone = root.and_then(|one| one.gone);
        let was_over = |gone| root.is_some_and(|root| was_over(graph, run, root, gone, ends));
        let is_unwanted = |pod: &TaskRow| {
            let pod = graph.pods.get(*pod);
            pod.is_some_and(|pod| pod.deletion_requested.is_some())
        };
        let went_with_it = |gone| {
            // Pods that it left behind are gone where somebody then wanted that as well.
            if root.is_some_and(Workload::left_its_pods) {
                return !run.pods.is_empty() && run.pods.iter().all(is_unwanted);
            }
            !outlives(graph, run, gone, ends)
                && !was_over(gone)
                && !ended_after(graph, run, gone, ends)
        };
        if gone.is_some_and(went_with_it) {
            return RunState::Deleted;
        }
        // What is suspended waits to be resumed, whatever ended its pods; so does a Job that is to have none.
        let is_suspended = root.is_some_and(|one| {
            let body = one.body.as_ref();
            let has_none = graph.name(one.kind) == "Job" && one.gone.is_none();
            body.is_some_and(|body| body.suspended || has_none && body.replicas == Some(0))
        }) || says_it_is_suspended(graph, run);
        if is_suspended
            && !run
                .pods
                .iter()
                .any(|pod| is_there(graph, *pod) && runs(ends, *pod))
        {
            return RunState::Pending;
        }
    }
    if is_scaled_away(graph, run, ends) {
        return RunState::Deleted;
    }
    if let Some(state) = taken_away(graph, run, ends) {
        return state;
    }
    if goes_with_its_job(graph, run, ends) {
        return RunState::Deleting;
    }
    let Some(last) = run.attempts.last() else {
        return match says_it_runs(graph, run) {
            true => RunState::Running,
            false => RunState::Pending,
        };
    };
    // Of those made earlier, the ones that fail or wait to this day count as well.
    let made_earlier = run.attempts.iter().rev().skip(1);
    let waits = |pod: TaskRow| {
        let end = ends.get(pod).map(|end| end.state);
        let waits = matches!(end, Some(State::NeverScheduled | State::StuckStarting));
        waits && is_there(graph, pod)
    };
    let failing = made_earlier
        .flat_map(|attempt| &attempt.pods)
        .filter(|pod| fails_now(graph, **pod, ends) || waits(**pod));
    let states: Vec<State> = last
        .pods
        .iter()
        .chain(failing)
        .filter_map(|pod| {
            let (one, end) = (graph.pods.get(*pod)?, ends.get(*pod)?);
            let again = end.state == State::CrashLoop && one.runs_again();
            Some(if again { State::Running } else { end.state })
        })
        .collect();
    // A job whose processes are stopped, or whose nodes are not ready yet, works as little as one that waits.
    let mut own = last.pods.iter();
    let waits = own.any(|pod| {
        let (one, end) = (graph.pods.get(*pod), ends.get(*pod));
        let state = one.zip(end).and_then(|(one, end)| BatchState::of(one, end));
        matches!(state, Some(BatchState::Configuring | BatchState::Suspended))
    });
    if waits {
        return RunState::Pending;
    }
    let any = |wanted: &[State]| states.iter().any(|state| wanted.contains(state));
    // Of pods that are replaced one by one, and of a Job that does not say that it failed, those
    // that are there count, whenever they were made: the others may have been taken away.
    let running = || {
        let earlier = run.attempts.iter().rev().skip(1);
        let earlier = earlier.flat_map(|attempt| &attempt.pods);
        let stayed = earlier.filter(|pod| is_there(graph, **pod));
        let all = last.pods.iter().chain(stayed);
        let running = |pod: &&TaskRow| {
            let end = ends.get(**pod);
            end.is_some_and(|end| end.state == State::Running)
        };
        i64::try_from(all.filter(running).count()).unwrap_or(i64::MAX)
    };
    if wanted(graph, run).is_some_and(|wanted| wanted > 0 && running() >= wanted) {
        return RunState::Running;
    }
    // Of interchangeable pods of which nobody knows how many there are to be, those that run count.
    if replaces_pods(graph, run)
        && any(&[State::Running])
        && !any(&[State::CrashLoop, State::NotReady])
    {
        return RunState::Running;
    }
    // Of pods that nobody owns, and none of which is known to need the others, those that go on do.
    if is_of_bare_pods(graph, run) && any(&[State::Running]) && !any(&[State::CrashLoop]) {
        return RunState::Running;
    }
    if is_cluster_without_some(graph, run, ends) {
        return RunState::Running;
    }
    if any(&[State::Died]) && !any(&[State::CrashLoop]) && tries_again(graph, run, ends) {
        let waits = any(&[State::NeverScheduled, State::StuckStarting]);
        match running() > 0 && !waits {
            true => RunState::Running,
            false => RunState::Pending,
        }
    } else if any(&[State::Died, State::CrashLoop]) {
        RunState::Failed
    } else if any(&[State::NeverScheduled, State::StuckStarting]) {
        RunState::Pending
    } else if !states.is_empty() && states.iter().all(|state| *state == State::Completed) {
        RunState::Completed
    } else {
        RunState::Running
    }
}

/// Whether what made a run's pods goes on although some of them died.
///
/// A Job says at once when it gives up, and else makes another pod: one that was looked at later, or that
/// puts up with more failures than there were, goes on. Operators say that they start anew.
fn tries_again(graph: &EntityGraph, run: &Run, ends: &Table<Task, End>) -> bool {
    let Root::Workload(number) = run.root else {
        return false;
    };
    let root = graph.workloads.get(number);
    let Some(root) = root.filter(|root| root.gone.is_none()) else {
        return false;
    };
    let last = run.attempts.last().into_iter().flat_map(|last| &last.pods);
    let died = |pod: &TaskRow| ends.get(*pod).filter(|end| end.state == State::Died);
    let Some(last_death) = last.filter_map(died).map(|end| end.time.hi).max() else {
        return false;
    };
    let restarts = graph.last_signal_at(number, named::K8S_WORKLOAD_RESTARTING);
    if restarts.is_some_and(|restarts| restarts >= last_death.saturating_sub(AT_ONCE)) {
        return true;
    }
    let Some(body) = root
        .body
        .as_ref()
        .filter(|_| graph.name(root.kind) == "Job")
    else {
        return false;
    };
    let deaths = run.pods.iter().filter_map(died).count();
    let deaths = i64::try_from(deaths).unwrap_or(i64::MAX);
    let has_retries = body
        .retries
        .is_some_and(|retries| deaths.max(retries.failed) <= retries.limit);
    let seen_later = root
        .unasked
        .is_some_and(|seen| seen > last_death.saturating_add(AT_ONCE));
    has_retries || seen_later
}

/// A Job's controller hears of an end within this time.
const AT_ONCE: Nanos = 5 * SECOND;

/// Whether a pod is there, and ends badly again and again or is out of reach on a silent node.
#[must_use]
pub fn fails_now(
    graph: &EntityGraph,
    pod: impl Into<Option<TaskRow>>,
    ends: &Table<Task, End>,
) -> bool {
    let pod = pod.into();
    let fails = |end: &End| {
        end.state == State::CrashLoop || end.state == State::NotReady && end.mode == Mode::Lost
    };
    ends.get(pod).is_some_and(fails) && is_there(graph, pod)
}

/// Whether a pod's own object was seen, and nobody has asked for its end.
fn is_there(graph: &EntityGraph, pod: impl Into<Option<TaskRow>>) -> bool {
    let there =
        |pod: &Task| pod.body.is_some() && pod.gone.is_none() && pod.deletion_requested.is_none();
    graph.pods.get(pod).is_some_and(there)
}

/// Whether something is so of all pods of a run's last attempt.
fn all_of_last(run: &Run, is_so: impl Fn(&TaskRow) -> bool) -> bool {
    let last = run.attempts.last().map(|last| last.pods.as_slice());
    last.is_some_and(|pods| !pods.is_empty() && pods.iter().all(is_so))
}

fn runs(ends: &Table<Task, End>, pod: TaskRow) -> bool {
    ends.get(pod).is_some_and(|end| end.state == State::Running)
}

/// Whether its controller replaces pods one by one, as long as it is there.
fn replaces_pods(graph: &EntityGraph, run: &Run) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    let unknown = |root: &&Workload| root.body.is_none();
    let root = graph.workloads.get(root).filter(unknown);
    root.is_some_and(|root| {
        matches!(
            graph.name(root.kind),
            "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet"
        )
    })
}

/// Whether a run is a cluster of Ray's of which nothing but its pods is known: it is there for as long as its head, and workers that
/// were taken away made it smaller.
fn is_cluster_without_some(graph: &EntityGraph, run: &Run, ends: &Table<Task, End>) -> bool {
    let root = graph.workloads.get(run.root.workload());
    if !root.is_some_and(|root| graph.name(root.kind) == "RayCluster" && root.body.is_none()) {
        return false;
    }
    let is_head = |pod: &TaskRow| {
        let body = graph.pods.get(*pod).and_then(|pod| pod.body.as_ref());
        let kind = body.and_then(|body| body.labels.get("ray.io/node-type"));
        kind.is_some_and(|kind| kind == "head")
    };
    let there = |pod: &TaskRow| is_there(graph, *pod) && runs(ends, *pod);
    let taken = |pod: &TaskRow| {
        let end = ends.get(*pod);
        let asked = graph.pods.get(*pod).and_then(Task::first_asked);
        asked.is_some()
            && end.is_some_and(|end| end.state == State::Died && end.mode == Mode::Killed)
    };
    run.pods.iter().any(|pod| is_head(pod) && there(pod))
        && run.pods.iter().all(|pod| there(pod) || taken(pod))
}

/// The pod that owns the others of a run, and that nobody owns.
#[must_use]
pub fn leader(graph: &EntityGraph, run: &Run) -> Option<TaskRow> {
    let root = graph.workloads.get(run.root.workload())?;
    let is_it = |pod: &TaskRow| {
        let pod = graph.pods.get(*pod);
        pod.is_some_and(|pod| pod.uid == root.uid)
    };
    let leads = root.uid.is_some() && graph.name(root.kind) == "Pod";
    run.pods.iter().copied().find(|pod| leads && is_it(pod))
}

/// Whether a run is of several pods that nobody owns.
#[must_use]
pub fn is_of_bare_pods(graph: &EntityGraph, run: &Run) -> bool {
    let root = graph.workloads.get(run.root.workload());
    root.is_some_and(|root| graph.name(root.kind) == PODS)
}

/// How many pods a run's workload wants at a time.
fn wanted(graph: &EntityGraph, run: &Run) -> Option<i64> {
    match run.root {
        Root::Workload(root) => graph.pods_wanted(root),
        Root::Pod(_) => None,
    }
}
