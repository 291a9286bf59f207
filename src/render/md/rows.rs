use std::io;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

use super::super::cells::{columns, is_number};
use super::super::error::RenderError;
use super::super::rows::RowSink;
use super::escape::escape;

/// Rows as one table.
#[derive(Debug)]
pub(crate) struct Rows;

impl Rows {
    pub(crate) fn new(schema: &SchemaRef, out: &mut dyn io::Write) -> Result<Self, RenderError> {
        let names: Vec<String> = schema
            .fields()
            .iter()
            .map(|field| escape(field.name()))
            .collect();
        let rules = schema.fields().iter().map(|field| {
            if is_number(field.data_type()) {
                "---:"
            } else {
                "---"
            }
        });
        writeln!(out, "| {} |", names.join(" | "))?;
        writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
        Ok(Self)
    }
}

impl RowSink for Rows {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn io::Write) -> Result<(), RenderError> {
        let columns = columns(batch)?;
        for row in 0..batch.num_rows() {
            let mut cells = Vec::with_capacity(columns.len());
            for column in &columns {
                cells.push(match column.text(row)? {
                    Some(text) => escape(&text),
                    None => "*NULL*".to_owned(),
                });
            }
            writeln!(out, "| {} |", cells.join(" | "))?;
        }
        Ok(())
    }

    fn finish(&mut self, _out: &mut dyn io::Write) -> Result<(), RenderError> {
        Ok(())
    }
}
