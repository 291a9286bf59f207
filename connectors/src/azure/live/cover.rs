//! What is said of what was read and what was not.

use std::collections::{BTreeMap, BTreeSet};

use super::arm::ListOutcome;
use super::error_messages;
use crate::coverage::{Coverage, Mode, Status, Tally, first_reasons};
use crate::http::HttpError;
use crate::observation::Rejection;
use crate::time::Nanos;

/// Reasons a row tells of.
const MOST_REASONS: usize = 4;

/// What a row is of.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resource {
    /// As coverage names it.
    pub(super) name: &'static str,
    /// What it would have told, where it is missing.
    pub(super) would_have_shown: &'static str,
    /// The permission that reading it takes.
    pub(super) needs: &'static str,
    /// How long Azure keeps it, in seconds; `None` where it tells the present.
    pub(super) retention_s: Option<i64>,
}

/// What came of asking for one resource.
#[derive(Debug, Default)]
pub(super) struct ResourceTally {
    /// Records that told something.
    pub(super) rows: u64,
    /// Records about machines that nobody asked about.
    pub(super) of_others: u64,
    /// Whether anything was answered, and what failed.
    pub(super) came: Tally,
    /// What is so and needs nobody's attention.
    pub(super) notes: Vec<String>,
    /// Whether all of it is older than what is kept.
    pub(super) expired: bool,
    malformed: BTreeMap<String, u64>,
    cuts: BTreeSet<String>,
}

impl ResourceTally {
    /// Somebody answered.
    pub(super) fn answered() -> Self {
        let mut one = Self::default();
        one.came.answered = true;
        one
    }

    /// Notes how reading a list ended. Whether all of it was read.
    pub(super) fn walked(&mut self, walked: ListOutcome, resource: Resource) -> bool {
        self.came.answered |= walked.pages > 0;
        if walked.broken > 0 {
            let why = "a list item that is not an object".to_owned();
            *self.malformed.entry(why).or_default() += walked.broken;
        }
        let whole = walked.cut.is_none() && walked.failure.is_none();
        self.cuts.extend(walked.cut);
        if let Some(failure) = walked.failure {
            self.failure(&failure, resource.needs);
        }
        whole
    }

    /// Something was not obtained.
    pub(super) fn failure(&mut self, failure: &HttpError, needs: &str) {
        let why = error_messages::of_request(failure, needs);
        self.came.failed(failure.status(), why);
    }

    /// Something was left out.
    pub(super) fn cut(&mut self, why: String) {
        self.cuts.insert(why);
    }

    /// A record was not used.
    pub(super) fn rejected(&mut self, why: Rejection) {
        if let Rejection::Malformed(why) = why {
            *self.malformed.entry(why).or_default() += 1;
        }
    }

    fn status(&self) -> Status {
        self.came.status(if self.expired {
            Status::Expired
        } else if !self.cuts.is_empty() || !self.malformed.is_empty() {
            Status::Truncated
        } else {
            Status::Complete
        })
    }

    /// The row of it. `got` is what was obtained of `asked`; nothing for a state.
    pub(super) fn row(
        mut self,
        source: &str,
        account: &str,
        resource: Resource,
        requested: Option<(Nanos, Nanos)>,
        got: Option<(Nanos, Nanos)>,
    ) -> Coverage {
        let status = self.status();
        let got = got.filter(|(from, to)| self.came.answered && from <= to);
        let mut reasons: Vec<String> = std::mem::take(&mut self.cuts).into_iter().collect();
        for (why, times) in &self.malformed {
            let records = if *times == 1 { "record" } else { "records" };
            reasons.push(format!("{times} {records} not read: {why}"));
        }
        let all = reasons.iter().map(String::as_str);
        let mut parts = first_reasons(all.chain(self.came.reasons()), MOST_REASONS, "reasons more");
        if self.of_others > 0 {
            let records = if self.of_others == 1 {
                "record"
            } else {
                "records"
            };
            parts.push(format!(
                "{} {records} of other machines left out",
                self.of_others
            ));
        }
        parts.extend(self.notes);
        let row = Coverage {
            namespace: Some(account.to_owned()).filter(|account| !account.is_empty()),
            mode: if resource.retention_s.is_some() {
                Mode::Interval
            } else {
                Mode::Snapshot
            },
            retention_s: resource.retention_s,
            rows: self.rows,
            ..Coverage::new(source, resource.name)
        };
        row.asked(requested)
            .got(got)
            .ended(status, &parts)
            .lacking(resource.would_have_shown)
    }
}
