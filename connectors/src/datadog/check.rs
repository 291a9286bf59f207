//! Whether Datadog can be used: both keys, permissions, tiers, rate, clock.

use std::time::Instant;

use serde_json::{Value, json};

use super::answer::AnswerPage;
use super::client::{EVENTS, LOGS};
use super::options::Tier;
use super::page::{Item as _, MILLI};
use super::store::Datadog;
use crate::connector::{Health, Permission, Skew, Verdict};
use crate::http::{Answer, HttpError};
use crate::log_store::{LogStore as _, Span};
use crate::time::{Nanos, SECOND};

/// How far back the oldest line is looked for.
const FAR: Nanos = 450 * 86_400 * SECOND;

const LOGS_SHOW: &str = "what pods and nodes wrote";
const EVENTS_SHOW: &str = "Kubernetes Events that the cluster agent sent, deployments, alerts";

/// Asks for the API key, then for the oldest line of each tier and one event.
pub(super) async fn check(store: &Datadog, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: store.name().to_owned(),
        place: store.place().to_owned(),
        ..Health::default()
    };
    let start = Instant::now();
    match store
        .api
        .validate(deadline)
        .await
        .and_then(|answer| valid(&answer))
    {
        Ok(date) => {
            let took = Nanos::try_from(start.elapsed().as_nanos()).unwrap_or(Nanos::MAX);
            health.skew = date.map(|date| Skew {
                by: date + SECOND / 2 - (now + took / 2),
                within: SECOND / 2 + took / 2,
            });
        }
        Err(failure) if failure.is_denied() => {
            health.unreachable = Some(format!(
                "the API key (DD_API_KEY) is not accepted: {failure}; a key is valid for one organisation at one site, see DD_SITE"
            ));
            return health;
        }
        // A proxy may let through only what it knows.
        Err(failure) if failure.code() == Some(404) => {
            health
                .notes
                .push(format!("the API key could not be checked: {failure}"));
        }
        Err(failure) => {
            health.unreachable = Some(format!("{failure}; {}", failure.hint()));
            return health;
        }
    }
    let span = Span {
        from: now.saturating_sub(FAR),
        to: now,
    };
    let mut rate = None;
    for (tier, named) in store.tiers() {
        let answer = one(store, LOGS, Some(tier), span, deadline).await;
        rate = rate.or_else(|| rate_left(answer.as_ref().ok()?));
        let permission = of_logs(tier, named, answer, &mut health);
        let stop = tier == Tier::Indexes && permission.verdict == Verdict::Denied;
        health.permissions.push(permission);
        if stop {
            break;
        }
    }
    let answer = one(store, EVENTS, None, span, deadline).await;
    let permission = permission(
        "search events (permission events_read)",
        EVENTS_SHOW,
        &answer,
    );
    health.permissions.push(permission);
    health.notes.push(rate.unwrap_or_else(|| {
        "the responses contain no rate limit (a proxy may drop X-RateLimit headers), so no share of it can be reserved for other users".to_owned()
    }));
    health
}

/// `{"valid": true}`, with the server's time.
fn valid(answer: &Answer) -> Result<Option<Nanos>, HttpError> {
    let value: Value = answer.json()?;
    match value.get("valid").and_then(Value::as_bool) {
        Some(true) => Ok(answer.date()),
        Some(false) => Err(HttpError::Credentials(
            "the API key is not valid".to_owned(),
        )),
        None => Err(HttpError::Garbage(
            "it does not say whether the API key is valid".to_owned(),
        )),
    }
}

/// Asks for the oldest record.
async fn one(
    store: &Datadog,
    endpoint: &'static str,
    tier: Option<Tier>,
    span: Span,
    deadline: Instant,
) -> Result<Answer, HttpError> {
    let search = store.search("*", tier, span);
    let body = json!({
        "filter": search.filter.json(),
        "sort": "timestamp",
        "page": { "limit": 1 },
    });
    store.api.post(endpoint, &body, deadline).await
}

fn of_logs(
    tier: Tier,
    named: bool,
    answer: Result<Answer, HttpError>,
    health: &mut Health,
) -> Permission {
    let name = tier.as_str();
    let what = format!("search logs of tier {name} (permission logs_read_data)");
    let page = answer.and_then(|answer| AnswerPage::of(&answer));
    let mut permission = permission(&what, LOGS_SHOW, &page);
    match &page {
        Ok(page) => {
            for words in &page.partial {
                health.notes.push(format!("{name}: {words}"));
            }
            let oldest = page.records.first();
            let oldest = oldest.and_then(|record| super::decode::Line::read(record.get()).ok());
            match oldest {
                Some(line) => {
                    let at = line.at().div_euclid(MILLI) * MILLI;
                    let known = health.reaches_back_to.get_or_insert(at);
                    *known = at.min(*known);
                }
                None => health.notes.push(format!(
                    "tier {name} has no logs: it is not used, or the names of its indexes are wrong"
                )),
            }
        }
        Err(failure) if !named && matches!(failure.code(), Some(400 | 403 | 404 | 422)) => {
            permission.detail = Some(format!("the account may not have this tier: {failure}"));
            permission.verdict = Verdict::Unknown;
        }
        Err(_) => {}
    }
    permission
}

fn permission<T>(what: &str, shows: &str, answer: &Result<T, HttpError>) -> Permission {
    let (verdict, detail) = match answer {
        Ok(_) => (Verdict::Allowed, None),
        Err(failure) if failure.is_denied() => (
            Verdict::Denied,
            Some(format!(
                "{failure}; the application key (DD_APP_KEY) is wrong, is of another organisation, or lacks this permission"
            )),
        ),
        Err(failure) => (
            Verdict::Unknown,
            Some(format!("{failure}; {}", failure.hint())),
        ),
    };
    Permission {
        what: what.to_owned(),
        verdict,
        shows: shows.to_owned(),
        detail,
    }
}

fn rate_left(answer: &Answer) -> Option<String> {
    let rate = answer.rate_limit()?;
    let number =
        |value: Option<u64>| value.map_or_else(|| "?".to_owned(), |value| value.to_string());
    let reset = rate.reset.map(|reset| reset.as_secs());
    Some(format!(
        "{} of {} requests are left to the whole organisation for the next {} s",
        rate.remaining,
        number(rate.limit),
        number(reset)
    ))
}
