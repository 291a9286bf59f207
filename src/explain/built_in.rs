//! The rules that are compiled in, and those of a user's own folder.

use super::rule::{Rule, RuleError};

// `FILES`: name and text of each file in `queries/causes/`.
include!(concat!(env!("OUT_DIR"), "/causes.rs"));

/// The built-in rules, in file order.
///
/// # Errors
/// Names the file and line that is wrong.
pub fn built_in() -> Result<Vec<Rule>, RuleError> {
    load(std::iter::empty())
}

/// The built-in rules and some more, by (name, text). A file of a built-in's
/// name replaces it.
///
/// # Errors
/// Names the file and line that is wrong.
pub fn load(more: impl IntoIterator<Item = (String, String)>) -> Result<Vec<Rule>, RuleError> {
    let mut files: std::collections::BTreeMap<String, String> = FILES
        .iter()
        .map(|(name, text)| ((*name).to_owned(), (*text).to_owned()))
        .collect();
    files.extend(more);
    files
        .iter()
        .map(|(name, text)| Rule::parse(name, text))
        .collect()
}

/// A short hash of all rules and signals: verdicts of one version and one input are the same.
#[must_use]
pub fn ruleset_version(rules: &[Rule], signals: &str) -> String {
    let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
    let texts = rules
        .iter()
        .flat_map(|rule| [rule.file.as_str(), rule.text.as_str()])
        .chain([signals]);
    for byte in texts.flat_map(str::bytes) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    }
    format!("{hash:016x}")
}
