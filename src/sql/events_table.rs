//! The table `events`: read back from the evidence a batch at a time.

use std::sync::Arc;

use datafusion::arrow::compute::SortOptions;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::expressions::Column as Position;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use whathappened_core::evidence::{EvidenceRow, SpillError};

use super::column::{self, Column};
use super::events::{COLUMNS, EventRow, needs_body};
use super::planned::{Scan, ScanRequest};
use super::prune::Test;
use super::rows::{BATCH, wrapped};
use super::shared_case::SharedCase;
use crate::error::Error;

/// Facts read at once to begin with: a statement may want few.
const FEWEST: usize = 1_024;
/// Most facts read at once.
const MOST: usize = 65_536;
/// Memory for the facts that are read at once.
const WINDOW: usize = 64 << 20;

/// All facts, in order of (time, id).
#[derive(Debug)]
pub(super) struct Events {
    shared: Arc<SharedCase>,
    schema: SchemaRef,
}

impl Events {
    pub(super) fn new(shared: &Arc<SharedCase>) -> Self {
        Self {
            shared: Arc::clone(shared),
            schema: column::schema(COLUMNS),
        }
    }
}

impl Scan for Events {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn helps(&self, filter: &Expr) -> bool {
        let symbols = &self.shared.case.graph.evidence.symbols;
        Test::of(filter, symbols).is_some()
    }

    fn plan(&self, wanted: &ScanRequest<'_>) -> Result<Arc<dyn ExecutionPlan>> {
        let all: Vec<usize> = (0..COLUMNS.len()).collect();
        let chosen = wanted.projection.unwrap_or(&all);
        let columns: Vec<&'static Column<EventRow>> = chosen
            .iter()
            .filter_map(|index| COLUMNS.get(*index))
            .collect();
        let schema = column::schema(columns.iter().copied());
        let symbols = &self.shared.case.graph.evidence.symbols;
        let tests = wanted
            .filters
            .iter()
            .filter_map(|filter| Test::of(filter, symbols))
            .collect();
        let ordering = columns
            .iter()
            .position(|column| column.name == "time")
            .and_then(|index| {
                let options = SortOptions {
                    descending: false,
                    nulls_first: false,
                };
                LexOrdering::new([PhysicalSortExpr::new(
                    Arc::new(Position::new("time", index)),
                    options,
                )])
            });
        let part = EventScan {
            shared: Arc::clone(&self.shared),
            schema: Arc::clone(&schema),
            columns,
            tests,
        };
        Ok(Arc::new(StreamingTableExec::try_new(
            schema,
            vec![Arc::new(part)],
            None,
            ordering,
            false,
            wanted.limit,
        )?))
    }
}

/// One scan: what it wants of which facts.
struct EventScan {
    shared: Arc<SharedCase>,
    schema: SchemaRef,
    columns: Vec<&'static Column<EventRow>>,
    tests: Vec<Test>,
}

impl std::fmt::Debug for EventScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("tests", &self.tests)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for EventScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let scan = Self {
            shared: Arc::clone(&self.shared),
            schema: Arc::clone(&self.schema),
            columns: self.columns.clone(),
            tests: self.tests.clone(),
        };
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 2);
        let out = stream.tx();
        stream.spawn_blocking(move || {
            let mut wanted = scan.wanted();
            let mut window = FEWEST;
            loop {
                let numbers: Vec<EvidenceRow> = wanted.by_ref().take(window).collect();
                if numbers.is_empty() {
                    return Ok(());
                }
                let seen = scan
                    .read(&numbers)
                    .map_err(|error| wrapped(Error::Spill(error)))?;
                let weight: usize = seen.iter().map(EventRow::weight).sum();
                window = (WINDOW / (weight / seen.len()).max(1)).clamp(FEWEST, MOST);
                for rows in seen.chunks(BATCH) {
                    let batch = column::batch(&scan.schema, scan.columns.iter().copied(), rows)?;
                    // A closed channel is a reader that has enough.
                    if out.blocking_send(Ok(batch)).is_err() {
                        return Ok(());
                    }
                }
            }
        });
        stream.build()
    }
}

impl EventScan {
    fn wants_raw(&self) -> bool {
        self.columns.iter().any(|column| column.name == "raw")
    }

    /// Numbers of the facts that may pass, in order.
    fn wanted(&self) -> impl Iterator<Item = EvidenceRow> {
        let rows = self.shared.case.graph.evidence.rows();
        let passes = |number: &EvidenceRow| {
            let row = rows.get(*number);
            row.is_some_and(|row| self.tests.iter().all(|test| test.may_pass(row)))
        };
        self.shared.order().iter().copied().filter(passes)
    }

    /// Reads in the order of storage, which unpacks each block once a window,
    /// and answers in the order asked for.
    fn read(&self, numbers: &[EvidenceRow]) -> Result<Vec<EventRow>, SpillError> {
        let whole = self.columns.iter().any(|column| needs_body(column));
        let with_raw = self.wants_raw();
        let mut by_place: Vec<(usize, EvidenceRow)> = numbers.iter().copied().enumerate().collect();
        by_place.sort_unstable_by_key(|(_, number)| *number);
        let mut seen = Vec::with_capacity(numbers.len());
        for (position, number) in by_place {
            let one = EventRow::read(&self.shared.case.graph, number, whole)?;
            seen.push((position, if with_raw { one } else { one.without_raw() }));
        }
        seen.sort_unstable_by_key(|(position, _)| *position);
        Ok(seen.into_iter().map(|(_, one)| one).collect())
    }
}
