//! The audit log as Google's Cloud Logging keeps it.

use serde_json::{Value, json};

use super::audit::sends;
use crate::plan::Policy;
use crate::world::Call;

/// One entry.
pub(super) fn entry(call: &Call, policy: Policy) -> Value {
    let kind = call.key.kind;
    let (group, version) = (kind.group(), kind.version());
    // The name of a group stands backwards, as packages do.
    let package = match group {
        "" => "io.k8s.core".to_owned(),
        "batch" | "apps" | "policy" => format!("io.k8s.{group}"),
        _ => group.rsplit('.').collect::<Vec<_>>().join("."),
    };
    let mut method = format!("{package}.{version}.{}", kind.resource());
    let root = if group.is_empty() { "core" } else { group };
    let mut resource = format!("{root}/{version}");
    if !call.key.namespace.is_empty() {
        resource.push_str(&format!("/namespaces/{}", call.key.namespace));
    }
    resource.push_str(&format!("/{}/{}", kind.resource(), call.key.name));
    if !call.sub.is_empty() {
        method.push_str(&format!(".{}", call.sub));
        resource.push_str(&format!("/{}", call.sub));
    }
    method.push_str(&format!(".{}", call.verb));
    let mut status = json!({"code": 0});
    if call.code >= 400 {
        let code = match call.code {
            403 => 7,
            404 => 5,
            409 => 10,
            429 => 8,
            _ => 13,
        };
        let message = call.response.as_ref().map(|body| body["message"].clone());
        status = json!({"code": code, "message": message});
    }
    let mut payload = json!({"@type": "type.googleapis.com/google.cloud.audit.AuditLog",
        "authenticationInfo": {"principalEmail": call.by.name},
        "authorizationInfo": [{"granted": true, "permission": method, "resource": resource}],
        "methodName": method, "resourceName": resource, "serviceName": "k8s.io", "status": status,
        "requestMetadata": {"callerIp": call.by.ip, "callerSuppliedUserAgent": call.by.agent}});
    if policy >= Policy::Request
        && let Some(request) = sends(call)
    {
        payload["request"] = request;
    }
    if policy == Policy::RequestResponse
        && let Some(response) = &call.response
    {
        payload["response"] = (**response).clone();
    }
    json!({"insertId": call.id, "logName": "projects/lab-project/logs/cloudaudit.googleapis.com%2Factivity", "protoPayload": payload,
        "labels": {"authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": ""},
        "operation": {"id": call.id, "producer": "k8s.io", "first": true, "last": true},
        "resource": {"type": "k8s_cluster", "labels": {"cluster_name": "lab", "location": "us-central1-a", "project_id": "lab-project"}},
        "timestamp": call.time.micros(), "receiveTimestamp": call.done.plus(1_200_000_000).nanos()})
}
