//! What facts mean, without a query engine: this crate builds in seconds.

#![warn(missing_docs)]

pub mod death;
pub mod evidence;
pub mod life;
pub mod resolve;
pub mod shared;
pub mod signals;
mod stall;
pub mod symbols;
pub mod tie;
pub mod timeline;
pub mod upcoming;
pub mod words;
pub mod world;
