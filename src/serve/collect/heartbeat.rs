//! Whether the collector itself was there: a mark in the store that moves as
//! long as it runs. What was pushed while nobody listened may be lost.

use std::time::{Duration, Instant};

use whathappened_model::connector::Cursor;
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::time::{Nanos, SECOND, rfc3339};

/// The place of the mark among the cursors.
pub(super) const PLACE: &str = "whathappened";
const RESOURCE: &str = "collector";

/// How often the mark moves where nothing else is written.
pub(super) const EVERY: Duration = Duration::from_secs(5);

/// Of what is said of the present the latest row of an hour counts.
pub(super) const HOUR: Nanos = 3_600 * SECOND;

/// Those who push try again for longer than this.
const TRIED_AGAIN: Nanos = 60 * SECOND;

/// A clock that differs by more was set, or the machine slept.
const STEP: Nanos = 2 * SECOND;

/// The mark, moved to `at`.
pub(super) fn mark(at: Nanos) -> Cursor {
    Cursor {
        place: PLACE.to_owned(),
        resource: RESOURCE.to_owned(),
        namespace: String::new(),
        position: String::new(),
        at,
    }
}

/// The rows of the time since the mark of a collector before: of itself, and of
/// what was `pushed` to nobody meanwhile.
pub(super) fn absence(
    before: &[Cursor],
    pushed: &[Coverage],
    now: Nanos,
) -> Vec<(String, Coverage)> {
    let Some(from) = before.iter().find(|one| one.resource == RESOURCE) else {
        return Vec::new();
    };
    let from = from.at.min(now);
    if now - from <= 2 * Nanos::from(5_u8) * SECOND {
        return Vec::new();
    }
    let gap = |row: Coverage, status, detail: String| Coverage {
        asked_from: Some(from),
        asked_to: Some(now),
        status,
        detail: Some(detail),
        ..row
    };
    let (since, until) = (rfc3339(from), rfc3339(now));
    let own = gap(
        Coverage {
            would_have_shown: Some(
                "what sources deleted or did not repeat in the meantime".to_owned(),
            ),
            ..Coverage::new("collector", "running")
        },
        Status::Truncated,
        format!(
            "the collector did not run from {since} to {until}; see each source for what it could catch up on"
        ),
    );
    let mut rows = vec![own];
    if now - from > TRIED_AGAIN {
        rows.extend(pushed.iter().map(|row| {
            let detail = format!(
                "pushed data was not received from {since} to {until}; what was not sent again is missing"
            );
            gap(row.clone(), Status::Truncated, detail)
        }));
    }
    rows.into_iter()
        .map(|row| (key("absence", &row, from), row))
        .collect()
}

/// A key by which the rows of one stretch replace each other.
pub(super) fn key(what: &str, row: &Coverage, from: Nanos) -> String {
    let part = |text: &Option<String>| text.clone().unwrap_or_default();
    format!(
        "{what}|{}|{}|{}|{}|{from:020}",
        row.source,
        part(&row.cluster),
        row.resource,
        part(&row.namespace)
    )
}

/// Compares the clock with a watch that nobody can set.
#[derive(Debug)]
pub(super) struct ClockMonitor {
    at: Nanos,
    since: Instant,
}

impl ClockMonitor {
    pub(super) fn new(now: Nanos, since: Instant) -> Self {
        Self { at: now, since }
    }

    /// The row of a clock that was set since the last look, if it was.
    pub(super) fn look(&mut self, now: Nanos, instant: Instant) -> Option<(String, Coverage)> {
        let passed = instant.saturating_duration_since(self.since).as_nanos();
        let passed = Nanos::try_from(passed).unwrap_or(Nanos::MAX);
        let (before, expected) = (self.at, self.at.saturating_add(passed));
        (self.at, self.since) = (now, instant);
        let by = now.saturating_sub(expected);
        if by.saturating_abs() <= STEP {
            return None;
        }
        let way = if by > 0 { "forward" } else { "back" };
        let seconds = by.saturating_abs() / SECOND;
        let also = if by > 0 {
            ", or the machine was suspended"
        } else {
            ""
        };
        let row = Coverage {
            asked_from: Some(before.min(now)),
            asked_to: Some(before.max(now)),
            detail: Some(format!(
                "the collector's clock was set {way} by {seconds} s at {}{also}; cursors continue from there and nothing is missed, but the times at which records were received are off by that much",
                rfc3339(expected)
            )),
            ..Coverage::new("collector", "clock")
        };
        Some((key("clock", &row, expected), row))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Nanos = 1_795_000_000 * SECOND;

    #[test]
    fn who_was_not_there_says_so_and_of_what_was_pushed() {
        let hook = Coverage::new("kubernetes_audit", "audit");
        assert!(absence(&[], std::slice::from_ref(&hook), NOW).is_empty());
        let after = |gap: Nanos| absence(&[mark(NOW - gap)], std::slice::from_ref(&hook), NOW);
        assert!(after(5 * SECOND).is_empty());
        // A restart is short enough for those who push.
        assert_eq!(after(30 * SECOND).len(), 1);
        let rows = after(600 * SECOND);
        assert_eq!(rows.len(), 2);
        for (_, row) in &rows {
            assert_eq!(row.status, Status::Truncated);
            assert_eq!(row.asked_from, Some(NOW - 600 * SECOND));
            assert_eq!(row.asked_to, Some(NOW));
        }
        // A mark of the future is one of a clock that was set back.
        assert!(after(-600 * SECOND).is_empty());
    }

    #[test]
    fn a_clock_that_is_set_is_told_once() {
        let start = Instant::now();
        let mut clock_monitor = ClockMonitor::new(NOW, start);
        let later = start + Duration::from_secs(10);
        assert_eq!(clock_monitor.look(NOW + 10 * SECOND, later), None);
        let later = later + Duration::from_secs(10);
        let (_, row) = clock_monitor.look(NOW + 3_620 * SECOND, later).unwrap();
        assert!(row.detail.unwrap().contains("forward by 3600 s"));
        let later = later + Duration::from_secs(10);
        assert_eq!(clock_monitor.look(NOW + 3_630 * SECOND, later), None);
        let later = later + Duration::from_secs(10);
        let (_, row) = clock_monitor.look(NOW + 40 * SECOND, later).unwrap();
        assert!(row.asked_from < row.asked_to);
        assert!(row.detail.unwrap().contains("back by 3600 s"));
    }
}
