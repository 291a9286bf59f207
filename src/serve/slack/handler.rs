//! From a wish to what is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;
use whathappened_slack::{Message, Mrkdwn};

use super::Slack;
use super::authorize::Authorization;
use super::command::{AnswerView, Subject, UserCommand, help};
use super::reply::Replies;
use crate::answer::Answer;
use crate::error::Error;
use crate::render::{self, Card};
use crate::serve::audit::AuditEntry;
use crate::serve::{CallerQuestion, SharedAnswer};

/// After so long it is said that it takes longer.
const SOON: Duration = Duration::from_secs(3);

/// Lines of a timeline in a message; the whole is in a file.
const LINES: usize = 30;

fn plain_message(text: impl AsRef<str>) -> Message {
    Message::text(&Mrkdwn::new().say(text))
}

impl Slack {
    /// Does what was wished, and tells it.
    pub(super) async fn handle(&self, mut replies: Replies<'_>, user_command: UserCommand) {
        let start = Instant::now();
        let caller = format!("{} in {}", replies.place.user, replies.place.channel);
        let asked = user_command.to_string();
        let outcome = self.reported(&mut replies, user_command).await;
        let asked = AuditEntry {
            caller: &caller,
            face: "slack",
            what: &asked,
            outcome,
            rows: None,
            took: start.elapsed(),
        };
        self.service.audit.write(&asked, (self.service.clock)());
    }

    /// What came of it, in a word of the audit trail.
    async fn reported(&self, replies: &mut Replies<'_>, user_command: UserCommand) -> &'static str {
        if let UserCommand::Help(wrong) = &user_command {
            replies.say(&help(wrong.as_deref()), false).await;
            return "answered";
        }
        let authorization = match self.authorization(&replies.place).await {
            Ok(authorization) => authorization,
            Err(denied) => {
                replies.say(&plain_message(denied.to_string()), true).await;
                return "refused";
            }
        };
        replies.is_private = authorization.is_private;
        match user_command {
            UserCommand::Help(_) => {}
            UserCommand::Show(what, about) => {
                return self
                    .send_answer(replies, &authorization, what, &about)
                    .await;
            }
            UserCommand::Subscribe(name) => self.subscribe(replies, &authorization, &name).await,
            UserCommand::Unsubscribe(name) => self.unsubscribe(replies, &name).await,
            UserCommand::Subscriptions => self.subscriptions(replies).await,
        }
        "answered"
    }

    async fn send_answer(
        &self,
        replies: &Replies<'_>,
        authorization: &Authorization,
        what: AnswerView,
        about: &Subject,
    ) -> &'static str {
        let asking = CallerQuestion {
            question: about.question(),
            access: authorization.access.clone(),
            fetch: self.settings.fetch.unwrap_or(true),
        };
        let answering = self.service.answer("slack", asking);
        tokio::pin!(answering);
        let reported = match timeout(SOON, &mut answering).await {
            Ok(reported) => reported,
            Err(_) => {
                let text = format!("Still looking into {} …", about.name);
                replies.wait(&plain_message(text)).await;
                answering.await
            }
        };
        let answer = match reported {
            Ok(answer) => answer,
            Err(error) => {
                replies.say(&failed(&error), true).await;
                return "failed";
            }
        };
        if authorization.is_redacted {
            replies.say(&render::redacted(&answer), false).await;
            return "answered";
        }
        match what {
            AnswerView::Verdict => {
                let message = self.card(&answer, about, None, None);
                replies.say(&message, false).await;
            }
            AnswerView::Why => replies.say(&render::why(&answer), false).await,
            AnswerView::Attempts => replies.say(&render::attempts(&answer), false).await,
            AnswerView::Timeline => {
                let (message, left_out) = render::timeline(&answer, LINES);
                replies.say(&message, false).await;
                if left_out > 0 {
                    self.hand_over(replies, &answer, about, true).await;
                }
            }
            AnswerView::File => self.hand_over(replies, &answer, about, false).await,
        }
        "answered"
    }

    /// The verdict with its buttons: of the main incident, or of another.
    pub(super) fn card(
        &self,
        answer: &Answer,
        about: &Subject,
        incident: Option<usize>,
        remark: Option<&str>,
    ) -> Message {
        // Without a value there are no buttons, as for a name that is too long.
        let value = serde_json::to_string(about).ok();
        let page = self.settings.page.as_ref();
        let page = page.map(|address| address.replace("{name}", &render::in_address(&about.name)));
        let page = page.or_else(|| render::page_of(answer, incident));
        let around = Card {
            value: value.as_deref(),
            page: page.as_deref(),
            remark,
            incident,
        };
        render::card(answer, &around)
    }

    /// An answer from the store alone, for those who look again and again.
    pub(super) async fn look_up(
        &self,
        about: &Subject,
        authorization: &Authorization,
    ) -> SharedAnswer {
        let asking = CallerQuestion {
            question: about.question(),
            access: authorization.access.clone(),
            fetch: false,
        };
        Arc::clone(&self.service).answer("slack", asking).await
    }
}

/// Why there is no answer, and what to do.
fn failed(error: &Error) -> Message {
    let mut text = Mrkdwn::new();
    text = match error {
        Error::UnknownName { name, nearest, .. } => {
            text = text
                .say("Nothing visible in this channel is named ")
                .code(name)
                .say(".");
            if nearest.is_empty() {
                return Message::text(&text.say(" It may have run before anything was collected."));
            }
            text = text.say(" Did you mean ");
            for (at, near) in nearest.iter().take(5).enumerate() {
                text = text.say(if at > 0 { ", " } else { "" }).code(near);
            }
            text.say("?")
        }
        Error::UnknownRun { .. } => text.say(error.to_string()).say("."),
        other => {
            tracing::error!("a question from Slack could not be answered: {other}");
            text = text
                .say("No answer is available: ")
                .say(other.to_string())
                .say(".");
            for hint in other.hints() {
                text = text.say(" ").say(hint).say(".");
            }
            text
        }
    };
    Message::text(&text)
}
