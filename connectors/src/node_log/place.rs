//! Puts lines in time that do not say it in full.
//!
//! A host's log often lacks the year, mostly the zone, and `dmesg` counts from
//! the machine's start. Such a log usually holds a line that tells: a journal's
//! heading, a date inside a text, seconds since 1970 that `slurmctld` or the
//! kernel's audit wrote beside the line's own time.

use chrono::{DateTime, Datelike as _};

use super::line::{HostLine, LineTime};
use crate::logs::clock::{self, Clock};
use crate::time::{Nanos, SECOND, Stamp};

/// What is known of the log's clock.
#[derive(Debug, Default)]
pub(super) struct LogClock {
    /// The year of the log's first line without one.
    year: Option<i32>,
    /// New Years that passed since then, and the month of the last line.
    turns: i32,
    month: Option<u32>,
    /// Month, day and year of the beginning and of the end of the journal that its lines are of, until the first of them.
    span: Option<(Day, Day)>,
    /// What is ahead of UTC in lines without zone.
    zone: Option<Nanos>,
    /// An epoch in the log told year or zone.
    anchored: bool,
    /// The wall clock at the machine's start.
    boot: Option<Stamp>,
    /// When the lines were received, where they came as they were said.
    received: Option<Nanos>,
}

/// Month, day, year.
type Day = (u32, u32, i32);

/// A line's place in time, as far as it can be told by now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PlacedTime {
    pub(super) stamp: Option<Stamp>,
    pub(super) inferred: Option<&'static str>,
    /// What its clock is ahead of UTC, where that was found out.
    pub(super) ahead: Option<Nanos>,
}

/// A line's time with what its neighbours say of it: New Years since the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SequencedTime {
    when: LineTime,
    turns: i32,
    /// It is the time of the line before, for the line states none.
    after: bool,
}

impl SequencedTime {
    /// The time of a line after this one that states none.
    pub(super) fn after(self) -> Self {
        Self {
            after: true,
            ..self
        }
    }

    /// Whether nothing was said at all.
    pub(super) fn has_no_time(self) -> bool {
        self.when == LineTime::Absent
    }
}

/// How long a program may have been silent before a line without time.
const SILENCE: Nanos = 3600 * SECOND;

const QUARTER: Nanos = 900 * SECOND;

impl LogClock {
    /// Takes in what a line says of the log's clock. Whether something new is known.
    pub(super) fn learn(&mut self, line: &HostLine) -> bool {
        let before = (self.year, self.zone, self.boot);
        self.turn(line.when);
        match line.when {
            LineTime::Uptime { nanos, width } => {
                if self.boot.is_none()
                    && let Some(epoch) = kernel_epoch(&line.message)
                {
                    let hi = epoch.hi.saturating_sub(nanos);
                    let lo = epoch.lo.saturating_sub(nanos).saturating_sub(width);
                    self.boot = Some(Stamp { lo, hi });
                }
            }
            LineTime::Clock(clock @ (Clock::NoYear { .. } | Clock::NoZone(_))) => {
                self.anchor(clock, line);
            }
            _ => {}
        }
        before != (self.year, self.zone, self.boot)
    }

    /// The machine started again: what was known of its uptime is of the past.
    pub(super) fn restart(&mut self) {
        self.boot = None;
    }

    /// The lines come as they are said: one without year is near to `now`.
    pub(super) fn received(&mut self, now: Nanos) {
        self.received = Some(now);
        self.year = Some(DateTime::from_timestamp_nanos(now).year());
    }

    /// Whether the year is still unknown.
    pub(super) fn wants_year(&self) -> bool {
        self.year.is_none()
    }

    /// Takes the year of a date that the line's text holds.
    pub(super) fn learn_year_only(&mut self, line: &HostLine) {
        if let LineTime::Clock(Clock::NoYear { month, day, .. }) = line.when
            && let Some(year) = year_in(&line.message, month, day)
        {
            self.year = Some(year - self.turns);
            self.month = self.month.or(Some(month));
        }
    }

    /// A journal's heading: `-- Logs begin at Tue 2021-08-03 09:10:29 UTC, end at Wed 2021-11-24 …`. What is printed below it may
    /// be of the last minutes alone: the end bounds its lines, and the beginning may be years before them, unless they begin
    /// with it.
    pub(super) fn heading(&mut self, text: &str) -> bool {
        let date = |dated: &str| {
            let (_weekday, dated) = dated.split_once(' ')?;
            let (clock, end) = clock::leading(dated)?;
            let (Clock::Full(stamp) | Clock::NoZone(stamp)) = clock else {
                return None;
            };
            let is_utc = matches!(clock, Clock::Full(_)) && dated[..end].ends_with("UTC");
            Some((DateTime::from_timestamp_nanos(stamp.lo), is_utc))
        };
        let Some((_, dates)) = text.split_once(" at ") else {
            return false;
        };
        let Some((begin, is_utc)) = date(dates) else {
            return false;
        };
        if is_utc {
            self.zone = self.zone.or(Some(0));
        }
        let end = dates.split_once(" at ").and_then(|(_, end)| date(end));
        if self.month.is_none() {
            let begin = (begin.month(), begin.day(), begin.year());
            let end = end.map(|(end, _)| (end.month(), end.day(), end.year()));
            self.span = Some((begin, end.unwrap_or(begin)));
        }
        // Until the first line says which of the two it is.
        let year = end.map_or(begin.year(), |(end, _)| end.year());
        self.year = Some(year - self.turns);
        true
    }

    fn turn(&mut self, when: LineTime) {
        let LineTime::Clock(Clock::NoYear { month, day, .. }) = when else {
            return;
        };
        if let Some((begin, end)) = self.span.take() {
            let is_first = (month, day) == (begin.0, begin.1);
            self.year = Some(match is_first {
                true => begin.2,
                // A day's difference may be one of zones.
                false if (month, day) > (end.0, end.1 + 1) => end.2 - 1,
                false => end.2,
            });
        }
        if let Some(last) = self.month {
            // A log goes forward, so a much smaller month is of the next year.
            if month + 6 < last {
                self.turns += 1;
            } else if month > last + 6 {
                self.turns -= 1;
            }
        }
        self.month = Some(month);
    }

    fn anchor(&mut self, clock: Clock, line: &HostLine) {
        if self.year.is_none()
            && let Clock::NoYear { month, day, .. } = clock
            && let Some(year) = year_in(&line.message, month, day)
        {
            self.year = Some(year - self.turns);
        }
        if self.anchored {
            return;
        }
        // A node reports its start minutes later, the kernel's audit at once.
        let (epoch, at_once) = match kernel_epoch(&line.message) {
            Some(epoch) => (epoch.lo, true),
            None => match epoch_after(&line.message, "boot_time=") {
                Some(epoch) => (epoch, false),
                None => return,
            },
        };
        let year = DateTime::from_timestamp_nanos(epoch).year();
        let stated = match clock {
            Clock::NoZone(stamp) => Some(stamp.lo),
            Clock::NoYear {
                month,
                day,
                nanos,
                width,
            } => (year - 1..=year + 1)
                .filter_map(|year| clock::in_year(year, month, day, nanos, width))
                .map(|stamp| stamp.lo)
                .min_by_key(|lo| lo.abs_diff(epoch)),
            Clock::Full(_) => None,
        };
        let Some(stated) = stated else { return };
        let ahead = stated.saturating_sub(epoch);
        let ahead = if at_once { ahead + QUARTER / 2 } else { ahead };
        let zone = ahead.div_euclid(QUARTER) * QUARTER;
        // No zone is further from UTC; the two times then speak of different days.
        if zone.saturating_abs() <= 14 * 3600 * SECOND {
            self.zone = Some(zone);
            self.anchored = true;
            let year = DateTime::from_timestamp_nanos(stated).year();
            self.year = Some(year - self.turns);
        }
    }

    /// A line's time with the New Years before it; to be kept with the line.
    pub(super) fn turned(&self, when: LineTime) -> SequencedTime {
        SequencedTime {
            when,
            turns: self.turns,
            after: false,
        }
    }

    /// The line's place, as far as it is known by now.
    pub(super) fn place(&self, turned: SequencedTime) -> PlacedTime {
        if turned.after {
            let before = self.place(SequencedTime {
                after: false,
                ..turned
            });
            let stamp = before.stamp.map(|stamp| Stamp {
                lo: stamp.lo,
                hi: stamp.hi.saturating_add(SILENCE),
            });
            return PlacedTime {
                stamp,
                inferred: Some("previous"),
                ahead: None,
            };
        }
        let zone = self.zone.unwrap_or(0);
        let absent = PlacedTime {
            stamp: None,
            inferred: None,
            ahead: None,
        };
        let ahead = self.zone.filter(|_| self.anchored);
        match turned.when {
            LineTime::Clock(Clock::Full(stamp)) => PlacedTime {
                stamp: Some(stamp),
                inferred: None,
                ahead: None,
            },
            LineTime::Clock(Clock::NoZone(stamp)) => PlacedTime {
                stamp: Some(stamp.shift(-zone)),
                inferred: Some(if self.anchored { "anchor" } else { "zone" }),
                ahead,
            },
            LineTime::Clock(Clock::NoYear {
                month,
                day,
                nanos,
                width,
            }) => {
                let in_year = |year| clock::in_year(year, month, day, nanos, width);
                let stamp = match (self.received, self.year) {
                    (Some(now), Some(year)) => (year - 1..=year + 1)
                        .filter_map(in_year)
                        .min_by_key(|stamp| stamp.lo.abs_diff(now)),
                    (_, year) => year.and_then(|year| in_year(year + turned.turns)),
                };
                PlacedTime {
                    stamp: stamp.map(|stamp| stamp.shift(-zone)),
                    inferred: Some(if self.anchored { "anchor" } else { "year" }),
                    ahead,
                }
            }
            LineTime::Uptime { nanos, .. } => PlacedTime {
                stamp: self.boot.map(|boot| boot.shift(nanos)),
                inferred: Some("boot"),
                ahead: None,
            },
            LineTime::Absent => absent,
        }
    }
}

/// Seconds since 1970 that the kernel writes at once: its audit's, and the
/// clock it starts with.
fn kernel_epoch(text: &str) -> Option<Stamp> {
    if let Some((_, rest)) = text.split_once("audit(") {
        return clock::epoch(rest.split(':').next()?);
    }
    let (_, rest) = text.split_once("setting system clock to ")?;
    let (_, rest) = rest.split_once('(')?;
    clock::epoch(rest.split(')').next()?)
}

fn epoch_after(text: &str, key: &str) -> Option<Nanos> {
    let (_, rest) = text.split_once(key)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    Some(clock::epoch(&rest[..digits])?.lo).filter(|_| digits == 10)
}

/// The year of a date in the text that is the line's own day, or the one beside it.
pub(super) fn year_in(text: &str, month: u32, day: u32) -> Option<i32> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"20").find_map(|at| {
        if at > 0 && bytes[at - 1].is_ascii_alphanumeric() {
            return None;
        }
        // Most twenties begin no date.
        if bytes.get(at + 4) != Some(&b'-') || bytes.get(at + 7) != Some(&b'-') {
            return None;
        }
        let date = text.get(at..at + 10)?;
        let date = chrono::NaiveDate::parse_from_str(date, "%Y-%m-%d").ok()?;
        let near = date.month() == month && date.day().abs_diff(day) <= 1;
        near.then(|| date.year())
    })
}

#[cfg(test)]
mod tests {
    use super::super::line::parse;
    use super::*;

    fn places(lines: &[&str]) -> Vec<Option<String>> {
        let mut clockwork = LogClock::default();
        let mut turned = Vec::new();
        for line in lines {
            if line.starts_with("-- ") {
                clockwork.heading(line);
                continue;
            }
            let line = parse(line).unwrap();
            clockwork.learn(&line);
            turned.push(clockwork.turned(line.when));
        }
        turned
            .into_iter()
            .map(|turned| {
                let stamp = clockwork.place(turned).stamp?;
                Some(crate::time::rfc3339(stamp.lo))
            })
            .collect()
    }

    fn some(times: &[&str]) -> Vec<Option<String>> {
        times.iter().map(|time| Some((*time).to_owned())).collect()
    }

    #[test]
    fn an_epoch_in_the_log_fixes_year_and_zone() {
        let lines = [
            "Nov 21 16:20:00 c1 slurmctld[1]: x",
            // 15:20:20 UTC, said 47 s later by a clock one hour ahead.
            "Nov 21 16:21:07 c1 slurmctld[1]: Node n1 unexpectedly rebooted boot_time=1795274420 last response=1795274000",
            "Dec 31 23:59:59 c1 slurmctld[1]: x",
            "Jan  1 00:30:00 c1 slurmctld[1]: x",
        ];
        assert_eq!(
            places(&lines),
            some(&[
                "2026-11-21T15:20:00Z",
                "2026-11-21T15:21:07Z",
                "2026-12-31T22:59:59Z",
                "2026-12-31T23:30:00Z",
            ])
        );
    }

    #[test]
    fn a_heading_or_a_date_in_a_text_tells_the_year() {
        let heading =
            "-- Logs begin at Sat 2026-11-21 09:10:29 UTC, end at Sun 2026-11-22 10:13:48 UTC. --";
        assert_eq!(
            places(&[heading, "Nov 21 15:20:27 n1 systemd[1]: x"]),
            some(&["2026-11-21T15:20:27Z"])
        );
        // The journal begins long before what is printed of it.
        for (begin, line, time) in [
            ("Tue 2026-01-06", "Nov 21 15:20:27", "2026-11-21T15:20:27Z"),
            ("Mon 2024-02-05", "Nov 21 15:20:27", "2026-11-21T15:20:27Z"),
            ("Mon 2024-02-05", "Dec 21 15:20:27", "2025-12-21T15:20:27Z"),
            ("Sun 2024-12-22", "Dec 22 15:20:27", "2024-12-22T15:20:27Z"),
        ] {
            let heading = format!(
                "-- Journal begins at {begin} 09:10:29 UTC, ends at Sun 2026-11-22 10:13:48 UTC. --"
            );
            assert_eq!(
                places(&[&heading, &format!("{line} n1 systemd[1]: x")]),
                some(&[time]),
                "{begin}"
            );
        }
        let dated = "Nov 21 15:20:27 n1 containerd[9]: time=\"2026-11-21T15:20:27Z\" level=info";
        assert_eq!(places(&[dated]), some(&["2026-11-21T15:20:27Z"]));
        let other = "Nov 21 15:20:27 n1 app[9]: built 2024-02-03";
        assert_eq!(places(&[other]), [None]);
    }

    #[test]
    fn seconds_since_boot_need_a_clock_in_the_same_log() {
        let lines = [
            "[    2.000000] rtc_cmos 00:02: setting system clock to 2026-11-21T15:20:20 UTC (1795274420)",
            "[   12.500000] NVRM: x",
        ];
        let placed = places(&lines);
        assert!(
            placed[1]
                .as_deref()
                .unwrap()
                .starts_with("2026-11-21T15:20:30")
        );
        assert_eq!(places(&["[   12.500000] NVRM: x"]), [None]);
    }
}
