//! DCGM's metrics of GPUs.

use std::collections::BTreeMap;

use super::super::names::{Labels, label};
use super::super::wire::{Sample, Series, grouped};
use super::change::{CounterRise, between, interval, merged, rises};
use super::{Emitter, FactSubject, raw};
use crate::event::Event;
use crate::node_log::xid;
use crate::pci;
use crate::time::{Nanos, SECOND, Stamp};

/// The exporter asks DCGM this often unless told otherwise: what a scrape shows
/// may be so much older.
const EXPORTER: Nanos = 30 * SECOND;

/// How long after a fault others of its GPU may be its consequences.
const FOLLOWS: Nanos = 60 * SECOND;

/// From here on GPUs slow themselves down.
const HOT: f64 = 90.0;

const XID: &str = "DCGM_FI_DEV_XID_ERRORS";
const TEMPERATURE: &str = "DCGM_FI_DEV_GPU_TEMP";

/// Why GPUs are clocked down: newer exporters call the same bits events.
const REASONS: [&str; 2] = [
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS",
    "DCGM_FI_DEV_CLOCKS_EVENT_REASONS",
];

/// Reasons that are of the machine's: the bit (`nvmlClocksEventReason…`), the name here, in words. That a GPU is idle, or
/// at its limit of power under load, is nothing unusual.
const SLOWDOWNS: [(u32, &str, &str); 3] = [
    (0x40, "hw_thermal", "hardware slowdown because of heat"),
    (
        0x80,
        "hw_power_brake",
        "hardware slowdown because the machine asks for less power",
    ),
    (0x20, "sw_thermal", "slowdown by the driver because of heat"),
];

/// Counters: the metric, the name here, what rose. `ROW_REMAP_FAILURE` is a
/// flag that is never taken back without a repair.
const COUNTERS: [(&str, &str, &str); 12] = [
    (
        "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
        "ecc_dbe",
        "memory errors that could not be corrected",
    ),
    (
        "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
        "ecc_dbe",
        "memory errors that could not be corrected",
    ),
    (
        "DCGM_FI_DEV_ROW_REMAP_FAILURE",
        "row_remap_failure",
        "bad memory rows that could not be replaced",
    ),
    (
        "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
        "remapped_rows",
        "memory rows replaced after errors",
    ),
    (
        "DCGM_FI_DEV_RETIRED_DBE",
        "retired_pages",
        "memory pages retired after errors",
    ),
    (
        "DCGM_FI_DEV_THERMAL_VIOLATION",
        "thermal_violation",
        "time throttled because of heat",
    ),
    (
        "DCGM_FI_DEV_POWER_VIOLATION",
        "power_violation",
        "time throttled because of power",
    ),
    (
        "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
        "nvlink_crc_flit",
        "NVLink flow-control errors",
    ),
    (
        "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
        "nvlink_crc_data",
        "NVLink data errors",
    ),
    (
        "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
        "nvlink_replay",
        "NVLink retries",
    ),
    (
        "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
        "nvlink_recovery",
        "NVLink recoveries",
    ),
    (
        "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
        "pcie_replay",
        "PCIe retries",
    ),
];

/// Faults, of which every machine is asked.
pub(super) const LIGHT: [&str; 3] = [
    XID,
    "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL",
    "DCGM_FI_DEV_ROW_REMAP_FAILURE",
];

/// The rest.
pub(super) const DETAIL: [&str; 13] = [
    TEMPERATURE,
    REASONS[0],
    REASONS[1],
    "DCGM_FI_DEV_ECC_DBE_AGG_TOTAL",
    "DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS",
    "DCGM_FI_DEV_RETIRED_DBE",
    "DCGM_FI_DEV_THERMAL_VIOLATION",
    "DCGM_FI_DEV_POWER_VIOLATION",
    "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER",
];

/// One GPU of one machine: by its uuid, else its place or number.
type Gpu = (String, String);

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let gpu = |one: &Series| -> Option<Gpu> {
        let keys = ["UUID", "uuid", "pci_bus_id", "gpu", "device"];
        let id = keys.iter().find_map(|key| label(&one.labels, key))?;
        Some((emitter.names.node(&one.labels)?, id.to_owned()))
    };
    let groups = |name: &'static str| -> BTreeMap<Gpu, Vec<&Series>> {
        let all = series
            .iter()
            .filter(|one| label(&one.labels, "__name__") == Some(name));
        let known = grouped(all, gpu).into_iter();
        known.filter_map(|(gpu, own)| Some((gpu?, own))).collect()
    };
    let last_xids = groups(XID);
    for ((node, id), own) in &last_xids {
        xids(emitter, node, id, own, out);
    }
    gone(emitter, &last_xids, out);
    for (name, counter, words) in COUNTERS {
        for ((node, id), own) in groups(name) {
            for rise in rises(&merged(&own)) {
                let mut event = emitter.fact(
                    "metric.gpu.counter",
                    &[&id, counter],
                    rise.time,
                    FactSubject::node(&node),
                );
                place(&mut event, &own[0].labels);
                event.end = Some(Stamp::exact(rise.last));
                event.set_attribute("counter", Some(counter));
                event.set_attribute("rise", Some(rise.by.to_string()));
                let grew = match time_of(counter, &rise) {
                    Some(seconds) => format!("rose by {seconds} s"),
                    None => format!("rose by {} to {}", rise.by, rise.samples[1].value),
                };
                event.message = Some(format!("{}: {words} {grew}", gpu_words(&own[0].labels)));
                event.raw = raw(&own[0].labels, &rise.samples);
                out.push(event);
            }
        }
    }
    for name in REASONS {
        for ((node, id), own) in groups(name) {
            slowdowns(emitter, &node, &id, &own, out);
        }
    }
    for ((node, id), own) in groups(TEMPERATURE) {
        let all = merged(&own);
        let hottest = all.iter().rev().max_by(|a, b| a.value.total_cmp(&b.value));
        if let Some(hottest) = hottest.filter(|one| one.value >= HOT && one.value < 200.0) {
            let time = Stamp {
                lo: hottest.at - EXPORTER,
                hi: hottest.at + super::SCRAPE,
            };
            let mut event = emitter.fact("metric.gpu.hot", &[&id], time, FactSubject::node(&node));
            place(&mut event, &own[0].labels);
            event.set_attribute("celsius", Some(hottest.value.to_string()));
            event.message = Some(format!(
                "{} was at {} °C",
                gpu_words(&own[0].labels),
                hottest.value
            ));
            event.raw = raw(&own[0].labels, &[*hottest]);
            out.push(event);
        }
    }
}

/// Changes of the last Xid. It is shown until another comes, so the first that
/// is seen may be old, and of several between two scrapes only the last shows.
fn xids(emitter: &Emitter<'_>, node: &str, id: &str, own: &[&Series], out: &mut Vec<Event>) {
    // Newer exporters put the number into labels, so that each is a series of its own.
    let mut all: Vec<(Sample, &Series)> = own
        .iter()
        .flat_map(|one| one.samples.iter().map(move |sample| (*sample, *one)))
        .collect();
    all.sort_by(|a, b| a.0.at.cmp(&b.0.at).then(a.0.value.total_cmp(&b.0.value)));
    let mut root: Option<(Nanos, &xid::Xid)> = None;
    for two in all.windows(2) {
        let ((before, _), (after, series)) = (two[0], two[1]);
        let Some(number) = whole(after.value).filter(|_| after.value != before.value) else {
            continue;
        };
        let mut time = between(before.at, after.at);
        time.lo = time.lo.saturating_sub(EXPORTER);
        let text = number.to_string();
        let mut event = emitter.fact(
            "metric.gpu.xid",
            &[id, &text],
            time,
            FactSubject::node(node),
        );
        place(&mut event, &series.labels);
        event.set_attribute("xid", Some(text));
        let known = xid::of(number);
        if let Some(known) = known {
            event.set_attribute("xid_meaning", Some(known.meaning));
            event.set_attribute("xid_action", Some(known.action.words()));
            match root {
                Some((at, first))
                    if before.at.saturating_sub(at) <= FOLLOWS
                        && first.upstream <= known.upstream =>
                {
                    let follows = (first.upstream < known.upstream).then_some(first.number);
                    event.set_attribute("follows_xid", follows.map(|one| one.to_string()));
                }
                _ => root = Some((after.at, known)),
            }
        }
        let meaning = known.map_or("not in the catalogue", |known| known.meaning);
        event.message = Some(format!(
            "{} shows Xid {number} since this scrape: {meaning}",
            gpu_words(&series.labels)
        ));
        event.raw = raw(&series.labels, &[before, after]);
        out.push(event);
    }
}

/// Reasons for lower clocks that begin to hold.
fn slowdowns(emitter: &Emitter<'_>, node: &str, id: &str, own: &[&Series], out: &mut Vec<Event>) {
    let all = merged(own);
    let has = |sample: &Sample, bit: u32| whole(sample.value).is_some_and(|bits| bits & bit != 0);
    for (bit, name, words) in SLOWDOWNS {
        for two in all.windows(2) {
            let (before, after) = (two[0], two[1]);
            if has(&before, bit) || !has(&after, bit) {
                continue;
            }
            let mut time = between(before.at, after.at);
            time.lo = time.lo.saturating_sub(EXPORTER);
            let place_of = FactSubject::node(node);
            let mut event = emitter.fact("metric.gpu.slowdown", &[id, name], time, place_of);
            place(&mut event, &own[0].labels);
            event.set_attribute("slowdown", Some(name));
            let gpu = gpu_words(&own[0].labels);
            event.message = Some(format!("{gpu} reports a {words} since this scrape"));
            event.raw = raw(&own[0].labels, &[before, after]);
            out.push(event);
        }
    }
}

/// The seconds that a counter of throttled time rose by. DCGM counts nanoseconds, and counted microseconds before: where it
/// rose by more of those than have passed, they are the former. Where it did not, nobody knows.
fn time_of(counter: &str, rise: &CounterRise) -> Option<u64> {
    let counts_time = matches!(counter, "thermal_violation" | "power_violation");
    let passed = rise.samples[1].at.saturating_sub(rise.samples[0].at) / 1_000;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        clippy::cast_precision_loss,
        reason = "whole seconds are shown"
    )]
    (counts_time && passed > 0 && rise.by > 2.0 * passed as f64)
        .then(|| (rise.by / 1e9).round() as u64)
}

/// GPUs whose samples end while those of others of their machine go on.
fn gone(emitter: &Emitter<'_>, groups: &BTreeMap<Gpu, Vec<&Series>>, out: &mut Vec<Event>) {
    let mut last_of: BTreeMap<&str, Nanos> = BTreeMap::new();
    for ((node, _), own) in groups {
        let last = own
            .iter()
            .filter_map(|one| one.samples.last())
            .map(|one| one.at);
        let known = last_of.entry(node).or_insert(Nanos::MIN);
        *known = (*known).max(last.max().unwrap_or(Nanos::MIN));
    }
    for ((node, id), own) in groups {
        let all = merged(own);
        let Some(last) = all.last() else {
            continue;
        };
        let step = interval(&all);
        let others = last_of.get(node.as_str()).copied().unwrap_or(last.at);
        if others.saturating_sub(last.at) < 4 * step {
            continue;
        }
        let time = between(last.at, last.at + step);
        let mut event = emitter.fact("metric.gpu.gone", &[id], time, FactSubject::node(node));
        place(&mut event, &own[0].labels);
        event.message = Some(format!(
            "{} has no more samples, although other GPUs of the machine do",
            gpu_words(&own[0].labels)
        ));
        event.raw = raw(&own[0].labels, &[*last]);
        out.push(event);
    }
}

/// An Xid's number; 0 is none.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the bounds are looked at"
)]
fn whole(value: f64) -> Option<u32> {
    ((1.0..100_000.0).contains(&value) && value.fract() == 0.0).then_some(value as u32)
}

fn gpu_words(labels: &Labels) -> String {
    match label(labels, "gpu") {
        Some(number) => format!("GPU {number}"),
        None => "a GPU".to_owned(),
    }
}

fn place(event: &mut Event, labels: &Labels) {
    event.gpu = label(labels, "gpu").and_then(|gpu| gpu.parse().ok());
    let uuid = label(labels, "UUID").or_else(|| label(labels, "uuid"));
    event.set_attribute("gpu_uuid", uuid);
    event.set_attribute("gpu_pci", label(labels, "pci_bus_id").map(pci::normal));
    event.set_attribute("held_by", holder(labels));
}

/// The pod that has the GPU. Without `exported_` the label may as well be of the exporter's own pod.
fn holder(labels: &Labels) -> Option<&str> {
    let is_exporter = |name: &str| name.contains("dcgm") || name.contains("exporter");
    let own = || label(labels, "pod").filter(|pod| !is_exporter(pod));
    label(labels, "exported_pod").or_else(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_counter_is_asked_for_once() {
        for (name, ..) in COUNTERS {
            assert_ne!(LIGHT.contains(&name), DETAIL.contains(&name), "{name}");
        }
    }

    #[test]
    fn numbers_of_xids_are_whole() {
        assert_eq!(
            (whole(79.0), whole(0.0), whole(1.5), whole(1e9)),
            (Some(79), None, None, None)
        );
    }
}
