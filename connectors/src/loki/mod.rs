//! Loki's `query_range` answers.
//!
//! Contract: an answer holds streams of `[time, line]` or, asked for with
//! `categorize-labels`, `[time, line, {"structuredMetadata", "parsed"}]`. In the
//! first form what is known of a line is merged into the stream's labels, so
//! one pod's log comes as several streams; it is put together again here.

mod answer;
mod decode;

#[cfg(test)]
mod tests;

pub use decode::decode;
pub(crate) use decode::decode_streams;
