//! What Slack says no to, and what to do about it.

use whathappened_http::HttpError;

use crate::reply_to::NotSlack;

/// Why a call failed. Displays as one sentence without full stop; never holds a
/// token or an address to answer to.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ApiError {
    /// Slack was not reached, or answered what is not its own.
    #[error("Slack's {method}: {error}; {}", .error.hint())]
    Http {
        /// Which method.
        method: &'static str,
        /// What is wrong.
        error: HttpError,
    },
    /// Slack answers that it did nothing.
    #[error("Slack's {method} returned {error}{}: {}", detail(.needed, .messages), advice(.error))]
    Failed {
        /// Which method.
        method: &'static str,
        /// Its own word for what is wrong.
        error: String,
        /// The scope that is missing.
        needed: Option<String>,
        /// More words of its own.
        messages: Vec<String>,
    },
    /// An address in a request that is not Slack's.
    #[error(transparent)]
    NotSlack(#[from] NotSlack),
}

impl ApiError {
    /// Slack's own word for what is wrong.
    #[must_use]
    pub fn word(&self) -> Option<&str> {
        match self {
            Self::Failed { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Whether the same text without blocks may be taken.
    pub(super) fn is_about_blocks(&self) -> bool {
        matches!(
            self.word(),
            Some(
                "invalid_blocks" | "invalid_blocks_format" | "msg_blocks_too_long" | "msg_too_long"
            )
        )
    }

    /// Whether no call will succeed until somebody does something about the app.
    #[must_use]
    pub fn is_about_the_token(&self) -> bool {
        matches!(
            self.word(),
            Some(
                "invalid_auth"
                    | "not_authed"
                    | "account_inactive"
                    | "token_revoked"
                    | "token_expired"
                    | "org_login_required"
                    | "not_allowed_token_type"
            )
        )
    }

    /// Whether the app cannot write to the channel, though it may answer in it
    /// when it is asked there.
    #[must_use]
    pub fn is_about_the_channel(&self) -> bool {
        matches!(
            self.word(),
            Some(
                "not_in_channel"
                    | "channel_not_found"
                    | "is_archived"
                    | "restricted_action"
                    | "restricted_action_read_only_channel"
                    | "user_not_in_channel"
            )
        )
    }
}

fn detail(needed: &Option<String>, messages: &[String]) -> String {
    let needed = needed.as_ref().map(|scope| format!("needs {scope}"));
    let words: Vec<String> = needed.into_iter().chain(messages.iter().cloned()).collect();
    if words.is_empty() {
        return String::new();
    }
    format!(" ({})", words.join("; "))
}

fn advice(error: &str) -> &'static str {
    match error {
        "not_in_channel" | "channel_not_found" | "user_not_in_channel" => {
            "invite the app to the channel with /invite"
        }
        "is_archived" => "the channel is archived; unsubscribe it, or restore it",
        "restricted_action" | "restricted_action_read_only_channel" => {
            "the workspace restricts who can post there; ask an administrator"
        }
        "missing_scope" => {
            "add the scope to the app (deploy/slack-manifest.yaml lists them all) and reinstall it"
        }
        "invalid_auth" | "not_authed" | "token_expired" | "token_revoked" | "account_inactive" => {
            "reinstall the app and set its new token"
        }
        "not_allowed_token_type" => "SLACK_BOT_TOKEN begins with xoxb-, SLACK_APP_TOKEN with xapp-",
        "org_login_required" => "the workspace is being migrated; try again later",
        "ratelimited" | "rate_limited" | "message_limit_exceeded" => "try again in a minute",
        "expired_url" | "used_url" => {
            "Slack accepts five messages within 30 minutes for one command"
        }
        "msg_too_long" | "msg_blocks_too_long" | "invalid_blocks" | "no_text" => {
            "this is a bug in whathappened; the answer is in the file"
        }
        "message_not_found" | "cant_update_message" | "edit_window_closed" => {
            "the message was deleted or can no longer be changed"
        }
        "file_uploads_disabled" | "storage_limit_reached" => {
            "the workspace does not accept files; ask an administrator"
        }
        "internal_error" | "fatal_error" | "service_unavailable" | "request_timeout" => {
            "Slack has a problem; try again later"
        }
        _ => "see docs.slack.dev for this method's errors",
    }
}
