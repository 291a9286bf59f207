//! Nodes: conditions with a time of their own, and the state that versions differ in.

use serde_json::Value;

use super::decode::Context;
use super::{field, meta};
use crate::object::Taint;
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::Stamp;

pub(super) fn decode(
    node: &Value,
    context: Context<'_>,
    out: &mut Vec<Observation>,
) -> Result<(), Rejection> {
    let key = meta::key("Node", node)?;
    let mut body = meta::body(node);
    body.provider_id = field::owned(node, &["spec", "providerID"]);
    body.boot_id = field::owned(node, &["status", "nodeInfo", "bootID"]);
    body.unschedulable = field::flag(node, &["spec", "unschedulable"]);
    body.unschedulable_by = meta::writer(node, &["f:spec", "f:unschedulable"]);
    body.allocatable = field::texts(node, &["status", "allocatable"]);
    let taints_by = meta::writer(node, &["f:spec", "f:taints"]);
    body.taints = field::items(node, &["spec", "taints"])
        .iter()
        .filter_map(|taint| {
            Some(Taint {
                key: field::owned(taint, &["key"])?,
                value: field::owned(taint, &["value"]).unwrap_or_default(),
                effect: field::owned(taint, &["effect"]).unwrap_or_default(),
                added: field::time(taint, &["timeAdded"]).or_else(|| taints_by.as_ref()?.time),
            })
        })
        .collect();
    body.taints.sort();
    let version = meta::version(key, node, body, context);
    for condition in field::items(node, &["status", "conditions"]) {
        let (Some(kind), Some(status)) = (
            field::text(condition, &["type"]),
            field::text(condition, &["status"]),
        ) else {
            continue;
        };
        if !tells(kind, status) {
            continue;
        }
        let since = field::time(condition, &["lastTransitionTime"])
            .or(version.at)
            .unwrap_or(Stamp::OPEN);
        let mut event = meta::fact(
            "k8s.node.condition",
            &version.key,
            &[kind, status],
            since,
            condition,
            context,
        );
        event.reason = field::owned(condition, &["reason"]);
        event.message = field::text(condition, &["message"]).map(|text| redact(text).into_owned());
        event.set_attribute("condition", Some(kind));
        event.set_attribute("status", Some(status));
        out.push(Observation::Event(Box::new(event)));
    }
    meta::endings(&version, context, out);
    out.push(Observation::Object(Box::new(version)));
    Ok(())
}

/// Readiness tells in all its states; of the rest only what is not healthy.
/// Health conditions are named for the problem and True when it is there,
/// except those named `…Ready`, which are True when all is well. `Unknown`
/// only says that the node is silent, which Ready says already.
fn tells(kind: &str, status: &str) -> bool {
    match (kind, status) {
        ("Ready", _) => true,
        // What was announced has passed, or was called off.
        ("VMEventScheduled", "False") => true,
        (_, "Unknown") => false,
        _ if kind.ends_with("Ready") => status == "False",
        _ => status == "True",
    }
}
