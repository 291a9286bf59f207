//! Who may ask the service, and what they may see.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Deserialize;

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Right {
    /// Ask what happened: answers, timelines, experiments, nodes, coverage, incidents.
    Ask,
    /// Run statements.
    Sql,
    /// Take recordings into the store.
    Import,
}

/// Somebody who may ask the service: `[[serve.caller]]`.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caller {
    /// What the audit trail calls them.
    pub name: String,
    /// The SHA-256 of their token, in hexadecimal.
    #[serde(default)]
    pub token_sha256: Option<String>,
    /// A file that holds the token itself.
    #[serde(default)]
    pub token_file: Option<PathBuf>,
    /// Namespaces they may see; all where it is not said.
    #[serde(default)]
    pub namespaces: Option<BTreeSet<String>>,
    /// Sources they may see; all where it is not said.
    #[serde(default)]
    pub sources: Option<BTreeSet<String>>,
    /// What they may do.
    #[serde(default = "usual")]
    pub rights: BTreeSet<Right>,
}

/// What a caller may do of whom nothing is said.
pub(super) fn usual() -> BTreeSet<Right> {
    BTreeSet::from([Right::Ask, Right::Sql])
}

impl Right {
    /// Its name in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Sql => "sql",
            Self::Import => "import",
        }
    }

    /// Every right there is.
    #[must_use]
    pub fn all() -> BTreeSet<Self> {
        BTreeSet::from([Self::Ask, Self::Sql, Self::Import])
    }
}

impl std::fmt::Debug for Caller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Caller")
            .field("name", &self.name)
            .field("namespaces", &self.namespaces)
            .field("sources", &self.sources)
            .field("rights", &self.rights)
            .finish_non_exhaustive()
    }
}
