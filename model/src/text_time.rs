//! Times as clouds and their tools write them.

use std::borrow::Cow;

use chrono::{DateTime, NaiveDate};
use serde_json::Value;

use crate::event::Event;
use crate::time::{Nanos, SECOND, Stamp};

/// A time, and what was assumed to read it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParsedTime {
    /// The time with its uncertainty.
    pub stamp: Stamp,
    /// `zone` where none is named and UTC is assumed.
    pub inferred: Option<&'static str>,
}

impl ParsedTime {
    fn sure(stamp: Stamp) -> Self {
        Self {
            stamp,
            inferred: None,
        }
    }

    /// Says in an event what was assumed about its time.
    pub fn mark(self, event: &mut Event) {
        event.set_attribute("time_inferred", self.inferred);
    }
}

/// Reads a time of a record: RFC 3339, RFC 1123, `2026-11-21 15:20:15 GMT`, a
/// number of seconds (or of milli-, micro- or nanoseconds, by its size), or what
/// boto3 makes of one when it is written as JSON.
pub fn read(value: &Value) -> Option<ParsedTime> {
    match value {
        Value::String(text) => text_time(text),
        Value::Number(number) => epoch(&number.to_string()).map(ParsedTime::sure),
        Value::Object(parts) => {
            let part = |key: &str| u32::try_from(parts.get(key)?.as_u64()?).ok();
            let date = NaiveDate::from_ymd_opt(
                i32::try_from(part("year")?).ok()?,
                part("month")?,
                part("day")?,
            )?;
            let time = date.and_hms_micro_opt(
                part("hour")?,
                part("minute")?,
                part("second")?,
                part("microsecond").unwrap_or(0),
            )?;
            let lo = time.and_utc().timestamp_nanos_opt()?;
            let width = if part("microsecond").unwrap_or(0) == 0 {
                SECOND
            } else {
                1_000
            };
            Some(ParsedTime::sure(Stamp { lo, hi: lo + width }))
        }
        _ => None,
    }
}

/// Reads a time that stands as text.
pub fn text_time(text: &str) -> Option<ParsedTime> {
    let text = text.trim();
    // Nothing has happened yet, as .NET and some APIs write it.
    if text.is_empty() || text.starts_with("0001-") {
        return None;
    }
    if let Some(stamp) = Stamp::parse(text) {
        return Some(ParsedTime::sure(stamp));
    }
    if text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        return epoch(text).map(ParsedTime::sure);
    }
    if let Some(stamp) = rfc1123(text) {
        return Some(ParsedTime::sure(stamp));
    }
    let full = dated(text)?;
    if let Some(stamp) = Stamp::parse(&full) {
        return Some(ParsedTime::sure(stamp));
    }
    Some(ParsedTime {
        stamp: Stamp::parse(&format!("{full}Z"))?,
        inferred: Some("zone"),
    })
}

/// `Thu, 1 Nov 2018 22:00:00 GMT`; the day of the week is not looked at.
fn rfc1123(text: &str) -> Option<Stamp> {
    let date = text.split_once(", ").map_or(text, |(_, date)| date);
    let time = DateTime::parse_from_rfc2822(date).ok()?;
    Some(Stamp::second(time.timestamp_nanos_opt()?))
}

/// `2026-11-21 15:20:15.5 UTC` and its kin as RFC 3339 writes them; without a
/// zone where the text names none.
fn dated(text: &str) -> Option<Cow<'_, str>> {
    let (date, rest) = text.split_at_checked(10)?;
    let rest = rest.strip_prefix([' ', 'T'])?;
    let bare = |rest: &str| rest.trim_end_matches([' ', 'Z']).to_owned();
    let (time, zone) = if let Some(time) = rest
        .strip_suffix("UTC")
        .or_else(|| rest.strip_suffix("GMT"))
        .or_else(|| rest.strip_suffix('Z'))
    {
        (bare(time), "Z".to_owned())
    } else if let Some(at) = rest.rfind(['+', '-']) {
        let digits: String = rest[at + 1..].replace(':', "");
        if digits.len() != 4 || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let zone = format!("{}{}:{}", &rest[at..=at], &digits[..2], &digits[2..]);
        (bare(&rest[..at]), zone)
    } else {
        (bare(rest), String::new())
    };
    let seconds = if time.len() == 5 { ":00" } else { "" };
    Some(Cow::Owned(format!("{date}T{time}{seconds}{zone}")))
}

/// Seconds since 1970, or a finer unit where the number is too large for them.
fn epoch(text: &str) -> Option<Stamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let number: Nanos = whole.parse().ok()?;
    let unit = match number {
        0 => return None,
        n if n < 100_000_000_000 => SECOND,
        n if n < 100_000_000_000_000 => 1_000_000,
        n if n < 100_000_000_000_000_000 => 1_000,
        _ => 1,
    };
    let lo = number.checked_mul(unit)?;
    let fraction = fraction.trim_end_matches('0');
    if unit != SECOND || fraction.is_empty() {
        return Some(Stamp {
            lo,
            hi: lo.saturating_add(unit),
        });
    }
    let digits = fraction.len().min(9);
    let width = 10_i64.pow(9 - u32::try_from(digits).ok()?);
    let part: Nanos = fraction[..digits].parse().ok()?;
    let lo = lo.checked_add(part * width)?;
    Some(Stamp { lo, hi: lo + width })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::rfc3339;
    use serde_json::json;

    fn shown(value: &Value) -> Option<(String, Nanos, Option<&'static str>)> {
        let read = read(value)?;
        Some((rfc3339(read.stamp.lo), read.stamp.width(), read.inferred))
    }

    #[test]
    fn times_of_all_clouds_are_read_with_their_exactness() {
        let cases = [
            (
                json!("2026-11-21T15:20:15Z"),
                "2026-11-21T15:20:15Z",
                SECOND,
                None,
            ),
            (
                json!("2026-11-21T15:20:15.1234567Z"),
                "2026-11-21T15:20:15.123456700Z",
                100,
                None,
            ),
            (
                json!("Sat, 21 Nov 2026 15:20:15 GMT"),
                "2026-11-21T15:20:15Z",
                SECOND,
                None,
            ),
            (
                json!("Sun, 1 Nov 2026 15:20:15 GMT"),
                "2026-11-01T15:20:15Z",
                SECOND,
                None,
            ),
            // The day of the week is wrong.
            (
                json!("Mon, 21 Nov 2026 15:20:15 GMT"),
                "2026-11-21T15:20:15Z",
                SECOND,
                None,
            ),
            (
                json!("21 Nov 2026 15:20:15 GMT"),
                "2026-11-21T15:20:15Z",
                SECOND,
                None,
            ),
            (
                json!("2026-11-21 15:20:15 GMT"),
                "2026-11-21T15:20:15Z",
                SECOND,
                None,
            ),
            (
                json!("2026-11-21 15:20 UTC"),
                "2026-11-21T15:20:00Z",
                SECOND,
                None,
            ),
            (
                json!("2026-11-21 15:20:15.5 UTC"),
                "2026-11-21T15:20:15.500Z",
                SECOND / 10,
                None,
            ),
            (
                json!("2026-11-21T16:20:15+0100"),
                "2026-11-21T15:20:15Z",
                SECOND,
                None,
            ),
            (
                json!("2026-11-21 16:20:15+01:00"),
                "2026-11-21T15:20:15Z",
                SECOND,
                None,
            ),
            (
                json!("2026-11-21T15:20:15.25"),
                "2026-11-21T15:20:15.250Z",
                SECOND / 100,
                Some("zone"),
            ),
            (json!(1_795_274_415), "2026-11-21T15:20:15Z", SECOND, None),
            (json!("1795274415"), "2026-11-21T15:20:15Z", SECOND, None),
            (
                json!(1_795_274_415.5),
                "2026-11-21T15:20:15.500Z",
                SECOND / 10,
                None,
            ),
            (
                json!(1_795_274_415_250_u64),
                "2026-11-21T15:20:15.250Z",
                1_000_000,
                None,
            ),
            (
                json!("1795274415250123"),
                "2026-11-21T15:20:15.250123Z",
                1_000,
                None,
            ),
            (
                json!({"__class__": "datetime", "year": 2026, "month": 11, "day": 21,
                       "hour": 15, "minute": 20, "second": 15, "microsecond": 964_000}),
                "2026-11-21T15:20:15.964Z",
                1_000,
                None,
            ),
        ];
        for (value, time, width, inferred) in cases {
            let want = Some((time.to_owned(), width, inferred));
            assert_eq!(shown(&value), want, "{value}");
        }
    }

    #[test]
    fn what_is_no_time_is_none() {
        for value in [
            json!(""),
            json!("soon"),
            json!("0001-01-01T00:00:00Z"),
            json!(0),
            json!(null),
            json!({"year": 2026}),
            json!("2026-11-21 99:20:15"),
        ] {
            assert_eq!(read(&value), None, "{value}");
        }
    }
}
