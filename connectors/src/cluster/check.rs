//! Whether a cluster can be used, and how far.

use std::sync::Arc;
use std::time::Instant;

use chrono::DateTime;
use futures::StreamExt as _;
use tokio::time::timeout_at;

use super::access::{AccessReview, review};
use super::connect::Inner;
use super::discover::discover;
use super::error::ClusterError;
use super::list::{ListTarget, oldest};
use super::page;
use super::plan::fallback;
use super::resource::Resource;
use crate::connector::{Health, Permission, Skew, Verdict};
use crate::time::{Nanos, SECOND};

/// Asks the server everything that can be asked without reading much.
pub(super) async fn check(inner: &Arc<Inner>, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: inner.options.source.clone(),
        place: inner.server.clone(),
        version: inner.version.clone(),
        ..Health::default()
    };
    let begun = Instant::now();
    let until = deadline.min(begun + inner.options.request_timeout);
    match timeout_at(until.into(), inner.wire.head("/version")).await {
        Ok(Ok(head)) => {
            if head.code == 401 {
                let error = ClusterError::of_status(&inner.server, 401, "Unauthorized");
                health.unreachable = Some(format!("{error}; {}", error.hint));
                return health;
            }
            let took = nanos(begun);
            health.skew = head.date.and_then(|date| skew(&date, now, took));
        }
        Ok(Err(error)) => {
            let error = ClusterError::of_client(&inner.server, &error);
            health.unreachable = Some(format!("{error}; {}", error.hint));
            return health;
        }
        Err(_) => {
            health.unreachable = Some(format!("{} does not respond in time", inner.server));
            return health;
        }
    }
    if inner.uid.is_none() {
        health.notes.push(format!(
            "no permission to read the namespace kube-system (get namespaces at cluster scope (apiGroup \"\")), so the cluster is identified by its address {}",
            inner.server
        ));
    }
    let concurrency = inner.options.concurrency.max(1);
    let found = discover(&inner.wire, concurrency, deadline).await;
    let mut resources = Resource::built_in();
    let training: Vec<String> = found.resources.iter().map(Resource::name).collect();
    if !training.is_empty() {
        health
            .notes
            .push(format!("training kinds: {}", training.join(", ")));
    }
    health.notes.extend(found.failure);
    resources.extend(found.resources);
    let parts: Vec<Vec<Permission>> = futures::stream::iter(resources)
        .map(|resource| async move { of_resource(inner, &resource, deadline).await })
        .buffered(concurrency)
        .collect()
        .await;
    health.permissions = parts.into_iter().flatten().collect();
    health.permissions.extend(logs(inner, deadline).await);
    health.reaches_back_to = reaches_back(inner, &health.permissions, deadline).await;
    health
}

fn nanos(since: Instant) -> Nanos {
    Nanos::try_from(since.elapsed().as_nanos()).unwrap_or(Nanos::MAX)
}

/// The `Date` header has whole seconds and was written while the answer was
/// under way, which `took` nanoseconds.
fn skew(date: &str, now: Nanos, took: Nanos) -> Option<Skew> {
    let theirs = DateTime::parse_from_rfc2822(date)
        .ok()?
        .timestamp_nanos_opt()?;
    let half = took / 2;
    Some(Skew {
        by: theirs + SECOND / 2 - (now + half),
        within: SECOND / 2 + half,
    })
}

async fn of_resource(inner: &Inner, resource: &Resource, deadline: Instant) -> Vec<Permission> {
    let mut out = in_place(inner, resource, None, deadline).await;
    let denied = out.iter().any(|one| one.verdict == Verdict::Denied);
    if denied && resource.namespaced {
        for namespace in fallback(inner) {
            out.extend(in_place(inner, resource, Some(&namespace), deadline).await);
        }
    }
    out
}

async fn in_place(
    inner: &Inner,
    resource: &Resource,
    namespace: Option<&str>,
    deadline: Instant,
) -> Vec<Permission> {
    let fetch_request = |verb| review(&inner.wire, verb, resource, "", namespace, deadline);
    let (list, watch) = tokio::join!(fetch_request("list"), fetch_request("watch"));
    let permission = |verbs: &str, reviewed: AccessReview| Permission {
        what: resource.permission(verbs, namespace),
        verdict: reviewed.verdict,
        shows: resource.shows().to_owned(),
        detail: reviewed.detail,
    };
    if list.verdict == watch.verdict {
        return vec![permission("list, watch", list)];
    }
    vec![permission("list", list), permission("watch", watch)]
}

async fn logs(inner: &Inner, deadline: Instant) -> Vec<Permission> {
    let Some(pods) = Resource::built_in().into_iter().next() else {
        return Vec::new();
    };
    let mut out = Vec::new();
    let mut places = vec![None];
    places.extend(fallback(inner).into_iter().map(Some));
    for place in places {
        let namespace = place.as_deref();
        let reviewed = review(&inner.wire, "get", &pods, "log", namespace, deadline).await;
        let verdict = reviewed.verdict;
        out.push(Permission {
            what: log_permission(namespace),
            verdict,
            shows: "what the processes logged before they ended".to_owned(),
            detail: reviewed.detail,
        });
        if verdict != Verdict::Denied {
            break;
        }
    }
    out
}

/// What reading logs needs, in words.
pub(super) fn log_permission(namespace: Option<&str>) -> String {
    match namespace {
        Some(namespace) => format!("get pods/log in namespace {namespace} (apiGroup \"\")"),
        None => "get pods/log at cluster scope (apiGroup \"\")".to_owned(),
    }
}

/// The oldest of some Events; lists are sorted by name, so it is a sample.
async fn reaches_back(
    inner: &Inner,
    permissions: &[Permission],
    deadline: Instant,
) -> Option<Nanos> {
    let events = Resource::built_in().into_iter().find(Resource::is_events)?;
    let allowed = |namespace: Option<&str>| {
        let wanted = [
            events.permission("list, watch", namespace),
            events.permission("list", namespace),
        ];
        permissions
            .iter()
            .any(|one| wanted.contains(&one.what) && one.verdict != Verdict::Denied)
    };
    let namespace = if allowed(None) {
        None
    } else {
        Some(fallback(inner).into_iter().find(|one| allowed(Some(one)))?)
    };
    let target = ListTarget {
        resource: events,
        namespace,
    };
    let path = format!("{}?limit={}", target.path(), inner.options.page_size.max(1));
    let body = inner
        .wire
        .get(&path, None, inner.options.max_page_bytes, deadline)
        .await
        .ok()?;
    let text = String::from_utf8_lossy(&body);
    let decoder = target.decoder(inner, &target.path());
    let mut observations = Vec::new();
    for item in page::read(&text).ok()?.items {
        // What cannot be decoded is told when it is fetched.
        let _unusable = decoder.item(item.get(), 0, 0, &mut observations);
    }
    oldest(&observations)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Stamp;

    #[test]
    fn the_date_header_tells_the_skew() {
        let now = Stamp::parse("2026-11-21T15:20:00Z").unwrap().lo;
        let ahead = skew("Sat, 21 Nov 2026 15:21:00 GMT", now, 0).unwrap();
        assert_eq!(ahead.by, 60 * SECOND + SECOND / 2);
        assert_eq!(ahead.within, SECOND / 2);
        assert_eq!(skew("yesterday", now, 0), None);
    }
}
