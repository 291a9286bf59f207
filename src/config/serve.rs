//! The service.

use serde::Deserialize;

/// The service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Serve {
    /// Where it listens; `127.0.0.1:8080` by default.
    pub listen: Option<String>,
}
