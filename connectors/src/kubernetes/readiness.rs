//! Whether the containers of a pod are ready or run, whatever else is said of the pod itself.

use serde_json::Value;

use super::field;
use crate::object::ObjectBody;

/// Notes whether a container runs, or is held back since it had failed.
pub(super) fn note_state(status: &Value, name: &str, body: &mut ObjectBody) {
    let waits_for = field::text(status, &["state", "waiting", "reason"]);
    if field::at(status, &["state", "running"]).is_some_and(Value::is_object) {
        body.running.push(name.to_owned());
    } else if waits_for == Some("CrashLoopBackOff") {
        body.held_back.push(name.to_owned());
    }
}

/// What the kubelet says of all containers. The controller of nodes marks each pod of a node that is out of reach as
/// not ready, and leaves this and the kubelet's last reason as they are.
pub(super) fn containers_ready(pod: &Value) -> Option<&str> {
    let conditions = field::items(pod, &["status", "conditions"]);
    let mut kinds = conditions
        .iter()
        .filter(|condition| field::text(condition, &["type"]) == Some("ContainersReady"));
    match kinds.next() {
        Some(ready) => field::text(ready, &["status"]),
        None => are_ready(pod).then_some("True"),
    }
}

/// Whether the kubelet says of each container that it is ready, and nobody else has a say in whether the pod is.
fn are_ready(pod: &Value) -> bool {
    let reported = field::items(pod, &["status", "containerStatuses"]);
    let is_ready = |status: &Value| field::flag(status, &["ready"]);
    let has_sidecars = field::items(pod, &["spec", "initContainers"])
        .iter()
        .any(|init| field::text(init, &["restartPolicy"]).is_some());
    !reported.is_empty()
        && reported.len() == field::items(pod, &["spec", "containers"]).len()
        && reported.iter().all(is_ready)
        && !has_sidecars
        && field::items(pod, &["spec", "readinessGates"]).is_empty()
}
