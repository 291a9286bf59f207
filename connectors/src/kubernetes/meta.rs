//! What every object has: names, labels, owners, and the times it tells.

use serde_json::Value;

use super::decode::Context;
use super::field;
use crate::event::{Event, EventId};
use crate::object::{FieldWriter, ObjectBody, ObjectKey, ObjectVersion, Owner};
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::{SECOND, Stamp};

/// The object's name.
pub(super) fn name(object: &Value) -> Option<&str> {
    field::text(object, &["metadata", "name"])
}

/// Which object it is.
pub(super) fn key(kind: &str, object: &Value) -> Result<ObjectKey, Rejection> {
    let Some(name) = name(object) else {
        return Err(Rejection::Malformed(format!(
            "a {kind} without metadata.name"
        )));
    };
    Ok(ObjectKey {
        kind: kind.to_owned(),
        namespace: field::owned(object, &["metadata", "namespace"]).unwrap_or_default(),
        name: name.to_owned(),
        uid: field::owned(object, &["metadata", "uid"]).unwrap_or_default(),
    })
}

/// The parts of a body that every kind has.
pub(super) fn body(object: &Value) -> ObjectBody {
    let mut annotations = field::texts(object, &["metadata", "annotations"]);
    annotations.remove("kubectl.kubernetes.io/last-applied-configuration");
    for (key, text) in &mut annotations {
        *text = crate::redact::value(key, text).into_owned();
    }
    let grace = field::int(object, &["metadata", "deletionGracePeriodSeconds"]);
    let deletion = field::time(object, &["metadata", "deletionTimestamp"]);
    ObjectBody {
        api_version: field::owned(object, &["apiVersion"]).unwrap_or_default(),
        labels: field::texts(object, &["metadata", "labels"]),
        annotations,
        owners: owners(object),
        created: field::time(object, &["metadata", "creationTimestamp"]),
        // The timestamp is when the grace period ends, not when it was asked for.
        deletion_requested: deletion
            .map(|at| at.shift(-grace.unwrap_or(0).clamp(0, 1 << 31) * SECOND)),
        deletion_grace_s: grace,
        generation: field::int(object, &["metadata", "generation"]),
        phase: field::owned(object, &["status", "phase"]),
        ..ObjectBody::default()
    }
}

fn owners(object: &Value) -> Vec<Owner> {
    field::items(object, &["metadata", "ownerReferences"])
        .iter()
        .filter_map(|owner| {
            let api_version = field::text(owner, &["apiVersion"]).unwrap_or_default();
            Some(Owner {
                kind: crate::kind::normal_kind(field::text(owner, &["kind"])?, api_version),
                name: field::owned(owner, &["name"])?,
                uid: field::owned(owner, &["uid"]).unwrap_or_default(),
                controller: field::flag(owner, &["controller"]),
            })
        })
        .collect()
}

/// The manager that last wrote a field, by its path of `f:` keys.
pub(super) fn writer(object: &Value, path: &[&str]) -> Option<FieldWriter> {
    field::items(object, &["metadata", "managedFields"])
        .iter()
        .filter(|entry| {
            entry
                .get("fieldsV1")
                .is_some_and(|fields| field::at(fields, path).is_some())
        })
        .filter_map(|entry| {
            Some(FieldWriter {
                manager: field::owned(entry, &["manager"])?,
                time: field::time(entry, &["time"]),
            })
        })
        .max_by_key(|writer| (writer.time, writer.manager.clone()))
}

/// The version of the object that a record shows.
pub(super) fn version(
    key: ObjectKey,
    object: &Value,
    body: ObjectBody,
    context: Context<'_>,
) -> ObjectVersion {
    ObjectVersion {
        key,
        revision: field::text(object, &["metadata", "resourceVersion"])
            .and_then(|text| text.parse().ok()),
        at: context.at.or_else(|| latest_time(object)),
        deleted: context.deleted,
        by: context.by.map(str::to_owned),
        body,
        source_kind: context.source_kind,
        origin: context.origin.clone(),
    }
}

/// The latest time that an object tells of itself: it was in this state then
/// or later. Times set in advance (deletion, lease and window ends) do not count.
fn latest_time(object: &Value) -> Option<Stamp> {
    const TIMES: [&str; 12] = [
        "creationTimestamp",
        "time",
        "startTime",
        "completionTime",
        "lastTransitionTime",
        "lastHeartbeatTime",
        "lastUpdateTime",
        "startedAt",
        "finishedAt",
        "timeAdded",
        "lastProbeTime",
        "lastReconcileTime",
    ];
    fn walk(value: &Value, emitted: &[&str], depth: u8, latest: &mut Option<Stamp>) {
        match value {
            Value::Object(map) if depth > 0 => {
                for (key, value) in map {
                    match value {
                        Value::String(text) if emitted.contains(&key.as_str()) => {
                            *latest = (*latest).max(Stamp::parse(text));
                        }
                        // Fields of managed fields are names, not values, and many.
                        _ if key == "fieldsV1" => {}
                        _ => walk(value, emitted, depth - 1, latest),
                    }
                }
            }
            Value::Array(items) if depth > 0 => {
                for item in items {
                    walk(item, emitted, depth - 1, latest);
                }
            }
            _ => {}
        }
    }
    let mut latest = None;
    for part in ["metadata", "status"] {
        if let Some(part) = object.get(part) {
            walk(part, &TIMES, 6, &mut latest);
        }
    }
    latest
}

/// A fact about an object, with what all of them share filled in.
///
/// Its identity is (kind of fact, object, what changed and to which value, the
/// fact's own time to the second): audit bodies carry times more exactly than
/// stored objects do, and both must be one fact.
pub(super) fn fact(
    fact: &str,
    key: &ObjectKey,
    what: &[&str],
    time: Stamp,
    raw: &Value,
    context: Context<'_>,
) -> Event {
    let identity = key.identity();
    let seconds = time.lo.div_euclid(SECOND).to_string();
    let mut parts = vec![fact, identity.as_str()];
    parts.extend_from_slice(what);
    parts.push(&seconds);
    let mut event = Event::new(EventId::of(&parts), fact, time, context.source_kind);
    event.object_kind = Some(key.kind.clone());
    event.object_uid = Some(key.uid.clone()).filter(|uid| !uid.is_empty());
    event.raw = redact(&raw.to_string()).into_owned();
    event.origin = context.origin.clone();
    let namespace = Some(key.namespace.clone()).filter(|namespace| !namespace.is_empty());
    match key.kind.as_str() {
        "Pod" => {
            event.entities.namespace = namespace;
            event.entities.pod = Some(key.name.clone());
            event.entities.pod_uid.clone_from(&event.object_uid);
        }
        "Node" => event.entities.node = Some(key.name.clone()),
        _ => {
            event.entities.namespace = namespace;
            event.entities.workload_kind = Some(key.kind.clone());
            event.entities.workload = Some(key.name.clone());
        }
    }
    event
}

/// What facts about an object of a kind begin with.
fn lane(kind: &str) -> &'static str {
    match kind {
        "Namespace" => "k8s.namespace",
        "Node" => "k8s.node",
        "Pod" => "k8s.pod",
        _ => "k8s.workload",
    }
}

/// That the deletion of an object was asked for, where it was.
pub(super) fn deletion_requested(version: &ObjectVersion, context: Context<'_>) -> Option<Event> {
    let requested = version.body.deletion_requested?;
    let grace = version.body.deletion_grace_s;
    let raw = serde_json::json!({ "deletionRequested": crate::time::rfc3339(requested.lo), "deletionGracePeriodSeconds": grace });
    let mut event = fact(
        &format!("{}.deletion_requested", lane(&version.key.kind)),
        &version.key,
        &[],
        requested,
        &raw,
        context,
    );
    event.set_attribute("grace_s", grace);
    event.entities.node = event.entities.node.or_else(|| version.body.node.clone());
    Some(event)
}

/// The facts that any object can tell: that its deletion was asked for, that it is gone.
pub(super) fn endings(version: &ObjectVersion, context: Context<'_>, out: &mut Vec<Observation>) {
    let requested = deletion_requested(version, context);
    out.extend(requested.map(|event| Observation::Event(Box::new(event))));
    if version.deleted
        // It was there until its end was asked for, whatever was written into it before.
        && let Some(last) = version
            .at
            .max(version.body.deletion_requested)
            .or(version.body.created)
    {
        let raw = serde_json::json!({ "deleted": true });
        let mut event = fact(
            &format!("{}.deleted", lane(&version.key.kind)),
            &version.key,
            &[],
            last,
            &raw,
            context,
        );
        // Seen gone at or after the latest time the object tells.
        event.id = EventId::of(&[&event.fact, &version.key.identity()]);
        event.entities.node = event.entities.node.or_else(|| version.body.node.clone());
        out.push(Observation::Event(Box::new(event)));
    }
}
