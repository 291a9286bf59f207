//! Times and distances in time, as people read them.

use chrono::{DateTime, FixedOffset, Utc};

use crate::answer::{Answer, Incident, Run};

use super::style::Tz;
use super::text::escape;

/// The instant of an RFC 3339 text. What has no time at all stands at the epoch.
pub(crate) fn instant(time: &str) -> Option<DateTime<Utc>> {
    let at = DateTime::parse_from_rfc3339(time).ok()?.to_utc();
    (at != DateTime::UNIX_EPOCH).then_some(at)
}

/// Seconds from one RFC 3339 time to another.
pub(crate) fn seconds_between(from: Option<&str>, to: Option<&str>) -> Option<f64> {
    let distance = instant(to?)? - instant(from?)?;
    Some(distance.as_seconds_f64())
}

/// Shows times in one zone.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clock(pub(crate) Tz);

impl Clock {
    /// The time of day to the second; a text that is no time stays as it is.
    pub(crate) fn time(self, time: &str) -> String {
        self.format(time, |at| at.format("%H:%M:%S").to_string())
    }

    /// The day and the time of day.
    pub(crate) fn full(self, time: &str) -> String {
        self.format(time, |at| at.format("%Y-%m-%d %H:%M:%S").to_string())
    }

    /// The same with the zone's offset, where nothing beside it names the zone.
    pub(crate) fn full_with_zone(self, time: &str) -> String {
        match self.0 {
            Tz::Utc => self.full(time),
            _ => self.format(time, |at| at.format("%Y-%m-%d %H:%M:%S%:z").to_string()),
        }
    }

    /// The day and the time of day with all decimals that it has.
    pub(crate) fn exact(self, time: &str) -> String {
        self.format(time, |at| at.format("%Y-%m-%d %H:%M:%S%.f").to_string())
    }

    /// The day.
    pub(crate) fn day(self, time: &str) -> Option<String> {
        Some(self.0.at(instant(time)?).format("%Y-%m-%d").to_string())
    }

    /// The day in few letters: `3 Nov`.
    pub(crate) fn short_day(self, time: &str) -> String {
        match instant(time) {
            Some(at) => self.0.at(at).format("%-d %b").to_string(),
            None => escape(time).into_owned(),
        }
    }

    /// The zone, beside a section's title; its offset is that of `time`.
    pub(crate) fn zone(self, time: &str) -> String {
        match (self.0, instant(time)) {
            (Tz::Utc, _) => "UTC".to_owned(),
            (Tz::Local, Some(at)) => format!("local time, UTC{}", self.0.at(at).offset()),
            (Tz::Local, None) => "local time".to_owned(),
            (Tz::Fixed(offset), _) => format!("UTC{offset}"),
            (Tz::Named(zone), Some(at)) => format!("{zone}, UTC{}", self.0.at(at).offset()),
            (Tz::Named(zone), None) => zone.to_string(),
        }
    }

    /// Beside a section's title: the day that its times begin at, and the zone.
    pub(crate) fn day_and_zone(self, time: &str) -> String {
        match self.day(time) {
            Some(day) => format!("{day}, {}", self.zone(time)),
            None => self.zone(time),
        }
    }

    fn format(self, time: &str, format: impl Fn(DateTime<FixedOffset>) -> String) -> String {
        let Some(at) = instant(time) else {
            let unknown = DateTime::parse_from_rfc3339(time).is_ok();
            let shown = if unknown { "" } else { time };
            return escape(shown).into_owned();
        };
        let zulu = if self.0 == Tz::Utc { "Z" } else { "" };
        format!("{}{zulu}", format(self.0.at(at)))
    }
}

/// A length of time in at most two units: `45 s`, `12 min 3 s`, `2 h`. The parts
/// are tied with no-break spaces.
pub(crate) fn duration(seconds: f64) -> String {
    let s = whole(seconds).unsigned_abs();
    let (large, unit, small, part) = match s {
        0 if seconds > 0.0 => return "less than 1\u{a0}s".to_owned(),
        0..60 => (s, "s", 0, ""),
        60..3_600 => (s / 60, "min", s % 60, "s"),
        3_600..86_400 => (s / 3_600, "h", s / 60 % 60, "min"),
        _ => (s / 86_400, "d", s / 3_600 % 24, "h"),
    };
    match small {
        0 => format!("{large}\u{a0}{unit}"),
        _ => format!("{large}\u{a0}{unit}\u{a0}{small}\u{a0}{part}"),
    }
}

/// A distance from the start, at most eight columns: `+45s`, `+12m03s`, `-3d04h`.
pub(crate) fn offset(seconds: f64) -> String {
    let whole = whole(seconds);
    let sign = if whole < 0 { '-' } else { '+' };
    let s = whole.unsigned_abs();
    match s {
        0..60 => format!("{sign}{s}s"),
        60..3_600 => format!("{sign}{}m{:02}s", s / 60, s % 60),
        3_600..86_400 => format!("{sign}{}h{:02}m", s / 3_600, s / 60 % 60),
        _ => format!("{sign}{}d{:02}h", s / 86_400, s / 3_600 % 24),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "the cast saturates, and NaN becomes 0"
)]
fn whole(seconds: f64) -> i64 {
    seconds.trunc() as i64
}

/// The start that offsets count from: that of the incident's run, else the one
/// that the timeline was made with.
pub(crate) fn zero(answer: &Answer, incident: Option<&Incident>) -> Option<String> {
    let of_incident = incident.and_then(|incident| run_of(answer, incident));
    if let Some(start) = of_incident.and_then(|run| run.start.clone()) {
        return Some(start);
    }
    let first = answer.timeline.first()?;
    let nanos = first.offset_s * 1e9;
    if !nanos.is_finite() {
        return None;
    }
    #[expect(clippy::cast_possible_truncation, reason = "the cast saturates")]
    let distance = chrono::Duration::nanoseconds(nanos as i64);
    Some(
        instant(&first.time)?
            .checked_sub_signed(distance)?
            .to_rfc3339(),
    )
}

/// The run that an incident ended or hurt.
pub(crate) fn run_of<'a>(answer: &'a Answer, incident: &Incident) -> Option<&'a Run> {
    let id = incident.run_id.as_ref()?;
    answer.runs.iter().find(|run| run.id == *id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_keep_two_units() {
        let shown = |s: f64| duration(s).replace('\u{a0}', " ");
        assert_eq!(shown(0.0), "0 s");
        assert_eq!(shown(0.4), "less than 1 s");
        assert_eq!(shown(45.9), "45 s");
        assert_eq!(shown(723.0), "12 min 3 s");
        assert_eq!(shown(7_500.0), "2 h 5 min");
        assert_eq!(shown(273_600.0), "3 d 4 h");
        assert_eq!(shown(7_200.0), "2 h");
        assert_eq!(shown(f64::NAN), "0 s");
    }

    #[test]
    fn offsets_are_short_and_signed() {
        assert_eq!(offset(0.0), "+0s");
        assert_eq!(offset(-0.4), "+0s");
        assert_eq!(offset(-75.0), "-1m15s");
    }

    #[test]
    fn times_are_shown_in_the_zone() {
        let time = "2026-11-21T23:20:27.984489Z";
        assert_eq!(Clock(Tz::Utc).time(time), "23:20:27Z");
        assert_eq!(Clock(Tz::Utc).exact(time), "2026-11-21 23:20:27.984489Z");
        let clock = Clock("+01:00".parse().unwrap());
        assert_eq!(clock.full(time), "2026-11-22 00:20:27");
        assert_eq!(clock.zone(time), "UTC+01:00");
        assert_eq!(clock.time("\u{1b}soon"), "\\x1bsoon");
    }
}
