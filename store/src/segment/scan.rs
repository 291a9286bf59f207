//! Columns of a shared segment, for engines that make no rows of them.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use arrow_array::RecordBatch;
use arrow_schema::SchemaRef;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};
use parquet::file::metadata::{PageIndexPolicy, ParquetMetaData};
use parquet::file::reader::Length as _;

use super::VerifiedFile;
use super::pages::{class_of, column_of, pages, read_of};
use super::read::Decoder;
use crate::error::StoreError;
use crate::record::Record;
use crate::shared_columns::{beside, from_shared};

/// Rows of a batch.
const BATCH: usize = 8_192;

/// Gives some columns of a segment, `schema`, batch by batch until `take` has enough. Of
/// each of `words`, a column and its values, rows of pages that cannot have one are left out.
pub(crate) fn columns<R: Record>(
    file: VerifiedFile,
    schema: &SchemaRef,
    words: &[(String, Vec<String>)],
    take: &mut dyn FnMut(RecordBatch) -> ControlFlow<()>,
) -> Result<ControlFlow<()>, StoreError> {
    let path = &file.path().to_owned();
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Optional);
    let metadata = ArrowReaderMetadata::load(&file, options).map_err(StoreError::segment(path))?;
    let decoder = Decoder::of(&file, metadata.metadata());
    let (groups, selection) = select(metadata.metadata(), words, None);
    if groups.is_empty() {
        return Ok(ControlFlow::Continue(()));
    }
    // What was redacted under fewer rules is redacted as rows, of which all columns are wanted.
    let mask = match decoder.is_old() {
        true => ProjectionMask::all(),
        false => {
            let wanted = schema.fields().iter().map(|field| field.name().clone());
            let times = schema.fields().iter().map(|field| beside(field.name()));
            let names: Vec<String> = wanted.chain(times).collect();
            let leaves = (0..metadata.parquet_schema().num_columns()).filter(|leaf| {
                let column = metadata.parquet_schema().column(*leaf);
                let root = column.path().parts().first();
                root.is_some_and(|root| names.contains(root))
            });
            ProjectionMask::leaves(metadata.parquet_schema(), leaves)
        }
    };
    let wanted = read_of(metadata.metadata(), &groups, &selection, &mask);
    file.prefetch(
        wanted
            .into_iter()
            .filter(|range| range.end <= file.len())
            .collect(),
    )?;
    let of = file.clone();
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
        .with_projection(mask)
        .with_row_groups(groups)
        .with_row_selection(selection)
        .with_batch_size(BATCH)
        .build()
        .map_err(StoreError::segment(path))?;
    for batch in reader {
        let batch = batch.map_err(|error| StoreError::damaged(path, error))?;
        let damaged = |why: String| StoreError::damaged(path, why);
        let made = match decoder.is_old() {
            true => {
                let rows = decoder.rows::<R>(&batch).map_err(damaged)?;
                let places: Vec<_> = rows.iter().map(Record::place).collect();
                let rows: Vec<&R> = rows.iter().collect();
                let whole =
                    R::batch(&rows, &places).map_err(|error| StoreError::damaged(path, error))?;
                from_shared(&whole, None, schema).map_err(damaged)?
            }
            false => from_shared(&batch, of.shared().flatten(), schema).map_err(damaged)?,
        };
        if take(made).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    Ok(ControlFlow::Continue(()))
}

/// Row groups and rows that may have one of the values of each column; of a class alone, where one is named.
pub(super) fn select(
    metadata: &ParquetMetaData,
    words: &[(String, Vec<String>)],
    class: Option<i32>,
) -> (Vec<usize>, RowSelection) {
    let (mut groups, mut selectors) = (Vec::new(), Vec::<RowSelector>::new());
    let of_class = class.zip(column_of(metadata, "class"));
    for number in 0..metadata.num_row_groups() {
        let is_other = |(class, column): (i32, usize)| {
            class_of(metadata, number, column).is_some_and(|own| own != class)
        };
        if of_class.is_some_and(is_other) {
            continue;
        }
        let rows = usize::try_from(metadata.row_group(number).num_rows()).unwrap_or(0);
        let mut kept = RowSelection::from(vec![RowSelector::select(rows)]);
        for (name, values) in words {
            let Some(column) = column_of(metadata, name) else {
                continue;
            };
            let values: BTreeSet<&str> = values.iter().map(String::as_str).collect();
            let pages = pages(metadata, number, column, &values, rows);
            let pages: Vec<RowSelector> = pages
                .into_iter()
                .map(|(count, keep)| match keep {
                    true => RowSelector::select(count),
                    false => RowSelector::skip(count),
                })
                .collect();
            kept = kept.intersection(&RowSelection::from(pages));
        }
        if kept.selects_any() {
            groups.push(number);
            // All rows of a group are told of, so that the next begins where it should.
            let covered: usize = kept.iter().map(|one| one.row_count).sum();
            selectors.extend(kept.iter().copied());
            if covered < rows {
                selectors.push(RowSelector::skip(rows - covered));
            }
        }
    }
    (groups, RowSelection::from(selectors))
}
