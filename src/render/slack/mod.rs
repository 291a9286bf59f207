//! An answer as a message in Slack.

mod attempts;
mod card;
mod fallback;
mod fleet;
mod markup;
mod redacted;
#[cfg(test)]
mod tests;
mod timeline;
mod why;

pub use attempts::attempts;
pub use card::{Card, card, page_of};
pub(crate) use fleet::fleet;
pub use redacted::redacted;
pub use timeline::timeline;
pub use why::why;
