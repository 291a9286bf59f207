//! Names that one part of the configuration uses of another.

use std::collections::BTreeSet;

use whathappened_connectors::log_store::LabelNames;
use whathappened_core::resolve::rank_names;
use whathappened_model::event::SourceKind;

use super::error::{ConfigError, nearest};
use super::{Config, HOOKS};

/// Refuses what would be without effect, and nobody would notice.
pub(super) fn check(config: &Config, text: &str) -> Result<(), ConfigError> {
    hooks(config, text)?;
    labels(config, text)?;
    limits(config, text)?;
    reserved(config, text)?;
    callers(config, text)
}

/// What this program calls its own store in rows of coverage: damage of it is told under that name.
const STORE: &str = "store";

/// A source of that name would be taken for the store.
fn reserved(config: &Config, text: &str) -> Result<(), ConfigError> {
    if !sources(config).contains(STORE) {
        return Ok(());
    }
    let why = format!("{STORE:?} is what coverage calls the store itself");
    let flaw = ConfigError::at(text, line_of(text, STORE), why);
    Err(flaw.with_hint("give the source another name"))
}

fn hooks(config: &Config, text: &str) -> Result<(), ConfigError> {
    let Some(name) = config
        .serve
        .hooks
        .keys()
        .find(|name| !HOOKS.contains(&name.as_str()))
    else {
        return Ok(());
    };
    let known: Vec<String> = HOOKS.iter().map(|hook| (*hook).to_owned()).collect();
    let near = nearest(name, &known, &|one| one.to_owned());
    let why = format!("there is no hook {name}{near}");
    Err(ConfigError::at(text, line_with(text, name), why))
}

/// Names of labels are by entity, of which there are a few.
fn labels(config: &Config, text: &str) -> Result<(), ConfigError> {
    let stores = config.log_stores().into_iter();
    let labelled = stores.flat_map(|(_, sections)| sections);
    let labelled = labelled.chain(config.prometheus.sections());
    let named = labelled.flat_map(|one| one.labels().keys());
    for entity in named {
        if LabelNames::default().prefer(entity, &[]) {
            continue;
        }
        let known: Vec<String> = ENTITIES.iter().map(|one| (*one).to_owned()).collect();
        let near = nearest(entity, &known, &|one| one.to_owned());
        let why =
            format!("labels are configured per entity, and there is no entity {entity}{near}");
        return Err(ConfigError::at(text, line_with(text, entity), why));
    }
    Ok(())
}

/// Entities that labels may be of.
const ENTITIES: [&str; 10] = [
    "cluster",
    "namespace",
    "pod",
    "pod_uid",
    "container",
    "node",
    "host",
    "experiment",
    "rank",
    "level",
];

/// Nothing is ever done where nothing may be done at once.
fn limits(config: &Config, text: &str) -> Result<(), ConfigError> {
    if config.serve.sql.at_once > 0 && config.serve.limits.at_once > 0 {
        return Ok(());
    }
    let holds = |line: &str| {
        let line = line.replace(' ', "");
        line == "at_once=0" || line.starts_with("at_once=0#")
    };
    let line = text.lines().position(holds).unwrap_or(0) + 1;
    Err(ConfigError::at(
        text,
        line,
        "at_once = 0 would refuse every request: write 1 or more",
    ))
}

/// Refuses a source that no caller could ever see: it would hide everything in silence.
fn callers(config: &Config, text: &str) -> Result<(), ConfigError> {
    let known = sources(config);
    let callers = config.serve.caller.iter();
    let named = callers.flat_map(|one| one.sources.iter().flatten());
    for name in named {
        if known.contains(name.as_str()) {
            continue;
        }
        let near = rank_names(name, known.iter().map(ToString::to_string));
        let near = near
            .first()
            .map_or_else(String::new, |near| format!("; did you mean {near:?}?"));
        let why = format!("there is no source named {name:?}{near}");
        return Err(ConfigError::at(text, line_of(text, name), why));
    }
    Ok(())
}

/// Kinds of sources, and the names that the configuration gives to some.
fn sources(config: &Config) -> BTreeSet<String> {
    let others = [
        ("prometheus", config.prometheus.sections()),
        ("alertmanager", config.alertmanager.sections()),
        ("grafana", config.grafana.sections()),
        ("gcp", config.gcp.sections()),
        ("aws", config.aws.sections()),
        ("azure", config.azure.sections()),
        ("slurm", config.slurm.sections()),
    ];
    let kinds = SourceKind::ALL.iter().map(|kind| kind.as_str().to_owned());
    let mut known: BTreeSet<String> = kinds.collect();
    known.extend(["collector".to_owned(), "recording".to_owned()]);
    for (kind, sections) in config.log_stores().into_iter().chain(others) {
        for (number, section) in (1..).zip(sections) {
            known.insert(format!("{kind}-{number}"));
            known.extend(section.name().map(str::to_owned));
        }
    }
    known
}

/// The line that holds a name in quotes, from 1.
fn line_of(text: &str, name: &str) -> usize {
    let holds = |line: &str| {
        let quoted = [format!("\"{name}\""), format!("'{name}'")];
        quoted.iter().any(|quoted| line.contains(quoted.as_str()))
    };
    text.lines().position(holds).unwrap_or(0) + 1
}

/// The line that names a section or a key so, from 1.
fn line_with(text: &str, name: &str) -> usize {
    let holds = |line: &str| {
        let line = line.trim();
        let key = line.split('=').next().unwrap_or_default();
        let words = |letter: char| matches!(letter, '[' | ']' | '.' | ' ' | '"' | '\'');
        key.split(words).any(|word| word == name)
    };
    text.lines().position(holds).unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_source_is_refused_with_its_line_and_a_near_name() {
        let text = "[[loki]]\nname = 'eu'\n[[serve.caller]]\nname = 'ann'\nsources = ['eu', 'kubernets']\n";
        let config: Config = toml::from_str(text).unwrap();
        let why = check(&config, text).unwrap_err().to_string();
        assert!(why.starts_with("line 5: "), "{why}");
        assert!(why.contains("did you mean \"kubernetes\"?"), "{why}");
        let text = text.replace("kubernets", "kubernetes_audit");
        assert_eq!(check(&toml::from_str(&text).unwrap(), &text), Ok(()));
    }
}
