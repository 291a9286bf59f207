//! When what was printed was so: a paste has few times of its own.

use super::age::Age;
use super::capture_time::{CaptureTime, SKEW};
use super::describe::Described;
use crate::event::{Event, EventId};
use crate::object::ObjectVersion;
use crate::observation::Observation;
use crate::time::{SECOND, Stamp};
use serde_json::Value;

/// What the printed object tells without a time got one from elsewhere in it,
/// or none: it is known to have been so at the moment of the capture.
pub(super) fn untimed(
    emitted: &mut [Observation],
    one: &Described<'_>,
    events: &[Event],
    moment: &CaptureTime,
) {
    let ended = emitted.iter().find_map(|observation| match observation {
        Observation::Object(version) => version.body.ended,
        Observation::Event(_) | Observation::EventGrew { .. } => None,
    });
    let start = one
        .json
        .pointer("/status/startTime")
        .and_then(Value::as_str)
        .and_then(Stamp::parse);
    let since = match (start, moment.shown()) {
        (Some(start), Some(moment)) => Stamp {
            lo: start.lo,
            hi: moment.hi,
        },
        _ => Stamp::OPEN,
    };
    for observation in emitted {
        let Observation::Event(event) = observation else {
            continue;
        };
        let reason = event.reason.as_deref().unwrap_or_default();
        let time = match event.fact.as_str() {
            "k8s.pod.status" | "k8s.pod.phase" if ended.is_some() => continue,
            "k8s.pod.status" => events
                .iter()
                .find(|other| {
                    other.entities.pod.as_deref() == Some(&one.name)
                        && other.reason.as_deref() == Some(reason)
                        && other.time != Stamp::OPEN
                })
                .map_or(since, |other| other.time),
            "k8s.pod.condition" | "k8s.pod.phase" => since,
            _ => continue,
        };
        event.time = time;
        let condition = event.attribute("condition").unwrap_or_default().to_owned();
        event.id = EventId::of(&[
            &event.fact,
            "text",
            &one.namespace,
            &one.name,
            reason,
            &condition,
        ]);
    }
}

/// `Status:  Terminating (lasts 5m)`: so long ago its grace period was over. Until it is over kubectl prints
/// `(lasts <invalid>)`, since it counts from a time that is still to come.
pub(super) fn terminating(
    emitted: &mut [Observation],
    one: &Described<'_>,
    events: &[Event],
    moment: &CaptureTime,
) -> Option<Event> {
    let item = one.items.iter().find(|item| item.key == "Status")?;
    let lasts = item.value.strip_prefix("Terminating")?;
    let now = moment.stamp()?;
    let grace = one
        .items
        .iter()
        .find(|item| item.key == "Termination Grace Period")
        .and_then(|item| item.value.trim_end_matches('s').parse::<i64>().ok())
        .unwrap_or(0)
        .clamp(0, 1 << 31);
    let age = lasts
        .trim()
        .strip_prefix("(lasts ")
        .and_then(|text| Age::parse(text.trim_end_matches(')')));
    let requested = match age {
        Some(age) => moment.minus(Some(age)).shift(-grace * SECOND),
        // The grace period has not run out.
        None => {
            let asked = Stamp {
                lo: now.lo.saturating_sub(grace * SECOND),
                hi: now.hi,
            };
            before_stop(asked, one, events)
        }
    };
    let requested = in_life(requested, one);
    let mut of = None;
    for observation in emitted {
        match observation {
            Observation::Object(version) => {
                version.body.deletion_requested = Some(requested);
                version.body.deletion_grace_s = Some(grace);
            }
            Observation::Event(event) if of.is_none() => of = Some((**event).clone()),
            _ => {}
        }
    }
    let fact = "k8s.pod.deletion_requested";
    let mut event = of?;
    event.id = EventId::of(&[fact, "text", &one.namespace, &one.name]);
    fact.clone_into(&mut event.fact);
    event.time = requested;
    event.end = None;
    event.reason = None;
    event.message = None;
    event.exit_code = None;
    event.entities.container = None;
    event.attributes.clear();
    event.set_attribute("grace_s", Some(grace));
    event.raw = item.text.to_owned();
    event.origin.line = item.number;
    Some(event)
}

/// When a pod's end was asked for, as its kubelet tells, which begins to stop a pod as soon as it hears of that.
fn before_stop(asked: Stamp, one: &Described<'_>, events: &[Event]) -> Stamp {
    let stops = |event: &&Event| {
        let message = event.message.as_deref().unwrap_or_default();
        event.entities.pod.as_deref() == Some(&one.name)
            && event.reason.as_deref() == Some("Killing")
            && message.starts_with("Stopping container")
            && event.time.overlaps(asked)
    };
    let stop = events.iter().filter(stops).map(|event| event.time).min();
    let Some(stop) = stop else { return asked };
    let narrowed = Stamp {
        lo: asked.lo.max(stop.lo.saturating_sub(SKEW)),
        hi: asked.hi.min(stop.hi),
    };
    if narrowed.lo < narrowed.hi {
        narrowed
    } else {
        asked
    }
}

/// Nobody asks for the end of a pod that is not there yet.
fn in_life(asked: Stamp, one: &Described<'_>) -> Stamp {
    let begun = ["/metadata/creationTimestamp", "/status/startTime"]
        .iter()
        .filter_map(|path| Stamp::parse(one.json.pointer(path)?.as_str()?))
        .min();
    let lo = begun.map_or(asked.lo, |begun| begun.lo.max(asked.lo));
    if lo < asked.hi {
        Stamp { lo, ..asked }
    } else {
        asked
    }
}

/// An object was as it is shown when it was shown.
pub(super) fn made_at(emitted: &mut [Observation], at: Option<Stamp>) {
    for observation in emitted {
        if let Observation::Object(version) = observation {
            let version: &mut ObjectVersion = version;
            version.at = at.or(version.at);
        }
    }
}

/// What `date` prints: `Tue Feb  3 10:00:05 UTC 2026`, or a form with an offset.
pub(super) fn date(text: &str) -> Option<Stamp> {
    if let Some(stamp) = Stamp::parse(text) {
        return Some(stamp);
    }
    if let Ok(at) = chrono::DateTime::parse_from_rfc2822(text) {
        return at.timestamp_nanos_opt().map(Stamp::second);
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    // Other zones' names stand for more than one offset.
    let at = words
        .iter()
        .position(|word| matches!(*word, "UTC" | "GMT"))?;
    let mut rest = words.clone();
    rest.remove(at);
    let plain = rest.join(" ");
    [
        "%a %b %d %H:%M:%S %Y",
        "%a %b %d %I:%M:%S %p %Y",
        "%a %d %b %Y %I:%M:%S %p",
        "%a %d %b %H:%M:%S %Y",
    ]
    .iter()
    .find_map(|form| chrono::NaiveDateTime::parse_from_str(&plain, form).ok())
    .and_then(|at| at.and_utc().timestamp_nanos_opt())
    .map(Stamp::second)
}
