//! Fields of a `describe` as JSON values.

use chrono::DateTime;
use serde_json::{Map, Value, json};

use super::tree::Item;
use crate::time::{Stamp, rfc3339};

pub(super) fn item<'a, 't>(items: &'a [Item<'t>], key: &str) -> Option<&'a Item<'t>> {
    items.iter().find(|item| item.key == key)
}

/// The items below one.
pub(super) fn below<'a, 't>(items: &'a [Item<'t>], key: &str) -> &'a [Item<'t>] {
    item(items, key).map_or(&[], |item| &item.children)
}

/// A value that says something.
pub(super) fn value<'t>(items: &[Item<'t>], key: &str) -> Option<&'t str> {
    item(items, key)
        .map(|item| item.value)
        .filter(|text| !matches!(*text, "" | "<none>" | "<unset>" | "<unknown>" | "<nil>"))
}

/// A value that goes on over lines.
pub(super) fn text(items: &[Item<'_>], key: &str) -> Option<String> {
    let item = item(items, key)?;
    let all: Vec<&str> = item.values().collect();
    (!all.is_empty()).then(|| all.join("\n"))
}

/// Sets a field of a JSON object, unless there is nothing to set.
pub(super) fn set(object: &mut Value, key: &str, value: Option<Value>) {
    if let (Value::Object(fields), Some(value)) = (object, value) {
        fields.insert(key.to_owned(), value);
    }
}

/// A whole number; what follows it in words is left out.
pub(super) fn number(items: &[Item<'_>], key: &str) -> Option<Value> {
    let text = value(items, key)?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let end = digits
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(digits.len());
    let sign = text.len() - digits.len();
    text[..sign + end].parse::<i64>().ok().map(Value::from)
}

/// `a=b`, one a line or divided by commas.
pub(super) fn pairs(items: &[Item<'_>], key: &str) -> Option<Value> {
    let item = item(items, key)?;
    let mut map = Map::new();
    for text in item.values() {
        for pair in text.split(',') {
            if let Some((key, value)) = pair.trim().split_once('=') {
                map.insert(key.to_owned(), value.into());
            }
        }
    }
    (!map.is_empty()).then_some(Value::Object(map))
}

/// `a: b`, one a line; a long value stands below its key.
pub(super) fn notes(items: &[Item<'_>], key: &str) -> Option<Value> {
    let item = item(items, key)?;
    let mut map = Map::new();
    let note = |text: &str, map: &mut Map<String, Value>| {
        if let Some((key, value)) = text.split_once(": ").or_else(|| text.split_once('=')) {
            map.insert(key.to_owned(), value.trim().into());
        }
    };
    note(item.value, &mut map);
    for child in &item.children {
        note(child.text, &mut map);
        if let Some(long) = child.children.first().filter(|_| child.value.is_empty()) {
            let value = long.text;
            map.insert(child.key.to_owned(), value.into());
        }
    }
    (!map.is_empty()).then_some(Value::Object(map))
}

/// `cpu:  3`, one a line.
pub(super) fn amounts(items: &[Item<'_>], key: &str) -> Option<Value> {
    let map: Map<String, Value> = below(items, key)
        .iter()
        .filter(|item| !item.key.is_empty() && !item.value.is_empty())
        .map(|item| (item.key.to_owned(), item.value.into()))
        .collect();
    (!map.is_empty()).then_some(Value::Object(map))
}

/// Reads a time as `describe` prints it.
pub(super) fn stamp(text: &str) -> Option<Stamp> {
    let text = text.trim();
    let at = DateTime::parse_from_rfc2822(text)
        .ok()
        .and_then(|at| at.timestamp_nanos_opt());
    at.map(Stamp::second).or_else(|| Stamp::parse(text))
}

/// A time as the API writes it.
pub(super) fn time(items: &[Item<'_>], key: &str) -> Option<Value> {
    let stamp = stamp(value(items, key)?)?;
    Some(rfc3339(stamp.lo).into())
}

/// All times that stand after a key, at any depth.
pub(super) fn times(items: &[Item<'_>]) -> Vec<Stamp> {
    let mut found = Vec::new();
    for item in items {
        // Ends of windows, and what a template or an annotation says, may be in the future.
        if matches!(item.key, "Annotations" | "Labels" | "Pod Template" | "Spec")
            || item.key.contains("eadline")
        {
            continue;
        }
        found.extend(stamp(item.value).filter(|_| !item.key.is_empty()));
        found.extend(times(&item.children));
    }
    found
}

/// The rows of a table of conditions, with a time where it has one.
pub(super) fn conditions(items: &[Item<'_>]) -> Vec<Value> {
    let rows = below(items, "Conditions");
    let Some(heading) = rows
        .first()
        .map(|row| super::super::table::divided(row.text))
    else {
        return Vec::new();
    };
    let names: Vec<&str> = heading.iter().map(|(_, name)| *name).collect();
    rows[1..]
        .iter()
        .filter_map(|row| {
            let parts = super::super::table::divided(row.text);
            let cell = |name: &str| {
                let at = names.iter().position(|one| *one == name)?;
                let (start, part) = parts.get(at)?;
                let last = at + 1 == names.len();
                Some(if last {
                    row.text[*start..].trim()
                } else {
                    part
                })
            };
            let kind = cell("Type")?;
            let status =
                cell("Status").filter(|status| matches!(*status, "True" | "False" | "Unknown"))?;
            let mut condition = json!({ "type": kind, "status": status });
            set(&mut condition, "reason", cell("Reason").map(Value::from));
            set(&mut condition, "message", cell("Message").map(Value::from));
            for (column, field) in [
                ("LastTransitionTime", "lastTransitionTime"),
                ("LastHeartbeatTime", "lastHeartbeatTime"),
            ] {
                let time = cell(column)
                    .and_then(stamp)
                    .map(|stamp| rfc3339(stamp.lo).into());
                set(&mut condition, field, time);
            }
            Some(condition)
        })
        .collect()
}
