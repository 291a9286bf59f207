//! What comes through the socket.

use serde::Deserialize;
use serde_json::Value;

/// What Slack says.
#[derive(Clone, Debug)]
pub(super) enum Frame {
    /// The connection stands.
    Hello,
    /// The connection ends.
    Disconnect(DisconnectReason),
    /// A request.
    Envelope(Envelope),
    /// Something new.
    Other(String),
}

/// Why the connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DisconnectReason {
    /// It is being renewed: open another, then leave this one.
    Refresh,
    /// Somebody switched Socket Mode off.
    LinkDisabled,
    /// Too many of us are connected.
    TooMany,
}

/// A request that has to be acknowledged.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Its number, which acknowledges it.
    pub id: String,
    /// What it is.
    pub kind: Kind,
    /// What would be the body over HTTP.
    pub payload: Value,
    /// Whether the acknowledgement may hold an answer.
    pub takes_answer: bool,
}

/// What a request is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A slash command.
    Command,
    /// An event.
    Event,
    /// A click, or something like it.
    Interaction,
    /// Something new.
    Other,
}

#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type")]
    kind: Option<String>,
    reason: Option<String>,
    envelope_id: Option<String>,
    #[serde(default)]
    payload: Value,
    accepts_response_payload: Option<bool>,
}

impl Frame {
    /// `None` for what is no JSON object.
    pub(super) fn read(text: &str) -> Option<Self> {
        let fields: Fields = serde_json::from_str(text).ok()?;
        let kind = fields.kind.unwrap_or_default();
        // Whatever has a number waits for its acknowledgement.
        if let Some(id) = fields.envelope_id {
            return Some(Self::Envelope(Envelope {
                id,
                kind: match kind.as_str() {
                    "slash_commands" => Kind::Command,
                    "events_api" => Kind::Event,
                    "interactive" => Kind::Interaction,
                    _ => Kind::Other,
                },
                payload: fields.payload,
                takes_answer: fields.accepts_response_payload.unwrap_or(false),
            }));
        }
        Some(match kind.as_str() {
            "hello" => Self::Hello,
            "disconnect" => Self::Disconnect(match fields.reason.as_deref() {
                Some("link_disabled") => DisconnectReason::LinkDisabled,
                Some("too_many_websockets") => DisconnectReason::TooMany,
                _ => DisconnectReason::Refresh,
            }),
            _ => Self::Other(kind),
        })
    }
}
