use std::io;

use crate::answer::Answer;

use super::error::RenderError;
use super::format::Format;
use super::style::Style;
use super::{csv, html, json, md, ndjson, parquet, slack, table};

/// Writes an answer. CSV and Parquet hold its timeline only.
///
/// # Errors
///
/// When the output refuses the bytes.
pub fn answer(
    answer: &Answer,
    format: Format,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    match format {
        Format::Table => table::answer(answer, style, out)?,
        Format::Json => json::answer(answer, out)?,
        Format::Ndjson => ndjson::answer(answer, out)?,
        Format::Md => md::answer(answer, style, out)?,
        Format::Html => html::answer(answer, style, out)?,
        Format::Csv => csv::answer(answer, out)?,
        Format::Parquet => parquet::answer(answer, out)?,
        Format::Slack => json::document(&slack::card(answer, &slack::Card::default()), out)?,
    }
    out.flush()?;
    Ok(())
}
