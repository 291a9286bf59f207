//! The tables `events` and `objects` of a lake for executors of Ballista: what a scan reads
//! is plain data that can be sent, and each executor reads its share through an index of its own.
//!
//! Whoever plans chooses the segments, so that all executors read one version of the table.
//! They are the rows of a small table in the plan, which Ballista knows to deal out among
//! tasks; [`LakeRead`] stands above it and reads the segments that a task got.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use datafusion::arrow::array::{AsArray as _, RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::common::tree_node::TreeNodeRecursion;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_expr::{EquivalenceProperties, PhysicalExpr};
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::stream::RecordBatchReceiverStream;
use datafusion::physical_plan::{DisplayAs, DisplayFormatType, ExecutionPlan, PlanProperties};
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::sync::mpsc::Sender;
use whathappened_model::time::Nanos;
use whathappened_store::{EVENT_WORDS, Fact, Segment, Table, event_schema};

use super::StoredTables;
use super::events::{batch, may_match};
use super::pruning::ScanBounds;
use crate::access::Access;
use crate::error::Error;
use crate::sql::planned::{Scan, ScanRequest};
use crate::sql::rows::wrapped;
use crate::sql::{column, deadline, events, objects};

/// Rows that are sent on at once; a row may carry a long text.
const BATCH: usize = 1_024;

/// That a store's large tables are read by executors.
#[derive(Clone, Debug)]
pub(in crate::sql) struct Spread {
    /// The lake, as executors find it.
    pub(in crate::sql) lake: String,
    /// How long a statement may take.
    pub(in crate::sql) timeout: Duration,
}

/// What an executor reads. It is enforced here what a caller may see: rows of others
/// never leave the scan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::sql) struct Reading {
    /// The lake.
    pub(in crate::sql) lake: String,
    /// Versions of `events` and `objects` that the index of the executor has to know.
    pub(in crate::sql) versions: [i64; 2],
    /// What the caller may see.
    pub(in crate::sql) access: Access,
    /// `events` or `objects`.
    table: String,
    /// Columns by number.
    columns: Vec<usize>,
    /// Of each of these columns one of the values.
    words: Vec<(String, Vec<String>)>,
    /// Between these times.
    window: (Nanos, Nanos),
    /// Since 1970 in milliseconds: nobody waits for rows after that.
    until: u64,
}

/// A segment as it stands in a plan.
#[derive(Debug, Serialize, Deserialize)]
struct Listed {
    file: String,
    bytes: u64,
    window: (Nanos, Nanos),
}

/// Knows where an index of a lake is.
pub(in crate::sql) trait Lakes: std::fmt::Debug + Send + Sync {
    /// The tables of the lake, as far as its caller may see them.
    fn open(&self, reading: &Reading) -> std::result::Result<Arc<StoredTables>, Error>;
}

/// The index that the plan was made of, for plans that are run where they were made.
#[derive(Debug)]
struct Own(Arc<StoredTables>);

impl Lakes for Own {
    fn open(&self, _reading: &Reading) -> std::result::Result<Arc<StoredTables>, Error> {
        Ok(Arc::clone(&self.0))
    }
}

/// One of the two tables.
#[derive(Debug)]
pub(super) struct LakeTable {
    stored: Arc<StoredTables>,
    spread: Spread,
    table: Table,
    schema: SchemaRef,
}

impl LakeTable {
    pub(super) fn new(stored: &Arc<StoredTables>, spread: &Spread, table: Table) -> Self {
        Self {
            stored: Arc::clone(stored),
            spread: spread.clone(),
            table,
            schema: schema_of(table.as_str()),
        }
    }

    /// The segments that may hold a row within some bounds, and the versions they are of.
    fn chosen(&self, bounds: &ScanBounds) -> Result<(Vec<Segment>, [i64; 2])> {
        let chosen = self.stored.look(|snapshot| {
            let versions =
                [Table::Events, Table::Objects].map(|table| snapshot.lake_version(table));
            let mut chosen = Vec::new();
            if self.table == Table::Events {
                if !bounds.words.is_empty() {
                    snapshot.prefetch_filters(Table::Events, (bounds.from, bounds.to))?;
                }
                for segment in snapshot.segments(Table::Events) {
                    if may_match(snapshot, segment, bounds)? {
                        chosen.push(segment.clone());
                    }
                }
            }
            Ok((chosen, versions))
        });
        chosen.map_err(wrapped)
    }
}

fn schema_of(table: &str) -> SchemaRef {
    match table {
        "objects" => column::schema(objects::COLUMNS),
        _ => column::schema(events::COLUMNS),
    }
}

impl Scan for LakeTable {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn plan(&self, wanted: &ScanRequest<'_>) -> Result<Arc<dyn ExecutionPlan>> {
        let known: &[&str] = match self.table {
            Table::Events => EVENT_WORDS,
            Table::Objects => &["kind", "name"],
        };
        let bounds = ScanBounds::of(wanted.filters, known);
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let columns = wanted.projection.unwrap_or(&all);
        let (chosen, versions) = self.chosen(&bounds)?;
        let parts = match self.table {
            // Versions of one object lie in many segments, and end where the next one begins.
            Table::Objects => vec![Vec::new()],
            Table::Events if chosen.is_empty() => {
                let schema = Arc::new(self.schema.project(columns)?);
                return Ok(Arc::new(EmptyExec::new(schema)));
            }
            Table::Events => dealt(chosen, wanted.session.config().target_partitions()),
        };
        let mut tables = Vec::with_capacity(parts.len());
        for part in &parts {
            tables.push(vec![listed(part)?]);
        }
        let input = MemorySourceConfig::try_new_exec(&tables, list(), None)?;
        let reading = Reading {
            lake: self.spread.lake.clone(),
            versions,
            access: self.stored.access.clone(),
            table: self.table.as_str().to_owned(),
            columns: columns.clone(),
            words: bounds.words,
            window: (bounds.from, bounds.to),
            until: deadline::after(self.spread.timeout),
        };
        let lakes = Arc::new(Own(Arc::clone(&self.stored)));
        Ok(Arc::new(LakeRead::new(input, reading, lakes)?))
    }
}

/// Segments in parts of about the same size.
fn dealt(mut segments: Vec<Segment>, parts: usize) -> Vec<Vec<Segment>> {
    segments.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.file.cmp(&b.file)));
    let count = parts.clamp(1, segments.len().max(1));
    let mut dealt: Vec<(u64, Vec<Segment>)> = vec![(0, Vec::new()); count];
    for segment in segments {
        if let Some((bytes, part)) = dealt.iter_mut().min_by_key(|(bytes, _)| *bytes) {
            *bytes += segment.bytes.max(1);
            part.push(segment);
        }
    }
    dealt.into_iter().map(|(_, part)| part).collect()
}

/// The small table of segments in a plan.
fn list() -> SchemaRef {
    Arc::new(Schema::new(vec![Field::new(
        "segment",
        DataType::Utf8,
        false,
    )]))
}

fn listed(segments: &[Segment]) -> Result<RecordBatch> {
    let text = |segment: &Segment| {
        serde_json::to_string(&Listed {
            file: segment.file.clone(),
            bytes: segment.bytes,
            window: (segment.time_from, segment.time_to),
        })
    };
    let texts = segments.iter().map(text);
    let texts: std::result::Result<Vec<String>, _> = texts.collect();
    let texts = texts.map_err(|error| DataFusionError::External(Box::new(error)))?;
    Ok(RecordBatch::try_new(
        list(),
        vec![Arc::new(StringArray::from(texts))],
    )?)
}

fn segments_of(rows: &RecordBatch, into: &mut Vec<Segment>) -> Result<()> {
    for text in rows.column(0).as_string::<i32>().iter().flatten() {
        let Listed {
            file,
            bytes,
            window,
        } = serde_json::from_str(text).map_err(|error| DataFusionError::External(error.into()))?;
        into.push(Segment::of_lake(Table::Events, file, bytes, window));
    }
    Ok(())
}

/// Reads the rows of the segments that its input names.
#[derive(Debug)]
pub(in crate::sql) struct LakeRead {
    input: Arc<dyn ExecutionPlan>,
    reading: Arc<Reading>,
    lakes: Arc<dyn Lakes>,
    schema: SchemaRef,
    properties: Arc<PlanProperties>,
}

impl LakeRead {
    pub(in crate::sql) fn new(
        input: Arc<dyn ExecutionPlan>,
        reading: impl Into<Arc<Reading>>,
        lakes: Arc<dyn Lakes>,
    ) -> Result<Self> {
        let reading = reading.into();
        let schema = Arc::new(schema_of(&reading.table).project(&reading.columns)?);
        let properties = PlanProperties::new(
            EquivalenceProperties::new(Arc::clone(&schema)),
            datafusion::physical_plan::Partitioning::UnknownPartitioning(
                input.properties().partitioning.partition_count(),
            ),
            EmissionType::Incremental,
            Boundedness::Bounded,
        );
        Ok(Self {
            input,
            reading,
            lakes,
            schema,
            properties: Arc::new(properties),
        })
    }

    /// What it reads.
    pub(in crate::sql) fn reading(&self) -> &Reading {
        &self.reading
    }
}

impl DisplayAs for LakeRead {
    fn fmt_as(&self, _: DisplayFormatType, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "LakeRead: table={}", self.reading.table)
    }
}

impl ExecutionPlan for LakeRead {
    fn name(&self) -> &'static str {
        "LakeRead"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![&self.input]
    }

    // The list of segments is in the parts that it shall be in.
    fn benefits_from_input_partitioning(&self) -> Vec<bool> {
        vec![false]
    }

    fn apply_expressions(
        &self,
        _: &mut dyn FnMut(&Arc<dyn PhysicalExpr>) -> Result<TreeNodeRecursion>,
    ) -> Result<TreeNodeRecursion> {
        Ok(TreeNodeRecursion::Continue)
    }

    fn with_new_children(
        self: Arc<Self>,
        children: Vec<Arc<dyn ExecutionPlan>>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let [input] = <[_; 1]>::try_from(children)
            .map_err(|_| DataFusionError::Internal("LakeRead has one input".to_owned()))?;
        let (reading, lakes) = (Arc::clone(&self.reading), Arc::clone(&self.lakes));
        Ok(Arc::new(Self::new(input, reading, lakes)?))
    }

    fn execute(
        &self,
        partition: usize,
        context: Arc<TaskContext>,
    ) -> Result<SendableRecordBatchStream> {
        let mut rows = self.input.execute(partition, context)?;
        let mut stream = RecordBatchReceiverStream::builder(Arc::clone(&self.schema), 2);
        let out = stream.tx();
        let (reading, lakes) = (Arc::clone(&self.reading), Arc::clone(&self.lakes));
        stream.spawn(async move {
            let mut segments = Vec::new();
            while let Some(batch) = rows.next().await {
                segments_of(&batch?, &mut segments)?;
            }
            let read = move || reading.read(&*lakes, &segments, &out);
            let done = tokio::task::spawn_blocking(read).await;
            done.map_err(|error| DataFusionError::External(Box::new(error)))?
        });
        Ok(stream.build())
    }
}

impl Reading {
    /// Hands rows on until nobody wants more.
    fn read(
        &self,
        lakes: &dyn Lakes,
        segments: &[Segment],
        out: &Sender<Result<RecordBatch>>,
    ) -> Result<()> {
        let stored = lakes.open(self).map_err(wrapped)?;
        let mut is_late = false;
        let mut send = |rows: Result<RecordBatch>| {
            is_late = deadline::is_over(self.until, Duration::ZERO);
            // A closed channel is a reader that has enough.
            match !is_late && out.blocking_send(rows).is_ok() {
                true => ControlFlow::Continue(()),
                false => ControlFlow::Break(()),
            }
        };
        if self.table == Table::Objects.as_str() {
            self.objects(&stored, &mut send)?;
        } else if self.access.is_whole() {
            self.columns(&stored, segments, &mut send)?;
        } else {
            self.permitted(&stored, segments, &mut send)?;
        }
        if is_late {
            return Err(wrapped(Error::halted(
                "the statement took longer than it may",
                "narrow it with WHERE",
            )));
        }
        // Beside rows that come from many executors nothing can say that some are missing.
        match stored.damage().into_iter().find_map(|row| row.detail) {
            None => Ok(()),
            Some(why) => Err(wrapped(Error::halted(
                format!("part of the lake cannot be read: {why}"),
                "run the statement without Ballista to get the other rows",
            ))),
        }
    }

    /// Columns of whole segments.
    fn columns(
        &self,
        stored: &StoredTables,
        segments: &[Segment],
        send: &mut dyn FnMut(Result<RecordBatch>) -> ControlFlow<()>,
    ) -> Result<()> {
        let shown: SchemaRef = Arc::new(schema_of(&self.table).project(&self.columns)?);
        let read: SchemaRef = Arc::new(event_schema().project(&self.columns)?);
        let mut take = |rows: RecordBatch| {
            let rows = rows.with_schema(Arc::clone(&shown));
            send(rows.map_err(DataFusionError::from))
        };
        let done = stored.look(|snapshot| {
            Ok(snapshot.event_columns(segments, &read, &self.words, &mut take)?)
        });
        done.map_err(wrapped)
    }

    /// The facts that a restricted caller may see, filtered before the engine knows of them.
    fn permitted(
        &self,
        stored: &StoredTables,
        segments: &[Segment],
        send: &mut dyn FnMut(Result<RecordBatch>) -> ControlFlow<()>,
    ) -> Result<()> {
        let schema = schema_of(&self.table);
        let mut facts: Vec<Fact> = Vec::with_capacity(BATCH);
        let mut pass = |facts: &mut Vec<Fact>| {
            let rows = batch(facts, &schema);
            facts.clear();
            send(rows.and_then(|rows| Ok(rows.project(&self.columns)?)))
        };
        let done = stored.look(|snapshot| {
            let mut take = |fact: Fact| {
                facts.push(fact);
                match facts.len() < BATCH {
                    true => ControlFlow::Continue(()),
                    false => pass(&mut facts),
                }
            };
            Ok(snapshot.facts_of(segments, self.window, &mut take)?)
        });
        done.map_err(wrapped)?;
        if !facts.is_empty() {
            let _enough = pass(&mut facts);
        }
        Ok(())
    }

    /// Versions of objects, all at once.
    fn objects(
        &self,
        stored: &StoredTables,
        send: &mut dyn FnMut(Result<RecordBatch>) -> ControlFlow<()>,
    ) -> Result<()> {
        let of = |column: &str| {
            let mut words = self.words.iter();
            let found = words.find(|(name, _)| name == column);
            found.map(|(_, values)| values.as_slice())
        };
        let rows = objects::stored(stored, of("kind"), of("name")).map_err(wrapped)?;
        let schema = schema_of(&self.table);
        for rows in rows.chunks(BATCH) {
            let rows = column::batch(&schema, objects::COLUMNS, rows)?;
            if send(Ok(rows.project(&self.columns)?)).is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segments_are_dealt_out_once_and_evenly() {
        let segments: Vec<Segment> = (1..=20)
            .map(|n| Segment::of_lake(Table::Events, format!("f{n}"), n * 100, (0, 1)))
            .collect();
        let parts = dealt(segments.clone(), 4);
        let sums: Vec<u64> = parts
            .iter()
            .map(|part| part.iter().map(|one| one.bytes).sum())
            .collect();
        assert_eq!(parts.len(), 4);
        assert_eq!(parts.iter().map(Vec::len).sum::<usize>(), 20);
        let (least, most) = (sums.iter().min().unwrap(), sums.iter().max().unwrap());
        assert!(most - least <= 2_000, "{sums:?}");
        assert_eq!(dealt(segments[..2].to_vec(), 16).len(), 2);
    }

    #[test]
    fn a_list_of_segments_comes_back_as_it_was_sent() {
        let segments = vec![
            Segment::of_lake(Table::Events, "events/a b.parquet".to_owned(), 7, (-1, 9)),
            Segment::of_lake(
                Table::Events,
                "events/c.parquet".to_owned(),
                8,
                (3, i64::MAX),
            ),
        ];
        let mut back = Vec::new();
        segments_of(&listed(&segments).unwrap(), &mut back).unwrap();
        assert_eq!(back, segments);
    }
}
