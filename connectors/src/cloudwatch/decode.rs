//! Events to lines.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::client::Event;
use super::stream;
use crate::contract::labels_of_stream;
use crate::log_store::{Labels, MILLISECOND, StoredLine, flatten, label_name, millisecond};
use crate::time::Stamp;

/// Fields of a JSON body that hold the line itself.
const TEXT_FIELDS: [&str; 3] = ["log", "message", "log_processed"];

/// Longer values are no labels.
const MAX_VALUE: usize = 256;

/// An event's line; `group` is empty where it is not known.
pub(super) fn line(event: &Event, group: &str, number: u64) -> StoredLine {
    let mut labels = labels_of_stream(&event.log_stream_name);
    for (name, value) in [
        ("log_group", Some(group)),
        ("log_stream", Some(event.log_stream_name.as_str())),
        ("cluster", stream::cluster(group)),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            labels.insert(name.to_owned(), value.to_owned());
        }
    }
    let mut written = None;
    let body = body(&event.message);
    let text = match &body {
        Some(body) => {
            let time = body.get("time").or_else(|| body.get("@timestamp"));
            written = time.and_then(Value::as_str).and_then(Stamp::parse);
            if let Some(Value::Object(of)) = body.get("kubernetes") {
                let mut named = Labels::new();
                for (name, value) in flatten(of) {
                    let emitted = value.len() <= MAX_VALUE && !name.starts_with("annotations");
                    if emitted {
                        named.insert(format!("kubernetes_{}", label_name(&name)), value);
                    }
                }
                // The body knows better than the stream's name.
                labels.extend(named);
            }
            line_text(body)
        }
        None => event.message.clone(),
    };
    StoredLine {
        stamp: millisecond(event.timestamp.saturating_mul(MILLISECOND), written),
        text: text.trim_end_matches(['\n', '\r']).to_owned(),
        labels: Arc::new(labels),
        metadata: Labels::new(),
        // It grows within a stream, so that it also orders lines of one time.
        id: (!event.event_id.is_empty()).then(|| event.event_id.clone()),
        order: 0,
        number,
    }
}

/// A body that a collector made: with what it knows of the pod, or its line.
fn body(message: &str) -> Option<Map<String, Value>> {
    let message = message.trim();
    if !message.starts_with('{') {
        return None;
    }
    let body: Map<String, Value> = serde_json::from_str(message).ok()?;
    let of_collector = body.get("kubernetes").is_some_and(Value::is_object)
        || (body.contains_key("log") && body.contains_key("stream"));
    of_collector.then_some(body)
}

/// The line within a body; what the collector parsed is written again as JSON.
fn line_text(body: &Map<String, Value>) -> String {
    for name in TEXT_FIELDS {
        match body.get(name) {
            Some(Value::String(text)) => return text.clone(),
            Some(parsed @ Value::Object(_)) => return parsed.to_string(),
            _ => {}
        }
    }
    let mut rest = body.clone();
    for name in ["kubernetes", "docker", "stream", "time", "@timestamp", "_p"] {
        rest.remove(name);
    }
    Value::Object(rest).to_string()
}
