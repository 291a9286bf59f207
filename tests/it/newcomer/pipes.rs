//! Named pipes that are given as files.

use std::process::Command;
use std::time::Duration;

use crate::whathappened;

#[test]
fn a_pipe_that_nobody_writes_to_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|made| made.success()) {
        return whathappened_loopback::skipped("no mkfifo");
    }
    let pipe = pipe.display().to_string();
    let (code, _, err) = whathappened(&["*", "--from", &pipe]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("nothing was written to it"), "{err}");
}

#[test]
fn a_pipe_that_says_nothing_is_said_to_be_waited_for() {
    use std::io::Write as _;
    let folder = tempfile::tempdir().unwrap();
    let pipe = folder.path().join("pipe");
    let made = Command::new("mkfifo").arg(&pipe).status();
    if !made.is_ok_and(|made| made.success()) {
        return whathappened_loopback::skipped("no mkfifo");
    }
    let path = pipe.clone();
    let writer = std::thread::spawn(move || {
        let mut to = std::fs::File::options().write(true).open(path).unwrap();
        std::thread::sleep(Duration::from_secs(4));
        to.write_all(b"2026-11-20T10:00:00Z ERROR x\n").unwrap();
    });
    let pipe = pipe.display().to_string();
    let (_, _, err) = whathappened(&["*", "--from", &pipe]);
    writer.join().unwrap();
    let told = format!("Waiting for {pipe}: it is a named pipe");
    assert_eq!(err.matches(&told).count(), 1, "{err}");
}
