//! What a caller may see.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// What a caller may see; everything where nothing is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Access {
    /// Namespaces; all where `None`. Machines belong to no namespace.
    pub namespaces: Option<BTreeSet<String>>,
    /// Sources by their names in coverage rows, facts by their kind of source;
    /// all where `None`.
    pub sources: Option<BTreeSet<String>>,
}

impl Access {
    /// Whether nothing is hidden.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.namespaces.is_none() && self.sources.is_none()
    }

    /// Whether things in this namespace may be seen.
    #[must_use]
    pub fn permits_namespace(&self, namespace: &str) -> bool {
        let named = self.namespaces.as_ref();
        named.is_none_or(|names| names.contains(namespace))
    }

    /// Whether what this source told may be seen.
    #[must_use]
    pub fn permits_source(&self, source: &str) -> bool {
        let named = self.sources.as_ref();
        named.is_none_or(|names| names.contains(source))
    }
}
