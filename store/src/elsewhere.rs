//! Segments that lie elsewhere: what a store needs of whoever keeps them.

use std::fmt::Debug;
use std::io;
use std::ops::Range;

use whathappened_model::time::Nanos;

use crate::error::StoreError;
use crate::record::Table;
use crate::segment::{Draft, Segment};

/// What an error of reading elsewhere begins with. The Parquet reader hands on no more
/// than its text, and a place that does not answer now is no damage.
pub(crate) const NOT_NOW: &str = "not read: ";

/// Which of the two filters of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum FilterOf {
    /// Of the words that people look for.
    Words,
    /// Of ids.
    Ids,
}

/// What one commit changes of a table.
#[derive(Debug)]
#[cfg_attr(
    not(feature = "lake"),
    allow(dead_code, reason = "only a lake makes or reads it")
)]
pub(crate) struct Change<'a> {
    pub(crate) table: Table,
    /// The version that it was made of; another one in its place refuses it.
    pub(crate) version: i64,
    /// Segments that were uploaded.
    pub(crate) added: &'a [Draft],
    /// Segments that they stand in for.
    pub(crate) removed: &'a [Segment],
    /// Whether it tells anything that was not known.
    pub(crate) is_news: bool,
    /// The present.
    pub(crate) now: Nanos,
}

/// Keeps the segments of a store in another place than its folder. Everything waits.
pub(crate) trait Elsewhere: Debug + Send + Sync {
    /// Some bytes of a segment.
    fn read(&self, file: &str, range: Range<u64>) -> io::Result<Vec<u8>>;

    /// Fetches what will be read soon, all at once.
    fn prefetch(&self, wanted: &[(&str, Range<u64>)]) -> io::Result<()>;

    /// Fetches filters that will be asked soon, all at once.
    fn prefetch_filters(&self, files: &[&str], of: FilterOf) -> io::Result<()>;

    /// A filter of a segment; nothing where it has none, which holds everything.
    fn filter(&self, file: &str, of: FilterOf) -> io::Result<Vec<u8>>;

    /// Uploads segments, which count for nothing yet.
    fn upload(&self, drafts: &[Draft]) -> Result<(), StoreError>;

    /// Makes a change count, all of it or nothing. Returns the version it made.
    ///
    /// [`StoreError::Outrun`] where somebody else changed the table first.
    fn commit(&self, change: &Change<'_>) -> Result<i64, StoreError>;
}
