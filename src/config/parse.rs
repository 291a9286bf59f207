//! Times and sizes as people write them.

use std::time::Duration;

use chrono::{DateTime, Days, NaiveDate, NaiveDateTime, NaiveTime};
use serde::{Deserialize as _, Deserializer};
use whathappened_model::time::{Nanos, SECOND, Stamp};

/// A distance in time as people write it: `90s`, `30m`, `2h`, `7d`, `4w`, `1d12h`.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Nanos> {
    let mut rest = text.trim();
    let mut sum: Nanos = 0;
    // Each part is smaller than the one before it: `1d12h`, never `12h1d` or `1h1h`.
    let mut unit_before = i64::MAX;
    while !rest.is_empty() {
        let letters = rest.find(|letter: char| !letter.is_ascii_digit())?;
        let (number, after) = rest.split_at(letters);
        let number: i64 = number.parse().ok()?;
        let after = after.trim_start();
        let end = after
            .find(|letter: char| !letter.is_ascii_alphabetic())
            .unwrap_or(after.len());
        let (unit, after) = after.split_at(end);
        let seconds = match unit {
            "s" => 1,
            "m" | "min" => 60,
            "h" => 3_600,
            "d" => 86_400,
            "w" => 7 * 86_400,
            _ => return None,
        };
        if seconds >= unit_before {
            return None;
        }
        unit_before = seconds;
        let part = number.saturating_mul(seconds).saturating_mul(SECOND);
        sum = sum.saturating_add(part);
        rest = after.trim_start();
    }
    (unit_before < i64::MAX).then_some(sum)
}

/// A size as people write it: `500MB`, `50GiB`, a plain number of bytes.
#[must_use]
pub fn parse_size(text: &str) -> Option<u64> {
    let split = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(split);
    let number: u64 = number.parse().ok()?;
    let factor = match unit.trim() {
        "" | "B" => 1,
        "kB" | "KB" | "K" => 1_000,
        "MB" | "M" => 1_000_000,
        "GB" | "G" => 1_000_000_000,
        "TB" | "T" => 1_000_000_000_000,
        "KiB" => 1 << 10,
        "MiB" => 1 << 20,
        "GiB" => 1 << 30,
        "TiB" => 1 << 40,
        _ => return None,
    };
    number.checked_mul(factor)
}

/// A moment as people type it, in nanoseconds since 1970: RFC 3339, a date or a date and
/// time in UTC, `now`, `today`, `yesterday`, `15:21`, or a distance before `now` such as
/// `30m`, `2h` or `1d12h`.
#[must_use]
pub fn parse_moment(text: &str, now: Nanos) -> Option<Nanos> {
    if let Some(stamp) = Stamp::parse(text) {
        return Some(stamp.lo);
    }
    if let Some(local) = parse_local(text) {
        return local.and_utc().timestamp_nanos_opt();
    }
    if let Some(at) = parse_relative(text, DateTime::from_timestamp_nanos(now).naive_utc()) {
        return at.and_utc().timestamp_nanos_opt();
    }
    parse_duration(text).map(|distance| now.saturating_sub(distance))
}

/// A word or a time of day, as seen from a moment of the same clock: `now`, `today`,
/// `yesterday` (their beginnings), or `15:21`, the last time that a clock showed it.
#[must_use]
pub fn parse_relative(text: &str, now: NaiveDateTime) -> Option<NaiveDateTime> {
    let text = text.trim();
    let today = now.date().and_hms_opt(0, 0, 0)?;
    match text.to_ascii_lowercase().as_str() {
        "now" => return Some(now),
        "today" => return Some(today),
        "yesterday" => return today.checked_sub_days(Days::new(1)),
        _ => {}
    }
    let mut forms = ["%H:%M:%S%.f", "%H:%M"].iter();
    let time = forms.find_map(|form| NaiveTime::parse_from_str(text, form).ok())?;
    let at = now.date().and_time(time);
    if at <= now {
        Some(at)
    } else {
        at.checked_sub_days(Days::new(1))
    }
}

/// A date, or a date and a time of day, that names no zone.
#[must_use]
pub fn parse_local(text: &str) -> Option<NaiveDateTime> {
    let text = text.trim();
    if let Ok(day) = NaiveDate::parse_from_str(text, "%Y-%m-%d") {
        return day.and_hms_opt(0, 0, 0);
    }
    let forms = [
        "%Y-%m-%dT%H:%M:%S%.f",
        "%Y-%m-%d %H:%M:%S%.f",
        "%Y-%m-%dT%H:%M",
        "%Y-%m-%d %H:%M",
    ];
    let mut times = forms.iter();
    times.find_map(|form| NaiveDateTime::parse_from_str(text, form).ok())
}

fn text_of<'de, D: Deserializer<'de>, T>(
    from: D,
    parse: fn(&str) -> Option<T>,
    wanted: &str,
) -> Result<T, D::Error> {
    let text = String::deserialize(from)?;
    parse(&text).ok_or_else(|| serde::de::Error::custom(format!("{text:?} is not {wanted}")))
}

pub(super) fn duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Nanos>, D::Error> {
    text_of(from, parse_duration, "a time such as 12h or 90d").map(Some)
}

pub(super) fn size<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    size_of(from).map(Some)
}

pub(super) fn size_of<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    let text = String::deserialize(from)?;
    match parse_size(&text) {
        None => Err(serde::de::Error::custom(format!(
            "{text:?} is not a size such as 500MB or 50GiB"
        ))),
        // Whoever writes 16 means no 16 bytes.
        Some(bytes) if bytes < SMALLEST => Err(serde::de::Error::custom(format!(
            "{text:?} is {bytes} bytes, which is too small; write {bytes}MiB or {bytes}GiB"
        ))),
        Some(bytes) => Ok(bytes),
    }
}

/// No limit makes sense below this, in bytes.
const SMALLEST: u64 = 1024;

/// The address of a server.
pub(super) fn address<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    match parse_address(&text) {
        Some(address) => Ok(Some(address)),
        None => Err(serde::de::Error::custom(no_address(&text))),
    }
}

/// What to write instead of a text that is no address; a host and a port lack the scheme alone.
fn no_address(text: &str) -> String {
    let with_scheme = format!("http://{text}");
    let named = text.contains('.') || text.contains(':');
    if named && !text.contains('/') && parse_address(&with_scheme).is_some() {
        return format!(
            "{text:?} is not a URL because it has no scheme: write {with_scheme:?} or \"https://{text}\""
        );
    }
    format!("{text:?} is not a URL: write one such as \"https://host.example.com:9090\"")
}

fn parse_address(text: &str) -> Option<String> {
    let mut schemes = ["http://", "https://"].iter();
    let rest = schemes.find_map(|scheme| text.strip_prefix(scheme))?;
    let named = rest.starts_with(|letter: char| letter.is_alphanumeric() || letter == '[');
    (named && !rest.contains(char::is_whitespace)).then(|| text.to_owned())
}

pub(super) fn timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let nanos = text_of(from, parse_duration, "a time such as 30s or 2m")?;
    Ok(Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_may_have_several_parts() {
        assert_eq!(parse_duration("90m"), Some(5_400 * SECOND));
        assert_eq!(parse_duration("1d12h"), Some(36 * 3_600 * SECOND));
        assert_eq!(parse_duration("1h 30m"), Some(5_400 * SECOND));
        for wrong in ["", "12", "h", "1h1h", "12h1d", "1x", "1d12", "-1h"] {
            assert_eq!(parse_duration(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn moments_may_be_dates() {
        let day = parse_moment("2026-11-21T00:00:00Z", 0);
        assert_eq!(parse_moment("2026-11-21", 0), day);
        assert_eq!(parse_moment("2026-11-21 00:00", 0), day);
        assert_eq!(parse_moment("2026-11-21T00:00", 0), day);
        assert_eq!(parse_moment("1m30s", 100 * SECOND), Some(10 * SECOND));
        assert_eq!(parse_moment("2026-13-21", 0), None);
    }

    #[test]
    fn moments_may_be_words_and_times_of_day() {
        let now = parse_moment("2026-11-21T15:23:09Z", 0).unwrap();
        for (typed, meant) in [
            ("now", "2026-11-21T15:23:09Z"),
            ("today", "2026-11-21"),
            ("Yesterday", "2026-11-20"),
            ("15:21", "2026-11-21T15:21:00Z"),
            ("15:21:05", "2026-11-21T15:21:05Z"),
            // It is not that late yet.
            ("15:40", "2026-11-20T15:40:00Z"),
        ] {
            assert_eq!(parse_moment(typed, now), parse_moment(meant, 0), "{typed}");
        }
        assert_eq!(parse_moment("25:00", now), None);
        assert_eq!(parse_moment("tomorrow", now), None);
    }
}

/// The address of a service as people reach it, without the slash at its end.
pub(super) fn public_url<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = String::deserialize(from)?;
    public_url_of(&text).map(Some).ok_or_else(|| {
        serde::de::Error::custom(format!(
            "{text:?} is not the address of a service; write one such as \"https://whathappened.example.com\""
        ))
    })
}

fn public_url_of(text: &str) -> Option<String> {
    let text = text.trim().trim_end_matches('/');
    let (_, rest) = ["https://", "http://"].into_iter().find_map(|scheme| {
        text.split_once(scheme)
            .filter(|(before, _)| before.is_empty())
    })?;
    // Pages link to one another from the root.
    let is_plain = |c: char| c.is_ascii_graphic() && !"\"'<>\\`?#@/".contains(c);
    (!rest.is_empty() && rest.chars().all(is_plain)).then(|| text.to_owned())
}

#[cfg(test)]
mod public_url_tests {
    use super::public_url_of;

    #[test]
    fn an_address_is_a_scheme_and_a_host() {
        for (text, is) in [
            ("https://w.example.com/", Some("https://w.example.com")),
            ("http://10.0.0.1:8080", Some("http://10.0.0.1:8080")),
            ("https://example.com/tools/w/", None),
            ("w.example.com", None),
            ("javascript:alert(1)", None),
            ("https://", None),
            ("https://a b", None),
            ("https://w.example.com/?x=1", None),
        ] {
            assert_eq!(public_url_of(text).as_deref(), is, "{text}");
        }
    }
}
