//! A run that nothing ended: one that completed, or that was running when it was last seen.

use std::collections::BTreeSet;

use whathappened_core::death::RunState;
use whathappened_core::graph::{Fact, InstanceChange, Task, TaskKind, TaskRow};
use whathappened_core::lifecycle::{Mode, State, given_up};
use whathappened_core::resolve::{Root, Run};
use whathappened_core::signals::named;
use whathappened_model::coverage::EvidenceKind;
use whathappened_model::event::SourceKind;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp, rfc3339};

use super::lately::failed_lately;
use super::shown::{is_only_named, is_shown};
use super::{batch_state, last_heard};
use crate::answer::{Incident, IncidentRole};
use crate::case::Case;
use crate::explain::{Level, Verdict};

/// A run that nothing ended: completed, or running. That is only established by what
/// its own objects say: a pod that is known from Events or lines alone may be long gone.
pub(super) fn well(case: &Case, verdict: &Verdict, number: usize) -> Option<Incident> {
    let run = case.runs.get(number)?;
    let state = verdict.states.iter().find(|(run, _)| *run == number)?.1;
    if let Some(incident) = batch_state::incident(case, run)
        && matches!(state, RunState::Pending | RunState::Running)
    {
        return Some(incident);
    }
    let name = run.names(&case.graph).3;
    let shown = is_shown(case, run, state);
    let denied = (state == RunState::Completed && shown)
        .then(|| last_error(case, run))
        .flatten();
    let replaced = replaced_at(case, run);
    let counted = counted_at(case, run);
    let asked_to_stop = (state == RunState::Completed)
        .then(|| asked_to_stop(case, run))
        .flatten();
    let stopped_itself = (state == RunState::Completed)
        .then(|| stopped_itself(case, run))
        .flatten();
    let failed_lately = failed_lately(case, run);
    let (cause, title, summary) = match (state, shown) {
        (RunState::Completed, _) if let Some(error) = &denied => (
            "none.completed",
            "Completed",
            format!("{name} is recorded as completed, although its log ends in an error: {error}"),
        ),
        (RunState::Completed, _) if let Some(asked) = asked_to_stop => (
            "none.completed",
            "Completed",
            format!(
                "{name} is recorded as completed, although it was asked to stop at {} and ended then.",
                rfc3339(asked)
            ),
        ),
        (RunState::Completed, _) if let Some(stopped) = stopped_itself => (
            "none.completed",
            "Completed",
            format!(
                "{name} is recorded as completed, although its log says at {} that it had been asked to stop (SIGTERM), and ends with that.",
                rfc3339(stopped)
            ),
        ),
        (RunState::Completed, _) if let Some(early) = early_end(case, run) => (
            "none.completed",
            "Ended by its own settings",
            format!("{name} ended by a setting of its own{early}, before all its steps were made."),
        ),
        (RunState::Completed, _) => (
            "none.completed",
            "Completed",
            if shown {
                format!("{name} ran to completion.")
            } else {
                format!("{name} appears to have run to completion.")
            },
        ),
        (RunState::Running, _) if let Some(counted) = counted => (
            "none.running",
            "State unknown",
            format!(
                "{name} had ended by {}, when its Job had counted its pods; the data that was read does not show how.",
                rfc3339(counted - counted.rem_euclid(SECOND))
            ),
        ),
        (RunState::Running, _) if replaced.is_some() => (
            "none.running",
            "State unknown",
            format!(
                "{name} was gone by {}, when another instance was made under its name; no record shows how it ended.",
                replaced.map(rfc3339).unwrap_or_default()
            ),
        ),
        (RunState::Running, true) if failed_lately => (
            "none.running",
            "Running again",
            format!(
                "{name} is running again: its program failed and was restarted less than 10 minutes ago, too recently to know whether it has recovered."
            ),
        ),
        (RunState::Running, true) => ("none.running", "Running", format!("{name} is running.")),
        (RunState::Running, false) if is_only_named(case, run, state) => (
            "none.running",
            "State unknown",
            format!(
                "The data that was read does not show whether {name} is running; there is no sign that it ended.{}",
                last_line(case, run).unwrap_or_default()
            ),
        ),
        (RunState::Running, false) => (
            "none.running",
            "Running when last seen",
            running_when_last_seen(case, run, name),
        ),
        _ => return None,
    };
    let is_over = state == RunState::Running && (replaced.is_some() || counted.is_some());
    let level = match (shown, is_only_named(case, run, state)) {
        _ if is_over => Level::Unknown,
        _ if asked_to_stop.or(stopped_itself).is_some() => Level::Hypothesis,
        (true, _) if denied.is_some() => Level::Supported,
        (true, _) if state == RunState::Running && (failed_lately || is_cut_short(case)) => {
            Level::Supported
        }
        (true, _) => Level::Established,
        (false, true) => Level::Unknown,
        (false, false) => Level::Hypothesis,
    };
    let pods: Vec<Nanos> = run
        .pods
        .iter()
        .filter_map(|pod| case.ends.get(*pod)?.final_time())
        .map(|time| time.lo)
        .filter(|time| *time != Nanos::MIN)
        .collect();
    let time = if state == RunState::Completed {
        pods.into_iter().max()
    } else {
        case.graph.now
    };
    let hangs = state == RunState::Running && last_line(case, run).is_some();
    Some(Incident {
        cause: cause.to_owned(),
        level,
        title: title.to_owned(),
        summary,
        advice: if denied.is_some() {
            vec![IF_DENIED.to_owned()]
        } else if hangs {
            vec![IF_IT_HANGS.to_owned()]
        } else {
            Vec::new()
        },
        time: time.map(rfc3339),
        run_id: Some(run.id(&case.graph)),
        attempt: u32::try_from(run.attempts.len()).ok(),
        role: IncidentRole::Main,
        ..Incident::default()
    })
}

/// Whether a record that could have said that a run ended may be missing: a file of requests or objects, or of nobody knows
/// what, was not read to its end.
fn is_cut_short(case: &Case) -> bool {
    let mut cut = case
        .coverage
        .iter()
        .filter(|row| row.status.caps_a_verdict());
    cut.any(|row| {
        row.shows() == Some(EvidenceKind::Audit)
            || row.resource == "file" && row.source == SourceKind::Kubernetes.as_str()
            || row.is_unread_file()
            || row.is_damage()
            || row.is_more_than_read()
    })
}

/// Whether all of some pods were stopped once their run had completed, or as it did: its controller clears away what still runs.
pub(super) fn were_cleared_away(case: &Case, run: &Run, pods: &BTreeSet<TaskRow>) -> bool {
    let Root::Workload(root) = run.root else {
        return false;
    };
    let done = |fact: &&Fact| {
        fact.workload == Some(root) && case.graph.name(fact.signal) == named::K8S_WORKLOAD_COMPLETED
    };
    let Some(done) = case.graph.facts.iter().find(done) else {
        return false;
    };
    let is_later = |pod: &TaskRow| {
        let end = case.ends.get(*pod);
        end.is_some_and(|end| {
            end.mode == Mode::Killed
                && end.time != Stamp::OPEN
                && end.time.hi.saturating_add(CLOCKS) >= done.time.lo
        })
    };
    done.time != Stamp::OPEN && pods.iter().all(is_later)
}

/// What to do about a log that ends in an error where the exit code says that all went well.
const IF_DENIED: &str =
    "Check whether the exit code of the program was lost, as in a pipe without set -o pipefail.";

/// When a run was asked to stop that then ended with exit code 0: a trainer that saves its work on SIGTERM does.
fn asked_to_stop(case: &Case, run: &Run) -> Option<Nanos> {
    let pods = &run.attempts.last()?.pods;
    let mut pods = pods.iter().filter_map(|pod| case.graph.pods.get(*pod));
    let stopped = pods.find_map(|pod| {
        let asked = pod
            .deletion_requested
            .into_iter()
            .chain(pod.kills.iter().copied());
        let asked = asked.filter(|asked| *asked != Stamp::OPEN).min()?;
        let signed_off = pod
            .logged_stop
            .filter(|signed_off| *signed_off != Stamp::OPEN)?;
        let done = pod.logged_done.is_some_and(|done| done.lo <= asked.hi);
        let soon = signed_off.hi.saturating_sub(asked.lo).saturating_abs() <= SAVES_WITHIN;
        (soon && !done).then_some(asked.lo)
    });
    stopped.map(|asked| asked - asked.rem_euclid(SECOND))
}

/// When a program that ended with exit code 0 said, as the last of all, that it had been asked to stop, which no other record
/// tells. A shell says of what it ends itself that it was terminated, and names no signal.
fn stopped_itself(case: &Case, run: &Run) -> Option<Nanos> {
    let graph = &case.graph;
    let pods = &run.attempts.last()?.pods;
    let told = pods.iter().find_map(|number| {
        let pod = graph.pods.get(*number)?;
        let end = case.ends.get(*number)?.final_time()?;
        let told = pod.logged_stop.filter(|told| *told != Stamp::OPEN)?;
        let near = (-CLOCKS..=SAVES_WITHIN).contains(&end.lo.saturating_sub(told.lo));
        let is_done = pod.logged_done.is_some();
        let step = pod.progress.as_deref().map(|progress| progress.last.lo);
        let is_last = step.is_none_or(|step| step <= told.hi);
        (near && !is_done && is_last).then_some((*number, told))
    });
    let (pod, told) = told?;
    let said = graph.facts.iter().find(|fact| {
        fact.pod == Some(pod)
            && fact.time.lo == told.lo
            && graph.name(fact.signal) == named::LOG_SIGTERM
    })?;
    let message = graph.evidence.event(said.row).ok()?.message?;
    message
        .contains("SIGTERM")
        .then_some(told.lo - told.lo.rem_euclid(SECOND))
}

/// A program hears that it is to stop, and says so, within this time.
const SAVES_WITHIN: Nanos = 60 * SECOND;

/// The error with which the log of a run ends.
fn last_error(case: &Case, run: &Run) -> Option<String> {
    let graph = &case.graph;
    let pods = &run.attempts.last()?.pods;
    // What comes after the word that all is done ended nothing, where the exit code says so, too.
    let was_done = |one: &Task, failed: Stamp| {
        let step = one.progress.as_deref().map(|progress| progress.last.lo);
        let done = one.logged_done.filter(|done| *done != Stamp::OPEN);
        done.is_some_and(|done| done.lo <= failed.hi && step.is_none_or(|step| step <= done.hi))
    };
    let failed = |pod: &TaskRow| {
        let one = graph.pods.get(*pod);
        one.is_some_and(|one| given_up(one).is_some_and(|failed| !was_done(one, failed)))
    };
    let mut facts = graph.facts.iter().rev();
    let last = facts.find(|fact| {
        let signal = graph.name(fact.signal);
        let is_error = matches!(signal, named::LOG_EXCEPTION_LINE | named::LOG_TRACEBACK);
        let is_own = |pod: TaskRow| pods.contains(&pod) && failed(&pod);
        is_error && fact.pod.is_some_and(is_own)
    })?;
    let message = graph.evidence.event(last.row).ok()?.message?;
    let line = message.lines().rev().find(|line| !line.trim().is_empty())?;
    Some(line.trim().to_owned())
}

/// After which step a run ended that was told to end before its last one.
fn early_end(case: &Case, run: &Run) -> Option<String> {
    let graph = &case.graph;
    let pods = &run.attempts.last()?.pods;
    let mut facts = graph.facts.iter().rev();
    let done = facts.find(|fact| {
        let signal = graph.name(fact.signal);
        signal.starts_with(named::LOG_TRAINING_DONE) && pods.has(fact.pod)
    })?;
    let record = |fact: &&Fact| {
        fact.row == done.row && graph.name(fact.signal) == named::LOG_TRAINING_DONE_AS_SET
    };
    graph.facts.iter().find(record)?;
    let progress = graph.pods.get(done.pod)?.progress.as_deref();
    let step = progress.and_then(|progress| progress.step);
    Some(
        step.map(|step| format!(" after step {step}"))
            .unwrap_or_default(),
    )
}

/// What to do about a log that stops in the midst of the training.
const IF_IT_HANGS: &str = "If it still runs, look where it waits (py-spy dump --pid PID); of several ranks, give the logs of all, or dumps of PyTorch's flight recorder.";

/// Until when a log goes that is all there is, and how far its training came.
fn last_line(case: &Case, run: &Run) -> Option<String> {
    let [log] = run.pods.as_slice() else {
        return None;
    };
    let log = case.graph.pods.get(*log)?;
    let progress = log
        .progress
        .as_ref()
        .filter(|_| log.kind == TaskKind::Log)?;
    let last = log.last_line.filter(|last| *last != Stamp::OPEN)?;
    let step = progress.step.map(|step| format!(", after step {step}"));
    Some(format!(
        " Its last line was written at {}{}.",
        rfc3339(last.lo - last.lo.rem_euclid(SECOND)),
        step.unwrap_or_default()
    ))
}

/// When a Job had done with all pods of a run's last attempt, of none of which a record shows how it ended.
pub(super) fn counted_at(case: &Case, run: &Run) -> Option<Nanos> {
    let counted = |pod: &TaskRow| {
        let is_open = case.ends.get(*pod)?.state == State::Running;
        let counted = case.graph.pods.get(*pod)?.untracked?;
        is_open.then_some(counted.hi)
    };
    let pods = &run.attempts.last()?.pods;
    let counted: Option<Vec<Nanos>> = pods.iter().map(counted).collect();
    counted?.into_iter().max()
}

/// When another instance was made under the name of one: names are unique in a zone, so it was gone by
/// then, whether or not a record says how.
pub(super) fn replaced_at(case: &Case, run: &Run) -> Option<Nanos> {
    let Root::Pod(number) = run.root else {
        return None;
    };
    let pods = &case.graph.pods;
    let one = pods.get(number)?;
    let is_later = |other: &&Task| {
        let same = (other.namespace, other.name, other.zone) == (one.namespace, one.name, one.zone);
        let both = one.uid.is_some() && other.uid.is_some() && other.uid != one.uid;
        other.kind == TaskKind::Instance && same && both && one.zone.is_some()
    };
    let made = |other: &Task| {
        let made = other
            .signs
            .iter()
            .find(|sign| sign.what == InstanceChange::Made);
        Some(made?.time.lo)
    };
    let last = one
        .signs
        .last()
        .filter(|_| one.kind == TaskKind::Instance)?;
    let later = pods.iter().filter(is_later).filter_map(made);
    later.filter(|at| *at > last.time.hi).min()
}

/// That a run was at work when it was last seen, and why no more is known.
fn running_when_last_seen(case: &Case, run: &Run, name: &str) -> String {
    let pods = &case.graph.pods;
    let is_machine = |pod: &TaskRow| {
        let one = pods.get(*pod);
        one.is_some_and(|one| one.kind == TaskKind::Instance)
    };
    let started_again = |pod: &TaskRow| {
        let end = case.ends.get(*pod);
        end.is_some_and(|end| !end.restarts.is_empty())
    };
    if run.pods.iter().all(is_machine) && run.pods.iter().any(started_again) {
        format!(
            "{name} was started again after it had ended; no record shows that it still runs, or how its programs fare."
        )
    } else if run.pods.iter().all(is_machine) {
        format!(
            "{name} was started, and no record says that it was stopped; none shows that it still runs, or how its programs fare."
        )
    } else if last_heard::of_cluster(case).is_some_and(|heard| {
        let mut own = run.pods.iter().filter_map(|pod| pods.get(*pod));
        own.any(|pod| heard.is_past(&case.graph, pod))
    }) {
        format!(
            "{name} was running when it was last seen; no later record shows whether it still is."
        )
    } else {
        format!(
            "{name} was running when it was last seen; not all of its pods were found, so it is not known whether it still is."
        )
    }
}
