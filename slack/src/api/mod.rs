//! Slack's Web API, as far as we use it.

mod client;
mod error;
mod responses;
#[cfg(test)]
mod tests;

pub use client::{Api, Upload};
pub use error::ApiError;
pub use responses::{Channel, Identity, Posted};
