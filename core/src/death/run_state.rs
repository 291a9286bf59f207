//! How runs stand.

use crate::signals::named;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::graph::{EntityGraph, Fact, Task, TaskKind, Workload};
use crate::lifecycle::{BatchState, End, Mode, State, is_operated};
use crate::resolve::{Root, Run};

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum RunState {
    Completed,
    Failed,
    Deleted,
    Deleting,
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
            Self::Deleting => "deleting",
            Self::Pending => "pending",
            Self::Running => "running",
        }
    }
}

/// What is said of a workload that failed.
pub(super) const FAILED: [&str; 3] = [
    named::K8S_WORKLOAD_FAILED,
    named::K8S_WORKLOAD_BACKOFF_LIMIT,
    named::K8S_WORKLOAD_DEADLINE,
];

/// Whether a run's root object says of itself that it failed, and nothing was begun after that: what is
/// given up gets no more pods, so that one made later is of another object of that name.
#[must_use]
pub fn has_failed(graph: &EntityGraph, run: &Run) -> bool {
    failed_at(graph, run).is_some()
}

/// Whether a word for a run's completion is about another one of that name: a workload that is done makes no pod, and
/// does not fail. Of an object that says so itself there is no doubt.
fn is_made_anew_since(graph: &EntityGraph, run: &Run, root: u32, completed: Nanos) -> bool {
    /// Clocks of two components of one cluster differ by as much.
    const CLOCKS: Nanos = 5 * SECOND;
    let object = graph.workloads.get(root as usize);
    if object.is_some_and(|object| object.body.is_some()) {
        return false;
    }
    let later = completed.saturating_add(CLOCKS);
    let mut failed = FAILED
        .iter()
        .filter_map(|signal| graph.last_said(root, signal));
    failed.any(|failed| failed > later) || begun(graph, run).any(|begun| begun > later)
}

/// When those of a run's pods began that are there.
fn begun(graph: &EntityGraph, run: &Run) -> impl Iterator<Item = Nanos> {
    let there = run.pods.iter().filter(|pod| is_there(graph, **pod));
    there.filter_map(|pod| graph.pods.get(*pod as usize)?.known_begin())
}

/// When it said so.
fn failed_at(graph: &EntityGraph, run: &Run) -> Option<Nanos> {
    let Root::Workload(root) = run.root else {
        return None;
    };
    let said = FAILED.iter();
    let failed = said
        .filter_map(|signal| graph.last_said(root, signal))
        .max()?;
    // Its own last word, of which nobody knows since when it is so, is later than whatever it made.
    const GIVEN_UP: [&str; 6] = [
        "Aborted",
        "Error",
        "FAILED",
        "Failed",
        "STOPPED",
        "Terminated",
    ];
    if own_word(graph, root).is_some_and(|word| GIVEN_UP.contains(&word)) {
        return Some(failed);
    }
    let is_made_since = begun(graph, run).any(|begun| begun >= failed);
    // An object that says later that it runs is another one of that name.
    let root = graph.workloads.get(root as usize);
    let runs_since = root.is_some_and(|root| root.says_it_runs_after(failed));
    (!is_made_since && !runs_since).then_some(failed)
}

/// How a run stands at the end of what was seen.
#[must_use]
pub fn run_state(graph: &EntityGraph, run: &Run, ends: &[End]) -> RunState {
    if let Root::Workload(root) = run.root {
        let completed = graph.last_said(root, named::K8S_WORKLOAD_COMPLETED);
        if completed.is_some_and(|at| !is_made_anew_since(graph, run, root, at)) {
            return RunState::Completed;
        }
        let root = graph.workloads.get(root as usize);
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
        let went_with_it = |gone| {
            !outlives(graph, run, gone, ends)
                && !was_over(run, gone, ends)
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
    let waits = |pod: u32| {
        let end = ends.get(pod as usize).map(|end| end.state);
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
            let (one, end) = (graph.pods.get(*pod as usize)?, ends.get(*pod as usize)?);
            let again = end.state == State::CrashLoop && one.runs_again();
            Some(if again { State::Running } else { end.state })
        })
        .collect();
    // A job whose processes are stopped, or whose nodes are not ready yet, works as little as one that waits.
    let mut own = last.pods.iter();
    let waits = own.any(|pod| {
        let (one, end) = (graph.pods.get(*pod as usize), ends.get(*pod as usize));
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

/// Whether nobody wants any pods of a service any more, and all that there were were taken away for that.
fn is_scaled_away(graph: &EntityGraph, run: &Run, ends: &[End]) -> bool {
    const SCALED: &str = named::K8S_WORKLOAD_SCALED_TO_ZERO;
    let Root::Workload(number) = run.root else {
        return false;
    };
    let Some(root) = graph.workloads.get(number as usize) else {
        return false;
    };
    let scaled = graph.last_said(number, SCALED);
    let made_since = |pod: &u32| {
        let begin = graph.pods.get(*pod as usize).and_then(Task::known_begin);
        begin
            .zip(scaled)
            .is_some_and(|(begin, scaled)| begin >= scaled)
    };
    let wants_none = match root.body.as_ref().and_then(|body| body.replicas) {
        Some(wanted) => wanted == 0,
        None => scaled.is_some() && !run.pods.iter().any(made_since),
    };
    let taken = |pod: &u32| {
        let end = ends.get(*pod as usize);
        end.is_some_and(|end| end.state == State::Died && end.mode == Mode::Killed)
    };
    crate::death::serves(graph.name(root.kind)) && wants_none && all_of_last(run, taken)
}

/// How a pod that nobody owns stands, where its end was asked for while it ran: nothing makes it anew. What was sent
/// away for reasons of the cluster's, or was lost, failed.
fn taken_away(graph: &EntityGraph, run: &Run, ends: &[End]) -> Option<RunState> {
    let Root::Pod(_) = run.root else {
        return None;
    };
    let pods = &run.attempts.last()?.pods;
    let mut there = false;
    for pod in pods {
        let (one, end) = (graph.pods.get(*pod as usize)?, ends.get(*pod as usize)?);
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
fn is_of_cluster(graph: &EntityGraph, pods: &[u32]) -> bool {
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
    let mut facts = graph.facts.iter().filter(|fact| pods.contains(&fact.pod));
    facts.any(|fact| of_cluster(graph.name(fact.signal)))
}

/// Whether all pods of a Job were printed as being on their way out: what is printed of a Job does not show that its end was
/// asked for. A Job puts another pod in the place of one that is sent away, unless it goes itself.
fn goes_with_its_job(graph: &EntityGraph, run: &Run, ends: &[End]) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    let job = graph.workloads.get(root as usize);
    let is_job = job.is_some_and(|job| graph.name(job.kind) == "Job" && job.gone.is_none());
    let leaves = |pod: &u32| {
        let (Some(one), Some(end)) = (graph.pods.get(*pod as usize), ends.get(*pod as usize))
        else {
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
fn goes_with_its_namespace(
    graph: &EntityGraph,
    run: &Run,
    root: &Workload,
    failed: Nanos,
    ends: &[End],
) -> bool {
    let begun = root.created.map_or(Nanos::MIN, |created| created.lo);
    let taken = |pod: &u32| {
        let end = ends.get(*pod as usize);
        end.is_some_and(|end| end.state != State::Died || end.mode == Mode::Killed)
    };
    let were_taken = all_of_last(run, taken);
    were_taken
        && graph.facts.iter().any(|fact| {
            let name = graph.evidence.rows().get(fact.row as usize);
            graph
                .name(fact.signal)
                .starts_with("k8s.namespace.deleted_by_")
                && name.is_some_and(|row| row.workload == root.namespace)
                && fact.time.lo >= begun
                && fact.time.hi <= failed
        })
}

/// Whether a workload said last that it is suspended.
fn says_it_is_suspended(graph: &EntityGraph, run: &Run) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    let suspended = graph.last_said(root, named::K8S_WORKLOAD_SUSPENDED);
    let resumed = graph.last_said(root, named::K8S_WORKLOAD_RESUMED);
    suspended.is_some() && suspended > resumed
}

/// Whether an object of which no pods are known says of itself that it runs.
fn says_it_runs(graph: &EntityGraph, run: &Run) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    // Of a Job `kubectl` says so whether or not it has pods: one that was refused its pods has none.
    let job = graph.workloads.get(root as usize);
    let is_job = job.is_some_and(|job| graph.name(job.kind) == "Job");
    let is_refusal = |fact: &Fact| {
        let signal = graph.name(fact.signal);
        fact.workload == root && signal.starts_with(named::K8S_WORKLOAD_CREATE_FAILED)
    };
    if is_job && graph.facts.iter().any(is_refusal) {
        return false;
    }
    matches!(own_word(graph, root), Some("Running" | "RUNNING"))
}

/// What a workload's object says of how it stands, where its kind has a word for that.
fn own_word(graph: &EntityGraph, workload: u32) -> Option<&str> {
    let workload = graph.workloads.get(workload as usize)?;
    workload.body.as_ref()?.phase.as_deref()
}

/// Whether what made a run's pods goes on although some of them died.
///
/// A Job says at once when it gives up, and else makes another pod: one that was looked at later, or that
/// puts up with more failures than there were, goes on. Operators say that they start anew.
fn tries_again(graph: &EntityGraph, run: &Run, ends: &[End]) -> bool {
    let Root::Workload(number) = run.root else {
        return false;
    };
    let root = graph.workloads.get(number as usize);
    let Some(root) = root.filter(|root| root.gone.is_none()) else {
        return false;
    };
    let last = run.attempts.last().into_iter().flat_map(|last| &last.pods);
    let died = |pod: &u32| {
        ends.get(*pod as usize)
            .filter(|end| end.state == State::Died)
    };
    let Some(last_death) = last.filter_map(died).map(|end| end.time.hi).max() else {
        return false;
    };
    let restarts = graph.last_said(number, named::K8S_WORKLOAD_RESTARTING);
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

/// Whether a pod was seen to run after its workload was gone: one that was orphaned goes on.
fn outlives(graph: &EntityGraph, run: &Run, gone: Stamp, ends: &[End]) -> bool {
    let later = |pod: &&u32| {
        let seen = graph.pods.get(**pod as usize).and_then(|pod| pod.unasked);
        seen.is_some_and(|seen| seen > gone.hi.saturating_add(SETTLED))
    };
    let mut pods = run.pods.iter().filter(later);
    pods.any(|pod| is_there(graph, *pod) && runs(ends, *pod))
}

/// Whether all pods of a run's last attempt had ended by themselves before its workload was deleted:
/// what was cleared away is told by its end.
fn was_over(run: &Run, gone: Stamp, ends: &[End]) -> bool {
    let over = |pod: &u32| {
        let end = ended_by_itself(ends, *pod);
        end.is_some_and(|end| end.time.hi.saturating_add(SETTLED) < gone.lo)
    };
    all_of_last(run, over)
}

/// Whether all pods of a run's last attempt ended by themselves after its workload was gone, and nobody had asked for
/// their end by then, as the garbage collector would have: they were orphaned.
fn ended_after(graph: &EntityGraph, run: &Run, gone: Stamp, ends: &[End]) -> bool {
    let later = |pod: &u32| {
        let end = ended_by_itself(ends, *pod);
        let seen = graph.pods.get(*pod as usize).and_then(|pod| pod.unasked);
        let ended = end.map(|end| end.time.lo).filter(|ended| {
            *ended > gone.hi.saturating_add(COLLECTED) && seen.is_some_and(|seen| seen >= *ended)
        });
        ended.is_some() && is_there(graph, *pod)
    };
    all_of_last(run, later)
}

/// Whether something is so of all pods of a run's last attempt.
fn all_of_last(run: &Run, is_so: impl Fn(&u32) -> bool) -> bool {
    let last = run.attempts.last().map(|last| last.pods.as_slice());
    last.is_some_and(|pods| !pods.is_empty() && pods.iter().all(is_so))
}

/// How a pod ended that nobody had to end.
fn ended_by_itself(ends: &[End], pod: u32) -> Option<&End> {
    let end = ends.get(pod as usize)?;
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

/// How many pods a job wants at a time, or a workload of interchangeable pods.
fn wanted(graph: &EntityGraph, run: &Run) -> Option<i64> {
    let Root::Workload(root) = run.root else {
        return None;
    };
    let root = graph.workloads.get(root as usize)?;
    let kind = graph.name(root.kind);
    let counts = matches!(
        kind,
        "DaemonSet" | "Deployment" | "Job" | "ReplicaSet" | "StatefulSet"
    ) || is_operated(kind);
    root.body.as_ref()?.replicas.filter(|_| counts)
}
