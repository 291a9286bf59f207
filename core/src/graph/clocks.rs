//! Machines whose clocks are wrong, as far as the cluster itself proves it.
//!
//! When a container ended is told by its node's clock, when somebody asked for the pod's end by
//! the API server's. Where the two contradict the order in which the cluster stored what it saw,
//! or the pod's own creation, what the node's clock told of this pod is put right.

use crate::graph::{TaskRow, WorkloadRow};
use crate::signals::named;
use std::collections::HashMap;

use whathappened_model::event::SourceKind;
use whathappened_model::table::AtRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::task::Stored;
use super::{EntityGraph, Exit, Fact, Task, TaskKind};
use crate::evidence::Version;
use crate::symbols::Symbol;

/// Who deletes a pod through the API notes it in a condition this long before at most.
const AT_ONCE: Nanos = 5 * SECOND;

/// What a Job's end is told as.
const OVER: [&str; 3] = [
    named::K8S_WORKLOAD_BACKOFF_LIMIT,
    named::K8S_WORKLOAD_COMPLETED,
    named::K8S_WORKLOAD_FAILED,
];

/// Whether a time proves anything of a clock: one that was reckoned from an age does not.
fn is_exact(time: &Stamp) -> bool {
    time.width() <= SECOND
}

/// How far a node's clock was off: the least and the most that is to be added to what it told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ClockOffset {
    least: Nanos,
    most: Nanos,
}

impl ClockOffset {
    fn right(self, reported: Stamp) -> Stamp {
        if reported == Stamp::OPEN {
            return reported;
        }
        Stamp {
            lo: reported.lo.saturating_add(self.least),
            hi: reported.hi.saturating_add(self.most),
        }
    }
}

/// What the versions of a pod say of its end, `None` where they have no order or show none.
pub(super) fn stored(versions: &[Version]) -> Option<Stored> {
    let over = versions.iter().find(|version| {
        let phase = version.body.phase.as_deref();
        version.revision.is_some() && matches!(phase, Some("Failed" | "Succeeded"))
    })?;
    Some(Stored {
        // Whose deletion is asked for is given a time to stop in.
        ended_first: over.body.deletion_requested.is_none() && over.body.deletion_grace_s.is_none(),
        over: over.at.filter(is_exact),
        by_server: over.source_kind == SourceKind::KubernetesAudit,
    })
}

/// Puts right what clocks told that were proven wrong.
pub(super) fn settle(graph: &mut EntityGraph) {
    let ends = ends_of_jobs(graph);
    let mut wrong: HashMap<TaskRow, ClockOffset> = HashMap::new();
    for (number, pod) in graph.pods.numbered_mut() {
        if pod.kind != TaskKind::Pod {
            continue;
        }
        let job = pod.owner.and_then(|owner| ends.get(&owner).copied());
        if let Some(off) = ahead(pod, job).or_else(|| behind(pod)) {
            put_right(pod, off);
            wrong.insert(number, off);
        }
    }
    let symbols = &graph.evidence.symbols;
    let rows = graph.evidence.rows();
    for fact in &mut graph.facts {
        if let Some(off) = wrong.at(fact.pod) {
            let kind = rows.get(fact.row).map(|row| symbols.name(row.fact));
            if is_of_node(kind.unwrap_or_default(), symbols.name(fact.actor)) {
                shift(fact, *off);
            }
        }
        if fact.source_kind == SourceKind::NodeLog
            && let Some(pod) = graph.pods.get(fact.pod.or(fact.other))
            && let Some(by) = over_before(pod, fact)
            && symbols.name(fact.signal).starts_with("kernel.")
        {
            let written = fact.time;
            fact.time = Stamp {
                lo: written.lo.saturating_sub(AHEAD),
                hi: by,
            };
            fact.onset = fact.onset.min(by);
            fact.end = None;
        }
    }
}

/// A clock of a machine is no further ahead where anybody keeps it.
const AHEAD: Nanos = 40 * SECOND;

/// By when all containers of a pod had ended, where that was before something is told of its own processes: they were there
/// when their kernel said it, so that the clock by which its log is dated is ahead.
fn over_before(pod: &Task, fact: &Fact) -> Option<Nanos> {
    let is_over = matches!(pod.phase.as_deref(), Some("Failed" | "Succeeded"));
    // Who evicts a pod, or gives it up, says that it is over before its containers are.
    if !is_over || pod.verdict.is_some() || !is_exact(&fact.time) {
        return None;
    }
    let by = last_end(pod)?.time.hi;
    let lag = fact.time.lo.saturating_sub(by);
    // What was started again in the same pod was there then.
    let was_last = pod.starts.iter().all(|start| start.hi < by);
    (was_last && lag > CLOCKS && lag <= AHEAD).then_some(by)
}

/// Whether a record about a pod has its time from the clock of the pod's node.
fn is_of_node(kind: &str, actor: &str) -> bool {
    match kind {
        "k8s.container.terminated" | named::K8S_CONTAINER_STARTED | "log.line" | "node.log" => true,
        "k8s.event" => actor == "kubelet",
        _ => false,
    }
}

fn shift(fact: &mut Fact, off: ClockOffset) {
    let lag = fact.time.lo.saturating_sub(fact.onset);
    fact.time = off.right(fact.time);
    fact.onset = fact.time.lo.saturating_sub(lag);
    fact.end = fact.end.map(|end| off.right(end));
}

/// When each Job was first said to be over.
fn ends_of_jobs(graph: &EntityGraph) -> HashMap<WorkloadRow, Stamp> {
    let symbols = &graph.evidence.symbols;
    let job = symbols.find("Job");
    let over: Vec<Symbol> = OVER.iter().filter_map(|name| symbols.find(name)).collect();
    let mut ends: HashMap<WorkloadRow, Stamp> = HashMap::new();
    for fact in &graph.facts {
        let Some((number, workload)) = fact.workload.zip(graph.workloads.get(fact.workload)) else {
            continue;
        };
        if Some(workload.kind) == job && over.contains(&fact.signal) && is_exact(&fact.time) {
            let first = ends.entry(number).or_insert(fact.time);
            *first = (*first).min(fact.time);
        }
    }
    ends
}

/// The last end of a main container, as its node's clock told it.
fn last_end(pod: &Task) -> Option<&Exit> {
    let reported = |exit: &&Exit| !exit.init && is_exact(&exit.time);
    pod.exits
        .iter()
        .filter(reported)
        .max_by_key(|exit| exit.time)
}

/// When somebody first asked for the pod's end, by the API server's clock.
fn asked(pod: &Task) -> Option<Stamp> {
    let deleted = pod.deletion_requested.filter(is_exact)?;
    let noted = pod.kills.iter().copied();
    noted
        .filter(|kill| (deleted.lo.saturating_sub(AT_ONCE)..=deleted.hi).contains(&kill.lo))
        .chain([deleted])
        .min()
}

/// How far a clock is ahead that dates a pod's end after the cluster had already stored it.
fn ahead(pod: &Task, job: Option<Stamp>) -> Option<ClockOffset> {
    // A kubelet that evicts may say so before the containers have ended.
    if pod
        .verdict
        .as_ref()
        .is_some_and(|(_, reason)| !reason.is_empty())
    {
        return None;
    }
    let asked = asked(pod);
    // A Job that is over has no pods that run, but for those that it deletes for it, in the next moment.
    // When that was asked for is not known where the time is that of the end itself: it may take as long as its grace period.
    let outlived = |over: &Stamp| {
        !pod.is_confirmed_only()
            && asked.is_none_or(|asked| asked.lo > over.hi.saturating_add(AT_ONCE))
    };
    let by_server = pod.stored.over.filter(|_| pod.stored.by_server);
    // A kubelet that began to stop it just when that was asked for has a clock that is right, and something to stop.
    let agrees = |asked: &Stamp| {
        let apart = |stopped: Stamp| stopped.lo.saturating_sub(asked.lo).abs();
        pod.stopped.is_some_and(|stopped| apart(stopped) <= CLOCKS)
    };
    let by = asked
        .filter(|asked| pod.stored.ended_first && !agrees(asked))
        .map(|asked| asked.lo)
        .into_iter()
        .chain(by_server.map(|over| over.hi))
        .chain(job.filter(outlived).map(|over| over.hi))
        .min()?;
    let end = last_end(pod)?.time;
    let off = by.saturating_sub(end.hi);
    // The second in which it ended may not have been over.
    (end.lo >= by).then_some(ClockOffset {
        least: off,
        most: off,
    })
}

/// How far a clock is behind that dates a pod's beginning or end before the pod was made.
fn behind(pod: &Task) -> Option<ClockOffset> {
    let made = pod.created.filter(is_exact)?;
    let end = last_end(pod)?.time;
    let starts = pod.starts.iter().chain(&pod.started);
    let begun = starts.filter(|start| is_exact(start)).min();
    let first = begun.copied().map_or(end, |begun| begun.min(end));
    if first.hi.saturating_add(CLOCKS) > made.lo {
        return None;
    }
    let least = made.lo.saturating_sub(first.lo);
    let seen = pod.stored.over.map(|over| over.hi);
    let asked = asked(pod).filter(|_| pod.stored.ended_first);
    let by = seen.into_iter().chain(asked.map(|asked| asked.lo)).min();
    let most = by.map_or(least, |by| by.saturating_sub(end.hi).max(least));
    Some(ClockOffset { least, most })
}

/// Puts right what is known of a pod by its node's clock.
fn put_right(pod: &mut Task, off: ClockOffset) {
    let made = pod.created.map_or(Nanos::MIN, |made| made.lo);
    // Whoever asks through the API notes it by the server's clock, which is right.
    for kill in &mut pod.kills {
        if kill.hi.saturating_add(CLOCKS) <= made {
            *kill = off.right(*kill);
        }
    }
    for exit in &mut pod.exits {
        exit.time = off.right(exit.time);
    }
    for start in &mut pod.starts {
        *start = off.right(*start);
    }
    for reported in [
        &mut pod.started,
        &mut pod.ended,
        &mut pod.logged_done,
        &mut pod.logged_over,
        &mut pod.logged_end,
        &mut pod.logged_stop,
        &mut pod.logged_wrong,
        &mut pod.last_words,
        &mut pod.last_line,
        &mut pod.held_back,
    ] {
        *reported = reported.map(|reported| off.right(reported));
    }
    if let Some(progress) = &mut pod.progress {
        progress.first = off.right(progress.first);
        progress.last = off.right(progress.last);
        for (step, _) in progress
            .recent
            .iter_mut()
            .filter(|(step, _)| *step != Nanos::MIN)
        {
            *step = off
                .right(Stamp {
                    lo: *step,
                    hi: *step,
                })
                .lo;
        }
    }
}
