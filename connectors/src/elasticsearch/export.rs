//! Exports as files: search answers, documents one a line (elasticdump, `_bulk`),
//! Kibana's CSV.

use chrono::NaiveDateTime;
use serde_json::{Map, Value};

use super::answer::Hit;
use super::decode::{DocumentDecoder, moment};
use super::fields::Resolution;
use crate::contract::{ForeignDecoder, ForeignOutput, ForeignRecord, Table};
use crate::event::SourceKind;
use crate::log_store::{LabelNames, StoredLine};
use crate::observation::Rejection;
use crate::time::{Nanos, rfc3339};

/// A search answer's hit, or a line of elasticdump.
pub(super) const HIT: ForeignDecoder = ForeignDecoder {
    recognise: is_hit,
    decode: hit,
    yaml: &[],
};

/// The line before each document of a `_bulk` request.
pub(super) const ACTION: ForeignDecoder = ForeignDecoder {
    recognise: is_action,
    decode: action,
    yaml: &[],
};

/// A document by itself, as a shipper made it.
pub(super) const DOCUMENT: ForeignDecoder = ForeignDecoder {
    recognise: is_source,
    decode: source,
    yaml: &[],
};

const TIME: &str = "@timestamp";

fn is_hit(fields: &Map<String, Value>, _: &str) -> bool {
    fields.contains_key("_index") && fields.get("_source").is_some_and(Value::is_object)
}

fn hit(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let mut hit: Hit = serde_json::from_value(Value::Object(record.fields.clone()))
        .map_err(|error| Rejection::Malformed(format!("not a hit of Elasticsearch: {error}")))?;
    // What it was sorted by is not known; the document says its time itself.
    hit.sort.clear();
    let names = LabelNames::default();
    let mut reading = DocumentDecoder::new(&names, &[], TIME, Resolution::Mixed);
    let line = reading
        .line(&hit, record.origin.line)
        .map_err(|why| Rejection::Malformed(why.to_owned()))?;
    emitted.line(SourceKind::Elasticsearch, line);
    Ok(())
}

fn is_action(fields: &Map<String, Value>, _: &str) -> bool {
    let mut all = fields.iter();
    let (Some((key, value)), None) = (all.next(), all.next()) else {
        return false;
    };
    let of_index = value
        .as_object()
        .is_some_and(|target| target.keys().all(|key| key.starts_with('_')));
    of_index && matches!(key.as_str(), "index" | "create")
}

fn action(_: ForeignRecord<'_>, _: &mut ForeignOutput) -> Result<(), Rejection> {
    let why = "where the next document goes, in a bulk request";
    Err(Rejection::Irrelevant(why.to_owned()))
}

fn is_source(fields: &Map<String, Value>, _: &str) -> bool {
    let object = |name: &str| fields.get(name).is_some_and(Value::is_object);
    fields.contains_key(TIME)
        && (object("agent") && object("ecs")
            || object("kubernetes")
            || object("resource") && fields.contains_key("body"))
}

fn source(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let line = document(record.fields, record.origin.line)
        .map_err(|why| Rejection::Irrelevant(why.to_owned()))?;
    emitted.line(SourceKind::Elasticsearch, line);
    Ok(())
}

fn document(fields: &Map<String, Value>, number: u64) -> Result<StoredLine, &'static str> {
    let names = LabelNames::default();
    DocumentDecoder::new(&names, &[], TIME, Resolution::Mixed).of(fields, None, number)
}

/// Kibana's CSV: a column a field, times as the browser showed them. Without a
/// zone they are taken for UTC, which is noted on the line.
pub(super) const KIBANA_CSV: Table = Table {
    recognise: |columns| {
        let has = |name: &str| columns.iter().any(|column| column.trim() == name);
        has(TIME) && ["message", "log", "body.text"].iter().any(|name| has(name))
    },
    record: row,
};

fn row(columns: &[String], values: &[String]) -> Map<String, Value> {
    let mut fields: Map<String, Value> = columns
        .iter()
        .zip(values)
        .filter(|(_, value)| !matches!(value.as_str(), "" | "-" | " - "))
        .map(|(name, value)| (name.trim().to_owned(), value.as_str().into()))
        .collect();
    let shown = fields.get(TIME).and_then(Value::as_str);
    let assumed = shown
        .filter(|text| moment(text).is_none())
        .and_then(of_browser);
    if let Some(at) = assumed {
        // With three decimals, which say how exact it is.
        let text = rfc3339(at);
        let text = if text.contains('.') {
            text
        } else {
            text.replace('Z', ".000Z")
        };
        fields.insert(TIME.to_owned(), text.into());
        fields.insert("zone_assumed".to_owned(), "UTC".into());
    }
    let mut hit = Map::new();
    hit.insert("_index".to_owned(), "".into());
    hit.insert("_source".to_owned(), fields.into());
    hit
}

/// `Nov 21, 2026 @ 15:20:39.123`, Kibana's usual form.
fn of_browser(text: &str) -> Option<Nanos> {
    NaiveDateTime::parse_from_str(text.trim(), "%b %d, %Y @ %H:%M:%S%.f")
        .ok()?
        .and_utc()
        .timestamp_nanos_opt()
}
