//! Columns: a name, a meaning, and how to get the cell of a row.
//!
//! A table is a list of these, so its schema, its documentation and its data
//! cannot disagree, and a column that a statement does not use costs nothing.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, ListBuilder, RecordBatch,
    RecordBatchOptions, StringArray, StringBuilder, TimestampNanosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef, TimeUnit};
use datafusion::arrow::error::ArrowError;
use whathappened_model::time::{Nanos, Stamp};

/// The key of a column's meaning in the metadata of its field.
pub(crate) const DESCRIPTION: &str = "description";

/// How to get a cell; empty text is NULL.
pub(super) enum Cell<R> {
    /// Text that the row holds.
    Text(for<'a> fn(&'a R) -> Option<&'a str>),
    /// Text that has to be made.
    Made(fn(&R) -> Option<String>),
    /// Several texts.
    Texts(fn(&R) -> Vec<String>),
    /// An instant in UTC.
    Time(fn(&R) -> Option<Nanos>),
    /// A small number.
    Int(fn(&R) -> Option<i32>),
    /// A count.
    Long(fn(&R) -> Option<i64>),
    /// A fraction.
    Real(fn(&R) -> Option<f64>),
    /// Yes or no.
    Flag(fn(&R) -> Option<bool>),
}

/// One column of a table of `R`.
pub(super) struct Column<R> {
    pub(super) name: &'static str,
    pub(super) meaning: &'static str,
    pub(super) cell: Cell<R>,
}

impl<R> Column<R> {
    pub(super) const fn new(name: &'static str, cell: Cell<R>, meaning: &'static str) -> Self {
        Self {
            name,
            meaning,
            cell,
        }
    }

    fn field(&self) -> Field {
        let meaning = [(DESCRIPTION.to_owned(), self.meaning.to_owned())];
        Field::new(self.name, self.cell.kind(), true).with_metadata(meaning.into())
    }
}

impl<R> Cell<R> {
    fn kind(&self) -> DataType {
        match self {
            Self::Text(_) | Self::Made(_) => DataType::Utf8,
            Self::Texts(_) => DataType::List(Arc::new(Field::new_list_field(DataType::Utf8, true))),
            Self::Time(_) => DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())),
            Self::Int(_) => DataType::Int32,
            Self::Long(_) => DataType::Int64,
            Self::Real(_) => DataType::Float64,
            Self::Flag(_) => DataType::Boolean,
        }
    }

    fn array(&self, rows: &[R]) -> ArrayRef {
        let rows = rows.iter();
        match self {
            Self::Text(of) => {
                let texts = rows.map(|row| of(row).filter(|text| !text.is_empty()));
                Arc::new(texts.collect::<StringArray>())
            }
            Self::Made(of) => {
                let texts = rows.map(|row| of(row).filter(|text| !text.is_empty()));
                Arc::new(texts.collect::<StringArray>())
            }
            Self::Texts(of) => {
                let mut lists = ListBuilder::new(StringBuilder::new());
                for row in rows {
                    lists.append_value(of(row).into_iter().map(Some));
                }
                Arc::new(lists.finish())
            }
            Self::Time(of) => {
                let times: TimestampNanosecondArray = rows.map(of).collect();
                Arc::new(times.with_timezone("UTC"))
            }
            Self::Int(of) => Arc::new(rows.map(of).collect::<Int32Array>()),
            Self::Long(of) => Arc::new(rows.map(of).collect::<Int64Array>()),
            Self::Real(of) => Arc::new(rows.map(of).collect::<Float64Array>()),
            Self::Flag(of) => Arc::new(rows.map(of).collect::<BooleanArray>()),
        }
    }
}

/// The schema of some columns, with what each of them means.
pub(super) fn schema<'a, R: 'a>(columns: impl IntoIterator<Item = &'a Column<R>>) -> SchemaRef {
    let fields: Vec<Field> = columns.into_iter().map(Column::field).collect();
    Arc::new(Schema::new(fields))
}

/// Some rows as Arrow columns.
pub(super) fn batch<'a, R: 'a>(
    schema: &SchemaRef,
    columns: impl IntoIterator<Item = &'a Column<R>>,
    rows: &[R],
) -> Result<RecordBatch, ArrowError> {
    let arrays = columns
        .into_iter()
        .map(|column| column.cell.array(rows))
        .collect();
    let options = RecordBatchOptions::new().with_row_count(Some(rows.len()));
    RecordBatch::try_new_with_options(Arc::clone(schema), arrays, &options)
}

/// A count as SQL has it.
pub(super) fn long(count: impl TryInto<i64>) -> Option<i64> {
    count.try_into().ok()
}

/// The earliest instant of a time as an answer writes it.
pub(super) fn instant(text: Option<&str>) -> Option<Nanos> {
    Stamp::parse(text?).map(|stamp| stamp.lo)
}

/// A time that is known at all.
pub(super) fn reported(stamp: Stamp) -> Option<Stamp> {
    (stamp.lo != Nanos::MIN && stamp.hi != Nanos::MAX).then_some(stamp)
}
