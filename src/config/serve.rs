//! The service.

use serde::Deserialize;

use super::callers::Caller;
use super::parse::size_of;
use super::statements::Statements;

/// The service.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// Where it listens; `127.0.0.1:8080` by default.
    pub listen: Option<String>,
    /// Who may ask over HTTP.
    pub caller: Vec<Caller>,
    /// The limits of statements.
    pub sql: Statements,
    /// The largest upload that is imported.
    #[serde(deserialize_with = "size_of")]
    pub max_upload: u64,
}

impl Default for Serve {
    fn default() -> Self {
        Self {
            listen: None,
            caller: Vec::new(),
            sql: Statements::default(),
            max_upload: 4 << 30,
        }
    }
}
