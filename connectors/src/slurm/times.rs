//! Slurm's times and lengths.

use chrono::NaiveDateTime;

use crate::time::{SECOND, Stamp};

/// `2026-11-21T15:20:27`, in the controller's own zone, taken as UTC.
pub(super) fn stamp(text: &str) -> Option<Stamp> {
    let text = text.trim();
    // Some sites format with a zone.
    if let Some(stamp) = Stamp::parse(text) {
        return Some(stamp);
    }
    let time = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S").ok()?;
    Some(Stamp::second(time.and_utc().timestamp_nanos_opt()?))
}

/// Seconds since 1970; Slurm writes 0 for never.
pub(super) fn epoch(seconds: i64) -> Option<Stamp> {
    let nanos = seconds.checked_mul(SECOND)?;
    (seconds > 0).then(|| Stamp::second(nanos))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_seconds() {
        assert_eq!(
            stamp("2026-11-21T15:20:27"),
            Stamp::parse("2026-11-21T15:20:27Z")
        );
        assert_eq!(epoch(1_795_274_427), Stamp::parse("2026-11-21T15:20:27Z"));
        for text in ["Unknown", "None", "", "2026-13-01T00:00:00"] {
            assert_eq!(stamp(text), None, "{text}");
        }
        assert_eq!(epoch(0), None);
    }
}
