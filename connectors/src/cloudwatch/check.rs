//! Whether it can be used.

use std::time::Instant;

use serde_json::{Value, json};

use super::store::CloudWatch;
use super::wire::is_error;
use crate::connector::{Health, Permission, Verdict};
use crate::http::Trouble;
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
        Err(trouble) => {
            let shows = "which groups there are";
            if !trouble.is_denied() || is_credentials(&trouble) {
                health.unreachable = Some(format!("{trouble}; {}", trouble.hint()));
            }
            let what = "logs:DescribeLogGroups".to_owned();
            health
                .permissions
                .push(permission(what, shows, Some(&trouble)));
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
        let asked: Result<Value, Trouble> =
            store.wire.call("FilterLogEvents", &body, deadline).await;
        let trouble = asked.err();
        if let Some(trouble) = &trouble
            && is_credentials(trouble)
        {
            health.unreachable = Some(format!("{trouble}; {}", trouble.hint()));
            return health;
        }
        let what = format!("logs:FilterLogEvents on {name}");
        health
            .permissions
            .push(permission(what, shows, trouble.as_ref()));
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
fn is_credentials(trouble: &Trouble) -> bool {
    matches!(trouble, Trouble::Credentials(_)) || trouble.meant() == Some(401)
}

fn permission(what: String, shows: &str, denied: Option<&Trouble>) -> Permission {
    Permission {
        what,
        verdict: match denied {
            None => Verdict::Allowed,
            Some(trouble) if trouble.is_denied() => Verdict::Denied,
            Some(_) => Verdict::Unknown,
        },
        shows: shows.to_owned(),
        detail: denied.map(|trouble| {
            if is_error(trouble, "ResourceNotFound") {
                "there is no such group in this account and region".to_owned()
            } else {
                format!("{trouble}; {}", trouble.hint())
            }
        }),
    }
}
