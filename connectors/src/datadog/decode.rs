//! A record of a log to a line.

use std::sync::Arc;

use chrono::{DateTime, NaiveDateTime};
use serde_json::{Map, Value};

use super::page::{Item, MILLI};
use super::tags;
use crate::log_store::{Span, StoredLine};
use crate::time::{Nanos, Stamp};

/// A line with its time, as searches give it.
#[derive(Debug)]
pub(super) struct Line(pub(super) StoredLine);

impl Item for Line {
    fn read(json: &str) -> Result<Self, String> {
        let record: Value = serde_json::from_str(json).map_err(|error| error.to_string())?;
        let record = record.as_object().ok_or("no object")?;
        of_search(record, 0).map(Self)
    }

    fn id(&self) -> Option<&str> {
        self.0.id.as_deref()
    }

    fn at(&self) -> Nanos {
        self.0.stamp.lo
    }

    fn is_of(&self, span: Span) -> bool {
        span.holds(self.0.stamp.lo)
    }
}

/// A record of API v2: `{"type": "log", "id", "attributes": {…}}`.
///
/// # Errors
/// Says what is missing.
pub(super) fn of_search(record: &Map<String, Value>, number: u64) -> Result<StoredLine, String> {
    let inner = record.get("attributes").and_then(Value::as_object);
    let inner = inner.ok_or("a log of Datadog without attributes")?;
    of_fields(record.get("id"), inner, number)
}

/// The fields as all of Datadog's forms have them: API v2 within `attributes`,
/// API v1 within `content`, archives and tables at the top.
///
/// # Errors
/// Says what is missing.
pub(super) fn of_fields(
    id: Option<&Value>,
    fields: &Map<String, Value>,
    number: u64,
) -> Result<StoredLine, String> {
    let when = fields.get("timestamp").or_else(|| fields.get("date"));
    let stamp = when.and_then(moment).ok_or_else(|| match when {
        Some(when) => format!("a Datadog log whose time cannot be parsed: {when}"),
        None => "a log of Datadog without a time".to_owned(),
    })?;
    let text = |key: &str| {
        let text = fields.get(key).and_then(Value::as_str);
        text.filter(|text| !text.is_empty())
    };
    let mut labels = tags::labels(fields.get("tags"));
    for key in ["host", "service", "source"] {
        if let Some(value) = text(key) {
            labels.insert(key.to_owned(), value.to_owned());
        }
    }
    // Where the cluster has a name the Agent appends it to the node's.
    if !labels.contains_key("kube_node")
        && let (Some(host), Some(cluster)) = (labels.get("host"), labels.get("kube_cluster_name"))
        && let Some(node) = tags::node(host, cluster)
    {
        let node = node.to_owned();
        labels.insert("kube_node".to_owned(), node);
    }
    let empty = Map::new();
    let attributes = fields.get("attributes").and_then(Value::as_object);
    let attributes = attributes.unwrap_or(&empty);
    let mut metadata = tags::flat(attributes);
    if let Some(status) = text("status") {
        metadata.insert("status".to_owned(), status.to_ascii_lowercase());
    }
    Ok(StoredLine {
        stamp,
        text: line_text(text("message"), attributes),
        labels: Arc::new(labels),
        metadata,
        id: id.and_then(Value::as_str).map(str::to_owned),
        // Within one millisecond nobody knows the order.
        order: 0,
        number,
    })
}

/// What was said. Of records that a program wrote as JSON, Datadog keeps the
/// message and puts the traceback beside it; some have no message at all.
fn line_text(message: Option<&str>, attributes: &Map<String, Value>) -> String {
    let stack = attributes
        .get("error")
        .and_then(|error| error.get("stack"))
        .and_then(Value::as_str)
        .filter(|stack| !stack.trim().is_empty());
    match (message, stack) {
        (Some(message), Some(stack)) if !message.contains(stack.trim()) => {
            format!("{}\n{}", message.trim_end(), stack.trim_end())
        }
        (Some(message), _) => message.trim_end().to_owned(),
        (None, Some(stack)) => stack.trim_end().to_owned(),
        (None, None) if attributes.is_empty() => String::new(),
        (None, None) => Value::Object(attributes.clone()).to_string(),
    }
}

/// A time: RFC 3339, milliseconds since 1970, or as tables have it, in UTC.
pub(super) fn moment(value: &Value) -> Option<Stamp> {
    let millis = |at: i64| {
        let lo = at.checked_mul(MILLI)?;
        Some(Stamp {
            lo,
            hi: lo.checked_add(MILLI)?,
        })
    };
    if let Some(at) = value.as_i64() {
        return millis(at);
    }
    let text = value.as_str()?.trim();
    if let Some(stamp) = Stamp::parse(text) {
        return Some(stamp);
    }
    if text.len() >= 12
        && let Ok(at) = text.parse()
    {
        return millis(at);
    }
    let text = text.strip_suffix(" UTC").unwrap_or(text);
    let naive = ["%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f"]
        .iter()
        .find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())?;
    Stamp::parse(&DateTime::to_rfc3339(&naive.and_utc()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::log_store::{EmitOptions, emit};
    use crate::observation::Observation;
    use crate::time::rfc3339;

    fn line(record: &Value) -> StoredLine {
        of_search(record.as_object().unwrap(), 3).unwrap()
    }

    #[test]
    fn a_record_is_a_line_with_whose_it_is() {
        let found = line(&json!({"type": "log", "id": "A1", "attributes": {
            "timestamp": "2026-11-21T15:20:15.193Z", "status": "WARN", "host": "gpu-7-prod",
            "service": "trainer", "message": "loss is nan\n",
            "tags": ["pod_name:p-0", "kube_namespace:n", "kube_cluster_name:prod", "source:python"],
            "attributes": {"rank": 3, "pod": "not-this", "http": {"status_code": 200}}
        }}));
        assert_eq!((found.text.as_str(), found.number), ("loss is nan", 3));
        assert_eq!(found.stamp.width(), MILLI);
        let mut out = Vec::new();
        let how = EmitOptions {
            source_kind: crate::event::SourceKind::Datadog,
            file: "x".into(),
            names: &tags::names(),
            observed: None,
            whole: None,
        };
        emit(vec![found], &how, &mut out);
        let Observation::Event(event) = &out[0] else {
            panic!("{out:?}");
        };
        assert_eq!(event.entities.pod.as_deref(), Some("p-0"));
        assert_eq!(event.entities.namespace.as_deref(), Some("n"));
        assert_eq!(event.entities.node.as_deref(), Some("gpu-7"));
        assert_eq!(event.entities.cluster.as_deref(), Some("prod"));
        assert_eq!(
            (event.rank, event.severity.as_deref()),
            (Some(3), Some("warn"))
        );
    }

    #[test]
    fn a_traceback_that_was_put_beside_the_message_is_said_too() {
        let of = |attributes: &Value| {
            let record = json!({"attributes": attributes});
            line(&record).text
        };
        let at = "2026-11-21T15:20:15Z";
        let stack = "Traceback (most recent call last):\nValueError: no";
        assert_eq!(
            of(
                &json!({"timestamp": at, "message": "step failed", "attributes": {"error": {"stack": stack}}})
            ),
            format!("step failed\n{stack}")
        );
        assert_eq!(
            of(&json!({"timestamp": at, "attributes": {"loss": 1}})),
            r#"{"loss":1}"#
        );
        assert_eq!(of(&json!({"timestamp": at})), "");
    }

    #[test]
    fn times_come_in_four_forms() {
        for (when, emitted) in [
            (
                json!("2026-11-21T15:20:15.193Z"),
                "2026-11-21T15:20:15.193Z",
            ),
            (
                json!("2026-11-21T16:20:15.193+01:00"),
                "2026-11-21T15:20:15.193Z",
            ),
            (json!(1_795_274_415_193_i64), "2026-11-21T15:20:15.193Z"),
            (json!("1795274415193"), "2026-11-21T15:20:15.193Z"),
            (json!("2026-11-21 15:20:15.193"), "2026-11-21T15:20:15.193Z"),
            (
                json!("2026-11-21 15:20:15.193 UTC"),
                "2026-11-21T15:20:15.193Z",
            ),
        ] {
            let stamp = moment(&when).unwrap();
            assert_eq!(
                (rfc3339(stamp.lo).as_str(), stamp.width()),
                (emitted, MILLI),
                "{when}"
            );
        }
        for when in [
            json!("Nov 21 15:20:15.193"),
            json!(null),
            json!(i64::MAX),
            json!(""),
        ] {
            assert_eq!(moment(&when), None);
        }
        let wrong = of_fields(None, json!({"date": "x"}).as_object().unwrap(), 1);
        assert!(wrong.unwrap_err().contains("\"x\""));
    }
}
