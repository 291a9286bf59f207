//! What Prometheus measured, as curves.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use whathappened_core::evidence::{EvidenceRow, Row};
use whathappened_core::graph::{Task, TaskRow, WorkloadRow};
use whathappened_core::resolve::{Root, Run};
use whathappened_model::event::{Event, SourceKind};
use whathappened_model::object::ObjectBody;
use whathappened_model::table::HasRow as _;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::answer::{Curve, Incident};
use crate::case::Case;
use crate::error::Error;

/// Curves of metrics that one answer shows, and how many of them may be of queues.
const MEASUREMENTS: usize = 8;
const QUEUES: usize = 2;

/// Records that are read for them.
const RECORDS: usize = 16 * MEASUREMENTS;

/// Where nothing was measured for so long, the line breaks.
const GAP: Nanos = 600 * SECOND;

/// How long before a run its queue is of interest, and after its last sign.
const AROUND: Nanos = 3_600 * SECOND;

/// Pods and owners of which labels are looked at.
const LABELLED: usize = 64;

/// Facts whose records hold samples.
const FACTS: [&str; 2] = ["metric.container.memory", "metric.curve"];

const QUEUE: &str = "Queue length";

/// What Prometheus measured of the run's pods, machines and queues, where a record holds the samples: first
/// of those that the incident is about.
pub(super) fn of(case: &Case, run: &Run, incidents: &[Incident]) -> Result<Vec<Curve>, Error> {
    let concerned = concerned(incidents);
    let mut records: Vec<(usize, EvidenceRow)> = Vec::new();
    let place = place(case, run, &concerned);
    for (number, row) in case.graph.evidence.rows().numbered() {
        let holds = || FACTS.contains(&case.graph.name(row.fact));
        if row.source_kind() == SourceKind::Prometheus && holds() {
            records.extend(place(number, row).map(|place| (place, number)));
        }
    }
    records.sort_unstable();
    records.truncate(RECORDS);
    // One thing is measured around several deaths, and what is asked for again may overlap.
    let mut found: BTreeMap<(usize, &str, String), Curve> = BTreeMap::new();
    for (place, number) in records {
        let Some((queue, curve)) = measurement(&case.graph.evidence.event(number)?) else {
            continue;
        };
        if queue.is_some_and(|queue| !waits_in(case, run, &queue)) {
            continue;
        }
        let key = (place, curve.title, curve.of.clone());
        match found.get_mut(&key) {
            Some(known) => {
                known.limit = known.limit.or(curve.limit);
                known.points.extend(curve.points);
            }
            None => {
                found.insert(key, curve);
            }
        }
    }
    let mut queues = 0;
    let is_shown = |curve: &Curve| {
        queues += usize::from(curve.title == QUEUE);
        curve.title != QUEUE || queues <= QUEUES
    };
    let mut curves: Vec<Curve> = found.into_values().map(in_order).filter(is_shown).collect();
    curves.truncate(MEASUREMENTS);
    Ok(curves)
}

/// Who died or was stuck first, and the machines of the incidents.
fn concerned(incidents: &[Incident]) -> BTreeSet<&str> {
    let mut names: BTreeSet<&str> = BTreeSet::new();
    for incident in incidents {
        for victim in incident.first_victim.iter().chain(&incident.first_victims) {
            names.insert(&victim.pod);
            names.extend(victim.node.as_deref());
        }
        let machines = incident.machines.iter();
        names.extend(machines.filter_map(|machine| machine.node.as_deref()));
    }
    names
}

/// Whether a record is of the run, and how much it matters: the lower, the more.
fn place<'a>(
    case: &'a Case,
    run: &Run,
    concerned: &'a BTreeSet<&'a str>,
) -> impl Fn(EvidenceRow, &Row) -> Option<usize> + use<'a> {
    let graph = &case.graph;
    let pods: BTreeSet<TaskRow> = run.pods.iter().copied().collect();
    let tasks = || {
        let pods = run.pods.iter();
        pods.filter_map(|pod| graph.pods.get(*pod))
    };
    let nodes: BTreeSet<_> = tasks().flat_map(Task::machines).collect();
    let stays = || tasks().map(Task::stay);
    let from = stays().map(|(from, _)| from).chain(run.begin).min();
    let to = stays().map(|(_, to)| to).max();
    move |number, row| {
        let is_named = |symbol| concerned.contains(graph.name(symbol));
        let pod = graph.pod_of_row.get(number).copied().flatten();
        if pods.has(pod) || nodes.contains(&row.node) {
            return Some(if is_named(row.pod) || is_named(row.node) {
                0
            } else {
                2
            });
        }
        // Queues are of nobody.
        let names = [row.pod, row.node, row.instance, row.workload];
        let is_of_nobody = names.iter().all(|name| !name.is_some());
        let early = from.is_some_and(|from| row.time.lo < from.saturating_sub(AROUND));
        let late = to.is_some_and(|to| row.time.lo > to.saturating_add(AROUND));
        (is_of_nobody && !early && !late).then_some(1)
    }
}

/// Whether a run may have waited in a queue of Kueue's: of whom it is known which one that was, in no other.
fn waits_in(case: &Case, run: &Run, queue: &str) -> bool {
    const OF_CLUSTER: &str = "kueue.x-k8s.io/cluster-queue-name";
    const OF_NAMESPACE: &str = "kueue.x-k8s.io/queue-name";
    let graph = &case.graph;
    let workload = |number: WorkloadRow| graph.workloads.get(number);
    let mut bodies: Vec<&ObjectBody> = Vec::new();
    let mut owners: BTreeSet<WorkloadRow> = BTreeSet::new();
    if let Root::Workload(root) = run.root {
        owners.insert(root);
    }
    for pod in run.pods.iter().take(LABELLED) {
        let Some(pod) = graph.pods.get(*pod) else {
            continue;
        };
        bodies.extend(pod.body.as_deref());
        let mut owner = pod.owner;
        while let Some(one) = owner.filter(|one| owners.len() < LABELLED && owners.insert(*one)) {
            owner = workload(one).and_then(|one| one.owner);
        }
    }
    let of_owners = owners.iter().filter_map(|number| workload(*number));
    bodies.extend(of_owners.filter_map(|one| one.body.as_deref()));
    let named =
        |label: &str| -> Option<&String> { bodies.iter().find_map(|body| body.labels.get(label)) };
    match named(OF_CLUSTER) {
        Some(own) => own == queue,
        None => named(OF_NAMESPACE).is_some(),
    }
}

/// In order of time, each moment once, and broken where nothing was measured.
fn in_order(mut curve: Curve) -> Curve {
    curve.points.sort_by_key(|(at, _)| *at);
    curve.points.dedup_by_key(|(at, _)| *at);
    let mut points: Vec<(Nanos, Option<f64>)> = Vec::with_capacity(curve.points.len());
    for point in std::mem::take(&mut curve.points) {
        if let Some((last, _)) = points.last().copied()
            && point.0 - last > GAP
        {
            points.push((last, None));
        }
        points.push(point);
    }
    curve.points = points;
    curve
}

/// The samples that a record holds, where they are enough to be drawn; with the queue of Kueue's that they are of.
fn measurement(event: &Event) -> Option<(Option<String>, Curve)> {
    const ENOUGH: usize = 3;
    let raw: Value = serde_json::from_str(&event.raw).ok()?;
    let metric = raw.get("metric")?;
    let (title, unit) = match (event.fact.as_str(), event.attribute("curve")) {
        ("metric.container.memory", _) => ("Memory", "bytes"),
        (_, Some("gpu_utilisation")) => ("GPU utilisation", "%"),
        (_, Some("gpu_memory")) => ("GPU memory", "bytes"),
        (_, Some("memory")) => ("Memory", "bytes"),
        (_, Some("queue")) => (QUEUE, event.attribute("unit").unwrap_or_default()),
        _ => return None,
    };
    // DCGM counts mebibytes.
    let factor = match title {
        "GPU memory" => 1_048_576.0,
        _ => 1.0,
    };
    let samples = raw.get("values")?.as_array()?;
    let points: Vec<(Nanos, Option<f64>)> = samples
        .iter()
        .filter_map(|sample| {
            let time = Stamp::parse(sample.get(0)?.as_str()?)?;
            Some((time.lo, Some(factor * sample.get(1)?.as_f64()?)))
        })
        .collect();
    let names = [&event.entities.pod, &event.entities.node];
    let name = names.into_iter().flatten().next().map(String::as_str);
    // What it is of all goes first: names are long.
    let of: Vec<&str> = event.attribute("of").into_iter().chain(name).collect();
    let limit = event
        .attribute("limit")
        .or_else(|| event.attribute("limit_bytes"));
    let curve = Curve {
        title,
        unit: unit.to_owned(),
        of: of.join(", "),
        limit: limit
            .and_then(|text| text.parse().ok())
            .map(|limit: f64| factor * limit),
        from_zero: true,
        points,
    };
    let queue = metric.get("cluster_queue").and_then(Value::as_str);
    (curve.points.len() >= ENOUGH).then(|| (queue.map(str::to_owned), curve))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use whathappened_model::event::EventId;
    use whathappened_model::time::rfc3339;

    fn record(fact: &str, name: &str, values: &[(i64, i64)]) -> Event {
        let id = EventId::of(&["test"]);
        let mut event = Event::new(id, fact, Stamp::second(0), SourceKind::Prometheus);
        let values = values.iter();
        let values: Vec<Value> = values
            .map(|(second, value)| json!([rfc3339(second * SECOND), value]))
            .collect();
        event.raw =
            json!({"metric": {"__name__": name, "cluster_queue": "research"}, "values": values})
                .to_string();
        event
    }

    #[test]
    fn samples_in_a_record_are_a_curve() {
        let name = "container_memory_working_set_bytes";
        let values = [(1, 10), (2, 20), (3, 190)];
        let mut event = record("metric.container.memory", name, &values);
        event.entities.pod = Some("train-0".to_owned());
        event.set_attribute("limit_bytes", Some("200"));
        let (_, curve) = measurement(&event).unwrap();
        assert_eq!(
            (curve.title, curve.of.as_str(), curve.limit),
            ("Memory", "train-0", Some(200.0))
        );
        assert_eq!(curve.points[2], (3 * SECOND, Some(190.0)));
        event.raw = "{\"metric\": {}, \"values\": [[\"x\"]]}".to_owned();
        assert!(measurement(&event).is_none());
    }

    #[test]
    fn a_queue_says_what_waits_in_it_and_breaks_where_nobody_looked() {
        let values = [(5_000, 7), (10, 1), (20, 2), (20, 2)];
        let mut event = record("metric.curve", "kueue_pending_workloads", &values);
        event.set_attribute("curve", Some("queue"));
        event.set_attribute("unit", Some("workloads"));
        event.set_attribute("of", Some("queue research"));
        let (queue, curve) = measurement(&event).unwrap();
        assert_eq!(queue.as_deref(), Some("research"));
        assert_eq!(
            (curve.title, curve.unit.as_str(), curve.of.as_str()),
            ("Queue length", "workloads", "queue research")
        );
        let drawn = in_order(curve).points;
        let drawn: Vec<_> = drawn
            .iter()
            .map(|(at, value)| (at / SECOND, *value))
            .collect();
        assert_eq!(
            drawn,
            [
                (10, Some(1.0)),
                (20, Some(2.0)),
                (20, None),
                (5_000, Some(7.0))
            ]
        );
    }
}
