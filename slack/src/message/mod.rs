//! Messages that Slack takes: Block Kit within its limits, escaped.

mod block;
mod build;
mod limits;
mod mrkdwn;

pub use block::{Block, Button, PlainText};
pub use build::{Message, MessageBuilder};
pub use limits::{LIMITS, Limits, length};
pub use mrkdwn::Mrkdwn;
