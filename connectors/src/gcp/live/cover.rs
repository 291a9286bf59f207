//! What is said of what was read and what was not.

use std::collections::{BTreeMap, BTreeSet};

use super::advice::RequestContext;
use super::entries::Stop;
use super::plan::Span;
use crate::coverage::{Coverage, Mode, Status, Tally};
use crate::http::HttpError;
use crate::time::{Nanos, SECOND};

const DAY: Nanos = 86_400 * SECOND;

/// How long system events and admin activity are kept (bucket `_Required`, which
/// nobody can change), in seconds.
const RETENTION_S: i64 = 400 * 86_400;

/// How long other logs are kept unless told otherwise (bucket `_Default`).
const OTHERS_RETENTION: Nanos = 30 * DAY;

/// Entries are there some seconds after they were written, seldom minutes.
const LAG: Nanos = 300 * SECOND;

const ACTIVITY_SHOWS: &str =
    "maintenance, faults and terminations of the machines, and who requested what";
const INSTANCES_SHOW: &str =
    "which machines there are now, their numbers and labels, and maintenance that is to come";

/// A row about a project, to be filled in.
pub(super) fn row(source: &str, resource: &str, project: Option<&str>) -> Coverage {
    Coverage {
        namespace: project.map(str::to_owned),
        ..Coverage::new(source, resource)
    }
}

/// The row where none of the machines is Google's.
pub(super) fn none_here(source: &str, elsewhere: usize, span: Span) -> Coverage {
    let detail =
        format!("none of the {elsewhere} machines is in Google Cloud, so it was not queried");
    row(source, "activity", None)
        .asked(Some((span.from, span.to)))
        .ended(Status::NotConfigured, &[detail])
}

/// The row where nothing can be asked for at all.
pub(super) fn nothing(
    source: &str,
    project: Option<&str>,
    failure: &HttpError,
    span: Span,
) -> Coverage {
    let status = match failure {
        // Nobody said where.
        HttpError::BadRequest(_) => Status::NotConfigured,
        _ => failure.status(),
    };
    let detail = RequestContext::logs(project.unwrap_or_default()).emitted(failure);
    row(source, "activity", project)
        .asked(Some((span.from, span.to)))
        .ended(status, &[detail])
        .lacking(ACTIVITY_SHOWS)
}

/// What came of the logs of one project.
#[derive(Debug, Default)]
pub(super) struct ProjectTally {
    pub(super) rows: u64,
    came: Tally,
    /// Where the question that stopped first stopped.
    reached: Option<Nanos>,
    pub(super) notes: BTreeSet<String>,
}

impl ProjectTally {
    /// Notes how a question ended; `reached` is the last entry's time.
    pub(super) fn ended(&mut self, project: &str, stop: Option<&Stop>, reached: Option<Nanos>) {
        let (status, why) = match stop {
            None => {
                self.came.answered = true;
                return;
            }
            Some(Stop::Http(failure)) => {
                (failure.status(), RequestContext::logs(project).emitted(failure))
            }
            Some(Stop::Budget) => (
                Status::Truncated,
                "the request limit of a question was reached; ask about fewer machines or a shorter time"
                    .to_owned(),
            ),
            Some(Stop::Deadline) => (
                Status::Truncated,
                "the time limit was reached; ask about a shorter time, or raise --timeout".to_owned(),
            ),
        };
        self.came.failed(status, why);
        self.came.answered |= reached.is_some();
        self.reached = match (self.reached, reached) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// The row of it.
    pub(super) fn row(&self, source: &str, project: &str, span: Span, now: Nanos) -> Coverage {
        let retained_from = now.saturating_sub(RETENTION_S.saturating_mul(SECOND));
        let forgotten = span.to <= retained_from;
        let status = self.came.status(if forgotten {
            Status::Expired
        } else {
            Status::Complete
        });
        let mut parts: Vec<String> = self.came.reasons().map(str::to_owned).collect();
        if forgotten {
            parts.push("these logs are kept for 400 days, and this is older".to_owned());
        } else if span.from < now.saturating_sub(OTHERS_RETENTION) {
            parts.push(
                "decisions of GKE's autoscaler, Events and lines of machines are kept for 30 days unless configured otherwise"
                    .to_owned(),
            );
        }
        parts.extend(self.notes.iter().cloned());
        let complete = span.to.min(now.saturating_sub(LAG));
        let got_to = match status {
            Status::Complete => Some(complete),
            Status::Truncated => self.reached.map(|reached| reached.min(complete)),
            _ => None,
        };
        let row = Coverage {
            retention_s: Some(RETENTION_S),
            rows: self.rows,
            ..row(source, "activity", Some(project))
        };
        row.asked(Some((span.from, span.to)))
            .got(got_to.map(|to| (span.from.max(retained_from), to)))
            .ended(status, &parts)
            .lacking(ACTIVITY_SHOWS)
    }
}

/// The tallies of all projects.
pub(super) type ProjectTallies = BTreeMap<String, ProjectTally>;

/// What came of the inventory of one project.
#[derive(Debug, Default)]
pub(super) struct InventoryTally {
    pub(super) rows: u64,
    pub(super) stop: Option<Stop>,
    /// Zones that did not answer.
    pub(super) unreachable: BTreeSet<String>,
    /// Machines that are looked for here and are not there.
    pub(super) gone: usize,
    pub(super) notes: Vec<String>,
}

impl InventoryTally {
    /// The row of it.
    pub(super) fn row(&self, source: &str, project: &str, now: Nanos) -> Coverage {
        let mut parts = Vec::new();
        let mut status = Status::Complete;
        match &self.stop {
            Some(Stop::Http(failure)) => {
                let mut came = Tally::of(self.rows > 0);
                let why = RequestContext::inventory(project).emitted(failure);
                came.failed(failure.status(), why.clone());
                parts.push(why);
                status = came.status(status);
            }
            Some(Stop::Budget) => {
                parts.push(format!("only the first {} machines were read", self.rows));
                status = Status::Sampled;
            }
            Some(Stop::Deadline) => {
                parts.push("the time was up".to_owned());
                status = Status::Truncated;
            }
            None => {}
        }
        if !self.unreachable.is_empty() {
            let zones: Vec<&str> = self.unreachable.iter().map(String::as_str).collect();
            parts.push(format!("no response from {}", zones.join(", ")));
            status = Status::Truncated;
        }
        if status == Status::Complete && self.gone > 0 {
            parts.push(format!(
                "{} of the machines no longer exist; see `activity` for what happened to them",
                self.gone
            ));
        }
        parts.extend(self.notes.iter().cloned());
        let row = Coverage {
            mode: Mode::Snapshot,
            asked_to: Some(now),
            got_to: (status == Status::Complete).then_some(now),
            rows: self.rows,
            ..row(source, "instances", Some(project))
        };
        row.ended(status, &parts).lacking(INSTANCES_SHOW)
    }
}
