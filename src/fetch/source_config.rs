//! What the environment and the configuration say of one source.

use std::collections::BTreeMap;

use whathappened_connectors::log_store::{LabelNames, Settings};
use whathappened_http::{HttpError, Secret};

use crate::config::Section;

/// Values of variables, such as those of the environment.
pub type Variables<'a> = &'a (dyn Fn(&str) -> Option<String> + Sync);

/// What is said of one source.
pub(super) struct SourceConfig<'a> {
    section: Option<&'a (dyn Section + Sync)>,
    env: Variables<'a>,
    /// The file goes before the environment: there are several of the kind.
    several: bool,
    /// The source's name in coverage rows.
    pub(super) name: String,
}

/// The sources of one kind: each section, or the environment alone where it has
/// all of the variables `needed`.
pub(super) fn given<'a>(
    kind: &str,
    sections: &[&'a (dyn Section + Sync)],
    env: Variables<'a>,
    needed: &[&[&str]],
) -> Vec<SourceConfig<'a>> {
    let has = |names: &&[&str]| {
        let mut found = names.iter().filter_map(|name| env(name));
        found.any(|value| !value.trim().is_empty())
    };
    if sections.is_empty() {
        let alone = SourceConfig {
            section: None,
            env,
            several: false,
            name: kind.to_owned(),
        };
        return needed
            .iter()
            .all(has)
            .then_some(alone)
            .into_iter()
            .collect();
    }
    let several = sections.len() > 1;
    let numbered = (1..).zip(sections);
    numbered
        .filter(|(_, section)| section.is_enabled())
        .map(|(number, section)| SourceConfig {
            section: Some(*section),
            env,
            several,
            name: match section.name() {
                Some(name) => name.to_owned(),
                None if number == 1 => kind.to_owned(),
                None => format!("{kind}-{number}"),
            },
        })
        .collect()
}

impl SourceConfig<'_> {
    /// The value of a variable.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let file = || self.section?.variable(name);
        let env = || (self.env)(name).filter(|value| !value.trim().is_empty());
        if self.several {
            file().or_else(env)
        } else {
            env().or_else(file)
        }
    }

    /// A list separated by commas.
    pub(super) fn list(&self, name: &str) -> Vec<String> {
        let text = self.get(name).unwrap_or_default();
        let parts = text.split(',').map(str::trim);
        parts
            .filter(|part| !part.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Names of labels, after those of one's own.
    pub(super) fn labels(&self, mut names: LabelNames) -> Result<LabelNames, HttpError> {
        let none = BTreeMap::new();
        let own = self.section.map_or(&none, Section::labels);
        for (entity, own) in own {
            if !names.prefer(entity, own) {
                return Err(HttpError::BadRequest(format!(
                    "labels are configured for {entity:?}, which is not a valid entity; valid entities are cluster, namespace, pod, pod_uid, container, node, host, experiment, rank and level"
                )));
            }
        }
        Ok(names)
    }

    /// Adds the headers of the section.
    pub(super) fn headers(&self, to: &mut Vec<(String, Secret)>) {
        let own = self.section.map(Section::headers);
        for (name, value) in own.into_iter().flatten() {
            to.push((name.clone(), value.clone().into()));
        }
    }
}

impl Settings for SourceConfig<'_> {
    fn name(&self) -> &str {
        &self.name
    }

    fn get(&self, variable: &str) -> Option<String> {
        self.get(variable)
    }

    fn list(&self, variable: &str) -> Vec<String> {
        self.list(variable)
    }

    fn labels(&self, known: LabelNames) -> Result<LabelNames, HttpError> {
        self.labels(known)
    }

    fn headers(&self) -> Vec<(String, Secret)> {
        let mut headers = Vec::new();
        self.headers(&mut headers);
        headers
    }
}
