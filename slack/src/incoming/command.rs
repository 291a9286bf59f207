//! Slash commands.

use serde::Deserialize;

use super::{Unreadable, Wording, text};
use crate::reply_to::ReplyTo;

/// A slash command: a form over HTTP, JSON over Socket Mode.
#[derive(Clone, Debug)]
pub struct Command {
    /// The workspace.
    pub team: String,
    /// Where it was typed.
    pub channel: String,
    /// The channel's name; `directmessage` in a direct message.
    pub channel_name: String,
    /// Who typed it.
    pub user: String,
    /// The command with its slash.
    pub command: String,
    /// What was typed behind it.
    pub text: Wording,
    /// Where to answer to.
    pub reply_to: Option<ReplyTo>,
    /// A number of this very invocation.
    pub trigger_id: String,
}

/// The fields of both forms.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Fields {
    #[serde(deserialize_with = "text")]
    team_id: String,
    #[serde(deserialize_with = "text")]
    channel_id: String,
    #[serde(deserialize_with = "text")]
    channel_name: String,
    #[serde(deserialize_with = "text")]
    user_id: String,
    #[serde(deserialize_with = "text")]
    command: String,
    #[serde(deserialize_with = "text")]
    text: String,
    #[serde(deserialize_with = "text")]
    response_url: String,
    #[serde(deserialize_with = "text")]
    trigger_id: String,
}

impl Command {
    /// Reads the body of an HTTP request.
    ///
    /// # Errors
    /// When it is no slash command.
    pub fn from_form(body: &[u8]) -> Result<Self, Unreadable> {
        let mut fields = Fields::default();
        for (name, value) in url::form_urlencoded::parse(body) {
            let field = match &*name {
                "team_id" => &mut fields.team_id,
                "channel_id" => &mut fields.channel_id,
                "channel_name" => &mut fields.channel_name,
                "user_id" => &mut fields.user_id,
                "command" => &mut fields.command,
                "text" => &mut fields.text,
                "response_url" => &mut fields.response_url,
                "trigger_id" => &mut fields.trigger_id,
                _ => continue,
            };
            *field = value.into_owned();
        }
        Self::of(fields)
    }

    /// Reads the payload of an envelope of Socket Mode.
    ///
    /// # Errors
    /// When it is no slash command.
    pub fn from_json(payload: &serde_json::Value) -> Result<Self, Unreadable> {
        let fields =
            Fields::deserialize(payload).map_err(|error| Unreadable::new("command", &error))?;
        Self::of(fields)
    }

    fn of(fields: Fields) -> Result<Self, Unreadable> {
        for (name, value) in [
            ("command", &fields.command),
            ("user_id", &fields.user_id),
            ("channel_id", &fields.channel_id),
        ] {
            if value.is_empty() {
                return Err(Unreadable::new("command", &format!("it has no {name}")));
            }
        }
        let reply_to = Some(fields.response_url).filter(|url| !url.is_empty());
        Ok(Self {
            team: fields.team_id,
            channel: fields.channel_id,
            channel_name: fields.channel_name,
            user: fields.user_id,
            command: fields.command,
            text: Wording::new(&fields.text),
            reply_to: reply_to.map(ReplyTo::new),
            trigger_id: fields.trigger_id,
        })
    }

    /// Whether a body only asks whether the address has a certificate. Such
    /// requests are not signed.
    #[must_use]
    pub fn is_ssl_check(body: &[u8]) -> bool {
        body.len() < 1024
            && url::form_urlencoded::parse(body)
                .any(|(name, value)| name == "ssl_check" && value == "1")
    }
}
