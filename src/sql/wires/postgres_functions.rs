//! Functions that PostgreSQL's clients call to learn whom they speak with.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, BooleanArray, Int32Array, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::common::cast::as_string_array;
use datafusion::common::{Result, ScalarValue};
use datafusion::logical_expr::{ColumnarValue, Volatility};
use datafusion::prelude::{SessionContext, create_udf};

/// The release of PostgreSQL that clients are told to speak with: they read from it
/// which statements they can send.
const VERSION: &str = concat!(
    "PostgreSQL 16.6 (whathappened ",
    env!("CARGO_PKG_VERSION"),
    ")"
);

/// Settings that statements ask for; the rest are answered where they can be set.
const SETTINGS: &[(&str, &str)] = &[
    ("search_path", "public"),
    ("server_version", "16.6"),
    ("server_version_num", "160006"),
    ("timezone", "UTC"),
];

/// Makes them known.
pub(super) fn register(context: &SessionContext) {
    let version = |_: &[ColumnarValue]| {
        let text = ScalarValue::Utf8(Some(VERSION.to_owned()));
        Ok(ColumnarValue::Scalar(text))
    };
    let text = || vec![DataType::Utf8];
    let stable = Volatility::Stable;
    let functions = [
        create_udf(
            "version",
            Vec::new(),
            DataType::Utf8,
            stable,
            Arc::new(version),
        ),
        create_udf(
            "current_setting",
            text(),
            DataType::Utf8,
            stable,
            Arc::new(setting),
        ),
        // Of types that clients bring with them there is none here.
        create_udf(
            "to_regtype",
            text(),
            DataType::Int32,
            stable,
            Arc::new(none),
        ),
        create_udf(
            "pg_function_is_visible",
            vec![DataType::Int32],
            DataType::Boolean,
            stable,
            Arc::new(always),
        ),
    ];
    for function in functions {
        context.register_udf(function);
    }
}

fn setting(values: &[ColumnarValue]) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(values)?;
    let names = as_string_array(&arrays[0])?;
    let value = |name: Option<&str>| {
        let found = SETTINGS
            .iter()
            .find(|(known, _)| name.is_some_and(|name| name.eq_ignore_ascii_case(known)))?;
        Some(found.1)
    };
    let found: StringArray = names.iter().map(value).collect();
    Ok(ColumnarValue::Array(Arc::new(found) as ArrayRef))
}

fn none(values: &[ColumnarValue]) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(values)?;
    let found = Int32Array::from(vec![None; arrays[0].len()]);
    Ok(ColumnarValue::Array(Arc::new(found) as ArrayRef))
}

fn always(values: &[ColumnarValue]) -> Result<ColumnarValue> {
    let arrays = ColumnarValue::values_to_arrays(values)?;
    let found = BooleanArray::from(vec![true; arrays[0].len()]);
    Ok(ColumnarValue::Array(Arc::new(found) as ArrayRef))
}
