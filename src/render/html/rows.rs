//! The rows of a query as a page with one table.

use std::io;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use maud::{DOCTYPE, Render as _, html};

use super::super::cells::{columns, is_number};
use super::super::error::RenderError;
use super::super::rows::RowSink;
use super::super::text::escape;
use super::page::head;

/// Rows as one table; they stream, so the page has no cap.
#[derive(Debug)]
pub(crate) struct Rows {
    numbers: Vec<bool>,
}

impl Rows {
    pub(crate) fn new(schema: &SchemaRef, out: &mut dyn io::Write) -> Result<Self, RenderError> {
        let fields = schema.fields();
        let numbers: Vec<bool> = fields
            .iter()
            .map(|field| is_number(field.data_type()))
            .collect();
        let head = head("Rows", false).into_string();
        let names = html! {
            tr { @for field in fields { th scope="col" { bdi { (escape(field.name())) } } } }
        };
        let (doctype, names) = (DOCTYPE.render().into_string(), names.into_string());
        writeln!(
            out,
            "{doctype}<html lang=\"en\">{head}<body><main><h1>Rows</h1>"
        )?;
        writeln!(
            out,
            "<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"Rows\"><table><thead>{names}</thead><tbody>"
        )?;
        Ok(Self { numbers })
    }
}

impl RowSink for Rows {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn io::Write) -> Result<(), RenderError> {
        let columns = columns(batch)?;
        for row in 0..batch.num_rows() {
            let mut cells = Vec::with_capacity(columns.len());
            for column in &columns {
                cells.push(column.text(row)?);
            }
            let line = html! {
                tr {
                    @for (cell, is_number) in cells.iter().zip(&self.numbers) {
                        td class=[is_number.then_some("number")] {
                            @match cell {
                                Some(text) => { bdi { (escape(text)) } }
                                None => { em { "NULL" } }
                            }
                        }
                    }
                }
            };
            writeln!(out, "{}", line.into_string())?;
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> Result<(), RenderError> {
        writeln!(out, "</tbody></table></div></main></body></html>")?;
        Ok(())
    }
}
