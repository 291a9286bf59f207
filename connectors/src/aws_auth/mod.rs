//! Who we are to AWS, and where its services are.
//!
//! Credentials, region and endpoint come from where AWS's own tools look:
//! environment, profiles of `~/.aws/config` (keys, SSO, assumed roles, external
//! processes), web identity (IRSA), a container's or an instance's role. They
//! are asked for when the first request is signed, and kept until they expire.
//! Requests are signed with Signature Version 4, at a time the caller's clock
//! tells.

mod access;
mod credentials;
mod service;
mod sign;

#[cfg(test)]
mod tests;

pub use access::{AwsAccess, AwsOptions};
pub use service::Service;
