//! The node exporter's metrics of machines, and whether scrapes succeeded.

use super::super::names::label;
use super::super::wire::{Sample, Series, grouped};
use super::change::{between, merged, rises};
use super::{Emitter, FactSubject, bytes, of, percent, raw};
use crate::event::Event;
use crate::time::{Nanos, SECOND, Stamp};

/// The kernel's boot time wanders by a second or two with the clock.
const WANDERS: Nanos = 60 * SECOND;

/// How long before a death a machine's memory is looked at.
const BEFORE: Nanos = 300 * SECOND;

/// A death is told somewhat late.
const AFTER: Nanos = 15 * SECOND;

/// Less than this share of a file system is full, in percent.
const FULL: i64 = 1;

/// Less of the memory than this is none, in percent.
const EXHAUSTED: i64 = 3;

/// More of the memory than this is plenty.
const PLENTY: i64 = 20;

const BOOT: &str = "node_boot_time_seconds";
pub(super) const AVAILABLE: &str = "node_memory_MemAvailable_bytes";
pub(super) const TOTAL: &str = "node_memory_MemTotal_bytes";
const ROOM: &str = "node_filesystem_avail_bytes";
const SIZE: &str = "node_filesystem_size_bytes";

/// Counters: the metric, the name here, what rose.
const COUNTERS: [(&str, &str, &str); 6] = [
    (
        "node_vmstat_oom_kill",
        "oom_kill",
        "processes killed by the kernel because memory ran out",
    ),
    (
        "node_infiniband_link_downed_total",
        "link_downed",
        "times that the link went down",
    ),
    (
        "node_infiniband_link_error_recovery_total",
        "link_recovered",
        "times that the link recovered from errors",
    ),
    (
        "node_network_carrier_changes_total",
        "carrier_changes",
        "times that the link went up or down",
    ),
    (
        "node_network_receive_errs_total",
        "receive_errors",
        "errors while receiving",
    ),
    (
        "node_network_transmit_errs_total",
        "transmit_errors",
        "errors while sending",
    ),
];

/// What every machine is asked for.
pub(super) const LIGHT: [&str; 6] = [
    "up",
    BOOT,
    AVAILABLE,
    TOTAL,
    "node_vmstat_oom_kill",
    "node_infiniband_link_downed_total",
];

/// The rest.
pub(super) const DETAIL: [&str; 6] = [
    ROOM,
    SIZE,
    "node_infiniband_link_error_recovery_total",
    "node_network_carrier_changes_total",
    "node_network_receive_errs_total",
    "node_network_transmit_errs_total",
];

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    boots(emitter, series, out);
    counters(emitter, series, out);
    memory(emitter, series, out);
    filesystems(emitter, series, out);
    targets(emitter, series, out);
}

fn boots(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let machines = grouped(of(series, &[BOOT]), |one| emitter.names.node(&one.labels));
    for (node, own) in machines {
        let Some(node) = node else { continue };
        for two in merged(&own).windows(2) {
            let (before, after) = (two[0], two[1]);
            let (Some(was), Some(is)) = (nanos(before.value), nanos(after.value)) else {
                continue;
            };
            // A clock that is set moves the boot time, too, but not past a scrape of this boot.
            if is.saturating_sub(was) <= WANDERS || is < before.at.saturating_sub(WANDERS) {
                continue;
            }
            let time = Stamp {
                lo: is.saturating_sub(2 * SECOND),
                hi: is.saturating_add(3 * SECOND),
            };
            let mut event = emitter.fact("metric.node.boot", &[], time, FactSubject::node(&node));
            event.message = Some(format!(
                "the kernel of {node} started at {}",
                crate::time::rfc3339(is.div_euclid(SECOND) * SECOND)
            ));
            event.raw = raw(&own[0].labels, &[before, after]);
            out.push(event);
        }
    }
}

fn counters(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    for (name, counter, words) in COUNTERS {
        let own = [name];
        let devices = grouped(of(series, &own), |one| {
            let device = label(&one.labels, "device").unwrap_or_default();
            let port = label(&one.labels, "port").unwrap_or_default();
            (emitter.names.node(&one.labels), device, port)
        });
        for ((node, device, port), own) in devices {
            let Some(node) = node else { continue };
            for rise in rises(&merged(&own)) {
                let what = [device, port, counter];
                let mut event = emitter.fact(
                    "metric.node.counter",
                    &what,
                    rise.time,
                    FactSubject::node(&node),
                );
                event.end = Some(Stamp::exact(rise.last));
                event.set_attribute("counter", Some(counter));
                event.set_attribute("device", Some(device).filter(|name| !name.is_empty()));
                event.set_attribute("rise", Some(rise.by.to_string()));
                let whose = if device.is_empty() { &node } else { device };
                event.message = Some(format!("{whose}: {words} rose by {}", rise.by));
                event.raw = raw(&own[0].labels, &rise.samples);
                out.push(event);
            }
        }
    }
}

/// How much memory a machine had left when something on it died.
fn memory(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let machines = grouped(of(series, &[AVAILABLE]), |one| {
        emitter.names.node(&one.labels)
    });
    let mut totals = grouped(of(series, &[TOTAL]), |one| emitter.names.node(&one.labels));
    for (node, own) in machines {
        let total = totals.remove(&node).map(|own| merged(&own));
        let total = total.and_then(|all| all.last().map(|one| one.value));
        let (Some(node), Some(total)) = (node, total.filter(|total| *total > 0.0)) else {
            continue;
        };
        let all = merged(&own);
        let known = emitter.moments.nodes.get(&node).cloned();
        let end = all
            .last()
            .map(|one| one.at)
            .filter(|_| emitter.moments.unknown);
        for moment in known.unwrap_or_else(|| end.into_iter().collect()) {
            let near = |one: &&Sample| (moment - BEFORE..=moment + AFTER).contains(&one.at);
            let least = all
                .iter()
                .filter(near)
                .min_by(|a, b| a.value.total_cmp(&b.value));
            let Some(least) = least else { continue };
            let share = percent(least.value, total);
            let level = match share {
                ..=EXHAUSTED => "exhausted",
                PLENTY.. => "plenty",
                _ => "some",
            };
            let time = Stamp {
                lo: least.at,
                hi: least.at + super::SCRAPE,
            };
            let mut event = emitter.fact("metric.node.memory", &[], time, FactSubject::node(&node));
            event.set_attribute("left", Some(level));
            event.set_attribute("percent", Some(share.to_string()));
            event.message = Some(format!(
                "{} of the machine's {} were left ({share} %)",
                bytes(least.value),
                bytes(total)
            ));
            event.raw = raw(&own[0].labels, &[*least]);
            out.push(event);
        }
    }
}

fn filesystems(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let key = |one: &Series| {
        let at = label(&one.labels, "mountpoint").unwrap_or_default();
        (emitter.names.node(&one.labels), at.to_owned())
    };
    let mut sizes = grouped(of(series, &[SIZE]), key);
    for ((node, at), own) in grouped(of(series, &[ROOM]), key) {
        let size = sizes
            .remove(&(node.clone(), at.clone()))
            .map(|own| merged(&own));
        let size = size.and_then(|all| all.last().map(|one| one.value));
        let (Some(node), Some(size)) = (node, size.filter(|size| *size > 0.0)) else {
            continue;
        };
        let all = merged(&own);
        let full = |one: &Sample| percent(one.value, size) < FULL;
        let Some(first) = all.iter().position(full) else {
            continue;
        };
        let began = match first.checked_sub(1) {
            Some(before) => all[before].at,
            None => all[first].at,
        };
        let mut event = emitter.fact(
            "metric.node.filesystem",
            &[&at],
            between(began, all[first].at),
            FactSubject::node(&node),
        );
        let last = all.iter().rev().find(|one| full(one));
        event.end = last.map(|one| Stamp::exact(one.at));
        event.set_attribute("mountpoint", Some(at.clone()));
        event.message = Some(format!(
            "{at} had {} of {} left",
            bytes(all[first].value),
            bytes(size)
        ));
        event.raw = raw(&own[0].labels, &[all[first]]);
        out.push(event);
    }
}

/// Scrapes that failed after one that did not.
fn targets(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    for one in of(series, &["up"]) {
        let Some(node) = emitter.names.node(&one.labels) else {
            continue;
        };
        let Some(at) = one
            .samples
            .windows(2)
            .position(|two| two[0].value > 0.0 && two[1].value == 0.0)
        else {
            continue;
        };
        let (before, after) = (one.samples[at], one.samples[at + 1]);
        let job = label(&one.labels, "job").unwrap_or_default();
        let time = between(before.at, after.at);
        let mut event = emitter.fact("metric.target.down", &[job], time, FactSubject::node(&node));
        let rest = one.samples[at + 1..].iter();
        let last = rest.take_while(|sample| sample.value == 0.0).last();
        event.end = last.map(|sample| Stamp::exact(sample.at));
        event.set_attribute("job", Some(job));
        event.message = Some(format!("the scrape of {job} on {node} failed"));
        event.raw = raw(&one.labels, &[before, after]);
        out.push(event);
    }
}

/// Seconds since 1970 as a float, to the millisecond.
#[expect(clippy::cast_possible_truncation, reason = "the bounds are looked at")]
fn nanos(seconds: f64) -> Option<Nanos> {
    (0.0..9e9)
        .contains(&seconds)
        .then(|| (seconds * 1e3).round() as Nanos * 1_000_000)
}
