//! A container's memory against its limit, shortly before it ended: the witness
//! for or against who says that it was killed for want of memory.

use std::collections::BTreeMap;

use super::super::names::label;
use super::super::wire::{Sample, Series, grouped};
use super::change::{interval, merged};
use super::{ContainerKey, Emitter, FactSubject, bytes, of, percent, raw};
use crate::event::Event;
use crate::time::{Nanos, SECOND, Stamp};

const USED: &str = "container_memory_working_set_bytes";
/// The high-water mark; with the page cache in it, so it proves only that there was room.
const MOST: &str = "container_memory_max_usage_bytes";
const LIMITS: [&str; 3] = [
    "kube_pod_container_resource_limits",
    "kube_pod_container_resource_limits_memory_bytes",
    "container_spec_memory_limit_bytes",
];

/// What pods that died are asked for.
pub(super) const METRICS: [&str; 5] = [USED, MOST, LIMITS[0], LIMITS[1], LIMITS[2]];

/// How long before an end the memory is looked at.
const BEFORE: Nanos = 600 * SECOND;

/// An end is told somewhat late.
const AFTER: Nanos = 15 * SECOND;

/// From this share of the limit on, in percent, the limit is near.
const NEAR: i64 = 90;

/// Up to this share it is far, if it was so until shortly before the end.
const FAR: i64 = 50;

/// Samples that a record holds, the latest: ten minutes at a scrape each ten seconds.
const SHOWN: usize = 60;

/// Containers can take many gigabytes between two samples: one older than this
/// says nothing against anybody.
const FRESH: Nanos = 90 * SECOND;

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let key = |one: &Series| emitter.container_key(one);
    let memory = of(series, &LIMITS)
        .filter(|one| label(&one.labels, "resource").is_none_or(|resource| resource == "memory"));
    let limits: BTreeMap<ContainerKey, f64> = grouped(memory, key)
        .into_iter()
        .filter_map(|(key, own)| Some((key?, limit(&own)?)))
        .collect();
    let mut marks = grouped(of(series, &[MOST]), key);
    for (key, own) in grouped(of(series, &[USED]), key) {
        let Some(key) = key else { continue };
        let Some(limit) = limits.get(&key).copied() else {
            continue;
        };
        let mark = marks.remove(&Some(key.clone())).map(|own| merged(&own));
        let whose = emitter.container(key.each_ref().map(String::as_str));
        if emitter.moments.unknown {
            // Each process' life is a series of its own; its end is what may be asked about.
            for one in &own {
                let end = one.samples.last().map(|sample| sample.at);
                let Some(end) = end else { continue };
                out.extend(fact(emitter, whose, one, (limit, &mark, end)));
            }
            continue;
        }
        let [_, pod, _] = &key;
        for moment in emitter
            .moments
            .of_pod(whose.namespace, pod)
            .into_iter()
            .flatten()
        {
            // Of a container that was started again, the one that was there then.
            let near = |one: &&&Series| !before(&one.samples, *moment).is_empty();
            let then = own.iter().filter(near).max_by_key(|one| {
                let samples = before(&one.samples, *moment);
                // The first to end of two is the one that ended then.
                let first = samples.first().map(|sample| -sample.at);
                (samples.last().map(|sample| sample.at), first)
            });
            if let Some(one) = then {
                out.extend(fact(emitter, whose, one, (limit, &mark, *moment)));
            }
        }
    }
}

/// The limit: what kube-state-metrics says goes before what cAdvisor says, whose 0 is none.
fn limit(own: &[&Series]) -> Option<f64> {
    LIMITS.iter().find_map(|name| {
        let named = own
            .iter()
            .filter(|one| label(&one.labels, "__name__") == Some(name));
        let all: Vec<&Series> = named.copied().collect();
        let last = merged(&all).last().map(|one| one.value);
        // Without a limit cAdvisor tells none, or more than any machine has.
        last.filter(|limit| (1.0..1e15).contains(limit))
    })
}

/// The samples that tell of an end.
fn before(samples: &[Sample], moment: Nanos) -> Vec<Sample> {
    let near = |one: &&Sample| (moment - BEFORE..=moment + AFTER).contains(&one.at);
    samples.iter().filter(near).copied().collect()
}

fn fact(
    emitter: &Emitter<'_>,
    whose: FactSubject<'_>,
    one: &Series,
    (limit, mark, moment): (f64, &Option<Vec<Sample>>, Nanos),
) -> Option<Event> {
    let samples = before(&one.samples, moment);
    let last = *samples.last()?;
    let peak = samples.iter().map(|one| one.value).fold(0.0, f64::max);
    let share = percent(peak, limit);
    let fresh = moment.saturating_sub(last.at) <= FRESH.max(2 * interval(&one.samples).min(FRESH));
    let marks = mark.as_ref().map(|all| before(all, moment));
    let highest = marks.and_then(|all| all.iter().map(|one| one.value).reduce(f64::max));
    let room = highest.is_none_or(|highest| percent(highest, limit) <= FAR);
    let level = match share {
        NEAR.. => "near",
        ..=FAR if fresh && room && samples.len() > 1 => "far",
        _ => "between",
    };
    let time = Stamp {
        lo: last.at,
        hi: last.at + super::SCRAPE,
    };
    let mut event = emitter.fact("metric.container.memory", &[], time, whose);
    event.set_attribute("level", Some(level));
    event.set_attribute("percent", Some(share.to_string()));
    event.set_attribute("limit_bytes", Some(limit.to_string()));
    event.set_attribute("peak_bytes", Some(peak.to_string()));
    event.message = Some(format!(
        "used at most {} of {} ({share} %) in the minutes before",
        bytes(peak),
        bytes(limit)
    ));
    // All of them, so that the record shows how it came to that.
    let shown = samples.len().saturating_sub(SHOWN);
    event.raw = raw(&one.labels, samples.get(shown..).unwrap_or_default());
    Some(event)
}
