//! Whether a Loki can be used, and how far back it goes.

use std::time::Instant;

use super::client::{Encoding, MINUTE};
use super::store::{Loki, lock};
use crate::connector::{Health, Permission, Skew, Verdict};
use crate::http::HttpError;
use crate::log_store::{LogStore as _, Span};
use crate::time::{Nanos, SECOND};

const HOUR: Nanos = 60 * MINUTE;
const DAY: Nanos = 24 * HOUR;

/// How far back is looked for lines, step by step.
const BACK: [Nanos; 6] = [HOUR, DAY, 7 * DAY, 30 * DAY, 90 * DAY, 400 * DAY];

/// Asks what can be asked without reading much.
pub(super) async fn check(loki: &Loki, now: Nanos, deadline: Instant) -> Health {
    let mut health = Health {
        source: loki.options.name.clone(),
        place: loki.place().to_owned(),
        ..Health::default()
    };
    let started = Instant::now();
    // A gateway or Grafana may not let this through, which says nothing.
    if let Err(failure) = loki.wire.ready(deadline).await
        && failure.code() == Some(503)
    {
        health.notes.push(format!("not ready yet: {failure}"));
    }
    let begun = Instant::now();
    let last_hours = Span {
        from: now.saturating_sub(6 * HOUR),
        to: now,
    };
    let permission = |verdict, detail| Permission {
        what: match loki.options.tenant() {
            Some(tenant) => format!("read the logs of tenant {tenant:?}"),
            None => "read logs".to_owned(),
        },
        verdict,
        shows: "what processes logged before they ended, even of deleted pods".to_owned(),
        detail,
    };
    match loki.wire.labels(last_hours, deadline).await {
        Ok((_, date)) => {
            let took = Nanos::try_from(begun.elapsed().as_nanos()).unwrap_or(Nanos::MAX);
            let waited = begun.duration_since(started).as_nanos();
            let asked = now.saturating_add(Nanos::try_from(waited).unwrap_or(Nanos::MAX));
            health.skew = date.map(|theirs| skew(theirs, asked, took));
            health.permissions.push(permission(Verdict::Allowed, None));
        }
        Err(failure) => {
            if failure.is_denied() {
                let detail = format!("{failure}; {}", hint(&failure, loki));
                health
                    .permissions
                    .push(permission(Verdict::Denied, Some(detail)));
            } else {
                health.unreachable = Some(format!("{failure}; {}", hint(&failure, loki)));
            }
            return health;
        }
    }
    health.version = loki.wire.version(deadline).await.ok().flatten();
    notes(loki, last_hours, deadline, &mut health).await;
    health.reaches_back_to = reaches_back(loki, now, deadline).await;
    *lock(&loki.reaches_back_to) = health.reaches_back_to;
    if loki.wire.encoding() == Encoding::Merged {
        health.notes.push(
            "its responses do not separate labels from structured metadata: it is an old version, or a proxy removes the header X-Loki-Response-Encoding-Flags; lines are read anyway"
                .to_owned(),
        );
    }
    health
}

fn hint(failure: &HttpError, loki: &Loki) -> String {
    let text = failure.to_string();
    if text.contains("no org id") {
        return "it has several tenants: set LOKI_ORG_ID".to_owned();
    }
    if loki.options.through_grafana() {
        return match failure.code() {
            Some(401 | 403) => {
                "check Grafana's token and that it may query the data source".to_owned()
            }
            Some(404) => "check the uid of the data source in Grafana".to_owned(),
            _ => failure.hint().to_owned(),
        };
    }
    failure.hint().to_owned()
}

/// Which labels name what, in the last hours.
async fn notes(loki: &Loki, span: Span, deadline: Instant, health: &mut Health) {
    let Ok(schema) = loki.schema(span, deadline).await else {
        return;
    };
    if schema.labels.is_empty() {
        let of = match loki.options.tenant() {
            Some(tenant) => format!("tenant {tenant:?} has"),
            None => "there are".to_owned(),
        };
        health.notes.push(format!(
            "{of} no streams in the last six hours: a tenant that does not exist looks the same"
        ));
        return;
    }
    let names = &loki.options.names;
    let mut emitted = Vec::new();
    for (what, known) in [
        ("namespaces", &names.namespace),
        ("pods", &names.pod),
        ("nodes", &names.node),
        ("experiments", &names.experiment),
    ] {
        let labels = schema.labels_of(known);
        emitted.push(if labels.is_empty() {
            format!("no label holds {what}")
        } else {
            format!("{what} by {}", labels.join(", "))
        });
    }
    health.notes.push(emitted.join("; "));
}

/// The oldest line, found in stretches of time that grow.
async fn reaches_back(loki: &Loki, now: Nanos, deadline: Instant) -> Option<Nanos> {
    let (mut oldest, mut to) = (None, now);
    for back in BACK {
        let span = Span {
            from: now.saturating_sub(back).max(0),
            to,
        };
        match loki.has_any(span, deadline).await {
            Ok(true) => oldest = Some(span),
            // Nothing older is kept; before there was anything it was quiet.
            Ok(false) if oldest.is_some() => break,
            Ok(false) => {}
            Err(_) => break,
        }
        to = span.from;
    }
    let line = loki.any_line(oldest?, false, deadline).await.ok()??;
    Some(line.stamp.lo)
}

/// The `Date` header has whole seconds and was written while the answer was
/// under way, which `took` nanoseconds.
fn skew(theirs: Nanos, now: Nanos, took: Nanos) -> Skew {
    let half = took / 2;
    Skew {
        by: theirs + SECOND / 2 - now.saturating_add(half),
        within: SECOND / 2 + half,
    }
}
