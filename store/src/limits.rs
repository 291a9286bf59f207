//! How much is kept, and in what pieces it is written.

use whathappened_model::time::{Nanos, SECOND};

/// Bounds of a store; the defaults suit a workstation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long ago facts may have been stored, in nanoseconds.
    pub max_age: Nanos,
    /// How many bytes segments may take in all.
    pub max_bytes: u64,
    /// Rows in the hot tier above which they become segments.
    pub hot_rows: u64,
    /// Bytes of rows that a bulk import holds before it writes segments; it
    /// holds as much again while they are written.
    pub buffer_bytes: usize,
    /// Segments of one day above which they become one.
    pub segments_a_day: usize,
    /// How long the file of a replaced segment stays for those who still read it.
    pub grace: Nanos,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_age: 90 * 86_400 * SECOND,
            max_bytes: 50 << 30,
            hot_rows: 20_000,
            buffer_bytes: 64 << 20,
            segments_a_day: 8,
            grace: 900 * SECOND,
        }
    }
}

/// What retention removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Retained {
    /// Segments removed.
    pub segments: u64,
    /// Rows in them.
    pub rows: u64,
    /// Bytes freed.
    pub bytes: u64,
}
