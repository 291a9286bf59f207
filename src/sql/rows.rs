//! Tables of rows that are read from the case, or explained, as they are asked for.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::{RecordBatchReceiverStream, RecordBatchStreamAdapter};
use datafusion::physical_plan::streaming::PartitionStream;
use futures::future::BoxFuture;

use super::cell::{self, Column};
use super::shared::Shared;
use crate::error::Error;

/// Rows of a batch.
pub(super) const BATCH: usize = 8_192;

/// Explains what the rows need, then makes them.
type Explain<R> = dyn Fn(Arc<Shared>) -> BoxFuture<'static, Result<Vec<R>, Error>> + Send + Sync;

/// Where rows come from.
pub(super) enum Fill<R> {
    /// Straight from the case, one after the other.
    Read(for<'a> fn(&'a Shared) -> Box<dyn Iterator<Item = R> + 'a>),
    /// From an explanation.
    Explain(Arc<Explain<R>>),
}

impl<R> Clone for Fill<R> {
    fn clone(&self) -> Self {
        match self {
            Self::Read(read) => Self::Read(*read),
            Self::Explain(explain) => Self::Explain(Arc::clone(explain)),
        }
    }
}

struct Rows<R: 'static> {
    schema: SchemaRef,
    columns: &'static [Column<R>],
    shared: Arc<Shared>,
    fill: Fill<R>,
}

impl<R> fmt::Debug for Rows<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rows")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

/// A table of `R`.
pub(super) fn table<R: Send + 'static>(
    columns: &'static [Column<R>],
    shared: &Arc<Shared>,
    fill: Fill<R>,
) -> Result<Arc<dyn TableProvider>> {
    let schema = cell::schema(columns);
    let rows = Rows {
        schema: Arc::clone(&schema),
        columns,
        shared: Arc::clone(shared),
        fill,
    };
    Ok(Arc::new(StreamingTable::try_new(
        schema,
        vec![Arc::new(rows)],
    )?))
}

/// An error of this program inside one of DataFusion.
pub(super) fn wrapped(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

impl<R: Send + 'static> PartitionStream for Rows<R> {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (schema, columns) = (Arc::clone(&self.schema), self.columns);
        let shared = Arc::clone(&self.shared);
        match self.fill.clone() {
            Fill::Read(read) => {
                let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&schema), 2);
                let out = stream.tx();
                stream.spawn_blocking(move || {
                    let mut rows = read(&shared);
                    loop {
                        let chunk: Vec<R> = rows.by_ref().take(BATCH).collect();
                        let done = chunk.len() < BATCH;
                        let batch = cell::batch(&schema, columns, &chunk)?;
                        // A closed channel is a reader that has enough.
                        if out.blocking_send(Ok(batch)).is_err() || done {
                            return Ok(());
                        }
                    }
                });
                stream.build()
            }
            Fill::Explain(explain) => {
                let made = Arc::clone(&schema);
                let batch = async move {
                    let rows = explain(shared).await.map_err(wrapped)?;
                    Ok(cell::batch(&made, columns, &rows)?)
                };
                Box::pin(RecordBatchStreamAdapter::new(
                    schema,
                    futures::stream::once(batch),
                ))
            }
        }
    }
}
