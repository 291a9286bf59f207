//! The API server's audit log.

use serde_json::{Value, json};

use super::files::{File, Record};
use crate::case::Case;
use crate::plan::Policy;
use crate::world::{Call, Kind};

/// The log, as a policy keeps it.
pub(super) fn log(case: &Case, policy: Policy, files: &mut Vec<File>) {
    let mut file = File::lines("audit", "audit.log");
    let mut calls: Vec<&Call> = case
        .world
        .api
        .calls
        .iter()
        .filter(|call| call.done <= case.now && is_kept(call))
        .collect();
    calls.sort_by(|a, b| (a.done, &a.id).cmp(&(b.done, &b.id)));
    for call in calls {
        file.records
            .push(Record::new(line(call, policy).to_string(), &call.tags).about(&call.key.uid));
    }
    files.push(file);
}

/// Policies drop what is frequent and says little.
fn is_kept(call: &Call) -> bool {
    let of_node = call.by.name.starts_with("system:node:");
    !(call.key.kind == Kind::Event
        || (call.key.kind == Kind::Node && call.sub == "status" && of_node))
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
        && let Some(request) = &call.request
    {
        line["requestObject"] = (**request).clone();
    }
    if policy == Policy::RequestResponse
        && let Some(response) = &call.response
    {
        line["responseObject"] = (**response).clone();
    }
    line
}
