//! What a kubelet's patch of a pod's status tells, where the audit log holds the request and not the
//! answer: many policies keep no more (GKE's among them).
//!
//! Such a patch is a part of the object. What is not in it may be there, so it is no version of the
//! object; the states of containers in it are whole.

use serde_json::{Value, json};

use super::decode::Context;
use super::{field, pod};
use crate::observation::Observation;

/// What a patch tells as surely as the whole object does.
const CERTAIN: [&str; 3] = [
    "k8s.container.started",
    "k8s.container.terminated",
    "k8s.container.waiting",
];

/// The facts that a request to patch a pod's status tells.
pub(super) fn facts(record: &Value, context: Context<'_>, out: &mut Vec<Observation>) {
    let text = |path: &[&str]| field::text(record, path);
    let by_kubelet =
        text(&["user", "username"]).is_some_and(|user| user.starts_with("system:node:"));
    let of_status = text(&["objectRef", "subresource"]) == Some("status");
    let patch = record
        .get("requestObject")
        .filter(|patch| patch.is_object());
    let (true, true, Some(patch)) = (by_kubelet, of_status, patch) else {
        return;
    };
    // The server refuses a patch for another pod of that name, which its uid tells.
    let uid = text(&["requestObject", "metadata", "uid"]).or(text(&["objectRef", "uid"]));
    let node = text(&["user", "username"]).and_then(|user| user.strip_prefix("system:node:"));
    let part = json!({
        "kind": "Pod",
        "metadata": {
            "name": text(&["objectRef", "name"]),
            "namespace": text(&["objectRef", "namespace"]),
            "uid": uid,
        },
        "spec": { "nodeName": node },
        "status": patch.get("status"),
    });
    let mut all = Vec::new();
    // What cannot be read of it tells nothing; the record itself is counted as the act that it is.
    let _unread = pod::decode(&part, context, &mut all);
    out.extend(all.into_iter().filter(|one| match one {
        Observation::Event(event) => CERTAIN.contains(&event.fact.as_str()),
        Observation::Object(_) | Observation::EventGrew { .. } => false,
    }));
}

#[cfg(test)]
mod tests {
    use super::super::decode;
    use crate::event::Origin;
    use crate::observation::Observation;

    #[test]
    fn a_request_tells_how_a_container_ended_and_is_no_version_of_the_pod() {
        let record = serde_json::json!({
            "kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "Request", "stage": "ResponseComplete",
            "auditID": "a-1", "verb": "patch", "user": {"username": "system:node:n1"},
            "objectRef": {"resource": "pods", "namespace": "lab", "name": "solo", "subresource": "status", "apiVersion": "v1"},
            "responseStatus": {"code": 200},
            "requestReceivedTimestamp": "2026-11-23T10:00:03.5Z", "stageTimestamp": "2026-11-23T10:00:03.5Z",
            "requestObject": {"metadata": {"uid": "u-1"}, "status": {"phase": "Failed", "containerStatuses": [{
                "name": "main", "ready": false, "restartCount": 0, "state": {"terminated": {
                    "exitCode": 133, "reason": "Error",
                    "startedAt": "2026-11-23T09:00:00Z", "finishedAt": "2026-11-23T10:00:02Z"}}}]}},
        });
        let mut told = Vec::new();
        decode(
            record.to_string().as_bytes(),
            None,
            &Origin::default(),
            &mut told,
        )
        .unwrap();
        let mut facts: Vec<&str> = told
            .iter()
            .map(|one| match one {
                Observation::Event(event) => event.fact.as_str(),
                Observation::Object(_) => "a version",
                Observation::EventGrew { .. } => "more of an Event",
            })
            .collect();
        facts.sort_unstable();
        assert_eq!(facts, ["k8s.container.started", "k8s.container.terminated"]);
        let ended = told.iter().find_map(|one| match one {
            Observation::Event(event) if event.fact == "k8s.container.terminated" => Some(event),
            _ => None,
        });
        let ended = ended.expect("its end");
        assert_eq!(ended.exit_code, Some(133));
        assert_eq!(ended.entities.pod_uid.as_deref(), Some("u-1"));
    }
}
