//! The private members of a key in JSON (RFC 7517, 7518): letters as short as `d`, which
//! only beside `kty` say what they are.

use std::ops::Range;

use regex::Regex;

pub(super) const HINTS: &[&str] = &["\"kty\"", "\"kty\\", "'kty'"];

/// An object is no longer: a key of 8,192 bits has some 7,000 letters.
const LONGEST: usize = 10_000;

pub(super) fn members() -> Option<Regex> {
    Regex::new(r#"\\*["'](?:d|p|q|dp|dq|qi|k|t|r)\\*["']\s*:\s*\\*["']([A-Za-z0-9_-]{8,})"#).ok()
}

/// Adds the private members of the object that has its kind at a place.
pub(super) fn values(text: &str, at: usize, members: &Regex, found: &mut Vec<Range<usize>>) {
    let mut from = at.saturating_sub(LONGEST);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let mut to = text.len().min(at + LONGEST);
    while !text.is_char_boundary(to) {
        to -= 1;
    }
    let from = text[from..at]
        .rfind(['{', '}'])
        .map_or(from, |brace| from + brace);
    let to = text[at..to].find(['{', '}']).map_or(to, |brace| at + brace);
    for member in members.captures_iter(&text[from..to]) {
        if let Some(value) = member.get(1) {
            found.push(from + value.start()..from + value.end());
        }
    }
}
