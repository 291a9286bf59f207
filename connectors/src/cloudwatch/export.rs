//! Answers and exports as files: `aws logs filter-log-events` and
//! `get-log-events`, `aws logs get-query-results`, the console's JSON.

use serde_json::{Map, Value, json};

use super::client::Event;
use super::{decode, insights};
use crate::contract::{ForeignDecoder, ForeignOutput, ForeignRecord, Table};
use crate::event::SourceKind;
use crate::log_store::{MILLISECOND, StoredLine};
use crate::observation::Rejection;

/// An event of `FilterLogEvents` or `GetLogEvents`.
pub(super) const EVENT: ForeignDecoder = ForeignDecoder {
    recognise: is_event,
    decode: event,
    yaml: &[],
};

/// `GetQueryResults` of Logs Insights.
pub(super) const RESULTS: ForeignDecoder = ForeignDecoder {
    recognise: is_results,
    decode: results,
    yaml: &[],
};

/// A row of Logs Insights as the console exports it.
pub(super) const ROW: ForeignDecoder = ForeignDecoder {
    recognise: is_row,
    decode: row,
    yaml: &[],
};

fn is_event(fields: &Map<String, Value>, within: &str) -> bool {
    let has = |name: &str| fields.contains_key(name);
    fields.get("timestamp").is_some_and(Value::is_i64)
        && fields.get("message").is_some_and(Value::is_string)
        && (has("ingestionTime") || has("eventId") && (has("logStreamName") || within == "events"))
}

fn event(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let event: Event = serde_json::from_value(Value::Object(record.fields.clone()))
        .map_err(|error| Rejection::Malformed(format!("not an event of CloudWatch: {error}")))?;
    let group = record.fields.get("logGroupName").and_then(Value::as_str);
    let line = decode::line(&event, group.unwrap_or_default(), record.origin.line);
    emitted.line(SourceKind::CloudwatchLogs, line);
    Ok(())
}

/// Rows of cells, as the API answers them.
fn is_results(fields: &Map<String, Value>, _: &str) -> bool {
    let first = fields
        .get("results")
        .and_then(|rows| rows.get(0)?.get(0)?.as_object());
    first.is_some_and(|cell| cell.contains_key("field") && cell.contains_key("value"))
}

fn results(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let rows = record.fields.get("results").and_then(Value::as_array);
    let mut used = false;
    for row in rows.into_iter().flatten() {
        let cells = row.as_array().into_iter().flatten();
        let fields: Map<String, Value> = cells
            .filter_map(|cell| {
                let name = cell.get("field")?.as_str()?;
                Some((name.to_owned(), cell.get("value")?.clone()))
            })
            .collect();
        if let Some(line) = of_row(&fields, record.origin.line) {
            emitted.line(SourceKind::CloudwatchLogs, line);
            used = true;
        }
    }
    if used {
        Ok(())
    } else {
        let why = "results of Logs Insights without @timestamp and @message";
        Err(Rejection::Irrelevant(why.to_owned()))
    }
}

/// One row as the console exports it.
fn is_row(fields: &Map<String, Value>, _: &str) -> bool {
    fields.contains_key("@message") && fields.contains_key("@timestamp")
}

fn row(record: ForeignRecord<'_>, emitted: &mut ForeignOutput) -> Result<(), Rejection> {
    let line = of_row(record.fields, record.origin.line).ok_or_else(|| {
        Rejection::Malformed("a row of Logs Insights without a usable time".to_owned())
    })?;
    emitted.line(SourceKind::CloudwatchLogs, line);
    Ok(())
}

/// The same in CSV.
pub(super) const ROWS_CSV: Table = Table {
    recognise: |columns| {
        let has = |name: &str| columns.iter().any(|column| column.trim() == name);
        has("@timestamp") && has("@message")
    },
    record: csv_row,
};

/// A row with its columns as fields; what collectors know of a pod, `kubernetes.pod_name` and such, becomes the body again that
/// it was discovered in.
fn csv_row(columns: &[String], values: &[String]) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut kubernetes = Map::new();
    for (column, value) in columns.iter().zip(values) {
        let (column, value) = (column.trim(), Value::from(value.as_str()));
        match column.strip_prefix("kubernetes.") {
            Some(name) => kubernetes.insert(name.to_owned(), value),
            None => fields.insert(column.to_owned(), value),
        };
    }
    if !kubernetes.is_empty()
        && let Some(message) = fields.remove("@message")
    {
        let body = json!({ "log": message, "kubernetes": kubernetes });
        fields.insert("@message".to_owned(), body.to_string().into());
    }
    fields
}

fn of_row(fields: &Map<String, Value>, number: u64) -> Option<StoredLine> {
    let text = |name: &str| fields.get(name).and_then(Value::as_str);
    let at = insights::moment(text("@timestamp")?)?;
    // An account's number stands before the group's name.
    let group = text("@log").unwrap_or_default();
    let group = group.split_once(':').map_or(group, |(_, group)| group);
    let event = Event {
        timestamp: at.lo.div_euclid(MILLISECOND),
        message: text("@message")?.to_owned(),
        log_stream_name: text("@logStream").unwrap_or_default().to_owned(),
        // Tells equal lines apart.
        event_id: text("@ptr").unwrap_or_default().to_owned(),
    };
    Some(decode::line(&event, group, number))
}
