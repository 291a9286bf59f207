//! The table `objects` of a store: read whole, or by the names that a filter asks for.

use std::sync::Arc;

use datafusion::arrow::datatypes::SchemaRef;
use datafusion::error::Result;
use datafusion::physical_plan::ExecutionPlan;

use super::StoredTables;
use super::pruning::ScanBounds;
use crate::error::Error;
use crate::sql::column;
use crate::sql::objects::{COLUMNS, ObjectRow, stored};
use crate::sql::planned::{Scan, ScanRequest};
use crate::sql::rows::{RowSource, scan};

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

impl Scan for Objects {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn plan(&self, wanted: &ScanRequest<'_>) -> Result<Arc<dyn ExecutionPlan>> {
        let bounds = ScanBounds::of(wanted.filters, &["name"]);
        let named = Arc::new(ObjectScan {
            stored: Arc::clone(&self.stored),
            names: bounds.words.into_iter().next().map(|(_, names)| names),
        });
        scan(COLUMNS, &named, RowSource::Load(load), wanted)
    }
}
