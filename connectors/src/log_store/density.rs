//! How much was said, minute by minute: silence is evidence, too.

use serde_json::Value;

use super::contract::{Counts, LineSubject, LogStore, Minute, Span};
use crate::connector::FetchRequest;
use crate::event::{Entities, Event, EventId};
use crate::observation::Observation;
use crate::time::{Nanos, SECOND, Stamp};

/// Minutes that one fact tells of: what is complete is told once, and no later
/// fetch tells it otherwise.
const STRETCH: Nanos = 600 * SECOND;
const MINUTE: Nanos = 60 * SECOND;

/// A silence shorter than this is no news: evaluation and checkpoints take a while.
const SILENCE: Nanos = 600 * SECOND;

/// The facts of a group's counts: `log.lines_per_minute`, ten minutes each,
/// with `count` lines in all and the attribute `minutes`, a list of ten numbers.
/// Nothing is told of groups that no workload is known of, and of what may still
/// grow. A silence at the end, while the pods were there, is `log.silent` from the
/// last line's minute on.
pub(super) fn facts(
    store: &dyn LogStore,
    (about, span): (&LineSubject, Span),
    counts: &Counts,
    fetch_request: &FetchRequest,
) -> Vec<Observation> {
    let (LineSubject::Pods(pods), Some((kind, workload))) =
        (about, fetch_request.scope.workloads.first())
    else {
        return Vec::new();
    };
    if !counts.partial.is_empty() {
        return Vec::new();
    }
    let complete = fetch_request.now.saturating_sub(store.limits().lag);
    let names: Vec<&str> = pods.iter().map(|pod| pod.name.as_str()).collect();
    let names = names.join(",");
    let emit = |fact: &str, time: Stamp| {
        let id = EventId::of(&[fact, store.place(), &names, &time.lo.to_string()]);
        let mut event = Event::new(id, fact, time, store.source_kind());
        event.object_kind = Some(kind.clone());
        event.object_uid.clone_from(&workload.uid);
        event.entities = Entities {
            namespace: workload.namespace.clone(),
            workload_kind: Some(kind.clone()),
            workload: Some(workload.name.clone()),
            ..Entities::default()
        };
        event.observed = Some(fetch_request.now);
        event.set_attribute("pods", Some(pods.len()));
        event.origin.file = store.place().into();
        event
    };
    let mut out = Vec::new();
    if let Some(last) = counts.minutes.last() {
        let from = last.at + MINUTE;
        let to = span.to.min(complete);
        if to.saturating_sub(from) >= SILENCE {
            let mut event = emit(
                "log.silent",
                Stamp {
                    lo: last.at,
                    hi: from,
                },
            );
            event.end = Some(Stamp::exact(to));
            out.push(Observation::Event(Box::new(event)));
        }
    }
    for stretch in counts
        .minutes
        .chunk_by(|a, b| a.at.div_euclid(STRETCH) == b.at.div_euclid(STRETCH))
    {
        let Some(from) = stretch.first().map(|minute| start(minute.at)) else {
            continue;
        };
        let to = from + STRETCH;
        if to > complete {
            continue;
        }
        let minutes: Vec<Value> = (0..STRETCH / MINUTE)
            .map(|number| lines(stretch, from + number * MINUTE).into())
            .collect();
        let mut event = emit("log.lines_per_minute", Stamp { lo: from, hi: to });
        event.count = Some(stretch.iter().map(|minute| minute.lines).sum());
        event.set_attribute("minutes", Some(Value::Array(minutes)));
        out.push(Observation::Event(Box::new(event)));
    }
    out
}

fn start(at: Nanos) -> Nanos {
    at.div_euclid(STRETCH) * STRETCH
}

fn lines(stretch: &[Minute], at: Nanos) -> u64 {
    stretch
        .iter()
        .filter(|minute| (at..at + MINUTE).contains(&minute.at))
        .map(|minute| minute.lines)
        .sum()
}
