//! The columns of a segment that many kinds of readers share, and back.
//!
//! Delta Lake has times of microseconds, no unsigned numbers, and does not keep a
//! partition's own column in its files: each time has a column `<name>_ns` beside it,
//! the nanoseconds within its microsecond, and `cluster` is told by the list of files.

use std::sync::Arc;

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Int16Type, Int64Type, TimestampMicrosecondType};
use arrow_array::{
    Array as _, ArrayRef, Int16Array, Int64Array, ListArray, RecordBatch, RecordBatchOptions,
    StringArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};

/// The column that is a partition and not in the files.
pub(crate) const CLUSTER: &str = "cluster";

const NANOS: i64 = 1_000;

pub(crate) fn beside(name: &str) -> String {
    format!("{name}_ns")
}

fn is_time(kind: &DataType) -> bool {
    matches!(kind, DataType::Timestamp(_, _))
}

/// The columns of shared segments whose own columns are those of `schema`.
pub(crate) fn shared(schema: &Schema) -> SchemaRef {
    let mut fields = Vec::new();
    for field in schema.fields() {
        let (name, kind) = (field.name(), field.data_type());
        let kind = match kind {
            _ if name == CLUSTER => continue,
            DataType::Timestamp(_, zone) => {
                DataType::Timestamp(TimeUnit::Microsecond, zone.clone())
            }
            DataType::UInt64 => DataType::Int64,
            DataType::List(_) => DataType::List(element()),
            kind => kind.clone(),
        };
        let is_time = is_time(&kind);
        fields.push(Field::new(name, kind, true));
        if is_time {
            fields.push(Field::new(beside(name), DataType::Int16, true));
        }
    }
    Arc::new(Schema::new(fields))
}

fn element() -> Arc<Field> {
    Arc::new(Field::new("element", DataType::Utf8, true))
}

/// A batch of a segment as a shared one.
pub(crate) fn to_shared(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let mut columns: Vec<ArrayRef> = Vec::new();
    for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
        match field.data_type() {
            _ if field.name() == CLUSTER => {}
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                let times = column.as_primitive::<arrow_array::types::TimestampNanosecondType>();
                let whole: TimestampMicrosecondArray = times
                    .iter()
                    .map(|at| at.map(|at| at.div_euclid(NANOS)))
                    .collect();
                let rest: Int16Array = times
                    .iter()
                    .map(|at| at.and_then(|at| i16::try_from(at.rem_euclid(NANOS)).ok()))
                    .collect();
                columns.push(Arc::new(whole.with_timezone("UTC")));
                columns.push(Arc::new(rest));
            }
            DataType::UInt64 => {
                let numbers = column.as_primitive::<arrow_array::types::UInt64Type>();
                // The same bits: none is lost, however large.
                let signed: Int64Array = numbers
                    .iter()
                    .map(|number| number.map(u64::cast_signed))
                    .collect();
                columns.push(Arc::new(signed));
            }
            DataType::List(_) => {
                let list: &ListArray = column.as_list();
                columns.push(Arc::new(ListArray::try_new(
                    element(),
                    list.offsets().clone(),
                    Arc::clone(list.values()),
                    list.nulls().cloned(),
                )?));
            }
            _ => columns.push(Arc::clone(column)),
        }
    }
    RecordBatch::try_new(shared(batch.schema_ref()), columns)
}

/// A batch of a shared segment as one with the columns of `schema`. Says what of it is
/// not what it should be. Other programs may have written it, with types of their own.
pub(crate) fn from_shared(
    batch: &RecordBatch,
    cluster: Option<&str>,
    schema: &SchemaRef,
) -> Result<RecordBatch, String> {
    let rows = batch.num_rows();
    let mut columns: Vec<ArrayRef> = Vec::with_capacity(schema.fields().len());
    for field in schema.fields() {
        let name = field.name();
        let column = match batch.column_by_name(name) {
            Some(column) => Arc::clone(column),
            None if name == CLUSTER => {
                columns.push(Arc::new(StringArray::from(vec![cluster; rows])));
                continue;
            }
            None => return Err(format!("no column {name}")),
        };
        let wrong = |error: ArrowError| format!("the column {name}: {error}");
        columns.push(match field.data_type() {
            kind if kind == column.data_type() => column,
            DataType::Timestamp(TimeUnit::Nanosecond, _) => {
                let micros = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
                let whole = cast(&column, &micros).map_err(wrong)?;
                let rest = batch.column_by_name(&beside(name));
                let rest = rest.map(|rest| cast(rest, &DataType::Int16)).transpose();
                exact(&whole, rest.map_err(wrong)?.as_ref())
            }
            DataType::UInt64 => {
                let signed = cast(&column, &DataType::Int64).map_err(wrong)?;
                let numbers: UInt64Array = signed
                    .as_primitive::<Int64Type>()
                    .iter()
                    .map(|number| number.map(i64::cast_unsigned))
                    .collect();
                Arc::new(numbers)
            }
            kind => cast(&column, kind).map_err(wrong)?,
        });
    }
    // Whoever only counts wants no column.
    let counted = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(Arc::clone(schema), columns, &counted)
        .map_err(|error| error.to_string())
}

/// Times of nanoseconds from those of microseconds and what is beside them.
fn exact(whole: &ArrayRef, rest: Option<&ArrayRef>) -> ArrayRef {
    let whole = whole.as_primitive::<TimestampMicrosecondType>();
    let rest = rest.map(arrow_array::cast::AsArray::as_primitive::<Int16Type>);
    let of = |row: usize| {
        let nanos = rest.filter(|rest| rest.is_valid(row));
        let nanos = nanos.map_or(0, |rest| i64::from(rest.value(row)));
        let at = whole.is_valid(row).then(|| whole.value(row))?;
        Some(at.saturating_mul(NANOS).saturating_add(nanos))
    };
    let times: TimestampNanosecondArray = (0..whole.len()).map(of).collect();
    Arc::new(times.with_timezone("UTC"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shared_comes_back_to_the_nanosecond() {
        let times = |values: Vec<Option<i64>>| -> ArrayRef {
            Arc::new(TimestampNanosecondArray::from(values).with_timezone("UTC"))
        };
        let kind = || DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
        let schema = Arc::new(Schema::new(vec![
            Field::new("time", kind(), true),
            Field::new("resource_version", DataType::UInt64, true),
            Field::new(CLUSTER, DataType::Utf8, true),
        ]));
        let batch = RecordBatch::try_new(
            Arc::clone(&schema),
            vec![
                times(vec![Some(1_234_567), Some(-1), Some(i64::MAX - 1), None]),
                Arc::new(UInt64Array::from(vec![Some(u64::MAX), Some(0), None, None])),
                Arc::new(StringArray::from(vec![Some("a"); 4])),
            ],
        )
        .unwrap();
        let there = to_shared(&batch).unwrap();
        let names: Vec<_> = there
            .schema()
            .fields()
            .iter()
            .map(|f| f.name().clone())
            .collect();
        assert_eq!(names, ["time", "time_ns", "resource_version"]);
        let back = from_shared(&there, Some("a"), &schema).unwrap();
        assert_eq!(back, batch);
        let missing = from_shared(&there.project(&[2]).unwrap(), None, &schema).unwrap_err();
        assert!(missing.contains("no column time"), "{missing}");
    }
}
