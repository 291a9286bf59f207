//! How a pod ended.

use crate::signals::named;
use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::backoff_limit::{last_straw, unseen_straw};
use super::helper::is_helpers;
use super::last_words::{Way, ended_unseen, given_up, signed_off};
use super::loss::{Loss, Losses, silent_at};
use super::pod_death::{death, was_not_found};
use super::{End, Mode, Restart, State};
use crate::graph::{EntityGraph, Exit, Task, holds_up};

/// What is known of what a pod belongs to and runs on.
pub(super) struct Surroundings<'a> {
    /// When its node was lost.
    pub losses: &'a Losses,
    /// When its Job deleted it because its pods had failed too often.
    pub spent: Option<Stamp>,
    /// When its job was over, and with it the pod.
    pub job_over: Option<Stamp>,
    /// When a pod of its number was made last, after it.
    pub next_begin: Option<Nanos>,
    /// Since when it may have been over, where its kubelet had nothing to stop when it was deleted.
    pub over_since: Option<Nanos>,
    /// When others of its run ended by themselves, where its controller then took it away.
    pub others_ended: &'a [Stamp],
}

/// The state a pod was last seen in, and how it came to that.
pub(super) fn end(graph: &EntityGraph, pod: &Task, around: &Surroundings<'_>) -> End {
    let &Surroundings { losses, spent, .. } = around;
    let all = pod.exits.iter().filter(|exit| !exit.init);
    let (helpers, main): (Vec<&Exit>, Vec<&Exit>) =
        all.partition(|exit| is_helpers(graph, pod, exit));
    let last_start = pod.starts.last().copied();
    // An exit was outlived when a container started after it; of what started in the same second
    // it counts that it is ready since, or that it ended later.
    let ready =
        pod.phase.as_deref() == Some("Running") && pod.ready.is_some_and(|(_, ready)| ready);
    let outlived = |exit: &&&Exit| {
        // Of several containers each is started again by itself: which of them runs, and which is held back, the pod says.
        if let Some(over) = got_over(graph, pod, &main, exit) {
            return over;
        }
        let ends_later = |start: Stamp| {
            let mut others = main.iter();
            others.any(|other| {
                other.container == exit.container
                    && other.time != Stamp::OPEN
                    && other.time.lo > start.lo
            })
        };
        last_start.is_some_and(|start| {
            let after =
                start.lo > exit.time.lo || start.lo == exit.time.lo && (ready || ends_later(start));
            // Of an end that is known to minutes only, it may have been the start before it.
            let known = exit.time.hi.saturating_sub(exit.time.lo) < BLUR;
            after && (known || start.lo >= exit.time.hi)
        })
    };
    // The pod gets over the end of a helper, whether that is started again or not.
    let mut restarts: Vec<Restart> = main
        .iter()
        .filter(outlived)
        .chain(&helpers)
        .map(|exit| Restart {
            exit: (**exit).clone(),
            mode: Mode::Exited,
        })
        .collect();
    // What has no time stands before nothing that is known of the pod.
    let is_asked = pod.first_asked().is_some() || pod.gone.is_some();
    let announced = pod.restarted.iter();
    restarts.extend(
        announced
            .filter(|exit| exit.time != Stamp::OPEN || !is_asked)
            .map(|exit| Restart {
                exit: exit.clone(),
                mode: Mode::Exited,
            }),
    );
    restarts.sort_by_key(|restart| restart.exit.time);
    if let Some(time) = pod.index_done
        && !graph.says(pod.owner, named::K8S_WORKLOAD_COMPLETED)
    {
        return End {
            state: State::Completed,
            mode: Mode::None,
            time,
            exit: None,
            restarts,
        };
    }
    if let Some(last) = spent.and_then(|by| last_straw(pod, &main, by)) {
        restarts.retain(|restart| restart.exit != *last);
        return End {
            state: State::Died,
            mode: Mode::Exited,
            time: last.time,
            exit: Some(last.clone()),
            restarts,
        };
    }
    if let Some(time) = spent.and_then(|by| unseen_straw(pod, &main, by)) {
        return End {
            state: State::Died,
            mode: Mode::Exited,
            time,
            exit: None,
            restarts,
        };
    }
    // A pod that failed before its main containers ran ended with an init container.
    let decisive = most_informative(graph, &main, &outlived).or_else(|| {
        let never_ran = pod.starts.is_empty() || is_initializing(pod);
        let failed = pod.phase.as_deref() == Some("Failed") && never_ran;
        failed.then(|| failed_start(pod).cloned())?
    });
    // Where the object is gone, the Event that it was held back after its last start must do.
    // What wrote had started, whether or not anything tells when.
    let held_back = pod.body.is_none()
        && match (pod.held_back, last_start) {
            (Some(held), Some(start)) => held.hi >= start.lo,
            (Some(_), None) => pod.last_line.is_some(),
            (None, _) => false,
        };
    let looping = failing_start(graph, pod);
    let waits = pod.waits.iter().any(|wait| wait == "CrashLoopBackOff");
    // A program that made steps for minutes after the last end that is known was not held back for it.
    let last_end = main
        .iter()
        .map(|exit| exit.time)
        .filter(|time| *time != Stamp::OPEN)
        .max();
    let trained_on = pod.progress.as_deref().is_some_and(|progress| {
        let since = last_end
            .max(pod.held_back)
            .map(|end| end.hi.saturating_add(BLUR));
        since.is_some_and(|since| progress.last.lo > since)
    });
    let held_back = held_back && !trained_on;
    let crashing = held_back || looping.is_some() || waits || is_flapping(graph, pod, &main);
    let phase = pod.phase.as_deref().unwrap_or_default();
    let since = pod
        .created
        .or(pod.bound)
        .or(pod.seen.map(|(first, _)| Stamp::second(first)))
        .unwrap_or(Stamp::OPEN);

    if let Some(held_up) = held_up(pod, decisive.as_ref(), &main) {
        restarts.extend(
            main.iter()
                .filter(|exit| !outlived(exit))
                .map(|exit| Restart {
                    exit: (**exit).clone(),
                    mode: Mode::Exited,
                }),
        );
        restarts.sort_by_key(|restart| restart.exit.time);
        return End {
            state: State::StuckStarting,
            mode: Mode::None,
            time: held_up,
            exit: None,
            restarts,
        };
    }
    if let Some((mode, time)) = death(graph, pod, &decisive, around, crashing) {
        return End {
            state: State::Died,
            mode,
            time,
            exit: decisive,
            restarts,
        };
    }
    if phase == "Succeeded" {
        let time = pod
            .ended
            .or(decisive.as_ref().map(|exit| exit.time))
            .unwrap_or(since);
        return End {
            state: State::Completed,
            mode: Mode::None,
            time,
            exit: decisive,
            restarts,
        };
    }
    // Its Job heard of an end that no version of it shows, and its log of why; or its log ended so after it was
    // looked at last.
    let past = |failure: &Stamp| {
        let seen = pod.unasked.filter(|_| phase == "Running");
        seen.is_some_and(|seen| seen.saturating_add(CLOCKS) < failure.lo)
    };
    // One that writes on after it may have got over that.
    let failed_since = given_up(pod)
        .filter(|failure| past(failure) && !pod.wrote_after_words)
        .map(|failure| (failure, Way::Badly));
    let heard_of = pod.untracked.is_some() && given_up(pod).is_some() || failed_since.is_some();
    if (pod.body.is_none() || heard_of)
        && decisive.is_none()
        && let Some((time, way)) = ended_unseen(graph, pod, around).or(failed_since)
    {
        let well = way == Way::Well;
        // Whose node did not answer any more by then was lost with it.
        // One that answers again, and did not boot, runs what it ran.
        let lasted = |loss: &&Loss| {
            let until = loss.until.is_none_or(|until| until.lo > time.hi);
            !well && given_up(pod).is_none() && (until || loss.booted)
        };
        if let Some(loss) = silent_at(losses, pod, time).filter(lasted) {
            return End {
                state: State::Died,
                mode: Mode::Lost,
                time: loss.from,
                exit: None,
                restarts,
            };
        }
        // Whose last word is that it was asked to stop did not end by itself, whatever went wrong as it stopped.
        let stopped = signed_off(pod)
            .is_some_and(|stop| given_up(pod).is_none_or(|failure| stop.lo < failure.lo));
        // That it ended is no sign that it ended badly.
        if way != Way::Unknown {
            return End {
                state: if well { State::Completed } else { State::Died },
                mode: match (well, stopped) {
                    (true, _) => Mode::None,
                    (false, true) => Mode::Killed,
                    (false, false) => Mode::Exited,
                },
                time,
                exit: None,
                restarts,
            };
        }
    }
    // Printed Events alone tell of it, and none that it was started.
    let unstarted = pod.body.is_none() && pod.starts.is_empty() && pod.exits.is_empty();
    let (state, time) = if crashing && (held_back || waits || !pod.exits.is_empty()) {
        let exit = decisive
            .clone()
            .or_else(|| looping.cloned())
            .or_else(|| pod.exits.last().cloned());
        let waiting = pod.held_back.filter(|_| last_start.is_none());
        let time = exit
            .as_ref()
            .map(|exit| exit.time)
            .or(waiting)
            .or(pod.stuck)
            .unwrap_or(since);
        restarts.retain(|restart| Some(&restart.exit) != exit.as_ref());
        return End {
            state: State::CrashLoop,
            mode: Mode::Exited,
            time,
            exit,
            restarts,
        };
    } else if pod.bound.is_none()
        && !pod.node.is_some()
        // What a container waits for is the word of a kubelet that has the pod.
        && pod.waits.is_empty()
        && pod.started.is_none()
        && (pod.unplaced.is_some() || unstarted && pod.printed.unplaced || phase == "Pending")
    {
        (State::NeverScheduled, pod.unplaced.unwrap_or(since))
    } else if (pod.started.is_none() || is_preparing(pod))
        && (phase == "Pending" || pod.stuck.is_some() || unstarted && pod.printed.stuck)
    {
        (State::StuckStarting, pod.stuck.unwrap_or(since))
    } else if decisive
        .as_ref()
        .is_some_and(|exit| exit.exit_code == Some(0))
        && runs_on(graph, pod)
    {
        (State::Running, pod.started.unwrap_or(since))
    } else if let Some(exit) = &decisive {
        // Ended, and never seen to start again: a dump of a status without phase.
        let bad = exit.exit_code != Some(0);
        let state = if bad { State::Died } else { State::Completed };
        let mode = if bad { Mode::Exited } else { Mode::None };
        return End {
            state,
            mode,
            time: exit.time,
            exit: decisive,
            restarts,
        };
    } else if let Some((since, false)) = pod.ready
        && helpers.is_empty()
        // Who waits for its containers is not ready yet.
        && pod.waits.is_empty()
    {
        (State::NotReady, since)
    } else if pod.waits.iter().any(|wait| holds_up(Some(wait))) {
        // Its container ended, how is not told, and cannot be started again.
        (State::NotReady, pod.stuck.unwrap_or(since))
    } else {
        (State::Running, pod.started.unwrap_or(since))
    };
    // What runs on a node that does not answer is as good as lost, for now.
    let silent = |losses: &Vec<Loss>| losses.last().is_some_and(|loss| loss.until.is_none());
    let lost = state == State::NotReady && losses.get(&pod.node).is_some_and(silent);
    // What was printed says that it is not ready, and not since when.
    let fell_silent = losses.get(&pod.node).and_then(|losses| losses.last());
    let fell_silent = fell_silent.map(|loss| loss.from);
    let time = match fell_silent.filter(|_| lost && !pod.uid.is_some()) {
        Some(from) if from.lo > time.lo => from,
        _ => time,
    };
    End {
        state,
        mode: if lost { Mode::Lost } else { Mode::None },
        time,
        exit: decisive,
        restarts,
    }
}

/// Whether the pod's own status says that the container of an end runs again, or that it is held back for it; nothing where it says
/// neither, or has one container, or is from before that end or a later start.
fn got_over(graph: &EntityGraph, pod: &Task, main: &[&Exit], exit: &Exit) -> Option<bool> {
    let body = pod.body.as_ref().filter(|body| body.restarts.len() > 1)?;
    let seen = pod.unasked?;
    let name = graph.name(exit.container);
    let is = |names: &[String]| names.iter().any(|one| one == name);
    let is_shown = exit.time != Stamp::OPEN && exit.time.lo <= seen;
    let mut own = main.iter().filter(|one| one.container == exit.container);
    let is_last = own.all(|one| one.time <= exit.time);
    let is_latest = pod.starts.last().is_none_or(|start| start.lo <= seen);
    match () {
        () if !is_shown || !is_latest => None,
        () if is(&body.running) => Some(true),
        () if is(&body.held_back) && is_last => Some(false),
        () => None,
    }
}

/// Whether a pod is running by its own word, and one of its containers has not ended, whichever is done: it has not completed
/// yet, and may fail with that one.
fn runs_on(graph: &EntityGraph, pod: &Task) -> bool {
    let has_ended = |name: &str| {
        let mut exits = pod.exits.iter();
        exits.any(|exit| !exit.init && graph.name(exit.container) == name)
    };
    let mut containers = pod.body.iter().flat_map(|body| body.restarts.keys());
    pod.phase.as_deref() == Some("Running")
        && pod.waits.is_empty()
        && containers.any(|name| !has_ended(name))
}

/// Since when a pod whose container had ended cannot start it again, though it is to: what is wanted now is not to be had.
fn held_up(pod: &Task, ended: Option<&Exit>, main: &[&Exit]) -> Option<Stamp> {
    let asked = pod.deletion_requested.is_some() || pod.gone.is_some() || pod.verdict.is_some();
    let waits = pod.waits.iter().any(|wait| holds_up(Some(wait)));
    // One that started since is another container's.
    let last = main.iter().map(|exit| exit.time).max()?;
    let is_last = pod.starts.last().is_none_or(|start| start.lo <= last.hi);
    let is_held = pod.phase.as_deref() == Some("Running") && waits && is_last && !asked;
    ended
        .filter(|_| is_held && last != Stamp::OPEN)
        .map(|_| last)
}

/// Whether the main containers still wait for those that prepare them: a printed Event does not say of which
/// kind the container is that it tells of.
fn is_initializing(pod: &Task) -> bool {
    pod.waits.iter().any(|wait| wait == "PodInitializing")
}

/// When an init container ended badly: a pod that is not started again for it is over.
pub(super) fn failed_start(pod: &Task) -> Option<&Exit> {
    let trained = pod.progress.as_deref().map(|progress| progress.first.lo);
    let bad = |exit: &&Exit| {
        exit.init
            // One after which others were started is none that they waited for.
            && (is_initializing(pod) || pod.starts.iter().all(|start| start.lo > exit.time.hi))
            && exit.exit_code.is_some_and(|code| code != 0)
            // One that ends after training has begun is a sidecar.
            && trained.is_none_or(|trained| exit.time.lo < trained)
    };
    pod.exits.iter().filter(bad).max_by_key(|exit| exit.time)
}

/// The last end of an init container that fails again and again, for a pod that never got past
/// it: its status shows the next try as often as the wait before it.
pub(crate) fn failing_start<'a>(graph: &EntityGraph, pod: &'a Task) -> Option<&'a Exit> {
    if pod.started.is_some() || !pod.starts.is_empty() {
        return None;
    }
    let ends = || {
        let reported = |exit: &&Exit| exit.init && exit.time != Stamp::OPEN;
        pod.exits.iter().filter(reported)
    };
    let last = ends().max_by_key(|exit| exit.time)?;
    let bad = |exit: &&Exit| {
        exit.container == last.container && exit.exit_code.is_some_and(|code| code != 0)
    };
    let mut times: Vec<Stamp> = ends().filter(bad).map(|exit| exit.time).collect();
    times.sort_unstable();
    times.dedup();
    let again = times.len() >= 2 || times.len() == 1 && pod.held_back.is_some();
    let over = pod.deletion_requested.or(pod.gone).map(|over| over.lo);
    let now = over.into_iter().chain(graph.now).min();
    let soon = now.is_none_or(|now| now.saturating_sub(last.time.hi) < FORGOTTEN);
    (bad(&last) && again && soon).then_some(last)
}

/// Whether the pod's own containers wait for those that prepare it: what was started was one of these.
fn is_preparing(pod: &Task) -> bool {
    pod.phase.as_deref() == Some("Pending")
        && pod.waits.iter().any(|wait| wait == "PodInitializing")
}

/// Times that are less exact than this say little of an order.
const BLUR: Nanos = 120 * SECOND;

/// A container that ended badly again and again and has not run since for as long as
/// it takes the kubelet to forget that: it is between two ends, not well.
fn is_flapping(graph: &EntityGraph, pod: &Task, main: &[&Exit]) -> bool {
    // One that went with its machine is not the program's habit.
    let bad = |exit: &&&Exit| {
        exit.exit_code != Some(0) && exit.time != Stamp::OPEN && !was_not_found(graph, exit)
    };
    let last_end = main.iter().filter(bad).map(|exit| exit.time).max();
    let (Some(end), Some(now)) = (last_end, graph.now) else {
        return false;
    };
    let restarts = pod.body.iter().flat_map(|body| body.restarts.values());
    let restarts = restarts.copied().max().unwrap_or(0);
    // Once is no habit, unless it ran longer then than it has since.
    let ran = pod
        .starts
        .iter()
        .filter(|start| start.lo <= end.lo)
        .map(|start| end.lo.saturating_sub(start.lo))
        .min();
    // While it was held back it did not run.
    let again = pod
        .starts
        .last()
        .map_or(end.hi, |start| start.lo.max(end.hi));
    let since = now.saturating_sub(again);
    let lately = |ran: Nanos| since <= ran && since < LATELY;
    let often = restarts >= OFTEN || restarts == 1 && ran.is_some_and(lately);
    let soon = ran.is_none_or(|ran| ran < FORGOTTEN) || restarts >= OFTEN;
    often
        && soon
        && since < FORGOTTEN
        && pod.phase.as_deref() == Some("Running")
        && pod.deletion_requested.is_none()
        && pod.gone.is_none()
}

/// Restarts after which ending badly is what a container does.
const OFTEN: i64 = 2;

/// A container that ended once and has run on for longer is well.
const LATELY: Nanos = 120 * SECOND;

/// After this long without an end the kubelet starts its back-off anew.
const FORGOTTEN: Nanos = 600 * SECOND;

/// Of the ends that nothing outlived, the one that tells most: a failure before
/// a success, an own end before a signal, the earliest first.
fn most_informative(
    graph: &EntityGraph,
    main: &[&Exit],
    outlived: &dyn Fn(&&&Exit) -> bool,
) -> Option<Exit> {
    let signalled = |exit: &Exit| {
        matches!(exit.exit_code, Some(137 | 143)) && graph.name(exit.reason) != "OOMKilled"
    };
    main.iter()
        .filter(|exit| !outlived(exit))
        .min_by_key(|exit| (exit.exit_code == Some(0), signalled(exit), exit.time))
        .map(|exit| (**exit).clone())
}
