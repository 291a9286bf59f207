//! `--format html`: one file that needs nothing else, for every recording there is.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

use whathappened::answer::IncidentRole;
use whathappened::case::Rules;
use whathappened::render::Format;

use crate::{golden, whathappened};

/// Bytes of a page, at most.
const CAP: usize = 3_000_000;

fn ask(name: &str, input: &str, format: &str) -> String {
    let args = [name, "--from", input, "--quiet", "--format", format];
    let (code, out, err) = whathappened(&args);
    assert_eq!(code, Some(0), "{name} of {input}: {err}");
    out
}

fn between<'a>(text: &'a str, begin: &str, end: &str) -> &'a str {
    let (_, rest) = text.split_once(begin).unwrap();
    rest.split_once(end).unwrap().0
}

/// A text as it stands in a page.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    text.replace('>', "&gt;").replace('"', "&quot;")
}

/// What holds of every page.
fn judge(page: &str, of: &str) {
    assert!(page.len() < CAP, "{of}: {} bytes", page.len());
    let policy = between(
        page,
        "http-equiv=\"Content-Security-Policy\" content=\"",
        "\"",
    );
    assert!(policy.starts_with("default-src 'none';"), "{of}: {policy}");
    for (kind, begin, end) in [
        ("style", "<style>", "</style>"),
        ("script", "<script>", "</script>"),
    ] {
        assert_eq!(page.matches(begin).count(), 1, "{of}");
        let hash = STANDARD.encode(Sha256::digest(between(page, begin, end)));
        assert!(
            policy.contains(&format!("{kind}-src 'sha256-{hash}'")),
            "{of}: {kind}"
        );
    }
    for wrong in [
        " src=",
        "@import",
        "url(http",
        "<link",
        "<iframe",
        " style=\"",
        " onclick=",
        " onload=",
    ] {
        assert!(!page.contains(wrong), "{of}: {wrong}");
    }
    let mut links = page.split(" href=\"").skip(1);
    assert!(
        links.all(|link| link.starts_with('#')),
        "{of}: a link leads elsewhere"
    );
}

#[tokio::test]
async fn every_recording_is_a_page_of_its_own() {
    let rules = Arc::new(Rules::load(&[]).unwrap());
    for fixture in golden::fixtures() {
        let Some(name) = golden::questions(&fixture).into_iter().next() else {
            continue;
        };
        let answer = golden::ask(&golden::case(&fixture, &rules), &name).await;
        let page = golden::written(&answer, Format::Html, 80);
        judge(&page, &fixture);
        let mut of_it = answer.incidents.iter();
        if let Some(main) = of_it.find(|one| one.role == IncidentRole::Main) {
            let summary = escaped(&main.summary);
            assert!(page.contains(&summary), "{fixture}: {summary}");
        }
    }
}

#[test]
fn everything_and_a_file_and_the_same_bytes() {
    let input = "fixtures/lab-cluster/input";
    judge(&ask("*", input, "html"), "everything");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("incident.html");
    let name = file.to_str().unwrap();
    let args = [
        "gpt2-small-7f3",
        "--from",
        input,
        "--quiet",
        "--format",
        "html",
        "-o",
        name,
    ];
    let (code, out, err) = whathappened(&args);
    assert_eq!((code, out.as_str()), (Some(0), ""), "{err}");
    let page = std::fs::read_to_string(&file).unwrap();
    assert_eq!(page, ask("gpt2-small-7f3", input, "html"));

    let missing = folder.path().join("no/such/folder.html");
    let args = [
        "gpt2-small-7f3",
        "--from",
        input,
        "-q",
        "-o",
        missing.to_str().unwrap(),
    ];
    let (code, _, err) = whathappened(&args);
    assert_eq!(code, Some(1), "{err}");
    assert!(err.contains("folder.html"), "{err}");
}

#[test]
fn the_verdict_is_that_of_markdown() {
    let input = "fixtures/lab-cluster/input";
    let (page, md) = (
        ask("gpt2-small-7f3", input, "html"),
        ask("gpt2-small-7f3", input, "md"),
    );
    // Names and causes are code there and marked here; the words are the same.
    let plain = |text: &str| text.replace(['`', '*', '\\'], "");
    let summary = between(&md, "\n**", "**\n");
    assert!(page.contains(&escaped(&plain(summary))), "{summary}");
    let cause = between(&md, "- Cause: ", "\n");
    for part in plain(cause).split(" · ") {
        assert!(page.contains(&escaped(part)), "{part}");
    }
}
