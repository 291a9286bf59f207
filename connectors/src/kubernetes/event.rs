//! Kubernetes Events of both APIs, `core/v1` and `events.k8s.io/v1`.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use super::decode::Context;
use crate::event::{Event, EventId};
use crate::kind;
use crate::observation::Rejection;
use crate::redact::redact;
use crate::time::{Stamp, TimeKind};

/// Both APIs' fields in one; each field has one of two names.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct RawEvent {
    metadata: Metadata,
    #[serde(alias = "regarding")]
    involved_object: Reference,
    reason: Option<String>,
    #[serde(alias = "note")]
    message: Option<String>,
    #[serde(alias = "deprecatedSource")]
    source: Option<Component>,
    #[serde(alias = "deprecatedFirstTimestamp")]
    first_timestamp: Option<String>,
    #[serde(alias = "deprecatedLastTimestamp")]
    last_timestamp: Option<String>,
    #[serde(alias = "deprecatedCount")]
    count: Option<u64>,
    #[serde(rename = "type")]
    severity: Option<String>,
    event_time: Option<String>,
    series: Option<Series>,
    action: Option<String>,
    related: Option<Reference>,
    #[serde(alias = "reportingController")]
    reporting_component: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    name: Option<String>,
    namespace: Option<String>,
    creation_timestamp: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Reference {
    api_version: Option<String>,
    kind: Option<String>,
    namespace: Option<String>,
    name: Option<String>,
    uid: Option<String>,
    field_path: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Component {
    component: Option<String>,
    host: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct Series {
    count: Option<u64>,
    last_observed_time: Option<String>,
}

/// Decodes an Event; `None` when the record turns out to be something else.
pub(super) fn decode(json: &[u8], context: Context<'_>) -> Result<Option<Event>, Rejection> {
    match serde_json::from_slice::<RawEvent>(json) {
        Ok(wire) if wire.involved_object.kind.is_some() || wire.involved_object.name.is_some() => {
            // Checking is much faster than replacing, and nearly all of it is sound.
            let raw = std::str::from_utf8(json)
                .map_or_else(|_| String::from_utf8_lossy(json), Cow::Borrowed);
            finish(wire, &raw, context).map(Some)
        }
        Ok(_) => Ok(None),
        Err(strict) => {
            let value: Value = serde_json::from_slice(json)
                .map_err(|error| Rejection::Malformed(error.to_string()))?;
            if value.get("involvedObject").is_none() && value.get("regarding").is_none() {
                return Ok(None);
            }
            let wire = lenient(&value);
            if wire.reason.is_none() && wire.message.is_none() {
                return Err(Rejection::Malformed(format!(
                    "an Event with fields of wrong types: {strict}"
                )));
            }
            finish(wire, &value.to_string(), context).map(Some)
        }
    }
}

/// Decodes an Event that is already parsed.
pub(super) fn decode_value(value: &Value, context: Context<'_>) -> Result<Event, Rejection> {
    let wire = serde_json::from_value(value.clone()).unwrap_or_else(|_| lenient(value));
    finish(wire, &value.to_string(), context)
}

/// Takes what has the right type and leaves the rest out.
fn lenient(value: &Value) -> RawEvent {
    let mut kept = value.clone();
    if let Value::Object(fields) = &mut kept {
        for key in fields.keys().cloned().collect::<Vec<_>>() {
            let alone = serde_json::json!({ key.clone(): fields[&key] });
            if serde_json::from_value::<RawEvent>(alone).is_err() {
                fields.remove(&key);
            }
        }
    }
    serde_json::from_value(kept).unwrap_or_default()
}

fn finish(wire: RawEvent, raw: &str, context: Context<'_>) -> Result<Event, Rejection> {
    let parse = |text: &Option<String>| text.as_deref().and_then(Stamp::parse);
    let first = parse(&wire.event_time).or_else(|| parse(&wire.first_timestamp));
    let last = wire
        .series
        .as_ref()
        .and_then(|series| parse(&series.last_observed_time))
        .or_else(|| parse(&wire.last_timestamp));
    let count = wire
        .series
        .as_ref()
        .and_then(|series| series.count)
        .or(wire.count);
    let repeats = count.is_some_and(|count| count > 1);
    let (time, time_kind) = match (first, last, parse(&wire.metadata.creation_timestamp)) {
        (Some(first), _, _) if repeats => (first, TimeKind::FirstSeen),
        (Some(first), _, _) => (first, TimeKind::Occurred),
        (None, _, Some(created)) if last.is_none() => (created, TimeKind::Received),
        (None, Some(last), _) => (last, TimeKind::LastSeen),
        _ => {
            return Err(Rejection::Malformed(format!(
                "an Event without a time that can be read (eventTime {:?}, firstTimestamp {:?}, lastTimestamp {:?})",
                wire.event_time, wire.first_timestamp, wire.last_timestamp
            )));
        }
    };

    let object = wire.involved_object;
    let name = object.name.filter(|name| !name.is_empty());
    let id = identity(
        &wire.metadata,
        &object.kind,
        &name,
        &wire.reason,
        &wire.message,
        time,
    );
    let mut event = Event::new(id, "k8s.event", time, context.source_kind);
    event.end = last.filter(|last| last.hi > time.hi);
    event.time_kind = time_kind;
    event.severity = wire.severity;
    event.count = count;
    event.count_is_lower_bound = wire
        .message
        .as_deref()
        .is_some_and(|text| text.starts_with("(combined from similar events): "));
    event.reason = wire.reason;
    let redacted = redact(raw);
    // The message is part of the record: where that holds no secret, neither does this.
    event.message = match redacted {
        Cow::Borrowed(_) => wire.message,
        Cow::Owned(_) => wire.message.map(|text| redact(&text).into_owned()),
    };
    let source = wire.source.unwrap_or_default();
    event.actor = source
        .component
        .filter(|name| !name.is_empty())
        .or(wire.reporting_component)
        .filter(|name| !name.is_empty());
    event.object_uid = object.uid.filter(|uid| !uid.is_empty());
    event.raw = redacted.into_owned();
    event.origin = context.origin.clone();

    let namespace = object
        .namespace
        .or(wire.metadata.namespace)
        .filter(|name| !name.is_empty());
    let entities = &mut event.entities;
    let host = source.host.filter(|host| !host.is_empty());
    let kind = kind::normal_kind(
        object.kind.as_deref().unwrap_or_default(),
        object.api_version.as_deref().unwrap_or_default(),
    );
    match kind.as_str() {
        "Pod" => {
            entities.namespace = namespace;
            entities.pod = name;
            entities.pod_uid.clone_from(&event.object_uid);
            // Only the node's own agent writes the host it runs on.
            entities.node = host.filter(|_| event.actor.as_deref() == Some("kubelet"));
        }
        "Node" => entities.node = name,
        "" => {}
        _ => {
            entities.namespace = namespace;
            entities.workload_kind = Some(kind.clone());
            entities.workload = name;
        }
    }
    event.object_kind = Some(kind).filter(|kind| !kind.is_empty());
    if let Some(path) = object.field_path.as_deref() {
        event.entities.container = container_of(path);
        if path.starts_with("spec.initContainers") {
            event.set_attribute("init", Some("true"));
        }
    }
    event.set_attribute("action", wire.action.filter(|action| !action.is_empty()));
    if let Some(related) = wire.related {
        event.set_attribute("related_kind", related.kind);
        event.set_attribute("related_name", related.name);
        event.set_attribute("other_uid", related.uid);
    }
    Ok(event)
}

/// An audit write of an Event carries its name but not its uid, so the name
/// identifies it, where a recorder made it: it holds the nanosecond of the
/// first occurrence. Other names are given by hand and come again, or are made
/// by the server, after the write: there what it says, of what, and its first
/// second tell it apart.
fn identity(
    metadata: &Metadata,
    kind: &Option<String>,
    object: &Option<String>,
    reason: &Option<String>,
    message: &Option<String>,
    time: Stamp,
) -> EventId {
    let namespace = metadata.namespace.as_deref().unwrap_or_default();
    let name = metadata.name.as_deref().unwrap_or_default();
    if is_generated(name) {
        return EventId::of_kubernetes_event(namespace, name);
    }
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let seconds = time.lo.div_euclid(crate::time::SECOND).to_string();
    EventId::of(&[
        "k8s.event",
        namespace,
        &text(kind),
        &text(object),
        &text(reason),
        &text(message),
        &seconds,
    ])
}

/// Whether a recorder made this name: `<object>.<hex nanoseconds>`.
pub(super) fn is_generated(name: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, tail)| {
        tail.len() >= 14 && tail.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

/// `spec.containers{trainer}` names the container.
fn container_of(path: &str) -> Option<String> {
    let (_, rest) = path.split_once('{')?;
    let name = rest.strip_suffix('}')?;
    // Anybody may write an Event, and what is no name is none.
    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (name.len() <= 63 && name.bytes().all(is_name)).then(|| name.to_owned())
}
