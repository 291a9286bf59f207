//! Coverage: what was asked of a source, and what was obtained.

use serde::{Deserialize, Serialize};

use crate::time::Nanos;

/// Whether rows speak of a stretch of time or of one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Everything between two times.
    Interval,
    /// The state at one time.
    Snapshot,
}

/// How well a source answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Status {
    Complete,
    Truncated,
    Sampled,
    Denied,
    Failed,
    Expired,
    NotConfigured,
}

impl Mode {
    /// The name used in tables and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Snapshot => "snapshot",
        }
    }
}

impl Status {
    /// The name used in tables and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Truncated => "truncated",
            Self::Sampled => "sampled",
            Self::Denied => "denied",
            Self::Failed => "failed",
            Self::Expired => "expired",
            Self::NotConfigured => "not_configured",
        }
    }

    /// Whether something a verdict could rest on may be missing although the
    /// source was there to be asked.
    #[must_use]
    pub fn caps_a_verdict(self) -> bool {
        matches!(self, Self::Truncated | Self::Denied | Self::Failed)
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
