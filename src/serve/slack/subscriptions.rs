//! "Tell this channel when experiment X loses a pod."
//!
//! One message an incident, with its collateral folded; what was told is noted,
//! so that a restart tells nothing again, and a message is changed where the
//! verdict is. An incident is known again by its attempt and a pod that it shares.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use whathappened_connectors::connector::Stop;
use whathappened_connectors::time::{SECOND, Stamp};
use whathappened_slack::{ApiError, Message, Mrkdwn};

use super::Slack;
use super::permit::{Permit, Place};
use super::talk::Talk;
use super::wish::About;
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
struct Announced {
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

    fn about(&self) -> About {
        About {
            name: self.name.clone(),
            ..About::default()
        }
    }
}

impl Slack {
    /// Subscribes a channel.
    pub(super) async fn subscribe(&self, talk: &Talk<'_>, permit: &Permit, name: &str) {
        let message = match self.subscribed(talk, permit, name).await {
            Ok(text) | Err(text) => Message::text(&text),
        };
        talk.say(&message, false).await;
    }

    async fn subscribed(
        &self,
        talk: &Talk<'_>,
        permit: &Permit,
        name: &str,
    ) -> Result<Mrkdwn, Mrkdwn> {
        let no = |text: &str| Err(Mrkdwn::new().say(text));
        if self.api.is_none() {
            return no(
                "The service has no SLACK_BOT_TOKEN, so that it cannot tell a channel of itself.",
            );
        }
        if permit.is_private && !talk.place.is_direct {
            return no(
                "What you may see is yours alone, so that this channel cannot be told of it. Subscribe in a direct message, or have the channel allowed: `[slack.channels]`.",
            );
        }
        let subscription = Subscription {
            channel: talk.place.channel.clone(),
            is_direct: talk.place.is_direct,
            name: name.to_owned(),
            user: talk.place.user.clone(),
            since: self.now(),
        };
        let before = self.of_channel(&talk.place.channel);
        let before = before.map_err(|error| Mrkdwn::new().say(error.to_string()))?;
        if before.iter().any(|other| other.name == name) {
            return Ok(Mrkdwn::new()
                .say("This channel is told already when ")
                .code(name)
                .say(" loses a pod."));
        }
        if before.len() >= MOST {
            return no("This channel is told of 50 experiments already; unsubscribe some.");
        }
        // A name that nothing bears yet may be about to start.
        let seen = self.look_up(&subscription.about(), permit).await;
        let value = serde_json::to_string(&subscription).unwrap_or_default();
        self.notes
            .set(SUBSCRIPTION, &subscription.key(), &value)
            .map_err(|error| Mrkdwn::new().say(error.to_string()))?;
        let told = Mrkdwn::new()
            .say("This channel will be told when ")
            .code(name)
            .say(" loses a pod.");
        Ok(match seen {
            Ok(_) => told,
            Err(error) => match &*error {
                Error::UnknownName { nearest, .. } => {
                    let told = told.say(" Nothing of that name was seen so far");
                    match nearest.first() {
                        Some(near) => told.say("; near it is ").code(near).say("."),
                        None => told.say("."),
                    }
                }
                other => told.say(format!(" Just now there is no answer: {other}.")),
            },
        })
    }

    /// Ends a subscription.
    pub(super) async fn unsubscribe(&self, talk: &Talk<'_>, name: &str) {
        let key = format!("{}\n{name}", talk.place.channel);
        let text = match self.notes.remove(SUBSCRIPTION, &key) {
            Ok(true) => Mrkdwn::new()
                .say("This channel is told no more of ")
                .code(name)
                .say("."),
            Ok(false) => Mrkdwn::new()
                .say("This channel was not told of ")
                .code(name)
                .say("; see ")
                .code("/whathappened subscriptions")
                .say("."),
            Err(error) => Mrkdwn::new().say(error.to_string()),
        };
        talk.say(&Message::text(&text), false).await;
    }

    /// Lists a channel's subscriptions.
    pub(super) async fn subscriptions(&self, talk: &Talk<'_>) {
        let text = match self.of_channel(&talk.place.channel) {
            Ok(none) if none.is_empty() => Mrkdwn::new()
                .say("This channel is told of nothing. ")
                .code("/whathappened subscribe NAME")
                .say(" changes that."),
            Ok(some) => {
                let mut text =
                    Mrkdwn::new().say("This channel is told when one of these loses a pod:");
                for one in some {
                    text = text.say("\n• ").code(one.name);
                }
                text
            }
            Err(error) => Mrkdwn::new().say(error.to_string()),
        };
        talk.say(&Message::text(&text), true).await;
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
                    "Slack's channel {} could not be told of {}: {error}",
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
        let place = Place {
            channel: one.channel.clone(),
            user: one.user.clone(),
            is_direct: one.is_direct,
            is_shared: None,
        };
        // Rights may have been taken away since.
        let permit = match self.permit(&place).await {
            Ok(permit) if !permit.is_private || one.is_direct => permit,
            _ => return Ok(()),
        };
        let answer = match self.look_up(&one.about(), &permit).await {
            Ok(answer) => answer,
            Err(error) => {
                if !matches!(&*error, Error::UnknownName { .. }) {
                    tracing::warn!("{} cannot be looked at: {error}", one.name);
                }
                return Ok(());
            }
        };
        let prefix = format!("{}\n", one.key());
        let mut known = self.known(&prefix);
        for (at, incident) in answer.incidents.iter().enumerate() {
            if is_news(incident, one.since) {
                self.announce(one, &permit, &answer, at, &mut known).await?;
            }
        }
        Ok(())
    }

    fn known(&self, prefix: &str) -> Vec<(String, Announced)> {
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
        permit: &Permit,
        answer: &Answer,
        at: usize,
        known: &mut Vec<(String, Announced)>,
    ) -> Result<(), ApiError> {
        let (Some(api), Some(incident)) = (&self.api, answer.incidents.get(at)) else {
            return Ok(());
        };
        let mut told = Announced {
            ts: String::new(),
            run: incident.run_id.clone(),
            attempt: incident.attempt,
            pods: pods(incident),
            verdict: verdict(incident),
        };
        let message = if permit.is_redacted {
            render::redacted(answer)
        } else {
            let remark = format!("Told since this channel subscribed to {}", one.name);
            self.card(answer, &one.about(), Some(at), Some(&remark))
        };
        let before = known.iter_mut().find(|(_, before)| is_same(before, &told));
        let key = match before {
            Some((_, before)) if before.verdict == told.verdict => return Ok(()),
            Some((key, before)) => {
                api.update(&one.channel, &before.ts, &message).await?;
                told.ts.clone_from(&before.ts);
                told.pods.extend(before.pods.iter().cloned());
                *before = told.clone();
                key.clone()
            }
            None => {
                told.ts = api.post(&one.channel, None, &message).await?.ts;
                let key = format!("{}\n{}", one.key(), told.ts);
                known.push((key.clone(), told.clone()));
                key
            }
        };
        let value = serde_json::to_string(&told).unwrap_or_default();
        if let Err(error) = self.notes.set(ANNOUNCED, &key, &value) {
            tracing::error!("what was announced cannot be noted: {error}");
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

fn is_same(before: &Announced, now: &Announced) -> bool {
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
