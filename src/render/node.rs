//! A machine's history in the formats that it has.

use std::io;

use crate::answer::NodeHistory;

use super::error::RenderError;
use super::format::Format;
use super::style::Style;
use super::{json, table};

/// Writes a machine's history: as JSON for programs, else as a table.
///
/// # Errors
/// When the output refuses the bytes.
pub fn node(
    history: &NodeHistory,
    format: Format,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    match format {
        Format::Json => json::document(history, out)?,
        _ => table::node(history, style, out)?,
    }
    out.flush()?;
    Ok(())
}
