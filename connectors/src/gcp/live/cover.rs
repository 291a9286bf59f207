//! What is said of what was read and what was not.

use std::collections::{BTreeMap, BTreeSet};

use super::advice::RequestContext;
use super::entries::Stop;
use super::plan::Span;
use crate::coverage::{Coverage, Mode, Status};
use crate::http::HttpError;
use crate::time::{Nanos, SECOND};

const DAY: Nanos = 86_400 * SECOND;

/// How long system events and admin activity are kept (bucket `_Required`, which
/// nobody can change), in seconds.
const KEPT_S: i64 = 400 * 86_400;

/// How long other logs are kept unless told otherwise (bucket `_Default`).
const OTHERS_KEPT: Nanos = 30 * DAY;

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
    Coverage {
        asked_from: Some(span.from),
        asked_to: Some(span.to),
        status: Status::NotConfigured,
        detail: Some(format!(
            "none of the {elsewhere} machines is in Google Cloud, so it was not queried"
        )),
        ..row(source, "activity", None)
    }
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
    Coverage {
        asked_from: Some(span.from),
        asked_to: Some(span.to),
        status,
        detail: Some(RequestContext::logs(project.unwrap_or_default()).emitted(failure)),
        would_have_shown: Some(ACTIVITY_SHOWS.to_owned()),
        ..row(source, "activity", project)
    }
}

/// What came of the logs of one project.
#[derive(Debug, Default)]
pub(super) struct ProjectTally {
    pub(super) rows: u64,
    /// Whether some question was answered.
    answered: bool,
    stops: Vec<(Status, String)>,
    /// Where the question that stopped first stopped.
    reached: Option<Nanos>,
    pub(super) notes: BTreeSet<String>,
}

impl ProjectTally {
    /// Notes how a question ended; `reached` is the last entry's time.
    pub(super) fn ended(&mut self, project: &str, stop: Option<&Stop>, reached: Option<Nanos>) {
        let stopped = match stop {
            None => {
                self.answered = true;
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
        if !self.stops.contains(&stopped) {
            self.stops.push(stopped);
        }
        self.answered |= reached.is_some();
        self.reached = match (self.reached, reached) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
    }

    /// The row of it.
    pub(super) fn row(&self, source: &str, project: &str, span: Span, now: Nanos) -> Coverage {
        let kept_from = now.saturating_sub(KEPT_S.saturating_mul(SECOND));
        let forgotten = span.to <= kept_from;
        let stop = self.stops.iter().map(|(status, _)| *status);
        let status = match stop.max_by_key(|status| status.caps_a_verdict()) {
            Some(_) if self.answered => Status::Truncated,
            Some(status) => status,
            None if forgotten => Status::Expired,
            None => Status::Complete,
        };
        let mut parts: Vec<String> = self.stops.iter().map(|(_, words)| words.clone()).collect();
        if forgotten {
            parts.push("these logs are kept for 400 days, and this is older".to_owned());
        } else if span.from < now.saturating_sub(OTHERS_KEPT) {
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
        Coverage {
            asked_from: Some(span.from),
            asked_to: Some(span.to),
            got_from: got_to.map(|_| span.from.max(kept_from)),
            got_to,
            retention_s: Some(KEPT_S),
            status,
            rows: self.rows,
            detail: (!parts.is_empty()).then(|| parts.join("; ")),
            would_have_shown: (status != Status::Complete).then(|| ACTIVITY_SHOWS.to_owned()),
            ..row(source, "activity", Some(project))
        }
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
                parts.push(RequestContext::inventory(project).emitted(failure));
                status = if self.rows > 0 {
                    Status::Truncated
                } else {
                    failure.status()
                };
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
        Coverage {
            mode: Mode::Snapshot,
            asked_to: Some(now),
            got_to: (status == Status::Complete).then_some(now),
            status,
            rows: self.rows,
            detail: (!parts.is_empty()).then(|| parts.join("; ")),
            would_have_shown: (status != Status::Complete).then(|| INSTANCES_SHOW.to_owned()),
            ..row(source, "instances", Some(project))
        }
    }
}
