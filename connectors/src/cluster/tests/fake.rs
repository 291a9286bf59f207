//! An API server on loopback that says what a test wants it to say.

use std::time::Duration;

use serde_json::{Value, json};

pub(super) use whathappened_loopback::{BodyPart, Fake, ReceivedRequest as Request, Reply};

pub(super) const UID: &str = "6b0f6a6e-kube-system-uid";

pub(super) fn is_watch(request: &Request) -> bool {
    request.query("watch") == "1"
}

/// What a review asks for: `list nodes`, `get pods/log ml`.
pub(super) fn reviewed(request: &Request) -> Option<String> {
    let of = request.body.get("spec")?.get("resourceAttributes")?;
    let text = |key: &str| of[key].as_str().unwrap_or_default().to_owned();
    let mut out = format!("{} {}", text("verb"), text("resource"));
    if !text("subresource").is_empty() {
        out = format!("{out}/{}", text("subresource"));
    }
    if !text("namespace").is_empty() {
        out = format!("{out} {}", text("namespace"));
    }
    Some(out)
}

/// A server that answers what `handler` leaves out as an empty, permissive
/// cluster would.
pub(super) fn start(handler: impl Fn(&Request) -> Option<Reply> + Send + Sync + 'static) -> Fake {
    Fake::start(move |request| handler(request).unwrap_or_else(|| default(request)))
}

/// An empty cluster that allows everything.
fn default(request: &Request) -> Reply {
    match request.path.as_str() {
        "/version" => recorded(include_str!("../testdata/version.json")),
        "/api/v1/namespaces/kube-system" => namespace(UID),
        "/apis" => Reply::Json(
            200,
            json!({ "kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "items": [] }),
        ),
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => allowed(true),
        path if path.ends_with("/log") => Reply::Text(200, String::new()),
        _ if is_watch(request) => Reply::Stream(vec![BodyPart::Wait(Duration::from_secs(30))]),
        _ => list(&[], "1", ""),
    }
}

pub(super) fn namespace(uid: &str) -> Reply {
    Reply::Json(
        200,
        json!({ "kind": "Namespace", "apiVersion": "v1", "metadata": { "name": "kube-system", "uid": uid } }),
    )
}

pub(super) fn allowed(allowed: bool) -> Reply {
    Reply::Json(
        201,
        json!({ "kind": "SelfSubjectAccessReview", "status": { "allowed": allowed } }),
    )
}

pub(super) fn list(items: &[Value], version: &str, next: &str) -> Reply {
    Reply::Json(
        200,
        json!({ "kind": "List", "metadata": { "resourceVersion": version, "continue": next }, "items": items }),
    )
}

/// A `Status`, as every failure is told.
pub(super) fn status(code: u16, reason: &str, message: &str, next: Option<&str>) -> Reply {
    Reply::Json(
        code,
        json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason, "message": message, "metadata": { "continue": next } }),
    )
}

/// A recorded answer.
pub(super) fn recorded(recording: &str) -> Reply {
    let recording: Value = serde_json::from_str(recording).unwrap();
    let response = &recording["response"];
    let code = u16::try_from(response["status"].as_u64().unwrap()).unwrap();
    match &response["body"] {
        Value::String(text) => Reply::Text(code, text.clone()),
        body => Reply::Json(code, body.clone()),
    }
}

/// The body of a recorded answer.
pub(super) fn body(recording: &str) -> Value {
    let recording: Value = serde_json::from_str(recording).unwrap();
    recording["response"]["body"].clone()
}
