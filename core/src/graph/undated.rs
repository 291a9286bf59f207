//! Lines of machines' logs that name neither year nor zone, in logs where nothing tells them.
//!
//! A syslog of this kind is read soon after it was written: its lines are of the last time
//! that this day came round before the end of what is known. The zone is taken to be UTC, as it
//! is where only the zone is missing. The record itself stays without a time, so nothing that
//! rests on such a line is ever established.

use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::evidence::Evidence;

/// What the clock of the log may be ahead of the end of what is known: a zone that is not UTC.
const AHEAD: Nanos = 14 * 3600 * SECOND;

/// Finds the year of such lines.
pub(super) struct Years {
    now: Option<Nanos>,
}

impl Years {
    pub(super) fn of(evidence: &Evidence) -> Self {
        let rows = evidence.rows().iter();
        let now = rows
            .filter(|row| row.time != Stamp::OPEN)
            .map(|row| row.time.lo)
            .chain(evidence.objects.latest())
            .max();
        Self { now }
    }

    /// When it was, where the line tells no more than month, day and time.
    pub(super) fn place(&self, event: &mut Event) {
        if event.time == Stamp::OPEN
            && event.fact == "node.log"
            && let Some(now) = self.now
            && let Some(reported) = event.attribute("time_without_year")
            && let Some(stamp) = last_before(reported, now)
        {
            event.time = stamp;
        }
    }
}

/// The last time that a day and time came round: `--11-18T03:00:05`.
fn last_before(reported: &str, now: Nanos) -> Option<Stamp> {
    let year: i32 = whathappened_model::time::rfc3339(now)
        .get(..4)?
        .parse()
        .ok()?;
    let rest = reported.strip_prefix("--")?;
    // Years ago there was a 29th of February.
    (year - 4..=year + 1).rev().find_map(|year| {
        let stamp = Stamp::parse(&format!("{year}-{rest}Z"))?;
        (stamp.lo <= now.saturating_add(AHEAD)).then_some(stamp)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Nanos {
        Stamp::parse(text).unwrap().lo
    }

    #[test]
    fn a_day_without_year_is_the_last_one_that_came_round() {
        let now = at("2026-01-02T10:00:00Z");
        let year = |reported| {
            let lo = last_before(reported, now).unwrap().lo;
            whathappened_model::time::rfc3339(lo)[..4].to_owned()
        };
        assert_eq!(year("--01-02T09:59:00"), "2026");
        assert_eq!(
            year("--01-02T20:00:00"),
            "2026",
            "it may be of another zone"
        );
        assert_eq!(year("--12-31T23:00:00"), "2025");
        assert_eq!(year("--02-29T23:00:00"), "2024");
        assert!(last_before("11-18T03:00:05", now).is_none());
    }
}
