//! Rows as Flight's clients read them.

use std::io::Cursor;
use std::pin::Pin;

use arrow_flight::FlightData;
use arrow_flight::encode::FlightDataEncoderBuilder;
use arrow_flight::error::FlightError;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::reader::StreamReader;
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use tonic::{Response, Status};

use crate::serve::statement::{StatementError, StatementOutput};

/// What a request for rows is answered with.
pub(super) type RowStream = Pin<Box<dyn Stream<Item = Result<FlightData, Status>> + Send>>;

fn unreadable(broken: &ArrowError) -> Status {
    Status::internal(format!("the rows cannot be read: {broken}"))
}

/// The columns of an answer.
pub(super) fn schema(output: &StatementOutput) -> Result<SchemaRef, Status> {
    let reader = StreamReader::try_new(Cursor::new(&output.body), None);
    Ok(reader.map_err(|broken| unreadable(&broken))?.schema())
}

/// The rows of a statement. Where some were left out, an error stands behind them.
pub(super) fn of_statement(output: StatementOutput) -> Result<Response<RowStream>, Status> {
    let cut = output.truncated.then(|| {
        Status::resource_exhausted(format!(
            "only the first {} rows were sent: the result is larger than the service allows; \
             narrow it with LIMIT, or with WHERE, ideally on time, pod or experiment",
            output.rows
        ))
    });
    let reader = StreamReader::try_new(Cursor::new(output.body), None);
    let reader = reader.map_err(|broken| unreadable(&broken))?;
    let schema = reader.schema();
    let batches = reader.map(|batch| batch.map_err(FlightError::from));
    let all = batches.chain(cut.map(|cut| Err(FlightError::from(cut))));
    Ok(stream(schema, futures::stream::iter(all)))
}

/// One batch that is at hand.
pub(super) fn of_batch(
    batch: Result<RecordBatch, FlightError>,
) -> Result<Response<RowStream>, Status> {
    let batch = batch.map_err(Status::from)?;
    let schema = batch.schema();
    Ok(stream(schema, futures::stream::iter([Ok(batch)])))
}

fn stream(
    schema: SchemaRef,
    batches: impl Stream<Item = Result<RecordBatch, FlightError>> + Send + 'static,
) -> Response<RowStream> {
    let encoded = FlightDataEncoderBuilder::new()
        .with_schema(schema)
        .build(batches);
    Response::new(encoded.map_err(Status::from).boxed())
}

/// Why a statement was not answered, in gRPC's codes.
pub(super) fn halted(halted: &StatementError) -> Status {
    let mut text = halted.to_string();
    for hint in halted.hints() {
        text.push_str("; ");
        text.push_str(&hint);
    }
    match halted {
        StatementError::Refused(..) => Status::invalid_argument(text),
        StatementError::Late(_) => Status::deadline_exceeded(text),
        StatementError::Large(_) | StatementError::Long(_) | StatementError::Broke(_) => {
            Status::resource_exhausted(text)
        }
        StatementError::Busy => Status::unavailable(text),
        StatementError::Inside(_) => Status::internal(text),
    }
}
