//! Takes requests down: quickly, each once.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use whathappened_slack::{
    BlockActions, Command, Event, EventCallback, Interaction, Mention, Message, Mrkdwn,
};

use super::Slack;
use super::authorize::Origin;
use super::command::{AnswerView, Subject, UserCommand, help};
use super::reply::Replies;
use crate::error::Error;

/// How long requests are remembered, in seconds: Slack sends events again for
/// hours, for a day where that is switched on.
const REMEMBERED_S: i64 = 2 * 86_400;

/// Requests that are worked on or wait; more are turned away.
const MOST: usize = 500;

/// What a command is acknowledged with.
fn ephemeral(message: &Message) -> Value {
    let mut body = json!({"response_type": "ephemeral", "text": message.fallback()});
    if !message.blocks().is_empty() {
        body["blocks"] = json!(message.blocks());
    }
    body
}

fn plain_message(text: &str) -> Message {
    Message::text(&Mrkdwn::new().say(text))
}

impl Slack {
    /// Whether this is heard for the first time.
    pub(super) fn is_first(&self, kind: &str, key: &str) -> Result<bool, Error> {
        let now = self.now();
        let until = now.saturating_add(REMEMBERED_S);
        Ok(self.notes.is_first(kind, key, now, until)?)
    }

    /// Takes a slash command down; what to say at once.
    pub(super) fn command(self: &Arc<Self>, command: Command) -> Value {
        // Nobody sends a command again by themselves, so that one whose number
        // cannot be noted is answered all the same.
        let key = format!("{} {}", command.team, command.trigger_id);
        if !command.trigger_id.is_empty() && matches!(self.is_first("command", &key), Ok(false)) {
            return Value::Null;
        }
        let user_command = UserCommand::read(&command.text, (self.service.clock)());
        let looking = match &user_command {
            UserCommand::Help(wrong) => return ephemeral(&help(wrong.as_deref())),
            UserCommand::Show(_, about) => format!("Looking into {} …", about.name),
            UserCommand::Subscribe(name) => format!("Subscribing this channel to {name} …"),
            UserCommand::Unsubscribe(_) | UserCommand::Subscriptions => "Looking …".to_owned(),
        };
        let place = Origin {
            is_direct: command.channel_name == "directmessage" || command.channel.starts_with('D'),
            channel: command.channel,
            user: command.user,
            is_shared: None,
        };
        if self.work(place, None, command.reply_to, user_command) {
            ephemeral(&plain_message(&looking))
        } else {
            ephemeral(&plain_message(
                "Too many questions are waiting. Ask again in a minute.",
            ))
        }
    }

    /// Takes an event down.
    ///
    /// # Errors
    /// When it cannot be noted; then Slack has to send it again.
    pub(super) fn event(self: &Arc<Self>, callback: EventCallback) -> Result<(), Error> {
        if !self.is_first("event", &callback.event_id)? {
            return Ok(());
        }
        match callback.event {
            Event::Mention(mention) => {
                self.mention(mention, &callback.own_users, callback.is_shared);
            }
            Event::Revoked => tracing::error!(
                "the app no longer has access to the Slack workspace {}: reinstall it and set its new token",
                callback.team
            ),
            Event::Other(_) => {}
        }
        Ok(())
    }

    fn mention(self: &Arc<Self>, mention: Mention, own: &[String], is_shared: bool) {
        if own.contains(&mention.user) {
            return;
        }
        let thread = (!mention.is_direct || mention.thread_ts.is_some())
            .then(|| mention.thread().to_owned());
        // Who we are is told where the event is for us alone.
        let own = match own {
            [only] => Some(only.as_str()),
            _ => None,
        };
        let text = mention.text.after_mention(own);
        // The id that was mentioned may be another form of ours.
        let text = if text == mention.text {
            text.after_mention(None)
        } else {
            text
        };
        let user_command = UserCommand::read(&text, (self.service.clock)());
        let place = Origin {
            channel: mention.channel,
            user: mention.user,
            is_direct: mention.is_direct,
            is_shared: Some(is_shared),
        };
        if !self.work(place, thread, None, user_command) {
            tracing::warn!("a mention in Slack was refused: too many questions are waiting");
        }
    }

    /// Takes a click, or something like it, down.
    ///
    /// # Errors
    /// When it cannot be noted; then Slack has to send it again.
    pub(super) fn interaction(self: &Arc<Self>, interaction: Interaction) -> Result<(), Error> {
        match interaction {
            Interaction::BlockActions(click) => self.click(click),
            Interaction::ViewSubmission(_) | Interaction::Other(_) => Ok(()),
        }
    }

    fn click(self: &Arc<Self>, click: BlockActions) -> Result<(), Error> {
        let Some(channel) = click.channel else {
            return Ok(());
        };
        for action in click.actions {
            let what = match action.action_id.as_str() {
                "timeline" => AnswerView::Timeline,
                "why" => AnswerView::Why,
                "attempts" => AnswerView::Attempts,
                "file" => AnswerView::File,
                // Opening a page needs nothing from us.
                _ => continue,
            };
            let Ok(about) = serde_json::from_str::<Subject>(&action.value) else {
                continue;
            };
            let key = format!(
                "{} {} {} {}",
                click.trigger_id, action.action_ts, action.action_id, click.user
            );
            if !self.is_first("click", &key)? {
                continue;
            }
            let place = Origin {
                channel: channel.clone(),
                user: click.user.clone(),
                is_direct: channel.starts_with('D'),
                is_shared: None,
            };
            // A message that only one person sees has no thread.
            let thread = click.thread_ts.clone().or(click.message_ts.clone());
            let thread = thread.filter(|_| !click.is_ephemeral);
            if !self.work(
                place,
                thread,
                click.reply_to.clone(),
                UserCommand::Show(what, about),
            ) {
                tracing::warn!("a click in Slack was refused: too many questions are waiting");
            }
        }
        Ok(())
    }

    /// Has a wish worked on; `false` where there is no room for more.
    fn work(
        self: &Arc<Self>,
        place: Origin,
        thread: Option<String>,
        reply_to: Option<whathappened_slack::ReplyTo>,
        user_command: UserCommand,
    ) -> bool {
        if self.busy.fetch_add(1, Ordering::Relaxed) >= MOST {
            self.busy.fetch_sub(1, Ordering::Relaxed);
            return false;
        }
        let slack = Arc::clone(self);
        tokio::spawn(async move {
            // Counted down even if the work breaks.
            let _done = InFlight(&slack);
            let replies = Replies::new(&slack, place, thread, reply_to);
            slack.handle(replies, user_command).await;
        });
        true
    }
}

struct InFlight<'a>(&'a Slack);

impl Drop for InFlight<'_> {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}
