//! Curves that explain a picture to whoever looks at it: how busy and how full GPUs were, a machine's memory
//! against what it has, and how long queues were. They are evidence of nothing, so no signal is made of them.

use std::collections::{BTreeMap, BTreeSet};

use super::super::names::{Labels, OF_NODES, label};
use super::super::plan::IN_DETAIL;
use super::super::wire::{Sample, Series, grouped};
use super::change::merged;
use super::{Emitter, FactSubject, metric, node, of, raw};
use crate::event::Event;
use crate::time::{Nanos, Stamp};

/// The fact.
const FACT: &str = "metric.curve";

/// Percent, by GPU.
const BUSY: &str = "DCGM_FI_DEV_GPU_UTIL";
/// Mebibytes of a GPU's memory.
const USED: &str = "DCGM_FI_DEV_FB_USED";
const FREE: &str = "DCGM_FI_DEV_FB_FREE";

/// What machines are asked for where something died first.
pub(super) const OF_GPUS: [&str; 3] = [BUSY, USED, FREE];

/// How long queues are: the metric, what waits in it, the label that names the queue, and whose queue it is where
/// no label does.
const QUEUES: [(&str, &str, Option<&str>, &str); 3] = [
    (
        "kueue_pending_workloads",
        "workloads",
        Some("cluster_queue"),
        "Kueue",
    ),
    ("scheduler_pending_pods", "pods", None, "the scheduler"),
    ("slurm_queue_pending", "jobs", None, "Slurm"),
];

/// What is asked of queues.
pub(super) const OF_QUEUES: [&str; 3] = [QUEUES[0].0, QUEUES[1].0, QUEUES[2].0];

/// Labels that say what a curve is of, beside those that name machines.
const LABELS: [&str; 3] = ["__name__", "cluster", "cluster_queue"];

/// Samples of a curve; of more every second, third, … one is kept, and the last.
const SHOWN: usize = 240;

/// Fewer samples are no curve.
const ENOUGH: usize = 3;

/// Queues that are told of, the longest.
const LONGEST: usize = 8;

/// One curve.
struct Curve<'a> {
    /// What it shows, in one word.
    shows: &'static str,
    unit: &'static str,
    /// Whose values they are, where the fact's own names do not say it.
    of: String,
    limit: Option<f64>,
    labels: &'a Labels,
    samples: Vec<Sample>,
}

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    gpus(emitter, series, out);
    memory(emitter, series, out);
    queues(emitter, series, out);
}

/// How busy the GPUs of each machine were on average, and how full the fullest was.
fn gpus(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let by_node = |one: &Series| emitter.names.node(&one.labels);
    for (node, own) in grouped(of(series, &[BUSY]), by_node) {
        let Some(node) = node else { continue };
        let samples = joined(&own, mean);
        let of = gpus_of(&own, "average");
        let curve = Curve {
            shows: "gpu_utilisation",
            unit: "%",
            of,
            limit: None,
            labels: &own[0].labels,
            samples,
        };
        out.extend(fact(emitter, FactSubject::node(&node), &curve));
    }
    let mut free = grouped(of(series, &[FREE]), by_node);
    for (node, own) in grouped(of(series, &[USED]), by_node) {
        let free = free.remove(&node).unwrap_or_default();
        let Some(node) = node else { continue };
        let samples = joined(&own, most);
        let curve = Curve {
            shows: "gpu_memory",
            unit: "MiB",
            of: gpus_of(&own, "the fullest"),
            limit: size(&own, &free),
            labels: &own[0].labels,
            samples,
        };
        out.extend(fact(emitter, FactSubject::node(&node), &curve));
    }
}

/// All that the largest GPU has; what the driver keeps for itself is in neither of the two.
fn size(used: &[&Series], free: &[&Series]) -> Option<f64> {
    let is_same = |one: &Series, other: &Series| {
        let own = |series: &Series| {
            let mut labels = series.labels.clone();
            labels.remove("__name__");
            labels
        };
        own(one) == own(other)
    };
    let sizes = used.iter().filter_map(|used| {
        let free = free.iter().find(|free| is_same(used, free))?;
        let sums = used.samples.iter();
        sums.filter_map(|sample| Some(sample.value + at(&free.samples, sample.at)?))
            .reduce(f64::max)
    });
    sizes.reduce(f64::max)
}

fn gpus_of(own: &[&Series], how: &str) -> String {
    match own.len() {
        1 => String::new(),
        several => format!("{how} of {several} GPUs"),
    }
}

/// What each machine used of its memory.
fn memory(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let by_node = |one: &Series| emitter.names.node(&one.labels);
    let looked_at = first_to_die(emitter);
    let mut totals = grouped(of(series, &[node::TOTAL]), by_node);
    for (node, own) in grouped(of(series, &[node::AVAILABLE]), by_node) {
        let total = totals.remove(&node).map(|own| merged(&own));
        let total = total.and_then(|all| all.last().map(|one| one.value));
        let (Some(node), Some(total)) = (node, total) else {
            continue;
        };
        if !looked_at.as_ref().is_none_or(|all| all.contains(&node)) {
            continue;
        }
        let used = |sample: Sample| Sample {
            value: (total - sample.value).max(0.0),
            ..sample
        };
        let curve = Curve {
            shows: "memory",
            unit: "bytes",
            of: String::new(),
            limit: Some(total),
            labels: &own[0].labels,
            samples: merged(&own).into_iter().map(used).collect(),
        };
        out.extend(fact(emitter, FactSubject::node(&node), &curve));
    }
}

/// The machines where something died first; nothing where nobody says when anything died.
fn first_to_die(emitter: &Emitter<'_>) -> Option<BTreeSet<String>> {
    if emitter.moments.unknown {
        return None;
    }
    let all = emitter.moments.nodes.iter();
    let mut all: Vec<(Option<&Nanos>, &String)> =
        all.map(|(node, moments)| (moments.first(), node)).collect();
    all.sort_by_key(|(first, node)| (first.is_none(), *first, *node));
    let first = all.into_iter().take(IN_DETAIL);
    Some(first.map(|(_, node)| node.clone()).collect())
}

/// How long queues were, the longest of them.
fn queues(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let mut found: Vec<(f64, Curve<'_>)> = Vec::new();
    for (name, unit, key, whose) in &QUEUES {
        let queue = |one: &Series| {
            let named = key.map(|key| label(&one.labels, key).map(str::to_owned));
            let cluster = label(&one.labels, "cluster").unwrap_or_default();
            // One without its name is the sum of others.
            let named = named.map_or(Some(String::new()), |name| name)?;
            Some((cluster.to_owned(), named))
        };
        for (key, own) in grouped(of(series, std::slice::from_ref(name)), queue) {
            let Some((cluster, named)) = key else {
                continue;
            };
            let (labels, samples) = of_one_target(&own);
            let longest = samples.iter().map(|one| one.value).fold(0.0, f64::max);
            if longest <= 0.0 {
                continue;
            }
            let mut of = if named.is_empty() {
                (*whose).to_owned()
            } else {
                format!("queue {named}")
            };
            if !cluster.is_empty() {
                of = format!("{of} of {cluster}");
            }
            let curve = Curve {
                shows: "queue",
                unit,
                of,
                limit: None,
                labels,
                samples,
            };
            found.push((longest, curve));
        }
    }
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.of.cmp(&other.of)));
    let nobody = FactSubject {
        node: None,
        namespace: None,
        pod: None,
        container: None,
    };
    for (_, curve) in found.into_iter().take(LONGEST) {
        out.extend(fact(emitter, nobody, &curve));
    }
}

/// What waits in a queue, by the target that shows most: of several replicas one alone counts, and the others
/// show none. What it shows in parts (active, inadmissible, …) is added up.
fn of_one_target<'s>(own: &[&'s Series]) -> (&'s Labels, Vec<Sample>) {
    let targets = grouped(own.iter().copied(), |one| {
        ["instance", "pod", "job"].map(|key| label(&one.labels, key).unwrap_or_default())
    });
    let sums = targets
        .into_values()
        .map(|parts| (&parts[0].labels, joined(&parts, f64_sum)));
    let peak = |samples: &[Sample]| samples.iter().map(|one| one.value).fold(0.0, f64::max);
    // Of equal ones the first by its labels.
    let best = sums
        .rev()
        .max_by(|(_, a), (_, b)| peak(a).total_cmp(&peak(b)));
    best.unwrap_or((&own[0].labels, Vec::new()))
}

fn f64_sum(values: &[f64]) -> f64 {
    values.iter().sum()
}

fn most(values: &[f64]) -> f64 {
    values.iter().copied().fold(0.0, f64::max)
}

#[expect(clippy::cast_precision_loss, reason = "machines have few GPUs")]
fn mean(values: &[f64]) -> f64 {
    f64_sum(values) / values.len().max(1) as f64
}

/// Series of one target as one: it is scraped at one time.
fn joined(own: &[&Series], how: fn(&[f64]) -> f64) -> Vec<Sample> {
    let mut by_time: BTreeMap<Nanos, Vec<f64>> = BTreeMap::new();
    for sample in own.iter().flat_map(|one| &one.samples) {
        by_time.entry(sample.at).or_default().push(sample.value);
    }
    let joined = by_time.into_iter();
    joined
        .map(|(at, values)| Sample {
            at,
            value: how(&values),
        })
        .collect()
}

fn at(samples: &[Sample], time: Nanos) -> Option<f64> {
    let found = samples.binary_search_by_key(&time, |sample| sample.at);
    Some(samples.get(found.ok()?)?.value)
}

fn fact(emitter: &Emitter<'_>, whose: FactSubject<'_>, curve: &Curve<'_>) -> Option<Event> {
    let (first, last) = (curve.samples.first()?, curve.samples.last()?);
    if curve.samples.len() < ENOUGH {
        return None;
    }
    // It begins where it is first seen. That it goes on tells nothing of those who are looked at.
    let time = Stamp {
        lo: first.at,
        hi: first.at + super::SCRAPE,
    };
    let what = [curve.shows, metric(curve.labels), &curve.of];
    let mut event = emitter.fact(FACT, &what, time, whose);
    event.set_attribute("curve", Some(curve.shows));
    event.set_attribute("unit", Some(curve.unit));
    event.set_attribute("of", Some(curve.of.as_str()).filter(|of| !of.is_empty()));
    event.set_attribute("limit", curve.limit.map(|limit| limit.to_string()));
    let whom = [whose.node.unwrap_or_default(), curve.of.as_str()];
    let whom: Vec<&str> = whom.into_iter().filter(|one| !one.is_empty()).collect();
    event.message = Some(format!(
        "{} of {}, until {}",
        curve.shows.replace('_', " "),
        whom.join(", "),
        crate::time::rfc3339(last.at)
    ));
    let every = curve.samples.len().div_ceil(SHOWN).max(1);
    let end = curve.samples.len() - 1;
    let kept = curve.samples.iter().enumerate();
    let kept = kept.filter(|(at, _)| at % every == 0 || *at == end);
    let kept: Vec<Sample> = kept.map(|(_, sample)| *sample).collect();
    // Of a machine's GPUs together: what single ones of them are called and who used them is not of it.
    let is_whose = |key: &str| OF_NODES.contains(&key) || LABELS.contains(&key);
    let labels = curve.labels.iter().filter(|(key, _)| is_whose(key));
    let labels = labels.map(|(key, value)| (key.clone(), value.clone()));
    event.raw = raw(&labels.collect(), &kept);
    Some(event)
}
