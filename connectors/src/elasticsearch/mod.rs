//! Elasticsearch and `OpenSearch`, live and as exported files.
//!
//! Contract: a point in time (PIT) is opened over the index pattern and read with
//! `search_after`, sorted by time and `_shard_doc`; the newest `pit_id` counts, and
//! it is closed at the end. Where there is none (`OpenSearch` before 2.4, missing
//! permission, `_shard_doc` unknown) pages overlap at their last time instead, and
//! what was seen is left out by index and id. Both give every line once.
//!
//! Which fields name pods, namespaces and messages differs by shipper (ECS, Fluent
//! Bit, `OpenTelemetry`, Logstash); they are discovered by `_field_caps`. Queries are
//! JSON with names as values, never text put together.
//!
//! An answer with HTTP 200 may still be partial: `timed_out`, `_shards.failed`,
//! skipped clusters, no index at all. All of these are told.

mod answer;
mod check;
mod client;
mod decode;
mod export;
mod fields;
mod options;
mod page;
mod query;
mod registration;
mod store;

#[cfg(test)]
pub(crate) mod tests;

pub use options::{ElasticsearchOptions, Signing};
pub(crate) use registration::LOG_STORE;
pub use store::Elasticsearch;
