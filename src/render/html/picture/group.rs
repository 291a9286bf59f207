//! The kinds of lanes, from the experiment down to what was read.

use crate::answer::TimelineRow;
use whathappened_core::timeline::Lane;

/// Lanes of one kind stand together, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in super::super) enum Group {
    Experiment,
    Pods,
    Machines,
    Cloud,
    Logs,
    Metrics,
    Other,
    Coverage,
}

impl Group {
    /// Where a row of the timeline stands.
    pub(in super::super) fn of(row: &TimelineRow) -> Self {
        let only = |sources: &[&str]| {
            let mut seen = row.seen_by.iter();
            !row.seen_by.is_empty() && seen.all(|one| sources.contains(&one.as_str()))
        };
        match row.lane {
            Lane::Workload => Self::Experiment,
            Lane::Pod | Lane::Container => Self::Pods,
            Lane::Log => Self::Logs,
            _ if only(&["gcp", "aws", "azure"]) => Self::Cloud,
            _ if only(&["prometheus", "alertmanager", "grafana"]) => Self::Metrics,
            Lane::Node => Self::Machines,
            Lane::Other => Self::Other,
        }
    }

    /// Its name in the page's attributes.
    pub(in super::super) fn key(self) -> &'static str {
        match self {
            Self::Experiment => "experiment",
            Self::Pods => "pods",
            Self::Machines => "machines",
            Self::Cloud => "cloud",
            Self::Logs => "logs",
            Self::Metrics => "metrics",
            Self::Other => "other",
            Self::Coverage => "coverage",
        }
    }

    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Experiment => "Experiment and jobs",
            Self::Pods => "Ranks and pods",
            Self::Machines => "Nodes and machines",
            Self::Cloud => "Cloud",
            Self::Logs => "Logs",
            Self::Metrics => "Metrics and alerts",
            Self::Other => "Other",
            Self::Coverage => "What was read",
        }
    }

    /// One of the lane's things, for those that are folded.
    pub(super) fn noun(self) -> &'static str {
        match self {
            Self::Experiment => "workload",
            Self::Pods => "pod",
            Self::Machines | Self::Cloud => "machine",
            Self::Logs => "log",
            Self::Metrics => "metric",
            Self::Other => "thing",
            Self::Coverage => "source",
        }
    }

    /// Lanes that are drawn one by one; the others are folded into one.
    pub(super) fn limit(self) -> usize {
        match self {
            Self::Coverage => 12,
            Self::Pods => 8,
            _ => 6,
        }
    }
}
