//! What is apart on one machine: a clock, a link or a storage that became slower than it was, and than that of the other
//! machines is.
//!
//! A fall that all machines show is of the load. One that began before anybody looked can only be told from several others
//! that are alike.

use std::collections::BTreeMap;

use super::super::names::label;
use super::super::wire::{Sample, Series, grouped};
use super::change::{between, merged};
use super::{Emitter, FactSubject, metric, raw};
use crate::event::Event;
use crate::time::{Nanos, Stamp};

const SM_CLOCK: &str = "DCGM_FI_DEV_SM_CLOCK";
const BUSY: &str = "DCGM_FI_DEV_GPU_UTIL";

/// Below this an idle GPU lowers its clock by itself, in percent.
const IDLE: f64 = 50.0;

/// What is measured: the metric, the name here, its words, its unit, by what it is divided to be in that unit, and the part of the
/// others' value below which it is apart.
const LEVELS: [Level; 5] = [
    Level::new(SM_CLOCK, "sm_clock", "clock", "MHz", 1.0, 0.8),
    Level::new(
        "DCGM_FI_DEV_PCIE_LINK_WIDTH",
        "link_width",
        "PCIe link",
        "lanes",
        1.0,
        0.9,
    ),
    Level::new(
        "node_pcidevice_current_link_width",
        "link_width",
        "PCIe link",
        "lanes",
        1.0,
        0.9,
    ),
    Level::new(
        "node_pcidevice_current_link_transfers_per_second",
        "link_speed",
        "PCIe link",
        "GT/s",
        1e9,
        0.9,
    ),
    Level::new(
        "node_infiniband_rate_bytes_per_second",
        "link_rate",
        "network link",
        "Gbit/s",
        125e6,
        0.9,
    ),
];

/// What a request to a storage takes: the metric of the time, that of the requests, and what it is.
const LATENCIES: [(&str, &str, &str); 3] = [
    (
        "node_disk_read_time_seconds_total",
        "node_disk_reads_completed_total",
        "reading from the disk",
    ),
    (
        "node_disk_write_time_seconds_total",
        "node_disk_writes_completed_total",
        "writing to the disk",
    ),
    (
        "node_mountstats_nfs_operations_response_time_seconds_total",
        "node_mountstats_nfs_operations_requests_total",
        "a request to the network file system",
    ),
];

/// A request that takes less than this, in seconds, slows nothing down.
const QUICK: f64 = 0.05;

/// So many times as long as before is apart.
const LONGER: f64 = 4.0;

/// What the machines are asked for beside it where something is slow.
pub(super) const METRICS: [&str; 11] = [
    SM_CLOCK,
    "DCGM_FI_DEV_PCIE_LINK_WIDTH",
    "node_pcidevice_current_link_width",
    "node_pcidevice_current_link_transfers_per_second",
    "node_infiniband_rate_bytes_per_second",
    "node_disk_read_time_seconds_total",
    "node_disk_reads_completed_total",
    "node_disk_write_time_seconds_total",
    "node_disk_writes_completed_total",
    "node_mountstats_nfs_operations_response_time_seconds_total",
    "node_mountstats_nfs_operations_requests_total",
];

/// It lasts for so many samples at least, and was otherwise for as many where it began.
const SAMPLES: usize = 4;

/// Others that have to be alike where a value is compared with theirs alone.
const PEERS: usize = 2;

/// Something of which more is better.
#[derive(Clone, Copy, Debug)]
struct Level {
    metric: &'static str,
    what: &'static str,
    words: &'static str,
    unit: &'static str,
    scale: f64,
    /// The part of the usual value below which it is apart.
    part: f64,
}

impl Level {
    const fn new(
        metric: &'static str,
        what: &'static str,
        words: &'static str,
        unit: &'static str,
        scale: f64,
        part: f64,
    ) -> Self {
        Self {
            metric,
            what,
            words,
            unit,
            scale,
            part,
        }
    }
}

/// A device of a machine.
type Device = (String, String);

/// A stretch in which a value was below what it should be, to the end of the series.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Fall {
    /// The last sample before, where there is one.
    before: Option<Sample>,
    first: Sample,
    last: Sample,
    /// What it should be.
    usual: f64,
}

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    for level in LEVELS {
        levels(emitter, series, level, out);
    }
    for (time, requests, words) in LATENCIES {
        latencies(emitter, series, (time, requests, words), out);
    }
}

fn devices<'s>(
    emitter: &Emitter<'_>,
    series: &'s [Series],
    name: &'static str,
) -> BTreeMap<Device, Vec<&'s Series>> {
    let keys = [
        "gpu",
        "device",
        "UUID",
        "bus",
        "slot",
        "port",
        "export",
        "operation",
    ];
    let groups = grouped(
        series.iter().filter(|one| metric(&one.labels) == name),
        |one| {
            let id = keys.iter().filter_map(|key| label(&one.labels, key));
            let id: Vec<&str> = id.collect();
            Some((emitter.names.node(&one.labels)?, id.join(" ")))
        },
    );
    let known = groups.into_iter();
    known
        .filter_map(|(device, own)| Some((device?, own)))
        .collect()
}

fn levels(emitter: &Emitter<'_>, series: &[Series], level: Level, out: &mut Vec<Event>) {
    let all: BTreeMap<Device, (Vec<Sample>, &Series)> = devices(emitter, series, level.metric)
        .into_iter()
        .filter_map(|(device, own)| Some((device, (merged(&own), *own.first()?))))
        .collect();
    let busy = (level.metric == SM_CLOCK).then(|| devices(emitter, series, BUSY));
    for ((node, id), (own, one)) in &all {
        // The same device of other machines: cards differ, and slots do.
        let peers: Vec<&[Sample]> = all
            .iter()
            .filter(|((other, other_id), _)| other != node && other_id == id)
            .map(|(_, (samples, _))| samples.as_slice())
            .collect();
        let Some(fall) = fall(own, &peers, level.part) else {
            continue;
        };
        let idle = busy
            .as_ref()
            .and_then(|busy| busy.get(&(node.clone(), id.clone())));
        if idle.is_some_and(|own| is_idle(&merged(own), &fall)) {
            continue;
        }
        let place = FactSubject::node(node);
        let mut event = emitter.fact(
            "metric.machine.apart",
            &[id, level.what],
            since(&fall),
            place,
        );
        let (now, usual) = (fall.last.value / level.scale, fall.usual / level.scale);
        let (words, unit) = (level.words, level.unit);
        let whose = match (label(&one.labels, "gpu"), label(&one.labels, "device")) {
            (Some(gpu), _) => format!("the {words} of GPU {gpu}"),
            (None, Some(device)) => format!("the {words} of {device}"),
            (None, None) => format!("a {words}"),
        };
        let than = if fall.before.is_some() {
            "before"
        } else {
            "on the other machines"
        };
        event.message = Some(format!(
            "{whose} has {} {unit} and not {} as {than}",
            plain(now),
            plain(usual)
        ));
        event.gpu = label(&one.labels, "gpu").and_then(|gpu| gpu.parse().ok());
        event.end = Some(Stamp::exact(fall.last.at));
        event.set_attribute("what", Some(level.what));
        let samples: Vec<Sample> = fall
            .before
            .into_iter()
            .chain([fall.first, fall.last])
            .collect();
        event.raw = raw(&one.labels, &samples);
        out.push(event);
    }
}

/// Whether a GPU had little to do while its clock was low.
fn is_idle(busy: &[Sample], fall: &Fall) -> bool {
    let then = busy
        .iter()
        .filter(|one| (fall.first.at..=fall.last.at).contains(&one.at));
    let mut values: Vec<f64> = then.map(|one| one.value).collect();
    values.sort_by(f64::total_cmp);
    values
        .get(values.len() / 2)
        .is_some_and(|median| *median < IDLE)
}

/// A value that fell below what it was, while that of other machines stayed what it was; or that was below that of several others
/// from the first sample on. To the end of the samples.
fn fall(own: &[Sample], peers: &[&[Sample]], part: f64) -> Option<Fall> {
    let last = *own.last()?;
    let usual_of = |samples: &[Sample]| {
        let mut values: Vec<f64> = samples.iter().map(|one| one.value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    let is_low = |value: f64, usual: f64| value > 0.0 && value < part * usual;
    // Its own past: the last sample that is not low, compared with those before.
    let before = (SAMPLES..own.len()).find_map(|first| {
        let (early, late) = own.split_at(first);
        let usual = usual_of(early)?;
        let begins = late.len() >= SAMPLES && late.iter().all(|one| is_low(one.value, usual));
        begins.then_some((first, usual))
    });
    if let Some((first, usual)) = before {
        let begin = *own.get(first)?;
        let stayed = |samples: &&&[Sample]| {
            let then: Vec<Sample> = samples
                .iter()
                .filter(|one| one.at >= begin.at)
                .copied()
                .collect();
            let earlier: Vec<Sample> = samples
                .iter()
                .filter(|one| one.at < begin.at)
                .copied()
                .collect();
            match (usual_of(&earlier), usual_of(&then)) {
                (Some(earlier), Some(then)) => !is_low(then, earlier),
                _ => false,
            }
        };
        let staying = peers.iter().filter(stayed).count();
        return (staying > 0 && staying * 4 >= peers.len() * 3).then_some(Fall {
            before: own.get(first.checked_sub(1)?).copied(),
            first: begin,
            last,
            usual,
        });
    }
    let others: Vec<f64> = peers
        .iter()
        .filter_map(|samples| usual_of(samples))
        .collect();
    let mut sorted = others.clone();
    sorted.sort_by(f64::total_cmp);
    let usual = *sorted.get(sorted.len() / 2)?;
    let alike = others
        .iter()
        .filter(|one| **one >= 0.95 * usual && **one <= 1.05 * usual);
    let apart = own.len() >= SAMPLES && own.iter().all(|one| is_low(one.value, usual));
    (apart && others.len() >= PEERS && alike.count() * 4 >= others.len() * 3).then_some(Fall {
        before: None,
        first: *own.first()?,
        last,
        usual,
    })
}

/// When a fall began. One that was there before anybody looked began at an unknown time.
fn since(fall: &Fall) -> Stamp {
    match fall.before {
        Some(before) => between(before.at, fall.first.at),
        None => Stamp::exact(fall.first.at),
    }
}

/// Requests to a storage that take many times as long as before, on one machine as on several: which is told by who reads it.
fn latencies(
    emitter: &Emitter<'_>,
    series: &[Series],
    (time, requests, words): (&'static str, &'static str, &'static str),
    out: &mut Vec<Event>,
) {
    let counted = devices(emitter, series, requests);
    for ((node, id), own) in devices(emitter, series, time) {
        let Some(counted) = counted.get(&(node.clone(), id.clone())) else {
            continue;
        };
        let spent = merged(&own);
        let counts: BTreeMap<Nanos, f64> = merged(counted)
            .iter()
            .map(|one| (one.at, one.value))
            .collect();
        let each: Vec<Sample> = spent
            .windows(2)
            .filter_map(|two| {
                let (before, after) = (two[0], two[1]);
                let many = counts.get(&after.at)? - counts.get(&before.at)?;
                let value = (after.value - before.value) / many;
                (many >= 1.0 && value >= 0.0).then_some(Sample {
                    at: after.at,
                    value,
                })
            })
            .collect();
        let Some((first, usual, now)) = longer(&each) else {
            continue;
        };
        let (Some(begin), Some(last), Some(one)) = (each.get(first), each.last(), own.first())
        else {
            continue;
        };
        let before = first.checked_sub(1).and_then(|before| each.get(before));
        let stamp = before.map_or(Stamp::exact(begin.at), |before| {
            between(before.at, begin.at)
        });
        let mut event = emitter.fact(
            "metric.machine.apart",
            &[&id, "storage"],
            stamp,
            FactSubject::node(&node),
        );
        event.end = Some(Stamp::exact(last.at));
        event.set_attribute("what", Some("storage"));
        event.message = Some(format!(
            "{words} takes {} ms and not {} as before",
            plain(now * 1e3),
            plain(usual * 1e3)
        ));
        event.raw = raw(&one.labels, &[*begin, *last]);
        out.push(event);
    }
}

/// From which sample on requests took many times as long, and how long before and since.
fn longer(each: &[Sample]) -> Option<(usize, f64, f64)> {
    let median = |samples: &[Sample]| {
        let mut values: Vec<f64> = samples.iter().map(|one| one.value).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    };
    (SAMPLES..each.len()).find_map(|first| {
        let (early, late) = each.split_at(first);
        let (usual, now) = (median(early)?, median(late)?);
        let least = (LONGER * usual).max(QUICK);
        let lasts = late.len() >= SAMPLES && late.iter().all(|one| one.value >= least);
        lasts.then_some((first, usual, now))
    })
}

/// A number with as many digits as count.
fn plain(value: f64) -> String {
    if value >= 10.0 {
        format!("{value:.0}")
    } else {
        let text = format!("{value:.1}");
        text.strip_suffix(".0").map(str::to_owned).unwrap_or(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::SECOND;

    /// A sample every 15 s.
    fn samples(values: &[(usize, f64)]) -> Vec<Sample> {
        let values = values
            .iter()
            .flat_map(|(many, value)| std::iter::repeat_n(*value, *many));
        (0..)
            .zip(values)
            .map(|(number, value)| Sample {
                at: number * 15 * SECOND,
                value,
            })
            .collect()
    }

    #[test]
    fn a_value_that_fell_on_one_machine_alone_is_apart() {
        let own = samples(&[(20, 1_980.0), (40, 345.0)]);
        let same = samples(&[(60, 1_980.0)]);
        let found = fall(&own, &[&same], 0.8).unwrap();
        assert_eq!((found.first.at, found.usual), (300 * SECOND, 1_980.0));
        // Nobody else is known, all fell, it rose again, or it was a moment.
        assert_eq!(fall(&own, &[], 0.8), None);
        assert_eq!(fall(&own, &[&own.clone()], 0.8), None);
        let again = samples(&[(20, 1_980.0), (20, 345.0), (20, 1_980.0)]);
        assert_eq!(fall(&again, &[&same], 0.8), None);
        let moment = samples(&[(57, 1_980.0), (3, 345.0)]);
        assert_eq!(fall(&moment, &[&same], 0.8), None);
    }

    #[test]
    fn a_value_that_was_always_lower_needs_several_others() {
        let (own, same) = (samples(&[(60, 8.0)]), samples(&[(60, 16.0)]));
        assert_eq!(fall(&own, &[&same], 0.9), None);
        assert_eq!(fall(&own, &[&same, &same], 0.9).unwrap().before, None);
        let other = samples(&[(60, 4.0)]);
        assert_eq!(fall(&own, &[&same, &other], 0.9), None);
    }

    #[test]
    fn requests_that_take_many_times_as_long_are_apart() {
        let found = longer(&samples(&[(20, 0.004), (20, 0.4)])).unwrap();
        assert_eq!(found, (20, 0.004, 0.4));
        assert_eq!(longer(&samples(&[(20, 0.004), (20, 0.03)])), None, "quick");
        assert_eq!(longer(&samples(&[(20, 0.2), (20, 0.4)])), None, "twice");
    }
}
