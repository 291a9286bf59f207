//! Apache Parquet: the timeline of an answer, or rows.

use std::io;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::basic::{Compression, ZstdLevel};
use datafusion::parquet::file::properties::WriterProperties;

use crate::answer::Answer;

use super::error::RenderError;
use super::rows::RowSink;
use super::timeline_batch::timeline_batch;

/// Bytes of encoded columns that are held back before they become a row group.
const ROW_GROUP: usize = 64 << 20;

/// Writes the timeline.
pub(crate) fn answer(answer: &Answer, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let batch = timeline_batch(answer)?;
    let mut rows = Rows::new(&batch.schema())?;
    rows.write(&batch, out)?;
    rows.finish(out)
}

/// Rows as one file.
#[derive(Debug)]
pub(crate) struct Rows(ArrowWriter<Vec<u8>>);

impl Rows {
    pub(crate) fn new(schema: &SchemaRef) -> Result<Self, RenderError> {
        let properties = WriterProperties::builder()
            .set_created_by(concat!("whathappened ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_compression(Compression::ZSTD(ZstdLevel::try_new(3)?))
            .build();
        Ok(Self(ArrowWriter::try_new(
            Vec::new(),
            Arc::clone(schema),
            Some(properties),
        )?))
    }

    /// Passes on what is encoded. The writer counts its bytes itself, so an
    /// emptied buffer does not move its offsets.
    fn pass_on(&mut self, out: &mut dyn io::Write) -> Result<(), RenderError> {
        self.0.sync()?;
        let bytes = std::mem::take(self.0.inner_mut());
        out.write_all(&bytes)?;
        Ok(())
    }
}

impl RowSink for Rows {
    fn write(&mut self, batch: &RecordBatch, out: &mut dyn io::Write) -> Result<(), RenderError> {
        self.0.write(batch)?;
        if self.0.in_progress_size() >= ROW_GROUP {
            self.0.flush()?;
        }
        self.pass_on(out)
    }

    fn finish(&mut self, out: &mut dyn io::Write) -> Result<(), RenderError> {
        self.0.finish()?;
        self.pass_on(out)
    }
}
