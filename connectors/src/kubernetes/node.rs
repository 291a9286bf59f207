//! Nodes: conditions with a time of their own, and the state that versions differ in.

use serde_json::Value;

use super::decode::Context;
use super::{field, meta};
use crate::object::Taint;
use crate::observation::{Observation, Rejection};
use crate::redact::redact;
use crate::time::{Nanos, SECOND, Stamp};

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
    body.devices = field::texts(node, &["status", "capacity"]);
    body.devices.retain(|resource, _| resource.contains('/'));
    body.taints = taints(node);
    let version = meta::version(key, node, body, context);
    for condition in field::items(node, &["status", "conditions"]) {
        let (Some(kind), Some(status)) = (
            field::text(condition, &["type"]),
            field::text(condition, &["status"]),
        ) else {
            continue;
        };
        if !is_noteworthy(kind, status) {
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

/// The taints of a node, each with the time at which it was added, as far as that is known.
fn taints(node: &Value) -> Vec<Taint> {
    let mut taints: Vec<Taint> = field::items(node, &["spec", "taints"])
        .iter()
        .filter_map(|taint| {
            let key = field::owned(taint, &["key"])?;
            let value = field::owned(taint, &["value"]).unwrap_or_default();
            let added = field::time(taint, &["timeAdded"]).or_else(|| marked_at(&key, &value));
            Some(Taint {
                key,
                value,
                effect: field::owned(taint, &["effect"]).unwrap_or_default(),
                added,
            })
        })
        .collect();
    let written = meta::writer(node, &["f:spec", "f:taints"])
        .filter(|writer| !DATES_ITS_OWN.contains(&writer.manager.as_str()))
        .and_then(|writer| writer.time);
    // Whoever writes one taint writes them all: the last write added those that bear no time only
    // where it added none that does, and is not known to have been made for something else.
    if let Some(written) = written.filter(|written| !explains(&taints, *written)) {
        for taint in taints.iter_mut().filter(|taint| taint.added.is_none()) {
            taint.added = Some(written);
        }
    }
    taints.sort();
    taints
}

/// When the cluster autoscaler set one of its taints: it writes the seconds since 1970 as the value
/// (kubernetes/autoscaler, cluster-autoscaler/utils/taints/taints.go).
fn marked_at(key: &str, value: &str) -> Option<Stamp> {
    const OF_AUTOSCALER: [&str; 2] = [
        "DeletionCandidateOfClusterAutoscaler",
        "ToBeDeletedByClusterAutoscaler",
    ];
    let seconds: Nanos = value.parse().ok().filter(|seconds| *seconds > 0)?;
    let is_own = OF_AUTOSCALER.contains(&key);
    is_own.then(|| Stamp::second(seconds.saturating_mul(SECOND)))
}

/// Managers of fields that give each taint which they add its time.
const DATES_ITS_OWN: [&str; 1] = ["kube-controller-manager"];

/// Whether a taint that bears its own time was added by a write of a certain time.
fn explains(taints: &[Taint], written: Stamp) -> bool {
    let near = |added: Stamp| added.lo.saturating_sub(written.lo).abs() <= 2 * SECOND;
    taints.iter().filter_map(|taint| taint.added).any(near)
}

/// Readiness tells in all its states; of the rest only what is not healthy.
/// Health conditions are named for the problem and True when it is there,
/// except those named `…Ready`, which are True when all is well. `Unknown`
/// only says that the node is silent, which Ready says already.
fn is_noteworthy(kind: &str, status: &str) -> bool {
    match (kind, status) {
        ("Ready", _) => true,
        // What was announced has passed, or was called off.
        ("VMEventScheduled", "False") => true,
        (_, "Unknown") => false,
        _ if kind.ends_with("Ready") => status == "False",
        _ => status == "True",
    }
}
