//! Socket Mode: Slack's requests over a connection that we open, for firms that
//! let nothing in.

mod connection;
mod frame;
mod mode;
#[cfg(test)]
mod tests;

pub use frame::{Envelope, Kind};
pub use mode::{Handler, SocketMode, SocketTimes};
