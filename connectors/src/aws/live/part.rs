//! What one kind of thing gave in one region, and the coverage row of all of them.

use std::collections::BTreeSet;

use super::api::Pages;
use crate::coverage::{Coverage, Mode, Status, Tally};
use crate::http::HttpError;
use crate::log_store::Span;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

/// A kind of thing that AWS is asked for. In the order their facts are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Instances,
    ScheduledEvents,
    SpotRequests,
    ScalingActivities,
    Activity,
    Health,
}

const DAY_S: i64 = 86_400;

impl Kind {
    pub(super) const ALL: [Self; 6] = [
        Self::Instances,
        Self::ScheduledEvents,
        Self::SpotRequests,
        Self::ScalingActivities,
        Self::Activity,
        Self::Health,
    ];

    /// The name in coverage rows.
    pub(super) fn resource(self) -> &'static str {
        match self {
            Self::Instances => "instances",
            Self::ScheduledEvents => "scheduled_events",
            Self::SpotRequests => "spot_requests",
            Self::ScalingActivities => "scaling_activities",
            Self::Activity => "activity",
            Self::Health => "health",
        }
    }

    /// What it tells.
    pub(super) fn shows(self) -> &'static str {
        match self {
            Self::Instances => "why an instance stopped, and which group and experiment it is of",
            Self::ScheduledEvents => "maintenance and retirement of instances, failed checks",
            Self::SpotRequests => "which spot instances were taken back, and why",
            Self::ScalingActivities => "what Auto Scaling did to its instances, and why",
            Self::Activity => "who terminated, stopped or rebooted instances, and spot reclaims",
            Self::Health => "maintenance that AWS announced, and its own outages",
        }
    }

    /// How long it is kept, in seconds; `None` for what is only as it is now.
    pub(super) fn retention_s(self) -> Option<i64> {
        match self {
            Self::Instances | Self::ScheduledEvents | Self::SpotRequests => None,
            Self::ScalingActivities => Some(42 * DAY_S),
            Self::Activity | Self::Health => Some(90 * DAY_S),
        }
    }

    /// How late its records may come, in nanoseconds.
    fn lag(self) -> Nanos {
        match self {
            Self::Activity => 900 * SECOND,
            _ => 0,
        }
    }

    /// The part of a time that is still kept; `None` where nothing is.
    pub(super) fn available(self, span: Span, now: Nanos) -> Option<Span> {
        let Some(retention) = self.retention_s() else {
            return Some(span);
        };
        let from = span.from.max(now.saturating_sub(retention * SECOND));
        (from <= span.to).then_some(Span { from, ..span })
    }
}

/// What one kind gave in one region.
#[derive(Debug)]
pub(super) struct KindResult {
    pub(super) kind: Kind,
    pub(super) region: String,
    pub(super) observations: Vec<Observation>,
    /// Records obtained.
    pub(super) records: u64,
    /// Whether something was answered, and what failed.
    pub(super) came: Tally,
    /// What it is about is no longer kept.
    pub(super) expired: bool,
    /// What is missing although it is there.
    left: BTreeSet<String>,
    /// What else there is to say.
    notes: Vec<String>,
    malformed: u64,
    /// Why the first of these was of no use.
    first: Option<String>,
}

impl KindResult {
    pub(super) fn new(kind: Kind, region: &str) -> Self {
        Self {
            kind,
            region: region.to_owned(),
            observations: Vec::new(),
            records: 0,
            came: Tally::default(),
            expired: false,
            left: BTreeSet::new(),
            notes: Vec::new(),
            malformed: 0,
            first: None,
        }
    }

    /// Nothing could be asked.
    pub(super) fn failed(kind: Kind, region: &str, permission: &str, failure: &HttpError) -> Self {
        let mut part = Self::new(kind, region);
        part.failure(permission, failure);
        part
    }

    /// Notes how reading went.
    pub(super) fn read(&mut self, pages: &Pages, permission: &str, what: &str) {
        self.records += pages.records.len() as u64;
        self.came.answered |= pages.failure.is_none() || !pages.records.is_empty();
        if pages.cut {
            self.left(format!("{what}: only the first {} pages", pages.requests));
        }
        if let Some(failure) = &pages.failure {
            self.failure(permission, failure);
        }
    }

    pub(super) fn failure(&mut self, permission: &str, failure: &HttpError) {
        let status = match failure.status() {
            Status::Denied => Status::Denied,
            _ => Status::Failed,
        };
        self.came.failed(status, advice(permission, failure));
    }

    pub(super) fn left(&mut self, what: impl Into<String>) {
        self.left.insert(what.into());
    }

    pub(super) fn note(&mut self, what: impl Into<String>) {
        self.notes.push(what.into());
    }

    pub(super) fn malformed(&mut self, why: String) {
        self.malformed += 1;
        self.first.get_or_insert(why);
    }

    fn reasons(&self) -> impl Iterator<Item = String> {
        let failures = self.came.reasons().map(str::to_owned);
        let broken = self.first.as_ref().map(|first| {
            format!(
                "{} records could not be used, the first: {first}",
                self.malformed
            )
        });
        failures
            .chain(self.left.iter().cloned())
            .chain(broken)
            .chain(self.notes.iter().cloned())
    }
}

/// What is wrong and what to do about it.
pub(super) fn advice(permission: &str, failure: &HttpError) -> String {
    let text = failure.to_string();
    if text.contains("SubscriptionRequired") {
        return format!(
            "{permission}: {text}; the AWS Health API is available only with a Business or Enterprise support plan; the same information is in the AWS Health Dashboard and in EventBridge"
        );
    }
    // AWS takes no request that was signed more than five minutes ago or in the future.
    let skewed = [
        "RequestTimeTooSkewed",
        "RequestExpired",
        "Signature expired",
        "Signature not yet current",
    ];
    if skewed.iter().any(|words| text.contains(words)) {
        return format!(
            "{permission}: {text}; this machine's clock is off by more than five minutes: correct it"
        );
    }
    match failure.meant() {
        Some(403) => format!("{text}; request the permission {permission}"),
        _ => format!("{permission}: {text}; {}", failure.hint()),
    }
}

/// The row of one kind in one account.
pub(super) fn row(
    source: &str,
    account: &str,
    parts: &[&KindResult],
    kind: Kind,
    (span, now): (Span, Nanos),
) -> Coverage {
    let status = status(parts);
    let whole = status == Status::Complete;
    let interval = kind.retention_s().is_some();
    let retained = kind.available(span, now);
    let got = retained.filter(|_| whole && interval);
    let mut detail: Vec<String> = Vec::new();
    if status == Status::Expired && retained.is_none() {
        let days = kind.retention_s().unwrap_or_default() / DAY_S;
        detail.push(format!("AWS keeps it {days} days"));
    }
    for part in parts {
        for reason in part.reasons() {
            let emitted = format!("{}: {reason}", part.region);
            if !detail.contains(&emitted) {
                detail.push(emitted);
            }
        }
    }
    let complete_to = now.saturating_sub(kind.lag());
    let answered = parts.iter().any(|part| part.came.answered);
    if answered && kind.lag() > 0 && span.to > complete_to {
        let minutes = kind.lag() / (60 * SECOND);
        detail.push(format!("records come up to {minutes} minutes late"));
    }
    let row = Coverage {
        namespace: Some(account.to_owned()),
        mode: if interval {
            Mode::Interval
        } else {
            Mode::Snapshot
        },
        asked_from: interval.then_some(span.from),
        asked_to: Some(if interval { span.to } else { now }),
        retention_s: kind.retention_s(),
        rows: parts.iter().map(|part| part.records).sum(),
        ..Coverage::new(source, kind.resource())
    };
    row.got(got.map(|got| (got.from, got.to.min(complete_to))))
        .ended(status, &detail)
        .lacking(kind.shows())
}

fn status(parts: &[&KindResult]) -> Status {
    let mut came = Tally::default();
    for part in parts {
        came.join(&part.came);
    }
    let is_missing = |part: &&KindResult| !part.left.is_empty() || part.malformed > 0;
    let is_expired = |part: &&KindResult| part.expired;
    came.status(if parts.iter().any(is_missing) {
        Status::Truncated
    } else if !parts.is_empty() && parts.iter().all(is_expired) {
        Status::Expired
    } else {
        Status::Complete
    })
}
