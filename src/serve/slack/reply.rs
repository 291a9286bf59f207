//! Tells an answer where it was asked for.

use std::sync::atomic::{AtomicU32, Ordering};

use tokio::sync::Mutex;
use whathappened_slack::{Api, ApiError, Message, ReplyTo};

use super::Slack;
use super::authorize::Origin;

/// A conversation that a request began.
pub(super) struct Replies<'a> {
    pub(super) slack: &'a Slack,
    pub(super) place: Origin,
    /// The thread that answers belong to.
    pub(super) thread: Option<String>,
    /// Whether everything is for the person alone.
    pub(super) is_private: bool,
    reply: Option<ResponseAddress>,
    /// A message of ours that says that we are at it.
    waiting: Mutex<Option<String>>,
}

/// An address to answer to, and how often it was used.
struct ResponseAddress {
    to: ReplyTo,
    since: i64,
    used: AtomicU32,
}

impl<'a> Replies<'a> {
    pub(super) fn new(
        slack: &'a Slack,
        place: Origin,
        thread: Option<String>,
        reply_to: Option<ReplyTo>,
    ) -> Self {
        let reply = reply_to.map(|to| ResponseAddress {
            to,
            since: slack.now(),
            used: AtomicU32::new(0),
        });
        Self {
            slack,
            place,
            thread,
            is_private: false,
            reply,
            waiting: Mutex::new(None),
        }
    }

    fn api(&self) -> Option<&Api> {
        self.slack.api.as_deref()
    }

    /// Says that it takes longer. What was asked in a thread is told there, and
    /// the answer then takes its place.
    pub(super) async fn wait(&self, message: &Message) {
        let reported = match (&self.thread, self.api()) {
            (Some(thread), Some(api)) if !self.is_private => {
                let posted = api.post(&self.place.channel, Some(thread), message).await;
                match posted {
                    Ok(posted) => {
                        *self.waiting.lock().await = Some(posted.ts);
                        Ok(())
                    }
                    Err(error) => Err(error),
                }
            }
            // The acknowledgement of a command said it already.
            _ => return,
        };
        if let Err(error) = reported {
            tracing::debug!("the progress message could not be posted: {error}");
        }
    }

    /// Tells the answer, to the person alone where that is asked for.
    pub(super) async fn say(&self, message: &Message, is_private: bool) {
        let is_private = is_private || self.is_private;
        if let Err(error) = self.reported(message, is_private).await {
            let channel = &self.place.channel;
            tracing::warn!("an answer could not be posted to the Slack channel {channel}: {error}");
        }
    }

    async fn reported(&self, message: &Message, is_private: bool) -> Result<(), ApiError> {
        let waiting = self.waiting.lock().await.take();
        if let (Some(ts), Some(api)) = (waiting, self.api()) {
            if !is_private {
                return api.update(&self.place.channel, &ts, message).await;
            }
            let done = Message::text(
                &whathappened_slack::Mrkdwn::new()
                    .say("The answer is visible only to the person who asked."),
            );
            api.update(&self.place.channel, &ts, &done).await?;
        }
        // In a thread an answer stays with its question; a command has none.
        if self.thread.is_some() {
            match self.posted(message, is_private).await {
                Err(error) if self.reply.is_some() => {
                    tracing::debug!("cannot answer in the thread: {error}");
                }
                other => return other,
            }
        }
        match self.replied(message, is_private).await {
            Some(Ok(())) => Ok(()),
            // Nothing was told, so that telling it otherwise is not telling it twice.
            Some(Err(error)) if !is_used_up(&error) => Err(error),
            _ => self.posted(message, is_private).await,
        }
    }

    /// By the address that came with the request, as long as it is good.
    async fn replied(&self, message: &Message, is_private: bool) -> Option<Result<(), ApiError>> {
        let reply = self.reply.as_ref()?;
        let age = self.slack.now().saturating_sub(reply.since);
        if age >= ReplyTo::KEEP_S || reply.used.fetch_add(1, Ordering::Relaxed) >= ReplyTo::USES {
            return None;
        }
        let replies = &self.slack.replies;
        Some(replies.reply(&reply.to, !is_private, false, message).await)
    }

    async fn posted(&self, message: &Message, is_private: bool) -> Result<(), ApiError> {
        let Some(api) = self.api() else {
            tracing::warn!("SLACK_BOT_TOKEN is not set: an answer cannot be posted");
            return Ok(());
        };
        let (channel, thread) = (&self.place.channel, self.thread.as_deref());
        if is_private && !self.place.is_direct {
            let user = &self.place.user;
            return api.post_to_one(channel, user, thread, message).await;
        }
        api.post(channel, thread, message).await.map(|_| ())
    }
}

/// Whether an address is good no more.
fn is_used_up(error: &ApiError) -> bool {
    match error {
        ApiError::Http { error: http, .. } => matches!(http.code(), Some(404 | 410)),
        other => matches!(other.word(), Some("used_url" | "expired_url")),
    }
}
