//! Times without a year, and the years that logs mention.

use chrono::NaiveDate;

use super::{Clock, number, stamp};
use crate::time::{Nanos, Stamp};

/// `--11-21T15:20:27.5`, for a time whose year nothing tells.
pub(crate) fn without_year(clock: Clock) -> Option<String> {
    let Clock::NoYear {
        month, day, nanos, ..
    } = clock
    else {
        return None;
    };
    // Any leap year prints every day.
    let text = crate::time::rfc3339(in_year(2024, month, day, nanos, 1)?.lo);
    Some(
        text.replacen("2024", "-", 1)
            .trim_end_matches('Z')
            .to_owned(),
    )
}

/// A time without year in the year given.
pub(crate) fn in_year(
    year: i32,
    month: u32,
    day: u32,
    nanos: Nanos,
    width: Nanos,
) -> Option<Stamp> {
    stamp(NaiveDate::from_ymd_opt(year, month, day)?, nanos, width)
}

/// The year of a date anywhere in the text, such as a journal's heading has.
pub(crate) fn mentioned_year(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"20").find_map(|at| {
        let stands_alone = at == 0 || !bytes[at - 1].is_ascii_alphanumeric();
        let date = number(bytes, at, 4)?;
        let shape = bytes.get(at + 4) == Some(&b'-') && bytes.get(at + 7) == Some(&b'-');
        let valid =
            NaiveDate::from_ymd_opt(2024, number(bytes, at + 5, 2)?, number(bytes, at + 8, 2)?)
                .is_some();
        (stands_alone && shape && valid).then_some(i32::try_from(date).ok()?)
    })
}
