//! The limits of statements that the service runs.

use std::time::Duration;

use serde::Deserialize;

use super::parse::{size_of, timeout};

/// The limits of one statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Statements {
    /// How long one may take.
    #[serde(deserialize_with = "timeout")]
    pub timeout: Duration,
    /// Memory that the process which runs it may hold.
    #[serde(deserialize_with = "size_of")]
    pub max_memory: u64,
    /// Rows that are answered; the rest is left out and the answer says so.
    pub max_rows: u64,
    /// Bytes that are answered.
    #[serde(deserialize_with = "size_of")]
    pub max_bytes: u64,
    /// Statements that run at once; others wait.
    pub at_once: usize,
}

impl Default for Statements {
    fn default() -> Self {
        Self {
            timeout: Duration::from_secs(30),
            max_memory: 1 << 30,
            max_rows: 100_000,
            max_bytes: 64 << 20,
            at_once: 2,
        }
    }
}
