//! What to read of a cluster, given what we may.

use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt as _;

use super::access;
use super::client::RequestError;
use super::connect::Inner;
use super::cover;
use super::discover::discover;
use super::error::short;
use super::list::ListTarget;
use super::resource::Resource;
use crate::connector::Verdict;
use crate::coverage::{Coverage, Status};
use crate::time::Nanos;

/// What is read, in order, and what is not.
#[derive(Debug, Default)]
pub(super) struct Plan {
    pub(super) targets: Vec<ListTarget>,
    pub(super) rows: Vec<Coverage>,
}

/// What we may do with a resource in one place.
#[derive(Debug)]
enum Access {
    Yes,
    /// The verbs that are missing, and why in the server's words.
    No(String, Option<String>),
    /// The cluster does not serve it.
    Absent,
}

/// For whom a plan is made.
pub(super) struct PlanInput<'a> {
    pub(super) namespaces: &'a [String],
    pub(super) verbs: &'static [&'static str],
    pub(super) now: Nanos,
    pub(super) deadline: Instant,
}

/// Finds out what there is and what we may read of it.
pub(super) async fn plan(inner: &Arc<Inner>, need: &PlanInput<'_>) -> Plan {
    let concurrency = inner.options.concurrency.max(1);
    let found = discover(&inner.wire, concurrency, need.deadline).await;
    let mut resources = Resource::built_in();
    resources.extend(found.resources);
    let mut out = Plan::default();
    if let Some(first) = found.failure.first() {
        out.rows.push(Coverage {
            status: Status::Failed,
            detail: Some(format!(
                "which training kinds the cluster serves was not learned in full: {first} ({} in all)",
                found.failure.len()
            )),
            would_have_shown: Some("the state of training jobs of custom kinds".to_owned()),
            ..cover::row(inner, "discovery", None, need.now)
        });
    }
    let parts: Vec<Plan> = futures::stream::iter(resources)
        .map(|resource| async move { of_resource(inner, resource, need).await })
        .buffered(concurrency)
        .collect()
        .await;
    for part in parts {
        out.targets.extend(part.targets);
        out.rows.extend(part.rows);
    }
    out
}

async fn of_resource(inner: &Inner, resource: Resource, need: &PlanInput<'_>) -> Plan {
    let mut out = Plan::default();
    if resource.namespaced && !need.namespaces.is_empty() {
        for namespace in need.namespaces {
            in_place(inner, &resource, Some(namespace), need, &mut out).await;
        }
        return out;
    }
    if in_place(inner, &resource, None, need, &mut out).await || !resource.namespaced {
        return out;
    }
    // The whole cluster may not be read; its namespaces may.
    let mut parts = Plan::default();
    let mut read = Vec::new();
    for namespace in fallback(inner) {
        if in_place(inner, &resource, Some(&namespace), need, &mut parts).await {
            read.push(namespace);
        }
    }
    if read.is_empty() {
        return out;
    }
    for row in &mut out.rows {
        let only = format!("; read in {} only", read.join(", "));
        row.detail.get_or_insert_default().push_str(&only);
    }
    out.targets.extend(parts.targets);
    out.rows.extend(parts.rows);
    out
}

/// Namespaces that are tried where the whole cluster may not be listed.
pub(super) fn fallback(inner: &Inner) -> Vec<String> {
    let mut names = inner.options.namespaces.clone();
    names.push(inner.namespace.clone());
    let mut seen = Vec::new();
    for name in names {
        if !name.is_empty() && !seen.contains(&name) {
            seen.push(name);
        }
    }
    seen
}

/// Adds a target, or the row that says why not; whether there is one.
async fn in_place(
    inner: &Inner,
    resource: &Resource,
    namespace: Option<&str>,
    need: &PlanInput<'_>,
    out: &mut Plan,
) -> bool {
    let mut chosen = resource.clone();
    let mut access = may(inner, resource, namespace, need).await;
    if resource.is_events() && !matches!(access, Access::Yes) {
        // The same Events are served by another group, with rights of its own.
        let other = Resource::events_v1();
        if matches!(may(inner, &other, namespace, need).await, Access::Yes) {
            access = Access::Yes;
            chosen = other;
        }
    }
    match access {
        Access::Yes => {
            out.targets.push(ListTarget {
                resource: chosen,
                namespace: namespace.map(str::to_owned),
            });
            return true;
        }
        Access::No(verbs, why) => {
            let row = cover::denied(inner, resource, &verbs, namespace, why.as_deref(), need.now);
            out.rows.push(row);
        }
        Access::Absent => {
            let why = format!("the cluster does not serve {}", resource.path(namespace));
            let row = Coverage {
                mode: cover::mode(resource),
                ..cover::row(inner, &resource.name(), namespace, need.now)
            };
            let row = row.ended(Status::Failed, &[why]);
            out.rows.push(row.lacking(resource.shows()));
        }
    }
    false
}

async fn may(
    inner: &Inner,
    resource: &Resource,
    namespace: Option<&str>,
    need: &PlanInput<'_>,
) -> Access {
    let mut missing = Vec::new();
    let mut why = None;
    let mut unknown = false;
    for verb in need.verbs {
        let reviewed =
            access::review(&inner.wire, verb, resource, "", namespace, need.deadline).await;
        match reviewed.verdict {
            Verdict::Allowed => {}
            Verdict::Unknown => unknown = true,
            Verdict::Denied => {
                missing.push(*verb);
                why = why.or(reviewed.detail);
            }
        }
    }
    if !missing.is_empty() {
        return Access::No(missing.join(", "), why);
    }
    if !unknown {
        return Access::Yes;
    }
    // Nobody can say, so it is tried.
    let path = format!("{}?limit=1", resource.path(namespace));
    let cap = inner.options.max_page_bytes;
    match inner.wire.get(&path, None, cap, need.deadline).await {
        Err(failure) if failure.is_absent() => Access::Absent,
        Err(failure @ RequestError::Status { .. }) if failure.is_denied() => {
            Access::No(need.verbs.join(", "), Some(short(&failure.words())))
        }
        // Other trouble is met again, and told, when it is read.
        _ => Access::Yes,
    }
}
