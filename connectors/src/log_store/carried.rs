//! Records of a Kubernetes API server that an agent sent to a log store as lines: of its audit log, and Events.
//!
//! A program may write such a text into its own log. Only streams that are named for what they carry are believed.

use std::sync::Arc;

use serde_json::Value;

use super::StoredLine;
use super::emit::EmitOptions;
use crate::event::{Origin, SourceKind};
use crate::kubernetes;
use crate::logs::unwrapped;
use crate::observation::Observation;

/// Words in the name of a stream that carries Events.
const EVENTS: [&str; 4] = [
    "event-exporter",
    "eventexporter",
    "eventrouter",
    "kubernetes-events",
];

/// Decodes a line that carries a record of the API server; whether it does.
pub(super) fn take(line: &StoredLine, how: &EmitOptions<'_>, out: &mut Vec<Observation>) -> bool {
    let text = unwrapped(&line.text);
    if !text.starts_with('{') {
        return false;
    }
    let record = match text.contains("\"auditID\"") {
        // An API server writes its audit log into a file, and not as a pod does.
        true if how.names.entities(&line.labels).pod.is_none()
            && is_named(line, |name| name.contains("audit")) =>
        {
            text.into_owned()
        }
        false if is_named(line, |name| EVENTS.iter().any(|word| name.contains(word))) => {
            let Some(event) = event(&text) else {
                return false;
            };
            event.to_string()
        }
        _ => return false,
    };
    let origin = Origin {
        file: Arc::clone(&how.file),
        line: line.number,
    };
    let mut carried = Vec::new();
    if kubernetes::decode(record.as_bytes(), None, &origin, &mut carried).is_err() {
        return false;
    }
    for observation in &mut carried {
        if let Observation::Event(fact) = observation
            && fact.source_kind == SourceKind::Kubernetes
        {
            fact.source_kind = how.source_kind;
        }
    }
    out.append(&mut carried);
    true
}

/// Whether a label of a line's stream is named so.
fn is_named(line: &StoredLine, named: impl Fn(&str) -> bool) -> bool {
    line.labels
        .values()
        .any(|value| named(&value.to_lowercase()))
}

/// The Event in a line that holds all of it: by itself, as eventrouter wraps it, or as a line of a watch.
pub(crate) fn event(text: &str) -> Option<Value> {
    if !text.starts_with('{') {
        return None;
    }
    let record: Value = serde_json::from_str(text).ok()?;
    let is_event =
        |value: &Value| value.get("involvedObject").is_some() || value.get("regarding").is_some();
    if is_event(&record) {
        return Some(record);
    }
    ["event", "object", "body"]
        .iter()
        .filter_map(|key| record.get(*key))
        .flat_map(|inner| [Some(inner), inner.get("object")])
        .flatten()
        .find(|inner| is_event(inner))
        .cloned()
}
