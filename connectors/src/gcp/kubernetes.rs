//! Kubernetes' own records inside log entries: Events and audit.

use serde_json::{Value, json};

use super::entry::{Entry, principal};
use crate::cloud::field::{self, Fields};
use crate::contract::ForeignOutput;
use crate::kubernetes;
use crate::observation::Rejection;

/// Whether a payload is an Event of the cluster.
pub(super) fn is_event(payload: &Fields) -> bool {
    payload.contains_key("involvedObject") || payload.contains_key("regarding")
}

/// An Event as the cluster wrote it: the log outlives its hour.
pub(super) fn event(
    entry: &Entry<'_>,
    payload: &Fields,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let json = Value::Object(payload.clone()).to_string();
    let origin = entry.record.origin;
    kubernetes::decode(json.as_bytes(), None, origin, &mut emitted.observations)
}

/// An audit record of GKE says in other words what Kubernetes' own says.
pub(super) fn audit(
    entry: &Entry<'_>,
    audit: &Fields,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let method = field::text(audit, &["methodName"]).unwrap_or_default();
    let name = field::text(audit, &["resourceName"]).unwrap_or_default();
    let Some(object) = reference(name) else {
        return Err(Rejection::Irrelevant(
            "an audit record that is not about a Kubernetes object".to_owned(),
        ));
    };
    let text = |path: &[&str]| field::text(audit, path).unwrap_or_default();
    let time = crate::time::rfc3339(entry.time.stamp.lo);
    let record = json!({
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "auditID": entry.event_id(),
        "stage": "ResponseComplete",
        "verb": method.rsplit('.').next().unwrap_or_default(),
        "user": {"username": principal(audit).unwrap_or_default()},
        "userAgent": text(&["requestMetadata", "callerSuppliedUserAgent"]),
        "sourceIPs": [text(&["requestMetadata", "callerIp"])],
        "objectRef": object,
        "responseStatus": {"code": http_code(audit)},
        "requestObject": body(audit, "request"),
        "responseObject": body(audit, "response"),
        "requestReceivedTimestamp": time,
        "stageTimestamp": time,
    });
    let origin = entry.record.origin;
    let json = record.to_string();
    kubernetes::decode(json.as_bytes(), None, origin, &mut emitted.observations)
}

/// `core/v1/namespaces/NS/pods/NAME/eviction`, `apps/v1/…`, `core/v1/nodes/NAME/status`.
fn reference(name: &str) -> Option<Value> {
    let parts: Vec<&str> = name.split('/').collect();
    let (group, rest) = parts.split_first()?;
    let (version, rest) = rest.split_first()?;
    let (namespace, rest) = match rest {
        ["namespaces", namespace, resource, rest @ ..] if !is_namespaces_own(resource) => {
            (*namespace, [&[*resource], rest].concat())
        }
        rest => ("", rest.to_vec()),
    };
    let resource = rest.first().filter(|part| !part.is_empty())?;
    let mut object = json!({
        "resource": resource,
        "namespace": namespace,
        "apiVersion": version,
        "apiGroup": if *group == "core" { "" } else { group },
    });
    if let Some(name) = rest.get(1) {
        object["name"] = Value::from(*name);
    }
    if let Some(subresource) = rest.get(2) {
        object["subresource"] = Value::from(*subresource);
    }
    Some(object)
}

fn is_namespaces_own(part: &str) -> bool {
    matches!(part, "status" | "finalize")
}

/// The object in the call, without what Google adds to tell its type.
fn body(audit: &Fields, key: &str) -> Value {
    let Some(object) = field::object(audit, &[key]) else {
        return Value::Null;
    };
    let mut object = object.clone();
    object.remove("@type");
    if object.is_empty() {
        return Value::Null;
    }
    Value::Object(object)
}

/// HTTP's code, where the answer is a Status, else what Google's code stands for.
fn http_code(audit: &Fields) -> i64 {
    let response = field::object(audit, &["response"]);
    let of_answer = response
        .filter(|answer| field::text(answer, &["kind"]) == Some("Status"))
        .and_then(|answer| field::int(answer, &["code"]));
    of_answer.unwrap_or_else(
        || match field::int(audit, &["status", "code"]).unwrap_or(0) {
            0 => 200,
            3 => 400,
            5 => 404,
            6 | 10 => 409,
            7 => 403,
            8 => 429,
            16 => 401,
            _ => 500,
        },
    )
}
