//! What was thought of an incident before more became known.

use serde::Serialize;
use utoipa::ToSchema;

use super::Level;

/// A verdict on an incident, as it was at some time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct PastVerdict {
    /// When it was first reached.
    #[schema(format = DateTime)]
    pub time: String,
    /// Cause id.
    pub cause: String,
    /// How well it was proven.
    pub level: Level,
    /// The cause in a few words.
    pub title: String,
    /// What happened, in a sentence or two.
    pub summary: String,
    /// Version of the rules that found it.
    pub ruleset: String,
}
