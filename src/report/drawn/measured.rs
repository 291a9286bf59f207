//! What Prometheus measured, as curves.

use std::collections::BTreeSet;

use serde_json::Value;
use whathappened_core::graph::Task;
use whathappened_core::resolve::Run;
use whathappened_model::event::{Event, SourceKind};
use whathappened_model::time::{Nanos, Stamp};

use crate::answer::Curve;
use crate::case::Case;
use crate::error::Error;

/// Curves of metrics that one answer shows.
const MEASUREMENTS: usize = 8;

/// What Prometheus measured of the run's pods and machines, where a record holds the samples.
pub(super) fn of(case: &Case, run: &Run) -> Result<Vec<Curve>, Error> {
    let pods: BTreeSet<u32> = run.pods.iter().copied().collect();
    let of_run = run
        .pods
        .iter()
        .filter_map(|pod| case.graph.pods.get(*pod as usize));
    let nodes: BTreeSet<_> = of_run.flat_map(Task::machines).collect();
    let mut found: Vec<(Nanos, Curve)> = Vec::new();
    let rows = (0..).zip(case.graph.evidence.rows());
    for (number, row) in rows.filter(|(_, row)| row.source_kind() == SourceKind::Prometheus) {
        let pod = case.graph.pod_of_row.get(number as usize);
        let is_own = pod.is_some_and(|pod| pods.contains(pod)) || nodes.contains(&row.node);
        if !is_own || found.len() >= 16 * MEASUREMENTS {
            continue;
        }
        found.extend(measurement(&case.graph.evidence.event(number)?));
    }
    found.sort_by(|(a, one), (b, other)| {
        let names = |curve: &Curve| (curve.title.to_owned(), curve.of.clone());
        (a, names(one)).cmp(&(b, names(other)))
    });
    let curves = found.into_iter().map(|(_, curve)| curve);
    Ok(curves.take(MEASUREMENTS).collect())
}

/// The samples that a record holds, where they are enough to be drawn.
fn measurement(event: &Event) -> Option<(Nanos, Curve)> {
    const ENOUGH: usize = 3;
    let raw: Value = serde_json::from_str(&event.raw).ok()?;
    let metric = raw.get("metric")?.get("__name__")?.as_str()?;
    let (title, unit) = match metric {
        "container_memory_working_set_bytes" => ("Memory", "bytes"),
        "node_memory_MemAvailable_bytes" => ("Memory left", "bytes"),
        "DCGM_FI_DEV_GPU_TEMP" => ("GPU temperature", "°C"),
        "DCGM_FI_DEV_GPU_UTIL" => ("GPU utilisation", "%"),
        "DCGM_FI_DEV_FB_USED" => ("GPU memory", "MiB"),
        _ => return None,
    };
    let samples = raw.get("values")?.as_array()?;
    let points: Vec<(Nanos, Option<f64>)> = samples
        .iter()
        .filter_map(|sample| {
            let time = Stamp::parse(sample.get(0)?.as_str()?)?;
            Some((time.lo, Some(sample.get(1)?.as_f64()?)))
        })
        .collect();
    let first = points.first()?.0;
    let names = &event.entities;
    let curve = Curve {
        title,
        unit: unit.to_owned(),
        of: names.pod.as_ref().or(names.node.as_ref())?.clone(),
        limit: event
            .attribute("limit_bytes")
            .and_then(|text| text.parse().ok()),
        from_zero: unit == "bytes",
        points,
    };
    (curve.points.len() >= ENOUGH).then_some((first, curve))
}

#[cfg(test)]
mod tests {
    use super::*;
    use whathappened_model::event::EventId;
    use whathappened_model::time::SECOND;

    #[test]
    fn samples_in_a_record_are_a_curve() {
        let id = EventId::of(&["test"]);
        let mut event = Event::new(id, "memory", Stamp::second(0), SourceKind::Prometheus);
        event.entities.pod = Some("train-0".to_owned());
        event.set_attribute("limit_bytes", Some("200"));
        let at = |second: i64, value: i64| {
            serde_json::json!([whathappened_model::time::rfc3339(second * SECOND), value])
        };
        event.raw =
            serde_json::json!({"metric": {"__name__": "container_memory_working_set_bytes"},
            "values": [at(1, 10), at(2, 20), at(3, 190)]})
            .to_string();
        let (first, curve) = measurement(&event).unwrap();
        assert_eq!(
            (first, curve.title, curve.of.as_str(), curve.limit),
            (SECOND, "Memory", "train-0", Some(200.0))
        );
        assert_eq!(curve.points[2], (3 * SECOND, Some(190.0)));
        event.raw = "{\"metric\": {}, \"values\": [[\"x\"]]}".to_owned();
        assert!(measurement(&event).is_none());
    }
}
