//! What there is, in an order that is the same in every process.
//!
//! The catalogue numbers tables as it comes upon them. A client asks for a table's
//! number with one statement and for its columns with the next, which another process
//! answers: so all must come upon the tables alike.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::CatalogProviderList;
use datafusion::datasource::TableType;
use datafusion::error::Result;
use datafusion_pg_catalog::pg_catalog::catalog_info::CatalogInfo;

/// Catalogues, schemas and tables in order of their names.
#[derive(Clone, Debug)]
pub(super) struct Ordered(pub(super) Arc<dyn CatalogProviderList>);

fn ordered(mut names: Vec<String>) -> Vec<String> {
    names.sort_unstable();
    names
}

#[async_trait]
impl CatalogInfo for Ordered {
    async fn catalog_names(&self) -> Result<Vec<String>> {
        Ok(ordered(CatalogInfo::catalog_names(&self.0).await?))
    }

    async fn schema_names(&self, catalog: &str) -> Result<Option<Vec<String>>> {
        let names = CatalogInfo::schema_names(&self.0, catalog).await?;
        Ok(names.map(ordered))
    }

    async fn table_names(&self, catalog: &str, schema: &str) -> Result<Option<Vec<String>>> {
        let names = CatalogInfo::table_names(&self.0, catalog, schema).await?;
        Ok(names.map(ordered))
    }

    async fn table_schema(
        &self,
        catalog: &str,
        schema: &str,
        table: &str,
    ) -> Result<Option<SchemaRef>> {
        CatalogInfo::table_schema(&self.0, catalog, schema, table).await
    }

    async fn table_type(
        &self,
        catalog: &str,
        schema: &str,
        table: &str,
    ) -> Result<Option<TableType>> {
        let kind = CatalogInfo::table_type(&self.0, catalog, schema, table).await?;
        // Clients that look for tables leave out views, and nobody writes to either.
        let own = schema == "public";
        Ok(kind.map(|kind| if own { TableType::Base } else { kind }))
    }
}
