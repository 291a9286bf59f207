//! Whether Azure can be asked, and what for.

use std::time::Instant;

use super::activity::{self, ActivityFilter, first_page};
use super::source::Azure;
use super::{error_messages, health, instances};
use crate::connector::{Health, Permission, Skew, Verdict};
use crate::http::{Answer, HttpError};
use crate::time::{Nanos, SECOND};

/// Subscriptions that are looked at.
const LOOKED_AT: usize = 5;

const HOUR: Nanos = 3600 * SECOND;

/// One small request for each kind of data of each subscription.
pub(super) async fn check(azure: &Azure, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: azure.options.name.clone(),
        place: azure.place.clone(),
        ..Health::default()
    };
    if let Some(scheduled) = &azure.scheduled {
        health.notes.push(scheduled.check(deadline).await);
    }
    match azure.arm.tokens.way(deadline).await {
        Ok(way) => health.notes.push(format!("logged in by {}", way.words())),
        Err(failure) => {
            health.unreachable = Some(failure.to_string());
            return health;
        }
    }
    let subscriptions = match azure.subscriptions(deadline).await {
        Ok(subscriptions) => subscriptions,
        Err(failure) => {
            let why =
                error_messages::of_request(&failure, "Microsoft.Resources/subscriptions/read");
            health.unreachable = Some(why);
            return health;
        }
    };
    if subscriptions.is_empty() {
        let why = "this login cannot see any subscription: give it the role Reader, or set AZURE_TENANT_ID";
        health.unreachable = Some(why.to_owned());
        return health;
    }
    if subscriptions.len() > LOOKED_AT {
        let of = subscriptions.len();
        health
            .notes
            .push(format!("the first {LOOKED_AT} of {of} subscriptions"));
    }
    let mut last = None;
    for subscription in subscriptions.iter().take(LOOKED_AT) {
        let scope = format!("subscriptions/{subscription}");
        let asks = [
            (
                activity::NEEDS,
                first_page(subscription, now - HOUR, now, &ActivityFilter::Everything),
                "who changed machines and what Azure did to them, for 90 days",
            ),
            (
                health::NEEDS,
                health::first_page(&scope),
                "which state machines were in, for 30 days",
            ),
            (
                instances::NEEDS,
                instances::first_page(subscription),
                "which machines there are, with tags and zones",
            ),
        ];
        for (needs, path, shows) in asks {
            let answer = azure.arm.get(&path, deadline).await;
            skew(&mut health, &answer, now);
            let (verdict, detail) = match &answer {
                Ok(_) => (Verdict::Allowed, None),
                Err(failure) => {
                    let verdict = if failure.is_denied() {
                        Verdict::Denied
                    } else {
                        Verdict::Unknown
                    };
                    (verdict, Some(error_messages::of_request(failure, needs)))
                }
            };
            health.permissions.push(Permission {
                what: format!("{needs} in subscription {subscription}"),
                verdict,
                shows: shows.to_owned(),
                detail,
            });
            if let Err(failure) = answer {
                last = Some(failure);
            }
        }
    }
    let silent = |failure: &HttpError| failure.code().is_none() && !failure.is_denied();
    let none = health
        .permissions
        .iter()
        .all(|permission| permission.verdict == Verdict::Unknown);
    if let Some(failure) = last.filter(|failure| none && silent(failure)) {
        health.unreachable = Some(format!("{failure}; {}", failure.hint()));
    }
    health
}

/// The clock of whoever answered first; its answers have whole seconds.
fn skew(health: &mut Health, answer: &Result<Answer, HttpError>, now: Nanos) {
    if health.skew.is_none()
        && let Ok(answer) = answer
        && let Some(date) = answer.date()
    {
        health.skew = Some(Skew {
            by: date + SECOND / 2 - now,
            // `now` is when checking began.
            within: 30 * SECOND,
        });
    }
}
