//! Google Cloud asked live: Cloud Logging's `entries:list` and the inventory of
//! Compute Engine.
//!
//! Contract (Logging API v2): a POST with `resourceNames` (at most 100), a
//! filter of at most 20,000 characters, `orderBy` and `pageSize` (at most
//! 1,000). A page without entries may have a `nextPageToken`, so that only a
//! page without token is the last. Without a bound on `timestamp` some callers
//! get the last day alone, so it is always there. Reads are counted, 60 a minute
//! and project, and one too many is answered 429 `RESOURCE_EXHAUSTED`.
//!
//! Compute Engine tells what exists now; a machine that is gone is only in the
//! logs, by the name in `protoPayload.resourceName` and by the number in
//! `resource.labels.instance_id`. A group makes a machine anew under the same
//! name with another number, so both are looked for.

mod adc;
mod advice;
mod api;
mod check;
mod cloud_logging;
mod cover;
mod emit;
mod entries;
mod filter;
mod groups;
mod inventory;
mod login;
mod machines;
mod options;
mod plan;
mod project;
mod source;

#[cfg(test)]
pub(crate) mod tests;

pub use options::{GcpLogin, GcpOptions};
pub use source::Gcp;
