//! What shows how a run stands: an object's own status, at a time after which nothing else was heard.

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};
use whathappened_core::signals::named;

use whathappened_core::death::RunState;
use whathappened_core::graph::{InstanceChange, Progress, Task, TaskKind, TaskRow, WorkloadRow};
use whathappened_core::lifecycle::{State, given_up, signed_off};
use whathappened_core::resolve::{Root, Run};
use whathappened_core::symbols::Symbol;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::last_heard;
use crate::case::Case;

/// Whether only notices about machines tell of a run, none of which says that it ever ran; or whether no
/// object of it was seen, and nothing that it wrote: what was started is no more than that, and may be long gone.
pub(super) fn is_only_named(case: &Case, run: &Run, state: RunState) -> bool {
    let graph = &case.graph;
    let mut pods = run.pods.iter().filter_map(|pod| graph.pods.get(*pod));
    let is_root_seen = match run.root {
        Root::Workload(root) => graph
            .workloads
            .get(root)
            .is_some_and(|root| root.body.is_some()),
        Root::Pod(_) => false,
    };
    // Its own word that it runs is more than a name, whoever makes its pods.
    if state == RunState::Running && is_root_seen && run.pods.is_empty() {
        return false;
    }
    let no_more_than_named = |pod: &Task| match pod.kind {
        TaskKind::Instance => !pod.signs.iter().any(|sign| {
            matches!(
                sign.what,
                InstanceChange::Made | InstanceChange::Runs | InstanceChange::Moved
            )
        }),
        TaskKind::Log => true,
        TaskKind::Job => pod.body.is_none() && pod.starts.is_empty() && pod.exits.is_empty(),
        TaskKind::Pod => pod.body.is_none() && pod.last_line.is_none() && !is_root_seen,
    };
    !is_shown(case, run, state) && pods.all(no_more_than_named)
}

/// Who is asked to stop does so within the grace that pods have by default, and who did not
/// writes on by then.
const SIGNED_OFF: Nanos = 60 * SECOND;

/// What goes on writes now and then.
const QUIET: Nanos = 900 * SECOND;

/// What makes a step every few seconds is not silent for so long, but to evaluate or to save its work.
const QUIET_AMONG_STEPS: Nanos = 300 * SECOND;

/// Whether an object's own status says how a run stands: its workload's that it
/// completed, or that of each pod of its last attempt.
pub(super) fn is_shown(case: &Case, run: &Run, state: RunState) -> bool {
    let graph = &case.graph;
    if let Root::Workload(root) = run.root
        && state == RunState::Completed
        && graph.says(root, named::K8S_WORKLOAD_COMPLETED)
    {
        return true;
    }
    // What is suspended has no pods: those that are shown were there before.
    let is_suspended = |root: &WorkloadRow| {
        let root = graph.workloads.get(*root);
        root.and_then(|root| root.body.as_ref())
            .is_some_and(|body| body.suspended)
    };
    if let Root::Workload(root) = run.root
        && state == RunState::Running
        && is_suspended(&root)
    {
        return false;
    }
    if state == RunState::Running && is_leaving_with_its_namespace(case, run) {
        return false;
    }
    let last = run.attempts.last();
    let wanted = match run.root {
        Root::Workload(number) => graph
            .workloads
            .get(number)
            // A batch job is one task on as many nodes as it asks for.
            .filter(|root| graph.name(root.kind) != "SlurmJob")
            .and_then(|root| {
                let body = root.body.as_ref()?;
                graph.pods_wanted(number).or(body.replicas)
            }),
        Root::Pod(_) => None,
    };
    // One that died is missing until another one is there in its place.
    let is_there = |pod: &&TaskRow| {
        let end = case.ends.get(**pod);
        state != RunState::Running || end.is_none_or(|end| end.state != State::Died)
    };
    let there = run.pods.iter().filter(is_there).count();
    if wanted.is_some_and(|wanted| i64::try_from(there).is_ok_and(|there| there < wanted)) {
        return false;
    }
    let numbers: Vec<TaskRow> = last
        .into_iter()
        .flat_map(|attempt| attempt.pods.iter().copied())
        .collect();
    // Who said that it was asked to stop, or why it gives up, and nothing since, may have ended after
    // it was looked at.
    let is_silent = |pod: &Task| {
        let over = signed_off(pod).or(given_up(pod));
        let over = over.filter(|_| state == RunState::Running);
        over.zip(graph.now)
            .is_some_and(|(over, now)| now.saturating_sub(over.hi) > SIGNED_OFF)
    };
    let heard = last_heard::of_cluster(case).filter(|_| state == RunState::Running);
    let removed = last_heard::RemovedNodes::of(case);
    let is_past = |pod: &Task| {
        let past = heard.is_some_and(|heard| heard.is_past(graph, pod));
        past || state == RunState::Running && removed.held(pod)
    };
    let cut_off = cut_off(case);
    // Most runs are over, and need none of it.
    let silent = LazyCell::new(|| silent_nodes(case));
    let on_silent_node = |pod: &Task| state == RunState::Running && silent.contains(&pod.node);
    let is_past = |pod: &Task| {
        is_past(pod) || cut_off.contains(&(pod.namespace, pod.name)) || on_silent_node(pod)
    };
    // Of a log that nobody knows the writer of, a program on the instance may have been: what became of that it may tell.
    let symbols = &graph.evidence.symbols;
    let line = symbols.find("log.line");
    let rows = graph.evidence.rows().iter().zip(&graph.pod_of_row);
    let has_stray_log = state == RunState::Running
        && rows
            .into_iter()
            .any(|(row, pod)| Some(row.fact) == line && pod.is_none());
    // A machine that runs says nothing of the program on it, whose log has been silent for long.
    let is_quiet = |pod: &Task| {
        let steps = pod.progress.as_deref();
        let least = steps
            .filter(|steps| steps.are_known())
            .map_or(QUIET, |_| QUIET_AMONG_STEPS);
        let silent = Progress::may_be_silent(steps, least);
        let last = pod.last_line.filter(|last| last.hi != Nanos::MAX);
        last.zip(graph.now)
            .is_some_and(|(last, now)| now.saturating_sub(last.hi) > silent)
    };
    // Who said that all was done, and nothing of its work since, has nothing left to do: its status was looked at before.
    let is_done = |pod: &Task| {
        let step = pod.progress.as_deref().map(|steps| steps.last.lo);
        let later = step.max(pod.last_words.map(|words| words.lo));
        let done = pod.logged_done.filter(|done| *done != Stamp::OPEN);
        done.is_some_and(|done| later.is_none_or(|later| later <= done.hi))
    };
    // What a cloud's log says was done to an instance is no word on whether it runs.
    let seen = |pod: &Task| match pod.kind {
        TaskKind::Pod => {
            let phase = pod.phase.as_deref();
            // One of whose containers one waits is pending by its own status.
            let waits = phase == Some("Pending") && !pod.waits.is_empty();
            let stands = state != RunState::Running || !waits;
            pod.body.is_some() && phase.is_some() && stands && !is_silent(pod) && !is_past(pod)
        }
        TaskKind::Instance => {
            let phase = pod.phase.as_deref().map(str::to_ascii_lowercase);
            let runs = phase
                .as_deref()
                .is_some_and(|phase| phase.contains("running"));
            pod.body.is_some()
                && phase.is_some()
                && (runs && !has_stray_log && !is_quiet(pod) || state != RunState::Running)
        }
        // Accounts of a job that ended say nothing of one that runs.
        TaskKind::Job => {
            let runs = matches!(
                pod.phase.as_deref(),
                Some(
                    "RUNNING"
                        | "COMPLETING"
                        | "CONFIGURING"
                        | "RESIZING"
                        | "SIGNALING"
                        | "STAGE_OUT"
                        | "STOPPED"
                        | "SUSPENDED"
                )
            );
            let stands = state != RunState::Running || runs && !is_silent(pod) && !is_done(pod);
            pod.body.is_some() && stands
        }
        // That it goes on, no log says.
        TaskKind::Log => false,
    };
    let seen = |pod: &TaskRow| {
        let started_again = state == RunState::Running && was_started_again(case, *pod);
        graph.pods.get(*pod).is_some_and(seen) && !started_again
    };
    // As many as it wants are there: those whose place they took need not be.
    let runs = |pod: &&TaskRow| {
        let end = case.ends.get(**pod);
        end.is_some_and(|end| end.state == State::Running) && seen(pod)
    };
    let running = i64::try_from(numbers.iter().filter(runs).count()).unwrap_or(i64::MAX);
    let replaced =
        state == RunState::Running && wanted.is_some_and(|wanted| wanted > 0 && running >= wanted);
    replaced || !numbers.is_empty() && numbers.iter().all(seen)
}

/// Nodes of which it is not known whether they answer: the status of a pod on one is what its kubelet said last.
fn silent_nodes(case: &Case) -> BTreeSet<Symbol> {
    let graph = &case.graph;
    let mut silent = BTreeSet::new();
    // Facts are in time order.
    for fact in graph.facts.iter().filter(|fact| fact.node.is_some()) {
        match graph.name(fact.signal) {
            named::K8S_NODE_SILENT => drop(silent.insert(fact.node)),
            named::K8S_NODE_READY => drop(silent.remove(&fact.node)),
            _ => {}
        }
    }
    silent
}

/// Whether somebody asked for the end of the namespace that a run is in: its pods go with it, sooner or later.
fn is_leaving_with_its_namespace(case: &Case, run: &Run) -> bool {
    let graph = &case.graph;
    let pods = run.pods.iter();
    let pods = pods.filter_map(|pod| graph.pods.get(*pod));
    let begins = pods.filter(|pod| pod.kind == TaskKind::Pod);
    let begins: Vec<(Symbol, Nanos)> = begins
        .map(|pod| (pod.namespace, pod.known_begin().unwrap_or(Nanos::MIN)))
        .collect();
    let asked = graph
        .facts
        .iter()
        .filter(|fact| graph.name(fact.signal).starts_with("k8s.namespace.delet"));
    asked.into_iter().any(|fact| {
        let row = graph.evidence.rows().get(fact.row);
        let of = |(namespace, begin): &(Symbol, Nanos)| {
            row.is_some_and(|row| row.workload == *namespace) && *begin <= fact.time.hi
        };
        begins.iter().any(of)
    })
}

/// The pods of which the node's controller said last that their node does not answer: how their status stands is
/// what was known before.
fn cut_off(case: &Case) -> BTreeSet<(Symbol, Symbol)> {
    let graph = &case.graph;
    let mut lost: BTreeMap<TaskRow, Symbol> = BTreeMap::new();
    // Facts are in time order.
    for fact in &graph.facts {
        match graph.name(fact.signal) {
            named::K8S_POD_NODE_LOST => {
                let node = graph.pods.get(fact.pod).map(|pod| pod.node);
                lost.extend(fact.pod.zip(node));
            }
            named::K8S_NODE_READY => lost.retain(|_, node| *node != fact.node),
            named::K8S_POD_TAINT_EVICTION_CANCELLED => {
                fact.pod.map(|pod| lost.remove(&pod));
            }
            _ => {}
        }
    }
    let pods = lost.keys().filter_map(|pod| graph.pods.get(*pod));
    pods.map(|pod| (pod.namespace, pod.name)).collect()
}

/// Whether a machine ended and was started again, and nobody looked at it since: that it was started says
/// nothing of what runs on it.
fn was_started_again(case: &Case, number: TaskRow) -> bool {
    let graph = &case.graph;
    let one = graph.pods.get(number);
    let Some(one) = one.filter(|one| one.kind == TaskKind::Instance) else {
        return false;
    };
    let restarts = case.ends.get(number).map(|end| &end.restarts);
    let last = restarts.and_then(|all| all.iter().map(|one| one.exit.time.hi).max());
    let Some(last) = last else {
        return false;
    };
    let uid = graph.name(one.uid);
    let objects = graph.evidence.objects.iter();
    let own = objects.filter(|(key, _)| key.kind == "Instance" && key.uid == uid);
    let seen = own
        .flat_map(|(_, versions)| versions)
        .filter_map(|one| one.at);
    seen.map(|at| at.lo).max().is_none_or(|seen| seen < last)
}
