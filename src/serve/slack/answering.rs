//! From a wish to what is told.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;
use whathappened_slack::{Message, Mrkdwn};

use super::Slack;
use super::permit::Permit;
use super::talk::Talk;
use super::wish::{About, What, Wish, help};
use crate::answer::Answer;
use crate::error::Error;
use crate::render::{self, Card};
use crate::serve::{Asking, Told};

/// After so long it is said that it takes longer.
const SOON: Duration = Duration::from_secs(3);

/// Lines of a timeline in a message; the whole is in a file.
const LINES: usize = 30;

fn said(text: impl AsRef<str>) -> Message {
    Message::text(&Mrkdwn::new().say(text))
}

impl Slack {
    /// Does what was wished, and tells it.
    pub(super) async fn fulfil(&self, mut talk: Talk<'_>, wish: Wish) {
        if let Wish::Help(wrong) = &wish {
            return talk.say(&help(wrong.as_deref()), false).await;
        }
        let permit = match self.permit(&talk.place).await {
            Ok(permit) => permit,
            Err(denied) => return talk.say(&said(denied.to_string()), true).await,
        };
        talk.is_private = permit.is_private;
        match wish {
            Wish::Help(_) => {}
            Wish::Tell(what, about) => self.tell(&talk, &permit, what, &about).await,
            Wish::Subscribe(name) => self.subscribe(&talk, &permit, &name).await,
            Wish::Unsubscribe(name) => self.unsubscribe(&talk, &name).await,
            Wish::Subscriptions => self.subscriptions(&talk).await,
        }
    }

    async fn tell(&self, talk: &Talk<'_>, permit: &Permit, what: What, about: &About) {
        let asking = Asking {
            question: about.question(),
            access: permit.access.clone(),
            fetch: self.settings.fetch.unwrap_or(true),
        };
        let answering = self.service.answer(asking);
        tokio::pin!(answering);
        let told = match timeout(SOON, &mut answering).await {
            Ok(told) => told,
            Err(_) => {
                let text = format!("Still looking into {} …", about.name);
                talk.wait(&said(text)).await;
                answering.await
            }
        };
        let answer = match told {
            Ok(answer) => answer,
            Err(error) => return talk.say(&failed(&error), true).await,
        };
        if permit.is_redacted {
            return talk.say(&render::redacted(&answer), false).await;
        }
        match what {
            What::Verdict => {
                let message = self.card(&answer, about, None, None);
                talk.say(&message, false).await;
            }
            What::Why => talk.say(&render::why(&answer), false).await,
            What::Attempts => talk.say(&render::attempts(&answer), false).await,
            What::Timeline => {
                let (message, left_out) = render::timeline(&answer, LINES);
                talk.say(&message, false).await;
                if left_out > 0 {
                    self.hand_over(talk, &answer, about, true).await;
                }
            }
            What::File => self.hand_over(talk, &answer, about, false).await,
        }
    }

    /// The verdict with its buttons: of the main incident, or of another.
    pub(super) fn card(
        &self,
        answer: &Answer,
        about: &About,
        incident: Option<usize>,
        remark: Option<&str>,
    ) -> Message {
        // Without a value there are no buttons, as for a name that is too long.
        let value = serde_json::to_string(about).ok();
        let page = self.settings.page.as_ref();
        let page = page.map(|address| address.replace("{name}", &encoded(&about.name)));
        let around = Card {
            value: value.as_deref(),
            page: page.as_deref(),
            remark,
            incident,
        };
        render::card(answer, &around)
    }

    /// An answer from the store alone, for those who look again and again.
    pub(super) async fn look_up(&self, about: &About, permit: &Permit) -> Told {
        let asking = Asking {
            question: about.question(),
            access: permit.access.clone(),
            fetch: false,
        };
        Arc::clone(&self.service).answer(asking).await
    }
}

/// Why there is no answer, and what to do.
fn failed(error: &Error) -> Message {
    let mut text = Mrkdwn::new();
    text = match error {
        Error::UnknownName { name, nearest } => {
            text = text
                .say("Nothing that may be seen here is called ")
                .code(name)
                .say(".");
            if nearest.is_empty() {
                return Message::text(
                    &text.say(" It may have run before anything was collected."),
                );
            }
            text = text.say(" Did you mean ");
            for (at, near) in nearest.iter().take(5).enumerate() {
                text = text.say(if at > 0 { ", " } else { "" }).code(near);
            }
            text.say("?")
        }
        Error::UnknownRun { .. } => text.say(error.to_string()).say("."),
        other => {
            tracing::error!("a question from Slack has no answer: {other}");
            text = text.say("There is no answer: ").say(other.to_string()).say(".");
            for hint in other.hints() {
                text = text.say(" ").say(hint).say(".");
            }
            text
        }
    };
    Message::text(&text)
}

/// A name as part of an address.
fn encoded(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                out.push(char::from(byte));
            }
            other => out.push_str(&format!("%{other:02X}")),
        }
    }
    out
}
