//! `whathappened rules show`

use std::io::Write as _;

use super::user_rules::UserRules;
use crate::case::Rules;
use crate::error::Error;

/// How alike two names must be for one to be offered for the other.
const ALIKE: f64 = 0.8;

pub(super) fn run(own: &UserRules, name: &str) -> Result<(), Error> {
    let rules = own.load()?;
    let parts = texts(own, &rules, name).ok_or_else(|| unknown(&rules, name))?;
    let failed = |error| Error::Io {
        path: "standard output".to_owned(),
        error,
    };
    let mut out = std::io::stdout().lock();
    out.write_all(parts.join("\n").as_bytes()).map_err(failed)?;
    out.flush().map_err(failed)
}

/// The texts to print, of a cause, a signal or a file.
fn texts(own: &UserRules, rules: &Rules, name: &str) -> Option<Vec<String>> {
    if let Some((_, text)) = own.examples.iter().find(|(file, _)| file == name) {
        return Some(vec![text.clone()]);
    }
    if let Some(rule) = rules.causes.iter().find(|rule| rule.file == name) {
        return Some(vec![rule.text.clone()]);
    }
    if let Some(rule) = rules.causes.iter().find(|rule| rule.cause == name) {
        let beside = examples_of(&rule.file);
        let examples = own.examples.iter().find(|(file, _)| *file == beside);
        return Some(
            std::iter::once(&rule.text)
                .chain(examples.map(|(_, text)| text))
                .cloned()
                .collect(),
        );
    }
    let signal = rules
        .signals
        .signals()
        .find(|signal| signal.name == name || signal.written == name);
    let file = signal.map_or(name, |signal| signal.file.as_str());
    rules.signals.file(file).map(|text| vec![text.to_owned()])
}

/// The file of the examples of a rule's file.
pub(super) fn examples_of(rule_file: &str) -> String {
    format!(
        "{}.yaml",
        rule_file.strip_suffix(".sql").unwrap_or(rule_file)
    )
}

/// No rule bears the name: says which ones are like it.
pub(super) fn unknown(rules: &Rules, name: &str) -> Error {
    let causes = rules.causes.iter().map(|rule| rule.cause.as_str());
    let mut near: Vec<(f64, &str)> = causes
        .chain(rules.signals.signals().map(|signal| signal.name.as_str()))
        .map(|known| (strsim::jaro_winkler(known, name), known))
        .filter(|(alike, _)| *alike >= ALIKE)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(b.1)));
    let near: Vec<&str> = near.into_iter().take(3).map(|(_, known)| known).collect();
    let hint = if near.is_empty() {
        "list them all: whathappened rules list".to_owned()
    } else {
        format!("did you mean {}?", near.join(", "))
    };
    Error::misused(
        format!("there is no cause, signal or file named {name:?}"),
        hint,
    )
}
