//! `CloudWatch` Logs as played by a server on loopback, by moto, and exports.

mod conforming;
mod fake;
mod files;
mod live;
mod store;

pub(crate) use conforming::conforming;
