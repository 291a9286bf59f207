//! Answers of Prometheus, as somebody saved them: raw samples of cAdvisor, node-exporter and
//! dcgm-exporter, all series of one exporter in one answer.

use serde_json::json;

use super::files::{File, Record};
use crate::case::Case;
use crate::rng::Rng;
use crate::time::{SEC, Time};
use crate::world::{Measured, Quantity, Tag, claims};

/// Seconds between two scrapes.
const SCRAPE: i64 = 30;

const HEAD: &str = "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[\n";
const TAIL: &str = "\n]}}\n";

/// One answer an exporter.
pub(super) fn answers(case: &Case, files: &mut Vec<File>) {
    let mut rng = Rng::stream(case.world.plan.seed, "metrics");
    files.push(containers(case, &mut rng));
    files.push(machines(case, &mut rng));
    files.push(gpus(case, &mut rng));
}

/// A counter that grows by this part of each second, in percent, and what tells of it.
fn counter(
    (from, to): (Time, Time),
    per_s: f64,
    rng: &mut Rng,
    percent: impl Fn(Time, &mut Rng) -> i64,
) -> Vec<(Time, f64)> {
    let mut time = from.plus(rng.millis(1000, SCRAPE * 1000));
    let (mut value, mut samples) = (0.0, Vec::new());
    while time < to {
        samples.push((time, value));
        let part = percent(time, rng) as f64 / 100.0;
        value += per_s * SCRAPE as f64 * part;
        time = time.plus(SCRAPE * SEC);
    }
    samples
}

fn series(labels: &serde_json::Value, samples: &[(Time, f64)], tags: &[Tag]) -> Record {
    let values: Vec<_> = samples
        .iter()
        .map(|(time, value)| {
            let millis = time.0 / 1_000_000;
            json!([
                millis as f64 / 1000.0,
                format!("{}", (value * 1000.0).round() / 1000.0)
            ])
        })
        .collect();
    Record::new(
        json!({"metric": labels, "values": values}).to_string(),
        tags,
    )
}

fn tags_of<'a>(found: impl Iterator<Item = &'a Measured>) -> Vec<Tag> {
    found.filter_map(|one| one.act).flat_map(claims).collect()
}

/// What holds at a time: the measured part, else what is usual.
fn part(found: &[Measured], time: Time, usual: i64, rng: &mut Rng) -> i64 {
    let now = found.iter().filter(|one| one.from <= time);
    let high = now.map(|one| one.percent).max();
    (high.unwrap_or(usual) + rng.range(-3, 3)).clamp(0, 100)
}

fn containers(case: &Case, rng: &mut Rng) -> File {
    let w = &case.world;
    let mut file = File::list("metrics", "prometheus/cadvisor.json", HEAD, TAIL);
    for (at, pod) in w.pods.iter().enumerate() {
        let (Some(node), Some(from)) = (pod.node, pod.started) else {
            continue;
        };
        let ended = w
            .deaths
            .iter()
            .filter(|death| death.pod == at && death.last);
        let to = ended.map(|death| death.time).chain(pod.gone).min();
        let to = to.map_or(case.now, |to| to.min(case.now));
        let found: Vec<Measured> = of(w, Quantity::Throttled, |one| one.pod == Some(at));
        let usual = rng.range(0, 12);
        let periods = counter((from, to), 10.0, &mut rng.clone(), |_, _| 100);
        let held = counter((from, to), 10.0, rng, |time, rng| {
            part(&found, time, usual, rng)
        });
        if held.len() < 2 {
            continue;
        }
        let labels = |name: &str| {
            json!({"__name__": name, "container": "trainer", "namespace": pod.namespace, "pod": pod.name, "node": w.node_name(node),
                "image": w.image(pod.load), "job": "kubelet", "metrics_path": "/metrics/cadvisor"})
        };
        let all = series(&labels("container_cpu_cfs_periods_total"), &periods, &[]);
        let part = series(
            &labels("container_cpu_cfs_throttled_periods_total"),
            &held,
            &tags_of(found.iter()),
        );
        file.records
            .extend([all.about(&pod.uid), part.about(&pod.uid)]);
    }
    file
}

fn of(w: &crate::world::World, what: Quantity, which: impl Fn(&Measured) -> bool) -> Vec<Measured> {
    let found = w
        .measured
        .iter()
        .filter(|one| one.what == what && which(one));
    found.copied().collect()
}

/// When a machine could be scraped: until it first went down.
fn life(case: &Case, node: usize) -> Option<(Time, Time)> {
    let node = case.world.nodes.get(node)?;
    let down = node.downs.iter().map(|down| down.0);
    let to = down
        .chain(node.gone)
        .min()
        .map_or(case.now, |to| to.min(case.now));
    Some((node.created.max(case.world.plan.start), to))
}

fn machines(case: &Case, rng: &mut Rng) -> File {
    let w = &case.world;
    let mut file = File::list("metrics", "prometheus/node-exporter.json", HEAD, TAIL);
    for (at, node) in w.nodes.iter().enumerate() {
        let Some(life) = life(case, at) else { continue };
        let found = of(w, Quantity::Waiting, |one| one.node == at);
        let usual = rng.range(0, 9);
        let waiting = counter(life, 1.0, rng, |time, rng| part(&found, time, usual, rng));
        let labels = json!({"__name__": "node_pressure_cpu_waiting_seconds_total", "instance": format!("{}:9100", node.ip), "job": "node-exporter", "node": node.name});
        file.records
            .push(series(&labels, &waiting, &tags_of(found.iter())));
    }
    file
}

fn gpus(case: &Case, rng: &mut Rng) -> File {
    let w = &case.world;
    let mut file = File::list("metrics", "prometheus/dcgm.json", HEAD, TAIL);
    for (at, node) in w.nodes.iter().enumerate() {
        let Some(life) = life(case, at) else { continue };
        for (name, what) in [
            ("DCGM_FI_DEV_THERMAL_VIOLATION", Quantity::Heat),
            ("DCGM_FI_DEV_POWER_VIOLATION", Quantity::Power),
        ] {
            let found = of(w, what, |one| one.node == at);
            let samples = counter(life, 1_000_000.0, rng, |time, rng| {
                // A GPU that is well is never slowed down.
                if found.iter().any(|one| one.from <= time) {
                    part(&found, time, 0, rng)
                } else {
                    0
                }
            });
            let labels = json!({"__name__": name, "gpu": "3", "device": "nvidia3", "UUID": format!("GPU-{}", node.uid), "pci_bus_id": "00000000:2A:00.0",
                "modelName": "NVIDIA H100 80GB HBM3", "Hostname": node.name, "job": "dcgm-exporter", "instance": format!("{}:9400", node.ip)});
            file.records
                .push(series(&labels, &samples, &tags_of(found.iter())));
        }
    }
    file
}
