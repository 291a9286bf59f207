//! When a capture was made, from what it shows: absolute times beside ages.
//!
//! Each rule is a bound that follows from how the components work: a kubelet
//! reports on a pod after it took it, the scheduler binds it before. Bounds of
//! several rules are intersected.

use std::collections::BTreeMap;

use serde_json::Value;

use super::capture_time::{CaptureTime, SKEW};
use super::describe::Described;
use super::earlier::DescribedPod;
use super::event::PrintedEvent;
use super::pod_row::PodRow;
use crate::time::{Nanos, SECOND, Stamp};

/// A kubelet renews its lease every ten seconds and is given up after forty;
/// a ready node was heard of not longer ago than this.
const HEARD_OF: Nanos = 60 * SECOND;

/// What stands below a `date` in one session is taken to have been printed within this time of the
/// last moment that is known in it: who prints the date wants it to be what ages count back from.
const SESSION: Nanos = 60 * SECOND;

/// What one capture shows that has an age.
#[derive(Debug, Default)]
pub(super) struct CaptureContents {
    pub(super) moment: CaptureTime,
    /// It is the output of `date`.
    pub(super) is_date: bool,
    pub(super) events: Vec<PrintedEvent>,
    pub(super) pods: Vec<PodRow>,
    /// A command line stands above it.
    pub(super) commanded: bool,
}

/// Bounds from one `describe` and its events.
pub(super) fn of_describe(one: &Described<'_>, events: &[PrintedEvent], moment: &mut CaptureTime) {
    for emitted in &one.emitted {
        moment.not_before(emitted.lo);
    }
    match one.kind.as_str() {
        "Pod" => pod(one, events, moment),
        "Job" => job(one, events, moment),
        "Node" => node(one, moment),
        _ => {}
    }
    of_names(events, moment);
}

/// A recorder's name for an Event holds the time of the first occurrence.
pub(super) fn of_names(events: &[PrintedEvent], moment: &mut CaptureTime) {
    for event in events {
        if let (Some(at), Some(age)) = (event.made(), event.span.earliest()) {
            // The API keeps whole seconds, and counts from these.
            moment.aged(
                Stamp {
                    lo: at - SECOND,
                    hi: at + SECOND,
                },
                age,
            );
        }
    }
}

fn time(value: &Value, path: &str) -> Option<Stamp> {
    Stamp::parse(value.pointer(path)?.as_str()?)
}

fn pod(one: &Described<'_>, events: &[PrintedEvent], moment: &mut CaptureTime) {
    let Some(start) = time(&one.json, "/status/startTime") else {
        return;
    };
    for event in events {
        let from = event.component.as_deref();
        match (from, event.span.earliest()) {
            // A kubelet tells of a pod once it has taken it, which is its start.
            (Some("kubelet"), Some(age)) => {
                moment.aged_not_before(start.lo.saturating_sub(SKEW), age);
            }
            // It was bound before.
            (_, Some(age)) if event.reason == "Scheduled" => {
                moment.aged_before(start.hi.saturating_add(SKEW), age);
            }
            _ => {}
        }
    }
    started(one, events, moment);
}

/// A single container's last start, and the event of it.
fn started(one: &Described<'_>, events: &[PrintedEvent], moment: &mut CaptureTime) {
    let statuses = |list: &str| {
        one.json
            .pointer(&format!("/status/{list}"))
            .and_then(Value::as_array)
            .map_or(&[][..], Vec::as_slice)
    };
    let ([status], []) = (
        statuses("containerStatuses"),
        statuses("initContainerStatuses"),
    ) else {
        return;
    };
    let latest = [
        "/state/running/startedAt",
        "/state/terminated/startedAt",
        "/lastState/terminated/startedAt",
    ]
    .iter()
    .filter_map(|path| time(status, path))
    .max();
    let all: Vec<&PrintedEvent> = events
        .iter()
        .filter(|event| event.reason == "Started")
        .collect();
    let youngest = all
        .iter()
        .filter_map(|event| event.span.last)
        .min_by_key(|age| age.lo);
    let (Some(latest), Some(age)) = (latest, youngest) else {
        return;
    };
    // An event of the last start may have been dropped as spam, but none comes after it.
    moment.aged_before(latest.hi.saturating_add(SKEW), age);
    let seen: u64 = all.iter().map(|event| event.span.count.unwrap_or(1)).sum();
    let restarts = status
        .pointer("/restartCount")
        .and_then(Value::as_u64)
        .unwrap_or(0);
    if seen == restarts + 1 {
        moment.aged_not_before(latest.lo.saturating_sub(SKEW), age);
    }
}

fn job(one: &Described<'_>, events: &[PrintedEvent], moment: &mut CaptureTime) {
    let own: Vec<&PrintedEvent> = events
        .iter()
        .filter(|event| event.component.as_deref() == Some("job-controller"))
        .collect();
    if let Some(completed) = time(&one.json, "/status/completionTime") {
        let end = own.iter().find(|event| event.reason == "Completed");
        if let Some(age) = end.and_then(|event| event.span.earliest()) {
            let around = Stamp {
                lo: completed.lo.saturating_sub(SKEW),
                hi: completed.hi.saturating_add(SKEW),
            };
            moment.aged(around, age);
        }
    }
    let Some(start) = time(&one.json, "/status/startTime") else {
        return;
    };
    let made: Vec<&&PrintedEvent> = own
        .iter()
        .filter(|event| matches!(event.reason.as_str(), "SuccessfulCreate" | "FailedCreate"))
        .collect();
    for age in made.iter().filter_map(|event| event.span.earliest()) {
        moment.aged_not_before(start.lo.saturating_sub(SKEW), age);
    }
    // Where every pod's creation is still listed, the first one followed the start at once.
    let counts = super::describe::Item::statuses(&one.items).unwrap_or_default();
    let pods = counts.into_iter().fold(0_u64, u64::saturating_add);
    let created: u64 = made
        .iter()
        .filter(|event| event.reason == "SuccessfulCreate")
        .map(|event| event.span.count.unwrap_or(1))
        .sum();
    let first = made
        .iter()
        .filter_map(|event| event.span.earliest())
        .max_by_key(|age| age.lo);
    if let Some(age) = first.filter(|_| pods > 0 && created == pods) {
        moment.aged_before(start.hi.saturating_add(SKEW), age);
    }
}

fn node(one: &Described<'_>, moment: &mut CaptureTime) {
    let ready = one
        .json
        .pointer("/status/conditions")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .any(|condition| condition["type"] == "Ready" && condition["status"] == "True");
    let renewed = super::describe::Item::renewed(&one.items);
    if let Some(renewed) = renewed.filter(|_| ready) {
        moment.before(renewed.hi.saturating_add(HEARD_OF));
    }
}

/// Last ends of containers by pod, and restart counts with them.
pub(super) type ContainerEnds = BTreeMap<String, (u64, Stamp)>;

/// What a `describe` tells that a row of `get pods` counts from.
pub(super) fn ends(one: &Described<'_>, ends: &mut ContainerEnds) {
    if one.kind != "Pod" {
        return;
    }
    let statuses = one
        .json
        .pointer("/status/containerStatuses")
        .and_then(Value::as_array);
    let statuses = statuses.into_iter().flatten();
    let (mut restarts, mut last) = (0, None);
    for status in statuses {
        restarts += status
            .pointer("/restartCount")
            .and_then(Value::as_u64)
            .unwrap_or(0);
        last = last.max(time(status, "/lastState/terminated/finishedAt"));
    }
    if let Some(last) = last {
        ends.insert(one.name.clone(), (restarts, last));
    }
}

/// Finds the moments of captures from what they share with others, and from
/// their order in a session.
pub(super) fn share(seen: &mut [CaptureContents], ends: &ContainerEnds, beside: &[DescribedPod]) {
    for one in seen.iter_mut() {
        for row in &one.pods {
            if let (Some(age), Some((restarts, end))) = (row.restarted, ends.get(&row.name))
                && *restarts == row.restarts
            {
                one.moment.aged(*end, age);
            }
        }
    }
    for _ in 0..3 {
        let timed = seen.iter().filter(|one| one.moment.stamp().is_some());
        let mut known: BTreeMap<EventKey, (Option<u64>, Stamp)> = BTreeMap::new();
        for event in beside.iter().flat_map(DescribedPod::timed) {
            known.insert(key(event), (event.span.count, event.last));
        }
        for one in timed {
            for (key, event) in youngest(&one.events) {
                known.insert(key, (event.span.count, one.moment.minus(event.span.last)));
            }
        }
        let mut learned = false;
        for one in seen.iter_mut().filter(|one| one.moment.stamp().is_none()) {
            for (key, event) in youngest(&one.events) {
                if let (Some((count, at)), Some(age)) = (known.get(&key), event.span.last)
                    && *count == event.span.count
                {
                    one.moment.aged(*at, age);
                }
            }
            learned |= one.moment.stamp().is_some();
        }
        if !learned {
            break;
        }
    }
}

/// What makes a printed Event the same in two captures: of whom, its reason, its message.
type EventKey = (String, String, String);

fn key(event: &PrintedEvent) -> EventKey {
    let name = event.about.name.clone();
    (name, event.reason.clone(), event.message.clone())
}

/// The youngest Event of each key: pods that had a name one after the other have had like Events,
/// and a `describe` prints those of the last one alone.
fn youngest(events: &[PrintedEvent]) -> BTreeMap<EventKey, &PrintedEvent> {
    let mut found: BTreeMap<EventKey, &PrintedEvent> = BTreeMap::new();
    for event in events {
        let Some(age) = event.span.last else { continue };
        let key = key(event);
        let is_older =
            |other: &&PrintedEvent| other.span.last.is_some_and(|other| other.lo <= age.lo);
        if !found.get(&key).is_some_and(is_older) {
            found.insert(key, event);
        }
    }
    found
}

/// In a session each command ran after the one above it.
pub(super) fn in_order(seen: &mut [CaptureContents]) {
    let mut lo = None;
    for one in seen.iter_mut().filter(|one| one.commanded) {
        let own = one.moment.bounds().0;
        if let Some(lo) = lo.max(own) {
            one.moment.not_before(lo);
        }
        lo = lo.max(own);
    }
    let mut hi: Option<Nanos> = None;
    for one in seen.iter_mut().rev().filter(|one| one.commanded) {
        let own = one.moment.bounds().1;
        let least = hi.into_iter().chain(own).min();
        if let Some(hi) = least {
            one.moment.before(hi);
        }
        hi = least;
    }
}

/// What was printed below a `date` and is bounded by nothing else was printed soon after what is
/// known of the session's time.
pub(super) fn below_date(seen: &mut [CaptureContents]) {
    let dated = seen.iter().position(|one| one.is_date);
    for one in seen.iter_mut().skip(dated.unwrap_or(usize::MAX)) {
        if let (Some(lo), None) = one.moment.bounds() {
            one.moment.before(lo.saturating_add(SESSION));
        }
    }
}
