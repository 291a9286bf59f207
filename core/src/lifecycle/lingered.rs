//! Programs of which a part had broken for good when somebody, a limit or a scheduler ended what was left of them.

use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::{End, Mode, State};
use crate::graph::{Task, TaskKind};

/// What is asked to stop has this long: it may work on, and may fail first.
pub(super) const STOPPED_WITHIN: Nanos = 60 * SECOND;

/// So many steps are overdue before a program has stopped making any.
const STEPS: Nanos = 3;

/// The end of a program known from its log: of one whose steps had stopped with the failure of a part, and which
/// others ended much later, that failure.
pub(super) fn end(one: &Task, end: End) -> End {
    let exit = end.exit.as_ref().and_then(|exit| exit.exit_code);
    // SIGKILL and SIGTERM come from others.
    let by_others =
        matches!(end.mode, Mode::Killed | Mode::Lost) || matches!(exit, Some(137 | 143));
    let of_log = one.kind == TaskKind::Log && end.state == State::Died && by_others;
    match broke(one, end.time).filter(|_| of_log) {
        Some(time) => End {
            mode: Mode::Exited,
            time,
            // How the rest of it was stopped is not how it ended.
            exit: None,
            ..end
        },
        None => end,
    }
}

/// When a part of a program had failed with the last step that it made, more than some steps before its end.
pub(super) fn broke(one: &Task, end: Stamp) -> Option<Stamp> {
    let failure = one.last_words.filter(|failure| *failure != Stamp::OPEN)?;
    let progress = one.progress.as_deref()?;
    let again = one.starts.iter().any(|start| start.lo > failure.hi);
    let overdue = progress.usual().saturating_mul(STEPS);
    let quiet = end.lo.saturating_sub(progress.last.hi);
    let is_over = progress.last.lo <= failure.hi
        && was_long_before(one, failure, end)
        && quiet > overdue
        && !again;
    // What was written without a time was written before the next steps were due: none was made.
    let due = progress.last.hi.saturating_add(overdue);
    is_over.then(|| Stamp {
        hi: failure.hi.min(due).max(failure.lo),
        ..failure
    })
}

/// Whether a failure came more than a minute before an end, and no step was made since.
pub(super) fn was_long_before(one: &Task, failed: Stamp, end: Stamp) -> bool {
    let progress = one.progress.as_deref();
    let went_on = progress.is_some_and(|progress| progress.went_on_after(failed.hi, None));
    // A line without a time was written soon after the one before it, as far as anybody knows: it
    // stands before that of the stop.
    let since = if failed.width() > STOPPED_WITHIN {
        failed.lo
    } else {
        failed.hi
    };
    end.lo.saturating_sub(since) > STOPPED_WITHIN && !went_on
}
