//! How much was said, minute by minute: silence is evidence, too.

use serde_json::Value;

use super::contract::{About, Counts, LogStore, Minute};
use crate::connector::Ask;
use crate::event::{Entities, Event, EventId};
use crate::observation::Observation;
use crate::time::{Nanos, SECOND, Stamp};

/// Minutes that one fact tells of: what is complete is told once, and no later
/// fetch tells it otherwise.
const STRETCH: Nanos = 600 * SECOND;
const MINUTE: Nanos = 60 * SECOND;

/// The facts of a group's counts: `log.lines_per_minute`, ten minutes each,
/// with `count` lines in all and the attribute `minutes`, a list of ten numbers.
/// Nothing is told of groups that no workload is known of, and of what may still
/// grow.
pub(super) fn facts(
    store: &dyn LogStore,
    about: &About,
    counts: &Counts,
    ask: &Ask,
) -> Vec<Observation> {
    let (About::Pods(pods), Some((kind, workload))) = (about, ask.scope.workloads.first()) else {
        return Vec::new();
    };
    if !counts.partial.is_empty() {
        return Vec::new();
    }
    let complete = ask.now.saturating_sub(store.limits().lag);
    let names: Vec<&str> = pods.iter().map(|pod| pod.name.as_str()).collect();
    let names = names.join(",");
    let mut out = Vec::new();
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
        let id = EventId::of(&[
            "log.lines_per_minute",
            store.place(),
            &names,
            &from.to_string(),
        ]);
        let time = Stamp { lo: from, hi: to };
        let mut event = Event::new(id, "log.lines_per_minute", time, store.source_kind());
        event.count = Some(stretch.iter().map(|minute| minute.lines).sum());
        event.object_kind = Some(kind.clone());
        event.object_uid.clone_from(&workload.uid);
        event.entities = Entities {
            namespace: workload.namespace.clone(),
            workload_kind: Some(kind.clone()),
            workload: Some(workload.name.clone()),
            ..Entities::default()
        };
        event.observed = Some(ask.now);
        event.set_attribute("minutes", Some(Value::Array(minutes)));
        event.set_attribute("pods", Some(pods.len()));
        event.origin.file = store.place().into();
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
