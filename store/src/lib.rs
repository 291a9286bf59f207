//! The store: what was collected, kept past its source's memory.
//!
//! A hot tier in `SQLite` takes small batches as they come; immutable Parquet
//! segments, one or a few a day, hold the rest. An id is kept once: what is
//! written again is merged with what is there, or changes nothing. The list of
//! live segments is in `SQLite` too, so a reader sees one moment of everything.

mod access;
mod access_filter;
mod backup;
mod bulk;
mod catalogue;
mod columns;
mod compact;
mod damage;
mod day;
mod db;
mod dedup;
mod elsewhere;
mod error;
mod flushed;
mod health;
mod hot;
mod incidents;
pub mod lake;
mod landing;
mod limits;
mod lock;
mod machines;
mod merge;
mod metadata;
mod named_rows;
mod object_columns;
mod packed_rows;
mod permissions;
mod place_cache;
mod record;
mod relist;
mod repair;
mod reserve;
mod retain;
mod row_checksum;
mod scope;
mod segment;
mod service_state;
mod shared_columns;
mod snapshot;
mod status;
mod store;
mod unlisted;
mod upsert;
mod verify;
mod version;

#[cfg(test)]
mod tests;

pub use access::Access;
pub use backup::{BackedUp, backup};
pub use bulk::{BulkImport, Written};
pub use catalogue::{Entity, Heard, Root};
pub use columns::schema as event_schema;
pub use damage::DamagedSegment;
pub use day::Day;
pub use error::StoreError;
pub use incidents::{StoredIncident, StoredVerdict};
pub use limits::{Limits, Retained};
pub use lock::Claim;
pub use object_columns::schema as object_schema;
pub use permissions::private_file;
pub use record::EVENT_WORDS;
pub use record::{Fact, Object, Table};
pub use repair::{Repaired, repair};
pub use scope::{MatchTier, ScopedRows};
pub use segment::{Segment, filter_key};
pub use service_state::ServiceState;
pub use snapshot::Snapshot;
pub use status::Status;
pub use store::{FORMAT, Store};
pub use verify::Verified;
pub use version::StoreVersion;

/// Facts as the columns of [`event_schema`].
///
/// # Errors
/// Never for facts, whose columns are of one length.
pub fn event_batch(facts: &[Fact]) -> Result<arrow_array::RecordBatch, StoreError> {
    let rows: Vec<&Fact> = facts.iter().collect();
    let places: Vec<_> = facts.iter().map(record::Record::place).collect();
    columns::batch(&rows, &places)
        .map_err(|error| StoreError::damaged(std::path::Path::new("memory"), error))
}
