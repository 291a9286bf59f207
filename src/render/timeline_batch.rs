//! The timeline as typed columns, for CSV and Parquet.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
    TimestampNanosecondArray, UInt64Array,
};
use datafusion::arrow::error::ArrowError;

use crate::answer::{Answer, TimelineRow};

use super::clock::instant;

/// One row a timeline row; a time that cannot be read is NULL.
pub(crate) fn timeline_batch(answer: &Answer) -> Result<RecordBatch, ArrowError> {
    let rows = &answer.timeline;
    let columns: [(&str, ArrayRef); 14] = [
        ("time", times(rows, |row| Some(&row.time))),
        ("time_hi", times(rows, |row| Some(&row.time_hi))),
        ("end", times(rows, |row| row.end.as_deref())),
        (
            "offset_s",
            Arc::new(Float64Array::from_iter_values(
                rows.iter().map(|row| row.offset_s),
            )),
        ),
        ("lane", texts(rows, |row| Some(row.lane.as_str()))),
        ("entity", texts(rows, |row| Some(&row.entity))),
        ("text", texts(rows, |row| Some(&row.text))),
        ("actor", texts(rows, |row| row.actor.as_deref())),
        ("weight", texts(rows, |row| Some(row.weight.as_str()))),
        (
            "count",
            Arc::new(UInt64Array::from_iter_values(
                rows.iter().map(|row| row.count),
            )),
        ),
        (
            "in_chain",
            Arc::new(BooleanArray::from_iter(
                rows.iter().map(|row| Some(row.in_chain)),
            )),
        ),
        ("signals", lists(rows, |row| &row.signals)),
        ("seen_by", lists(rows, |row| &row.seen_by)),
        ("event_ids", lists(rows, |row| &row.event_ids)),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
}

fn times<'a>(rows: &'a [TimelineRow], of: impl Fn(&'a TimelineRow) -> Option<&'a str>) -> ArrayRef {
    let nanos = rows
        .iter()
        .map(|row| instant(of(row)?)?.timestamp_nanos_opt());
    Arc::new(TimestampNanosecondArray::from_iter(nanos).with_timezone("UTC"))
}

fn texts<'a>(rows: &'a [TimelineRow], of: impl Fn(&'a TimelineRow) -> Option<&'a str>) -> ArrayRef {
    Arc::new(rows.iter().map(of).collect::<StringArray>())
}

fn lists<'a>(rows: &'a [TimelineRow], of: impl Fn(&'a TimelineRow) -> &'a Vec<String>) -> ArrayRef {
    let mut lists = ListBuilder::new(StringBuilder::new());
    for row in rows {
        for text in of(row) {
            lists.values().append_value(text);
        }
        lists.append(true);
    }
    Arc::new(lists.finish())
}
