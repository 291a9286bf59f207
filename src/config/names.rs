//! Names that one part of the configuration uses of another.

use std::collections::BTreeSet;

use whathappened_connectors::event::SourceKind;
use whathappened_core::resolve::rank_names;

use super::{Config, Many, Section};

/// Refuses a source that no caller could ever see: it would hide everything in silence.
pub(super) fn check(config: &Config, text: &str) -> Result<(), String> {
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
        return Err(format!(
            "line {}: no source is called {name:?}{near}",
            line_of(text, name)
        ));
    }
    Ok(())
}

/// Kinds of sources, and the names that the configuration gives to some.
fn sources(config: &Config) -> BTreeSet<String> {
    fn named<S: Section>(kind: &str, sections: &Many<S>, known: &mut BTreeSet<String>) {
        for (number, section) in (1..).zip(&sections.0) {
            known.insert(format!("{kind}-{number}"));
            known.extend(section.name().map(str::to_owned));
        }
    }
    let kinds = SourceKind::ALL.iter().map(|kind| kind.as_str().to_owned());
    let mut known: BTreeSet<String> = kinds.collect();
    known.extend(["collector".to_owned(), "recording".to_owned()]);
    named("loki", &config.loki, &mut known);
    named("datadog", &config.datadog, &mut known);
    named("elasticsearch", &config.elasticsearch, &mut known);
    named("cloudwatch", &config.cloudwatch, &mut known);
    named("prometheus", &config.prometheus, &mut known);
    named("alertmanager", &config.alertmanager, &mut known);
    named("grafana", &config.grafana, &mut known);
    named("gcp", &config.gcp, &mut known);
    named("aws", &config.aws, &mut known);
    named("azure", &config.azure, &mut known);
    named("slurm", &config.slurm, &mut known);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_source_is_refused_with_its_line_and_a_near_name() {
        let text = "[[loki]]\nname = 'eu'\n[[serve.caller]]\nname = 'ann'\nsources = ['eu', 'kubernets']\n";
        let config: Config = toml::from_str(text).unwrap();
        let why = check(&config, text).unwrap_err();
        assert!(why.starts_with("line 5: "), "{why}");
        assert!(why.contains("did you mean \"kubernetes\"?"), "{why}");
        let text = text.replace("kubernets", "kubernetes_audit");
        assert_eq!(check(&toml::from_str(&text).unwrap(), &text), Ok(()));
    }
}
