//! A log store is a folder, a line of registration, a section of the configuration and its docs: nothing else
//! knows its name.

use std::path::{Path, PathBuf};

use whathappened_model::event::SourceKind;

const FOLDERS: [&str; 8] = [
    "connectors/src",
    "core/src",
    "http/src",
    "model/src",
    "queries",
    "slack/src",
    "src",
    "store/src",
];

/// Where a name of one may stand, and why.
const ALLOWED: [(&str, &str); 8] = [
    ("model/src/source_kind.rs", "the registration"),
    ("connectors/src/lib.rs", "the module that is the folder"),
    ("src/config/mod.rs", "the section"),
    ("src/config/stores.rs", "the section"),
    (
        "connectors/src/log_store/events.rs",
        "what Alloy calls the component that reads Events, whatever store it writes to",
    ),
    ("src/config/serve.rs", "a webhook of that vendor's monitors"),
    (
        "src/serve/webhooks/kind.rs",
        "a webhook of that vendor's monitors",
    ),
    (
        "store/src/access_filter/public_names.rs",
        "a namespace that AWS's agent makes",
    ),
];

fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            let is_own = folder.ends_with("connectors/src") && SourceKind::parse(name).is_some();
            if !is_own && !matches!(name, "tests" | "fixtures") {
                files(&path, into);
            }
        } else if [".rs", ".sql", ".toml"]
            .iter()
            .any(|end| name.ends_with(end))
            && !name.ends_with("tests.rs")
        {
            into.push(path);
        }
    }
}

/// The lines of a file that run, without comments and tests.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]\n").unwrap_or(text.len());
    let is_comment = |line: &str| {
        ["//", "--", "#"]
            .iter()
            .any(|sign| line.trim_start().starts_with(sign))
    };
    let lines = (1..).zip(text[..end].lines());
    lines.filter(move |(_, line)| !is_comment(line) || line.trim_start().starts_with("#["))
}

#[test]
fn nothing_else_knows_the_name_of_a_log_store() {
    let mut all = Vec::new();
    for folder in FOLDERS {
        files(Path::new(folder), &mut all);
    }
    assert!(all.len() > 500, "{}", all.len());
    let (mut wrong, mut used) = (Vec::new(), std::collections::BTreeSet::new());
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        let place = path.display().to_string();
        for (number, line) in code(&text) {
            let line = line.to_lowercase();
            if !SourceKind::LOG_STORES
                .iter()
                .any(|kind| line.contains(kind.as_str()))
            {
                continue;
            }
            if ALLOWED.iter().any(|(allowed, _)| *allowed == place) {
                used.insert(place.clone());
            } else {
                wrong.push(format!("{place}:{number}: {}", line.trim()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "a store's own folder says what is particular to it: {wrong:#?}"
    );
    assert_eq!(
        used.len(),
        ALLOWED.len(),
        "what is allowed and not there any more: {used:?}"
    );
}
