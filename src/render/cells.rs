//! Values of Arrow columns as text.

use std::sync::Arc;

use datafusion::arrow::array::{Array as _, ArrayRef, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Field, FieldRef};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::writer::{EncoderOptions, NullableEncoder, make_encoder};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// A timestamp without a zone is UTC here.
pub(crate) const UTC_TIMESTAMP: &str = "%Y-%m-%dT%H:%M:%S%.fZ";

/// Reads the cells of one column.
pub(crate) struct Column<'a> {
    array: &'a ArrayRef,
    text: ArrayFormatter<'a>,
}

impl<'a> Column<'a> {
    /// The text of a row, `None` for NULL.
    pub(crate) fn text(&self, row: usize) -> Result<Option<String>, ArrowError> {
        if self.array.is_null(row) {
            return Ok(None);
        }
        Ok(Some(self.text.value(row).try_to_string()?))
    }
}

/// The columns of a batch.
pub(crate) fn columns(batch: &RecordBatch) -> Result<Vec<Column<'_>>, ArrowError> {
    let options = FormatOptions::new()
        .with_null("NULL")
        .with_timestamp_format(Some(UTC_TIMESTAMP));
    let mut columns = Vec::with_capacity(batch.num_columns());
    for array in batch.columns() {
        columns.push(Column {
            array,
            text: ArrayFormatter::try_new(array, &options)?,
        });
    }
    Ok(columns)
}

/// Writes cells of lists and structs as JSON.
pub(crate) struct JsonColumn<'a>(NullableEncoder<'a>);

impl<'a> JsonColumn<'a> {
    pub(crate) fn new(
        field: &'a FieldRef,
        array: &'a ArrayRef,
        options: &'a EncoderOptions,
    ) -> Result<Self, ArrowError> {
        Ok(Self(make_encoder(field, array, options)?))
    }

    /// The JSON of a row, `None` for NULL.
    pub(crate) fn text(&mut self, row: usize) -> Option<String> {
        if self.0.is_null(row) {
            return None;
        }
        let mut json = Vec::new();
        self.0.encode(row, &mut json);
        Some(String::from_utf8_lossy(&json).into_owned())
    }
}

/// How nested values are written as JSON.
pub(crate) fn json_options() -> EncoderOptions {
    EncoderOptions::default()
        .with_explicit_nulls(true)
        .with_timestamp_format(UTC_TIMESTAMP.to_owned())
}

/// Whether the type is aligned to the right.
pub(crate) fn is_number(kind: &DataType) -> bool {
    kind.is_numeric()
}

/// Whether a cell of the type is text that somebody else chose.
pub(crate) fn is_text(kind: &DataType) -> bool {
    match kind {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, values) => is_text(values),
        _ => false,
    }
}

/// The fields with names that differ: a join may give two of one name.
pub(crate) fn distinct_names(fields: &[FieldRef]) -> Vec<FieldRef> {
    let mut distinct: Vec<FieldRef> = Vec::with_capacity(fields.len());
    for field in fields {
        let taken = |name: &str| distinct.iter().any(|other| other.name() == name);
        let mut name = field.name().clone();
        let mut n = 1;
        while taken(&name) {
            n += 1;
            name = format!("{}_{n}", field.name());
        }
        distinct.push(Arc::new(Field::new(name, field.data_type().clone(), true)));
    }
    distinct
}
