//! One JSON record to what it tells.

use memchr::memmem;
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::{audit, autoscaler_status, event, field, lease, meta, node, pod, workload};
use crate::event::{Origin, SourceKind};
use crate::kind;
use crate::observation::{Observation, Rejection};
use crate::time::Stamp;

/// Where a record stands and through which door it came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Context<'a> {
    pub(super) origin: &'a Origin,
    pub(super) source_kind: SourceKind,
    /// The request's time, where the record is the body of an audit record.
    pub(super) at: Option<Stamp>,
    /// The record says that the object is gone.
    pub(super) deleted: bool,
    /// Who wrote it, where the record says so.
    pub(super) by: Option<&'a str>,
}

/// A line of a watch.
#[derive(Deserialize)]
struct Watch<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

/// An Event as eventrouter writes it (`sinks/eventdata.go`).
#[derive(Deserialize)]
struct Routed<'a> {
    verb: String,
    #[serde(borrow)]
    event: &'a RawValue,
}

/// Why a record is of no use of which nothing at all says what it is.
pub const UNKNOWN_KIND: &str = "JSON that is not a Kubernetes object";

/// Decodes one JSON object: a Kubernetes object, an Event, a watch line, a line of eventrouter or an
/// audit record. `list_kind` is the kind of the List it was an item of.
///
/// # Errors
/// Says why a record is of no use; what came before stays in `out`.
pub fn decode(
    json: &[u8],
    list_kind: Option<&str>,
    origin: &Origin,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let context = Context {
        origin,
        source_kind: SourceKind::Kubernetes,
        at: None,
        deleted: false,
        by: None,
    };
    if memmem::find(json, b"\"auditID\"").is_some() {
        return audit::decode(json, context, out);
    }
    if memmem::find(json, b"\"object\"").is_some()
        && let Ok(watch) = serde_json::from_slice::<Watch<'_>>(json)
    {
        let object = watch.object.get().as_bytes();
        return match watch.kind.as_str() {
            "ADDED" | "MODIFIED" => decode_object(object, None, context, out),
            "DELETED" => decode_object(
                object,
                None,
                Context {
                    deleted: true,
                    ..context
                },
                out,
            ),
            "BOOKMARK" => Err(Rejection::Irrelevant("a watch bookmark".to_owned())),
            "ERROR" => {
                let status: Value = serde_json::from_slice(object).unwrap_or_default();
                let message = field::text(&status, &["message"]).unwrap_or("no message");
                Err(Rejection::Malformed(format!(
                    "the recorded watch broke here, events after it may be missing: {message}"
                )))
            }
            other => Err(Rejection::Malformed(format!(
                "unknown watch event type {other:?}"
            ))),
        };
    }
    if memmem::find(json, b"\"verb\"").is_some()
        && let Ok(routed) = serde_json::from_slice::<Routed<'_>>(json)
        && matches!(routed.verb.as_str(), "ADDED" | "UPDATED")
    {
        return decode_object(
            routed.event.get().as_bytes(),
            Some("EventList"),
            context,
            out,
        );
    }
    decode_object(json, list_kind, context, out)
}

fn decode_object(
    json: &[u8],
    list_kind: Option<&str>,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let about_another = memmem::find(json, b"\"involvedObject\"").is_some()
        || memmem::find(json, b"\"regarding\"").is_some();
    if about_another && let Some(found) = event::decode(json, context)? {
        out.push(Observation::Event(Box::new(found)));
        return Ok(());
    }
    let value: Value =
        serde_json::from_slice(json).map_err(|error| Rejection::Malformed(error.to_string()))?;
    decode_value(&value, list_kind, context, out)
}

/// Decodes an object that is already parsed, as the bodies of audit records are.
pub(super) fn decode_value(
    value: &Value,
    list_kind: Option<&str>,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    if !value.is_object() {
        return Err(Rejection::Malformed("not a JSON object".to_owned()));
    }
    let item_kind = list_kind.map(|kind| kind.strip_suffix("List").unwrap_or(kind));
    let Some(kind) = field::text(value, &["kind"])
        .or(item_kind)
        .filter(|kind| !kind.is_empty())
    else {
        return guess(value, context, out);
    };
    let api_version = field::text(value, &["apiVersion"]).unwrap_or_default();
    match kind::normal_kind(kind, api_version).as_str() {
        "Event" => event::decode_value(value, context)
            .map(|event| out.push(Observation::Event(Box::new(event)))),
        "Pod" => pod::decode(value, context, out),
        "Node" => node::decode(value, context, out),
        "Lease" => lease::decode(value, context, out),
        "PersistentVolumeClaim" => workload::decode_claim(value, context, out),
        "Namespace" => workload::decode_namespace(value, context, out),
        "ConfigMap" if autoscaler_status::is(value) => {
            autoscaler_status::decode(value, context, out)
        }
        other if kind::is_workload(other) => workload::decode(other, value, context, out),
        other if other.ends_with("List") => {
            let list_kind = other.to_owned();
            for item in field::items(value, &["items"]) {
                // One bad item must not lose its neighbours; the reader takes
                // lists apart itself, so this is only for lists inside records.
                let _irrelevant = decode_value(item, Some(&list_kind), context, out);
            }
            Ok(())
        }
        other => Err(Rejection::Irrelevant(format!("an object of kind {other}"))),
    }
}

/// Objects without a kind: a pod or a node is told by its fields.
fn guess(value: &Value, context: Context<'_>, out: &mut Vec<Observation>) -> Result<(), Rejection> {
    if field::at(value, &["spec", "containers"]).is_some()
        || field::at(value, &["status", "containerStatuses"]).is_some()
    {
        return pod::decode(value, context, out);
    }
    if field::at(value, &["status", "nodeInfo"]).is_some() {
        return node::decode(value, context, out);
    }
    if value.get("metadata").is_some() && meta::name(value).is_some() {
        return Err(Rejection::Irrelevant("an object without a kind".to_owned()));
    }
    Err(Rejection::Irrelevant(UNKNOWN_KIND.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_eventrouter_writes_is_the_newer_of_its_two_events() {
        let event = |count: u8| {
            format!(
                r#"{{"metadata": {{"name": "run-0.18a2b3c4d5e6f7a8", "namespace": "n"}}, "involvedObject": {{"kind": "Pod", "namespace": "n", "name": "run-0"}},
                "reason": "BackOff", "message": "Back-off", "type": "Warning", "count": {count}, "firstTimestamp": "2026-11-21T15:20:10Z", "lastTimestamp": "2026-11-21T15:21:10Z"}}"#
            )
        };
        let origin = Origin {
            file: "x".into(),
            line: 1,
        };
        let told = |json: &str| {
            let mut out = Vec::new();
            let decoded = decode(json.as_bytes(), None, &origin, &mut out);
            decoded.map(|()| match out.as_slice() {
                [Observation::Event(event)] => (event.reason.clone(), event.count),
                other => panic!("{other:?}"),
            })
        };
        let (old, new) = (event(3), event(4));
        let line = format!(r#"{{"verb": "UPDATED", "event": {new}, "old_event": {old}}}"#);
        assert_eq!(told(&line).unwrap(), (Some("BackOff".to_owned()), Some(4)));
        let line = format!(r#"{{"verb": "ADDED", "event": {old}}}"#);
        assert_eq!(told(&line).unwrap().1, Some(3));
    }
}
