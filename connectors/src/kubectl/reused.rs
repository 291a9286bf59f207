//! Names that were borne before: a table shows how old an object is, and Events beside it are older.

use super::age::Age;
use super::capture_time::CaptureTime;
use super::event::PrintedEvent;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND, Stamp};

/// Commands of one session are printed one after the other, and a pod is made before its first Event.
const APART: Nanos = 5 * SECOND;

/// What is told first of an object that was just made.
const FIRST: [&str; 5] = [
    "Scheduled",
    "Pulled",
    "Created",
    "Started",
    "SuccessfulCreate",
];

/// When an object of this age was made, where Events of its name were printed in the same moment and some of them
/// are older than it: those speak of the one that bore the name before. What tells that it was the same moment
/// is that others are just as old.
pub(super) fn made(
    (kind, name): (&str, &str),
    age: Option<Age>,
    moment: &CaptureTime,
    events: &[PrintedEvent],
) -> Option<Stamp> {
    let age = age?;
    let made = moment.minus(Some(age));
    let ages = events
        .iter()
        .filter(|event| event.about.kind == kind && event.about.name == name)
        .filter_map(|event| Some((event.reason.as_str(), event.span.last?)));
    let mut is_same_moment = false;
    let mut is_borne_before = false;
    for (reason, seen) in ages {
        let is_as_old =
            seen.lo <= age.hi.saturating_add(APART) && seen.hi >= age.lo.saturating_sub(APART);
        is_same_moment |= is_as_old && FIRST.contains(&reason);
        is_borne_before |= seen.lo > age.hi.saturating_add(APART);
    }
    (made != Stamp::OPEN && is_same_moment && is_borne_before).then_some(made)
}

/// Sets when what was printed was made.
pub(super) fn set_made(emitted: &mut [Observation], made: Stamp) {
    for observation in emitted {
        if let Observation::Object(version) = observation {
            version.body.created = version.body.created.or(Some(made));
        }
    }
}
