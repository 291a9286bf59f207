//! The columns of the tables of a lake.

use std::sync::{Arc, LazyLock};

use arrow_schema::{DataType, Field, Schema, SchemaRef};

use super::index_tables;
use crate::shared_columns::{CLUSTER, shared};

/// By what every table is partitioned.
pub(super) const PARTITIONS: [&str; 2] = [CLUSTER, DAY];
/// The column of the day in UTC that a row begins in.
pub(super) const DAY: &str = "day";

/// The columns of a table's files; nothing where there is no such table.
pub(super) fn in_files(table: &str) -> SchemaRef {
    static EVENTS: LazyLock<SchemaRef> = LazyLock::new(|| shared(&crate::columns::schema()));
    static OBJECTS: LazyLock<SchemaRef> =
        LazyLock::new(|| shared(&crate::object_columns::schema()));
    match table {
        "events" => Arc::clone(&EVENTS),
        "objects" => Arc::clone(&OBJECTS),
        kept => index_tables::schema(kept),
    }
}

/// The columns of a table as those see it who query it: the partitions come last.
pub(super) fn of_table(table: &str) -> Schema {
    let mut fields: Vec<Field> = in_files(table)
        .fields()
        .iter()
        .map(|field| Field::clone(field))
        .collect();
    fields.push(Field::new(CLUSTER, DataType::Utf8, true));
    fields.push(Field::new(DAY, DataType::Date32, true));
    Schema::new(fields)
}
