//! The table `events` of a store: live segments, and the rows of the hot tier.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::{Schema, SchemaRef};
use datafusion::catalog::Session;
use datafusion::common::DFSchema;
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::{FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::error::Result as DataFusionResult;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::union::UnionExec;
use datafusion::prelude::{col, lit};
use whathappened_store::{EVENT_WORDS, Fact, Segment, Snapshot, Table, event_batch, filter_key};

use super::StoredTables;
use super::pruning::ScanBounds;
use crate::error::Error;
use crate::sql::column;
use crate::sql::events::COLUMNS;
use crate::sql::planned::{Scan, ScanRequest};
use crate::sql::rows::wrapped;

/// All facts of a store.
#[derive(Debug)]
pub(in crate::sql) struct Events {
    segments: Arc<dyn Segments>,
    /// Reads the same rows one by one, and redacts them.
    redacting: Option<Arc<dyn Scan>>,
    schema: SchemaRef,
}

/// Knows which files a scan has to read.
pub(in crate::sql) trait Segments: std::fmt::Debug + Send + Sync {
    /// Those that may hold a row within some bounds.
    fn choose(&self, bounds: &ScanBounds) -> Result<ScanFiles, Error>;
}

/// A file of a scan.
pub(in crate::sql) struct File {
    /// Its path on the store that it is on.
    pub(in crate::sql) path: String,
    /// Its size.
    pub(in crate::sql) bytes: u64,
    /// Ids in it that a newer row stands in for.
    pub(in crate::sql) without: Vec<String>,
}

/// What one scan reads.
pub(in crate::sql) struct ScanFiles {
    /// What the files are on.
    pub(in crate::sql) on: ObjectStoreUrl,
    /// The files.
    pub(in crate::sql) files: Vec<File>,
    /// Rows that are in no file yet.
    pub(in crate::sql) hot: Vec<Fact>,
    /// Texts in one of the files were redacted under fewer rules than now.
    pub(in crate::sql) outdated: bool,
}

impl Events {
    pub(in crate::sql) fn new(segments: Arc<dyn Segments>) -> Self {
        Self {
            segments,
            redacting: None,
            schema: column::schema(COLUMNS),
        }
    }

    /// The same, where files that were redacted under fewer rules are read by `scan`.
    pub(super) fn redacted_by(self, scan: impl Scan + 'static) -> Self {
        let redacting = Some(Arc::new(scan) as Arc<dyn Scan>);
        Self { redacting, ..self }
    }

    fn scan_files(
        &self,
        session: &dyn Session,
        on: &ObjectStoreUrl,
        files: &[File],
        projection: &[usize],
        limit: Option<usize>,
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        let source = ParquetSource::new(Arc::clone(&self.schema))
            .with_table_parquet_options(session.table_options().parquet.clone())
            .with_pushdown_filters(true)
            .with_reorder_filters(true)
            .with_enable_page_index(true);
        let mut builder = FileScanConfigBuilder::new(on.clone(), Arc::new(source))
            .with_projection_indices(Some(projection.to_vec()))?
            .with_limit(limit);
        for file in files {
            builder = builder.with_file(PartitionedFile::new(file.path.clone(), file.bytes));
        }
        Ok(DataSourceExec::from_data_source(builder.build()))
    }

    /// Rows of a segment whose newer copies are hot are left out.
    fn without(
        &self,
        session: &dyn Session,
        scan: Arc<dyn ExecutionPlan>,
        ids: &[String],
        projection: &[usize],
    ) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        let listed = ids.iter().map(lit).collect();
        let schema = DFSchema::try_from(Schema::clone(&self.schema))?;
        let keep = session.create_physical_expr(col("id").in_list(listed, true), &schema)?;
        let stored = Arc::new(FilterExec::try_new(keep, scan)?);
        let columns: Vec<_> = projection
            .iter()
            .filter_map(|index| {
                let field = self.schema.fields().get(*index)?;
                let column =
                    datafusion::physical_expr::expressions::Column::new(field.name(), *index);
                Some((
                    Arc::new(column) as Arc<dyn datafusion::physical_expr::PhysicalExpr>,
                    field.name().clone(),
                ))
            })
            .collect();
        Ok(Arc::new(ProjectionExec::try_new(columns, stored)?))
    }
}

impl Scan for Events {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    // The optimizer hands the whole filter to the scan of the files by itself.
    fn plan(&self, wanted: &ScanRequest<'_>) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
        let session = wanted.session;
        let bounds = ScanBounds::of(wanted.filters, EVENT_WORDS);
        let chosen = self.segments.choose(&bounds).map_err(wrapped)?;
        let ScanFiles {
            on,
            files,
            hot,
            outdated,
        } = chosen;
        if let Some(redacting) = self.redacting.as_ref().filter(|_| outdated) {
            return redacting.plan(wanted);
        }
        let all: Vec<usize> = (0..self.schema.fields().len()).collect();
        let projection = wanted.projection.unwrap_or(&all);
        let mut parts: Vec<Arc<dyn ExecutionPlan>> = Vec::new();
        let (whole, partly): (Vec<File>, Vec<File>) =
            files.into_iter().partition(|file| file.without.is_empty());
        if !whole.is_empty() {
            parts.push(self.scan_files(session, &on, &whole, projection, wanted.limit)?);
        }
        for file in partly {
            let scan = self.scan_files(session, &on, std::slice::from_ref(&file), &all, None)?;
            parts.push(self.without(session, scan, &file.without, projection)?);
        }
        if !hot.is_empty() {
            let rows = batch(&hot, &self.schema)?;
            parts.push(MemorySourceConfig::try_new_exec(
                &[vec![rows]],
                Arc::clone(&self.schema),
                Some(projection.clone()),
            )?);
        }
        match parts.len() {
            0 => Ok(Arc::new(EmptyExec::new(Arc::new(
                self.schema.project(projection)?,
            )))),
            1 => Ok(parts.remove(0)),
            _ => UnionExec::try_new(parts),
        }
    }
}

impl Segments for StoredTables {
    fn choose(&self, bounds: &ScanBounds) -> Result<ScanFiles, Error> {
        // Paths in a plan must not depend on where the program was started.
        let root = self.root().canonicalize().map_err(|error| Error::Io {
            path: self.root().display().to_string(),
            error,
        })?;
        self.look(|snapshot| {
            let mut replaced: BTreeMap<i64, Vec<String>> = BTreeMap::new();
            for (segment, id) in snapshot.replaced(Table::Events)? {
                let ids = replaced.entry(segment).or_default();
                ids.push(format!("{id:032x}"));
            }
            let mut files = Vec::new();
            let mut outdated = false;
            for segment in snapshot.segments(Table::Events) {
                if may_match(snapshot, segment, bounds)? && self.is_whole(snapshot, segment)? {
                    outdated |= self.is_outdated(snapshot, segment)?;
                    files.push(File {
                        path: segment.path(&root).to_string_lossy().into_owned(),
                        bytes: segment.bytes,
                        without: replaced.remove(&segment.id).unwrap_or_default(),
                    });
                }
            }
            Ok(ScanFiles {
                on: ObjectStoreUrl::local_filesystem(),
                files,
                hot: snapshot.hot_facts()?,
                outdated,
            })
        })
    }
}

/// Facts as rows of the table, which has fewer columns than the files.
pub(super) fn batch(facts: &[Fact], schema: &SchemaRef) -> DataFusionResult<RecordBatch> {
    let shown: Vec<usize> = (0..schema.fields().len()).collect();
    let rows = event_batch(facts).map_err(|error| wrapped(error.into()))?;
    Ok(rows
        .project(&shown)
        .and_then(|rows| rows.with_schema(Arc::clone(schema)))?)
}

pub(super) fn may_match(
    snapshot: &Snapshot<'_>,
    segment: &Segment,
    bounds: &ScanBounds,
) -> Result<bool, Error> {
    if segment.time_from > bounds.to || segment.time_to < bounds.from {
        return Ok(false);
    }
    for (column, values) in &bounds.words {
        let keys: Vec<i64> = values
            .iter()
            .map(|value| filter_key(column, value))
            .collect();
        if !snapshot.may_hold(segment, &keys)? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::SessionContext;

    use super::*;

    /// One file, of which it is known whether it has to be redacted.
    #[derive(Debug)]
    struct OneFile(bool);

    impl Segments for OneFile {
        fn choose(&self, _bounds: &ScanBounds) -> Result<ScanFiles, Error> {
            Ok(ScanFiles {
                on: ObjectStoreUrl::local_filesystem(),
                files: vec![File {
                    path: "/a.parquet".to_owned(),
                    bytes: 1,
                    without: Vec::new(),
                }],
                hot: Vec::new(),
                outdated: self.0,
            })
        }
    }

    /// Stands for what reads rows one by one.
    #[derive(Debug)]
    struct Redacting(SchemaRef);

    impl Scan for Redacting {
        fn schema(&self) -> &SchemaRef {
            &self.0
        }

        fn plan(&self, _wanted: &ScanRequest<'_>) -> DataFusionResult<Arc<dyn ExecutionPlan>> {
            Ok(Arc::new(EmptyExec::new(Arc::clone(&self.0))))
        }
    }

    #[test]
    fn files_that_were_redacted_under_fewer_rules_are_not_read_as_they_are() {
        let session = SessionContext::new().state();
        let read_by = |outdated| {
            let events = Events::new(Arc::new(OneFile(outdated)));
            let schema = Arc::clone(&events.schema);
            let events = events.redacted_by(Redacting(schema));
            let wanted = ScanRequest {
                session: &session,
                projection: None,
                filters: &[],
                limit: None,
            };
            events.plan(&wanted).unwrap().name().to_owned()
        };
        assert_eq!(read_by(false), "DataSourceExec");
        assert_eq!(read_by(true), "EmptyExec");
    }
}
