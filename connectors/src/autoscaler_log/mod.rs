//! What node autoscalers write of themselves, as facts `cloud.group_activity`.
//!
//! Cluster Autoscaler, Karpenter, and `kubernetes-ec2-autoscaler`.
//! `actor` is the autoscaler, `reason` what it did in one word of ours, since
//! their logs have none: `scale_up`, `scale_up_failed`, `scale_up_stockout`,
//! `scale_up_quota`, `scale_up_limit`, `scale_up_timed_out`, `unschedulable`,
//! `cordoned`, `uncordoned`, `drained`, `pod_deleted`, `removed`, `replaced`,
//! `interrupted`, `scale_down_failed`, `api_failed`. What an autoscaler only
//! would have done (a dry run) is no fact. A pod that `drained` names was not
//! necessarily deleted; `pod_deleted` is.

mod cluster;
mod ec2;
mod karpenter;
mod reader;

#[cfg(test)]
mod tests;

use crate::contract::TextFormat;

/// Formats of text.
pub(crate) const FORMATS: &[TextFormat] = &[
    TextFormat {
        words: "kubernetes-ec2-autoscaler's log",
        of_pods: true,
        first: true,
        is: ec2::is,
        reader: |source, _| {
            Box::new(reader::Log::new(
                source,
                "kubernetes-ec2-autoscaler",
                ec2::read,
            ))
        },
    },
    TextFormat {
        words: "Cluster Autoscaler's log",
        of_pods: true,
        first: false,
        is: cluster::is,
        reader: |source, _| {
            Box::new(reader::Log::new(
                source,
                "cluster-autoscaler",
                cluster::read,
            ))
        },
    },
    TextFormat {
        words: "Karpenter's log",
        of_pods: true,
        first: true,
        is: karpenter::is,
        reader: |source, _| Box::new(reader::Log::new(source, "karpenter", karpenter::read)),
    },
];
