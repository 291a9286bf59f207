//! `kubernetes-ec2-autoscaler`: lines of Python's logger, and between
//! them JSON lines that name pods by uid.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value};

use super::reader::{Line, MessagePattern, NodeAction, meanings, understand};
use crate::contract::FileHead;
use crate::logs::clock;
use crate::logs::unwrapped;

static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d{4}) - autoscaler(?:\.[\w.]+)? - ",
        r"(CRITICAL|ERROR|WARNING|INFO|DEBUG) - (.*)$",
    ))
    .ok()
});

/// What its JSON lines say where they come from.
const MAPPING: &str = "\"_log_streaming_target_mapping\"";

/// Whether it begins as this log.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(50).any(|line| {
        LINE.as_ref()
            .is_some_and(|pattern| pattern.is_match(line) || pattern.is_match(&unwrapped(line)))
            || (line.contains(MAPPING) && line.contains("kubernetes-ec2-autoscaler"))
    })
}

/// A node prints as `name: instance_id (selectors)`.
const NODE: &str = r"(?<node>[^\s:]+)(?:: (?<instance>\S+))?";

static MEANINGS: LazyLock<Vec<MessagePattern>> = LazyLock::new(|| {
    let node = |text: &str| text.replace("NODE", NODE);
    let table: Vec<(String, &'static str)> = [
        (r"^cordon failed NODE", "scale_down_failed"),
        (r"^delete failed NODE", "scale_down_failed"),
        (r"^Cannot find ASG for node NODE.*Not (?:cordoned|terminated)", "scale_down_failed"),
        (r"^Failed to terminate instance: (?<detail>.*)", "scale_down_failed"),
        (r"^(?<detail>TOO MANY NODES TO SCALE IN.*)", "scale_down_failed"),
        (r"^cordoned NODE", "cordoned"),
        (r"^uncordoned NODE", "uncordoned"),
        (r"^drained NODE", "drained"),
        (r"^Deleting Pod (?<pod>\S+/\S+)", "pod_deleted"),
        (r"^deleted NODE", "removed"),
        (r"^Scaled node NODE.* in$", "removed"),
        (r"^terminating unmanaged (?<instance>\S+)", "removed"),
        (r"^Terminated instances (?<detail>.*)", "removed"),
        (r"^ASG: (?<group>\S+) new_desired_capacity: (?<to>\d+)", "scale_up"),
        (r"^Scaling Azure Scale Set (?<group>\S+) to (?<to>\d+)", "scale_up"),
        (r"^(?<group>\S+) failed provisioning\. Skipping it", "scale_up_failed"),
        (r"^Out of quota for (?<group>.+)!", "scale_up_quota"),
        (r"^Not enough scale sets to reach desired capacity (?<to>\d+) for (?<group>.+)", "scale_up_limit"),
        (r"^(?:AutoScalingGroup\((?<group>[^,)]+).*\)) scaling failure: (?<detail>.*(?:You have requested more|VcpuLimitExceeded|VolumeLimitExceeded|Max spot instance count).*)", "scale_up_quota"),
        (r"^(?:AutoScalingGroup\((?<group>[^,)]+).*\)) scaling failure: (?<detail>.*(?:[Ii]nsufficient capacity|do not have sufficient).*)", "scale_up_stockout"),
        (r"^(?:AutoScalingGroup\((?<group>[^,)]+).*\)) scaling failure: (?<detail>.*)", "scale_up_failed"),
        (r"^(?<group>.+?) is (?:spot )?timed out until (?<detail>.*)", "scale_up_timed_out"),
        (r"^Failed to scale sufficiently", "scale_up_failed"),
        (r"^backoff: (?<detail>\d+)", "api_failed"),
        (r"^Failed to list nodes\.", "api_failed"),
        (r"^Azure request throttled: (?<detail>.*)", "api_failed"),
        (r"^(?:Error|Timeout) while deleting Azure node", "scale_down_failed"),
    ]
    .iter()
    .map(|(pattern, what)| (node(pattern), *what))
    .collect();
    let table: Vec<(&str, &'static str)> = table
        .iter()
        .map(|(pattern, what)| (pattern.as_str(), *what))
        .collect();
    meanings(&table)
});

/// Takes a line apart.
pub(super) fn read(text: &str) -> Option<Line> {
    if text.starts_with('{') {
        return structured(text);
    }
    let found = LINE.as_ref()?.captures(text)?;
    let message = found[3].to_owned();
    // `[Dry run] Would have …` did not happen.
    let did = understand(&message, &MEANINGS).map(group_alone);
    Some(Line {
        clock: clock::leading(&found[1]).map(|(clock, _)| clock),
        severity: Some(found[2].to_owned()),
        did: did.into_iter().collect(),
        message,
    })
}

/// A group prints as `AutoScalingGroup(name, hash)`.
fn group_alone(mut did: NodeAction) -> NodeAction {
    if let Some(group) = &did.group {
        let inside = group
            .strip_prefix("AutoScalingGroup(")
            .and_then(|rest| rest.split([',', ')']).next());
        did.group = Some(inside.unwrap_or(group).trim().to_owned());
    }
    did
}

/// One pod that something was done for or to.
fn structured(text: &str) -> Option<Line> {
    let object: Map<String, Value> = serde_json::from_str(text).ok()?;
    let get = |key: &str| object.get(key).and_then(Value::as_str);
    let message = get("message")?.to_owned();
    let what = match message.as_str() {
        "scale" => "scale_up",
        "failed to scale" => "scale_up_failed",
        "invalid pod capacity" => "unschedulable",
        // All pods of the node are listed, only some were deleted.
        "drain" => "drained",
        _ => return None,
    };
    let pod = get("pod_name").and_then(|name| {
        let (namespace, name) = name.split_once('/')?;
        Some((namespace.to_owned(), name.to_owned()))
    });
    let node = get("node").and_then(|node| node.split(": ").next());
    let mut attributes = Vec::new();
    if let Some(units) = object.get("units_requested") {
        attributes.push(("units", units.clone()));
    }
    let did = NodeAction {
        what: what.to_owned(),
        node: node.map(str::to_owned),
        pod,
        pod_uid: get("pod_id").map(str::to_owned),
        group: get("asg").map(str::to_owned),
        attributes,
        ..NodeAction::default()
    };
    Some(Line {
        clock: get("time").and_then(|time| clock::leading(time).map(|(clock, _)| clock)),
        severity: None,
        message,
        did: vec![did],
    })
}
