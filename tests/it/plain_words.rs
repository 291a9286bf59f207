//! What a person reads is plain English: words and phrases that are stiff, archaic or translated do
//! not come back.

use std::path::PathBuf;

use clap::CommandFactory as _;
use regex::Regex;

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
const PHRASES: [&str; 28] = [
    "answers no ",
    "as it is told",
    "broke off",
    "by whom is not said",
    "bears the name",
    "come again",
    "does not get on",
    "fell silent",
    "for want of",
    "got on",
    "how it stands",
    "in what was read",
    "is no address",
    "gets on",
    "is no time",
    "is there and ",
    "is there but ",
    "let be",
    "made anew",
    "no more of that",
    "nothing points to",
    "of its own accord",
    "names nobody",
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
    paths.extend(["causes", "signals"].map(|of| PathBuf::from(format!("queries/{of}/README.md"))));
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

/// What `rules columns` prints of them.
#[test]
fn the_descriptions_of_views() {
    let paths = files("queries/views", &[".sql"]);
    assert_plain(&odd_in(&paths, |line| line.starts_with("-- ")));
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

/// Sources of programs, without those of tests.
fn sources(folder: &std::path::Path, into: &mut Vec<PathBuf>) {
    let all = std::fs::read_dir(folder).unwrap();
    for path in all.map(|entry| entry.unwrap().path()) {
        let name = path.file_name().unwrap().to_str().unwrap();
        if path.is_dir() {
            if !matches!(name, "tests" | "fixtures" | "snapshots") {
                sources(&path, into);
            }
        } else if name.ends_with(".rs") && !name.ends_with("tests.rs") {
            into.push(path);
        }
    }
}

/// The sentences among the literals of a source before its tests, each with its line. What stands in braces
/// is filled, and statements are read by the engine.
fn sentences(source: &str) -> Vec<(usize, String)> {
    let tests = Regex::new(r"#\[cfg\(test\)\]\s*\n(?:pub(?:\([^)]*\))? )?mod \w+ \{").unwrap();
    let end = tests
        .find(source)
        .map_or(source.len(), |found| found.start());
    let code: Vec<&str> = source[..end]
        .lines()
        .map(|line| match line.trim_start().starts_with("//") {
            true => "",
            false => line,
        })
        .collect();
    // A quote as a character opens no literal.
    let code = code.join("\n").replace("'\"'", "' '");
    let literal = Regex::new(r##"(?s)r#"(.*?)"#|"((?:[^"\\]|\\.)*)""##).unwrap();
    let filled = Regex::new(r"\{[^}]*\}").unwrap();
    let mut found = Vec::new();
    for parts in literal.captures_iter(&code) {
        let text = parts.get(1).or_else(|| parts.get(2)).unwrap();
        let is_statement = text.as_str().contains("SELECT ") || text.as_str().contains("NOT IN (");
        if text.as_str().trim().contains(' ') && !is_statement {
            let line = code[..text.start()].matches('\n').count() + 1;
            found.push((line, filled.replace_all(text.as_str(), "…").into_owned()));
        }
    }
    found
}

#[test]
fn every_sentence_in_the_sources() {
    let mut paths = Vec::new();
    for package in ["", "connectors", "core", "http", "model", "slack", "store"] {
        sources(&std::path::Path::new(package).join("src"), &mut paths);
    }
    paths.sort();
    let mut found = Vec::new();
    let mut all = 0;
    for path in paths {
        let source = std::fs::read_to_string(&path).unwrap();
        for (line, text) in sentences(&source) {
            all += 1;
            let place = format!("{}:{line}", path.display());
            // One line, so that a phrase is found across its break.
            found.extend(odd(
                &place,
                &text.split_whitespace().collect::<Vec<_>>().join(" "),
            ));
        }
    }
    assert!(all > 2_000, "{all} sentences");
    assert_plain(&found);
}
