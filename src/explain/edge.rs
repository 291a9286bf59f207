//! Edges: which record brought about which other, or a death.

pub use crate::answer::Edge as Kind;

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
