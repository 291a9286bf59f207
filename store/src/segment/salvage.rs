//! What can still be read of a damaged segment.

use std::ops::Range;

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReaderBuilder, RowSelection,
    RowSelector,
};
use parquet::file::metadata::PageIndexPolicy;

use super::VerifiedFile;
use super::read::{BATCH, Decoder};
use crate::columns::{Reader, id};
use crate::error::StoreError;
use crate::record::Record;

/// Rows that are given up together where nothing smaller can be read.
const GIVEN_UP: usize = 64;

/// What can still be read of a segment, however little of it that is.
pub(crate) struct Salvage {
    file: VerifiedFile,
    metadata: ArrowReaderMetadata,
}

impl Salvage {
    pub(crate) fn open(file: &VerifiedFile) -> Result<Self, StoreError> {
        let load = |policy| {
            let options = ArrowReaderOptions::new().with_page_index_policy(policy);
            ArrowReaderMetadata::load(file, options)
        };
        let metadata = load(PageIndexPolicy::Optional)
            .or_else(|_| load(PageIndexPolicy::Skip))
            .map_err(StoreError::segment(file.path()))?;
        Ok(Self {
            file: file.clone(),
            metadata,
        })
    }

    /// How many rows there were.
    pub(crate) fn total(&self) -> u64 {
        let total = self.metadata.metadata().file_metadata().num_rows();
        u64::try_from(total).unwrap_or(0)
    }

    /// The rows of which every column can be read.
    pub(crate) fn rows<R: Record>(&self, take: &mut dyn FnMut(R)) {
        let decoder = Decoder::of(&self.file, self.metadata.metadata());
        self.all(
            &ProjectionMask::all(),
            &|batch| decoder.rows::<R>(batch),
            take,
        );
    }

    /// The ids that can be read, also those of rows that cannot.
    pub(crate) fn ids(&self, take: &mut dyn FnMut(u128)) {
        let mask = ProjectionMask::columns(self.metadata.parquet_schema(), ["id"]);
        let read = |batch: &RecordBatch| {
            let texts = Reader(batch).text("id")?;
            let of = |row| id(texts.get(row).unwrap_or_default());
            (0..batch.num_rows()).map(of).collect()
        };
        self.all(&mask, &read, take);
    }

    /// Reads row group by row group and page by page; what cannot be read in one
    /// piece is tried in halves.
    fn all<T>(
        &self,
        mask: &ProjectionMask,
        read: &dyn Fn(&RecordBatch) -> Result<Vec<T>, String>,
        take: &mut dyn FnMut(T),
    ) {
        for (group, metadata) in self.metadata.metadata().row_groups().iter().enumerate() {
            let rows = usize::try_from(metadata.num_rows()).unwrap_or(0);
            let run = |from: usize| from..(from + BATCH).min(rows);
            // The first run lies on top.
            let mut left: Vec<Range<usize>> = (0..rows).step_by(BATCH).map(run).rev().collect();
            while let Some(run) = left.pop() {
                if let Ok(found) = self.run((group, run.clone()), mask, read) {
                    found.into_iter().for_each(&mut *take);
                } else if run.len() > GIVEN_UP {
                    let middle = run.start + run.len() / 2;
                    left.push(middle..run.end);
                    left.push(run.start..middle);
                }
            }
        }
    }

    fn run<T>(
        &self,
        (group, run): (usize, Range<usize>),
        mask: &ProjectionMask,
        read: &dyn Fn(&RecordBatch) -> Result<Vec<T>, String>,
    ) -> Result<Vec<T>, String> {
        let wanted = run.len();
        let skip = RowSelector::skip(run.start);
        let selection = RowSelection::from(vec![skip, RowSelector::select(wanted)]);
        let (file, metadata) = (self.file.clone(), self.metadata.clone());
        let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata)
            .with_projection(mask.clone())
            .with_row_groups(vec![group])
            .with_row_selection(selection)
            .with_batch_size(BATCH)
            .build()
            .map_err(|error| error.to_string())?;
        let mut rows = Vec::with_capacity(wanted);
        for batch in reader {
            rows.extend(read(&batch.map_err(|error| error.to_string())?)?);
        }
        if rows.len() == wanted {
            Ok(rows)
        } else {
            Err(format!("{} rows instead of {wanted}", rows.len()))
        }
    }
}
