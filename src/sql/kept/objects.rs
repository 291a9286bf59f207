//! The table `objects` of a store: read whole, or by the names that a filter asks for.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;

use super::Kept;
use super::words::Bounds;
use crate::error::Error;
use crate::sql::cell;
use crate::sql::objects::{COLUMNS, Held, kept};
use crate::sql::rows::{Fill, table};

/// All versions of objects of a store.
#[derive(Debug)]
pub(super) struct Objects {
    kept: Arc<Kept>,
    schema: SchemaRef,
}

/// A store and the names of objects that a scan wants.
struct Named {
    kept: Arc<Kept>,
    names: Option<Vec<String>>,
}

impl Objects {
    pub(super) fn new(kept: &Arc<Kept>) -> Self {
        Self {
            kept: Arc::clone(kept),
            schema: cell::schema(COLUMNS),
        }
    }
}

fn load(named: &Named) -> Result<Vec<Held>, Error> {
    kept(&named.kept, named.names.as_deref())
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
        let bounds = Bounds::of(filters, &["name"]);
        let named = Arc::new(Named {
            kept: Arc::clone(&self.kept),
            names: bounds.words.into_iter().next().map(|(_, names)| names),
        });
        Box::pin(async move {
            table(COLUMNS, &named, Fill::Load(load))?
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
