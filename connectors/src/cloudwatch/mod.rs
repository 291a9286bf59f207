//! Amazon `CloudWatch` Logs, live and as exported files.
//!
//! Contract (JSON 1.1): `FilterLogEvents` answers pages that may be empty and yet
//! have a token; there are no more only where there is none. Times are
//! milliseconds, the end belongs to the window. Events come oldest first, so the
//! newest are read in windows that go back. Filter patterns tell upper from lower
//! case; telling words are asked for as regular expressions with both.
//!
//! Which stream is whose is told by its name, as Fluent Bit and the `CloudWatch`
//! agent write it; streams are listed newest first and asked for by name, a
//! hundred at a time. Where names do not tell, lines are found by the pod's name
//! and told apart by their JSON bodies. Logs Insights is billed by the byte, so
//! it counts lines only where that is configured.

mod check;
mod client;
mod decode;
mod export;
mod groups;
mod insights;
mod options;
mod pattern;
mod registration;
mod scan;
mod store;
mod stream;

#[cfg(test)]
pub(crate) mod tests;

pub use options::CloudWatchOptions;
pub(crate) use registration::LOG_STORE;
pub use store::CloudWatch;
