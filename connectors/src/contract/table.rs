//! A table that another system exports as CSV.

use serde_json::{Map, Value};

/// A kind of table, known by the names of its columns.
pub(crate) struct Table {
    /// Whether these are its columns.
    pub(crate) recognise: fn(&[String]) -> bool,
    /// A row as the record that its system's decoder knows.
    pub(crate) record: fn(&[String], &[String]) -> Map<String, Value>,
}
