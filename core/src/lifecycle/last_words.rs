//! What the end of a log tells of the end of the pod that wrote it.

use crate::signals::named;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::pod::Surroundings;
use crate::graph::{EntityGraph, Task, TaskKind};

/// How a pod ended whose end no record shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// Its work was done.
    Well,
    /// It failed.
    Badly,
    /// Its Job had done with it, and nothing tells whether it failed.
    Unknown,
}

/// When a pod had ended, though no record of its end was seen, and how:
/// its Job was over or had counted it, or its log said last that all was done.
pub(super) fn ended_unseen(
    graph: &EntityGraph,
    pod: &Task,
    around: &Surroundings<'_>,
) -> Option<(Stamp, Way)> {
    // Who writes is alive.
    let step = pod.progress.as_deref().map(|progress| progress.last.lo);
    let wrote = step.max(pod.last_line.map(|line| line.lo));
    // After that it may still write of what it puts away.
    let failed = pod.last_words.map(|words| words.lo);
    let done = pod
        .logged_done
        .filter(|done| step.max(failed).is_none_or(|later| later <= done.hi));
    let job = around.job_over.map(|over| {
        let well = graph.says(pod.owner, named::K8S_WORKLOAD_COMPLETED);
        (over, if well { Way::Well } else { Way::Badly })
    });
    // A Job counts whom it has done with, however that one ended.
    let counted = pod.untracked.map(|counted| {
        let way = match (done, given_up(pod)) {
            (Some(_), _) => Way::Well,
            (None, Some(_)) => Way::Badly,
            (None, None) if job.is_some_and(|(_, way)| way == Way::Well) => Way::Well,
            // The one for which it gives up is the last that it counts.
            (None, None) if job.is_some_and(|(over, _)| is_at_once(over, counted)) => Way::Badly,
            // What ended well is not done again.
            (None, None) if around.next_begin >= Some(counted.lo) => Way::Badly,
            (None, None) => Way::Unknown,
        };
        (counted, way)
    });
    let by = job
        .into_iter()
        .chain(counted)
        .min_by_key(|(by, way)| (by.hi, *way == Way::Unknown))
        .or(done.map(|done| (done, Way::Well)));
    let Some((by, way)) = by else {
        // A program that writes of its failure has not ended before.
        let failed = failed_last(pod).map(|failed| (failed, Way::Badly));
        let untimed = matches!(pod.kind, TaskKind::Log) && pod.last_line.is_none();
        let done = (untimed && pod.untimed.is_done()).then_some((Stamp::OPEN, Way::Well));
        return failed.or(done);
    };
    // The clock of a log may be behind.
    let begin = pod.begin().max(pod.known_begin());
    let from = begin.max(wrote).unwrap_or(Nanos::MIN);
    // Who counts a pod as ended has that from its kubelet, unless others had ended it, or cleared it away, before.
    let is_asked = pod.first_asked().is_some_and(|asked| asked.lo <= by.hi);
    let is_counted = !is_asked && (pod.untracked.is_some() || around.job_over.is_some());
    let report = pod.reports.last_before(by).filter(|_| is_counted);
    let since = report.map_or(Nanos::MIN, |report| {
        report.lo.saturating_sub(REPORTED_WITHIN)
    });
    let by = report.unwrap_or(by);
    let ended = Stamp {
        lo: from.max(since).min(by.lo),
        hi: by.hi,
    };
    Some((ended, way))
}

/// Whether a Job gave up as it counted a pod.
fn is_at_once(over: Stamp, counted: Stamp) -> bool {
    const AT_ONCE: Nanos = 5 * SECOND;
    over.lo.abs_diff(counted.lo) <= AT_ONCE.unsigned_abs()
}

/// A kubelet sees that a container has ended, and says so, within this long.
const REPORTED_WITHIN: Nanos = 10 * SECOND;

/// Whether a log told of its last failure several times before, and of steps since the one before it: what a program got over
/// each time, it need not have ended with, and a log that was copied from a running program ends anywhere.
fn is_habit(pod: &Task) -> bool {
    let before = pod.failures.often_before();
    let went_on = before
        .zip(pod.progress.as_deref())
        .is_some_and(|(before, progress)| progress.went_on_after(before, None));
    pod.exits.is_empty() && went_on
}

/// When the log of a pod that no object tells of any more ended in a failure; where nothing but its log
/// is known, or with its end by others. One that was held back was started again.
pub(super) fn failed_last(pod: &Task) -> Option<Stamp> {
    if is_habit(pod) {
        return None;
    }
    let only_log = pod.bound.is_none() && pod.starts.is_empty();
    // Of a file every line is there; a log store is asked for some.
    let whole_log = only_log && matches!(pod.kind, TaskKind::Log | TaskKind::Job);
    let over = || {
        let written = pod.logged_over.filter(|_| only_log)?;
        last_of_log(pod, written, None)
    };
    let stopped = || signed_off(pod).filter(|_| only_log);
    // What a launcher told after an exception, and after nothing else, tells of that exception's end.
    let unseen = || {
        let (written, over) = pod.last_words.zip(over())?;
        let silent =
            whole_log && written.hi < over.lo && !pod.spoke_between && written != Stamp::OPEN;
        silent.then_some(Stamp {
            lo: written.lo,
            hi: over.hi,
        })
    };
    let ended = || ended(pod).filter(|_| whole_log);
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
    let failed = log.words > 0 && log.last <= log.words + AFTER && !log.went_on();
    let whole_log = matches!(pod.kind, TaskKind::Log | TaskKind::Job);
    let ended = whole_log && log.end > log.step && log.last <= log.end + REST;
    (!log.is_done() && (failed || ended)).then_some(Stamp::OPEN)
}

/// When the log of a pod ended with what a program may go on from: it ended it where not a line follows.
pub(super) fn ended(pod: &Task) -> Option<Stamp> {
    let written = pod.logged_end?;
    let last = pod
        .last_line
        .is_none_or(|last| last.lo <= written.hi.saturating_add(SECOND));
    last_of_log(pod, written, None).filter(|_| last)
}

/// When the log of a pod ended in a failure.
#[must_use]
pub fn given_up(pod: &Task) -> Option<Stamp> {
    last_of_log(pod, pod.last_words?, pod.words_of()).filter(|failure| !gets_over_it(pod, *failure))
}

/// Whether a pod's object says that it runs, and its log told of the same failure again and again: what a program got over
/// each time before, it does not end with.
fn gets_over_it(pod: &Task, failure: Stamp) -> bool {
    let started = pod
        .starts
        .iter()
        .map(|start| start.lo)
        .filter(|start| *start <= failure.lo)
        .max();
    let ended = pod
        .exits
        .iter()
        .map(|exit| exit.time.hi)
        .filter(|end| *end <= failure.lo)
        .max();
    let runs = pod.ready.is_some_and(|(_, ready)| ready);
    pod.body.is_some() && runs && pod.failures.were_survived(started.max(ended))
}

/// When the log of a pod ended with the word that it was asked to stop.
#[must_use]
pub fn signed_off(pod: &Task) -> Option<Stamp> {
    last_of_log_within(pod, pod.logged_stop?, None, GRACE)
}

/// Who was asked to stop saves its work, and says so, for this long.
const GRACE: Nanos = 120 * SECOND;

/// What a log said, where it was the last that it said.
fn last_of_log(pod: &Task, written: Stamp, rank: Option<i32>) -> Option<Stamp> {
    /// A traceback is followed by what the launcher says of it.
    const AFTER: Nanos = 10 * SECOND;
    last_of_log_within(pod, written, rank, AFTER)
}

/// The same, where what follows within a certain time belongs to it.
fn last_of_log_within(
    pod: &Task,
    written: Stamp,
    rank: Option<i32>,
    after: Nanos,
) -> Option<Stamp> {
    let last = pod.last_line?;
    let progress = pod.progress.as_deref();
    let went_on = progress.is_some_and(|progress| progress.went_on_after(written.hi, rank));
    // It was started again since, or got over it.
    if went_on || pod.starts.iter().any(|start| start.lo > written.hi) {
        return None;
    }
    (written != Stamp::OPEN && last.lo <= written.hi.saturating_add(after)).then_some(written)
}
