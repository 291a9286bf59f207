//! What Slack answers.

use serde::Deserialize;

/// Every answer's frame.
#[derive(Deserialize)]
pub(super) struct Frame {
    pub(super) ok: bool,
    pub(super) error: Option<String>,
    pub(super) needed: Option<String>,
    pub(super) response_metadata: Option<Metadata>,
}

#[derive(Default, Deserialize)]
pub(super) struct Metadata {
    pub(super) messages: Option<Vec<String>>,
}

/// An answer of which nothing is used but that it says yes.
#[derive(Deserialize)]
pub(super) struct Acknowledged {}

/// Who we are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Identity {
    /// The workspace's name.
    pub team: String,
    /// The workspace.
    pub team_id: String,
    /// The user that the app is.
    pub user_id: String,
    /// Its name.
    pub user: String,
}

/// A message that was posted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Posted {
    /// Where.
    pub channel: String,
    /// Which; not a number.
    pub ts: String,
}

/// A channel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Channel {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whether people of other firms are in it.
    pub is_ext_shared: bool,
    /// Whether they were asked to come.
    pub is_pending_ext_shared: bool,
    /// Whether the app is in it.
    pub is_member: bool,
}

impl Channel {
    /// Whether people of other firms see it, or soon will.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.is_ext_shared || self.is_pending_ext_shared
    }
}

#[derive(Deserialize)]
pub(super) struct OfChannel {
    pub(super) channel: Channel,
}

#[derive(Deserialize)]
pub(super) struct OfSocket {
    pub(super) url: String,
}

#[derive(Deserialize)]
pub(super) struct OfUpload {
    pub(super) upload_url: String,
    pub(super) file_id: String,
}
