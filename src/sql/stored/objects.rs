//! The table `objects` of a store: read whole, or by the kinds and names that a filter asks for.

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

/// A store and the kinds and names of objects that a scan wants.
struct ObjectScan {
    stored: Arc<StoredTables>,
    kinds: Option<Vec<String>>,
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
    stored(
        &named.stored,
        named.kinds.as_deref(),
        named.names.as_deref(),
    )
}

impl Scan for Objects {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn plan(&self, wanted: &ScanRequest<'_>) -> Result<Arc<dyn ExecutionPlan>> {
        let bounds = ScanBounds::of(wanted.filters, &["kind", "name"]);
        let of = |column: &str| {
            let mut words = bounds.words.iter();
            let found = words.find(|(name, _)| name == column);
            found.map(|(_, values)| values.clone())
        };
        let named = Arc::new(ObjectScan {
            stored: Arc::clone(&self.stored),
            kinds: of("kind"),
            names: of("name"),
        });
        scan(COLUMNS, &named, RowSource::Load(load), wanted)
    }
}
