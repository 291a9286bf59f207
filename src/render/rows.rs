//! The rows of a query.

use std::io;
use std::sync::Arc;

use datafusion::arrow::array::{RecordBatch, RecordBatchOptions};
use datafusion::arrow::datatypes::{Schema, SchemaRef};

use super::cells::distinct_names;
use super::error::RenderError;
use super::format::Format;
use super::style::Style;
use super::{csv, html, json, md, ndjson, parquet, sheet};

/// Writes the rows of a query that is done.
///
/// # Errors
///
/// When the output refuses the bytes or a column has no form in this format.
pub fn rows(
    schema: &SchemaRef,
    batches: &[RecordBatch],
    format: Format,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<u64, RenderError> {
    let mut writer = RowWriter::new(schema, format, style, out)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()
}

/// Writes the rows of a query as they come.
///
/// Every format streams; a table holds back its first rows to fit the columns
/// to them.
pub struct RowWriter<'a> {
    schema: SchemaRef,
    sink: Box<dyn RowSink + 'a>,
    out: &'a mut dyn io::Write,
    rows: u64,
}

impl std::fmt::Debug for RowWriter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RowWriter")
            .field("schema", &self.schema)
            .field("rows", &self.rows)
            .finish_non_exhaustive()
    }
}

impl<'a> RowWriter<'a> {
    /// Starts the output. Columns of one name are told apart with `_2`, `_3`, ….
    ///
    /// # Errors
    ///
    /// When the output refuses the bytes or a column has no form in this format.
    pub fn new(
        schema: &SchemaRef,
        format: Format,
        style: &'a Style,
        out: &'a mut dyn io::Write,
    ) -> Result<Self, RenderError> {
        let schema = Arc::new(Schema::new(distinct_names(schema.fields())));
        let sink: Box<dyn RowSink + 'a> = match format {
            // Rows have no form in Slack, and no verb of rows offers it.
            Format::Table | Format::Slack => Box::new(sheet::Rows::new(&schema, style)),
            Format::Json => Box::new(json::Rows::default()),
            Format::Ndjson => Box::new(ndjson::Rows),
            Format::Md => Box::new(md::Rows::new(&schema, out)?),
            Format::Html => Box::new(html::Rows::new(&schema, out)?),
            Format::Csv => Box::new(csv::Rows::new(&schema, out)?),
            Format::Parquet => Box::new(parquet::Rows::new(&schema)?),
        };
        Ok(Self {
            schema,
            sink,
            out,
            rows: 0,
        })
    }

    /// Writes some rows.
    ///
    /// # Errors
    ///
    /// When the output refuses the bytes or a value has no form in this format.
    pub fn write(&mut self, batch: &RecordBatch) -> Result<(), RenderError> {
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        let schema = Arc::clone(&self.schema);
        let batch = RecordBatch::try_new_with_options(schema, batch.columns().to_vec(), &options)?;
        self.rows += batch.num_rows() as u64;
        self.sink.write(&batch, self.out)
    }

    /// Ends the output and returns how many rows it has.
    ///
    /// # Errors
    ///
    /// When the output refuses the bytes.
    pub fn finish(mut self) -> Result<u64, RenderError> {
        self.sink.finish(self.out)?;
        self.out.flush()?;
        Ok(self.rows)
    }
}

/// One format of rows.
pub(crate) trait RowSink {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn io::Write) -> Result<(), RenderError>;
    fn finish(&mut self, out: &mut dyn io::Write) -> Result<(), RenderError>;
}
