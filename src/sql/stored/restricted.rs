//! The table `events` of a store for a caller who may not see all of it.
//!
//! Rows are read here and filtered before the engine knows of them: a filter of
//! the engine could run after a person's own expressions, whose errors would
//! tell what is in rows that nobody may see.

use std::ops::ControlFlow;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::streaming::{PartitionStream, StreamingTableExec};
use whathappened_store::{EVENT_WORDS, Fact, filter_key};

use super::StoredTables;
use super::events::batch;
use super::pruning::ScanBounds;
use crate::error::Error;
use crate::sql::column;
use crate::sql::events::COLUMNS;
use crate::sql::planned::{Scan, ScanRequest};
use crate::sql::rows::wrapped;

/// Rows of a batch; a row may carry a long text.
const BATCH: usize = 1_024;

/// The facts of a store that one caller may see.
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
        let part = RestrictedScan {
            stored: Arc::clone(&self.stored),
            schema: Arc::clone(&self.schema),
            bounds: ScanBounds::of(wanted.filters, EVENT_WORDS),
        };
        Ok(Arc::new(StreamingTableExec::try_new(
            Arc::clone(&self.schema),
            vec![Arc::new(part)],
            wanted.projection,
            [],
            false,
            wanted.limit,
        )?))
    }
}

/// One scan, and what segments it can leave out.
struct RestrictedScan {
    stored: Arc<StoredTables>,
    schema: SchemaRef,
    bounds: ScanBounds,
}

impl std::fmt::Debug for RestrictedScan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("bounds", &self.bounds)
            .finish_non_exhaustive()
    }
}

impl PartitionStream for RestrictedScan {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, _context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let (stored, schema) = (Arc::clone(&self.stored), Arc::clone(&self.schema));
        let bounds = self.bounds.clone();
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 2);
        let out = stream.tx();
        stream.spawn_blocking(move || {
            // A closed channel is a reader that has enough.
            let send = |facts: &mut Vec<Fact>| -> Result<bool> {
                let rows = batch(facts, &schema)?;
                facts.clear();
                Ok(out.blocking_send(Ok(rows)).is_ok())
            };
            read(&stored, &bounds, send)
        });
        stream.build()
    }
}

/// Hands facts on a batch at a time until nobody wants more.
fn read(
    stored: &StoredTables,
    bounds: &ScanBounds,
    mut send: impl FnMut(&mut Vec<Fact>) -> Result<bool>,
) -> Result<()> {
    let keys: Vec<Vec<i64>> = bounds
        .words
        .iter()
        .map(|(column, values)| {
            let keys = values.iter().map(|value| filter_key(column, value));
            keys.collect()
        })
        .collect();
    let mut facts = Vec::with_capacity(BATCH);
    let mut failed: Option<DataFusionError> = None;
    let all = |snapshot: &whathappened_store::Snapshot<'_>| {
        let mut take = |fact: Fact| {
            facts.push(fact);
            if facts.len() < BATCH {
                return ControlFlow::Continue(());
            }
            match send(&mut facts) {
                Ok(true) => ControlFlow::Continue(()),
                Ok(false) => ControlFlow::Break(()),
                Err(error) => {
                    failed = Some(error);
                    ControlFlow::Break(())
                }
            }
        };
        snapshot
            .facts((bounds.from, bounds.to), &keys, &mut take)
            .map_err(Error::from)
    };
    stored.look(all).map_err(wrapped)?;
    match failed {
        Some(error) => Err(error),
        None if facts.is_empty() => Ok(()),
        None => send(&mut facts).map(|_| ()),
    }
}
