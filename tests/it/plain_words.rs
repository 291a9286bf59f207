//! What a person reads is plain English: words and phrases that are stiff, archaic or translated do
//! not come back.

use std::path::PathBuf;

use clap::CommandFactory as _;

/// Words that stand for a plainer one.
const WORDS: [&str; 31] = [
    "anew",
    "bear",
    "bears",
    "befall",
    "befalls",
    "befell",
    "bore",
    "borne",
    "everybody",
    "forgets",
    "forgot",
    "forgotten",
    "heard",
    "hurt",
    "hurts",
    "meanwhile",
    "mend",
    "mended",
    "nobody",
    "sight",
    "somebody",
    "speak",
    "speaks",
    "tell",
    "tells",
    "told",
    "trouble",
    "troubles",
    "whoever",
    "whom",
    "wish",
];

/// Turns of phrase, in lower case.
const PHRASES: [&str; 24] = [
    "answers no ",
    "as it is told",
    "broke off",
    "by whom is not said",
    "come again",
    "fell silent",
    "for want of",
    "got on",
    "how it stands",
    "in what was read",
    "is no address",
    "is no time",
    "is there and ",
    "is there but ",
    "let be",
    "made anew",
    "no more of that",
    "nothing points to",
    "of its own accord",
    "speaks against",
    "stopped answering",
    "taken away",
    "was not asked",
    "what would have",
];

/// The odd words and phrases of a text, each with where it stands.
fn odd(place: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line = line.to_lowercase();
        let words = line.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        let word = words.filter(|word| WORDS.contains(word)).map(str::to_owned);
        let phrases = PHRASES.iter().filter(|phrase| line.contains(**phrase));
        let phrases = phrases.map(|phrase| (*phrase).to_owned());
        let number = number + 1;
        found.extend(
            word.chain(phrases)
                .map(|odd| format!("{place}:{number}: {odd}: {line}")),
        );
    }
    found
}

fn assert_plain(found: &[String]) {
    assert!(found.is_empty(), "say it plainly:\n{}", found.join("\n"));
}

fn files(folder: &str, ends: &[&str]) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = all
        .map(|entry| entry.unwrap().path())
        .filter(|path| ends.iter().any(|end| path.to_string_lossy().ends_with(end)))
        .collect();
    paths.sort();
    paths
}

fn odd_in(paths: &[PathBuf], is_ours: impl Fn(&str) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for path in paths {
        let text = std::fs::read_to_string(path).unwrap();
        // Lines that are not ours stay empty, so that numbers are those of the file.
        let lines: Vec<&str> = text
            .lines()
            .map(|line| if is_ours(line) { line } else { "" })
            .collect();
        found.extend(odd(&path.to_string_lossy(), &lines.join("\n")));
    }
    found
}

#[test]
fn the_help_of_every_verb() {
    fn walk(command: &mut clap::Command, name: &str, found: &mut Vec<String>) {
        found.extend(odd(name, &command.render_long_help().to_string()));
        for verb in command.get_subcommands_mut() {
            let name = format!("{name} {}", verb.get_name());
            walk(verb, &name, found);
        }
    }
    let mut found = Vec::new();
    walk(
        &mut whathappened::cli::Cli::command(),
        "whathappened",
        &mut found,
    );
    assert_plain(&found);
}

#[test]
fn the_readme_and_the_guides() {
    let mut paths: Vec<PathBuf> = ["README.md", "SECURITY.md"].map(PathBuf::from).to_vec();
    paths.extend(files("docs", &[".md"]));
    assert_plain(&odd_in(&paths, |_| true));
    // Names of fields are for programs.
    let described = |line: &str| {
        let line = line.trim_start();
        line.starts_with("\"description\"") || line.starts_with("\"summary\"")
    };
    assert_plain(&odd_in(&files("docs", &[".json"]), described));
}

#[test]
fn the_headers_of_rules() {
    const OURS: [&str; 4] = [
        "-- title:",
        "-- summary:",
        "-- advice:",
        "-- overturned_by:",
    ];
    let paths = files("queries/causes", &[".sql"]);
    let is_ours = |line: &str| OURS.iter().any(|key| line.starts_with(key));
    assert_plain(&odd_in(&paths, is_ours));
}

#[test]
fn the_titles_of_figures() {
    const OURS: [&str; 3] = ["-- title:", "-- definition:", "-- coverage:"];
    let is_ours = |line: &str| OURS.iter().any(|key| line.starts_with(key));
    assert_plain(&odd_in(&files("queries/fleet", &[".sql"]), is_ours));
}

#[test]
fn the_titles_of_signals() {
    let paths = files("queries/signals", &[".toml"]);
    assert_plain(&odd_in(&paths, |line| line.starts_with("title = ")));
}

#[test]
fn the_answers_to_every_fixture() {
    let paths = files("tests/golden", &[".txt", ".md", ".json"]);
    assert!(!paths.is_empty());
    assert_plain(&odd_in(&paths, |_| true));
}
