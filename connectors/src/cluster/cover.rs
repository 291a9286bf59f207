//! Coverage rows of a cluster.

use super::connect::Inner;
use super::resource::Resource;
use crate::coverage::{Coverage, Mode, Status};
use crate::time::{Nanos, SECOND};

/// How long API servers keep Events unless told otherwise (`--event-ttl`).
pub(super) const EVENTS_RETENTION_S: i64 = 3600;

/// A row of what a resource says now, to be filled in.
pub(super) fn row(inner: &Inner, resource: &str, namespace: Option<&str>, now: Nanos) -> Coverage {
    Coverage {
        cluster: Some(inner.id.to_string()),
        namespace: namespace.map(str::to_owned),
        mode: Mode::Snapshot,
        asked_to: Some(now),
        ..Coverage::new(&inner.options.source, resource)
    }
}

/// The row of something that may not be read. `verbs` is what is missing.
pub(super) fn denied(
    inner: &Inner,
    resource: &Resource,
    verbs: &str,
    namespace: Option<&str>,
    why: Option<&str>,
    now: Nanos,
) -> Coverage {
    let permission = resource.permission(verbs, namespace);
    let mut detail = format!("missing permission: {permission}");
    if let Some(why) = why {
        detail.push_str("; ");
        detail.push_str(why);
    }
    let row = Coverage {
        mode: mode(resource),
        ..row(inner, &resource.name(), namespace, now)
    };
    row.ended(Status::Denied, &[detail])
        .lacking(resource.shows())
}

pub(super) fn mode(resource: &Resource) -> Mode {
    if resource.is_events() {
        Mode::Interval
    } else {
        Mode::Snapshot
    }
}

/// Whether Events that were asked for can have been forgotten, in words.
pub(super) fn forgotten(
    requested: Option<Nanos>,
    oldest: Option<Nanos>,
    now: Nanos,
) -> Option<String> {
    let Some(oldest) = oldest else {
        return Some(
            "there are no Events: the cluster was quiet, or all of them have expired".to_owned(),
        );
    };
    let minutes = (now - oldest).max(0) / (60 * SECOND);
    let missing = requested.is_none_or(|requested| requested < oldest);
    (missing && minutes < 60).then(|| {
        format!(
            "the oldest Event is {minutes} min old; earlier ones have expired (the API server keeps Events for about an hour) or never existed"
        )
    })
}
