//! Moments, and how each kind of record writes them.

use chrono::{DateTime, FixedOffset, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

/// A second in nanoseconds.
pub const SEC: i64 = 1_000_000_000;
/// A millisecond in nanoseconds.
pub const MS: i64 = 1_000_000;
/// A minute in nanoseconds.
pub const MIN: i64 = 60 * SEC;
/// An hour in nanoseconds.
pub const HOUR: i64 = 60 * MIN;

/// Nanoseconds since 1970, UTC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Time(pub i64);

impl Time {
    /// This much later, or earlier.
    #[must_use]
    pub fn plus(self, nanos: i64) -> Self {
        Self(self.0.saturating_add(nanos))
    }

    /// Nanoseconds from `other` to this.
    #[must_use]
    pub fn since(self, other: Self) -> i64 {
        self.0 - other.0
    }

    /// Whole seconds since 1970.
    #[must_use]
    pub fn unix(self) -> i64 {
        self.0.div_euclid(SEC)
    }

    fn utc(self) -> DateTime<Utc> {
        DateTime::from_timestamp_nanos(self.0)
    }

    /// `2026-11-21T15:20:27Z`, as Kubernetes writes most of its times.
    #[must_use]
    pub fn secs(self) -> String {
        self.utc().format("%Y-%m-%dT%H:%M:%SZ").to_string()
    }

    /// `2026-11-21T15:20:27.844839Z`, as the audit log and the scheduler write them.
    #[must_use]
    pub fn micros(self) -> String {
        self.utc().format("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
    }

    /// With milliseconds.
    #[must_use]
    pub fn millis(self) -> String {
        self.utc().format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
    }

    /// With nanoseconds, as container runtimes write them.
    #[must_use]
    pub fn nanos(self) -> String {
        self.utc().format("%Y-%m-%dT%H:%M:%S%.9fZ").to_string()
    }

    /// By a pattern, in a zone that many minutes east.
    #[must_use]
    pub fn format(self, pattern: &str, minutes_east: i32) -> String {
        match FixedOffset::east_opt(minutes_east * 60) {
            Some(zone) => self.utc().with_timezone(&zone).format(pattern).to_string(),
            None => self.utc().format(pattern).to_string(),
        }
    }

    /// From RFC 3339; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let parsed = DateTime::parse_from_rfc3339(text).ok()?;
        parsed.timestamp_nanos_opt().map(Self)
    }

    /// Age as kubectl prints it.
    #[must_use]
    pub fn age(self, now: Self) -> String {
        let delta = TimeDelta::nanoseconds(now.since(self).max(0));
        let (secs, minutes, hours, days) = (
            delta.num_seconds(),
            delta.num_minutes(),
            delta.num_hours(),
            delta.num_days(),
        );
        if secs < 120 {
            format!("{secs}s")
        } else if minutes < 10 {
            match secs % 60 {
                0 => format!("{minutes}m"),
                rest => format!("{minutes}m{rest}s"),
            }
        } else if minutes < 180 {
            format!("{minutes}m")
        } else if hours < 8 {
            match minutes % 60 {
                0 => format!("{hours}h"),
                rest => format!("{hours}h{rest}m"),
            }
        } else if hours < 48 {
            format!("{hours}h")
        } else if days < 8 && hours % 24 != 0 {
            format!("{days}d{}h", hours % 24)
        } else {
            format!("{days}d")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        let time = Time(1_795_274_427_844_839_123);
        assert_eq!(time.micros(), "2026-11-21T15:20:27.844839Z");
        assert_eq!(Time::parse(&time.nanos()), Some(time));
        assert_eq!(time.age(time.plus(95 * SEC)), "95s");
        assert_eq!(time.age(time.plus(9 * MIN + 5 * SEC)), "9m5s");
        assert_eq!(time.age(time.plus(25 * MIN)), "25m");
    }
}
