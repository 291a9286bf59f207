//! Documents as names and values.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::time::{Nanos, Stamp};

/// One millisecond in nanoseconds.
pub(crate) const MILLISECOND: Nanos = 1_000_000;

/// Values under their dotted names, whether written nested or dotted. Objects
/// inside arrays are left out.
pub(crate) fn flatten(fields: &Map<String, Value>) -> BTreeMap<String, String> {
    let mut out = BTreeMap::new();
    into("", fields, &mut out);
    out
}

fn into(prefix: &str, fields: &Map<String, Value>, out: &mut BTreeMap<String, String>) {
    for (key, value) in fields {
        let name = if prefix.is_empty() {
            key.clone()
        } else {
            format!("{prefix}.{key}")
        };
        match value {
            Value::Object(inner) => into(&name, inner, out),
            Value::Array(values) => {
                let plain: Vec<String> = values.iter().filter_map(scalar).collect();
                if !plain.is_empty() {
                    out.insert(name, plain.join(","));
                }
            }
            other => out.extend(scalar(other).map(|text| (name, text))),
        }
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A field's name as labels are named.
pub(crate) fn label_name(name: &str) -> String {
    name.replace(['.', '-'], "_")
}

/// A store's time of whole milliseconds, made more exact by what the record
/// itself says, where both agree.
pub(crate) fn millisecond(at: Nanos, written: Option<Stamp>) -> Stamp {
    let cut = Stamp {
        lo: at,
        hi: at.saturating_add(MILLISECOND),
    };
    let written = written.filter(|w| cut.lo <= w.lo && w.hi <= cut.hi);
    written.unwrap_or(cut)
}
