//! Lines of machines' and programs' logs that name neither year nor zone (syslog's, and glog's as
//! PyTorch writes it), in logs where nothing tells them.
//!
//! A log of this kind is read soon after it was written: its lines are of the last time
//! that this day came round before the end of what is known, and before the line after it. The zone is taken to be UTC, as it
//! is where only the zone is missing. The record itself stays without a time, so nothing that
//! rests on such a line is ever established.

use std::collections::HashMap;

use whathappened_model::event::{Event, SourceKind};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::evidence::{Evidence, EvidenceRow, SpillError};
use crate::symbols::Symbol;

/// What the clock of the log may be ahead of the end of what is known: a zone that is not UTC.
const AHEAD: Nanos = 14 * 3600 * SECOND;

/// A log is written in order, but for what several programs write at once.
const DISORDER: Nanos = 3600 * SECOND;

/// When such lines were, by their rows.
pub(super) struct Years(HashMap<EvidenceRow, Stamp>);

impl Years {
    /// # Errors
    /// When a record cannot be read again.
    pub(super) fn of(evidence: &Evidence) -> Result<Self, SpillError> {
        let rows = evidence.rows().iter();
        let now = rows
            .filter(|row| row.time != Stamp::OPEN)
            .map(|row| row.time.lo)
            .chain(evidence.objects.latest())
            .max();
        let mut found = HashMap::new();
        let Some(now) = now else {
            return Ok(Self(found));
        };
        let mut lines: Vec<(Symbol, u64, EvidenceRow)> = Vec::new();
        for (number, row) in evidence.rows().numbered() {
            let is_line = matches!(
                row.source_kind(),
                SourceKind::NodeLog | SourceKind::ContainerLog
            );
            if is_line && row.lacks_year && row.time == Stamp::OPEN {
                lines.push((row.file(), row.line(), number));
            }
        }
        lines.sort_unstable();
        // From the end of each file: what stands before a line was written before it.
        let mut next: Option<(Symbol, Nanos)> = None;
        for (file, _, number) in lines.into_iter().rev() {
            let (_, event) = evidence.body(number)?;
            let until = next
                .filter(|(of, _)| *of == file)
                .map_or(now.saturating_add(AHEAD), |(_, at)| {
                    at.saturating_add(DISORDER)
                });
            let reported = event.attribute("time_without_year");
            let stamp = reported.and_then(|reported| last_before(reported, until, now));
            if let Some(stamp) = stamp {
                next = Some((file, stamp.lo));
                found.insert(number, stamp);
            }
        }
        Ok(Self(found))
    }

    /// When it was, where the line tells no more than month, day and time.
    pub(super) fn place(&self, row: EvidenceRow, event: &mut Event) {
        if let Some(stamp) = self.0.get(&row) {
            event.time = *stamp;
        }
    }
}

/// The last time that a day and time came round, `--11-18T03:00:05`, up to an instant; `now` is of the year to begin with.
fn last_before(reported: &str, until: Nanos, now: Nanos) -> Option<Stamp> {
    let year: i32 = whathappened_model::time::rfc3339(now)
        .get(..4)?
        .parse()
        .ok()?;
    let rest = reported.strip_prefix("--")?;
    // Years ago there was a 29th of February.
    (year - 4..=year + 1).rev().find_map(|year| {
        let stamp = Stamp::parse(&format!("{year}-{rest}Z"))?;
        (stamp.lo <= until).then_some(stamp)
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
            let lo = last_before(reported, now + AHEAD, now).unwrap().lo;
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
        assert!(last_before("11-18T03:00:05", now, now).is_none());
    }
}
