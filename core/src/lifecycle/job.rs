//! How a batch job ended, as accounting, the controller or its own log tell it,
//! as often as it did: one that is put back into the queue is the same job.

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::last_words::{failed_last, given_up};
use super::lingered::{STOPPED_WITHIN, broke, was_long_before};
use super::{End, Mode, Restart, State};
use crate::graph::{EntityGraph, Exit, Progress, STEP_FAILED, Task, TaskKind};
use crate::symbols::Symbol;

/// Records of one end come within this long of each other: what ended it, what
/// its processes ended with, what accounting was told.
const ONE_END: Nanos = 300 * SECOND;

/// The state a job was last seen in, and every end that it outlived.
pub(super) fn end(graph: &EntityGraph, one: &Task) -> End {
    let mut ends = ends(graph, one);
    // Where nothing else tells of its end, its own log may.
    let by_log = ends.is_empty() && !has_accounts(one);
    let failure = by_log.then(|| failed_last(one)).flatten();
    let failure = failure.filter(|failure| !was_done_after(one, *failure));
    let untimed = one.untimed.is_done().then_some(Stamp::OPEN);
    let done = one
        .logged_done
        .or(untimed)
        .filter(|_| by_log && failure.is_none());
    let last = ends.pop();
    let since = one
        .started
        .or(one.created)
        .or(one.seen.map(|(first, _)| Stamp::second(first)))
        .unwrap_or(Stamp::OPEN);
    let now = goes_on(graph, one, last.as_ref());
    let (state, mode, time) = match (&last, now) {
        (_, Some((state, time))) => (state, Mode::None, time.unwrap_or(since)),
        (Some(exit), None) => match gave_up(graph, one, exit) {
            Some(failure) => (State::Died, Mode::Exited, failure),
            None => {
                let (state, mode) = meaning(graph.name(exit.reason));
                (state, mode, exit.time)
            }
        },
        (None, None) => match (failure, done) {
            (Some(failure), _) => (State::Died, Mode::Exited, failure),
            (None, Some(done)) => (State::Completed, Mode::None, done),
            (None, None) => (State::Running, Mode::None, since),
        },
    };
    // What it outlived was an end of an attempt.
    let exit = if now.is_some() {
        ends.extend(last);
        None
    } else {
        // How the rest of it was stopped is not how it ended.
        last.filter(|exit| gave_up(graph, one, exit).is_none())
    };
    let restarts = ends.into_iter().map(|exit| Restart {
        mode: meaning(graph.name(exit.reason)).1,
        exit,
    });
    End {
        state,
        mode,
        time,
        exit,
        restarts: restarts.collect(),
    }
}

/// One end for each attempt, in time order: of several records of it the one
/// that says most.
fn ends(graph: &EntityGraph, one: &Task) -> Vec<Exit> {
    let mut found: Vec<Exit> = Vec::new();
    // Until when the records of the last one reach.
    let mut until = Nanos::MIN;
    // Since when there was nothing left to stop.
    let mut failed = None::<Stamp>;
    for exit in one.exits.iter().filter(|exit| is_end(graph, one, exit)) {
        let original = graph.name(exit.reason);
        let exit = &Exit {
            reason: in_accounts(graph, exit.reason),
            ..exit.clone()
        };
        let reported = graph.name(exit.reason);
        let again = found.last().is_some_and(|last| {
            let mut starts = one.starts.iter();
            // A start within the second of an end was before it.
            let began = |start: &Stamp| start.lo >= last.time.hi && start.lo <= exit.time.lo;
            let left = failed.is_some() && is_stop(reported);
            exit.time.lo.saturating_sub(until) > ONE_END && !left || starts.any(began)
        });
        if again {
            failed = None;
        }
        if failed.is_some_and(|failed| was_left(graph, one, failed, exit)) {
            until = exit.time.hi;
            continue;
        }
        if matches!(original, STEP_FAILED | "TASK_FAILED") {
            let known = original == STEP_FAILED || is_last_word(one, exit.time);
            failed = failed.or(Some(exit.time).filter(|_| known));
        }
        // Accounting and logs write 0 where nothing ended by itself.
        let exit_code = exit
            .exit_code
            .filter(|code| *code != 0 || reported == "COMPLETED");
        let exit = Exit {
            exit_code,
            ..exit.clone()
        };
        until = exit.time.hi;
        // What was written without a time was over by when a later record says that it was.
        let before = found.last_mut().filter(|_| !again);
        if let Some(last) = before.filter(|last| last.time != Stamp::OPEN) {
            let by = exit.time.hi.max(last.time.lo);
            last.time.hi = last.time.hi.min(by);
        }
        match found.last_mut().filter(|_| !again) {
            Some(last) if specificity(reported) > specificity(graph.name(last.reason)) => {
                // The first record of an end is nearest to it.
                let first = last.time;
                *last = exit;
                if first != Stamp::OPEN {
                    last.time = first;
                }
            }
            // What was written without a time was no other end.
            Some(last) if last.time == Stamp::OPEN => last.time = exit.time,
            Some(_) => {}
            None => found.push(exit),
        }
    }
    found
}

/// Whether somebody, a limit or the scheduler stopped a job. A node that is lost is told of minutes later: its job
/// may have been silent since.
fn is_stop(word: &str) -> bool {
    matches!(word, "CANCELLED" | "DEADLINE" | "PREEMPTED" | "TIMEOUT")
}

/// Whether an end is that of what was left of a job whose processes had failed: a script that
/// waits, and ranks that wait for the one that is gone.
fn was_left(graph: &EntityGraph, one: &Task, failed: Stamp, exit: &Exit) -> bool {
    is_stop(graph.name(exit.reason)) && was_long_before(one, failed, exit.time)
}

/// When the log of a job that was stopped much later had ended in a failure.
fn gave_up(graph: &EntityGraph, one: &Task, exit: &Exit) -> Option<Stamp> {
    broke(one, exit.time).filter(|_| is_stop(graph.name(exit.reason)))
}

/// Whether a job's log tells of steps, and of none after a time.
fn is_last_word(one: &Task, time: Stamp) -> bool {
    let progress = one.progress.as_deref();
    time != Stamp::OPEN && progress.is_some_and(|progress| progress.last.lo <= time.hi)
}

/// Whether accounting or the controller tells in which state a job is.
fn has_accounts(one: &Task) -> bool {
    one.body.is_some() && one.phase.is_some()
}

/// Whether what a daemon logs of the end of a job was its end: accounts are kept once it is over.
fn is_end(graph: &EntityGraph, one: &Task, exit: &Exit) -> bool {
    let accounts = one.phase.as_deref().unwrap_or_default();
    match graph.name(exit.reason) {
        // Of a job that is cancelled slurmctld logs nothing more: one that it saw end was only
        // signalled, or had ended before.
        "KILL_REQUESTED" => {
            let of_attempt = |other: &&Exit| {
                let between = |start: &Stamp| {
                    let (from, to) = (exit.time.min(other.time), exit.time.max(other.time));
                    start.lo > from.hi && start.lo <= to.lo
                };
                !one.starts.iter().any(between)
            };
            let ended = |other: &Exit| ENDED.contains(&graph.name(other.reason));
            accounts == "CANCELLED" || !one.exits.iter().filter(of_attempt).any(ended)
        }
        // One step of several: the job worked on.
        "OUT_OF_MEMORY" | "STEP_CANCELLED" | "STEP_TIMEOUT" | "TASK_FAILED" | STEP_FAILED
            if accounts != "OUT_OF_MEMORY" =>
        {
            !trained_on(one, exit.time, accounts)
                && !got_over(graph, one, exit, accounts)
                && (!matches!(accounts, "" | "COMPLETED") || !was_done_after(one, exit.time))
        }
        // The limit of a job that is being ended already.
        "TIMEOUT" => accounts != "CANCELLED",
        _ => true,
    }
}

/// Whether the log of a job says that all is done after a part of it had ended.
fn was_done_after(one: &Task, ended: Stamp) -> bool {
    let success = one.logged_done.filter(|done| *done != Stamp::OPEN);
    let later = ended != Stamp::OPEN && success.is_some_and(|done| done.hi >= ended.lo);
    later && given_up(one).is_none() || one.untimed.is_done()
}

/// Whether a job trained on after a part of it had ended: what trains was another part, or was started again.
fn trained_on(one: &Task, ended: Stamp, accounts: &str) -> bool {
    /// What several ranks write of one step may come as late.
    const LATE: Nanos = 10 * SECOND;
    let Some(progress) = one.progress.as_deref().filter(|_| ended != Stamp::OPEN) else {
        return false;
    };
    let since = Progress::written_by(ended);
    // Of a job that failed as a whole the accounts tell when: what ended long before the last step, or
    // before there was any, was not it.
    let is_other = || {
        let before_any = ended.width() > LATE || progress.last.lo > since.saturating_add(LATE);
        let long = progress.last.lo > ended.hi.saturating_add(STOPPED_WITHIN);
        long || progress.first.lo > since && before_any
    };
    progress.went_on_after(since, None) || accounts == "FAILED" && is_other()
}

/// Whether a job wrote on long after the end of a part of it, and ended well or by others then, as its
/// accounts tell.
fn got_over(graph: &EntityGraph, one: &Task, exit: &Exit, accounts: &str) -> bool {
    /// A script may tidy up for as long.
    const TIDIES: Nanos = 30 * SECOND;
    const OTHERWISE: [&str; 6] = [
        "CANCELLED",
        "COMPLETED",
        "DEADLINE",
        "NODE_FAIL",
        "PREEMPTED",
        "TIMEOUT",
    ];
    if exit.time == Stamp::OPEN || !OTHERWISE.contains(&accounts) {
        return false;
    }
    let after = exit.time.hi.saturating_add(TIDIES);
    let ended = |other: &Exit| {
        graph.name(other.reason) == accounts && other.time != Stamp::OPEN && other.time.lo > after
    };
    one.last_line.is_some_and(|line| line.lo > after) && one.exits.iter().any(ended)
}

/// States in which a job is that ended otherwise than by being cancelled.
const ENDED: [&str; 9] = [
    "BOOT_FAIL",
    "COMPLETED",
    "DEADLINE",
    "FAILED",
    "LAUNCH_FAILED",
    "NODE_FAIL",
    "OUT_OF_MEMORY",
    "PREEMPTED",
    "TIMEOUT",
];

/// The state that accounting gives what daemons and launchers have their own words for.
fn in_accounts(graph: &EntityGraph, reason: Symbol) -> Symbol {
    let word = match graph.name(reason) {
        "DEPENDENCY_FAILED" | "KILL_REQUESTED" => "CANCELLED",
        "TASK_FAILED" | STEP_FAILED => "FAILED",
        "STEP_TIMEOUT" => "TIMEOUT",
        _ => return reason,
    };
    graph.evidence.symbols.find(word).unwrap_or(reason)
}

/// How much a record of an end says of it: its processes are killed whatever
/// ends it, and a script may end well of which a step did not.
fn specificity(word: &str) -> u8 {
    match word {
        "OUT_OF_MEMORY" => 7,
        "NODE_FAIL" | "BOOT_FAIL" | "PREEMPTED" | "TIMEOUT" | "DEADLINE" => 6,
        "LAUNCH_FAILED" => 5,
        "CANCELLED" => 4,
        "FAILED" => 3,
        "COMPLETED" => 2,
        "REQUEUED" => 1,
        _ => 0,
    }
}

/// The state of one that waits or runs, and since when, after its last end.
fn goes_on(graph: &EntityGraph, one: &Task, last: Option<&Exit>) -> Option<(State, Option<Stamp>)> {
    let since = |reported: Option<Stamp>| {
        reported.filter(|reported| {
            last.is_none_or(|last| reported.lo >= last.time.hi && last.time != Stamp::OPEN)
        })
    };
    let body = one.body.as_ref();
    match one.phase.as_deref() {
        Some("PENDING" | "REQUEUE_HOLD" | "SPECIAL_EXIT") => {
            // What is held where it ended has not got over its end; what was put back into the queue
            // was submitted again then, and waits: in that second, by what names no part of it.
            let again = |queued: &Stamp| {
                last.is_none_or(|last| last.time != Stamp::OPEN && queued.hi > last.time.lo)
            };
            let queued = body.and_then(|body| body.created).filter(again);
            if last.is_none() {
                return Some((State::NeverScheduled, queued));
            }
            // Not before it had ended.
            let ended = last.map_or(Nanos::MIN, |last| last.time.lo);
            return queued.map(|queued| {
                let lo = queued.lo.max(ended);
                (State::NeverScheduled, Some(Stamp { lo, ..queued }))
            });
        }
        Some(
            "RUNNING" | "COMPLETING" | "CONFIGURING" | "RESIZING" | "SIGNALING" | "STAGE_OUT"
            | "STOPPED" | "SUSPENDED",
        ) => {
            let started = since(body.and_then(|body| body.started));
            return started.map(|started| (State::Running, Some(started)));
        }
        _ => {}
    }
    let last = last?;
    let worked_on = || worked_on(graph, one, last);
    if let Some(started) = since(one.starts.last().copied()).or_else(worked_on) {
        // Its log may end with the word that all is done.
        let done = one
            .logged_done
            .filter(|done| done.lo >= started.hi && given_up(one).is_none());
        return Some(match done.filter(|_| !has_accounts(one)) {
            Some(done) => (State::Completed, Some(done)),
            None => (State::Running, Some(started)),
        });
    }
    // Put back into the queue, as far as is known.
    (graph.name(last.reason) == "REQUEUED").then_some((State::NeverScheduled, Some(last.time)))
}

/// How a job stands that neither works nor is over, by the word that Slurm has for that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BatchState {
    /// Its nodes are its own, and are being made ready.
    Configuring,
    /// Its processes are stopped, and may be resumed.
    Suspended,
    /// Its processes have ended, and Slurm tidies up after them.
    Ending,
}

impl BatchState {
    /// What is known of a job, where it is one and its accounts have such a word.
    #[must_use]
    pub fn of(one: &Task, end: &End) -> Option<Self> {
        let is_known = one.kind == TaskKind::Job && end.state == State::Running;
        match one.phase.as_deref().filter(|_| is_known)? {
            "CONFIGURING" => Some(Self::Configuring),
            "SUSPENDED" | "STOPPED" => Some(Self::Suspended),
            "COMPLETING" | "STAGE_OUT" => Some(Self::Ending),
            _ => None,
        }
    }
}

/// The last step that a job's log tells of, where that was made after the job had been put back into the
/// queue: it began again, whoever else says so.
fn worked_on(graph: &EntityGraph, one: &Task, last: &Exit) -> Option<Stamp> {
    let step = one.progress.as_deref()?.last;
    // What accounting says is over was not put back: a log that goes on for minutes has another clock.
    let is_over = one
        .phase
        .as_deref()
        .is_some_and(|phase| ENDED.contains(&phase));
    let within = if is_over { ONE_END } else { STOPPED_WITHIN };
    let over = last.time.hi.saturating_add(within);
    // Its end came after that step, whatever part of it had ended before.
    let ends_later = |exit: &Exit| {
        let word = graph.name(exit.reason);
        let is_end = ENDED.contains(&word) || word == "CANCELLED";
        is_end && exit.time != Stamp::OPEN && exit.time.hi >= step.lo
    };
    if one.exits.iter().any(ends_later) {
        return None;
    }
    (last.time != Stamp::OPEN && step != Stamp::OPEN && step.lo > over).then_some(step)
}

/// What a state of Slurm's accounting means: who ended it, if anybody did.
fn meaning(word: &str) -> (State, Mode) {
    match word {
        "COMPLETED" => (State::Completed, Mode::None),
        "NODE_FAIL" | "BOOT_FAIL" => (State::Died, Mode::Lost),
        "FAILED" | "OUT_OF_MEMORY" => (State::Died, Mode::Exited),
        // CANCELLED, DEADLINE, PREEMPTED, REVOKED, TIMEOUT.
        _ => (State::Died, Mode::Killed),
    }
}
