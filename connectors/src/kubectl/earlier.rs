//! Events of pods that bore a name before: a table names pods and does not tell their uids, but a `describe` prints the Events of
//! the one pod that it shows, and all of them.

use std::collections::HashMap;

use super::age::Age;
use super::anchor;
use super::capture_time::{CaptureTime, SKEW};
use super::describe::{self, Described};
use super::event::{self, EventObject, PrintedEvent};
use super::paste;
use super::session::{self, PieceKind};
use crate::time::{Nanos, SECOND, Stamp};

/// Kubernetes keeps Events for an hour: what is nearly as old may be gone from the one print and not from the other.
const RETENTION: Nanos = 3_000 * SECOND;

/// What only the kubelet that has a pod tells of it.
const BY_KUBELET: [&str; 4] = ["BackOff", "Created", "Killing", "Started"];

/// A pod that was described, with the Events that were printed below it.
#[derive(Clone, Debug)]
pub(crate) struct DescribedPod {
    pub(crate) namespace: String,
    pub(crate) name: String,
    /// When its kubelet took it.
    started: Option<Stamp>,
    /// When it was described.
    moment: CaptureTime,
    events: Vec<PrintedEvent>,
}

impl DescribedPod {
    /// A description of a pod, of which the Events were placed in time.
    pub(super) fn of(one: &Described<'_>, moment: CaptureTime, events: &[PrintedEvent]) -> Self {
        let started = one.json.pointer("/status/startTime");
        Self {
            namespace: one.namespace.clone(),
            name: one.name.clone(),
            started: started.and_then(|at| Stamp::parse(at.as_str()?)),
            moment,
            events: events.to_vec(),
        }
    }

    /// Its Events, where it is known when it was described.
    pub(super) fn timed(&self) -> impl Iterator<Item = &PrintedEvent> {
        let known = self.moment.stamp().is_some();
        self.events.iter().filter(move |_| known)
    }

    fn has_name_of(&self, event: &PrintedEvent) -> bool {
        let about = &event.about;
        let same_space = about.namespace == self.namespace
            || about.namespace.is_empty()
            || self.namespace.is_empty();
        about.kind == "Pod" && about.name == self.name && same_space
    }

    fn shows(&self, event: &PrintedEvent) -> bool {
        let same = |own: &&PrintedEvent| own.reason == event.reason && own.message == event.message;
        self.events
            .iter()
            .filter(same)
            .any(|own| own.time == Stamp::OPEN || own.same_time(event))
    }

    /// Whether an Event that it does not show is of the pod before it: what is told of a pod later is of it, or of the one after.
    fn came_after(&self, event: &PrintedEvent) -> bool {
        let (Some(moment), false) = (self.moment.stamp(), event.last == Stamp::OPEN) else {
            return false;
        };
        let unlisted = !self.events.is_empty()
            && event.last.hi <= moment.lo
            && event.last.lo.saturating_add(RETENTION) > moment.hi;
        let before_it = BY_KUBELET.contains(&event.reason.as_str())
            && self
                .started
                .is_some_and(|started| event.last.hi <= started.lo.saturating_sub(SKEW));
        unlisted || before_it
    }
}

/// Marks what a table tells of pods that others were described in the place of.
pub(super) fn mark(events: &mut [PrintedEvent], described: &[DescribedPod]) {
    for event in events.iter_mut().filter(|event| !event.below_object) {
        let named = || described.iter().filter(|pod| pod.has_name_of(event));
        let is_earlier =
            !named().any(|pod| pod.shows(event)) && named().any(|pod| pod.came_after(event));
        event.of_earlier |= is_earlier;
    }
}

/// What is told of a pod only once it has its node.
const ON_NODE: [&str; 8] = [
    "BackOff",
    "Created",
    "Killing",
    "Pulled",
    "Pulling",
    "Scheduled",
    "Started",
    "Unhealthy",
];

/// Marks what one table tells of a pod that bore a name before, where it tells of two that got their nodes under that name: whatever is
/// told of a pod on its node is told after that. How old the rows of a table are is of one moment, whenever that was; but components
/// round the times of what they tell in different ways.
pub(super) fn in_table(events: &mut [PrintedEvent]) {
    const ROUNDED: Nanos = 2 * SECOND;
    let mut scheduled: HashMap<EventObject, Vec<Age>> = HashMap::new();
    for event in events.iter().filter(|event| !event.below_object) {
        if event.about.kind == "Pod"
            && event.reason == "Scheduled"
            && let Some(age) = event.span.last
        {
            scheduled.entry(event.about.clone()).or_default().push(age);
        }
    }
    for event in events.iter_mut().filter(|event| !event.below_object) {
        let Some((ages, own)) = scheduled.get(&event.about).zip(event.span.last) else {
            continue;
        };
        let Some(last) = ages.iter().map(|age| age.hi).min() else {
            continue;
        };
        let before = |age: &Age| age.lo >= last.saturating_add(ROUNDED);
        // The one before has ended by the time at which the next one gets its node.
        let is_older = before(&own) || event.reason == "Killing" && own.lo >= last;
        event.of_earlier |=
            ages.iter().any(before) && is_older && ON_NODE.contains(&event.reason.as_str());
    }
}

/// The pods that a text describes, in its order, at most `most`.
pub(crate) fn described_pods(text: &str, most: usize) -> Vec<DescribedPod> {
    let lines = paste::lines(text);
    let mut found = Vec::new();
    for capture in session::split(&lines) {
        if capture.shape != PieceKind::Describe {
            continue;
        }
        let requested = capture
            .command
            .as_ref()
            .and_then(|command| command.kind.as_deref());
        let one = describe::read(&capture.lines, requested);
        if let Some(one) = one.filter(|one| one.kind == "Pod") {
            let about = EventObject {
                kind: one.kind.clone(),
                namespace: one.namespace.clone(),
                name: one.name.clone(),
            };
            let mut events = Vec::new();
            if let Some((heading, rows)) = describe::event_rows(&one.events) {
                let count = &mut |_, _| ();
                event::rows(&heading, rows, Some(&about), &mut events, count);
            }
            let mut moment = CaptureTime::default();
            anchor::of_describe(&one, &events, &mut moment);
            for event in &mut events {
                event.place(&moment);
            }
            found.push(DescribedPod::of(&one, moment, &events));
        }
        if found.len() >= most {
            break;
        }
    }
    found
}
