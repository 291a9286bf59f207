//! When and in which way a pod died: somebody asked for its end, its process ended, its node was lost.

use whathappened_model::time::{CLOCKS, Nanos, SECOND, Stamp};

use super::last_words::{Way, ended_unseen, given_up};
use super::loss::Loss;
use super::missed::is_missed;
use super::pod::{Surroundings, failed_start};
use super::{LONGEST_GRACE, Mode};
use crate::graph::{EntityGraph, Exit, Task};

/// What the API server says of when a request came; Events and objects tell whole seconds.
const EXACT: Nanos = SECOND / 100;

/// A node that stopped is found to have within this long.
const FOUND_WITHIN: Nanos = 60 * SECOND;

/// A node is said to be silent once nothing was heard of it for longer than this.
const MISSED_FOR: Nanos = 40 * SECOND;

/// How long pods are left on a node that does not answer, by default: it may come back as it was.
const WAITED_FOR: Nanos = 300 * SECOND;

/// A node that was silent for longer before the end of a pod has nothing to do with it.
const LONGEST_LOSS: Nanos = 3_600 * SECOND;

/// A machine that is shut down ends what runs on it, and is found to be silent within this long.
const GOES_DOWN: Nanos = MISSED_FOR + FOUND_WITHIN;

/// The earliest of: somebody asked for its end, its process ended, its node was lost.
pub(super) fn death(
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
        && let Some(failure) = given_up(pod)
        && !crashing
        && failure.hi.saturating_add(CLOCKS) < asked.lo
        && !ran_on_after(graph, pod, failure)
    {
        return Some((Mode::Exited, in_life(pod, failure, asked.lo)));
    }
    // Nor is one killed that had told so, and then ended with a code of its own choice.
    let chosen = exit.as_ref().and_then(|exit| exit.exit_code);
    let chosen = chosen.is_some_and(|code| matches!(code, 1..=125));
    if let (Some(asked), Some(exited), true) = (asked, exited, chosen)
        && let Some(failure) = given_up(pod)
        && !crashing
        && failure.hi < asked.lo
    {
        return Some((Mode::Exited, exited));
    }
    // What waited, or was held back, has no end to report, and a log or an object tells more of it.
    let waited = crashing || pod.stuck.is_some() || pod.held_back.is_some();
    let waited = waited || pod.last_line.is_some() || pod.body.is_some();
    if let (Some(asked), None, false) = (asked, exited, waited)
        && let Some(reported) = pod.reports.ended_before(asked)
    {
        return Some((Mode::Exited, in_life(pod, reported, asked.lo)));
    }
    if let (Some(asked), None) = (asked, exited)
        && let Some((ended, way)) = ended_unseen(graph, pod, around)
        && ended.hi.saturating_add(apart(pod, asked)) < asked.lo
        && !ran_on_after(graph, pod, ended)
    {
        let lost = booted_within(around, pod, ended).map(|lost| (Mode::Lost, lost));
        return (way == Way::Badly).then_some(lost.unwrap_or((Mode::Exited, ended)));
    }
    // What had ended was not lost with its node: its Job had heard of it.
    let over = exited
        .is_none()
        .then(|| ended_unseen(graph, pod, around))
        .flatten();
    let is_hit = |loss: &&Loss| {
        let over = over.is_some_and(|(over, _)| over.hi <= loss.from.hi);
        // Whom others missed by the time at which it was taken away was lost to them, whether or not its node comes back.
        let missed = asked.is_some_and(|asked| {
            let is_silent = loss.until.is_none_or(|until| until.lo > asked.lo);
            is_silent && is_missed(around.others_ended, loss.from, asked)
        });
        // What answers again without having booted runs what it ran.
        let lasted = loss.until.is_none()
            || loss.booted
            || !pod.exits.is_empty()
            || was_given_up(pod, loss)
            || missed;
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
        ways.push((
            reported.unwrap_or(unrecorded_end(pod, around)),
            Mode::Exited,
        ));
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
        let stopped = is_signalled(graph, exit.as_ref()) && went_down_after(around, pod, died);
        return Some((if stopped { Mode::Killed } else { way }, died));
    }
    // Whose end nobody saw, on a machine that went down and booted meanwhile, ended with that.
    if way == Mode::Exited
        && exit.is_none()
        && let Some(lost) = booted_within(around, pod, died)
    {
        return Some((Mode::Lost, lost));
    }
    // A silence that goes on is no loss yet: the node may answer again, and what ran there runs on. Whom others then missed
    // was lost to them.
    let too_soon = |loss: &&Loss| {
        let silent = graph.now.map(|now| now.saturating_sub(loss.from.hi));
        way == Mode::Killed
            && loss.until.is_none()
            && !loss.gone
            && !loss.booted
            // What a machine runs that says that it goes down does not wait for anybody to look.
            && !loss.went_down
            && !is_missed(around.others_ended, loss.from, died)
            && silent.is_some_and(|silent| silent < WAITED_FOR)
    };
    // Of whom nobody saw the end that was asked for, when its node had stopped by then, that was not
    // carried out.
    let unheard = way == Mode::Killed && exit.is_none();
    // What its kubelet told of containers before its last word says nothing of the time after it.
    let ended_since = |loss: &Loss| pod.exits.iter().any(|exit| exit.time.hi >= loss.onset);
    let stopped = |loss: &&Loss| {
        !ended_since(loss)
            && (loss.until.is_none() || loss.booted)
            && loss.onset <= died.lo
            && loss.from.lo > died.hi
            && loss.from.lo.saturating_sub(died.hi) < FOUND_WITHIN
    };
    // Whose node had not been heard of for a while by then had stopped, whether or not it comes back.
    let was_silent = |loss: &&Loss| loss.from.lo.saturating_sub(died.lo) <= MISSED_FOR;
    let is_lost = |loss: &&Loss| was_silent(loss) || !too_soon(loss);
    // A kubelet that stops what was asked to go was there, and one that started a pod was then.
    let heard_after = |loss: &&Loss| pod.stopped.is_some_and(|stop| stop.hi > loss.onset);
    let by_node = of_node().filter(is_lost).find(stopped);
    if unheard && let Some(loss) = by_node.filter(|loss| !heard_after(loss)) {
        let began = last_start.map_or(Nanos::MIN, |start| start.lo);
        let time = Stamp {
            lo: loss.onset.max(began).min(died.hi),
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

/// Whether a kubelet had the pod's containers to stop long after its log told of a failure, and others of its run had gone
/// on with their steps: the program had got over that, and had nothing more to say. A launcher takes its time to end what
/// is left, and a shell may wait for ever behind a program that failed.
pub(crate) fn ran_on_after(graph: &EntityGraph, pod: &Task, failure: Stamp) -> bool {
    const ENDS_THE_REST: Nanos = 60 * SECOND;
    let later = |time: Nanos| time > failure.hi.saturating_add(ENDS_THE_REST);
    let went_on = |other: &Task| {
        let step = other.progress.as_deref().map(|progress| progress.last.lo);
        other.root == pod.root && step.is_some_and(later)
    };
    pod.stopped.is_some_and(|stopped| later(stopped.lo))
        && pod.root.is_some()
        && graph.pods.iter().any(went_on)
}

/// How far apart the clocks are at most by which a pod had ended, and somebody asked for its end.
fn apart(pod: &Task, asked: Stamp) -> Nanos {
    // Controllers and the API server keep the same time; kubelets may not.
    if pod.deletion_requested != Some(asked) {
        return CLOCKS;
    }
    // Of two requests the API server itself kept the times.
    let exact = |time: Stamp| time.width() < EXACT;
    // Who clears away pods of a node that is gone marks them first, and then their Job counts them.
    let marked = |counted: Stamp| pod.kills.iter().any(|kill| kill.lo <= counted.hi);
    let counted = |counted: Stamp| exact(counted) && !marked(counted);
    if exact(asked) && pod.untracked.is_some_and(counted) {
        0
    } else {
        SECOND
    }
}

/// Whether somebody cleared the pod away, so that the cluster had counted it as ended, or its object was gone, before its node
/// answered again: what ran there by then was none of its any more. Who evicts for the silence says so.
fn was_given_up(pod: &Task, loss: &Loss) -> bool {
    if !pod.kills.is_empty() {
        return false;
    }
    let over = [pod.untracked, pod.gone].into_iter().flatten().min();
    over.zip(loss.until)
        .is_some_and(|(over, until)| loss.from.lo <= over.lo && over.hi <= until.lo)
}

/// Whether the pod went on with its work long after somebody asked for its end: that
/// was another pod of its name, or another object of its owner's.
fn lived_on(pod: &Task, asked: Stamp) -> bool {
    let last = pod.progress.as_deref().map(|progress| progress.last.lo);
    last.is_some_and(|last| last > asked.hi.saturating_add(LONGEST_GRACE))
}

/// Between which instants a pod ended of which no record says when: after it was last known to be
/// alive, and before somebody saw that it was not.
fn unrecorded_end(pod: &Task, around: &Surroundings<'_>) -> Stamp {
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

/// When the node of a pod was found to have stopped, and then booted, within the time in which the pod ended, at which moment of it
/// no record tells, and its log neither.
fn booted_within(around: &Surroundings<'_>, pod: &Task, ended: Stamp) -> Option<Stamp> {
    let meanwhile = |loss: &&Loss| {
        let is_up = loss.until.is_some_and(|until| until.lo <= ended.hi);
        loss.booted && is_up && loss.from.lo >= ended.lo && loss.from.hi <= ended.hi
    };
    let mut losses = around.losses.get(&pod.node).into_iter().flatten();
    let loss = losses.find(meanwhile)?;
    (ended != Stamp::OPEN && given_up(pod).is_none()).then_some(loss.from)
}

/// When a pod had said something by, where the clock of its log may be off: it did not before it
/// was made.
fn in_life(pod: &Task, failure: Stamp, by: Nanos) -> Stamp {
    match pod.known_begin() {
        Some(begin) if failure.hi.saturating_add(CLOCKS) < begin => Stamp {
            lo: begin.min(by),
            hi: by,
        },
        _ => failure,
    }
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
    // Nobody but a kubelet says so of a pod, and it acts then.
    let evicted = pod.verdict.as_ref().is_some_and(|(time, reason)| {
        matches!(reason.as_str(), "Evicted" | "Preempting")
            && time.width() <= CLOCKS
            && heard(*time)
    });
    ended || stopped || started || evicted || wrote.is_some_and(|progress| after(progress.last))
}

/// What a kubelet does this long before its node is given up, or later, it does after its node was
/// last heard of.
const UNHEARD: Nanos = 30 * SECOND;

/// A kubelet that is there stops a pod this soon after it was asked to.
const AT_ONCE: Nanos = 15 * SECOND;

/// What the kubelet and containerd say of a container that they could not find again.
pub(super) fn was_not_found(graph: &EntityGraph, exit: &Exit) -> bool {
    matches!(
        graph.name(exit.reason),
        "ContainerStatusUnknown" | "Unknown"
    )
}

/// Whether a container ended by SIGTERM or SIGKILL, and not for its memory.
fn is_signalled(graph: &EntityGraph, exit: Option<&Exit>) -> bool {
    exit.is_some_and(|exit| {
        matches!(exit.exit_code, Some(137 | 143)) && graph.name(exit.reason) != "OOMKilled"
    })
}

/// Whether the machine of a pod went down just after it had ended: a machine that shuts down signals what runs on it first,
/// and its kubelet may still report that.
fn went_down_after(around: &Surroundings<'_>, pod: &Task, died: Stamp) -> bool {
    let losses = around.losses.get(&pod.node).into_iter().flatten();
    let mut lasting = losses.filter(|loss| loss.until.is_none() || loss.booted || loss.gone);
    lasting.any(|loss| {
        died.lo <= loss.from.hi
            && loss.from.lo.saturating_sub(died.hi) <= GOES_DOWN
            && loss.onset.saturating_sub(died.hi) <= FOUND_WITHIN
    })
}
