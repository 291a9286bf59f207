//! From a wish to what is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;
use whathappened_slack::{Message, Mrkdwn};

use super::Slack;
use super::permit::Permit;
use super::talk::Talk;
use super::wish::{About, What, Wish, help};
use crate::answer::Answer;
use crate::error::Error;
use crate::render::{self, Card};
use crate::serve::audit::Asked;
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
        let start = Instant::now();
        let caller = format!("{} in {}", talk.place.user, talk.place.channel);
        let asked = wish.to_string();
        let outcome = self.told(&mut talk, wish).await;
        let asked = Asked {
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
    async fn told(&self, talk: &mut Talk<'_>, wish: Wish) -> &'static str {
        if let Wish::Help(wrong) = &wish {
            talk.say(&help(wrong.as_deref()), false).await;
            return "answered";
        }
        let permit = match self.permit(&talk.place).await {
            Ok(permit) => permit,
            Err(denied) => {
                talk.say(&said(denied.to_string()), true).await;
                return "refused";
            }
        };
        talk.is_private = permit.is_private;
        match wish {
            Wish::Help(_) => {}
            Wish::Tell(what, about) => return self.tell(talk, &permit, what, &about).await,
            Wish::Subscribe(name) => self.subscribe(talk, &permit, &name).await,
            Wish::Unsubscribe(name) => self.unsubscribe(talk, &name).await,
            Wish::Subscriptions => self.subscriptions(talk).await,
        }
        "answered"
    }

    async fn tell(
        &self,
        talk: &Talk<'_>,
        permit: &Permit,
        what: What,
        about: &About,
    ) -> &'static str {
        let asking = Asking {
            question: about.question(),
            access: permit.access.clone(),
            fetch: self.settings.fetch.unwrap_or(true),
        };
        let answering = self.service.answer("slack", asking);
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
            Err(error) => {
                talk.say(&failed(&error), true).await;
                return "failed";
            }
        };
        if permit.is_redacted {
            talk.say(&render::redacted(&answer), false).await;
            return "answered";
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
        "answered"
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
        Arc::clone(&self.service).answer("slack", asking).await
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
            tracing::error!("a question from Slack has no answer: {other}");
            text = text
                .say("There is no answer: ")
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
