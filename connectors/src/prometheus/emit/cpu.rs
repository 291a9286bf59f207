//! Too little processor time: containers that were held back at their limit, and machines whose
//! tasks waited for a processor.

use super::super::names::label;
use super::super::wire::{Sample, Series, grouped};
use super::change::merged;
use super::{Emitter, FactSubject, SCRAPE, of, raw};
use crate::event::Event;
use crate::time::{Nanos, SECOND, Stamp};

/// Periods of the scheduler, by cAdvisor: all, and those in which the container was held back.
const PERIODS: &str = "container_cpu_cfs_periods_total";
const THROTTLED: &str = "container_cpu_cfs_throttled_periods_total";
/// Seconds in which some task waited for a processor (pressure stall information), by node-exporter.
const WAITING: &str = "node_pressure_cpu_waiting_seconds_total";

pub(super) const OF_PODS: [&str; 2] = [PERIODS, THROTTLED];
pub(super) const OF_NODES: [&str; 1] = [WAITING];

/// The part of the time, in percent, from which on there was too little.
const TOO_MUCH: i64 = 50;

/// The least time that it lasts: starting a program takes all processors for a while.
const LASTS: Nanos = 300 * SECOND;

/// Time in which there was too little all along, and how much.
struct Shortage {
    first: Sample,
    last: Sample,
    percent: i64,
}

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    containers(emitter, series, out);
    for one in of(series, &[WAITING]) {
        let Some(node) = emitter.names.node(&one.labels) else {
            continue;
        };
        let seconds = |two: &[Sample; 2]| (two[1].at - two[0].at) as f64 / SECOND as f64;
        let share = |two: &[Sample; 2]| super::percent(two[1].value - two[0].value, seconds(two));
        for found in shortages(&one.samples, share) {
            let text = "tasks waited for a processor";
            let of = FactSubject::node(&node);
            out.push(fact(emitter, "metric.node.cpu", text, of, one, &found));
        }
    }
}

fn containers(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    for (key, own) in grouped(of(series, &OF_PODS), |one| emitter.container_key(one)) {
        let Some(key) = key else { continue };
        let (periods, throttled): (Vec<&Series>, Vec<&Series>) = own
            .iter()
            .partition(|one| label(&one.labels, "__name__") == Some(PERIODS));
        let Some(shown) = throttled.first().copied() else {
            continue;
        };
        let periods = merged(&periods);
        let share = |two: &[Sample; 2]| {
            let all = at(&periods, two[1].at).zip(at(&periods, two[0].at));
            let all = all.map_or(0.0, |(after, before)| after - before);
            if all < 1.0 {
                return 0;
            }
            super::percent(two[1].value - two[0].value, all)
        };
        let whose = emitter.container(key.each_ref().map(String::as_str));
        for found in shortages(&merged(&throttled), share) {
            let text = "the container was held back at its CPU limit";
            out.push(fact(
                emitter,
                "metric.container.cpu",
                text,
                whose,
                shown,
                &found,
            ));
        }
    }
}

/// The value of a counter that is scraped together with another.
fn at(samples: &[Sample], time: Nanos) -> Option<f64> {
    let found = samples.iter().find(|sample| sample.at == time);
    found.map(|sample| sample.value)
}

/// Stretches in which the share was too high from each sample to the next.
fn shortages(samples: &[Sample], share: impl Fn(&[Sample; 2]) -> i64) -> Vec<Shortage> {
    let mut found: Vec<Shortage> = Vec::new();
    let mut open = false;
    for two in samples.windows(2) {
        let [first, last] = [two[0], two[1]];
        // A counter that began anew says nothing of the time between.
        let percent = if last.at > first.at && last.value >= first.value {
            share(&[first, last])
        } else {
            0
        };
        let short = percent >= TOO_MUCH;
        match found.last_mut().filter(|_| open && short) {
            Some(of_before) => {
                of_before.last = last;
                of_before.percent = of_before.percent.min(percent);
            }
            None if short => found.push(Shortage {
                first,
                last,
                percent,
            }),
            None => {}
        }
        open = short;
    }
    found.retain(|one| one.last.at - one.first.at >= LASTS);
    found
}

fn fact(
    emitter: &Emitter<'_>,
    name: &str,
    what: &str,
    whose: FactSubject<'_>,
    one: &Series,
    found: &Shortage,
) -> Event {
    let begin = Stamp {
        lo: found.first.at,
        hi: found.first.at + SCRAPE,
    };
    let percent = found.percent.min(100);
    let minutes = (found.last.at - found.first.at) / (60 * SECOND);
    let mut event = emitter.fact(name, &[], begin, whose);
    event.end = Some(Stamp::exact(found.last.at));
    event.set_attribute("percent", Some(percent.to_string()));
    event.message = Some(format!(
        "{what} at least {percent} % of the time, for {minutes} min"
    ));
    event.raw = raw(&one.labels, &[found.first, found.last]);
    event
}
