//! Karpenter: JSON lines.

use serde_json::{Map, Value};

use super::reader::{Line, NodeAction};
use crate::contract::FileHead;
use crate::logs::clock;
use crate::logs::unwrapped;

/// Whether it begins as this log.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(50).any(|line| {
        let line = unwrapped(line);
        line.starts_with('{')
            && line.contains("\"commit\"")
            && line.contains("\"controller\"")
            && (line.contains("NodeClaim")
                || line.contains("NodePool")
                || line.contains("nodeclaim")
                || line.contains("karpenter"))
    })
}

/// Takes a line apart.
pub(super) fn read(text: &str) -> Option<Line> {
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    let get = |key: &str| object.get(key).and_then(Value::as_str);
    let message = get("message").or_else(|| get("msg"))?;
    let error = get("error");
    let time = get("time").or_else(|| get("ts"));
    Some(Line {
        clock: time.and_then(|time| clock::leading(time).map(|(clock, _)| clock)),
        severity: get("level").map(str::to_owned),
        message: match error {
            Some(error) => format!("{message}: {error}"),
            None => message.to_owned(),
        },
        did: did(&object, message, error.unwrap_or_default()),
    })
}

fn named(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(name) => Some(name.clone()),
        Value::Object(fields) => fields
            .get("name")
            .and_then(Value::as_str)
            .map(str::to_owned),
        _ => None,
    }
    .filter(|name| !name.is_empty())
}

fn did(object: &Map<String, Value>, message: &str, error: &str) -> Vec<NodeAction> {
    let get = |key: &str| object.get(key).and_then(Value::as_str);
    let group = || named(object.get("NodePool")).or_else(|| get("nodepool").map(str::to_owned));
    let one = |what: &str, detail: Option<&str>| {
        let mut attributes = Vec::new();
        if let Some(claim) = named(object.get("NodeClaim")) {
            attributes.push(("node_claim", Value::from(claim)));
        }
        if let Some(detail) = detail {
            attributes.push(("detail", Value::from(detail)));
        }
        vec![NodeAction {
            what: what.to_owned(),
            node: named(object.get("Node")),
            group: group(),
            instance: get("provider-id").and_then(instance),
            zone: get("zone").map(str::to_owned),
            attributes,
            ..NodeAction::default()
        }]
    };
    let stockout = [
        "InsufficientInstanceCapacity",
        "insufficient capacity",
        "Unfulfillable",
        "ZONE_RESOURCE",
    ];
    let quota = [
        "VcpuLimitExceeded",
        "MaxSpotInstanceCount",
        "QUOTA",
        "quota",
    ];
    let has = |words: &[&str]| words.iter().any(|word| error.contains(word));
    match message {
        "launched nodeclaim" => one("scale_up", get("instance-type")),
        "tainted node" => one("cordoned", None),
        "deleted node" => one("removed", None),
        "initiating delete from interruption message" => one("interrupted", get("messageKind")),
        _ if message.starts_with("disrupting") => disrupted(object, group().as_deref()),
        "Reconciler error" | "failed launching nodeclaim" | "launching nodeclaim"
            if has(&stockout) =>
        {
            one("scale_up_stockout", Some(error))
        }
        "Reconciler error" | "failed launching nodeclaim" | "launching nodeclaim"
            if has(&quota) =>
        {
            one("scale_up_quota", Some(error))
        }
        "failed launching nodeclaim" | "launching nodeclaim" if !error.is_empty() => {
            one("scale_up_failed", Some(error))
        }
        "could not schedule pod" => {
            let pod = object.get("Pod").and_then(Value::as_object);
            let part = |key: &str| pod?.get(key)?.as_str().map(str::to_owned);
            let mut emitted = one("unschedulable", Some(error));
            if let (Some(namespace), Some(name)) = (part("namespace"), part("name")) {
                emitted[0].pod = Some((namespace, name));
            }
            emitted
        }
        _ => Vec::new(),
    }
}

/// `aws:///us-east-1a/i-0123456789abcdef0`
fn instance(provider: &str) -> Option<String> {
    let id = provider.rsplit('/').next()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// Each node that is taken away, and why.
fn disrupted(object: &Map<String, Value>, group: Option<&str>) -> Vec<NodeAction> {
    let get = |key: &str| object.get(key).and_then(Value::as_str);
    let reason = get("reason").unwrap_or_default();
    let what = match reason.to_ascii_lowercase().as_str() {
        "drifted" | "drift" | "expired" | "expiration" => "replaced",
        _ => "removed",
    };
    let nodes = object
        .get("disrupted-nodes")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    nodes
        .map(|node| NodeAction {
            what: what.to_owned(),
            node: named(node.get("Node")),
            group: group.map(str::to_owned),
            attributes: vec![("disruption", Value::from(reason))],
            ..NodeAction::default()
        })
        .collect()
}
