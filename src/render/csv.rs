//! Comma-separated values (RFC 4180): the timeline of an answer, or rows.

use std::io;

use csv::{ByteRecord, QuoteStyle, Terminator, WriterBuilder};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

use crate::answer::Answer;

use super::cells::{JsonColumn, columns, is_text, json_options};
use super::error::RenderError;
use super::rows::RowSink;
use super::text::{escape_json, escape_lines};
use super::timeline_batch::timeline_batch;

/// Writes the timeline.
pub(crate) fn answer(answer: &Answer, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let batch = timeline_batch(answer)?;
    Rows::new(&batch.schema(), out)?.write(&batch, out)
}

/// Rows under a line of column names.
#[derive(Debug)]
pub(crate) struct Rows;

impl Rows {
    pub(crate) fn new(schema: &SchemaRef, out: &mut dyn io::Write) -> Result<Self, RenderError> {
        let names = schema.fields().iter().map(|field| cell(field.name(), true));
        record(names.collect(), out)?;
        Ok(Self)
    }
}

impl RowSink for Rows {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn io::Write) -> Result<(), RenderError> {
        let schema = batch.schema();
        let texts = columns(batch)?;
        let options = json_options();
        let mut nested = Vec::with_capacity(texts.len());
        for (field, array) in schema.fields().iter().zip(batch.columns()) {
            let json = field.data_type().is_nested();
            nested.push(if json {
                Some(JsonColumn::new(field, array, &options)?)
            } else {
                None
            });
        }
        for row in 0..batch.num_rows() {
            let mut cells = Vec::with_capacity(texts.len());
            for (at, text) in texts.iter().enumerate() {
                if let Some(Some(json)) = nested.get_mut(at) {
                    let json = json.text(row).unwrap_or_default();
                    cells.push(escape_json(&json).into_owned());
                    continue;
                }
                let guarded = is_text(schema.field(at).data_type());
                cells.push(cell(&text.text(row)?.unwrap_or_default(), guarded));
            }
            record(cells, out)?;
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn io::Write) -> Result<(), RenderError> {
        Ok(())
    }
}

/// The text of a cell: control characters written out, and, in texts, what a
/// spreadsheet would take for a formula led by an apostrophe.
fn cell(value: &str, guarded: bool) -> String {
    let text = escape_lines(value);
    let formula = text.starts_with(['=', '+', '-', '@', '\t']) && text.parse::<f64>().is_err();
    if guarded && formula {
        format!("'{text}")
    } else {
        text.into_owned()
    }
}

fn record(cells: Vec<String>, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let mut writer = WriterBuilder::new()
        .quote_style(QuoteStyle::Necessary)
        .terminator(Terminator::CRLF)
        .from_writer(Vec::new());
    writer.write_byte_record(&ByteRecord::from(cells))?;
    let bytes = writer
        .into_inner()
        .map_err(|error| io::Error::other(error.to_string()))?;
    out.write_all(&bytes)?;
    Ok(())
}
