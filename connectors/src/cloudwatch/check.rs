//! Whether it can be used.

use std::time::Instant;

use serde_json::{Value, json};

use super::client::is_error;
use super::store::CloudWatch;
use crate::connector::{Health, Permission, Verdict};
use crate::http::HttpError;
use crate::log_store::{LogStore as _, MILLISECOND};
use crate::time::{Nanos, SECOND};

/// One day in nanoseconds.
const DAY: Nanos = 86_400 * SECOND;

/// Groups that are tried.
const TRIED: usize = 5;

/// Looks up groups and asks each for one event.
pub(super) async fn check(store: &CloudWatch, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: store.name().to_owned(),
        place: store.place().to_owned(),
        ..Health::default()
    };
    let groups = store
        .known
        .groups(&store.wire, &store.options, deadline)
        .await;
    let groups = match groups {
        Ok(groups) => groups,
        Err(failure) => {
            let shows = "which groups there are";
            if !failure.is_denied() || is_credentials(&failure) {
                health.unreachable = Some(format!("{failure}; {}", failure.hint()));
            }
            let what = "logs:DescribeLogGroups".to_owned();
            health
                .permissions
                .push(permission(what, shows, Some(&failure)));
            return health;
        }
    };
    if groups.is_empty() {
        health.notes.push(store.no_group());
    }
    health
        .notes
        .extend(groups.iter().map(|group| match group.retention_in_days {
            Some(days) => format!("{} keeps {days} days", group.log_group_name),
            None => group.log_group_name.clone(),
        }));
    let shows = "lines of pods and nodes";
    for group in groups.iter().take(TRIED) {
        let name = &group.log_group_name;
        let body = json!({
            "logGroupName": name, "limit": 1,
            "startTime": (now - 600 * SECOND).div_euclid(MILLISECOND),
            "endTime": now.div_euclid(MILLISECOND),
        });
        let requested: Result<Value, HttpError> =
            store.wire.call("FilterLogEvents", &body, deadline).await;
        let failure = requested.err();
        if let Some(failure) = &failure
            && is_credentials(failure)
        {
            health.unreachable = Some(format!("{failure}; {}", failure.hint()));
            return health;
        }
        let what = format!("logs:FilterLogEvents on {name}");
        health
            .permissions
            .push(permission(what, shows, failure.as_ref()));
        // Events may be older than their group.
        let since = group
            .retention_in_days
            .map(|days| now.saturating_sub(days.saturating_mul(DAY)));
        health.reaches_back_to = match (health.reaches_back_to, since) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }
    health
}

/// Nobody knows who we are, so nothing will be answered.
fn is_credentials(failure: &HttpError) -> bool {
    matches!(failure, HttpError::Credentials(_)) || failure.meant() == Some(401)
}

fn permission(what: String, shows: &str, denied: Option<&HttpError>) -> Permission {
    Permission {
        what,
        verdict: match denied {
            None => Verdict::Allowed,
            Some(failure) if failure.is_denied() => Verdict::Denied,
            Some(_) => Verdict::Unknown,
        },
        shows: shows.to_owned(),
        detail: denied.map(|failure| {
            if is_error(failure, "ResourceNotFound") {
                "there is no such group in this account and region".to_owned()
            } else {
                format!("{failure}; {}", failure.hint())
            }
        }),
    }
}
