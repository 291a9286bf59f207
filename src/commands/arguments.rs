//! The command line as people type it: options may stand before the verb, and hints keep
//! those that say where to look.

use std::ffi::OsString;

use clap::CommandFactory as _;

use crate::cli::Cli;

/// Options that say where to look; the next word is their value where one is true.
const WHERE: [(&str, bool); 6] = [
    ("--from", true),
    ("--store", true),
    ("--config", true),
    ("--kubeconfig", true),
    ("--context", true),
    ("--no-fetch", false),
];

/// How kubectl calls a plugin's program.
const PLUGIN: &str = "kubectl-whathappened";

/// Verbs that hints name.
const VERBS: [&str; 3] = ["experiments", "explain", "sql"];

/// What a person typed to start the program, for its help: by the name of a plugin,
/// kubectl did it.
#[must_use]
pub fn program(words: &[OsString]) -> &'static str {
    let called = words.first().map(std::path::Path::new);
    if called.and_then(std::path::Path::file_stem) == Some(PLUGIN.as_ref()) {
        "kubectl whathappened"
    } else {
        "whathappened"
    }
}

/// The words with the verb before its options, where it came after them; so with a verb of
/// a verb, as in `store --store FOLDER status`.
#[must_use]
pub fn verb_first(mut words: Vec<OsString>) -> Vec<OsString> {
    let root = Cli::command();
    let mut level = &root;
    let mut place = 1;
    loop {
        let takes_value = |word: &str| {
            let own = level
                .get_subcommands()
                .flat_map(clap::Command::get_arguments);
            let mut known = root.get_arguments().chain(own);
            known.any(|arg| {
                let long = arg.get_long().map(|long| format!("--{long}"));
                let short = arg.get_short().map(|short| format!("-{short}"));
                (long.as_deref() == Some(word) || short.as_deref() == Some(word))
                    && arg.get_action().takes_values()
            })
        };
        let mut at = place;
        while let Some(word) = words.get(at).and_then(|word| word.to_str()) {
            if !word.starts_with('-') || word == "-" || word == "--" {
                break;
            }
            at += if takes_value(word) { 2 } else { 1 };
        }
        let verb = words.get(at).and_then(|word| {
            let mut verbs = level.get_subcommands();
            verbs.find(|one| one.get_name() == word.as_os_str())
        });
        let Some(verb) = verb else {
            return words;
        };
        let word = words.remove(at);
        words.insert(place, word);
        (level, place) = (verb, place + 1);
    }
}

/// The verb that somebody meant whose first word is none, but nearly one: `reprot`.
#[must_use]
pub fn mistyped_verb(words: &[OsString]) -> Option<String> {
    let word = words.get(1)?.to_str()?;
    let root = Cli::command();
    if root.find_subcommand(word).is_some() {
        return None;
    }
    let verbs = root.get_subcommands().filter(|verb| !verb.is_hide_set());
    let mut near: Vec<(usize, &str)> = verbs
        .map(clap::Command::get_name)
        .filter(|verb| verb.len() > 3)
        .map(|verb| (strsim::damerau_levenshtein(word, verb), verb))
        .filter(|(apart, verb)| *apart <= verb.len() / 3)
        .collect();
    near.sort_unstable();
    near.first().map(|(_, verb)| (*verb).to_owned())
}

/// What is wrong with a second name behind the first, which the parser takes for a verb, and what
/// helps; `reported` is what the parser says.
#[must_use]
pub fn second_name(reported: &str) -> Option<(String, String)> {
    let (_, rest) = reported.split_once("the subcommand '")?;
    let (word, rest) = rest.split_once("' cannot be used with '")?;
    if !rest.starts_with("[EXPERIMENT]") {
        return None;
    }
    let root = Cli::command();
    Some(match root.find_subcommand(word) {
        Some(_) => (
            format!("{word:?} is a command, and stands behind a name"),
            format!("a command comes first: whathappened {word}"),
        ),
        None => (
            format!("{word:?} is a second name: one question is about one name"),
            format!("for one of its pods: --pod {word}; for everything: '*'"),
        ),
    })
}

/// The options that say where to look, as they were typed.
#[must_use]
pub fn given(words: &[OsString]) -> String {
    let mut given = String::new();
    let mut words = words.iter().skip(1).filter_map(|word| word.to_str());
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or(word);
        let Some((_, has_value)) = WHERE.iter().find(|(known, _)| *known == name) else {
            continue;
        };
        given.push(' ');
        given.push_str(&quoted(word));
        if *has_value
            && !word.contains('=')
            && let Some(value) = words.next()
        {
            given.push(' ');
            given.push_str(&quoted(value));
        }
    }
    given
}

/// A hint whose command looks where this one did.
#[must_use]
pub fn with_options(hint: &str, given: &str) -> String {
    let mut hint = hint.to_owned();
    for verb in VERBS {
        let command = format!("whathappened {verb}");
        hint = hint.replace(&command, &format!("{command}{given}"));
    }
    hint
}

/// A hint whose command looks where the one at hand does.
#[must_use]
pub fn with_own_options(hint: &str) -> String {
    let words: Vec<OsString> = std::env::args_os().collect();
    with_options(hint, &given(&words))
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:=@,+%".contains(letter);
    if word.chars().all(plain) && !word.is_empty() {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', "'\\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn help_names_kubectl_where_kubectl_called() {
        for (called, shown) in [
            ("/usr/bin/kubectl-whathappened", "kubectl whathappened"),
            ("kubectl-whathappened.exe", "kubectl whathappened"),
            ("/usr/bin/whathappened", "whathappened"),
            ("w", "whathappened"),
        ] {
            assert_eq!(program(&words(called)), shown);
        }
        assert_eq!(program(&[]), "whathappened");
    }

    #[test]
    fn options_may_stand_before_the_verb() {
        for (typed, meant) in [
            ("w --from x experiments", "w experiments --from x"),
            ("w -q sql help", "w sql -q help"),
            (
                "w --from=x --tz utc sql help",
                "w sql --from=x --tz utc help",
            ),
            ("w --from sql", "w --from sql"),
            ("w sql --from x", "w sql --from x"),
            ("w my-run --from x", "w my-run --from x"),
            ("w --from x my-run sql", "w --from x my-run sql"),
            ("w --store x store status", "w store status --store x"),
            ("w store --store x status", "w store status --store x"),
            (
                "w rules --rules x show sched.preempted",
                "w rules show --rules x sched.preempted",
            ),
            ("w store backup to --store x", "w store backup to --store x"),
        ] {
            assert_eq!(verb_first(words(typed)), words(meant), "{typed}");
        }
    }

    #[test]
    fn hints_look_where_the_question_did() {
        let given = given(&words("w nope --from a/b --explain --no-fetch --store=c"));
        assert_eq!(given, " --from a/b --no-fetch --store=c");
        assert_eq!(
            with_options("list all experiments: whathappened experiments", &given),
            "list all experiments: whathappened experiments --from a/b --no-fetch --store=c"
        );
        assert_eq!(quoted("a b"), "'a b'");
    }
}
