//! Rows as a table at a terminal; where the columns do not fit, one value a line.

use std::io;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;

use super::cells::{Column, columns, is_number, is_text};
use super::error::RenderError;
use super::grid::{Cell, GAP, Grid};
use super::page::{Page, Spans, Tone};
use super::rows::RowSink;
use super::style::Style;
use super::text::{escape, width};

/// Rows that the columns are fitted to; later ones wrap where they are wider.
const FITTED: usize = 1_000;
/// Columns of the names in the layout of one value a line, at most.
const NAME: usize = 24;

pub(crate) struct Rows<'a> {
    style: &'a Style,
    names: Vec<String>,
    grid: Grid,
    layout: Layout,
    written: usize,
}

enum Layout {
    /// Rows are held back.
    Open,
    Columns(Vec<usize>),
    Values,
}

impl<'a> Rows<'a> {
    pub(crate) fn new(schema: &SchemaRef, style: &'a Style) -> Self {
        let names: Vec<String> = schema
            .fields()
            .iter()
            .map(|field| field.name().clone())
            .collect();
        let right = schema
            .fields()
            .iter()
            .map(|field| is_number(field.data_type()))
            .collect();
        let heads: Vec<&str> = names.iter().map(String::as_str).collect();
        let rigid = schema.fields().iter().map(|field| {
            let kind = field.data_type();
            !is_text(kind) && !kind.is_nested()
        });
        let grid = Grid::new(&heads).right(right).rigid(rigid.collect());
        Self {
            style,
            names,
            grid,
            layout: Layout::Open,
            written: 0,
        }
    }

    fn flush(&mut self, out: &mut dyn io::Write) -> Result<(), RenderError> {
        let columns = self.style.width.max(40);
        if matches!(self.layout, Layout::Open) {
            self.layout = match self.grid.fit(columns) {
                Some(widths) if self.grid.len() < FITTED => Layout::Columns(widths),
                Some(widths) => Layout::Columns(widened(widths, columns)),
                None => Layout::Values,
            };
        }
        match &self.layout {
            Layout::Columns(widths) if !self.names.is_empty() => {
                for line in self.grid.lines(widths, self.style, self.written == 0) {
                    writeln!(out, "{line}")?;
                }
            }
            Layout::Values => self.values(out)?,
            _ => {}
        }
        self.written += self.grid.len();
        self.grid.clear();
        Ok(())
    }

    fn values(&self, out: &mut dyn io::Write) -> Result<(), RenderError> {
        let widest = self
            .names
            .iter()
            .map(|name| width(&escape(name)))
            .max()
            .unwrap_or(0)
            .min(NAME);
        let mut page = Page::new(self.style);
        for (at, row) in self.grid.rows().iter().enumerate() {
            let title = format!("─[ {} ]", self.written + at + 1);
            let rule = "─".repeat(page.columns().saturating_sub(width(&title)));
            page.hang(
                Spans::new().own(Tone::Dim, title).own(Tone::Dim, rule),
                Spans::new(),
            );
            for (name, cell) in self.names.iter().zip(row) {
                let name = Spans::new()
                    .say("  ")
                    .data(Tone::Strong, name)
                    .say("  ")
                    .pad(widest + 4);
                page.hang(name, cell.spans());
            }
        }
        page.write(out)
    }
}

impl RowSink for Rows<'_> {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn io::Write) -> Result<(), RenderError> {
        let columns = columns(batch)?;
        for row in 0..batch.num_rows() {
            self.grid.row(cells(&columns, row)?);
            if self.grid.len() >= FITTED {
                self.flush(out)?;
            }
        }
        Ok(())
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> Result<(), RenderError> {
        if self.grid.len() > 0 || self.written == 0 {
            self.flush(out)?;
        }
        Ok(())
    }
}

/// With what is left of the line given to the last column: rows that are still
/// to come may be wider.
fn widened(mut widths: Vec<usize>, columns: usize) -> Vec<usize> {
    let used = widths.iter().sum::<usize>() + GAP * widths.len().saturating_sub(1);
    if let Some(last) = widths.last_mut() {
        *last += columns.saturating_sub(used);
    }
    widths
}

fn cells(columns: &[Column<'_>], row: usize) -> Result<Vec<Cell>, RenderError> {
    let mut cells = Vec::with_capacity(columns.len());
    for column in columns {
        cells.push(match column.text(row)? {
            Some(text) => Cell::new(&text, Tone::Plain),
            None => Cell::new("NULL", Tone::Dim),
        });
    }
    Ok(cells)
}
