//! What an incident is to the question, and what a step is in a chain.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an incident is to what was asked for.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum IncidentRole {
    /// It ended the newest run, or explains its state.
    #[default]
    Main,
    /// It affected the newest run in addition to the main one.
    Also,
    /// The run continued.
    Recovered,
    /// Of an earlier run.
    Earlier,
    /// A restart that recovered, outside an asked-for experiment.
    Episode,
    /// No known victim.
    Fault,
    /// It was announced, and nothing shows that it took place.
    Announced,
}

/// What a step is on the way from cause to effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum StepRole {
    /// The root.
    Cause,
    /// It was said beforehand that it would happen.
    Announcement,
    /// How it reached the run.
    Mechanism,
    /// What died.
    Death,
    /// What waits, or does not get on.
    Stuck,
    /// Those that followed.
    Teardown,
    /// What became of the run.
    Outcome,
}

impl IncidentRole {
    /// The name used in tables and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Main => "main",
            Self::Also => "also",
            Self::Recovered => "recovered",
            Self::Earlier => "earlier",
            Self::Episode => "episode",
            Self::Fault => "fault",
            Self::Announced => "announced",
        }
    }

    /// Whether the run went on after it, or none was hit.
    #[must_use]
    pub fn is_survived(self) -> bool {
        matches!(
            self,
            Self::Recovered | Self::Fault | Self::Episode | Self::Announced
        )
    }
}

impl StepRole {
    /// The name used in tables and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cause => "cause",
            Self::Announcement => "announcement",
            Self::Mechanism => "mechanism",
            Self::Death => "death",
            Self::Stuck => "stuck",
            Self::Teardown => "teardown",
            Self::Outcome => "outcome",
        }
    }
}

impl fmt::Display for IncidentRole {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}

impl fmt::Display for StepRole {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
