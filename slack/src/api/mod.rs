//! Slack's Web API, as far as we use it.

mod client;
mod error;
mod said;
#[cfg(test)]
mod tests;

pub use client::{Api, Upload};
pub use error::ApiError;
pub use said::{Channel, Identity, Posted};
