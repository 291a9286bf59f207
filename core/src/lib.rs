//! What facts mean, without a query engine: this crate builds in seconds.

#![warn(missing_docs)]

pub mod death;
pub mod describe;
pub mod evidence;
pub mod graph;
pub mod lifecycle;
pub mod link;
mod request;
pub mod resolve;
pub mod shared_fault;
pub mod signals;
mod stall;
pub mod symbols;
#[cfg(test)]
mod tests;
pub mod timeline;
pub mod upcoming;
