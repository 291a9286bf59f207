//! Pod specs, in pods and inside the templates of every workload kind.

use serde_json::Value;

use super::field;
use crate::object::{Container, ObjectBody};

/// Fills in what a pod spec asks for.
pub(super) fn fill(spec: &Value, body: &mut ObjectBody) {
    body.containers.extend(containers(spec, "containers"));
    body.containers.extend(containers(spec, "initContainers"));
    body.claims = field::items(spec, &["volumes"])
        .iter()
        .filter_map(|volume| field::owned(volume, &["persistentVolumeClaim", "claimName"]))
        .collect();
    body.restart_policy = field::owned(spec, &["restartPolicy"]);
    body.priority = field::int(spec, &["priority"]);
    body.priority_class = field::owned(spec, &["priorityClassName"]);
    body.node_selector = field::texts(spec, &["nodeSelector"]);
    body.tolerations = field::at(spec, &["tolerations"]).map(Value::to_string);
}

/// Finds the pod specs inside a workload's spec, wherever its kind keeps them
/// (`template`, replica groups, tasks, head and worker groups).
pub(super) fn find<'a>(spec: &'a Value, depth: u8, found: &mut Vec<&'a Value>) {
    match spec {
        Value::Object(map) if depth > 0 => {
            if map.get("containers").is_some_and(Value::is_array) {
                found.push(spec);
                return;
            }
            for value in map.values() {
                find(value, depth - 1, found);
            }
        }
        Value::Array(items) if depth > 0 => {
            for item in items {
                find(item, depth - 1, found);
            }
        }
        _ => {}
    }
}

fn containers(spec: &Value, which: &str) -> Vec<Container> {
    field::items(spec, &[which])
        .iter()
        .map(|container| Container {
            name: field::owned(container, &["name"]).unwrap_or_default(),
            image: field::owned(container, &["image"]).unwrap_or_default(),
            // A word may tell that the next one is a secret.
            command: crate::redact::arguments(
                field::items(container, &["command"])
                    .iter()
                    .chain(field::items(container, &["args"]))
                    .filter_map(Value::as_str)
                    .map(str::to_owned)
                    .collect(),
            ),
            requests: field::texts(container, &["resources", "requests"]),
            limits: field::texts(container, &["resources", "limits"]),
            restarts_on: restarts_on(container),
        })
        .collect()
}

/// The exit codes that a container of its own accord asks to be started again with.
fn restarts_on(container: &Value) -> Vec<i64> {
    let rules = field::items(container, &["restartPolicyRules"]).iter();
    let restart = rules.filter(|rule| {
        field::text(rule, &["action"]) == Some("Restart")
            && field::text(rule, &["exitCodes", "operator"]) == Some("In")
    });
    let codes = restart.flat_map(|rule| field::items(rule, &["exitCodes", "values"]));
    codes.filter_map(Value::as_i64).collect()
}
