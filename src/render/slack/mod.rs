//! An answer as a message in Slack.

mod attempts;
mod card;
mod fallback;
mod markup;
#[cfg(test)]
mod tests;
mod why;

pub use attempts::attempts;
pub use card::{Card, card};
pub use why::why;
