//! What Datadog answers and exports, as files: answers of the APIs of logs and
//! events, archives (one JSON object a line) and the tables of its pages.

use serde_json::{Map, Value};

use super::{decode as logs, event};
use crate::contract::{ForeignOutput, ForeignRecord, Table};
use crate::event::SourceKind;
use crate::observation::{Observation, Rejection};

/// What a record is.
enum Form<'r> {
    /// A log of API v2.
    Log,
    /// A log of API v1, within `content`.
    OldLog,
    /// A line of an archive, or a row of a table.
    Archived,
    /// An event of API v2.
    Event,
    /// An event of API v1.
    OldEvent,
    /// An answer with several of these.
    Answer(&'r [Value]),
    /// An answer with one.
    Wrapped(&'r Map<String, Value>),
    /// An answer with none.
    Nothing,
    /// An answer that says what went wrong.
    Error,
}

fn form(fields: &Map<String, Value>) -> Option<Form<'_>> {
    let object = |key: &str| fields.get(key).and_then(Value::as_object);
    let list = |key: &str| fields.get(key).and_then(Value::as_array);
    match fields.get("type").and_then(Value::as_str) {
        Some("log") if object("attributes").is_some() => return Some(Form::Log),
        // Without a time it is the receipt of one who sent an event.
        Some("event") if object("attributes")?.contains_key("timestamp") => {
            return Some(Form::Event);
        }
        _ => {}
    }
    if object("content").is_some_and(|content| content.contains_key("timestamp")) {
        return Some(Form::OldLog);
    }
    if fields.contains_key("date_happened") && fields.contains_key("title") {
        return Some(Form::OldEvent);
    }
    let is_own = matches!(fields.get("_id"), Some(Value::String(_) | Value::Null));
    if is_own && fields.contains_key("date") {
        return Some(Form::Archived);
    }
    for key in ["data", "logs", "events"] {
        let Some(items) = list(key) else { continue };
        if let Some(first) = items.first() {
            let known = first.as_object().and_then(form);
            return known.is_some().then_some(Form::Answer(items));
        }
        let around: &[&str] = match key {
            "data" => &["meta", "links"],
            "logs" => &["status", "nextLogId", "requestId"],
            _ => &[],
        };
        let mut keys = fields.keys().map(String::as_str);
        let only = keys.all(|name| name == key || around.contains(&name));
        return only.then_some(Form::Nothing);
    }
    if let Some(inner) = object("event")
        && let Some(Form::OldEvent) = form(inner)
    {
        return Some(Form::Wrapped(inner));
    }
    is_error(fields).then_some(Form::Error)
}

/// Its four shapes of errors, which say nothing else.
fn is_error(fields: &Map<String, Value>) -> bool {
    const AROUND: [&str; 6] = ["errors", "status", "code", "statuspage", "twitter", "email"];
    if fields.get("errors").is_some_and(Value::is_array) {
        return fields.keys().all(|key| AROUND.contains(&key.as_str()));
    }
    let error = fields.get("error").and_then(Value::as_object);
    fields.len() == 1
        && error.is_some_and(|error| {
            ["code", "message"]
                .iter()
                .all(|key| error.get(*key).is_some_and(Value::is_string))
        })
}

/// Whether a record is Datadog's.
pub(super) fn recognise(fields: &Map<String, Value>, _within: &str) -> bool {
    form(fields).is_some()
}

/// Decodes a record or a whole answer; what cannot be read of an answer is told
/// once the rest was taken.
///
/// # Errors
/// Why it, or a part of it, was not used.
pub(super) fn decode(
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let fields = record.fields;
    let number = record.origin.line;
    let line = |line: Result<_, String>, emitted: &mut ForeignOutput| {
        let line = line.map_err(Rejection::Malformed)?;
        let lines = emitted.stored.entry(SourceKind::Datadog).or_default();
        lines.push(line);
        Ok(())
    };
    let event = |event: Result<event::DatadogEvent, String>, emitted: &mut ForeignOutput| {
        let event = event.map_err(Rejection::Malformed)?;
        let facts = event.facts(record.origin, None).into_iter();
        let facts = facts.map(|fact| Observation::Event(Box::new(fact)));
        emitted.observations.extend(facts);
        Ok(())
    };
    match form(fields) {
        Some(Form::Log) => line(logs::of_search(fields, number), emitted),
        Some(Form::OldLog) => {
            let empty = Map::new();
            let content = fields.get("content").and_then(Value::as_object);
            let content = content.unwrap_or(&empty);
            line(logs::of_fields(fields.get("id"), content, number), emitted)
        }
        Some(Form::Archived) => line(logs::of_fields(fields.get("_id"), fields, number), emitted),
        Some(Form::Event) => event(event::of_search(fields), emitted),
        Some(Form::OldEvent) => event(event::of_stream(fields), emitted),
        Some(Form::Wrapped(fields)) => event(event::of_stream(fields), emitted),
        Some(Form::Answer(items)) => answer(items, record, emitted),
        Some(Form::Nothing) => Err(Rejection::Irrelevant(
            "an answer without records".to_owned(),
        )),
        Some(Form::Error) => Err(Rejection::Irrelevant(format!(
            "an error response: {}",
            crate::http::words(Value::Object(fields.clone()).to_string().as_bytes())
        ))),
        None => Err(Rejection::Irrelevant("nothing of Datadog".to_owned())),
    }
}

fn answer(
    items: &[Value],
    record: ForeignRecord<'_>,
    emitted: &mut ForeignOutput,
) -> Result<(), Rejection> {
    let mut unread = (0_u64, None);
    for item in items {
        let item = item.as_object();
        let result = item.map_or_else(
            || Err(Rejection::Malformed("no object".to_owned())),
            |fields| decode(ForeignRecord { fields, ..record }, emitted),
        );
        if let Err(why) = result {
            unread.0 += 1;
            unread.1.get_or_insert(why);
        }
    }
    match unread {
        (count, Some(why)) => Err(Rejection::Malformed(format!(
            "{count} of {} records of an answer: {why}",
            items.len()
        ))),
        _ => Ok(()),
    }
}

/// The table of logs that Datadog's pages export: `Date,Host,Service,…,Message`.
pub(super) const LOGS_CSV: Table = Table {
    recognise: |columns| {
        let has = |names: &[&str]| {
            columns
                .iter()
                .any(|column| names.contains(&column.trim().to_ascii_lowercase().as_str()))
        };
        has(&["date"]) && has(&["message", "content"]) && has(&["host", "service", "status"])
    },
    record: row,
};

/// A row as a line of an archive. Columns that were added by hand are attributes.
fn row(columns: &[String], fields: &[String]) -> Map<String, Value> {
    let mut out = Map::new();
    let mut attributes = Map::new();
    out.insert("_id".to_owned(), Value::Null);
    for (column, field) in columns.iter().zip(fields) {
        if field.is_empty() {
            continue;
        }
        let column = column.trim();
        let name = column.to_ascii_lowercase();
        let value = Value::String(field.clone());
        match name.as_str() {
            "date" | "host" | "service" | "source" | "status" | "message" | "tags" => {
                out.insert(name, value);
            }
            "content" => {
                out.insert("message".to_owned(), value);
            }
            // Of a tag the page shows the title: `Pod Name` is `pod_name`.
            _ if column.contains(' ') => {
                attributes.insert(name.replace(' ', "_"), value);
            }
            _ => {
                let name = column.strip_prefix('@').unwrap_or(column);
                attributes.insert(name.to_owned(), value);
            }
        }
    }
    out.insert("attributes".to_owned(), Value::Object(attributes));
    // Without one the row is told as broken, not passed over.
    out.entry("date").or_insert(Value::Null);
    out
}
