//! The table `events` of a lake: columns of its segments, read through the cache of its
//! index, as many segments at once as the engine has partitions.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use whathappened_store::{EVENT_WORDS, Segment, Table, event_schema};

use super::StoredTables;
use super::events::may_match;
use super::pruning::ScanBounds;
use crate::sql::column;
use crate::sql::events::COLUMNS;
use crate::sql::planned::{Scan, ScanRequest};
use crate::sql::rows::wrapped;

/// All facts of a lake.
#[derive(Debug)]
pub(super) struct Events {
    stored: Arc<StoredTables>,
    schema: SchemaRef,
}

impl Events {
    pub(super) fn new(stored: &Arc<StoredTables>) -> Self {
        Self {
            stored: Arc::clone(stored),
            schema: column::schema(COLUMNS),
        }
    }
}

impl Scan for Events {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn plan(&self, wanted: &ScanRequest<'_>) -> Result<Arc<dyn ExecutionPlan>> {
        let bounds = ScanBounds::of(wanted.filters, EVENT_WORDS);
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let projection = wanted.projection.unwrap_or(&all);
        let schema: SchemaRef = Arc::new(self.schema.project(projection)?);
        let read = Arc::new(event_schema().project(projection)?);
        let chosen = self.stored.look(|snapshot| {
            if !bounds.words.is_empty() {
                snapshot.prefetch_filters(Table::Events, (bounds.from, bounds.to))?;
            }
            let mut chosen = Vec::new();
            for segment in snapshot.segments(Table::Events) {
                if may_match(snapshot, segment, &bounds)? {
                    chosen.push(segment.clone());
                }
            }
            Ok(chosen)
        });
        let chosen = chosen.map_err(wrapped)?;
        if chosen.is_empty() {
            return Ok(Arc::new(EmptyExec::new(schema)));
        }
        let at_once = wanted
            .session
            .config()
            .target_partitions()
            .clamp(1, chosen.len());
        let mut parts: Vec<Vec<Segment>> = vec![Vec::new(); at_once];
        for (number, segment) in chosen.into_iter().enumerate() {
            if let Some(part) = parts.get_mut(number % at_once) {
                part.push(segment);
            }
        }
        let streams = parts.into_iter().map(|segments| {
            Arc::new(LakeScan {
                stored: Arc::clone(&self.stored),
                segments,
                schema: Arc::clone(&schema),
                read: Arc::clone(&read),
                words: bounds.words.clone(),
            }) as Arc<dyn PartitionStream>
        });
        let plan = StreamingTableExec::try_new(
            Arc::clone(&schema),
            streams.collect(),
            None,
            [],
            false,
            wanted.limit,
        )?;
        Ok(Arc::new(plan))
    }
}

/// Some segments of a scan.
struct LakeScan {
    stored: Arc<StoredTables>,
    segments: Vec<Segment>,
    /// The columns as the table has them, and as segments do.
    schema: SchemaRef,
    read: SchemaRef,
    words: Vec<(String, Vec<String>)>,
}

impl std::fmt::Debug for LakeScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LakeScan")
            .field("segments", &self.segments.len())
            .field("words", &self.words)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for LakeScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let mut builder = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 2);
        let out = builder.tx();
        let (stored, segments) = (Arc::clone(&self.stored), self.segments.clone());
        let (schema, read) = (Arc::clone(&self.schema), Arc::clone(&self.read));
        let words = self.words.clone();
        builder.spawn_blocking(move || {
            let send = |batch| match out.blocking_send(batch) {
                Ok(()) => ControlFlow::Continue(()),
                // Whoever asked has enough.
                Err(_) => ControlFlow::Break(()),
            };
            let done = stored.look(|snapshot| {
                Ok(
                    snapshot.event_columns(&segments, &read, &words, &mut |batch| {
                        let shown = batch.with_schema(Arc::clone(&schema));
                        send(shown.map_err(DataFusionError::from))
                    })?,
                )
            });
            done.map_err(wrapped)
        });
        builder.build()
    }
}
