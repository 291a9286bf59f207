//! The least and greatest times of a shared segment: those who read it leave it out by them.

use std::collections::BTreeMap;

use arrow_array::cast::AsArray as _;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{Array as _, RecordBatch};
use arrow_schema::{DataType, TimeUnit};

/// Of one column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "lake"),
    allow(dead_code, reason = "only a lake makes or reads it")
)]
pub(crate) struct ColumnBounds {
    /// The least value, in microseconds; greater than `max` where there is none.
    pub(crate) min: i64,
    /// The greatest value, in microseconds.
    pub(crate) max: i64,
    /// Rows without a value.
    pub(crate) nulls: u64,
}

/// Of all columns of times, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Bounds(pub(crate) BTreeMap<String, ColumnBounds>);

impl Bounds {
    /// Takes in what a batch of shared columns has.
    pub(super) fn see(&mut self, batch: &RecordBatch) {
        for (field, column) in batch.schema_ref().fields().iter().zip(batch.columns()) {
            if !matches!(
                field.data_type(),
                DataType::Timestamp(TimeUnit::Microsecond, _)
            ) {
                continue;
            }
            let bounds = self.0.entry(field.name().clone()).or_insert(ColumnBounds {
                min: i64::MAX,
                max: i64::MIN,
                nulls: 0,
            });
            bounds.nulls += column.null_count() as u64;
            for at in column
                .as_primitive::<TimestampMicrosecondType>()
                .iter()
                .flatten()
            {
                bounds.min = bounds.min.min(at);
                bounds.max = bounds.max.max(at);
            }
        }
    }
}
