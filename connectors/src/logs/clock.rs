//! Times as log lines write them.

mod frame;
mod years;

use chrono::{NaiveDate, NaiveDateTime};

use crate::time::{Nanos, SECOND, Stamp};

pub(crate) use years::{in_year, mentioned_year, without_year};

/// A time as far as the line says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clock {
    /// With date and zone.
    Full(Stamp),
    /// With date; UTC is assumed.
    NoZone(Stamp),
    /// Without year: month, day, nanoseconds since midnight, width.
    NoYear {
        month: u32,
        day: u32,
        nanos: Nanos,
        width: Nanos,
    },
}

/// Reads the time at the start of `text` and says where it ends.
pub(crate) fn leading(text: &str) -> Option<(Clock, usize)> {
    let bytes = text.as_bytes();
    // Megatron's lines start with a space.
    let spaces = bytes.iter().take_while(|b| **b == b' ').count().min(2);
    let mut at = spaces + usize::from(bytes.get(spaces) == Some(&b'['));
    if let Some(found) = dated(bytes, at).or_else(|| since_1970(text, at)) {
        return Some(found);
    }
    if let Some(after) = frame::before_time(text) {
        at = after;
        if let Some(found) = dated(bytes, at) {
            return Some(found);
        }
    }
    if matches!(bytes.get(at), Some(b'I' | b'W' | b'E' | b'F'))
        && let Some(found) = klog(bytes, at + 1)
    {
        return Some(found);
    }
    // detectron2's `[11/21 15:20:27 d2.engine.train_loop]`.
    if at > spaces
        && let Some((clock, end)) = month_day(bytes, at)
        && bytes.get(end) == Some(&b' ')
    {
        return Some((clock, end));
    }
    // A level before the time: `INFO 11-21 15:20:27`, `ERROR: 2026-11-21 …`.
    let word = bytes[at..]
        .iter()
        .take_while(|b| b.is_ascii_uppercase())
        .count();
    if (4..=8).contains(&word) {
        let gap = bytes[at + word..]
            .iter()
            .take_while(|b| matches!(b, b' ' | b':' | b']' | b'['))
            .count();
        at += word + gap;
        if gap > 0 {
            return dated(bytes, at).or_else(|| month_day(bytes, at));
        }
    }
    named_month(bytes, at).or_else(|| request(bytes, text))
}

/// A time that a line bears at a place of its own: Megatron's marks of its
/// phases, and what Slurm's step daemon writes at the end of a job.
pub(super) fn within(text: &str) -> Option<Clock> {
    const BEFORE: [&str; 2] = ["] datetime: ", " CANCELLED AT "];
    BEFORE.iter().find_map(|words| {
        let at = memchr::memmem::find(text.as_bytes(), words.as_bytes())? + words.len();
        dated(text.as_bytes(), at).map(|(clock, _)| clock)
    })
}

/// A date and time that is the start of `text`.
pub(super) fn dated_at(text: &str) -> Option<Stamp> {
    date_time(text.as_bytes(), 0).map(|(stamp, _, _)| stamp)
}

fn dated(bytes: &[u8], at: usize) -> Option<(Clock, usize)> {
    let (stamp, zone, end) = date_time(bytes, at)?;
    let clock = if zone {
        Clock::Full(stamp)
    } else {
        Clock::NoZone(stamp)
    };
    Some((clock, end))
}

/// How far from UTC the zone is that a line's own date and time names as an offset, in nanoseconds; `None` where it names
/// none, or none but UTC.
pub(crate) fn offset(text: &str) -> Option<Nanos> {
    let bytes = text.as_bytes();
    let at = usize::from(bytes.first() == Some(&b'['));
    number(bytes, at, 4)?;
    let (_, _, end) = time_of_day(bytes, at + 11)?;
    let (offset, _) = zone(bytes, end)?;
    Some(offset).filter(|offset| *offset != 0)
}

/// Seconds since 1970 with a fraction or in brackets, or finer units; other
/// numbers at a line's start count something.
fn since_1970(text: &str, at: usize) -> Option<(Clock, usize)> {
    let rest = text.get(at..)?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if !matches!(digits, 10 | 13 | 16 | 19) {
        return None;
    }
    let fraction = match rest[digits..].strip_prefix('.') {
        Some(after) => after.bytes().take_while(u8::is_ascii_digit).count(),
        None => 0,
    };
    let end = digits + if fraction > 0 { fraction + 1 } else { 0 };
    let bracket = at > 0 && text[..at].ends_with('[');
    let close = match rest[end..].bytes().next() {
        Some(b']') => bracket,
        Some(b' ' | b':' | b'\t') => !bracket,
        _ => false,
    };
    if !close || (digits == 10 && fraction == 0 && !bracket) {
        return None;
    }
    let stamp = epoch(&rest[..end])?;
    // From 2001 to 2100.
    let plausible = (1_000_000_000..4_102_444_800).contains(&(stamp.lo / SECOND));
    plausible.then_some((Clock::Full(stamp), at + end))
}

/// `10.0.0.1 - - [21/Nov/2026:15:20:27 +0000] "GET / …`, as web servers write it.
fn request(bytes: &[u8], text: &str) -> Option<(Clock, usize)> {
    let open = text.find(" [").filter(|at| *at < 120)? + 2;
    let day = number(bytes, open, 2)?;
    if bytes.get(open + 2) != Some(&b'/') || bytes.get(open + 6) != Some(&b'/') {
        return None;
    }
    let month = month(bytes.get(open + 3..open + 6)?)?;
    let year = number(bytes, open + 7, 4)?;
    if bytes.get(open + 11) != Some(&b':') {
        return None;
    }
    let (nanos, width, end) = time_of_day(bytes, open + 12)?;
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    let (offset, end) = zone(bytes, end)?;
    let stamp = stamp(date, nanos, width)?.shift(-offset);
    Some((Clock::Full(stamp), end))
}

fn month(name: &[u8]) -> Option<u32> {
    const MONTHS: [&[u8]; 12] = [
        b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov",
        b"Dec",
    ];
    let position = MONTHS.iter().position(|month| *month == name)?;
    Some(u32::try_from(position).ok()? + 1)
}

fn number(bytes: &[u8], at: usize, digits: usize) -> Option<u32> {
    let field = bytes.get(at..at + digits)?;
    field.iter().try_fold(0, |sum, b| {
        b.is_ascii_digit().then(|| sum * 10 + u32::from(b - b'0'))
    })
}

/// `HH:MM:SS` with an optional fraction: nanoseconds, width, where it ends.
fn time_of_day(bytes: &[u8], at: usize) -> Option<(Nanos, Nanos, usize)> {
    let (h, m, s) = (
        number(bytes, at, 2)?,
        number(bytes, at + 3, 2)?,
        number(bytes, at + 6, 2)?,
    );
    if bytes[at + 2] != b':' || bytes[at + 5] != b':' || h > 23 || m > 59 || s > 60 {
        return None;
    }
    let mut nanos = i64::from(h * 3600 + m * 60 + s) * SECOND;
    let mut width = SECOND;
    let mut end = at + 8;
    if matches!(bytes.get(end), Some(b'.' | b','))
        && bytes.get(end + 1).is_some_and(u8::is_ascii_digit)
    {
        end += 1;
        while let Some(digit) = bytes.get(end).filter(|b| b.is_ascii_digit()) {
            if width > 1 {
                width /= 10;
                nanos += i64::from(digit - b'0') * width;
            }
            end += 1;
        }
    }
    Some((nanos, width, end))
}

fn stamp(date: NaiveDate, nanos: Nanos, width: Nanos) -> Option<Stamp> {
    let midnight = NaiveDateTime::from(date).and_utc().timestamp_nanos_opt()?;
    let lo = midnight.checked_add(nanos)?;
    Some(Stamp {
        lo,
        hi: lo.saturating_add(width),
    })
}

/// `2026-11-21T15:20:39.123Z`, `2026-11-21 15:20:39,123`, `2026/11/21 …`,
/// `2026-11-21_15:20:39`; and whether it names its zone.
fn date_time(bytes: &[u8], at: usize) -> Option<(Stamp, bool, usize)> {
    let Some(year) = number(bytes, at, 4) else {
        return short_date(bytes, at).or_else(|| day_first(bytes, at));
    };
    let dash = *bytes.get(at + 4)?;
    if !matches!(dash, b'-' | b'/') || bytes.get(at + 7) != Some(&dash) {
        return None;
    }
    let (month, day) = (number(bytes, at + 5, 2)?, number(bytes, at + 8, 2)?);
    if !matches!(bytes.get(at + 10), Some(b'T' | b' ' | b'_' | b't')) {
        return None;
    }
    let (nanos, width, mut end) = time_of_day(bytes, at + 11)?;
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    let mut stamp = stamp(date, nanos, width)?;
    let mut zoned = false;
    if let Some((offset, after)) = zone(bytes, end) {
        stamp = stamp.shift(-offset);
        zoned = true;
        end = after;
    }
    Some((stamp, zoned, end))
}

/// The American `11/21/2026 15:20:39`, as the scripts of transformers and nanotron write it, and rich's `[11/21/26 15:20:39]`.
/// What is no month is a day: `21/11/2026`.
fn day_first(bytes: &[u8], at: usize) -> Option<(Stamp, bool, usize)> {
    let (first, second) = (number(bytes, at, 2)?, number(bytes, at + 3, 2)?);
    let separated = bytes.get(at + 2) == Some(&b'/') && bytes.get(at + 5) == Some(&b'/');
    let whole = number(bytes, at + 6, 4);
    let (year, time) = match whole {
        Some(year) => (year, at + 11),
        None => (2000 + number(bytes, at + 6, 2)?, at + 9),
    };
    if !separated || bytes.get(time - 1) != Some(&b' ') {
        return None;
    }
    let (nanos, width, end) = time_of_day(bytes, time)?;
    let in_brackets = at > 0 && bytes.get(at - 1) == Some(&b'[') && bytes.get(end) == Some(&b']');
    if whole.is_none() && !in_brackets {
        return None;
    }
    let (month, day) = match (first, second) {
        (day, month) if day > 12 => (month, day),
        american => american,
    };
    let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
    Some((stamp(date, nanos, width)?, false, end))
}

/// log4j's `26/11/21 15:20:39 INFO`, year first.
fn short_date(bytes: &[u8], at: usize) -> Option<(Stamp, bool, usize)> {
    let (year, month, day) = (
        number(bytes, at, 2)?,
        number(bytes, at + 3, 2)?,
        number(bytes, at + 6, 2)?,
    );
    if bytes.get(at + 2) != Some(&b'/')
        || bytes.get(at + 5) != Some(&b'/')
        || bytes.get(at + 8) != Some(&b' ')
    {
        return None;
    }
    let (nanos, width, end) = time_of_day(bytes, at + 9)?;
    if bytes.get(end) != Some(&b' ') {
        return None;
    }
    let date = NaiveDate::from_ymd_opt(2000 + i32::try_from(year).ok()?, month, day)?;
    Some((stamp(date, nanos, width)?, false, end))
}

/// `Z`, `UTC`, `+01:00`, `+0100`, perhaps after a space: the offset in nanoseconds.
fn zone(bytes: &[u8], at: usize) -> Option<(Nanos, usize)> {
    let spaced = bytes.get(at) == Some(&b' ');
    let at = at + usize::from(spaced);
    match bytes.get(at)? {
        b'Z' | b'z' => Some((0, at + 1)),
        b'U' if bytes[at..].starts_with(b"UTC") => Some((0, at + 3)),
        sign @ (b'+' | b'-') => {
            let hours = number(bytes, at + 1, 2)?;
            let colon = usize::from(bytes.get(at + 3) == Some(&b':'));
            let minutes = number(bytes, at + 3 + colon, 2)?;
            let offset = i64::from(hours * 3600 + minutes * 60) * SECOND;
            Some((if *sign == b'-' { -offset } else { offset }, at + 5 + colon))
        }
        _ => None,
    }
}

/// After klog's letter: `1121 15:21:00.350808`; c10 leaves out the month's
/// zero, glog may write the year, absl before it is set up seconds since 1970.
fn klog(bytes: &[u8], at: usize) -> Option<(Clock, usize)> {
    let digits = bytes[at..]
        .iter()
        .take_while(|b| b.is_ascii_digit())
        .count();
    if let Some(rest) = bytes[at..].strip_prefix(b"0000 00:00:") {
        let end = rest
            .iter()
            .take_while(|b| b.is_ascii_digit() || **b == b'.')
            .count();
        let stamp = epoch(std::str::from_utf8(&rest[..end]).ok()?)?;
        return Some((Clock::Full(stamp), at + 11 + end));
    }
    if digits == 8 && bytes.get(at + 8) == Some(&b' ') {
        let date = NaiveDate::from_ymd_opt(
            i32::try_from(number(bytes, at, 4)?).ok()?,
            number(bytes, at + 4, 2)?,
            number(bytes, at + 6, 2)?,
        )?;
        let (nanos, width, end) = time_of_day(bytes, at + 9)?;
        return Some((Clock::NoZone(stamp(date, nanos, width)?), end));
    }
    if !matches!(digits, 3 | 4) || bytes.get(at + digits) != Some(&b' ') {
        return None;
    }
    let month = number(bytes, at, digits - 2)?;
    let day = number(bytes, at + digits - 2, 2)?;
    let (nanos, width, end) = time_of_day(bytes, at + digits + 1)?;
    valid_day(month, day).then_some((
        Clock::NoYear {
            month,
            day,
            nanos,
            width,
        },
        end,
    ))
}

/// `11-21 15:20:27`
fn month_day(bytes: &[u8], at: usize) -> Option<(Clock, usize)> {
    let (month, day) = (number(bytes, at, 2)?, number(bytes, at + 3, 2)?);
    if !matches!(bytes.get(at + 2), Some(b'-' | b'/')) || bytes.get(at + 5) != Some(&b' ') {
        return None;
    }
    let (nanos, width, end) = time_of_day(bytes, at + 6)?;
    valid_day(month, day).then_some((
        Clock::NoYear {
            month,
            day,
            nanos,
            width,
        },
        end,
    ))
}

/// syslog's `Nov 21 15:20:27`, `dmesg -T`'s `[Sat Nov 21 15:20:27 2026]`.
fn named_month(bytes: &[u8], at: usize) -> Option<(Clock, usize)> {
    const DAYS: [&[u8]; 7] = [b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun"];
    let weekday = bytes
        .get(at..at + 3)
        .is_some_and(|name| DAYS.contains(&name))
        && bytes.get(at + 3) == Some(&b' ');
    let at = at + if weekday { 4 } else { 0 };
    let month = month(bytes.get(at..at + 3)?)?;
    if bytes.get(at + 3) != Some(&b' ') {
        return None;
    }
    let padded = bytes.get(at + 4) == Some(&b' ');
    let day = if padded {
        number(bytes, at + 5, 1)?
    } else {
        number(bytes, at + 4, 2)?
    };
    if bytes.get(at + 6) != Some(&b' ') {
        return None;
    }
    let (nanos, width, end) = time_of_day(bytes, at + 7)?;
    // `date` puts its zone's name before the year.
    let zone = bytes.get(end + 1..).map_or(0, |rest| {
        let letters = rest.iter().take_while(|b| b.is_ascii_uppercase()).count();
        let named = (3..=5).contains(&letters) && rest.get(letters) == Some(&b' ');
        if named { letters + 1 } else { 0 }
    });
    if bytes.get(end) == Some(&b' ')
        && let Some(year) = number(bytes, end + 1 + zone, 4)
        && (1980..2200).contains(&year)
    {
        let date = NaiveDate::from_ymd_opt(i32::try_from(year).ok()?, month, day)?;
        let stamp = stamp(date, nanos, width)?;
        let utc = zone == 4 && matches!(&bytes[end + 1..end + 4], b"UTC" | b"GMT");
        let clock = if utc {
            Clock::Full(stamp)
        } else {
            Clock::NoZone(stamp)
        };
        return Some((clock, end + 5 + zone));
    }
    valid_day(month, day).then_some((
        Clock::NoYear {
            month,
            day,
            nanos,
            width,
        },
        end,
    ))
}

fn valid_day(month: u32, day: u32) -> bool {
    // A leap year, for the day's own year is not known.
    NaiveDate::from_ymd_opt(2024, month, day).is_some()
}

/// Seconds, milliseconds, microseconds or nanoseconds since 1970, told apart by size.
pub(crate) fn epoch(text: &str) -> Option<Stamp> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let number: i64 = whole.parse().ok()?;
    let unit = match whole.len() {
        9..=10 => SECOND,
        13 => 1_000_000,
        16 => 1_000,
        19 => 1,
        _ => return None,
    };
    let mut lo = number.checked_mul(unit)?;
    let mut width = unit;
    for digit in fraction.bytes().take_while(u8::is_ascii_digit) {
        if width > 1 {
            width /= 10;
            lo = lo.checked_add(i64::from(digit - b'0') * width)?;
        }
    }
    Some(Stamp {
        lo,
        hi: lo.saturating_add(width),
    })
}

#[cfg(test)]
mod tests;
