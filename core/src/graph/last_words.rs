//! What the lines of a program's log say of its end.

use std::collections::BTreeSet;

use serde_json::Value;
use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::learn::later;
use super::{Task, log_level};
use crate::signals::{SignalClass, SignalTraits, named};
use crate::symbols::{Symbol, SymbolTable};

/// A program that found this out ends, whatever it says of its end.
pub(super) const WRONG: &str = named::LOG_WRONG_RESULT_PERSISTENT;

/// The failures that a log told of: of which kind, and in which half minutes.
#[derive(Clone, Debug, Default)]
pub struct Failures {
    seen: BTreeSet<(Symbol, Nanos)>,
    last: Option<(Nanos, Symbol)>,
}

impl Failures {
    /// What is told within this long is of one failure.
    const ONE: Nanos = 30 * SECOND;
    /// Failures that a program got over make the next one of their kind another of those.
    const OFTEN: usize = 3;
    /// More are not needed to know that there were many.
    const MOST: usize = 256;

    fn add(&mut self, kind: Symbol, time: Nanos) {
        let when = time.div_euclid(Self::ONE);
        self.last = self.last.max(Some((when, kind)));
        if self.seen.len() < Self::MOST {
            self.seen.insert((kind, when));
        }
    }

    /// In the half minute from when on the program had last told of a failure of the last one's kind before that one, of several.
    #[must_use]
    pub fn often_before(&self) -> Option<Nanos> {
        let (last, kind) = self.last?;
        let before = self.seen.range((kind, Nanos::MIN)..(kind, last));
        let mut before = before.map(|(_, when)| when.saturating_mul(Self::ONE));
        let latest = before.next_back()?;
        (before.count() + 1 >= Self::OFTEN).then_some(latest)
    }

    /// Whether the program had told of failures of the last one's kind again and again, since it was started, and gone on.
    #[must_use]
    pub fn were_survived(&self, started: Option<Nanos>) -> bool {
        let Some((last, kind)) = self.last else {
            return false;
        };
        let from = started.map_or(Nanos::MIN, |started| started.div_euclid(Self::ONE));
        let before = self.seen.range((kind, from)..(kind, last));
        before.count() >= Self::OFTEN
    }
}

/// Errors that only a program's own code and data make: no machine that goes down brings them about.
const OWN_ERRORS: [&str; 14] = [
    "AssertionError",
    "AttributeError",
    "ImportError",
    "IndexError",
    "KeyError",
    "ModuleNotFoundError",
    "NameError",
    "NotImplementedError",
    "OutOfMemoryError",
    "RecursionError",
    "TypeError",
    "UnboundLocalError",
    "ValueError",
    "ZeroDivisionError",
];

/// Whether a line tells of one of those.
fn is_own_error(event: &Event) -> bool {
    let named = event.attribute("exception").unwrap_or_default();
    let class = named.rsplit('.').next().unwrap_or_default();
    OWN_ERRORS.contains(&class)
}

/// Which kind of failure a line tells of: what its signals are, and how its message begins, which names the exception.
fn kind(event: &Event, symbols: &mut SymbolTable) -> Symbol {
    let message = event.message.as_deref().unwrap_or_default();
    let named = message.split(':').next().unwrap_or_default();
    symbols.number(&format!("{} {named}", event.signals.join(" ")))
}

/// Whether a line tells of the same step as the one before: bars are drawn once more as their program ends.
fn is_drawn_again(event: &Event, pod: &mut Task) -> bool {
    let step = event.attribute("step").and_then(|step| step.parse().ok());
    let before = std::mem::replace(&mut pod.untimed.counted, step);
    step.is_some() && step == before
}

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
    let over = fails || is(SignalClass::ClosingLine);
    // What is killed had not ended, whatever of its work was done.
    let killed = says(named::LOG_KILLED);
    let may_end = is(SignalClass::MayEnd) && !says(named::LOG_SHIPPER) && !mild();
    // A traceback is told of at its first line, and ends with its last.
    let lines = event.attributes.get("lines").and_then(Value::as_u64);
    let line = event.origin.line + lines.map_or(0, |lines| lines.saturating_sub(1));
    if event.time == Stamp::OPEN {
        pod.untimed.last = pod.untimed.last.max(line);
        if says(named::LOG_PROGRESS) && !is_drawn_again(event, pod) {
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
            if line > pod.untimed.words {
                pod.untimed.words = line;
                pod.untimed.stepped = pod.untimed.step;
            }
            pod.words_in = symbols.number(&event.origin.file);
        }
        if may_end {
            pod.untimed.end = pod.untimed.end.max(line);
        }
        return;
    }
    pod.last_line = later(pod.last_line, event.time);
    if says(named::LOG_TRAINING_DONE) {
        pod.logged_done = later(pod.logged_done, event.time);
    }
    if killed {
        pod.logged_done = None;
    }
    if over {
        pod.logged_over = later(pod.logged_over, event.time);
    }
    if may_end {
        pod.logged_end = later(pod.logged_end, event.time);
    }
    if wrong {
        pod.logged_wrong = later(pod.logged_wrong, event.time);
    }
    if says(named::LOG_SIGTERM) || says(named::LOG_HANGUP) {
        pod.logged_stop = later(pod.logged_stop, event.time);
    }
    if fails {
        pod.failures.add(kind(event, symbols), event.time.lo);
        pod.last_words = later(pod.last_words, event.time);
        if pod.last_words == Some(event.time) {
            pod.words_in = symbols.number(&event.origin.file);
            pod.words_end = line;
            pod.words_of = event.rank;
            pod.words_are_own = is_own_error(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_program_got_over_again_and_again_does_not_end_it() {
        let mut symbols = SymbolTable::default();
        let (refused, memory) = (symbols.number("refused"), symbols.number("memory"));
        let told = |times: &[(Symbol, Nanos)]| {
            let mut failures = Failures::default();
            for (kind, seconds) in times {
                failures.add(*kind, seconds * SECOND);
            }
            failures
        };
        let often = [(refused, 0), (refused, 60), (refused, 120), (refused, 180)];
        assert!(told(&often).were_survived(None));
        assert_eq!(told(&often).often_before(), Some(120 * SECOND));
        assert_eq!(told(&often[1..]).often_before(), None);
        // Those of an earlier start of the container ended it.
        assert!(!told(&often).were_survived(Some(100 * SECOND)));
        // One failure, told of by many.
        let once = [(refused, 61), (refused, 62), (refused, 63), (refused, 64)];
        assert!(!told(&once).were_survived(None));
        // Another kind than those that it got over.
        let other = [&often[..], &[(memory, 240)]].concat();
        assert!(!told(&other).were_survived(None));
    }
}
