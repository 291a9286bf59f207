//! What is said of what was read and what was not.

use std::collections::{BTreeMap, BTreeSet};

use super::contract::Span;
use super::plan::ReadReason;
use crate::coverage::{Coverage, Status, Tally, first_reasons};
use crate::http::HttpError;
use crate::time::Nanos;

/// Reasons a row tells of.
const MOST_REASONS: usize = 4;

/// Whose lines a row speaks of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum LineOwner {
    /// Of pods, of one namespace where it is known.
    Pods(Option<String>),
    /// Of machines.
    Machines,
}

impl LineOwner {
    /// The resource of the row, and what it would have shown.
    fn shows(&self) -> (&'static str, &'static str) {
        match self {
            Self::Pods(_) => ("logs", "what the processes logged before they ended"),
            Self::Machines => (
                "kernel",
                "out-of-memory kills, GPU Xid errors, panics and reboots of the machines",
            ),
        }
    }
}

/// What came of the questions of one row.
#[derive(Debug, Default)]
pub(super) struct LinesTally {
    span: Option<Span>,
    lines: u64,
    /// Lines that there are, where they were counted.
    pub(super) counted: Option<u64>,
    read: BTreeMap<ReadReason, u64>,
    cut: BTreeMap<ReadReason, u64>,
    left: BTreeMap<ReadReason, u64>,
    partial: BTreeSet<String>,
    came: Tally,
    /// Nothing at all is kept from that time, of machines: nothing of these.
    pub(super) nothing_retained: bool,
}

impl LinesTally {
    pub(super) fn requested(&mut self, span: Span) {
        let old = self.span.unwrap_or(span);
        self.span = Some(Span {
            from: old.from.min(span.from),
            to: old.to.max(span.to),
        });
    }

    pub(super) fn read(&mut self, why: ReadReason, lines: usize, cut: bool) {
        self.came.answered = true;
        self.lines += lines as u64;
        *self.read.entry(why).or_default() += 1;
        if cut {
            *self.cut.entry(why).or_default() += 1;
        }
    }

    pub(super) fn left(&mut self, why: ReadReason) {
        *self.left.entry(why).or_default() += 1;
    }

    pub(super) fn partial(&mut self, words: impl IntoIterator<Item = String>) {
        self.partial.extend(words);
    }

    pub(super) fn failure(&mut self, why: ReadReason, failure: &HttpError) {
        let emitted = match failure {
            // It is the same whatever was asked for.
            HttpError::Unreachable { .. } => format!("{failure}; {}", failure.hint()),
            _ => format!("{}: {failure}; {}", why.words(), failure.hint()),
        };
        self.came.failed(failure.status(), emitted);
    }

    /// Whether nothing was found although somebody answered.
    pub(super) fn is_empty(&self) -> bool {
        self.came.answered && self.lines == 0
    }

    pub(super) fn span(&self) -> Option<Span> {
        self.span
    }

    /// Whether every line there is was read. Where the end of a log is empty,
    /// all of it is.
    fn is_whole(&self) -> bool {
        let read = |why| self.read.contains_key(&why);
        (read(ReadReason::Whole)
            || read(ReadReason::Machines)
            || (self.lines == 0 && read(ReadReason::Tail)))
            && self.cut.is_empty()
            && self.left.is_empty()
            && self.partial.is_empty()
            && !self.came.has_failed()
    }

    fn status(&self) -> Status {
        self.came.status(if self.nothing_retained {
            Status::Expired
        } else if !self.partial.is_empty() || self.read.is_empty() && !self.left.is_empty() {
            // Of what nothing at all was read, no sample was taken.
            Status::Truncated
        } else if self.is_whole() {
            Status::Complete
        } else {
            Status::Sampled
        })
    }

    /// The row of it.
    pub(super) fn row(
        &self,
        source: &str,
        of: &LineOwner,
        requests: u64,
        (now, lag): (Nanos, Nanos),
    ) -> Coverage {
        let status = match self.status() {
            // Other machines' lines may well be there.
            Status::Expired if *of == LineOwner::Machines => Status::NotConfigured,
            status => status,
        };
        let whole = status == Status::Complete;
        let details = self.detail(of, status, requests, (now, lag));
        let (resource, shows) = of.shows();
        let asked = self.span.map(|span| (span.from, span.to));
        let got = asked.filter(|_| whole);
        let row = Coverage {
            namespace: match of {
                LineOwner::Pods(namespace) => namespace.clone(),
                LineOwner::Machines => None,
            },
            rows: self.lines,
            ..Coverage::new(source, resource)
        };
        let row = row
            .asked(asked)
            .got(got.map(|(from, to)| (from, to.min(now.saturating_sub(lag)))))
            .ended(status, &details);
        match status {
            // What was left out is less telling than what was read.
            Status::Sampled => row,
            _ => row.lacking(shows),
        }
    }

    fn detail(
        &self,
        of: &LineOwner,
        status: Status,
        requests: u64,
        (now, lag): (Nanos, Nanos),
    ) -> Vec<String> {
        let mut parts: Vec<String> = Vec::new();
        if status == Status::Expired {
            parts.push(
                "nothing is stored for that time: it is older than the retention, or this is the wrong tenant or index"
                    .to_owned(),
            );
        }
        if status == Status::NotConfigured {
            parts.push(
                "no lines of these machines are stored here: collect their journals, or configure the label that names the machine"
                    .to_owned(),
            );
        }
        if status == Status::Complete && self.lines == 0 {
            parts.push(
                match of {
                    LineOwner::Pods(_) => "there are lines from that time, but none of these pods",
                    LineOwner::Machines => {
                        "there are lines of these machines, but none that means anything"
                    }
                }
                .to_owned(),
            );
        }
        if self.came.answered && status != Status::Complete && !self.nothing_retained {
            let lines = self.lines;
            let of = self
                .counted
                .filter(|all| *all > lines)
                .map_or(String::new(), |all| format!(" of {all}"));
            let kinds: Vec<&str> = self.read.keys().map(|why| why.words()).collect();
            parts.push(format!("{lines}{of} lines: {}", kinds.join(", ")));
        }
        for (why, times) in &self.cut {
            parts.push(format!(
                "{} cut at the limit {}",
                why.words(),
                times_of(*times)
            ));
        }
        if !self.left.is_empty() {
            let kinds: Vec<String> = self
                .left
                .iter()
                .map(|(why, times)| format!("{} ({})", why.words(), times_of(*times)))
                .collect();
            parts.push(format!(
                "not queried because the limit of {requests} requests was reached: {}; --logs all reads more",
                kinds.join(", ")
            ));
        }
        let reasons = self.partial.iter().map(String::as_str);
        let reasons = reasons.chain(self.came.reasons());
        parts.extend(first_reasons(reasons, MOST_REASONS, "reasons more"));
        if lag > 0
            && self
                .span
                .is_some_and(|span| span.to > now.saturating_sub(lag))
        {
            let seconds = lag / crate::time::SECOND;
            parts.push(format!("the last {seconds} s may still be incomplete"));
        }
        parts
    }
}

fn times_of(times: u64) -> String {
    match times {
        1 => "once".to_owned(),
        _ => format!("{times} times"),
    }
}
