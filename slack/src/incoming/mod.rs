//! What Slack sends us.
//!
//! Unknown fields and kinds are no errors: Slack adds to its payloads, and a
//! request that is not understood is acknowledged all the same.

mod command;
mod event;
mod interaction;
#[cfg(test)]
mod tests;
mod wording;

pub use command::Command;
pub use event::{Event, EventCallback, EventRequest, Mention};
pub use interaction::{Action, BlockActions, Interaction};
pub use wording::Wording;

/// A payload that is not of the shape Slack documents.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the {what} cannot be parsed: {why}")]
pub struct Unreadable {
    what: &'static str,
    why: String,
}

impl Unreadable {
    fn new(what: &'static str, why: &impl ToString) -> Self {
        Self {
            what,
            why: why.to_string(),
        }
    }
}

/// A text that may be `null` or missing.
fn text<'de, D: serde::Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text: Option<String> = serde::Deserialize::deserialize(from)?;
    Ok(text.unwrap_or_default())
}
