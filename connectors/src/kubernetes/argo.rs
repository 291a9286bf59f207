//! Argo's Workflow tells how the pods of its steps ended, and keeps that when they are gone (`podGC`).

use serde_json::Value;

use super::decode::Context;
use super::{field, meta};
use crate::event::Event;
use crate::object::{ObjectKey, ObjectVersion};
use crate::redact::redact;

/// The container of a step that works; beside it Argo's own waits for its end.
const MAIN: &str = "main";

/// How the pods of a workflow's steps ended, as its controller saw it.
///
/// A node that failed says so of its main container, `OOMKilled (exit code 137)`; one that is in error speaks of Argo's own
/// containers, of a pod that was deleted, or of none.
pub(super) fn ends(
    workflow: &Value,
    version: &ObjectVersion,
    context: Context<'_>,
) -> impl Iterator<Item = Event> {
    let nodes = field::at(workflow, &["status", "nodes"]).and_then(Value::as_object);
    let nodes = nodes.into_iter().flat_map(serde_json::Map::values);
    nodes.filter_map(move |node| end(node, version, context))
}

fn end(node: &Value, version: &ObjectVersion, context: Context<'_>) -> Option<Event> {
    let is_pod = field::text(node, &["type"]) == Some("Pod");
    let finished = field::time(node, &["finishedAt"]).filter(|_| is_pod)?;
    let message = field::text(node, &["message"]).unwrap_or_default();
    let (reason, code) = match field::text(node, &["phase"])? {
        "Succeeded" => ("Completed", 0),
        "Failed" => exit(message)?,
        _ => return None,
    };
    let key = ObjectKey {
        kind: "Pod".to_owned(),
        namespace: version.key.namespace.clone(),
        name: pod_name(node, version)?,
        uid: String::new(),
    };
    let what = [MAIN, &code.to_string(), reason];
    let mut event = meta::fact(
        "k8s.container.terminated",
        &key,
        &what,
        finished,
        node,
        context,
    );
    event.exit_code = Some(code);
    event.reason = Some(reason.to_owned());
    event.message = Some(redact(message).into_owned()).filter(|text| !text.is_empty());
    event.entities.container = Some(MAIN.to_owned());
    event.set_attribute("told_by", Some("Workflow"));
    event.set_attribute("started", field::owned(node, &["startedAt"]));
    Some(event)
}

/// Reason and exit code of a container: `Error (exit code 1): killed by the watchdog`.
fn exit(message: &str) -> Option<(&str, i32)> {
    let (reason, rest) = message.split_once(" (exit code ")?;
    let is_word = !reason.is_empty() && reason.bytes().all(|byte| byte.is_ascii_alphabetic());
    let code = rest.split_once(')')?.0.parse().ok()?;
    is_word.then_some((reason, code))
}

/// The name of a step's pod: the id of its node, in which newer releases put the template before the hash.
fn pod_name(node: &Value, version: &ObjectVersion) -> Option<String> {
    /// What the API server takes as a name, without the hash and the sign before it.
    const LONGEST: usize = 253 - 11;
    let id = field::text(node, &["id"])?;
    let format = version
        .body
        .annotations
        .get("workflows.argoproj.io/pod-name-format");
    let workflow = version.key.name.as_str();
    let hash = id
        .strip_prefix(workflow)
        .and_then(|rest| rest.strip_prefix('-'));
    let (Some("v2"), Some(hash)) = (format.map(String::as_str), hash) else {
        return Some(id.to_owned());
    };
    let template = field::text(node, &["templateName"])
        .or_else(|| field::text(node, &["templateRef", "template"]));
    let mut stem = workflow.to_owned();
    if let Some(template) = template.filter(|name| !name.is_empty()) {
        stem.push('-');
        stem.push_str(template);
    }
    let stem = stem.get(..LONGEST).unwrap_or(&stem);
    Some(format!("{stem}-{hash}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_ends_as_its_container_did() {
        assert_eq!(exit("OOMKilled (exit code 137)"), Some(("OOMKilled", 137)));
        assert_eq!(
            exit("Error (exit code 1): out of patience"),
            Some(("Error", 1))
        );
        for other in [
            "pod deleted",
            "workflow shutdown with strategy:  Terminate",
            "child 'run-train-1' failed",
        ] {
            assert_eq!(exit(other), None, "{other}");
        }
    }
}
