//! Whether it can be used.

use std::time::Instant;

use serde_json::{Value, json};

use super::client::{SearchClient, SearchTarget};
use super::fields::Fields;
use crate::connector::{Health, Permission, Skew, Verdict};
use crate::http::{HttpError, Request};
use crate::time::{Nanos, SECOND};

/// Asks for version, fields and the oldest line.
pub(super) async fn check(
    wire: &SearchClient,
    place: &str,
    now: Nanos,
    deadline: Instant,
) -> Health {
    let mut health = Health {
        source: wire.options.name.clone(),
        place: place.to_owned(),
        ..Health::default()
    };
    let root = wire.send(&Request::get(""), deadline).await;
    match &root {
        Ok(answer) => {
            health.skew = answer.date().map(|date| Skew {
                by: date.saturating_sub(now),
                within: SECOND,
            });
            match wire.info(deadline).await {
                Ok(Some(info)) => {
                    let kind = info.version.distribution.as_deref();
                    let kind = kind.unwrap_or("elasticsearch");
                    health.version = Some(format!("{kind} {}", info.version.number));
                    if !info.cluster_name.is_empty() {
                        health.notes.push(format!("cluster {}", info.cluster_name));
                    }
                }
                Ok(None) => {}
                Err(failure) => return unreachable(health, &failure),
            }
        }
        // Who may read indices need not be allowed to see the cluster.
        Err(failure) if matches!(failure.code(), Some(403..=405)) => {
            health
                .notes
                .push(format!("its version is not known: {failure}"));
        }
        Err(failure) => return unreachable(health, failure),
    }
    let fields = match wire.fields(deadline).await {
        Ok(fields) => fields,
        Err(failure) => {
            let shows = "which fields hold what".to_owned();
            health.permissions.push(permission(
                "view_index_metadata",
                wire,
                shows,
                Some(&failure),
            ));
            return health;
        }
    };
    note_fields(wire, fields, &mut health);
    read(wire, fields, &mut health, deadline).await;
    health
}

fn unreachable(mut health: Health, failure: &HttpError) -> Health {
    health.unreachable = Some(format!("{failure}; {}", failure.hint()));
    health
}

fn permission(
    what: &str,
    wire: &SearchClient,
    shows: String,
    denied: Option<&HttpError>,
) -> Permission {
    Permission {
        what: format!("{what} on {}", wire.options.indices),
        verdict: match denied {
            None => Verdict::Allowed,
            Some(failure) if failure.is_denied() => Verdict::Denied,
            Some(_) => Verdict::Unknown,
        },
        shows,
        detail: denied.map(|failure| format!("{failure}; {}", failure.hint())),
    }
}

fn note_fields(wire: &SearchClient, fields: &Fields, health: &mut Health) {
    let shows = "which fields hold what".to_owned();
    let mut metadata = permission("view_index_metadata", wire, shows, None);
    match fields.indices {
        None => {
            metadata.verdict = Verdict::Denied;
            metadata.detail = Some("the usual fields are used".to_owned());
        }
        Some(0) => health.notes.push(wire.no_index()),
        Some(count) => {
            health.notes.push(format!("{count} indices"));
            for (what, found) in [
                ("pods", &fields.pod),
                ("namespaces", &fields.namespace),
                ("lines", &fields.message),
            ] {
                let names: Vec<&str> = found.iter().map(|field| field.name.as_str()).collect();
                health.notes.push(if names.is_empty() {
                    format!("no field holds {what}: name it in the configuration")
                } else {
                    format!("{what} are in {}", names.join(", "))
                });
            }
        }
    }
    health.permissions.push(metadata);
}

async fn read(wire: &SearchClient, fields: &Fields, health: &mut Health, deadline: Instant) {
    let body = json!({
        "size": 0,
        "track_total_hits": false,
        "aggs": { "oldest": { "min": { "field": fields.time } } },
    });
    let answer = wire.search(&SearchTarget::Live, body, true, deadline).await;
    let denied = answer.as_ref().err();
    let shows = "lines of pods and nodes".to_owned();
    health
        .permissions
        .push(permission("read", wire, shows, denied));
    let Ok(answer) = answer else {
        return;
    };
    health.notes.extend(answer.shortfalls());
    let oldest = answer
        .aggregations
        .pointer("/oldest/value")
        .and_then(Value::as_f64);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "milliseconds of a date are far below 2^53"
    )]
    let oldest = oldest.map(|ms| (ms as Nanos).saturating_mul(1_000_000));
    health.reaches_back_to = oldest;
}
