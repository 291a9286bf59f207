//! Cluster Autoscaler: klog lines.

use std::sync::LazyLock;

use regex::Regex;

use super::reader::{Line, MessagePattern, meanings, understand};
use crate::contract::FileHead;
use crate::logs::clock;
use crate::logs::unwrapped;

/// `I1121 15:20:27.000001       1 static_autoscaler.go:100] text`
static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^([IWEF])(\d{4} \d\d:\d\d:\d\d\.\d+)\s+\d+ ([\w.-]+\.go):\d+\] (.*)$").ok()
});

/// Source files that only it has.
const FILES: &[&str] = &[
    "static_autoscaler.go",
    "scale_up.go",
    "scale_down.go",
    "orchestrator.go",
    "clusterstate.go",
    "actuator.go",
    "delete_in_batch.go",
    "eligibility.go",
    "filter_out_schedulable.go",
    "pre_filtering_processor.go",
];

/// Whether it begins as this log.
pub(super) fn is(head: &FileHead<'_>) -> bool {
    head.lines(200).any(|line| {
        let line = unwrapped(line);
        LINE.as_ref()
            .and_then(|pattern| pattern.captures(&line))
            .is_some_and(|found| FILES.contains(&&found[3]))
    })
}

static MEANINGS: LazyLock<Vec<MessagePattern>> = LazyLock::new(|| {
    meanings(&[
        (
            r"^Scale-up: setting group (?<group>\S+) size to (?<to>\d+)",
            "scale_up",
        ),
        (
            r"^Scale-down: removing (?:empty )?node (?<node>[^\s,]+)",
            "removed",
        ),
        (r"^Scale-down: node (?<node>\S+) removed", "removed"),
        (
            r"^Successfully added ToBeDeletedTaint on node (?<node>\S+)",
            "cordoned",
        ),
        (
            r"^(?:Failed to delete|Failed to drain|Failed to remove) (?:node )?(?<node>[^\s:,]+)",
            "scale_down_failed",
        ),
        (
            r"^Scale-up timed out for node group (?<group>\S+) after (?<detail>\S+)",
            "scale_up_timed_out",
        ),
        (
            r"^Disabling scale-up for node group (?<group>\S+) until .*errorCode=(?<detail>\w*(?:QUOTA|Quota|Limit)\w*)",
            "scale_up_quota",
        ),
        (
            r"^Disabling scale-up for node group (?<group>\S+) until .*errorClass=(?:OutOfResource|1); errorCode=(?<detail>[^;\s]+)",
            "scale_up_stockout",
        ),
        (
            r"^Disabling scale-up for node group (?<group>\S+) until (?<detail>.*)",
            "scale_up_failed",
        ),
        (r"^Failed to scale up: (?<detail>.*)", "scale_up_failed"),
        (
            r"^Failed to increase (?:node group|NodeGroup) (?<group>\S+)(?<detail>.*)",
            "scale_up_failed",
        ),
        (
            r"^Skipping node group (?<group>\S+) - max size reached",
            "scale_up_limit",
        ),
        (
            r"^(?<detail>Cluster is not ready for autoscaling|Failed to get nodes from apiserver.*)",
            "api_failed",
        ),
    ])
});

/// Takes a line apart.
pub(super) fn read(text: &str) -> Option<Line> {
    let found = LINE.as_ref()?.captures(text)?;
    let message = found[4].to_owned();
    let severity = match &found[1] {
        "I" => "INFO",
        "W" => "WARNING",
        "E" => "ERROR",
        _ => "FATAL",
    };
    Some(Line {
        clock: clock::leading(text).map(|(clock, _)| clock),
        severity: Some(severity.to_owned()),
        did: understand(&message, &MEANINGS).into_iter().collect(),
        message,
    })
}
