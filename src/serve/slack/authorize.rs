//! What may be told to whom, and where.

use std::sync::PoisonError;

use super::Slack;
use crate::access::Access;
use crate::config::{NamespaceScope, SharedChannels};

/// How long it is believed whether a channel is shared, in seconds.
const BELIEVED_S: i64 = 600;

/// Where something is asked.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The channel.
    pub(super) channel: String,
    /// Who asks.
    pub(super) user: String,
    /// Whether nobody else sees the channel.
    pub(super) is_direct: bool,
    /// Whether people of other firms see it, where the request tells.
    pub(super) is_shared: Option<bool>,
}

/// What may be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Authorization {
    /// What a question may see.
    pub(super) access: Access,
    /// Whether only the person who asked may see the answer.
    pub(super) is_private: bool,
    /// Whether names are left out.
    pub(super) is_redacted: bool,
}

/// Why nothing may be told, for the person who asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Denied {
    #[error(
        "This channel is not allowed to see anything. An administrator of the service can allow it: `[slack.channels]` with `{channel} = [\"namespace\"]`, or `[slack.users]` with `{user} = [\"namespace\"]`."
    )]
    Nothing { channel: String, user: String },
    #[error(
        "This channel includes people from other organisations, so nothing is shown here. Ask in another channel, or in a direct message."
    )]
    Shared,
}

impl Slack {
    /// What may be told at a place.
    pub(super) async fn authorization(&self, place: &Origin) -> Result<Authorization, Denied> {
        let (reach, is_private) = self.reach(place);
        let access = reach.access().ok_or_else(|| Denied::Nothing {
            channel: place.channel.clone(),
            user: place.user.clone(),
        })?;
        let authorization = Authorization {
            access,
            is_private,
            is_redacted: false,
        };
        if place.is_direct || self.settings.shared_channels == SharedChannels::Answer {
            return Ok(authorization);
        }
        match self.is_shared(place).await {
            Some(false) => Ok(authorization),
            Some(true) if self.settings.shared_channels == SharedChannels::Redact => {
                Ok(Authorization {
                    is_redacted: true,
                    ..authorization
                })
            }
            Some(true) => Err(Denied::Shared),
            // Who asks belongs to us; who else would see it is not known.
            None => Ok(Authorization {
                is_private: true,
                ..authorization
            }),
        }
    }

    /// Namespaces, and whether they are the person's alone.
    fn reach(&self, place: &Origin) -> (NamespaceScope, bool) {
        let settings = &self.settings;
        let of_user = settings.users.get(&place.user);
        let of_channel = settings.channels.get(&place.channel);
        match (of_channel, of_user) {
            (Some(channel), Some(user)) => (channel.and(user), false),
            (Some(channel), None) => (channel.clone(), false),
            // What others in the channel may see is not said.
            (None, Some(user)) => (user.clone(), !place.is_direct),
            (None, None) => (settings.default.clone(), false),
        }
    }

    /// Whether people of other firms see the channel; `None` where that cannot
    /// be known.
    async fn is_shared(&self, place: &Origin) -> Option<bool> {
        if place.is_shared.is_some() {
            return place.is_shared;
        }
        let now = self.now();
        let known = {
            let shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.get(&place.channel).copied()
        };
        if let Some((is_shared, until)) = known
            && now < until
        {
            return Some(is_shared);
        }
        match self.api.as_ref()?.channel(&place.channel).await {
            Ok(channel) => {
                let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
                shared.retain(|_, (_, until)| now < *until);
                shared.insert(
                    place.channel.clone(),
                    (channel.is_shared(), now + BELIEVED_S),
                );
                Some(channel.is_shared())
            }
            Err(error) => {
                tracing::warn!(
                    "cannot determine who can see the Slack channel {}: {error}",
                    place.channel
                );
                None
            }
        }
    }
}
