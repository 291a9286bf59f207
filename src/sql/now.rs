//! `now()`: the end of the input, since a statement over a recording must
//! answer the same tomorrow.

use std::sync::Arc;

use datafusion::arrow::datatypes::{DataType, TimeUnit};
use datafusion::error::Result;
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDFImpl, Signature, Volatility,
};
use datafusion::scalar::ScalarValue;
use whathappened_model::time::Nanos;

/// The function.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Now {
    at: Option<Nanos>,
    signature: Signature,
    aliases: Vec<String>,
}

impl Now {
    pub(super) fn new(at: Option<Nanos>) -> Self {
        Self {
            at,
            signature: Signature::nullary(Volatility::Immutable),
            aliases: vec!["current_timestamp".to_owned()],
        }
    }
}

impl ScalarUDFImpl for Now {
    fn name(&self) -> &str {
        "now"
    }

    fn aliases(&self) -> &[String] {
        &self.aliases
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _arguments: &[DataType]) -> Result<DataType> {
        Ok(DataType::Timestamp(
            TimeUnit::Nanosecond,
            Some("UTC".into()),
        ))
    }

    fn invoke_with_args(&self, _arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let zone = Some(Arc::from("UTC"));
        Ok(ColumnarValue::Scalar(ScalarValue::TimestampNanosecond(
            self.at, zone,
        )))
    }
}
