//! The causes that the words of Kubernetes seem to name.
//!
//! This is what a person reads out of `kubectl get events` and `describe`
//! without looking further, so each word stands for the cause it names, even
//! where that is rarely the true one: `OOMKilled` for memory, `BackOff` for the
//! program, `NodeNotReady` for the node.

/// Reasons of Warning Events, and the cause that each one seems to name.
const REASONS: &[(&str, &str)] = &[
    ("BackOff", "code.exception"),
    ("BackoffLimitExceeded", "code.exception"),
    ("ContainerRuntimeIsDown", "node.runtime"),
    ("DeadlineExceeded", "code.deadline"),
    ("ErrImageNeverPull", "dep.image_pull"),
    ("Evicted", "sched.node_pressure"),
    ("EvictionThresholdMet", "sched.node_pressure"),
    ("ExceededGracePeriod", "code.exception"),
    ("Failed", "code.config_or_input"),
    ("FailedAttachVolume", "dep.volume"),
    ("FailedBinding", "dep.volume"),
    ("FailedCreate", "sched.quota"),
    ("FailedCreatePodSandBox", "dep.network"),
    ("FailedMount", "dep.volume"),
    ("FailedScaleUp", "cloud.capacity_exhausted"),
    ("FailedScheduling", "sched.unschedulable_capacity"),
    ("FreeDiskSpaceFailed", "sched.node_pressure"),
    ("InspectFailed", "dep.image_pull"),
    ("InstanceUnhealthy", "cloud.host_error"),
    ("KernelOops", "node.kernel_panic"),
    ("NetworkNotReady", "dep.network"),
    ("NodeNotReady", "node.not_ready"),
    ("OOMKilling", "code.host_oom"),
    ("PodFailurePolicy", "code.exception"),
    ("Preempting", "sched.preempted"),
    ("ProvisioningFailed", "dep.volume"),
    ("Rebooted", "node.reboot"),
    ("SpotInterrupted", "cloud.spot_reclaimed"),
    ("SystemOOM", "node.system_oom"),
    ("UnexpectedAdmissionError", "node.driver"),
    ("Unhealthy", "code.liveness_probe"),
];

/// What a container's status says, and the cause that it seems to name.
const EXITS: &[(&str, &str)] = &[
    ("ContainerCannotRun", "code.config_or_input"),
    ("ContainerStatusUnknown", "node.reboot"),
    ("CrashLoopBackOff", "code.exception"),
    ("CreateContainerConfigError", "dep.secret_or_config"),
    ("CreateContainerError", "code.config_or_input"),
    ("DeadlineExceeded", "code.deadline"),
    ("ErrImagePull", "dep.image_pull"),
    ("ImagePullBackOff", "dep.image_pull"),
    ("InvalidImageName", "dep.image_pull"),
    ("OOMKilled", "code.host_oom"),
    ("RunContainerError", "code.config_or_input"),
    ("StartError", "code.config_or_input"),
];

/// The cause that a Warning's reason seems to name.
pub(super) fn by_reason(reason: &str) -> Option<&'static str> {
    look_up(REASONS, reason)
}

/// The cause that a container's status seems to name. `Error` says only that
/// the code was not 0, so the code decides: 137 is taken for memory and 143
/// for a deletion, as everybody does.
pub(super) fn by_exit(reason: &str, code: Option<i32>) -> Option<&'static str> {
    look_up(EXITS, reason).or(match code? {
        0 => Some("none.completed"),
        126 | 127 => Some("code.config_or_input"),
        134 | 135 | 139 => Some("code.segfault"),
        137 => Some("code.host_oom"),
        143 => Some("ops.manual_delete"),
        _ => Some("code.exception"),
    })
}

fn look_up(table: &[(&str, &'static str)], word: &str) -> Option<&'static str> {
    let at = table.binary_search_by_key(&word, |(known, _)| known).ok()?;
    table.get(at).map(|(_, cause)| *cause)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_for_the_search() {
        assert!(REASONS.is_sorted() && EXITS.is_sorted());
    }

    #[test]
    fn words_name_causes() {
        assert_eq!(by_reason("FailedMount"), Some("dep.volume"));
        assert_eq!(by_reason("Pulled"), None);
        assert_eq!(by_exit("OOMKilled", Some(0)), Some("code.host_oom"));
        assert_eq!(by_exit("Error", Some(137)), Some("code.host_oom"));
        assert_eq!(by_exit("", None), None);
    }
}
