//! A fact as a row of the events table.

use serde_json::{Value, json};
use whathappened_model::event::Event;
use whathappened_model::time::{Stamp, rfc3339};

/// A time that is known at all.
pub(crate) fn reported(stamp: Stamp) -> Option<Stamp> {
    (stamp.lo != i64::MIN && stamp.hi != i64::MAX).then_some(stamp)
}

/// The columns of the events table for one fact.
#[must_use]
pub fn record(event: &Event, seen_by: &[String]) -> Value {
    let names = &event.entities;
    let time = reported(event.time);
    json!({
        "id": event.id.to_string(),
        "fact": event.fact,
        "seen_by": seen_by,
        "time": time.map(|time| rfc3339(time.lo)),
        "time_lo": time.map(|time| rfc3339(time.lo)),
        "time_hi": time.map(|time| rfc3339(time.hi)),
        "end_time": event.end.map(|end| rfc3339(end.lo)),
        "time_kind": event.time_kind.as_str(),
        "observed_time": event.observed.map(rfc3339),
        "source": event.source_kind.as_str(),
        "source_kind": event.source_kind.as_str(),
        "signals": event.signals,
        "severity": event.severity,
        "reason": event.reason,
        "message": event.message,
        "actor": event.actor,
        "count": event.count,
        "count_is_lower_bound": event.count_is_lower_bound,
        "object_kind": event.object_kind,
        "object_uid": event.object_uid,
        "cluster": names.cluster,
        "namespace": names.namespace,
        "workload_kind": names.workload_kind,
        "workload": names.workload,
        "pod": names.pod,
        "pod_uid": names.pod_uid,
        "container": names.container,
        "node": names.node,
        "instance": names.instance,
        "host": names.host,
        "zone": names.zone,
        "experiment": names.experiment,
        "exit_code": event.exit_code,
        "rank": event.rank,
        "gpu": event.gpu,
        "attributes": event.attributes,
        "raw": event.raw,
        "origin": event.origin.to_string(),
    })
}
