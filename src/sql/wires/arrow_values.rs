//! Values of parameters as Flight SQL's clients bind them: a batch of one row.

use datafusion::arrow::ipc::reader::StreamReader;
use datafusion::common::{ParamValues, ScalarValue};
use datafusion::error::{DataFusionError, Result};

/// The first row, a value a column. Columns named `$1`, `$2` … or in any other way
/// stand in the order of the parameters.
pub(super) fn read(stream: &[u8]) -> Result<ParamValues> {
    let batches = StreamReader::try_new(stream, None)?;
    for batch in batches {
        let batch = batch?;
        if batch.num_rows() == 0 {
            continue;
        }
        if batch.num_rows() > 1 {
            return Err(DataFusionError::Plan(
                "a statement takes one row of values at a time".to_owned(),
            ));
        }
        let values = batch.columns().iter();
        let values: Result<Vec<ScalarValue>> = values
            .map(|column| ScalarValue::try_from_array(column, 0))
            .collect();
        return Ok(ParamValues::from(values?));
    }
    Ok(ParamValues::from(Vec::<ScalarValue>::new()))
}
