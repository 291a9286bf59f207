//! What the lines of a program's log say of its end.

use crate::signals::named;
use whathappened_model::event::Event;
use whathappened_model::time::Stamp;

use super::learn::later;
use super::{Task, log_level};
use crate::signals::{SignalClass, SignalTraits};
use crate::symbols::SymbolTable;

/// A program that found this out ends, whatever it says of its end.
pub(super) const WRONG: &str = named::LOG_WRONG_RESULT_PERSISTENT;

/// Notes what a line says of the end of the program that wrote it.
pub(super) fn note(
    event: &Event,
    pod: &mut Task,
    symbols: &mut SymbolTable,
    traits: &SignalTraits,
) {
    let is = |class| traits.any(&event.signals, class);
    let says = |signal: &str| event.signals.iter().any(|one| one == signal);
    let mild = || log_level::is_no_failure(event.message.as_deref().unwrap_or_default());
    // Megatron's word on a GPU that computes wrongly, for which it ends, is a warning to its logger.
    let wrong = says(WRONG);
    let fails = is(SignalClass::LastWords) && !says(named::LOG_SHIPPER) && !mild();
    let fails = fails || wrong;
    let over = fails || is(SignalClass::SaysOver);
    // What is killed had not ended, whatever of its work was done.
    let killed = says(named::LOG_KILLED);
    let may_end = is(SignalClass::MayEnd) && !says(named::LOG_SHIPPER) && !mild();
    if event.time == Stamp::OPEN {
        let line = event.origin.line;
        pod.untimed.last = pod.untimed.last.max(line);
        if says(named::LOG_PROGRESS) {
            pod.untimed.step = pod.untimed.step.max(line);
        }
        if says(named::LOG_TRAINING_DONE) {
            pod.untimed.done = pod.untimed.done.max(line);
        }
        if wrong {
            pod.untimed.wrong = pod.untimed.wrong.max(line);
        }
        if killed {
            pod.untimed.done = 0;
        }
        if over {
            pod.untimed.words = pod.untimed.words.max(line);
            pod.words_in = symbols.number(&event.origin.file);
        }
        if may_end {
            pod.untimed.end = pod.untimed.end.max(line);
        }
        return;
    }
    pod.last_line = later(pod.last_line, event.time);
    if says(named::LOG_TRAINING_DONE) {
        pod.said_done = later(pod.said_done, event.time);
    }
    if killed {
        pod.said_done = None;
    }
    if over {
        pod.said_over = later(pod.said_over, event.time);
    }
    if may_end {
        pod.said_end = later(pod.said_end, event.time);
    }
    if wrong {
        pod.said_wrong = later(pod.said_wrong, event.time);
    }
    if says(named::LOG_SIGTERM) || says(named::LOG_HANGUP) {
        pod.said_stop = later(pod.said_stop, event.time);
    }
    if fails {
        pod.last_words = later(pod.last_words, event.time);
        if pod.last_words == Some(event.time) {
            pod.words_in = symbols.number(&event.origin.file);
            pod.words_of = event.rank;
        }
    }
}
