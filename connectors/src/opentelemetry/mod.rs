//! Logs in OpenTelemetry's own JSON, as the file exporter of its collector writes them: one request of
//! the protocol a line, `{"resourceLogs": […]}`.
//!
//! Contract (opentelemetry-proto 1.x, `logs/v1`): what is known of a whole stream stands at the resource,
//! under the names of the semantic conventions (`k8s.pod.name`); times are nanoseconds since 1970 as text,
//! and 0 means that there is none; when a record was taken in (`observedTimeUnixNano`) then stands for it.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::contract::{ForeignDecoder, ForeignOutput, ForeignRecord, StoredLine};
use crate::event::SourceKind;
use crate::log_store::{Labels, label_name};
use crate::observation::Rejection;
use crate::time::{Nanos, Stamp};

/// Longer values are no labels.
const MAX_VALUE: usize = 256;

pub(crate) const LOGS: ForeignDecoder = ForeignDecoder {
    recognise: |fields, _| fields.get("resourceLogs").is_some_and(Value::is_array),
    decode,
    yaml: &[],
};

fn decode(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let (mut order, mut timeless) = (0, 0);
    for resource in objects(record.fields, "resourceLogs") {
        let of_resource = resource.get("resource").and_then(Value::as_object);
        let labels = Arc::new(of_resource.map(attributes).unwrap_or_default());
        for scope in objects(resource, "scopeLogs") {
            for line in objects(scope, "logRecords") {
                let Some(at) =
                    time(line, "timeUnixNano").or_else(|| time(line, "observedTimeUnixNano"))
                else {
                    timeless += 1;
                    continue;
                };
                let Some(text) = line.get("body").and_then(text) else {
                    continue;
                };
                emitted.line(
                    SourceKind::ContainerLog,
                    StoredLine {
                        stamp: Stamp::exact(at),
                        text,
                        labels: Arc::clone(&labels),
                        metadata: attributes(line),
                        id: None,
                        order,
                        number: record.origin.line,
                    },
                );
                order += 1;
            }
        }
    }
    match (order, timeless) {
        (0, 0) => Err(Rejection::Irrelevant(
            "a request without log records".to_owned(),
        )),
        (0, _) => Err(Rejection::Malformed(
            "log records of OpenTelemetry without times".to_owned(),
        )),
        _ => Ok(()),
    }
}

fn objects<'v>(
    of: &'v Map<String, Value>,
    name: &str,
) -> impl Iterator<Item = &'v Map<String, Value>> {
    let all = of.get(name).and_then(Value::as_array);
    all.into_iter().flatten().filter_map(Value::as_object)
}

/// Nanoseconds, which JSON has as text since it has no such numbers; some exporters write them all the same.
fn time(of: &Map<String, Value>, name: &str) -> Option<Nanos> {
    let value = of.get(name)?;
    let at = value
        .as_str()
        .map_or_else(|| value.as_i64(), |text| text.parse().ok())?;
    (at > 0).then_some(at)
}

fn attributes(of: &Map<String, Value>) -> Labels {
    let named = objects(of, "attributes").filter_map(|one| {
        let name = one.get("key")?.as_str()?;
        let value = text(one.get("value")?)?;
        (value.len() <= MAX_VALUE).then(|| (label_name(name), value))
    });
    named.collect()
}

/// What a value says: its text, or JSON where it is more than that.
fn text(value: &Value) -> Option<String> {
    let (kind, inner) = value.as_object()?.iter().next()?;
    match (kind.as_str(), inner) {
        ("kvlistValue" | "arrayValue", _) => Some(plain(value)?.to_string()),
        (_, Value::String(text)) => Some(text.clone()),
        (_, Value::Null) => None,
        (_, other) => Some(other.to_string()),
    }
}

/// A value as JSON would have it.
fn plain(value: &Value) -> Option<Value> {
    let (kind, inner) = value.as_object()?.iter().next()?;
    Some(match kind.as_str() {
        "kvlistValue" => Value::Object(
            objects(inner.as_object()?, "values")
                .filter_map(|one| {
                    Some((
                        one.get("key")?.as_str()?.to_owned(),
                        plain(one.get("value")?)?,
                    ))
                })
                .collect(),
        ),
        "arrayValue" => {
            let values = inner.get("values").and_then(Value::as_array);
            Value::Array(values.into_iter().flatten().filter_map(plain).collect())
        }
        _ => inner.clone(),
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::Origin;

    fn lines(record: &Value) -> Result<Vec<StoredLine>, Rejection> {
        let fields = record.as_object().unwrap();
        assert!((LOGS.recognise)(fields, ""));
        let origin = Origin::default();
        let record = ForeignRecord {
            fields,
            within: "",
            origin: &origin,
        };
        let mut emitted = ForeignOutput::default();
        decode(record, &mut emitted)?;
        Ok(emitted
            .stored
            .remove(&SourceKind::ContainerLog)
            .unwrap_or_default())
    }

    #[test]
    fn records_are_lines_of_the_pod_that_their_resource_names() {
        let found = lines(&json!({"resourceLogs": [{
            "resource": {"attributes": [
                {"key": "k8s.pod.name", "value": {"stringValue": "sft-0"}},
                {"key": "k8s.container.restart_count", "value": {"intValue": "2"}},
            ]},
            "scopeLogs": [{"logRecords": [
                {"timeUnixNano": "1783408027100000000", "body": {"stringValue": "step 10 loss 2.1"}},
                {"timeUnixNano": "0", "observedTimeUnixNano": "1783408028100000000",
                 "attributes": [{"key": "log.iostream", "value": {"stringValue": "stderr"}}],
                 "body": {"kvlistValue": {"values": [
                    {"key": "msg", "value": {"stringValue": "failed"}},
                    {"key": "ranks", "value": {"arrayValue": {"values": [{"intValue": "3"}]}}},
                 ]}}},
            ]}],
        }]}))
        .unwrap();
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].text, "step 10 loss 2.1");
        assert_eq!(found[0].stamp, Stamp::exact(1_783_408_027_100_000_000));
        assert_eq!(found[0].labels["k8s_pod_name"], "sft-0");
        assert_eq!(found[0].labels["k8s_container_restart_count"], "2");
        assert_eq!(found[1].text, r#"{"msg":"failed","ranks":["3"]}"#);
        assert_eq!(found[1].stamp, Stamp::exact(1_783_408_028_100_000_000));
        assert_eq!(found[1].metadata["log_iostream"], "stderr");
    }

    #[test]
    fn what_has_no_time_is_told() {
        let refused = lines(&json!({"resourceLogs": [{"scopeLogs": [{"logRecords": [
            {"timeUnixNano": "0", "body": {"stringValue": "x"}},
        ]}]}]}));
        assert!(matches!(refused, Err(Rejection::Malformed(_))));
        let empty = lines(&json!({"resourceLogs": []}));
        assert!(matches!(empty, Err(Rejection::Irrelevant(_))));
    }
}
