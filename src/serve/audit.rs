//! Who asked what through which face, and what came of it.
//!
//! One line of JSON each in `audit.ndjson` in the store's folder, which only
//! grows, and an event of the program's own log.

use std::borrow::Cow;
use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use whathappened_model::redact::redact;
use whathappened_model::time::{Nanos, rfc3339};

/// The file's name in the store's folder.
const FILE: &str = "audit.ndjson";

/// Longest question that is kept; statements can be megabytes.
const LONGEST: usize = 4_096;
/// So much more is read for secrets that reach over its end.
const MARGIN: usize = 1_024;

/// Something that somebody asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry<'a> {
    /// Who: a caller of the configuration, or a user of Slack.
    pub caller: &'a str,
    /// `api`, `sql`, `import` or `slack`.
    pub face: &'static str,
    /// What was asked, in their words.
    pub what: &'a str,
    /// `answered`, `refused` or `failed`, or an HTTP status.
    pub outcome: &'a str,
    /// Rows that were told, where there are rows.
    pub rows: Option<u64>,
    /// How long it took.
    pub took: Duration,
}

/// Lines that wait in memory while the disk is full, before questions are refused.
const WAITING: usize = 4_096;

/// The audit trail.
#[derive(Debug, Default)]
pub struct Audit {
    trail: Mutex<AuditLog>,
}

#[derive(Debug, Default)]
struct AuditLog {
    file: Option<File>,
    /// What could not be written yet.
    waiting: Vec<String>,
    /// A line may have been written in part.
    is_torn: bool,
    /// Why nothing can be written.
    last_error: Option<String>,
}

impl AuditLog {
    /// Writes what waits, line by line; each in one write, so that the lines of
    /// several processes do not mix.
    fn write(&mut self) {
        let Some(file) = &mut self.file else {
            self.waiting.clear();
            return;
        };
        let mut written = 0;
        self.last_error = None;
        for line in &self.waiting {
            let torn = if self.is_torn { "\n" } else { "" };
            match file.write_all(format!("{torn}{line}").as_bytes()) {
                Ok(()) => {
                    self.is_torn = false;
                    written += 1;
                }
                Err(error) => {
                    tracing::warn!("cannot write the audit trail: {error}");
                    self.is_torn = true;
                    self.last_error = Some(error.to_string());
                    break;
                }
            }
        }
        self.waiting.drain(..written);
    }
}

#[derive(Serialize)]
struct Line<'a> {
    time: String,
    caller: &'a str,
    face: &'a str,
    what: &'a str,
    outcome: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    rows: Option<u64>,
    took_ms: u64,
}

impl Audit {
    /// The trail in a store's folder; without one where the folder cannot be written.
    #[must_use]
    pub fn of(store: &Path) -> Self {
        let opened = whathappened_store::private_file()
            .create(true)
            .append(true)
            .open(store.join(FILE));
        let file = opened
            .map_err(|error| {
                tracing::warn!(
                    "cannot open the audit trail in {}: {error}",
                    store.display()
                );
            })
            .ok();
        Self {
            trail: Mutex::new(AuditLog {
                file,
                ..AuditLog::default()
            }),
        }
    }

    /// Writes down what somebody asked.
    pub fn write(&self, asked: &AuditEntry<'_>, now: Nanos) {
        // What people ask with may be a secret, too.
        let what = redacted(asked.what);
        let line = Line {
            time: rfc3339(now),
            caller: asked.caller,
            face: asked.face,
            what: &what,
            outcome: asked.outcome,
            rows: asked.rows,
            took_ms: u64::try_from(asked.took.as_millis()).unwrap_or(u64::MAX),
        };
        tracing::info!(
            target: "whathappened::audit",
            caller = line.caller,
            face = line.face,
            what = line.what,
            outcome = line.outcome,
            rows = line.rows,
            took_ms = line.took_ms,
            "{} asked by {}: {}", line.face, line.caller, line.outcome
        );
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        let mut trail = self.trail.lock().unwrap_or_else(PoisonError::into_inner);
        trail.waiting.push(text);
        trail.write();
    }

    /// Why nothing can be written down, once too much waits for it: what leaves no
    /// trace is not answered.
    #[must_use]
    pub fn blocked_by(&self) -> Option<String> {
        let mut trail = self.trail.lock().unwrap_or_else(PoisonError::into_inner);
        if !trail.waiting.is_empty() {
            trail.write();
        }
        let full = trail.waiting.len() >= WAITING;
        trail.last_error.clone().filter(|_| full)
    }

    /// Why some of it waits to be written down.
    #[must_use]
    pub fn waits(&self) -> Option<String> {
        let trail = self.trail.lock().unwrap_or_else(PoisonError::into_inner);
        trail.last_error.clone()
    }
}

/// What was asked, without secrets and no longer than a line may be. In a text of SQL two
/// quotes are one, which a key and its value may stand in.
fn redacted(asked: &str) -> String {
    // What is cut off in the middle may not look like a secret any more.
    let near = shortened(asked, LONGEST + MARGIN);
    let plain = near.replace("''", "'");
    let clean = match redact(&plain) {
        Cow::Owned(clean) if plain.len() < near.len() => clean,
        _ => redact(near).into_owned(),
    };
    shortened(&clean, LONGEST).to_owned()
}

fn shortened(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_in_a_statement_is_not_kept() {
        for (asked, kept) in [
            (
                "SELECT '{''password'': ''qwlrmxzk''}'",
                "SELECT '{'password': '[redacted]'}'",
            ),
            ("SELECT 'password=qwlrmxzk'", "SELECT 'password=[redacted]'"),
            ("SELECT '' AS a, 'it''s'", "SELECT '' AS a, 'it''s'"),
        ] {
            assert_eq!(redacted(asked), kept);
        }
        let long = format!(
            "SELECT '{} ghp_Xk29vLq8RtYw3ZbN7mPd5HsJ4gFc6QeU1aTo'",
            "x".repeat(LONGEST - 20)
        );
        assert!(!redacted(&long).contains("ghp_"), "{}", redacted(&long));
    }

    #[test]
    fn a_line_says_who_asked_what_and_what_came_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let asked = AuditEntry {
            caller: "team-a",
            face: "sql",
            what: &format!("SELECT '{}'\n", "é".repeat(LONGEST)),
            outcome: "200",
            rows: Some(3),
            took: Duration::from_millis(12),
        };
        for _ in 0..2 {
            Audit::of(folder.path()).write(&asked, 0);
        }
        let text = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        assert_eq!(text.lines().count(), 2);
        let line: serde_json::Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
        assert_eq!(line["time"], "1970-01-01T00:00:00Z");
        assert_eq!(
            (&line["caller"], &line["rows"]),
            (&"team-a".into(), &3.into())
        );
        assert!(line["what"].as_str().unwrap().len() <= LONGEST);
        assert_eq!(Audit::of(folder.path()).blocked_by(), None);
        // Without a folder there is no trail, and nothing breaks.
        Audit::of(&folder.path().join("none")).write(&asked, 0);
    }

    /// `/dev/full` is a disk without room.
    #[cfg(target_os = "linux")]
    #[test]
    fn on_a_full_disk_lines_wait_and_then_nothing_is_answered() {
        let full = File::options().write(true).open("/dev/full").unwrap();
        let audit = Audit::default();
        audit.trail.lock().unwrap().file = Some(full);
        let asked = AuditEntry {
            caller: "a",
            face: "api",
            what: "GET /x?password=hunter2abc",
            outcome: "200",
            rows: None,
            took: Duration::ZERO,
        };
        audit.write(&asked, 0);
        assert!(audit.waits().is_some() && audit.blocked_by().is_none());
        for _ in 1..WAITING {
            audit.write(&asked, 0);
        }
        assert!(audit.blocked_by().is_some());
        // Room again: nothing was lost.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit");
        audit.trail.lock().unwrap().file = Some(File::create(&path).unwrap());
        assert_eq!(audit.blocked_by(), None);
        let text = std::fs::read_to_string(path).unwrap();
        let lines = text.lines().filter(|line| !line.is_empty());
        assert_eq!(lines.count(), WAITING);
        assert!(!text.contains("hunter2"));
    }
}
