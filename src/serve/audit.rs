//! Who asked what through which face, and what came of it.
//!
//! One line of JSON each in `audit.ndjson` in the store's folder, which only
//! grows, and an event of the program's own log.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use serde::Serialize;
use whathappened_connectors::time::{Nanos, rfc3339};

/// The file's name in the store's folder.
const FILE: &str = "audit.ndjson";

/// Longest question that is kept; statements can be megabytes.
const LONGEST: usize = 4_096;

/// Something that somebody asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked<'a> {
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

/// The audit trail.
#[derive(Debug, Default)]
pub struct Audit {
    file: Mutex<Option<File>>,
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
        let opened = OpenOptions::new()
            .create(true)
            .append(true)
            .open(store.join(FILE));
        let file = opened
            .map_err(|error| tracing::warn!("no audit trail in {}: {error}", store.display()))
            .ok();
        Self {
            file: Mutex::new(file),
        }
    }

    /// Writes down what somebody asked.
    pub fn write(&self, asked: &Asked<'_>, now: Nanos) {
        let line = Line {
            time: rfc3339(now),
            caller: asked.caller,
            face: asked.face,
            what: shortened(asked.what),
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
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        // One write a line, so that the lines of several processes do not mix.
        if let Some(open) = file.as_mut()
            && let Err(error) = open.write_all(text.as_bytes())
        {
            tracing::warn!("the audit trail cannot be written: {error}");
        }
    }
}

fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_who_asked_what_and_what_came_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let asked = Asked {
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
        // Without a folder there is no trail, and nothing breaks.
        Audit::of(&folder.path().join("none")).write(&asked, 0);
    }
}
