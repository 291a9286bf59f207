//! What stood in the way of people who were new to it.

mod answers;
mod arguments;
mod counts;
mod first_reading;
mod pipes;
mod wording;

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::whathappened;

const LAB: [&str; 2] = ["--from", "fixtures/lab-cluster/input"];

pub(crate) fn lab(args: &[&str]) -> (Option<i32>, String, String) {
    whathappened(&[args, &LAB, &["-q"]].concat())
}

pub(crate) fn json(args: &[&str]) -> Value {
    let (code, out, err) = lab(&[args, &["--format", "json"]].concat());
    assert_eq!(code, Some(0), "{err}");
    serde_json::from_str(&out).unwrap()
}

/// Runs it with something on standard input.
pub(crate) fn piped(args: &[&str], input: &[u8]) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_whathappened"))
        .args(args)
        .env_clear()
        .env("HOME", "/nonexistent")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}

pub(crate) fn imported(paths: &[&str]) -> (tempfile::TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store").display().to_string();
    let (code, _, err) = whathappened(&[&["import", "-q", "--store", &store], paths].concat());
    assert_eq!(code, Some(0), "{err}");
    (folder, store)
}

pub(crate) fn kept(store: &str, args: &[&str]) -> (Option<i32>, String, String) {
    whathappened(&[args, &["--store", store, "--no-fetch", "-q"]].concat())
}

/// Words of an output, however its lines are broken.
fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
