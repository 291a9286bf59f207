use std::io;

use datafusion::arrow::error::ArrowError;
use datafusion::parquet::errors::ParquetError;

/// Why an answer or rows could not be written.
#[derive(Debug, thiserror::Error)]
pub enum RenderError {
    /// The output refused the bytes; a closed pipe is one of these.
    #[error("cannot write the output: {0}")]
    Io(#[from] io::Error),
    /// A value has no JSON form.
    #[error("cannot write as JSON")]
    Json(#[source] serde_json::Error),
    /// A value has no CSV form.
    #[error("cannot write as CSV")]
    Csv(#[source] csv::Error),
    /// A column has no form in this format.
    #[error("cannot convert a column")]
    Arrow(#[from] ArrowError),
    /// A column has no Parquet form.
    #[error("cannot write as Parquet")]
    Parquet(#[from] ParquetError),
}

impl RenderError {
    /// Whether the reader of the output went away, which is no failure of ours.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Io(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl From<serde_json::Error> for RenderError {
    fn from(error: serde_json::Error) -> Self {
        if error.is_io() {
            Self::Io(error.into())
        } else {
            Self::Json(error)
        }
    }
}

impl From<csv::Error> for RenderError {
    fn from(error: csv::Error) -> Self {
        if !error.is_io_error() {
            return Self::Csv(error);
        }
        match error.into_kind() {
            csv::ErrorKind::Io(error) => Self::Io(error),
            other => Self::Io(io::Error::other(format!("{other:?}"))),
        }
    }
}
