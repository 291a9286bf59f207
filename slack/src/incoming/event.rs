//! Events.

use serde::Deserialize;
use serde_json::Value;

use super::{Unreadable, Wording, text};

/// What comes to the address for events.
#[derive(Clone, Debug)]
pub enum EventRequest {
    /// Slack asks whether we are there; the challenge is the answer.
    UrlVerification {
        /// What to send back.
        challenge: String,
    },
    /// Something happened.
    Callback(EventCallback),
    /// Slack sends no more events for a minute, since there were too many.
    RateLimited,
    /// Something else.
    Other(String),
}

/// Something happened in a workspace.
#[derive(Clone, Debug)]
pub struct EventCallback {
    /// The workspace.
    pub team: String,
    /// The same for every copy that Slack sends.
    pub event_id: String,
    /// When it happened, in seconds since 1970.
    pub event_time: Option<i64>,
    /// Whether people of other firms see the channel.
    pub is_shared: bool,
    /// The users that the app is in that workspace.
    pub own_users: Vec<String>,
    /// What happened.
    pub event: Event,
}

/// What happened.
#[derive(Clone, Debug)]
pub enum Event {
    /// Somebody talks to the app: a mention, or a direct message.
    Mention(Mention),
    /// The app may act in the workspace no more.
    Revoked,
    /// Nothing that we act on: its type.
    Other(String),
}

/// Somebody talks to the app.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Who.
    pub user: String,
    /// Where.
    pub channel: String,
    /// What was said.
    pub text: Wording,
    /// The message.
    pub ts: String,
    /// The message that the thread hangs on, where it was said in one.
    pub thread_ts: Option<String>,
    /// Whether nobody else sees it.
    pub is_direct: bool,
}

impl Mention {
    /// The thread that an answer belongs to.
    #[must_use]
    pub fn thread(&self) -> &str {
        self.thread_ts.as_deref().unwrap_or(&self.ts)
    }
}

#[derive(Deserialize)]
struct Envelope {
    #[serde(rename = "type", default, deserialize_with = "text")]
    kind: String,
    #[serde(default, deserialize_with = "text")]
    challenge: String,
    #[serde(default, deserialize_with = "text")]
    team_id: String,
    #[serde(default, deserialize_with = "text")]
    event_id: String,
    event_time: Option<i64>,
    is_ext_shared_channel: Option<bool>,
    authorizations: Option<Vec<Authorization>>,
    authed_users: Option<Vec<String>>,
    event: Option<Inner>,
}

#[derive(Deserialize)]
struct Authorization {
    user_id: Option<String>,
    is_bot: Option<bool>,
}

#[derive(Deserialize)]
struct Inner {
    #[serde(rename = "type", default, deserialize_with = "text")]
    kind: String,
    subtype: Option<String>,
    bot_id: Option<String>,
    app_id: Option<String>,
    user: Option<String>,
    #[serde(default, deserialize_with = "text")]
    text: String,
    #[serde(default, deserialize_with = "text")]
    ts: String,
    thread_ts: Option<String>,
    channel: Option<Value>,
    channel_type: Option<String>,
    edited: Option<Value>,
}

impl EventRequest {
    /// Reads the body of an HTTP request.
    ///
    /// # Errors
    /// When it is no event.
    pub fn from_body(body: &[u8]) -> Result<Self, Unreadable> {
        let value: Value =
            serde_json::from_slice(body).map_err(|error| Unreadable::new("event", &error))?;
        Self::from_json(&value)
    }

    /// Reads the payload of an envelope of Socket Mode.
    ///
    /// # Errors
    /// When it is no event.
    pub fn from_json(payload: &Value) -> Result<Self, Unreadable> {
        let envelope =
            Envelope::deserialize(payload).map_err(|error| Unreadable::new("event", &error))?;
        Ok(match envelope.kind.as_str() {
            "url_verification" => Self::UrlVerification {
                challenge: envelope.challenge,
            },
            "event_callback" => Self::Callback(envelope.callback()?),
            "app_rate_limited" => Self::RateLimited,
            other => Self::Other(other.to_owned()),
        })
    }
}

impl Envelope {
    fn callback(self) -> Result<EventCallback, Unreadable> {
        let missing = |what| Unreadable::new("event", &format!("it has no {what}"));
        let event = self.event.ok_or_else(|| missing("event"))?;
        if self.event_id.is_empty() {
            return Err(missing("event_id"));
        }
        let bots = self.authorizations.unwrap_or_default();
        let bots = bots
            .into_iter()
            .filter(|one| one.is_bot != Some(false))
            .filter_map(|one| one.user_id);
        let own_users = bots.chain(self.authed_users.unwrap_or_default()).collect();
        Ok(EventCallback {
            team: self.team_id,
            event_id: self.event_id,
            event_time: self.event_time,
            is_shared: self.is_ext_shared_channel.unwrap_or(false),
            own_users,
            event: event.meaning(),
        })
    }
}

impl Inner {
    fn meaning(self) -> Event {
        match self.kind.as_str() {
            "tokens_revoked" | "app_uninstalled" => return Event::Revoked,
            "app_mention" => {}
            "message" if self.channel_type.as_deref() == Some("im") => {}
            _ => return Event::Other(self.kind),
        }
        // Bots that answer each other never end; an edit is no new question.
        let by_a_program = self.bot_id.is_some() || self.app_id.is_some();
        let is_talk = matches!(
            self.subtype.as_deref(),
            None | Some("" | "file_share" | "thread_broadcast")
        );
        let (Some(user), Some(Value::String(channel))) = (self.user, self.channel) else {
            return Event::Other(self.kind);
        };
        if by_a_program || !is_talk || self.edited.is_some() || self.ts.is_empty() {
            return Event::Other(self.kind);
        }
        Event::Mention(Mention {
            user,
            is_direct: channel.starts_with('D'),
            channel,
            text: Wording::new(&self.text),
            ts: self.ts,
            thread_ts: self.thread_ts,
        })
    }
}
