//! "Tell this channel when experiment X loses a pod."
//!
//! One message an incident, with its collateral folded; what was told is noted,
//! so that a restart tells nothing again, and a message is changed where the
//! verdict is. An incident is known again by its attempt and a pod that it shares.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use whathappened_model::connector::Stop;
use whathappened_model::time::{SECOND, Stamp};
use whathappened_slack::{ApiError, Message, Mrkdwn};

use super::Slack;
use super::authorize::{Authorization, Origin};
use super::command::Subject;
use super::reply::Replies;
use crate::answer::{Answer, Incident};
use crate::error::Error;
use crate::render;

const SUBSCRIPTION: &str = "subscription";
const ANNOUNCED: &str = "announced";

/// Seconds between two looks, unless configured.
const EVERY_S: u64 = 60;

/// Subscriptions of one channel.
const MOST: usize = 50;

/// Who wants to be told of what.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Subscription {
    channel: String,
    is_direct: bool,
    name: String,
    /// Who subscribed.
    user: String,
    /// Since when, in seconds since 1970; what happened before is no news.
    since: i64,
}

/// What was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct PostedIncident {
    /// The message.
    ts: String,
    run: Option<String>,
    attempt: Option<u32>,
    /// Pods that it is about.
    pods: BTreeSet<String>,
    /// What the verdict was.
    verdict: String,
}

impl Subscription {
    fn key(&self) -> String {
        format!("{}\n{}", self.channel, self.name)
    }

    fn about(&self) -> Subject {
        Subject {
            name: self.name.clone(),
            ..Subject::default()
        }
    }
}

impl Slack {
    /// Subscribes a channel.
    pub(super) async fn subscribe(
        &self,
        replies: &Replies<'_>,
        authorization: &Authorization,
        name: &str,
    ) {
        let message = match self.subscribed(replies, authorization, name).await {
            Ok(text) | Err(text) => Message::text(&text),
        };
        replies.say(&message, false).await;
    }

    async fn subscribed(
        &self,
        replies: &Replies<'_>,
        authorization: &Authorization,
        name: &str,
    ) -> Result<Mrkdwn, Mrkdwn> {
        let no = |text: &str| Err(Mrkdwn::new().say(text));
        if self.api.is_none() {
            return no("The service cannot post to channels because it has no SLACK_BOT_TOKEN.");
        }
        if authorization.is_private && !replies.place.is_direct {
            return no(
                "You may see this, but the channel may not, so it cannot be notified. Subscribe in a direct message, or have the channel allowed: `[slack.channels]`.",
            );
        }
        let subscription = Subscription {
            channel: replies.place.channel.clone(),
            is_direct: replies.place.is_direct,
            name: name.to_owned(),
            user: replies.place.user.clone(),
            since: self.now(),
        };
        let before = self.of_channel(&replies.place.channel);
        let before = before.map_err(|error| Mrkdwn::new().say(error.to_string()))?;
        if before.iter().any(|other| other.name == name) {
            return Ok(Mrkdwn::new()
                .say("This channel is already notified when ")
                .code(name)
                .say(" loses a pod."));
        }
        if before.len() >= MOST {
            return no("This channel already has 50 subscriptions; unsubscribe some first.");
        }
        // A name that nothing bears yet may be about to start.
        let seen = self.look_up(&subscription.about(), authorization).await;
        let value = serde_json::to_string(&subscription).unwrap_or_default();
        self.notes
            .set(SUBSCRIPTION, &subscription.key(), &value)
            .map_err(|error| Mrkdwn::new().say(error.to_string()))?;
        let reported = Mrkdwn::new()
            .say("This channel will be notified when ")
            .code(name)
            .say(" loses a pod.");
        Ok(match seen {
            Ok(_) => reported,
            Err(error) => match &*error {
                Error::UnknownName { nearest, .. } => {
                    let reported = reported.say(" Nothing with that name was found so far");
                    match nearest.first() {
                        Some(near) => reported.say("; the closest match is ").code(near).say("."),
                        None => reported.say("."),
                    }
                }
                other => reported.say(format!(" No answer is available at the moment: {other}.")),
            },
        })
    }

    /// Ends a subscription.
    pub(super) async fn unsubscribe(&self, replies: &Replies<'_>, name: &str) {
        let key = format!("{}\n{name}", replies.place.channel);
        let text = match self.notes.remove(SUBSCRIPTION, &key) {
            Ok(true) => Mrkdwn::new()
                .say("This channel is no longer notified about ")
                .code(name)
                .say("."),
            Ok(false) => Mrkdwn::new()
                .say("This channel was not subscribed to ")
                .code(name)
                .say("; see ")
                .code("/whathappened subscriptions")
                .say("."),
            Err(error) => Mrkdwn::new().say(error.to_string()),
        };
        replies.say(&Message::text(&text), false).await;
    }

    /// Lists a channel's subscriptions.
    pub(super) async fn subscriptions(&self, replies: &Replies<'_>) {
        let text = match self.of_channel(&replies.place.channel) {
            Ok(none) if none.is_empty() => Mrkdwn::new()
                .say("This channel has no subscriptions. Add one with ")
                .code("/whathappened subscribe NAME")
                .say("."),
            Ok(some) => {
                let mut text =
                    Mrkdwn::new().say("This channel is notified when one of these loses a pod:");
                for one in some {
                    text = text.say("\n• ").code(one.name);
                }
                text
            }
            Err(error) => Mrkdwn::new().say(error.to_string()),
        };
        replies.say(&Message::text(&text), true).await;
    }

    fn of_channel(&self, channel: &str) -> Result<Vec<Subscription>, Error> {
        let mut all = self.all()?;
        all.retain(|one| one.channel == channel);
        Ok(all)
    }

    fn all(&self) -> Result<Vec<Subscription>, Error> {
        let notes = self.notes.all(SUBSCRIPTION)?;
        let read = notes
            .iter()
            .filter_map(|(_, value)| serde_json::from_str(value).ok());
        Ok(read.collect())
    }

    /// Looks at what channels subscribed to, again and again, until `stop`.
    pub(super) async fn look(&self, stop: &Stop) {
        let every = Duration::from_secs(self.settings.look_every_s.unwrap_or(EVERY_S).max(1));
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(every) => {}
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = self.look_once() => {}
            }
        }
    }

    async fn look_once(&self) {
        let all = match self.all() {
            Ok(all) => all,
            Err(error) => return tracing::error!("subscriptions cannot be read: {error}"),
        };
        for one in &all {
            if let Err(error) = self.look_at(one).await {
                tracing::warn!(
                    "the Slack channel {} could not be notified about {}: {error}",
                    one.channel,
                    one.name
                );
                if error.is_about_the_token() {
                    return;
                }
            }
        }
    }

    async fn look_at(&self, one: &Subscription) -> Result<(), ApiError> {
        let place = Origin {
            channel: one.channel.clone(),
            user: one.user.clone(),
            is_direct: one.is_direct,
            is_shared: None,
        };
        // Rights may have been taken away since.
        let authorization = match self.authorization(&place).await {
            Ok(authorization) if !authorization.is_private || one.is_direct => authorization,
            _ => return Ok(()),
        };
        let answer = match self.look_up(&one.about(), &authorization).await {
            Ok(answer) => answer,
            Err(error) => {
                if !matches!(&*error, Error::UnknownName { .. }) {
                    tracing::warn!("{} cannot be checked: {error}", one.name);
                }
                return Ok(());
            }
        };
        let prefix = format!("{}\n", one.key());
        let mut known = self.known(&prefix);
        for (at, incident) in answer.incidents.iter().enumerate() {
            if is_news(incident, one.since) {
                self.announce(one, &authorization, &answer, at, &mut known)
                    .await?;
            }
        }
        Ok(())
    }

    fn known(&self, prefix: &str) -> Vec<(String, PostedIncident)> {
        let notes = self.notes.all(ANNOUNCED).unwrap_or_else(|error| {
            tracing::error!("what was announced cannot be read: {error}");
            Vec::new()
        });
        notes
            .into_iter()
            .filter(|(key, _)| key.starts_with(prefix))
            .filter_map(|(key, value)| Some((key, serde_json::from_str(&value).ok()?)))
            .collect()
    }

    async fn announce(
        &self,
        one: &Subscription,
        authorization: &Authorization,
        answer: &Answer,
        at: usize,
        known: &mut Vec<(String, PostedIncident)>,
    ) -> Result<(), ApiError> {
        let (Some(api), Some(incident)) = (&self.api, answer.incidents.get(at)) else {
            return Ok(());
        };
        let mut reported = PostedIncident {
            ts: String::new(),
            run: incident.run_id.clone(),
            attempt: incident.attempt,
            pods: pods(incident),
            verdict: verdict(incident),
        };
        let message = if authorization.is_redacted {
            render::redacted(answer)
        } else {
            let remark = format!("Posted because this channel is subscribed to {}", one.name);
            self.card(answer, &one.about(), Some(at), Some(&remark))
        };
        let before = known
            .iter_mut()
            .find(|(_, before)| is_same(before, &reported));
        let key = match before {
            Some((_, before)) if before.verdict == reported.verdict => return Ok(()),
            Some((key, before)) => {
                api.update(&one.channel, &before.ts, &message).await?;
                reported.ts.clone_from(&before.ts);
                reported.pods.extend(before.pods.iter().cloned());
                *before = reported.clone();
                key.clone()
            }
            None => {
                reported.ts = api.post(&one.channel, None, &message).await?.ts;
                let key = format!("{}\n{}", one.key(), reported.ts);
                known.push((key.clone(), reported.clone()));
                key
            }
        };
        let value = serde_json::to_string(&reported).unwrap_or_default();
        if let Err(error) = self.notes.set(ANNOUNCED, &key, &value) {
            tracing::error!("the announcement cannot be recorded: {error}");
        }
        Ok(())
    }
}

/// Whether an incident cost a pod after a time in seconds since 1970.
fn is_news(incident: &Incident, since: i64) -> bool {
    let Some(first) = &incident.first_victim else {
        return false;
    };
    let time = first.time_hi.as_deref().or(first.time.as_deref());
    let time = time.and_then(Stamp::parse);
    !incident.cause.starts_with("none.") && time.is_some_and(|time| time.hi > since * SECOND)
}

fn pods(incident: &Incident) -> BTreeSet<String> {
    let first = incident.first_victim.iter().chain(&incident.first_victims);
    let all = first.chain(&incident.victims).chain(&incident.collateral);
    all.map(|victim| victim.pod.clone()).collect()
}

fn is_same(before: &PostedIncident, now: &PostedIncident) -> bool {
    before.run == now.run
        && before.attempt == now.attempt
        && before.pods.intersection(&now.pods).next().is_some()
}

/// What has to change for a message to be changed.
fn verdict(incident: &Incident) -> String {
    let actor = incident.actor.as_ref().map(|actor| actor.name.as_str());
    let first = incident.first_victim.as_ref();
    let first = first.map(|victim| victim.pod.as_str());
    format!(
        "{} {} {} {} {}+{}",
        incident.cause,
        incident.level,
        actor.unwrap_or("-"),
        first.unwrap_or("-"),
        incident.victims.len(),
        incident.collateral.len()
    )
}
