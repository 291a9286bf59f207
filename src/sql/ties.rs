//! The tables `deaths` and `ties`: what cause rules query, for those who write one.

use std::fmt;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::PartitionStream;
use whathappened_core::death::deaths;
use whathappened_core::tie::ties;

use super::shared::Shared;
use crate::case::Case;
use crate::explain::tables;

/// Makes a table of the deaths of a case.
type Make = fn(&Case) -> std::result::Result<RecordBatch, ArrowError>;

/// Both tables over all runs of a case, by name.
pub(super) fn all(shared: &Arc<Shared>) -> Result<Vec<(&'static str, Arc<dyn TableProvider>)>> {
    let table = |schema: SchemaRef, make: Make| -> Result<Arc<dyn TableProvider>> {
        let part = Part {
            schema: Arc::clone(&schema),
            shared: Arc::clone(shared),
            make,
        };
        Ok(Arc::new(StreamingTable::try_new(
            schema,
            vec![Arc::new(part)],
        )?))
    };
    Ok(vec![
        ("deaths", table(tables::deaths_schema(), of_deaths)?),
        ("ties", table(tables::ties_schema(), of_ties)?),
    ])
}

fn of_deaths(case: &Case) -> std::result::Result<RecordBatch, ArrowError> {
    let chosen: Vec<usize> = (0..case.runs.len()).collect();
    let deaths = deaths(&case.world, &case.runs, &chosen, &case.ends);
    tables::deaths(&case.world, &case.runs, &deaths)
}

fn of_ties(case: &Case) -> std::result::Result<RecordBatch, ArrowError> {
    let chosen: Vec<usize> = (0..case.runs.len()).collect();
    let deaths = deaths(&case.world, &case.runs, &chosen, &case.ends);
    let ties = ties(&case.world, &case.runs, &deaths);
    tables::ties(&case.world, &case.runs, &deaths, &ties)
}

/// A table that is made when it is asked for.
struct Part {
    schema: SchemaRef,
    shared: Arc<Shared>,
    make: Make,
}

impl fmt::Debug for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for Part {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 1);
        let (shared, make, out) = (Arc::clone(&self.shared), self.make, stream.tx());
        stream.spawn_blocking(move || {
            let batch = make(&shared.case)?;
            // A closed channel is a reader that has enough.
            let _closed = out.blocking_send(Ok(batch));
            Ok(())
        });
        stream.build()
    }
}
