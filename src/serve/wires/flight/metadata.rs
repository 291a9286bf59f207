//! What there is, for clients that list it.

use arrow_flight::error::FlightError;
use arrow_flight::sql::metadata::{SqlInfoData, SqlInfoDataBuilder};
use arrow_flight::sql::{CommandGetDbSchemas, CommandGetTables, SqlInfo};
use datafusion::arrow::array::{RecordBatch, StringArray};
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use std::sync::Arc;

use crate::sql::tables;

/// The database and the schema that the tables are in.
const CATALOG: &str = "datafusion";
const SCHEMA: &str = "public";
/// What they are.
const KIND: &str = "TABLE";

type Batch = Result<RecordBatch, FlightError>;

/// The one database.
pub(super) fn catalogs() -> Batch {
    one_column("catalog_name", CATALOG)
}

/// The one kind of table.
pub(super) fn kinds() -> Batch {
    one_column("table_type", KIND)
}

fn one_column(name: &str, value: &str) -> Batch {
    let schema = Schema::new(vec![Field::new(name, DataType::Utf8, false)]);
    let column = Arc::new(StringArray::from(vec![value.to_owned()]));
    Ok(RecordBatch::try_new(Arc::new(schema), vec![column])?)
}

/// The one schema, where it is what is looked for.
pub(super) fn schemas(query: CommandGetDbSchemas) -> Batch {
    let mut all = query.into_builder();
    all.append(CATALOG, SCHEMA);
    all.build()
}

/// The tables that are looked for; functions are none.
pub(super) fn listed(query: CommandGetTables) -> Batch {
    let mut all = query.into_builder();
    for table in tables().into_iter().filter(|table| !table.is_function) {
        all.append(CATALOG, SCHEMA, table.name, KIND, &table.schema)?;
    }
    all.build()
}

/// What the service can do.
pub(super) fn abilities() -> Result<SqlInfoData, FlightError> {
    let mut all = SqlInfoDataBuilder::new();
    all.append(SqlInfo::FlightSqlServerName, "whathappened");
    all.append(SqlInfo::FlightSqlServerVersion, env!("CARGO_PKG_VERSION"));
    all.append(SqlInfo::FlightSqlServerArrowVersion, "1.3");
    all.append(SqlInfo::FlightSqlServerReadOnly, true);
    all.append(SqlInfo::FlightSqlServerSql, true);
    all.append(SqlInfo::FlightSqlServerSubstrait, false);
    // None: every statement reads what there is when it runs.
    all.append(SqlInfo::FlightSqlServerTransaction, 0_i32);
    all.append(SqlInfo::SqlIdentifierQuoteChar, "\"");
    all.build()
}
