//! What Slack speaks, without DataFusion: signatures, payloads, Block Kit, the
//! Web API and Socket Mode.
//!
//! Nothing here knows what an experiment is. Times are arguments; what has to
//! outlive a restart is kept by whoever uses it.

mod api;
#[cfg(test)]
mod fake;
mod incoming;
mod message;
mod reply_to;
mod signature;
mod socket;

pub use api::{Api, ApiError, Channel, Identity, Posted, Upload};
pub use incoming::{
    Action, BlockActions, Command, Event, EventCallback, EventRequest, Interaction, Mention,
    Unreadable, Wording,
};
pub use message::{
    Block, Button, LIMITS, Limits, Message, MessageBuilder, Mrkdwn, PlainText, length,
};
pub use reply_to::{NotSlack, ReplyTo};
pub use signature::{Refused, Verifier, WINDOW_S};
pub use socket::{Envelope, Handler, Kind, SocketMode, SocketTimes};
