//! Reading JSON that may not have the shape it should have.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::time::Stamp;

/// The value at a path of keys.
pub(super) fn at<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Non-empty text at a path.
pub(super) fn text<'a>(value: &'a Value, path: &[&str]) -> Option<&'a str> {
    at(value, path)?.as_str().filter(|text| !text.is_empty())
}

/// Owned non-empty text at a path.
pub(super) fn owned(value: &Value, path: &[&str]) -> Option<String> {
    text(value, path).map(str::to_owned)
}

/// A whole number at a path; text that holds one counts.
pub(super) fn int(value: &Value, path: &[&str]) -> Option<i64> {
    match at(value, path)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A truth at a path.
pub(super) fn flag(value: &Value, path: &[&str]) -> bool {
    at(value, path).and_then(Value::as_bool).unwrap_or(false)
}

/// A time at a path. The beginning of 1970 is no time: runtimes write it where a container never started.
pub(super) fn time(value: &Value, path: &[&str]) -> Option<Stamp> {
    Stamp::parse(text(value, path)?).filter(|time| time.lo > 0)
}

/// The items of an array at a path; nothing where there is none.
pub(super) fn items<'a>(value: &'a Value, path: &[&str]) -> &'a [Value] {
    at(value, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A map of texts at a path; numbers and truths become text.
pub(super) fn texts(value: &Value, path: &[&str]) -> BTreeMap<String, String> {
    let Some(Value::Object(map)) = at(value, path) else {
        return BTreeMap::new();
    };
    map.iter()
        .filter_map(|(key, value)| Some((key.clone(), scalar(value)?)))
        .collect()
}

/// The text of a scalar.
pub(super) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// A short hash of a value that does not depend on the order of its keys.
pub(super) fn hash(value: &Value) -> String {
    let mut hasher = blake3::Hasher::new();
    feed(value, &mut hasher);
    hasher.finalize().to_hex()[..16].to_owned()
}

fn feed(value: &Value, hasher: &mut blake3::Hasher) {
    match value {
        Value::Object(map) => {
            let mut keys: Vec<_> = map.keys().collect();
            keys.sort_unstable();
            hasher.update(b"{");
            for key in keys {
                hasher.update(key.as_bytes());
                hasher.update(b":");
                feed(&map[key], hasher);
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            for item in items {
                feed(item, hasher);
            }
            hasher.update(b"]");
        }
        scalar => {
            hasher.update(scalar.to_string().as_bytes());
            hasher.update(b",");
        }
    }
}
