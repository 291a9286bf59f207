//! Zones as systemd prints them behind a time: a short name, or hours from UTC.

use crate::time::{Nanos, SECOND};

/// Short names that stand for one zone alone, with what it is ahead of UTC in minutes. `CST`, `IST` and `BST` mean one thing in
/// one country and another in the next, so they are not here.
const NAMED: [(&str, Nanos); 26] = [
    ("UTC", 0),
    ("GMT", 0),
    ("WET", 0),
    ("WEST", 60),
    ("CET", 60),
    ("CEST", 120),
    ("EET", 120),
    ("EEST", 180),
    ("MSK", 180),
    ("SAST", 120),
    ("PKT", 300),
    ("WIB", 420),
    ("HKT", 480),
    ("JST", 540),
    ("KST", 540),
    ("ACST", 570),
    ("AEST", 600),
    ("AEDT", 660),
    ("NZST", 720),
    ("NZDT", 780),
    ("EST", -300),
    ("EDT", -240),
    ("MST", -420),
    ("PST", -480),
    ("PDT", -420),
    ("CDT", -300),
];

/// Reads the zone that `text` begins with, after a space: what it is ahead of UTC, where its name says that, and what follows it.
pub(super) fn leading(text: &str) -> Option<(Option<Nanos>, &str)> {
    let text = text.strip_prefix(' ')?;
    let end = text
        .find(|sign: char| !sign.is_ascii_alphanumeric() && !matches!(sign, '+' | '-'))
        .unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    if let Some((_, minutes)) = NAMED.iter().find(|(name, _)| *name == word) {
        return Some((Some(minutes * 60 * SECOND), rest));
    }
    if let Some(minutes) = numeric(word) {
        return Some((Some(minutes * 60 * SECOND), rest));
    }
    let is_name =
        (2..=5).contains(&word.len()) && word.bytes().all(|sign| sign.is_ascii_uppercase());
    is_name.then_some((None, rest))
}

/// `+03`, `-0330`
fn numeric(word: &str) -> Option<Nanos> {
    let (sign, digits) = match word.strip_prefix('+') {
        Some(digits) => (1, digits),
        None => (-1, word.strip_prefix('-')?),
    };
    let is_number = matches!(digits.len(), 2 | 4) && digits.bytes().all(|one| one.is_ascii_digit());
    if !is_number {
        return None;
    }
    let hours: Nanos = digits.get(..2)?.parse().ok()?;
    let minutes: Nanos = digits
        .get(2..)
        .filter(|rest| !rest.is_empty())
        .map_or(Ok(0), str::parse)
        .ok()?;
    Some(sign * (hours * 60 + minutes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_known_by_a_name_that_only_it_has_or_by_its_hours() {
        let hours = |text| {
            leading(text).map(|(ahead, rest)| (ahead.map(|ahead| ahead / SECOND / 60), rest))
        };
        assert_eq!(hours(" UTC; 3min ago"), Some((Some(0), "; 3min ago")));
        assert_eq!(hours(" CET host"), Some((Some(60), " host")));
        assert_eq!(hours(" +03 host"), Some((Some(180), " host")));
        assert_eq!(hours(" -0330"), Some((Some(-210), "")));
        assert_eq!(hours(" CST; 1h ago"), Some((None, "; 1h ago")));
        assert_eq!(hours(" gpu-07 python3[1]: x"), None);
        assert_eq!(hours("; 3min ago"), None);
    }
}
