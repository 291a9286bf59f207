//! One HTTP client for every source but the Kubernetes API.
//!
//! What all of them need is here once: retries with backoff, `Retry-After` and
//! rate-limit headers, deadlines, caps on bodies, concurrency per host, proxies,
//! certificates, credentials that never reach a message, and errors in the
//! server's own words. What is particular to a source, its paths and paging, is
//! in the source's folder.

mod answer;
mod auth;
mod client;
mod endpoint;
mod error;
mod error_body;
mod options;
mod request;

#[cfg(test)]
mod tests;
mod tls;

pub use answer::{Answer, RateLimit};
pub use auth::{Auth, Authorize};
pub use client::Client;
pub use client::connections;
pub use endpoint::Endpoint;
pub use error::HttpError;
pub use error_body::words;
pub use options::HttpOptions;
pub use request::Request;
pub use secrecy::SecretString as Secret;
pub use tls::choose_encryption;
