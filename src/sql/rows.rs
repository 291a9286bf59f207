//! Tables of rows that are read from the case, or explained, as they are asked for.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use futures::future::BoxFuture;

use super::column::{self, Column};
use super::planned::ScanRequest;
use crate::error::Error;

/// Rows of a batch.
pub(super) const BATCH: usize = 8_192;

/// Explains what the rows need, then makes them.
type Explain<S, R> = dyn Fn(Arc<S>) -> BoxFuture<'static, Result<Vec<R>, Error>> + Send + Sync;

/// Where rows come from: a case or a store, `S`.
pub(super) enum RowSource<S, R> {
    /// Straight from it, one after the other.
    Read(for<'a> fn(&'a S) -> Box<dyn Iterator<Item = R> + 'a>),
    /// From it, all at once; what is read from a disk can fail.
    Load(fn(&S) -> Result<Vec<R>, Error>),
    /// From an explanation.
    Explain(Arc<Explain<S, R>>),
}

impl<S, R> Clone for RowSource<S, R> {
    fn clone(&self) -> Self {
        match self {
            Self::Read(read) => Self::Read(*read),
            Self::Load(load) => Self::Load(*load),
            Self::Explain(explain) => Self::Explain(Arc::clone(explain)),
        }
    }
}

struct Rows<S: 'static, R: 'static> {
    schema: SchemaRef,
    columns: &'static [Column<R>],
    shared: Arc<S>,
    fill: RowSource<S, R>,
}

impl<S, R> fmt::Debug for Rows<S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

/// A table of `R`.
pub(super) fn table<S: Send + Sync + 'static, R: Send + 'static>(
    columns: &'static [Column<R>],
    shared: &Arc<S>,
    fill: RowSource<S, R>,
) -> Result<Arc<dyn TableProvider>> {
    let rows = rows(columns, shared, fill);
    Ok(Arc::new(StreamingTable::try_new(
        Arc::clone(&rows.schema),
        vec![Arc::new(rows)],
    )?))
}

/// One scan of a table of `R`.
pub(super) fn scan<S: Send + Sync + 'static, R: Send + 'static>(
    columns: &'static [Column<R>],
    shared: &Arc<S>,
    fill: RowSource<S, R>,
    wanted: &ScanRequest<'_>,
) -> Result<Arc<dyn ExecutionPlan>> {
    let rows = rows(columns, shared, fill);
    Ok(Arc::new(StreamingTableExec::try_new(
        Arc::clone(&rows.schema),
        vec![Arc::new(rows)],
        wanted.projection,
        [],
        false,
        wanted.limit,
    )?))
}

fn rows<S, R>(columns: &'static [Column<R>], shared: &Arc<S>, fill: RowSource<S, R>) -> Rows<S, R> {
    Rows {
        schema: column::schema(columns),
        columns,
        shared: Arc::clone(shared),
        fill,
    }
}

/// An error of this program inside one of DataFusion.
pub(super) fn wrapped(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl<S: Send + Sync + 'static, R: Send + 'static> PartitionStream for Rows<S, R> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (schema, columns) = (Arc::clone(&self.schema), self.columns);
        let shared = Arc::clone(&self.shared);
        match self.fill.clone() {
            RowSource::Read(read) => {
                let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&schema), 2);
                let out = stream.tx();
                stream.spawn_blocking(move || {
                    let mut rows = read(&shared);
                    loop {
                        let chunk: Vec<R> = rows.by_ref().take(BATCH).collect();
                        let done = chunk.len() < BATCH;
                        let batch = column::batch(&schema, columns, &chunk)?;
                        // A closed channel is a reader that has enough.
                        if out.blocking_send(Ok(batch)).is_err() || done {
                            return Ok(());
                        }
                    }
                });
                stream.build()
            }
            RowSource::Load(load) => {
                let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&schema), 2);
                let out = stream.tx();
                stream.spawn_blocking(move || {
                    for chunk in load(&shared).map_err(wrapped)?.chunks(BATCH) {
                        let batch = column::batch(&schema, columns, chunk)?;
                        if out.blocking_send(Ok(batch)).is_err() {
                            break;
                        }
                    }
                    Ok(())
                });
                stream.build()
            }
            RowSource::Explain(explain) => {
                let made = Arc::clone(&schema);
                let batch = async move {
                    let rows = explain(shared).await.map_err(wrapped)?;
                    Ok(column::batch(&made, columns, &rows)?)
                };
                Box::pin(RecordBatchStreamAdapter::new(
                    schema,
                    futures::stream::once(batch),
                ))
            }
        }
    }
}
