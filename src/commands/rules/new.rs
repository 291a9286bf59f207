//! `whathappened rules new`

use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::show::examples_of;
use super::user_rules::UserRules;
use crate::error::Error;

/// A rule that works, and its examples; `CAUSE` stands for the cause.
const SKELETON: [&str; 2] = [
    include_str!("skeleton/cause.sql"),
    include_str!("skeleton/examples.yaml"),
];

/// Writes both files of a new cause into the folder, and says what to do next.
pub(super) fn run(own: &UserRules, folder: Option<&Path>, cause: &str) -> Result<(), Error> {
    let Some(folder) = folder else {
        return Err(Error::misused(
            "no folder for rules is given".to_owned(),
            "add --rules FOLDER, or `rules = \"FOLDER\"` to the configuration".to_owned(),
        ));
    };
    if !is_cause(cause) {
        return Err(Error::misused(
            format!("{cause:?} cannot be the name of a cause"),
            "write two words of a-z, 0-9 and _ with a dot between, as in lab.repair".to_owned(),
        ));
    }
    let [rule, examples] = SKELETON.map(|text| text.replace("CAUSE", cause));
    let file = format!("{cause}.sql");
    let rules = own.load()?;
    if let Some(known) = rules.causes.iter().find(|rule| rule.cause == cause) {
        return Err(Error::misused(
            format!("{} already explains {cause}", known.file),
            format!("see it with `whathappened rules show {cause}`, or choose another name"),
        ));
    }
    let beside = examples_of(&file);
    std::fs::create_dir_all(folder).map_err(|error| Error::Io {
        path: folder.display().to_string(),
        error,
    })?;
    for (name, text) in [(&file, rule), (&beside, examples)] {
        write(&folder.join(name), &text)?;
    }
    let mut out = std::io::stdout().lock();
    writeln!(
        out,
        "wrote {} and {}\nedit both, then run: whathappened rules test --rules {} {cause}",
        folder.join(&file).display(),
        folder.join(&beside).display(),
        folder.display(),
    )
    .map_err(|error| Error::Io {
        path: "standard output".to_owned(),
        error,
    })
}

/// Whether a text names a cause; it names files, too.
fn is_cause(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    text.split_once('.')
        .is_some_and(|(family, name)| is_word(family) && is_word(name))
}

/// Writes a file that must not exist yet.
fn write(path: &PathBuf, text: &str) -> Result<(), Error> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(path)
        .and_then(|mut file| file.write_all(text.as_bytes()))
        .map_err(|error| Error::Io {
            path: path.display().to_string(),
            error,
        })
}
