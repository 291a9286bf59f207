//! What a segment's footer says of its row groups and pages: which of them may hold what is looked for, and how many bytes
//! they are.

use std::collections::BTreeSet;
use std::ops::{Bound, Range};

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::RowSelection;
use parquet::file::metadata::ParquetMetaData;
use parquet::file::page_index::column_index::ColumnIndexMetaData;

/// Where a column stands among all.
pub(super) fn column_of(metadata: &ParquetMetaData, name: &str) -> Option<usize> {
    let columns = metadata.file_metadata().schema_descr().columns();
    columns
        .iter()
        .position(|column| column.path().string() == name)
}

/// The bytes that are read of some row groups for a selection of their rows.
pub(super) fn read_of(
    metadata: &ParquetMetaData,
    groups: &[usize],
    selection: &RowSelection,
    mask: &ProjectionMask,
) -> Vec<Range<u64>> {
    let mut ranges = Vec::new();
    let mut first = 0;
    let mut kept: Vec<Range<usize>> = Vec::new();
    for one in selection.iter() {
        if !one.skip {
            kept.push(first..first + one.row_count);
        }
        first += one.row_count;
    }
    let mut before = 0;
    for number in groups {
        let group = metadata.row_group(*number);
        let rows = usize::try_from(group.num_rows()).unwrap_or(0);
        for (column, chunk) in group.columns().iter().enumerate() {
            if !mask.leaf_included(column) {
                continue;
            }
            let (start, len) = chunk.byte_range();
            let pages = metadata
                .offset_index()
                .and_then(|index| index.get(*number)?.get(column));
            let Some(pages) = pages
                .map(parquet::file::page_index::offset_index::OffsetIndexMetaData::page_locations)
            else {
                ranges.push(start..start + len);
                continue;
            };
            let at = |row: i64| before + usize::try_from(row).unwrap_or(0);
            for (page, located) in pages.iter().enumerate() {
                let from = u64::try_from(located.offset).unwrap_or(start);
                if page == 0 && from > start {
                    // The dictionary.
                    ranges.push(start..from);
                }
                let next = pages
                    .get(page + 1)
                    .map_or(before + rows, |next| at(next.first_row_index));
                let (first, end) = (at(located.first_row_index), next);
                if kept.iter().any(|run| run.start < end && first < run.end) {
                    let size = u64::try_from(located.compressed_page_size).unwrap_or(0);
                    ranges.push(from..from + size);
                }
            }
        }
        before += rows;
    }
    ranges
}

/// A row group is of one class.
pub(super) fn class_of(metadata: &ParquetMetaData, group: usize, column: usize) -> Option<i32> {
    let index = metadata.column_index()?.get(group)?.get(column)?;
    let ColumnIndexMetaData::INT32(index) = index else {
        return None;
    };
    index.min_values().first().copied()
}

/// Each page's rows, and whether a wanted subject may be among them.
pub(super) fn pages(
    metadata: &ParquetMetaData,
    group: usize,
    column: usize,
    wanted: &BTreeSet<&str>,
    rows: usize,
) -> Vec<(usize, bool)> {
    let index = metadata
        .column_index()
        .and_then(|index| index.get(group)?.get(column));
    let offsets = metadata
        .offset_index()
        .and_then(|index| index.get(group)?.get(column));
    let (Some(ColumnIndexMetaData::BYTE_ARRAY(index)), Some(offsets)) = (index, offsets) else {
        return vec![(rows, true)];
    };
    let starts: Vec<usize> = offsets
        .page_locations()
        .iter()
        .map(|page| usize::try_from(page.first_row_index).unwrap_or(0))
        .collect();
    (0..starts.len())
        .map(|page| {
            let start = starts.get(page).copied().unwrap_or(0);
            let end = starts.get(page + 1).copied().unwrap_or(rows);
            let (min, max) = (index.min_value(page), index.max_value(page));
            let keep = match (min, max) {
                // The first one that is not before the page may be in it; the others are behind that.
                (Some(min), Some(max)) => match std::str::from_utf8(min) {
                    Ok(min) => {
                        let mut from =
                            wanted.range::<str, _>((Bound::Included(min), Bound::Unbounded));
                        from.next().is_some_and(|one| one.as_bytes() <= max)
                    }
                    Err(_) => wanted
                        .iter()
                        .any(|one| min <= one.as_bytes() && one.as_bytes() <= max),
                },
                _ => true,
            };
            (end.saturating_sub(start), keep)
        })
        .collect()
}
