//! `whathappened rules columns`

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::arrow::error::ArrowError;

use crate::cli::OutputArgs;
use crate::commands::common;
use crate::error::Error;
use crate::explain::{PLACEHOLDERS, tables, views};
use crate::render;
use crate::sql::{DESCRIPTION, type_name};

/// Prints what a rule can read and what its summary can name.
pub(super) fn run(output: &OutputArgs) -> Result<(), Error> {
    let batch = rows().map_err(datafusion::error::DataFusionError::from)?;
    let style = common::style(output);
    render::rows(
        &batch.schema(),
        &[batch],
        output.format,
        &style,
        &mut std::io::stdout().lock(),
    )?;
    Ok(())
}

fn rows() -> Result<RecordBatch, ArrowError> {
    let mut rows: Vec<[String; 4]> = Vec::new();
    let own = |text: &str| text.to_owned();
    for (table, schema) in [
        ("deaths", tables::deaths_schema()),
        ("links", tables::links_schema()),
    ] {
        for field in schema.fields() {
            let meaning = field.metadata().get(DESCRIPTION).cloned();
            rows.push([
                own(table),
                field.name().clone(),
                own(type_name(field.data_type())),
                meaning.unwrap_or_default(),
            ]);
        }
    }
    for (view, meaning) in views() {
        rows.push([own(view), own("*"), own("view"), meaning]);
    }
    for (placeholder, meaning) in PLACEHOLDERS {
        let name = format!("{{{placeholder}}}");
        rows.push([own("summary, advice"), name, own("text"), own(meaning)]);
    }
    let column = |at: usize| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            rows.iter()
                .map(|row| row.get(at).map_or("", String::as_str)),
        ))
    };
    RecordBatch::try_from_iter([
        ("table", column(0)),
        ("column", column(1)),
        ("type", column(2)),
        ("meaning", column(3)),
    ])
}
