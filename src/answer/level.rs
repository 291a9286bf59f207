//! How well a verdict is proven.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// From nothing known to witnessed end to end.
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
#[expect(missing_docs, reason = "the names say it")]
pub enum Level {
    #[default]
    Unknown,
    Hypothesis,
    Supported,
    Established,
}

impl Level {
    /// The name used in tables and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Hypothesis => "hypothesis",
            Self::Supported => "supported",
            Self::Established => "established",
        }
    }

    /// The level of a name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [
            Self::Unknown,
            Self::Hypothesis,
            Self::Supported,
            Self::Established,
        ]
        .into_iter()
        .find(|level| level.as_str() == name)
    }

    /// One lower, but never below a hypothesis: something did happen.
    #[must_use]
    pub fn lowered(self) -> Self {
        match self {
            Self::Established => Self::Supported,
            Self::Supported | Self::Hypothesis => Self::Hypothesis,
            Self::Unknown => Self::Unknown,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(self.as_str())
    }
}
