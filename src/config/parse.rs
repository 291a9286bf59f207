//! Times and sizes as people write them.

use std::time::Duration;

use serde::{Deserialize as _, Deserializer};
use whathappened_connectors::time::{Nanos, SECOND, Stamp};

/// A distance in time as people write it: `90s`, `30m`, `2h`, `7d`, `4w`.
#[must_use]
pub fn parse_duration(text: &str) -> Option<Nanos> {
    let split = text.find(|letter: char| !letter.is_ascii_digit())?;
    let (number, unit) = text.split_at(split);
    let number: i64 = number.parse().ok()?;
    let seconds = match unit.trim() {
        "s" => 1,
        "m" => 60,
        "h" => 3_600,
        "d" => 86_400,
        "w" => 7 * 86_400,
        _ => return None,
    };
    Some(number.saturating_mul(seconds).saturating_mul(SECOND))
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

/// A moment as people type it, in nanoseconds since 1970: RFC 3339, or a distance
/// before `now` such as `30m`, `2h` or `7d`.
#[must_use]
pub fn parse_moment(text: &str, now: Nanos) -> Option<Nanos> {
    if let Some(stamp) = Stamp::parse(text) {
        return Some(stamp.lo);
    }
    parse_duration(text).map(|distance| now.saturating_sub(distance))
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
    text_of(from, parse_size, "a size such as 500MB or 50GiB").map(Some)
}

pub(super) fn size_of<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
    text_of(from, parse_size, "a size such as 500MB or 50GiB")
}

pub(super) fn timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
    let nanos = text_of(from, parse_duration, "a time such as 30s or 2m")?;
    Ok(Duration::from_nanos(u64::try_from(nanos).unwrap_or(0)))
}
