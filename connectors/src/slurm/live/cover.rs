//! What was asked of Slurm and what came of it, as rows of coverage.

use super::answer::DecodedAnswer;
use super::job_scope::JobScope;
use crate::coverage::{Coverage, Mode, Status};
use crate::http::HttpError;

/// A kind of thing that Slurm is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Jobs of accounting.
    Accounting,
    /// Jobs that the controller still knows.
    Queue,
    /// Nodes as they are now.
    Nodes,
    /// What happened to nodes before.
    NodeEvents,
}

impl Kind {
    pub(super) const ALL: [Self; 4] =
        [Self::Accounting, Self::Queue, Self::Nodes, Self::NodeEvents];

    /// The name in coverage rows.
    pub(super) fn resource(self) -> &'static str {
        match self {
            Self::Accounting => "accounting",
            Self::Queue => "queue",
            Self::Nodes => "nodes",
            Self::NodeEvents => "node_events",
        }
    }

    /// What it tells.
    pub(super) fn shows(self) -> &'static str {
        match self {
            Self::Accounting => {
                "how jobs ended, who cancelled them, which nodes they ran on, every attempt and step"
            }
            Self::Queue => "jobs of the last minutes, and why others wait",
            Self::Nodes => "which nodes are down or drained, why, since when, and who set it",
            Self::NodeEvents => "when nodes were down or drained before, why, and who set it",
        }
    }
}

/// What to do where Slurm says no: its tokens last half an hour by default.
fn advice(failure: &HttpError) -> &'static str {
    match failure {
        _ if failure.is_denied() => {
            "the token is missing, wrong or has expired (create one with `scontrol token lifespan=3600`), or its user is not allowed to see this"
        }
        _ if without_accounting(failure) => {
            "this Slurm has no accounting, or slurmdbd is down: only what the controller still knows was read"
        }
        HttpError::BadRequest(_) => "check the configuration of Slurm",
        _ => failure.hint(),
    }
}

/// Whether there is no accounting to be asked.
fn without_accounting(failure: &HttpError) -> bool {
    let text = failure.to_string().to_ascii_lowercase();
    text.contains("slurmdbd") || text.contains("accounting storage") || text.contains("database")
}

/// A trouble in words, with what to do about it.
pub(super) fn words(failure: &HttpError) -> String {
    format!("{failure}; {}", advice(failure))
}

/// The row of what one kind gave.
pub(super) fn row(
    source: &str,
    kind: Kind,
    wanted: &JobScope,
    received: Result<&DecodedAnswer, &HttpError>,
    note: Option<String>,
) -> Coverage {
    let mut row = Coverage::new(source, kind.resource());
    if matches!(kind, Kind::Accounting | Kind::NodeEvents) {
        row = row.asked(Some((wanted.from, wanted.to)));
    } else {
        row.mode = Mode::Snapshot;
    }
    let mut details = Vec::new();
    match received {
        Ok(received) => {
            row.rows = received.records;
            let mut status = Status::Complete;
            if received.rejected > 0 {
                status = Status::Truncated;
                details.push(format!(
                    "{} records were not as Slurm writes them",
                    received.rejected
                ));
            } else if note.is_some() {
                status = Status::Sampled;
            }
            details.extend(note);
            row.ended(status, &details)
        }
        Err(failure) => {
            let status = match failure.status() {
                Status::Denied => Status::Denied,
                // What a site does not have cannot be missing from what it says.
                _ if without_accounting(failure) && kind == Kind::Accounting => {
                    Status::NotConfigured
                }
                _ => Status::Failed,
            };
            details.push(words(failure));
            details.extend(note);
            row.ended(status, &details).lacking(kind.shows())
        }
    }
}
