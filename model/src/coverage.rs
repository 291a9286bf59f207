//! Coverage: what was asked of a source, and what was obtained.

use serde::{Deserialize, Serialize};

use crate::event::SourceKind;
use crate::kind::is_workload;
use crate::time::Nanos;

mod tally;

pub use tally::{Tally, first_reasons};

/// Why the rest of an input was left out.
pub const MORE_THAN_HELD: &str = "more facts than are held in memory";
/// The same where there was no end of it.
pub const READ_TOO_LONG: &str = "reading took longer than";
/// The same where nobody counts so far.
pub const MORE_THAN_COUNTED: &str = "records, which is the limit";

crate::words! {
    /// Whether rows cover a period or one moment.
    pub fixed Mode as "CoverageMode" {
        /// Everything between two times.
        Interval = "interval",
        /// The state at one time.
        Snapshot = "snapshot",
    }
}

crate::words! {
    /// How well a source answered.
    pub fixed Status as "CoverageStatus" {
        /// It returned everything that was requested.
        Complete = "complete",
        /// It has more than was read.
        Truncated = "truncated",
        /// It keeps only a sample.
        Sampled = "sampled",
        /// It denied access.
        Denied = "denied",
        /// It could not be read.
        Failed = "failed",
        /// It no longer keeps what was requested.
        Expired = "expired",
        /// No such source is configured, or the input contains none.
        NotConfigured = "not_configured",
    }
}

impl Status {
    /// Whether something a verdict could rest on may be missing although the
    /// source was there to be asked.
    #[must_use]
    pub fn caps_a_verdict(self) -> bool {
        matches!(self, Self::Truncated | Self::Denied | Self::Failed)
    }
}

/// What kind of thing a row speaks of, whatever its source is called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum EvidenceKind {
    /// Lines of containers.
    Logs,
    /// What clouds did to machines, and who asked for it.
    Activity,
    /// Who asked for what at the Kubernetes API.
    Audit,
    /// What machines' kernels and controllers wrote.
    Kernel,
    /// Measurements.
    Metrics,
}

impl EvidenceKind {
    /// All of them, in the order of the documentation.
    pub const ALL: [Self; 5] = [
        Self::Logs,
        Self::Activity,
        Self::Audit,
        Self::Kernel,
        Self::Metrics,
    ];

    /// The word that rules use.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Logs => "logs",
            Self::Activity => "activity",
            Self::Audit => "audit",
            Self::Kernel => "kernel",
            Self::Metrics => "metrics",
        }
    }

    /// The kind that a word of a rule means.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// What a file holds that came from such a source.
    fn of_source(source: SourceKind) -> Option<Self> {
        Some(match source {
            source if source.is_log_store() => Self::Logs,
            SourceKind::ContainerLog => Self::Logs,
            SourceKind::Gcp | SourceKind::Aws | SourceKind::Azure => Self::Activity,
            SourceKind::KubernetesAudit => Self::Audit,
            SourceKind::NodeLog => Self::Kernel,
            SourceKind::Prometheus => Self::Metrics,
            _ => return None,
        })
    }
}

/// One row a source, resource kind, cluster and namespace.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Coverage {
    /// Configured name, or the connector's name for recordings.
    pub source: String,
    /// `pods`, `events`, `audit`, `logs`, …
    pub resource: String,
    /// Cluster, where known.
    pub cluster: Option<String>,
    /// Namespace, where the row is of one.
    pub namespace: Option<String>,
    /// Interval or snapshot.
    pub mode: Mode,
    /// Start of what was asked for.
    pub asked_from: Option<Nanos>,
    /// End of what was asked for.
    pub asked_to: Option<Nanos>,
    /// Start of what was obtained.
    pub got_from: Option<Nanos>,
    /// End of what was obtained.
    pub got_to: Option<Nanos>,
    /// How long the source keeps its data, in seconds.
    pub retention_s: Option<i64>,
    /// How well it answered.
    pub status: Status,
    /// Records obtained.
    pub rows: u64,
    /// What fell short and why.
    pub detail: Option<String>,
    /// What the source would have told, where it is missing.
    pub would_have_shown: Option<String>,
}

impl Coverage {
    /// What kind of thing the row speaks of. Sources are called what their owner
    /// likes, so only a file's row is judged by its source, which no one can name.
    #[must_use]
    pub fn shows(&self) -> Option<EvidenceKind> {
        match self.resource.as_str() {
            "file" => SourceKind::parse(&self.source).and_then(EvidenceKind::of_source),
            // What machines there are says nothing of what was done to them.
            "maintenance" | "health" | "service_health" | "scheduled_events" | "spot_requests"
            | "scaling_activities" => Some(EvidenceKind::Activity),
            resource => EvidenceKind::parse(resource),
        }
    }

    /// Whether a row is of a part of the store that is damaged: evidence of any kind may have been in it.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        let is_table = matches!(self.resource.as_str(), "events" | "objects" | "database");
        self.source == "store" && is_table && self.status.caps_a_verdict()
    }

    /// Whether a row is of input that was left out because it was more than may be read: evidence of any kind may have
    /// been in it.
    #[must_use]
    pub fn is_more_than_read(&self) -> bool {
        let bounds = [MORE_THAN_HELD, READ_TOO_LONG, MORE_THAN_COUNTED];
        let says = |detail: &str| bounds.iter().any(|bound| detail.contains(bound));
        self.resource == "file" && self.detail.as_deref().is_some_and(says)
    }

    /// Whether a row is of a file that was not read to its end, of which nobody knows what it held: evidence of any kind.
    #[must_use]
    pub fn is_unread_file(&self) -> bool {
        self.resource == "file"
            && SourceKind::parse(&self.source).is_none()
            && self.status.caps_a_verdict()
    }

    /// Whether a row is of a cluster that did not respond, or would not.
    #[must_use]
    pub fn is_silent_cluster(&self) -> bool {
        self.resource == "cluster" && self.status.caps_a_verdict()
    }

    /// A row over a stretch of time, complete and without records, to be filled in.
    #[must_use]
    pub fn new(source: &str, resource: &str) -> Self {
        Self {
            source: source.to_owned(),
            resource: resource.to_owned(),
            cluster: None,
            namespace: None,
            mode: Mode::Interval,
            asked_from: None,
            asked_to: None,
            got_from: None,
            got_to: None,
            retention_s: None,
            status: Status::Complete,
            rows: 0,
            detail: None,
            would_have_shown: None,
        }
    }
}

/// What a fact that a source told is of: the resource of its row of coverage.
#[must_use]
pub fn resource_of(kind: SourceKind, fact: &str) -> &'static str {
    match kind {
        SourceKind::KubernetesAudit => "audit",
        SourceKind::NodeLog if fact == "cloud.host_event" => "maintenance",
        _ if fact == "node.log" => "kernel",
        SourceKind::Gcp | SourceKind::Aws | SourceKind::Azure => "activity",
        SourceKind::NodeLog => "kernel",
        SourceKind::Slurm => "jobs",
        SourceKind::Prometheus if fact == "alert.fired" => "alerts",
        SourceKind::Prometheus => "metrics",
        SourceKind::Alertmanager if fact == "alert.silence" => "silences",
        SourceKind::Alertmanager => "alerts",
        SourceKind::Grafana => "annotations",
        SourceKind::Tracker => "trackers",
        SourceKind::Kubernetes if fact == "k8s.event" => "events",
        SourceKind::Kubernetes if fact.starts_with("k8s.node.") || fact == "gpu.test" => "nodes",
        SourceKind::Kubernetes
            if fact.starts_with("k8s.pod.") || fact.starts_with("k8s.container.") =>
        {
            "pods"
        }
        SourceKind::Kubernetes if fact == "k8s.lease" => "leases",
        SourceKind::Kubernetes => "workloads",
        // Container logs, and what stands in a log store (`SourceKind::is_log_store`).
        _ => "logs",
    }
}

/// The resource that an object of a kind is counted under, where it is one of those that are counted.
#[must_use]
pub fn resource_of_object(kind: &str) -> Option<&'static str> {
    match kind {
        "Pod" => Some("pods"),
        "Node" => Some("nodes"),
        kind if is_workload(kind) => Some("workloads"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_row_speaks_of_does_not_depend_on_the_name_of_its_source() {
        for (source, resource, shows) in [
            ("loki", "logs", Some(EvidenceKind::Logs)),
            ("prod", "logs", Some(EvidenceKind::Logs)),
            ("kubernetes", "logs", Some(EvidenceKind::Logs)),
            (
                "our cloud",
                "scheduled_events",
                Some(EvidenceKind::Activity),
            ),
            ("our cloud", "instances", None),
            ("elasticsearch", "file", Some(EvidenceKind::Logs)),
            ("kubernetes_audit", "file", Some(EvidenceKind::Audit)),
            ("prod", "kernel", Some(EvidenceKind::Kernel)),
            ("kubernetes", "file", None),
            ("kubernetes", "configmaps", None),
        ] {
            assert_eq!(
                Coverage::new(source, resource).shows(),
                shows,
                "{source} {resource}"
            );
        }
        assert_eq!(
            EvidenceKind::ALL
                .map(EvidenceKind::as_str)
                .map(EvidenceKind::parse),
            EvidenceKind::ALL.map(Some)
        );
    }
}
