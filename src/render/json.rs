//! One JSON document.

use std::io;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::json::writer::{LineDelimited, WriterBuilder};
use serde::Serialize;

use crate::answer::Answer;

use super::cells::UTC_TIMESTAMP;
use super::error::RenderError;
use super::rows::RowSink;
use super::text::escape_json;

/// Writes the answer as `docs/answer.schema.json` describes it.
pub(crate) fn answer(answer: &Answer, out: &mut dyn io::Write) -> Result<(), RenderError> {
    document(answer, out)
}

/// Writes anything as one document.
pub(crate) fn document(of: &impl Serialize, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let json = serde_json::to_string_pretty(of)?;
    writeln!(out, "{}", escape_json(&json))?;
    Ok(())
}

/// Rows as an array of objects, an object a line.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    started: bool,
}

impl RowSink for Rows {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn io::Write) -> Result<(), RenderError> {
        for line in objects(batch)?.lines() {
            let before = if self.started { ",\n" } else { "[\n" };
            self.started = true;
            write!(out, "{before}{}", escape_json(line))?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> Result<(), RenderError> {
        out.write_all(if self.started { b"\n]\n" } else { b"[]\n" })?;
        Ok(())
    }
}

/// The rows of a batch as JSON objects, one a line.
pub(crate) fn objects(batch: &RecordBatch) -> Result<String, RenderError> {
    let mut writer = WriterBuilder::new()
        .with_explicit_nulls(true)
        .with_timestamp_format(UTC_TIMESTAMP.to_owned())
        .build::<_, LineDelimited>(Vec::new());
    writer.write(batch)?;
    writer.finish()?;
    Ok(String::from_utf8_lossy(&writer.into_inner()).into_owned())
}
