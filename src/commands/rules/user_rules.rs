//! A user's own rule folder.

use std::path::Path;

use crate::case::Rules;
use crate::commands::common;
use crate::error::Error;
use crate::explain::examples;

/// What the folder holds, and what is compiled in.
pub(super) struct UserRules {
    /// Rules, as (file, text).
    rules: Vec<(String, String)>,
    /// Built-in and own examples, as (file, text).
    pub(super) examples: Vec<(String, String)>,
}

impl UserRules {
    /// Reads the folder, where one is given.
    pub(super) fn read(folder: Option<&Path>) -> Result<Self, Error> {
        let mut more = Vec::new();
        if let Some(folder) = folder {
            let failed = |error| Error::Io {
                path: folder.display().to_string(),
                error,
            };
            for entry in std::fs::read_dir(folder).map_err(failed)? {
                let path = entry.map_err(failed)?.path();
                let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
                    continue;
                };
                if name.ends_with(".yaml") {
                    let failed = |error| Error::Io {
                        path: path.display().to_string(),
                        error,
                    };
                    more.push((
                        name.to_owned(),
                        std::fs::read_to_string(&path).map_err(failed)?,
                    ));
                }
            }
        }
        let rules = common::own_rules(folder)?;
        Ok(Self {
            rules,
            examples: examples::files(more),
        })
    }

    /// The files of rules in the folder; none where there is no folder, or nothing in it.
    pub(super) fn files(&self) -> Vec<String> {
        self.rules.iter().map(|(name, _)| name.clone()).collect()
    }

    /// All rules, ready for use.
    pub(super) fn load(&self) -> Result<Rules, Error> {
        Ok(Rules::load(&self.rules)?)
    }
}
