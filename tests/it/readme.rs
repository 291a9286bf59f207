//! What the README shows is what the program answers. `BLESS=1` writes it.

use super::whathappened;

const START: &str = "<!-- answer: written by BLESS=1 cargo test --test it readme -->\n```text\n";
const END: &str = "```\n<!-- /answer -->";

/// The answer to the first command of the README, without its last lines, which hold the hash of
/// all rules.
fn answer() -> String {
    let from = ["input", "loki"].map(|folder| format!("fixtures/lab-cluster/{folder}"));
    let (code, out, err) = whathappened(&[
        "gpt2-small-7f3",
        "--from",
        &from[0],
        "--from",
        &from[1],
        "--width",
        "100",
        "--quiet",
    ]);
    assert_eq!(code, Some(0), "{err}");
    let (answer, _) = out.split_once("\nAs of ").unwrap();
    answer.to_owned()
}

#[test]
fn the_readme_shows_a_real_answer() {
    let readme = std::fs::read_to_string("README.md").unwrap();
    let (before, rest) = readme.split_once(START).unwrap();
    let (shown, after) = rest.split_once(END).unwrap();
    let answer = answer();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write("README.md", [before, START, &answer, END, after].concat()).unwrap();
    } else {
        assert_eq!(shown, answer, "BLESS=1 writes the answer");
    }
}

/// Every link in README and docs to a file of this repository.
#[test]
fn links_lead_somewhere() {
    let docs = std::fs::read_dir("docs").unwrap();
    let mut pages: Vec<std::path::PathBuf> = docs.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|ending| ending == "md"));
    let index = std::fs::read_to_string("docs/README.md").unwrap();
    for page in &pages {
        let name = page.file_name().unwrap().to_string_lossy();
        assert!(
            name == "README.md" || index.contains(&format!("({name})")),
            "docs/README.md does not list {name}"
        );
    }
    pages.push("README.md".into());
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for link in text.split("](").skip(1) {
            let target = link.split([')', '#']).next().unwrap_or_default();
            if target.is_empty() || target.contains("://") {
                continue;
            }
            let path = page.parent().unwrap().join(target);
            assert!(path.exists(), "{}: {target}", page.display());
        }
    }
}

/// The table of published failure classes names causes that are there, and names each of them.
#[test]
fn failure_classes_name_causes_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(root.join("docs/failure-classes.md")).unwrap();
    let known: std::collections::BTreeSet<String> = std::fs::read_dir(root.join("queries/causes"))
        .unwrap()
        .filter_map(|entry| {
            let name = entry.unwrap().file_name().into_string().unwrap();
            Some(name.strip_suffix(".sql")?.to_owned())
        })
        .collect();
    let named: std::collections::BTreeSet<String> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.contains('.') && !word.contains([' ', '/']))
        .map(str::to_owned)
        .collect();
    let unknown: Vec<&String> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "no such cause: {unknown:?}");
    let missing: Vec<&String> = known.difference(&named).collect();
    assert!(missing.is_empty(), "not in the table: {missing:?}");
}

/// Each class has what tests it, in the last column: a recorded case that is there, or what the crucible draws.
#[test]
fn failure_classes_name_tests_that_exist() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |path: &str| std::fs::read_to_string(root.join(path)).unwrap();
    let drawn = read("crucible/src/plan/fault.rs");
    let words = drawn.split(|sign: char| !sign.is_alphanumeric() && sign != ':');
    let words: std::collections::BTreeSet<&str> = words.collect();
    let text = read("docs/failure-classes.md");
    let mut rows = 0;
    for row in text.lines().filter(|line| line.starts_with("| ")).skip(1) {
        let cell = row.trim_end_matches(['|', ' ']).rsplit('|').next().unwrap();
        let tests: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
        assert!(!tests.is_empty(), "nothing tests: {row}");
        for test in tests {
            let is_there = match test.strip_prefix("Fault::") {
                Some(fault) => words.contains(format!("Self::{fault}").as_str()),
                None => root.join("fixtures").join(test).is_dir(),
            };
            assert!(is_there, "no such test: {test}");
        }
        rows += 1;
    }
    assert!(rows > 20, "{rows}");
}
