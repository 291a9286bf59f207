//! The command line: help, exit codes, errors that help.

use crate::whathappened;

const FROM: [&str; 2] = ["--from", "fixtures/lab-cluster/input"];

fn run(args: &[&str]) -> (Option<i32>, String, String) {
    whathappened(args)
}

#[test]
fn an_unknown_name_gets_the_nearest_ones() {
    let (code, out, err) = run(&[&["gpt2-small"], &FROM[..]].concat());
    assert_eq!(code, Some(0), "the stem of pod names is enough: {err}");
    assert!(out.contains("node.not_ready"));
    let (code, out, err) = run(&[&["gpt2-smal-7f3"], &FROM[..]].concat());
    assert_eq!((code, out.as_str()), (Some(3), ""));
    assert!(err.contains("did you mean: gpt2-small-7f3"), "{err}");
}

#[test]
fn wrong_use_says_what_to_write() {
    for (args, says) in [
        (&["x"][..], "or name files to read with --from"),
        (&["x", "--from", "/no/such/file"], "/no/such/file"),
        (
            &["x", "--from", "fixtures", "--since", "tomorrow"],
            "2026-11-21T15:20:00Z",
        ),
        (&["x", "--from", "fixtures", "--format", "xml"], "table"),
    ] {
        let (code, _, err) = run(args);
        assert_eq!(code, Some(2), "{args:?}: {err}");
        assert!(err.contains(says), "{args:?}: {err}");
    }
}

#[test]
fn the_table_fits_its_width() {
    for width in [80, 200] {
        let (_, out, _) = run(&[
            &["imagenet-resnet-88", "--width", &width.to_string()],
            &FROM[..],
        ]
        .concat());
        let widest = out.lines().map(|line| line.chars().count()).max().unwrap();
        assert!(widest <= width, "{widest} > {width}");
    }
}

#[test]
fn every_verb_has_help_a_page_and_completions() {
    for verb in [
        "experiments",
        "sql",
        "import",
        "collect",
        "explain",
        "store",
        "doctor",
        "init",
        "rules",
        "accuracy",
        "completions",
        "man",
    ] {
        let (code, out, _) = run(&[verb, "--help"]);
        assert_eq!(code, Some(0));
        assert!(out.contains("Usage:"), "{verb}");
    }
    assert!(run(&["man"]).1.contains(".TH"));
    assert!(run(&["completions", "bash"]).1.contains("whathappened"));
}

#[test]
fn experiments_are_listed() {
    let (code, out, _) = run(&[&["experiments", "--quiet", "--format", "csv"], &FROM[..]].concat());
    assert_eq!(code, Some(0));
    assert_eq!(out.lines().count(), 9, "{out}");
    assert!(out.contains("rlhf-prod-eval"));
}
