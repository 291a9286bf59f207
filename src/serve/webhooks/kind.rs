//! What can be pushed, and how it becomes records that files have, too.

use bytes::Bytes;
use serde_json::{Map, Value, json};
use whathappened_model::coverage::Coverage;
use whathappened_model::time::{Nanos, rfc3339};

/// What is pushed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Kind {
    /// Notifications of Alertmanager, version 4.
    Alertmanager,
    /// Lists of audit records of an API server.
    KubernetesAudit,
    /// Notifications of Datadog, by the template of its webhooks.
    Datadog,
    /// Any records that a file may hold.
    Generic,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [
        Self::Alertmanager,
        Self::KubernetesAudit,
        Self::Datadog,
        Self::Generic,
    ];

    /// Its name in paths and in the configuration.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Alertmanager => "alertmanager",
            Self::KubernetesAudit => "kubernetes-audit",
            Self::Datadog => "datadog",
            Self::Generic => "generic",
        }
    }

    /// The row of times when nobody took it.
    pub(super) fn row(self) -> Coverage {
        let (source, resource, shows) = match self {
            Self::Alertmanager => ("alertmanager", "alerts", "which alerts fired"),
            Self::KubernetesAudit => (
                "kubernetes_audit",
                "audit",
                "who deleted, evicted, cordoned or changed what, and when exactly",
            ),
            Self::Datadog => ("datadog", "events", "which monitors alerted"),
            Self::Generic => ("webhook", "records", "whatever was pushed"),
        };
        Coverage {
            would_have_shown: Some(shows.to_owned()),
            ..Coverage::new(source, resource)
        }
    }

    /// The body as records that the reader of files knows.
    ///
    /// # Errors
    /// Says why it is no such body.
    pub(super) fn records(self, body: Bytes, now: Nanos) -> Result<Bytes, String> {
        match self {
            Self::Alertmanager => alerts(&object(&body)?, now),
            Self::Datadog => notification(&object(&body)?),
            Self::KubernetesAudit | Self::Generic if is_json(&body) => Ok(body),
            Self::KubernetesAudit | Self::Generic => Err(
                "neither JSON nor NDJSON, whether compressed with gzip or zstd or not".to_owned(),
            ),
        }
    }
}

/// Whether it may be JSON, packed or not: any text would do as a log.
fn is_json(body: &[u8]) -> bool {
    const PACKED: [&[u8]; 2] = [&[0x1f, 0x8b], &[0x28, 0xb5, 0x2f, 0xfd]];
    let text = body.trim_ascii_start();
    text.starts_with(b"{") || text.starts_with(b"[") || PACKED.iter().any(|by| body.starts_with(by))
}

fn object(body: &[u8]) -> Result<Map<String, Value>, String> {
    serde_json::from_slice(body).map_err(|error| format!("not a JSON object: {error}"))
}

/// After any end that somebody means.
const NEVER: &str = "2200-01-01T00:00:00Z";

/// The alerts of a notification as Alertmanager's own API has them. While an
/// alert fires it has no end, and a notification writes the year 1 for it.
fn alerts(body: &Map<String, Value>, now: Nanos) -> Result<Bytes, String> {
    let alerts = body.get("alerts").and_then(Value::as_array);
    let alerts = alerts.ok_or("not an Alertmanager notification: it has no list `alerts`")?;
    let reported = alerts.iter().map(|alert| {
        let mut reported = alert.clone();
        if let Some(fields) = reported.as_object_mut() {
            let resolved = fields.get("status").and_then(Value::as_str) == Some("resolved");
            let state = if resolved { "resolved" } else { "active" };
            fields.insert("status".to_owned(), json!({ "state": state }));
            fields.insert("updatedAt".to_owned(), json!(rfc3339(now)));
            if !resolved || !fields.contains_key("endsAt") {
                fields.insert("endsAt".to_owned(), json!(NEVER));
            }
        }
        reported
    });
    Ok(Value::Array(reported.collect()).to_string().into())
}

/// A notification as an event of Datadog's API has it.
fn notification(body: &Map<String, Value>) -> Result<Bytes, String> {
    let text = |names: &[&str]| {
        let found = names.iter().find_map(|name| match body.get(*name)? {
            Value::String(text) => Some(text.trim().to_owned()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        });
        // A variable that Datadog does not know stays as it is written.
        found.filter(|text| !text.is_empty() && !text.starts_with('$') && text != "null")
    };
    let at = text(&["date", "last_updated"]).and_then(|text| text.parse::<i64>().ok());
    let at = at.ok_or("not a Datadog notification: `date` is not a time; use \"$DATE\"")?;
    // Milliseconds, unless somebody divided them.
    let seconds = if at > 100_000_000_000 { at / 1_000 } else { at };
    let title = text(&["title"]).ok_or("not a Datadog notification: it has no `title`")?;
    let tags: Vec<Value> = match body.get("tags") {
        Some(Value::Array(tags)) => tags.clone(),
        _ => text(&["tags"])
            .unwrap_or_default()
            .split(',')
            .map(str::trim)
            .filter(|tag| !tag.is_empty())
            .map(Value::from)
            .collect(),
    };
    let mut event = Map::new();
    event.insert("date_happened".to_owned(), json!(seconds));
    event.insert("title".to_owned(), json!(title));
    event.insert("tags".to_owned(), json!(tags));
    for (name, from) in [
        ("id_str", &["id"][..]),
        ("text", &["text", "body"]),
        ("host", &["host", "hostname"]),
        ("alert_type", &["alert_type"]),
        ("aggregation_key", &["aggregation_key", "aggreg_key"]),
        ("source", &["source", "event_type"]),
    ] {
        if let Some(value) = text(from) {
            event.insert(name.to_owned(), json!(value));
        }
    }
    Ok(Value::Object(event).to_string().into())
}

#[cfg(test)]
mod tests {
    use whathappened_model::time::SECOND;

    use super::*;

    const NOW: Nanos = 1_795_274_427 * SECOND;

    fn reported(kind: Kind, body: &Value) -> Value {
        let records = kind.records(body.to_string().into(), NOW).unwrap();
        serde_json::from_slice(&records).unwrap()
    }

    #[test]
    fn a_firing_alert_has_no_end_and_a_resolved_one_has() {
        let alert = |status: &str, ends: &str| {
            json!({"status": status, "labels": {"alertname": "NodeDown"}, "annotations": {},
                   "startsAt": "2026-11-21T15:20:00Z", "endsAt": ends, "generatorURL": "", "fingerprint": "f1"})
        };
        let body = json!({"version": "4", "status": "firing", "alerts": [
            alert("firing", "0001-01-01T00:00:00Z"),
            alert("resolved", "2026-11-21T15:25:00Z"),
        ]});
        let reported = reported(Kind::Alertmanager, &body);
        assert_eq!(reported[0]["endsAt"], NEVER);
        assert_eq!(reported[0]["status"]["state"], "active");
        assert_eq!(reported[1]["endsAt"], "2026-11-21T15:25:00Z");
        assert_eq!(reported[1]["status"]["state"], "resolved");
        assert_eq!(reported[1]["updatedAt"], rfc3339(NOW));
        let none = Kind::Alertmanager.records("{}".into(), NOW);
        assert!(none.unwrap_err().contains("alerts"));
    }

    #[test]
    fn datadogs_own_template_and_a_fuller_one_are_events() {
        let own = json!({"body": "it is down", "last_updated": "1795274430000", "event_type": "query_alert_monitor",
                         "title": "[Triggered] GPU lost", "date": "1795274427000", "org": {"id": "1", "name": "x"}, "id": "77"});
        let event = reported(Kind::Datadog, &own);
        assert_eq!(event["date_happened"], 1_795_274_427);
        assert_eq!(event["text"], "it is down");
        assert_eq!(event["id_str"], "77");
        let full = json!({"date": 1_795_274_427, "title": "t", "text": "x", "host": "$HOSTNAME", "tags": "env:lab, pod_name:p-0", "alert_type": "error"});
        let event = reported(Kind::Datadog, &full);
        assert_eq!(event["tags"], json!(["env:lab", "pod_name:p-0"]));
        assert!(event.get("host").is_none());
        let late = Kind::Datadog.records(r#"{"title": "t", "date": "$DATE"}"#.into(), NOW);
        assert!(late.unwrap_err().contains("date"));
    }
}
