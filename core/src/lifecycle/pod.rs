//! How a pod ended.

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::backoff_limit::{last_straw, unseen_straw};
use super::helper::is_helpers;
use super::loss::{Loss, Losses};
use super::{End, LONGEST_GRACE, Mode, Restart, State};
use crate::graph::{EntityGraph, Exit, Task, TaskKind};

/// What is known of what a pod belongs to and runs on.
pub(super) struct Surroundings<'a> {
    /// When its node was lost.
    pub losses: &'a Losses,
    /// When its Job deleted it because its pods had failed too often.
    pub spent: Option<Stamp>,
    /// When its job was over, and with it the pod.
    pub job_over: Option<Stamp>,
    /// Since when it may have been over, where its kubelet had nothing to stop when it was deleted.
    pub over_since: Option<Nanos>,
}

/// The state a pod was last seen in, and how it came to that.
pub(super) fn end(graph: &EntityGraph, pod: &Task, around: &Surroundings<'_>) -> End {
    let &Surroundings { losses, spent, .. } = around;
    let all = pod.exits.iter().filter(|exit| !exit.init);
    let (helpers, main): (Vec<&Exit>, Vec<&Exit>) =
        all.partition(|exit| is_helpers(graph, pod, exit));
    let last_start = pod.starts.last().copied();
    // An exit was outlived when a container started after it; of what started in the same second
    // it counts that it is ready since.
    let ready =
        pod.phase.as_deref() == Some("Running") && pod.ready.is_some_and(|(_, ready)| ready);
    let outlived = |exit: &&&Exit| {
        last_start.is_some_and(|start| {
            let after = start.lo > exit.time.lo || ready && start.lo == exit.time.lo;
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
    restarts.sort_by_key(|restart| restart.exit.time);
    if let Some(time) = pod.index_done
        && !graph.says(pod.owner, "k8s.workload.completed")
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
    let telling = tells_most(graph, &main, &outlived).or_else(|| {
        let never_ran = pod.starts.is_empty() || is_initializing(pod);
        let failed = pod.phase.as_deref() == Some("Failed") && never_ran;
        failed.then(|| failed_start(pod).cloned())?
    });
    // Where the object is gone, the Event that it was held back after its last start must do.
    let held_back = pod.body.is_none()
        && matches!((pod.held_back, last_start), (Some(held), Some(start)) if held.hi >= start.lo);
    let looping = failing_start(graph, pod);
    let waits = pod.waits.iter().any(|wait| wait == "CrashLoopBackOff");
    let crashing = held_back || looping.is_some() || waits || is_flapping(graph, pod, &main);
    let phase = pod.phase.as_deref().unwrap_or_default();
    let since = pod
        .created
        .or(pod.bound)
        .or(pod.seen.map(|(first, _)| Stamp::second(first)))
        .unwrap_or(Stamp::OPEN);

    if let Some((mode, time)) = death(graph, pod, &telling, around, crashing) {
        return End {
            state: State::Died,
            mode,
            time,
            exit: telling,
            restarts,
        };
    }
    if phase == "Succeeded" {
        let time = pod
            .ended
            .or(telling.as_ref().map(|exit| exit.time))
            .unwrap_or(since);
        return End {
            state: State::Completed,
            mode: Mode::None,
            time,
            exit: telling,
            restarts,
        };
    }
    // Its Job heard of an end that no version of it shows, and its log of why.
    let heard_of = pod.untracked.is_some() && given_up(pod).is_some();
    if (pod.body.is_none() || heard_of)
        && telling.is_none()
        && let Some((time, well)) = ended_unseen(graph, pod, around.job_over)
    {
        // Whose last word is that it was asked to stop did not end by itself.
        let stopped = signed_off(pod).is_some() && given_up(pod).is_none();
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
    let (state, time) = if crashing && (held_back || waits || !pod.exits.is_empty()) {
        let exit = telling
            .clone()
            .or_else(|| looping.cloned())
            .or_else(|| pod.exits.last().cloned());
        let time = exit
            .as_ref()
            .map(|exit| exit.time)
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
        && (pod.unplaced.is_some() || phase == "Pending")
    {
        (State::NeverScheduled, pod.unplaced.unwrap_or(since))
    } else if (pod.started.is_none() || is_preparing(pod))
        && (phase == "Pending" || pod.stuck.is_some())
    {
        (State::StuckStarting, pod.stuck.unwrap_or(since))
    } else if let Some(exit) = &telling {
        // Ended, and never seen to start again: a dump of a status without phase.
        let bad = exit.exit_code != Some(0);
        let state = if bad { State::Died } else { State::Completed };
        let mode = if bad { Mode::Exited } else { Mode::None };
        return End {
            state,
            mode,
            time: exit.time,
            exit: telling,
            restarts,
        };
    } else if let Some((since, false)) = pod.ready
        && helpers.is_empty()
        // Who waits for its containers is not ready yet.
        && pod.waits.is_empty()
    {
        (State::NotReady, since)
    } else {
        (State::Running, pod.started.unwrap_or(since))
    };
    // What runs on a node that does not answer is as good as lost, for now.
    let silent = |losses: &Vec<Loss>| losses.last().is_some_and(|loss| loss.until.is_none());
    let lost = state == State::NotReady && losses.get(&pod.node).is_some_and(silent);
    End {
        state,
        mode: if lost { Mode::Lost } else { Mode::None },
        time,
        exit: telling,
        restarts,
    }
}

/// Whether the pod went on with its work long after somebody asked for its end: that
/// was another pod of its name, or another object of its owner's.
fn lived_on(pod: &Task, asked: Stamp) -> bool {
    let last = pod.progress.as_deref().map(|progress| progress.last.lo);
    last.is_some_and(|last| last > asked.hi.saturating_add(LONGEST_GRACE))
}

/// Whether the main containers still wait for those that prepare them: a printed Event does not say of which
/// kind the container is that it tells of.
fn is_initializing(pod: &Task) -> bool {
    pod.waits.iter().any(|wait| wait == "PodInitializing")
}

/// When an init container ended badly: a pod that is not started again for it is over.
fn failed_start(pod: &Task) -> Option<&Exit> {
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

/// Whether the pod is known to have been alive after its node was last heard of: it wrote
/// on, its kubelet started or stopped it, or saw how it ended. A node is given up long after its last word, so
/// that clocks do not explain it.
fn outlived_loss(graph: &EntityGraph, pod: &Task, exit: Option<&Exit>, lost: Stamp) -> bool {
    let after = |time: Stamp| time != Stamp::OPEN && time.lo > lost.hi.saturating_add(CLOCKS);
    let ended = exit.is_some_and(|exit| {
        exit.exit_code.is_some() && !was_not_found(graph, exit) && after(exit.time)
    });
    let wrote = pod.progress.as_deref();
    // A node that comes back stops what was sent away from it meanwhile.
    let asked = pod.deletion_requested.iter().chain(&pod.kills);
    let asked = asked.map(|asked| asked.lo).min();
    let at_once =
        |stopped: Stamp| asked.is_none_or(|asked| stopped.lo.saturating_sub(asked) < AT_ONCE);
    let heard = |time: Stamp| time.lo > lost.lo.saturating_sub(UNHEARD);
    let stopped = pod
        .stopped
        .is_some_and(|stopped| heard(stopped) && at_once(stopped));
    let started = pod.starts.iter().any(|start| heard(*start));
    ended || stopped || started || wrote.is_some_and(|progress| after(progress.last))
}

/// What a kubelet does this long before its node is given up, or later, it does after its node was
/// last heard of.
const UNHEARD: Nanos = 30 * SECOND;

/// A kubelet that is there stops a pod this soon after it was asked to.
const AT_ONCE: Nanos = 15 * SECOND;

/// What the kubelet and containerd say of a container that they could not find again.
fn was_not_found(graph: &EntityGraph, exit: &Exit) -> bool {
    matches!(
        graph.name(exit.reason),
        "ContainerStatusUnknown" | "Unknown"
    )
}

/// Whether the pod's own containers wait for those that prepare it: what was started was one of these.
fn is_preparing(pod: &Task) -> bool {
    pod.phase.as_deref() == Some("Pending")
        && pod.waits.iter().any(|wait| wait == "PodInitializing")
}

/// When a pod had ended, though no record of its end was seen, and whether it ended well:
/// its Job was over or had counted it, or its log said last that all was done.
fn ended_unseen(graph: &EntityGraph, pod: &Task, job_over: Option<Stamp>) -> Option<(Stamp, bool)> {
    // Who writes is alive.
    let step = pod.progress.as_deref().map(|progress| progress.last.lo);
    let wrote = step.max(pod.last_line.map(|line| line.lo));
    // After that it may still write of what it puts away.
    let failed = pod.last_words.map(|words| words.lo);
    let done = pod
        .said_done
        .filter(|done| step.max(failed).is_none_or(|later| later <= done.hi));
    let job = job_over.map(|over| {
        let well = graph.says(pod.owner, "k8s.workload.completed");
        (over, well)
    });
    let counted = pod.untracked.map(|counted| (counted, done.is_some()));
    let by = job
        .into_iter()
        .chain(counted)
        .min_by_key(|(by, _)| by.hi)
        .or(done.map(|done| (done, true)));
    let Some((by, well)) = by else {
        // A program that writes of its failure has not ended before.
        return failed_last(pod).map(|failed| (failed, false));
    };
    // The clock of a log may be behind.
    let begin = pod.begin().max(pod.known_begin());
    let from = begin.max(wrote).unwrap_or(Nanos::MIN);
    let ended = Stamp {
        lo: from.min(by.lo),
        hi: by.hi,
    };
    Some((ended, well))
}

/// When the log of a pod that no object tells of any more ended in a failure; where nothing but its log
/// is known, or with its end by others. One that was held back was started again.
pub(super) fn failed_last(pod: &Task) -> Option<Stamp> {
    let only_log = pod.bound.is_none() && pod.starts.is_empty();
    // Of a file every line is there; a log store is asked for some.
    let whole_log = only_log && matches!(pod.kind, TaskKind::Log | TaskKind::Job);
    let over = || {
        let said = pod.said_over.filter(|_| only_log)?;
        last_of_log(pod, said, None)
    };
    let stopped = || signed_off(pod).filter(|_| only_log);
    // What a launcher told after an exception, and after nothing else, tells of that exception's end.
    let unseen = || {
        let (said, over) = pod.last_words.zip(over())?;
        let silent = whole_log && said.hi < over.lo && !pod.spoke_between && said != Stamp::OPEN;
        silent.then_some(Stamp {
            lo: said.lo,
            hi: over.hi,
        })
    };
    // What a program may go on from ended it where not a line follows.
    let ended = || {
        let said = pod.said_end.filter(|_| whole_log)?;
        let last = pod
            .last_line
            .is_none_or(|last| last.lo <= said.hi.saturating_add(SECOND));
        last_of_log(pod, said, None).filter(|_| last)
    };
    given_up(pod)
        .filter(|_| pod.held_back.is_none())
        .or_else(unseen)
        .or_else(over)
        .or_else(stopped)
        .or_else(ended)
        .or_else(|| failed_untimed(pod).filter(|_| only_log))
        .filter(|_| pod.body.is_none())
}

/// That a log without times ended in a failure; when, it does not say.
fn failed_untimed(pod: &Task) -> Option<Stamp> {
    /// Lines that launchers write after it.
    const AFTER: u64 = 100;
    /// And what still comes of one that may have gone on.
    const REST: u64 = 2;
    let log = pod.untimed;
    let failed = log.words > 0 && log.last <= log.words + AFTER;
    let whole_log = matches!(pod.kind, TaskKind::Log | TaskKind::Job);
    let ended = whole_log && log.end > log.step && log.last <= log.end + REST;
    (failed || ended).then_some(Stamp::OPEN)
}

/// When the log of a pod ended in a failure.
#[must_use]
pub fn given_up(pod: &Task) -> Option<Stamp> {
    last_of_log(pod, pod.last_words?, pod.words_of())
}

/// When the log of a pod ended with the word that it was asked to stop.
#[must_use]
pub fn signed_off(pod: &Task) -> Option<Stamp> {
    last_of_log_within(pod, pod.said_stop?, None, GRACE)
}

/// Who was asked to stop saves its work, and says so, for this long.
const GRACE: Nanos = 120 * SECOND;

/// Between which instants a pod ended of which no record says when: after it was last known to be
/// alive, and before somebody saw that it was not.
fn untold(pod: &Task, around: &Surroundings<'_>) -> Stamp {
    let wrote = pod.last_line.map(|line| line.lo);
    let started = pod.starts.last().map(|start| start.lo);
    let alive = pod.known_begin().max(wrote).max(started);
    let not_ready = pod
        .ready
        .and_then(|(since, ready)| (!ready).then_some(since));
    let seen = [not_ready, pod.untracked, around.job_over, around.spent];
    let seen = seen.into_iter().flatten().map(|seen| seen.hi);
    let lo = alive.unwrap_or(Nanos::MIN);
    match seen.filter(|seen| *seen > lo).min() {
        Some(hi) => Stamp { lo, hi },
        None => Stamp::OPEN,
    }
}

/// When a pod had said something by, where the clock of its log may be off: it did not before it
/// was made.
fn in_life(pod: &Task, said: Stamp, by: Nanos) -> Stamp {
    match pod.known_begin() {
        Some(begin) if said.hi.saturating_add(CLOCKS) < begin => Stamp {
            lo: begin.min(by),
            hi: by,
        },
        _ => said,
    }
}

/// What a log said, where it was the last that it said.
fn last_of_log(pod: &Task, said: Stamp, rank: Option<i32>) -> Option<Stamp> {
    /// A traceback is followed by what the launcher says of it.
    const AFTER: Nanos = 10 * SECOND;
    last_of_log_within(pod, said, rank, AFTER)
}

/// The same, where what follows within a certain time belongs to it.
fn last_of_log_within(pod: &Task, said: Stamp, rank: Option<i32>, after: Nanos) -> Option<Stamp> {
    let last = pod.last_line?;
    let progress = pod.progress.as_deref();
    let went_on = progress.is_some_and(|progress| progress.went_on_after(said.hi, rank));
    // It was started again since, or got over it.
    if went_on || pod.starts.iter().any(|start| start.lo > said.hi) {
        return None;
    }
    (said != Stamp::OPEN && last.lo <= said.hi.saturating_add(after)).then_some(said)
}

/// Times that are less exact than this say little of an order.
const BLUR: Nanos = 120 * SECOND;

/// Clocks of two machines are this far apart at most.
const CLOCKS: Nanos = 5 * SECOND;

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

/// A node that stopped is found to have within this long.
const FOUND_WITHIN: Nanos = 60 * SECOND;

/// How long pods are left on a node that does not answer, by default: it may come back as it was.
const WAITED_FOR: Nanos = 300 * SECOND;

/// A node that was silent for longer before the end of a pod has nothing to do with it.
const LONGEST_LOSS: Nanos = 3_600 * SECOND;

/// Restarts after which ending badly is what a container does.
const OFTEN: i64 = 2;

/// A container that ended once and has run on for longer is well.
const LATELY: Nanos = 120 * SECOND;

/// After this long without an end the kubelet starts its back-off anew.
const FORGOTTEN: Nanos = 600 * SECOND;

/// Of the ends that nothing outlived, the one that tells most: a failure before
/// a success, an own end before a signal, the earliest first.
fn tells_most(
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

/// The earliest of: somebody asked for its end, its process ended, its node was lost.
fn death(
    graph: &EntityGraph,
    pod: &Task,
    exit: &Option<Exit>,
    around: &Surroundings<'_>,
    crashing: bool,
) -> Option<(Mode, Stamp)> {
    let phase = pod.phase.as_deref().unwrap_or_default();
    let failed = phase == "Failed"
        || pod
            .verdict
            .as_ref()
            .is_some_and(|(_, reason)| !reason.is_empty());
    // A static pod lives on under one name: what came before its last start is past.
    let last_start = pod.starts.last();
    let completed =
        exit.as_ref().is_some_and(|exit| exit.exit_code == Some(0)) || phase == "Succeeded";
    let exited = exit
        .as_ref()
        .map(|exit| exit.time)
        .filter(|time| *time != Stamp::OPEN)
        .or_else(|| {
            let verdict = pod.verdict.as_ref().map(|(time, _)| *time);
            failed.then(|| verdict.or(failed_start(pod).map(|exit| exit.time)))?
        });
    let ended_by_status = matches!(
        pod.verdict.as_ref().map(|(_, reason)| reason.as_str()),
        Some(
            "Evicted"
                | "NodeShutdown"
                | "Terminated"
                | "Shutdown"
                | "Preempting"
                | "NodeLost"
                | "DeadlineExceeded"
        )
    );
    let asked = pod
        .deletion_requested
        .iter()
        .chain(
            pod.kills
                .iter()
                .filter(|kill| last_start.is_none_or(|start| kill.hi > start.lo)),
        )
        .filter(|asked| !lived_on(pod, **asked))
        .copied()
        .min_by_key(|asked| (asked.hi, asked.lo));
    // What ended by its own fault, at a time that nobody tells, was not killed later.
    let own_fault = exit.as_ref().is_some_and(|exit| {
        exit.time == Stamp::OPEN
            && exit
                .exit_code
                .is_some_and(|code| !matches!(code, 0 | 137 | 143))
    });
    if let (true, Some(asked), false) = (own_fault, asked, crashing) {
        let began = pod.started.or(pod.bound).or(pod.created);
        let lo = began.map_or(Nanos::MIN, |began| began.lo).min(asked.lo);
        return Some((Mode::Exited, Stamp { lo, hi: asked.hi }));
    }
    // Whatever is done to a pod after its end is done to its leftover.
    // A program that had told why it gives up, and nothing after that, had given up.
    if let (Some(asked), None) = (asked, exit.as_ref().and_then(|exit| exit.exit_code))
        && let Some(said) = given_up(pod)
        && !crashing
        && said.hi.saturating_add(CLOCKS) < asked.lo
    {
        return Some((Mode::Exited, in_life(pod, said, asked.lo)));
    }
    // Nor is one killed that had told so, and then ended with a code of its own choice.
    let chosen = exit.as_ref().and_then(|exit| exit.exit_code);
    let chosen = chosen.is_some_and(|code| matches!(code, 1..=125));
    if let (Some(asked), Some(exited), true) = (asked, exited, chosen)
        && let Some(said) = given_up(pod)
        && !crashing
        && said.hi < asked.lo
    {
        return Some((Mode::Exited, exited));
    }
    // Controllers and the API server keep the same time; kubelets may not.
    let apart = if asked == pod.deletion_requested {
        SECOND
    } else {
        CLOCKS
    };
    if let (Some(asked), None) = (asked, exited)
        && let Some((ended, well)) = ended_unseen(graph, pod, around.job_over)
        && ended.hi.saturating_add(apart) < asked.lo
    {
        return (!well).then_some((Mode::Exited, ended));
    }
    // What had ended was not lost with its node: its Job had heard of it.
    let over = exited
        .is_none()
        .then(|| ended_unseen(graph, pod, around.job_over))
        .flatten();
    let is_hit = |loss: &&Loss| {
        let over = over.is_some_and(|(over, _)| over.hi <= loss.from.hi);
        // What answers again without having booted runs what it ran.
        let lasted = loss.until.is_none() || loss.booted || !pod.exits.is_empty();
        lasted
            && !over
            && pod.begin().is_none_or(|begin| begin <= loss.from.hi)
            && !outlived_loss(graph, pod, exit.as_ref(), loss.from)
    };
    let of_node = || {
        around
            .losses
            .get(&pod.node)
            .into_iter()
            .flatten()
            .filter(is_hit)
    };
    // What has ended cannot be killed: a finished pod that is cleaned up has not died of it.
    if let (Some(asked), Some(exited)) = (asked, exited)
        && exited.hi <= asked.lo
        && !crashing
    {
        // Of what the kubelet did not find again it only knows when it looked.
        let not_found = exit.as_ref().is_some_and(|exit| was_not_found(graph, exit));
        let before = |loss: &&Loss| {
            loss.from.lo <= exited.hi && exited.lo.saturating_sub(loss.from.lo) < LONGEST_LOSS
        };
        if let Some(loss) = of_node().filter(|_| not_found).find(before) {
            return Some((Mode::Lost, loss.from));
        }
        let mode = if ended_by_status {
            Mode::Killed
        } else {
            Mode::Exited
        };
        return (!completed).then_some((mode, exited));
    }
    if completed && asked.is_none_or(|asked| exited.is_none_or(|exited| asked.lo >= exited.lo)) {
        return None;
    }
    let mut ways: Vec<(Stamp, Mode)> = Vec::new();
    if let Some(asked) = asked {
        let lo = around
            .over_since
            .map_or(asked.lo, |since| since.min(asked.lo));
        ways.push((Stamp { lo, ..asked }, Mode::Killed));
    } else if ended_by_status && let Some(exited) = exited {
        ways.push((exited, Mode::Killed));
    } else if failed
        && !crashing
        && let Some(exited) = exited
    {
        ways.push((exited, Mode::Exited));
    } else if let Some(gone) = pod.gone.filter(|gone| !lived_on(pod, *gone)) {
        ways.push((
            gone,
            if exited.is_some() {
                Mode::Exited
            } else {
                Mode::Killed
            },
        ));
    } else if failed && !crashing {
        let reported = pod.verdict.as_ref().map(|(time, _)| *time);
        ways.push((reported.unwrap_or(untold(pod, around)), Mode::Exited));
    }
    let Some((died, way)) = ways.iter().min().copied() else {
        // Nobody has cleared it away yet.
        let lost = of_node().find(|loss| loss.gone && loss.until.is_none())?;
        return (!completed && !failed).then_some((Mode::Lost, lost.from));
    };
    // Whose end the kubelet saw had outlived whatever its node went through.
    let seen_to_end = way == Mode::Exited
        && exit.as_ref().is_some_and(|exit| {
            exit.exit_code.is_some() && exit.time != Stamp::OPEN && !was_not_found(graph, exit)
        });
    if seen_to_end {
        return Some((way, died));
    }
    // A silence that goes on is no loss yet: the node may answer again, and what ran there runs on.
    let too_soon = |loss: &&Loss| {
        let silent = graph.now.map(|now| now.saturating_sub(loss.from.hi));
        way == Mode::Killed
            && loss.until.is_none()
            && !loss.gone
            && !loss.booted
            && silent.is_some_and(|silent| silent < WAITED_FOR)
    };
    // Of whom nobody saw the end that was asked for, when its node had stopped by then, that was not
    // carried out.
    let unheard = way == Mode::Killed && pod.exits.is_empty() && exit.is_none();
    let stopped = |loss: &&Loss| {
        loss.until.is_none()
            && loss.onset <= died.lo
            && loss.from.lo > died.hi
            && loss.from.lo.saturating_sub(died.hi) < FOUND_WITHIN
    };
    if unheard && let Some(loss) = of_node().filter(|loss| !too_soon(loss)).find(stopped) {
        let time = Stamp {
            lo: loss.onset,
            hi: died.hi,
        };
        return Some((Mode::Lost, time));
    }
    // The node was lost while the pod was on it and did not answer again before the end.
    let lost = of_node().filter(|loss| !too_soon(loss)).find(|loss| {
        loss.from.lo <= died.hi
            && loss.until.is_none_or(|until| until.lo >= died.lo)
            && died.lo.saturating_sub(loss.from.lo) < LONGEST_LOSS
    });
    if let Some(loss) = lost {
        // Of a container that was not found again nobody saw more than that.
        if exit.as_ref().is_some_and(|exit| was_not_found(graph, exit)) && way == Mode::Exited {
            return Some((Mode::Lost, loss.from));
        }
        ways.push((loss.from, Mode::Lost));
    }
    ways.sort_by_key(|(time, mode)| (time.lo, *mode));
    ways.first().map(|(time, mode)| (*mode, *time))
}
