//! How runs stand.

use crate::graph::{EntityGraph, Task, Workload};
use crate::lifecycle::{End, Mode, State};
use crate::resolve::{Root, Run};

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RunState {
    Completed,
    Failed,
    Deleted,
    Pending,
    Running,
}

impl RunState {
    /// The name used in answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Deleted => "deleted",
            Self::Pending => "pending",
            Self::Running => "running",
        }
    }
}

/// What is said of a workload that failed.
pub(super) const FAILED: [&str; 3] = [
    "k8s.workload.failed",
    "k8s.workload.backoff_limit",
    "k8s.workload.deadline",
];

/// Whether a run's root object says of itself that it failed, and nothing was begun after that: what is
/// given up gets no more pods, so that one made later is of another object of that name.
#[must_use]
pub fn has_failed(graph: &EntityGraph, run: &Run) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    let said = FAILED.iter().any(|signal| graph.says(root, signal));
    said && !was_made_anew(graph, run, root)
}

fn was_made_anew(graph: &EntityGraph, run: &Run, root: u32) -> bool {
    let begun = run
        .pods
        .iter()
        .filter(|pod| is_there(graph, **pod))
        .filter_map(|pod| graph.pods.get(*pod as usize)?.known_begin())
        .max();
    let Some(begun) = begun else {
        return false;
    };
    let of_root = graph.facts.iter().filter(|fact| fact.workload == root);
    let failed = of_root.filter(|fact| FAILED.contains(&graph.name(fact.signal)));
    failed.map(|fact| fact.time.hi).max() <= Some(begun)
}

/// How a run stands at the end of what was seen.
#[must_use]
pub fn run_state(graph: &EntityGraph, run: &Run, ends: &[End]) -> RunState {
    if let Root::Workload(root) = run.root {
        if graph.says(root, "k8s.workload.completed") {
            return RunState::Completed;
        }
        if has_failed(graph, run) {
            return RunState::Failed;
        }
        let root = graph.workloads.get(root as usize);
        if root.is_some_and(|one| one.gone.is_some()) {
            return RunState::Deleted;
        }
        // What is suspended waits to be resumed, whatever ended its pods.
        let is_suspended = root.is_some_and(|one| {
            let body = one.body.as_ref();
            body.is_some_and(|body| body.suspended)
        });
        if is_suspended
            && !run
                .pods
                .iter()
                .any(|pod| is_there(graph, *pod) && runs(ends, *pod))
        {
            return RunState::Pending;
        }
    }
    let Some(last) = run.attempts.last() else {
        return RunState::Pending;
    };
    // Of those made earlier, the ones that fail to this day count as well.
    let made_earlier = run.attempts.iter().rev().skip(1);
    let failing = made_earlier
        .flat_map(|attempt| &attempt.pods)
        .filter(|pod| fails_now(graph, **pod, ends));
    let states: Vec<State> = last
        .pods
        .iter()
        .chain(failing)
        .filter_map(|pod| ends.get(*pod as usize))
        .map(|end| end.state)
        .collect();
    let any = |wanted: &[State]| states.iter().any(|state| wanted.contains(state));
    // Of pods that are replaced one by one, and of a Job that does not say that it failed, those
    // that are there count, whenever they were made: the others may have been taken away.
    let running = || {
        let earlier = run.attempts.iter().rev().skip(1);
        let earlier = earlier.flat_map(|attempt| &attempt.pods);
        let stayed = earlier.filter(|pod| is_there(graph, **pod));
        let all = last.pods.iter().chain(stayed);
        let running = |pod: &&u32| {
            let end = ends.get(**pod as usize);
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
    if any(&[State::Died, State::CrashLoop]) {
        RunState::Failed
    } else if any(&[State::NeverScheduled, State::StuckStarting]) {
        RunState::Pending
    } else if !states.is_empty() && states.iter().all(|state| *state == State::Completed) {
        RunState::Completed
    } else {
        RunState::Running
    }
}

/// Whether a pod is there, and ends badly again and again or is out of reach on a silent node.
#[must_use]
pub fn fails_now(graph: &EntityGraph, pod: u32, ends: &[End]) -> bool {
    let fails = |end: &End| {
        end.state == State::CrashLoop || end.state == State::NotReady && end.mode == Mode::Lost
    };
    ends.get(pod as usize).is_some_and(fails) && is_there(graph, pod)
}

/// Whether a pod's own object was seen, and nobody has asked for its end.
fn is_there(graph: &EntityGraph, pod: u32) -> bool {
    let there =
        |pod: &Task| pod.body.is_some() && pod.gone.is_none() && pod.deletion_requested.is_none();
    graph.pods.get(pod as usize).is_some_and(there)
}

fn runs(ends: &[End], pod: u32) -> bool {
    ends.get(pod as usize)
        .is_some_and(|end| end.state == State::Running)
}

/// Whether its controller replaces pods one by one, as long as it is there.
fn replaces_pods(graph: &EntityGraph, run: &Run) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    let unknown = |root: &&Workload| root.body.is_none();
    let root = graph.workloads.get(root as usize).filter(unknown);
    root.is_some_and(|root| {
        matches!(
            graph.name(root.kind),
            "DaemonSet" | "Deployment" | "ReplicaSet" | "StatefulSet"
        )
    })
}

/// How many pods a Job wants at a time, or a workload of interchangeable pods.
fn wanted(graph: &EntityGraph, run: &Run) -> Option<i64> {
    let Root::Workload(root) = run.root else {
        return None;
    };
    let root = graph.workloads.get(root as usize)?;
    let counts = matches!(
        graph.name(root.kind),
        "DaemonSet" | "Deployment" | "Job" | "ReplicaSet" | "StatefulSet"
    );
    root.body.as_ref()?.replicas.filter(|_| counts)
}
