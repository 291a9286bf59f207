//! The API server's audit log.

use serde_json::{Value, json};

use super::files::{File, Record};
use crate::case::Case;
use crate::plan::Policy;
use crate::world::{Attribution, Call, Kind, Tag};

/// The log, as a policy keeps it.
pub(super) fn log(case: &Case, policy: Policy, files: &mut Vec<File>) {
    let of_google = case.world.plan.more.gke;
    let path = if of_google {
        "k8s-audit.jsonl"
    } else {
        "audit.log"
    };
    let mut file = File::lines("audit", path);
    let mut calls: Vec<&Call> = case
        .world
        .api
        .calls
        .iter()
        .filter(|call| call.done <= case.now && is_logged(call))
        .collect();
    calls.sort_by(|a, b| (a.done, &a.id).cmp(&(b.done, &b.id)));
    for call in calls {
        let line = if of_google {
            super::gke::entry(call, policy)
        } else {
            line(call, policy)
        };
        file.records
            .push(Record::new(line.to_string(), &tags_of(call, policy)).about(&call.key.uid));
    }
    files.push(file);
}

/// Policies drop what is frequent and says little.
fn is_logged(call: &Call) -> bool {
    let of_node = call.by.name.starts_with("system:node:");
    !(call.key.kind == Kind::Event
        || (call.key.kind == Kind::Node && call.sub == "status" && of_node))
}

/// What a policy leaves of what a request tells: without its bodies, that somebody deleted,
/// evicted or was refused is told, and what was written is not.
fn tags_of(call: &Call, policy: Policy) -> Vec<Tag> {
    let by_verb = call.verb == "delete" || call.sub == "eviction" || call.code >= 400;
    let has_body = match policy {
        Policy::None | Policy::Metadata => false,
        Policy::Request => sends(call).is_some(),
        Policy::RequestResponse => true,
    };
    if by_verb || has_body {
        return call.tags.clone();
    }
    // That somebody changed an object is a trace of what was done to it; components always do.
    let by_component = call.by.name.starts_with("system:");
    if call.sub == "status" || call.verb == "create" || by_component {
        return Vec::new();
    }
    let traces = call.tags.iter().map(|tag| Tag {
        says: Attribution::Claims,
        ..*tag
    });
    traces.collect()
}

/// What a client sends that did not say so itself: the whole object where it makes or
/// updates one, and the status where it patches that.
pub(super) fn sends(call: &Call) -> Option<Value> {
    if let Some(request) = &call.request {
        return Some((**request).clone());
    }
    let object = call.response.as_ref()?;
    match (call.verb, call.sub) {
        ("create", "") => {
            let mut body = (**object).clone();
            if let Some(body) = body.as_object_mut() {
                body.remove("status");
            }
            if let Some(metadata) = body.get_mut("metadata").and_then(Value::as_object_mut) {
                for field in ["uid", "resourceVersion", "creationTimestamp", "generation"] {
                    metadata.remove(field);
                }
                if metadata.contains_key("generateName") {
                    metadata.remove("name");
                }
            }
            Some(body)
        }
        ("update", _) => Some((**object).clone()),
        ("patch", "status") => Some(
            json!({"metadata": {"uid": object["metadata"]["uid"]}, "status": object["status"]}),
        ),
        _ => None,
    }
}

fn line(call: &Call, policy: Policy) -> Value {
    let generated = call.verb == "create" && call.key.kind == Kind::Pod && call.sub.is_empty();
    let mut object =
        json!({"resource": call.key.kind.resource(), "apiVersion": call.key.kind.version()});
    if !call.key.kind.group().is_empty() {
        object["apiGroup"] = json!(call.key.kind.group());
    }
    if !call.key.namespace.is_empty() {
        object["namespace"] = json!(call.key.namespace);
    }
    if !generated {
        object["name"] = json!(call.key.name);
    }
    if !call.sub.is_empty() {
        object["subresource"] = json!(call.sub);
    }
    if call.sub == "binding" {
        object["uid"] = json!(call.key.uid);
    }
    let mut status = json!({"metadata": {}, "code": call.code});
    if call.code >= 400
        && let Some(answer) = &call.response
    {
        for field in ["status", "message", "reason", "details"] {
            status[field] = answer[field].clone();
        }
    }
    let level = match policy {
        Policy::None | Policy::Metadata => "Metadata",
        Policy::Request => "Request",
        Policy::RequestResponse => "RequestResponse",
    };
    let mut line = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": level, "auditID": call.id, "stage": "ResponseComplete",
        "requestURI": call.key.path(call.verb, call.sub), "verb": call.verb, "user": call.by.user(), "sourceIPs": [call.by.ip], "userAgent": call.by.agent,
        "objectRef": object, "responseStatus": status, "requestReceivedTimestamp": call.time.micros(), "stageTimestamp": call.done.micros(),
        "annotations": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""}});
    if policy >= Policy::Request
        && let Some(request) = sends(call)
    {
        line["requestObject"] = request;
    }
    if policy == Policy::RequestResponse
        && let Some(response) = &call.response
    {
        line["responseObject"] = (**response).clone();
    }
    line
}
