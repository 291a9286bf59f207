//! Time as a source told it: an interval of nanoseconds and which clock said so.

use chrono::{DateTime, SecondsFormat, TimeZone as _, Utc};
use serde::{Deserialize, Serialize};

/// Nanoseconds since 1970-01-01T00:00:00Z.
pub type Nanos = i64;

/// One second in nanoseconds.
pub const SECOND: Nanos = 1_000_000_000;

/// What is granted for clocks: those of two machines, of two components of a cluster, or of a cluster and its cloud, are
/// this far apart at most.
pub const CLOCKS: Nanos = 5 * SECOND;

/// When something happened, as exactly as its source could say: `[lo, hi)`.
///
/// A source of whole seconds means `[t, t + 1 s)`; one of microseconds
/// `[t, t + 1 µs)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Stamp {
    /// Earliest instant it can have been.
    pub lo: Nanos,
    /// First instant it can no longer have been.
    pub hi: Nanos,
}

/// Which clock a time was read from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimeKind {
    /// The source says when it happened.
    Occurred,
    /// The first time a repeating fact was noticed.
    FirstSeen,
    /// The last time a repeating fact was noticed.
    LastSeen,
    /// When a server received the request that did it.
    Received,
    /// When a log store took the line in.
    Ingested,
}

impl TimeKind {
    /// The name used in tables and answers.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Occurred => "occurred",
            Self::FirstSeen => "first_seen",
            Self::LastSeen => "last_seen",
            Self::Received => "received",
            Self::Ingested => "ingested",
        }
    }
}

impl Stamp {
    /// No time is known at all.
    pub const OPEN: Self = Self {
        lo: Nanos::MIN,
        hi: Nanos::MAX,
    };

    /// An instant known to the nanosecond.
    #[must_use]
    pub fn exact(at: Nanos) -> Self {
        Self {
            lo: at,
            hi: at.saturating_add(1),
        }
    }

    /// A time known to a whole second.
    #[must_use]
    pub fn second(at: Nanos) -> Self {
        Self {
            lo: at,
            hi: at.saturating_add(SECOND),
        }
    }

    /// Parses a time as clouds and their tools write it: RFC 3339, RFC 1123, `2026-11-21 15:20:15 UTC`,
    /// and what Go prints, `2026-11-21 15:20:15 +0000 UTC`.
    #[must_use]
    pub fn parse_loosely(text: &str) -> Option<Self> {
        let text = text.trim();
        let bare = text
            .strip_suffix(" UTC")
            .filter(|rest| rest.ends_with("+0000"));
        crate::text_time::text_time(bare.unwrap_or(text)).map(|parsed| parsed.stamp)
    }

    /// Parses RFC 3339; the digits of the fraction say how exact it is.
    ///
    /// Returns `None` for anything else and for years that nanoseconds in 64
    /// bits cannot hold (before 1678, after 2261).
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        let lo = DateTime::parse_from_rfc3339(text)
            .ok()?
            .timestamp_nanos_opt()?;
        let digits = match text.find('.') {
            Some(dot) => text[dot + 1..]
                .bytes()
                .take_while(u8::is_ascii_digit)
                .count()
                .min(9),
            None => 0,
        };
        let width = 10_i64.pow(9 - u32::try_from(digits).ok()?);
        Some(Self {
            lo,
            hi: lo.saturating_add(width),
        })
    }

    /// The width of the uncertainty.
    #[must_use]
    pub fn width(self) -> Nanos {
        self.hi.saturating_sub(self.lo)
    }

    /// Whether the two may have been at one instant.
    #[must_use]
    pub fn overlaps(self, other: Self) -> bool {
        self.lo < other.hi && other.lo < self.hi
    }

    /// The same time, `by` nanoseconds later (earlier where negative).
    #[must_use]
    pub fn shift(self, by: Nanos) -> Self {
        Self {
            lo: self.lo.saturating_add(by),
            hi: self.hi.saturating_add(by),
        }
    }
}

/// Prints an instant as RFC 3339 in UTC, with as many decimals as it needs.
#[must_use]
pub fn rfc3339(at: Nanos) -> String {
    Utc.timestamp_nanos(at)
        .to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fraction_says_how_exact_a_time_is() {
        let second = Stamp::parse("2026-11-21T15:20:15Z").unwrap();
        assert_eq!(second.width(), SECOND);
        let micro = Stamp::parse("2026-11-21T15:20:15.193705Z").unwrap();
        assert_eq!(micro.width(), 1_000);
        assert!(second.overlaps(micro));
        let offset = Stamp::parse("2026-11-21T16:20:15.5+01:00").unwrap();
        assert_eq!(offset.lo, second.lo + SECOND / 2);
        assert_eq!(offset.width(), SECOND / 10);
    }

    #[test]
    fn what_is_no_time_is_none() {
        for text in [
            "",
            "yesterday",
            "2026-11-21",
            "9999-01-01T00:00:00Z",
            "0001-01-01T00:00:00Z",
        ] {
            assert_eq!(Stamp::parse(text), None, "{text}");
        }
    }

    #[test]
    fn prints_what_it_parsed() {
        for text in [
            "2026-11-21T15:20:15Z",
            "2026-11-21T15:20:15.193705Z",
            "1970-01-01T00:00:00Z",
        ] {
            assert_eq!(rfc3339(Stamp::parse(text).unwrap().lo), text);
        }
    }
}
