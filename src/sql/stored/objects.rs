//! The table `objects` of a store: read whole, or by the names that a filter asks for.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use super::StoredTables;
use super::pruning::ScanBounds;
use crate::error::Error;
use crate::sql::column;
use crate::sql::objects::{COLUMNS, ObjectRow, stored};
use crate::sql::rows::{RowSource, table};

/// All versions of objects of a store.
#[derive(Debug)]
pub(super) struct Objects {
    stored: Arc<StoredTables>,
    schema: SchemaRef,
}

/// A store and the names of objects that a scan wants.
struct ObjectScan {
    stored: Arc<StoredTables>,
    names: Option<Vec<String>>,
}

impl Objects {
    pub(super) fn new(stored: &Arc<StoredTables>) -> Self {
        Self {
            stored: Arc::clone(stored),
            schema: column::schema(COLUMNS),
        }
    }
}

fn load(named: &ObjectScan) -> Result<Vec<ObjectRow>, Error> {
    stored(&named.stored, named.names.as_deref())
}

impl TableProvider for Objects {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
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
        let bounds = ScanBounds::of(filters, &["name"]);
        let named = Arc::new(ObjectScan {
            stored: Arc::clone(&self.stored),
            names: bounds.words.into_iter().next().map(|(_, names)| names),
        });
        Box::pin(async move {
            table(COLUMNS, &named, RowSource::Load(load))?
                .scan(session, projection, &[], limit)
                .await
        })
    }

    fn supports_filters_pushdown(
        &self,
        filters: &[&Expr],
    ) -> Result<Vec<TableProviderFilterPushDown>> {
        Ok(vec![TableProviderFilterPushDown::Inexact; filters.len()])
    }
}
