//! Edges: which record brought about which other, or a death.

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// How a record is tied to what it brought about.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, ToSchema,
)]
#[schema(as = Edge)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
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

/// What a record is in the story.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// Somebody did it on purpose.
    Act,
    /// Something broke.
    Fault,
    /// A component says what it was.
    Claim,
    /// It was like that.
    State,
}

/// One row of a rule's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// Number of the death that it helps to explain.
    pub death: usize,
    /// Number of the fact that did it.
    pub cause: usize,
    /// Number of the fact that it brought about; `None` for the death itself.
    pub effect: Option<usize>,
    /// How they are tied.
    pub kind: Kind,
    /// What the fact is in the story.
    pub role: Role,
    /// Number of the rule.
    pub rule: usize,
}

impl Kind {
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

impl Role {
    /// The role of a word in a rule's answer.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "act" => Self::Act,
            "fault" => Self::Fault,
            "claim" => Self::Claim,
            "state" => Self::State,
            _ => return None,
        })
    }
}
