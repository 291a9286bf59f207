//! What a watch has said and was not sent on yet.

use std::time::Duration;

use serde::Deserialize;
use tokio::time::Instant;

use super::client::RequestError;
use super::decode::Decoder;
use super::error::short;
use crate::observation::{Observation, Rejection};
use crate::time::Nanos;

/// Changes that make a batch.
const FULL: usize = 500;

/// How long a change waits for others.
const WAIT: Duration = Duration::from_millis(200);

/// How long a bookmark waits: it only saves reading again.
const BOOKMARK_WAIT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(super) struct PendingChanges {
    observations: Vec<Observation>,
    changes: usize,
    position: Option<String>,
    due: Option<Instant>,
    rejected: u64,
    first_rejected: Option<String>,
}

/// What every line of a watch has.
#[derive(Deserialize)]
struct WatchLine {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    object: Object,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Object {
    metadata: Metadata,
    code: Option<u16>,
    message: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
struct Metadata {
    resource_version: Option<String>,
}

impl PendingChanges {
    /// Takes a line.
    ///
    /// # Errors
    /// The line ends the watch (`Status`) or cannot be used.
    pub(super) fn take(
        &mut self,
        line: &str,
        number: u64,
        decoder: &Decoder,
        now: Nanos,
    ) -> Result<(), RequestError> {
        let head: WatchLine = serde_json::from_str(line).map_err(|error| {
            let start: String = line.chars().take(60).collect();
            RequestError::Garbage(format!(
                "line {number}: {error}; it starts with {:?}",
                short(&start)
            ))
        })?;
        if head.kind == "ERROR" {
            return Err(RequestError::Status {
                code: head.object.code.unwrap_or_default(),
                message: short(&head.object.message.unwrap_or_default()),
                next: None,
            });
        }
        let wait = if head.kind == "BOOKMARK" {
            BOOKMARK_WAIT
        } else {
            WAIT
        };
        let due = Instant::now() + wait;
        self.due = Some(self.due.map_or(due, |before| before.min(due)));
        if let Some(version) = head.object.metadata.resource_version
            && !version.is_empty()
        {
            self.position = Some(version);
        }
        if head.kind == "BOOKMARK" {
            return Ok(());
        }
        self.changes += 1;
        match decoder.line(line, number, now, &mut self.observations) {
            Ok(()) | Err(Rejection::Irrelevant(_)) => Ok(()),
            Err(Rejection::Malformed(why)) => {
                Err(RequestError::Garbage(format!("line {number}: {why}")))
            }
        }
    }

    /// Counts a line that cannot be used.
    pub(super) fn reject(&mut self, why: &str) {
        self.rejected += 1;
        self.first_rejected.get_or_insert_with(|| why.to_owned());
        self.due.get_or_insert_with(|| Instant::now() + WAIT);
    }

    pub(super) fn is_due(&self) -> bool {
        self.due.is_some()
    }

    /// When it is to be sent on; far away where there is nothing.
    pub(super) fn due(&self) -> Instant {
        self.due.unwrap_or_else(|| Instant::now() + BOOKMARK_WAIT)
    }

    pub(super) fn is_full(&self) -> bool {
        self.changes >= FULL
    }

    /// How many lines could not be used, and why the first.
    pub(super) fn take_rejected(&mut self) -> Option<(u64, String)> {
        let first = self.first_rejected.take()?;
        Some((std::mem::take(&mut self.rejected), first))
    }

    /// What has come, and where the watch is after it.
    pub(super) fn drain(&mut self) -> (Vec<Observation>, Option<String>) {
        self.changes = 0;
        self.due = None;
        (std::mem::take(&mut self.observations), self.position.take())
    }
}
