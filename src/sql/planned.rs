//! Tables that plan their scans without waiting for anything.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

/// What a scan is asked for.
pub(super) struct ScanRequest<'a> {
    pub(super) session: &'a dyn Session,
    /// Columns by number; all where nothing is said.
    pub(super) projection: Option<&'a Vec<usize>>,
    pub(super) filters: &'a [Expr],
    /// Rows of which no more are needed.
    pub(super) limit: Option<usize>,
}

/// Knows how the rows of a table are read.
pub(super) trait Scan: Debug + Send + Sync + 'static {
    /// The columns of the table.
    fn schema(&self) -> &SchemaRef;

    /// Says what reads the rows. It may read more than the filters let through.
    fn plan(&self, wanted: &ScanRequest<'_>) -> Result<Arc<dyn ExecutionPlan>>;

    /// Whether a filter may spare something.
    fn helps(&self, _filter: &Expr) -> bool {
        true
    }
}

/// A table over a scan.
#[derive(Debug)]
pub(super) struct Planned<S>(pub(super) S);

impl<S: Scan> TableProvider for Planned<S> {
    fn schema(&self) -> SchemaRef {
        Arc::clone(self.0.schema())
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    // What `async_trait` would write.
    fn scan<'a, 'b, 'c, 'd, 'out>(
        &'a self,
        session: &'b dyn Session,
        projection: Option<&'c Vec<usize>>,
        filters: &'d [Expr],
        limit: Option<usize>,
    ) -> Pin<Box<dyn Future<Output = Result<Arc<dyn ExecutionPlan>>> + Send + 'out>>
    where
        'a: 'out,
        'b: 'out,
        'c: 'out,
        'd: 'out,
        Self: 'out,
    {
        let plan = self.0.plan(&ScanRequest {
            session,
            projection,
            filters,
            limit,
        });
        Box::pin(std::future::ready(plan))
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        let use_of = |filter: &&Expr| {
            if self.0.helps(filter) {
                TableProviderFilterPushDown::Inexact
            } else {
                TableProviderFilterPushDown::Unsupported
            }
        };
        Ok(filters.iter().map(use_of).collect())
    }
}
