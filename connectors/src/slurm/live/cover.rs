//! What was asked of Slurm and what came of it, as rows of coverage.

use super::answer::Heard;
use super::wanted::Wanted;
use crate::coverage::{Coverage, Mode, Status};
use crate::http::Trouble;

/// A kind of thing that Slurm is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// Jobs of accounting.
    Accounting,
    /// Jobs that the controller still knows.
    Queue,
    /// Nodes as they are now.
    Nodes,
    /// What befell nodes before.
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
                "how jobs ended, who cancelled them, on which nodes they were, every attempt and step"
            }
            Self::Queue => "jobs of the last minutes, and why others wait",
            Self::Nodes => "which nodes are down or drained, why, since when and by whom",
            Self::NodeEvents => "when nodes were down or drained before, why and by whom",
        }
    }
}

/// What to do where Slurm says no: its tokens last half an hour by default.
fn advice(trouble: &Trouble) -> &'static str {
    match trouble {
        _ if trouble.is_denied() => {
            "the token is missing, wrong or has expired (`scontrol token lifespan=3600` makes one), or its user may not see this"
        }
        _ if without_accounting(trouble) => {
            "this Slurm has no accounting, or slurmdbd is away: only what the controller still remembers was seen"
        }
        Trouble::BadRequest(_) => "check the configuration of Slurm",
        _ => trouble.hint(),
    }
}

/// Whether there is no accounting to be asked.
fn without_accounting(trouble: &Trouble) -> bool {
    let text = trouble.to_string().to_ascii_lowercase();
    text.contains("slurmdbd") || text.contains("accounting storage") || text.contains("database")
}

/// A trouble in words, with what to do about it.
pub(super) fn words(trouble: &Trouble) -> String {
    format!("{trouble}; {}", advice(trouble))
}

/// The row of what one kind gave.
pub(super) fn row(
    source: &str,
    kind: Kind,
    wanted: &Wanted,
    heard: Result<&Heard, &Trouble>,
    note: Option<String>,
) -> Coverage {
    let mut row = Coverage::new(source, kind.resource());
    if matches!(kind, Kind::Accounting | Kind::NodeEvents) {
        row.asked_from = Some(wanted.from);
        row.asked_to = Some(wanted.to);
    } else {
        row.mode = Mode::Snapshot;
    }
    match heard {
        Ok(heard) => {
            row.rows = heard.records;
            if heard.rejected > 0 {
                row.status = Status::Truncated;
                row.detail = Some(format!(
                    "{} records were not as Slurm writes them",
                    heard.rejected
                ));
            } else if note.is_some() {
                row.status = Status::Sampled;
            }
        }
        Err(trouble) => {
            row.status = match trouble.status() {
                Status::Denied => Status::Denied,
                // What a site does not have cannot be missing from what it says.
                _ if without_accounting(trouble) && kind == Kind::Accounting => {
                    Status::NotConfigured
                }
                _ => Status::Failed,
            };
            row.detail = Some(words(trouble));
            row.would_have_shown = Some(kind.shows().to_owned());
        }
    }
    if let Some(note) = note {
        row.detail = Some(match row.detail.take() {
            Some(detail) => format!("{detail}; {note}"),
            None => note,
        });
    }
    row
}
