//! The tables `deaths` and `links`: what cause rules query, for those who write one.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

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
use whathappened_core::link::links;

use super::rows::wrapped;
use super::shared_case::SharedCase;
use crate::case::Case;
use crate::error::Error;
use crate::explain::tables;

/// Makes a table of the deaths of a case.
type BuildTable = fn(&Case) -> std::result::Result<RecordBatch, ArrowError>;

/// Where a case with all its runs comes from.
pub(super) trait Cases: fmt::Debug + Send + Sync + 'static {
    /// The case, as it is now.
    fn case(&self) -> std::result::Result<Arc<Case>, Error>;
}

impl Cases for SharedCase {
    fn case(&self) -> std::result::Result<Arc<Case>, Error> {
        Ok(Arc::clone(&self.case))
    }
}

/// A case of a store is large: scans of one statement share it, so that the numbers of
/// its deaths mean the same in all of them, and it goes with the last of them.
#[derive(Debug)]
struct CaseSource {
    cases: Arc<dyn Cases>,
    read: Mutex<Weak<PendingCase>>,
}

/// A case that is read when the first scan needs it.
type PendingCase = OnceLock<std::result::Result<Arc<Case>, String>>;

impl CaseSource {
    fn begin(&self) -> Arc<PendingCase> {
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reading) = read.upgrade() {
            return reading;
        }
        let reading = Arc::new(PendingCase::new());
        *read = Arc::downgrade(&reading);
        reading
    }
}

/// Both tables over all runs of a case, by name.
pub(super) fn all(cases: Arc<dyn Cases>) -> Result<Vec<(&'static str, Arc<dyn TableProvider>)>> {
    let source = Arc::new(CaseSource {
        cases,
        read: Mutex::new(Weak::new()),
    });
    let table = |schema: SchemaRef, make: BuildTable| -> Result<Arc<dyn TableProvider>> {
        let part = LinkScan {
            schema: Arc::clone(&schema),
            source: Arc::clone(&source),
            make,
        };
        Ok(Arc::new(StreamingTable::try_new(
            schema,
            vec![Arc::new(part)],
        )?))
    };
    Ok(vec![
        ("deaths", table(tables::deaths_schema(), of_deaths)?),
        ("links", table(tables::links_schema(), of_links)?),
    ])
}

fn of_deaths(case: &Case) -> std::result::Result<RecordBatch, ArrowError> {
    let chosen: Vec<usize> = (0..case.runs.len()).collect();
    let deaths = deaths(&case.graph, &case.runs, &chosen, &case.ends);
    tables::deaths(&case.graph, &case.runs, &deaths)
}

fn of_links(case: &Case) -> std::result::Result<RecordBatch, ArrowError> {
    let chosen: Vec<usize> = (0..case.runs.len()).collect();
    let deaths = deaths(&case.graph, &case.runs, &chosen, &case.ends);
    let links = links(&case.graph, &case.runs, &deaths);
    tables::links(&case.graph, &case.runs, &deaths, &links)
}

/// A table that is made when it is asked for.
struct LinkScan {
    schema: SchemaRef,
    source: Arc<CaseSource>,
    make: BuildTable,
}

impl fmt::Debug for LinkScan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Part")
            .field("schema", &self.schema)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for LinkScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 1);
        let (source, make, out) = (Arc::clone(&self.source), self.make, stream.tx());
        let reading = source.begin();
        stream.spawn_blocking(move || {
            let read = || source.cases.case().map_err(|error| error.to_string());
            let case = reading.get_or_init(read).as_ref();
            let case = case.map_err(|why| wrapped(Error::Failed(why.clone())))?;
            let batch = make(case)?;
            // A closed channel is a reader that has enough.
            let _closed = out.blocking_send(Ok(batch));
            Ok(())
        });
        stream.build()
    }
}
