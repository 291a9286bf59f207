//! Buttons, and whatever else can be clicked.

use serde::Deserialize;
use serde_json::Value;

use super::{Unreadable, text};
use crate::reply_to::ReplyTo;

/// Something was clicked.
#[derive(Clone, Debug)]
pub enum Interaction {
    /// Elements of a message.
    BlockActions(BlockActions),
    /// A form was sent; by which `callback_id`.
    ViewSubmission(String),
    /// Something else: its type.
    Other(String),
}

/// Elements of a message were clicked.
#[derive(Clone, Debug)]
pub struct BlockActions {
    /// The workspace.
    pub team: String,
    /// Who.
    pub user: String,
    /// Where; none in a form.
    pub channel: Option<String>,
    /// The message.
    pub message_ts: Option<String>,
    /// The message that its thread hangs on, where it is in one.
    pub thread_ts: Option<String>,
    /// Whether only the person who clicked sees the message.
    pub is_ephemeral: bool,
    /// Where to answer to.
    pub reply_to: Option<ReplyTo>,
    /// A number of this very click.
    pub trigger_id: String,
    /// What was clicked; usually one element.
    pub actions: Vec<Action>,
}

/// An element that was clicked.
#[derive(Clone, Debug, Deserialize)]
pub struct Action {
    /// What it does, in our words.
    #[serde(default, deserialize_with = "text")]
    pub action_id: String,
    /// What it does it to, in our words.
    #[serde(default, deserialize_with = "text")]
    pub value: String,
    /// The time of this very click.
    #[serde(default, deserialize_with = "text")]
    pub action_ts: String,
}

#[derive(Deserialize)]
struct Id {
    #[serde(default, deserialize_with = "text")]
    id: String,
}

#[derive(Deserialize)]
struct Container {
    message_ts: Option<String>,
    thread_ts: Option<String>,
    channel_id: Option<String>,
    is_ephemeral: Option<bool>,
}

#[derive(Deserialize)]
struct Message {
    ts: Option<String>,
    thread_ts: Option<String>,
}

#[derive(Deserialize)]
struct View {
    #[serde(default, deserialize_with = "text")]
    callback_id: String,
}

#[derive(Deserialize)]
struct Fields {
    #[serde(rename = "type", default, deserialize_with = "text")]
    kind: String,
    team: Option<Id>,
    user: Option<Id>,
    channel: Option<Id>,
    container: Option<Container>,
    message: Option<Message>,
    response_url: Option<String>,
    #[serde(default, deserialize_with = "text")]
    trigger_id: String,
    actions: Option<Vec<Action>>,
    view: Option<View>,
}

impl Interaction {
    /// Reads the body of an HTTP request: a form whose field `payload` is JSON.
    ///
    /// # Errors
    /// When it is no interaction.
    pub fn from_form(body: &[u8]) -> Result<Self, Unreadable> {
        let wrong = |why: String| Unreadable::new("interaction", &why);
        let (_, payload) = url::form_urlencoded::parse(body)
            .find(|(name, _)| name == "payload")
            .ok_or_else(|| wrong("it has no field \"payload\"".to_owned()))?;
        let value: Value =
            serde_json::from_str(&payload).map_err(|error| wrong(error.to_string()))?;
        Self::from_json(&value)
    }

    /// Reads the payload of an envelope of Socket Mode.
    ///
    /// # Errors
    /// When it is no interaction.
    pub fn from_json(payload: &Value) -> Result<Self, Unreadable> {
        let wrong = |why: String| Unreadable::new("interaction", &why);
        let fields = Fields::deserialize(payload).map_err(|error| wrong(error.to_string()))?;
        match fields.kind.as_str() {
            "block_actions" => {
                let actions = fields
                    .actions()
                    .ok_or_else(|| wrong("the user who clicked is missing".to_owned()))?;
                Ok(Self::BlockActions(actions))
            }
            "view_submission" => Ok(Self::ViewSubmission(
                fields.view.map(|view| view.callback_id).unwrap_or_default(),
            )),
            other => Ok(Self::Other(other.to_owned())),
        }
    }
}

impl Fields {
    /// `None` where it is not told who clicked.
    fn actions(self) -> Option<BlockActions> {
        let container = self.container.unwrap_or(Container {
            message_ts: None,
            thread_ts: None,
            channel_id: None,
            is_ephemeral: None,
        });
        let message = self.message.unwrap_or(Message {
            ts: None,
            thread_ts: None,
        });
        let channel = self.channel.map(|channel| channel.id);
        Some(BlockActions {
            team: self.team.map(|team| team.id).unwrap_or_default(),
            user: self.user?.id,
            channel: channel.or(container.channel_id),
            message_ts: container.message_ts.or(message.ts),
            thread_ts: container.thread_ts.or(message.thread_ts),
            is_ephemeral: container.is_ephemeral.unwrap_or(false),
            reply_to: self
                .response_url
                .filter(|url| !url.is_empty())
                .map(ReplyTo::new),
            trigger_id: self.trigger_id,
            actions: self.actions.unwrap_or_default(),
        })
    }
}
