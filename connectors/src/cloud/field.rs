//! Reading JSON that may not have the shape it should have.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::text_time::{self, ParsedTime};

/// An object's fields.
pub(crate) type Fields = Map<String, Value>;

/// The value at a path of keys.
pub(crate) fn at<'a>(fields: &'a Fields, path: &[&str]) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let first = fields.get(*first)?;
    rest.iter().try_fold(first, |value, key| value.get(key))
}

/// Non-empty text at a path.
pub(crate) fn text<'a>(fields: &'a Fields, path: &[&str]) -> Option<&'a str> {
    at(fields, path)?.as_str().filter(|text| !text.is_empty())
}

/// Owned non-empty text at a path.
pub(crate) fn owned(fields: &Fields, path: &[&str]) -> Option<String> {
    text(fields, path).map(str::to_owned)
}

/// A whole number at a path; text that holds one counts.
pub(crate) fn int(fields: &Fields, path: &[&str]) -> Option<i64> {
    match at(fields, path)? {
        Value::Number(number) => number.as_i64(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

/// A truth at a path; the words count, too.
pub(crate) fn flag(fields: &Fields, path: &[&str]) -> bool {
    match at(fields, path) {
        Some(Value::Bool(truth)) => *truth,
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        _ => false,
    }
}

/// A time at a path.
pub(crate) fn time(fields: &Fields, path: &[&str]) -> Option<ParsedTime> {
    text_time::read(at(fields, path)?)
}

/// An object at a path.
pub(crate) fn object<'a>(fields: &'a Fields, path: &[&str]) -> Option<&'a Fields> {
    at(fields, path)?.as_object()
}

/// The objects of an array at a path; nothing where there is none.
pub(crate) fn objects<'a>(
    fields: &'a Fields,
    path: &[&str],
) -> impl Iterator<Item = &'a Fields> + use<'a> {
    items(fields, path).iter().filter_map(Value::as_object)
}

/// The texts of an array at a path.
pub(crate) fn words<'a>(
    fields: &'a Fields,
    path: &[&str],
) -> impl Iterator<Item = &'a str> + use<'a> {
    items(fields, path).iter().filter_map(Value::as_str)
}

fn items<'a>(fields: &'a Fields, path: &[&str]) -> &'a [Value] {
    at(fields, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// A map of texts at a path; numbers and truths become text.
pub(crate) fn texts(fields: &Fields, path: &[&str]) -> BTreeMap<String, String> {
    let found = object(fields, path).into_iter().flatten();
    found
        .filter_map(|(key, value)| Some((key.clone(), scalar(value)?)))
        .collect()
}

/// The text of a scalar.
pub(crate) fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

/// Where a tool names an experiment on a machine: `key` is one of the label's names.
pub(crate) fn experiment(labels: &BTreeMap<String, String>) -> Option<String> {
    ["experiment", "experiment-name", "experiment_name"]
        .iter()
        .find_map(|key| labels.get(*key))
        .filter(|value| !value.is_empty())
        .cloned()
}
