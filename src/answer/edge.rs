//! How a step is tied to what it brought about.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a record is tied to what it brought about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Edge {
    /// One record names both ends.
    Asserted,
    /// They share an entity and a time.
    Inferred,
    /// Nothing speaks for it but that nothing else is there.
    Guess,
    /// It belongs to the story and decides nothing.
    Context,
    /// It speaks against the rule's cause.
    Against,
}

impl Edge {
    /// The kind of a word in a rule's answer.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "asserted" => Self::Asserted,
            "inferred" => Self::Inferred,
            "guess" => Self::Guess,
            "context" => Self::Context,
            "against" => Self::Against,
            _ => return None,
        })
    }

    /// The word for it in an answer.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asserted => "asserted",
            Self::Inferred => "inferred",
            Self::Guess => "guess",
            Self::Context => "context",
            Self::Against => "against",
        }
    }
}
