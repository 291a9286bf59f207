//! Secrets of Kubernetes: whatever their keys are called, every value under `data` and
//! `stringData` goes. Which of the fields of an object comes first does not matter.

use std::ops::Range;

use memchr::memmem;

use super::value;
use super::yaml;

/// `Secret` is a hint for the value of a key as well.
pub(super) const HINTS: &[&str] = &["secret", "stringdata"];

/// An object reaches no farther than this from the word that tells what it is.
const LONGEST: usize = 128 << 10;
/// So many maps that might be the object's are looked at before its kind.
const MAPS: usize = 8;

/// Whether a hint is `kind: Secret` or `stringData`, in JSON or YAML.
pub(super) fn is_secret(text: &str, hint: Range<usize>) -> bool {
    let word = &text[hint.clone()];
    if word != "Secret" {
        return word == "stringData";
    }
    let rest = text[hint.end..]
        .strip_prefix("List")
        .unwrap_or(&text[hint.end..]);
    if rest.starts_with(|next: char| next.is_alphanumeric()) {
        return false;
    }
    let mut near = hint.start.saturating_sub(40);
    while !text.is_char_boundary(near) {
        near += 1;
    }
    let before = text[near..hint.start].trim_end_matches(['"', '\'', '\\']);
    let Some(key) = before.trim_end_matches(' ').strip_suffix(':') else {
        return false;
    };
    key.trim_end_matches(['"', '\'', '\\', ' '])
        .ends_with("kind")
}

/// Adds the values of the Secrets that are told of at these places.
pub(super) fn values(text: &str, places: &[usize], found: &mut Vec<Range<usize>>) {
    for (number, &at) in places.iter().enumerate() {
        // What lies beyond the next Secret is its own: no text is read twice.
        let next = places.get(number + 1).copied().unwrap_or(text.len());
        let before = number.checked_sub(1).and_then(|before| places.get(before));
        let region = before.map_or(0, |before| *before)..next;
        let start = region.start.max(at.saturating_sub(LONGEST));
        let mut region = start..region.end.min(at + LONGEST);
        while !text.is_char_boundary(region.end) {
            region.end -= 1;
        }
        let text = &text[..region.end];
        if text[at..].starts_with("stringData") {
            map(text, at + "string".len(), region.end, found);
            continue;
        }
        match opening(text, at) {
            Some(slashes) => json(text, at, region, slashes, found),
            None => document(text, at, region, found),
        }
    }
}

/// The backslashes before the quote that a word begins behind; `None` without one.
fn opening(text: &str, at: usize) -> Option<usize> {
    let before = text[..at].strip_suffix(['"', '\''])?;
    Some(before.len() - before.trim_end_matches('\\').len())
}

/// What stands in JSON, one after the other.
enum Token {
    Open,
    Close,
    Key(Range<usize>),
    Text(Range<usize>),
}

/// The next token of JSON whose quotes stand behind so many backslashes, and where it
/// ends; `None` at the end of what is JSON.
fn token(text: &str, mut at: usize, to: usize, slashes: usize) -> Option<(Token, usize)> {
    let bytes = text.as_bytes();
    loop {
        let byte = bytes.get(at).filter(|_| at < to)?;
        match byte {
            b'{' | b'[' => return Some((Token::Open, at + 1)),
            b'}' | b']' => return Some((Token::Close, at + 1)),
            b'"' | b'\'' | b'\\' => {
                let Some((own, _, from)) = value::quote(text, at) else {
                    at += 1;
                    continue;
                };
                if own < slashes {
                    return None;
                }
                let range = value::at(text, at).range;
                let end = (range.end + own + 1).min(text.len());
                let rest = bytes[end..].iter().find(|byte| !byte.is_ascii_whitespace());
                let part = from..range.end;
                return Some(match rest {
                    Some(b':') => (Token::Key(part), end),
                    _ => (Token::Text(part), end),
                });
            }
            _ => at += 1,
        }
    }
}

fn json(
    text: &str,
    at: usize,
    region: Range<usize>,
    slashes: usize,
    found: &mut Vec<Range<usize>>,
) {
    // The rest of `Secret"`, or of `SecretList"`.
    let is_list = text[at..].starts_with("SecretList");
    let kind_end = value::at(text, at - 1 - slashes).range.end;
    let mut next = (kind_end + slashes + 1).min(text.len());
    let mut depth = 0_usize;
    while let Some((token, end)) = token(text, next, region.end, slashes) {
        next = end;
        match token {
            Token::Open => depth += 1,
            Token::Close if depth == 0 => break,
            Token::Close => depth -= 1,
            Token::Key(key) if depth == 0 || is_list => {
                if matches!(&text[key.clone()], "data" | "stringData") {
                    next = map(text, key.end - "data".len(), region.end, found);
                }
            }
            Token::Key(_) | Token::Text(_) => {}
        }
    }
    let mut until = at;
    for _ in 0..MAPS {
        let before = text.as_bytes().get(region.start..until).unwrap_or_default();
        let Some(key) = memmem::rfind(before, b"ata") else {
            break;
        };
        until = region.start + key;
        let name = until.saturating_sub(1);
        // `metadata` is none, and `stringData` has a hint of its own.
        let is_key = text.as_bytes()[name] == b'd'
            && text[..name].ends_with(['"', '\''])
            && (is_list || is_beside(text, name + 4, at, slashes));
        if is_key {
            map(text, name, region.end, found);
        }
    }
}

/// Whether what follows a key stands in the same object as the place.
fn is_beside(text: &str, key_end: usize, place: usize, slashes: usize) -> bool {
    let mut next = (key_end + slashes + 1).min(text.len());
    let mut depth = 0_usize;
    while let Some((token, end)) = token(text, next, place, slashes) {
        next = end;
        match token {
            Token::Open => depth += 1,
            Token::Close if depth == 0 => return false,
            Token::Close => depth -= 1,
            Token::Key(_) | Token::Text(_) => {}
        }
    }
    depth == 0
}

/// Adds the values of the map whose key, `data`, begins at a place. Gives its end.
fn map(text: &str, name: usize, to: usize, found: &mut Vec<Range<usize>>) -> usize {
    let end = name + "data".len();
    let Some((slashes, _, behind)) = value::quote(text, end) else {
        if text[end..].starts_with(':') {
            yaml::entries(text, name, to, found);
        }
        return end;
    };
    let rest = text[behind..].trim_start();
    let Some(rest) = rest.strip_prefix(':').map(str::trim_start) else {
        return end;
    };
    if !rest.starts_with('{') {
        return end;
    }
    let mut next = text.len() - rest.len();
    let mut depth = 0_usize;
    while let Some((token, end)) = token(text, next, to, slashes) {
        next = end;
        match token {
            Token::Open => depth += 1,
            Token::Close if depth <= 1 => break,
            Token::Close => depth -= 1,
            Token::Text(part) if !value::names_no_secret(&text[part.clone()]) => found.push(part),
            Token::Key(_) | Token::Text(_) => {}
        }
    }
    next
}

/// The maps of a document of YAML.
fn document(text: &str, at: usize, region: Range<usize>, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let start = memmem::rfind(&bytes[region.start..at], b"---")
        .map_or(region.start, |line| region.start + line + 3);
    let end = memmem::find(&bytes[at..region.end], b"---").map_or(region.end, |line| at + line);
    let mut done = start;
    for key in memmem::find_iter(&bytes[start..end], b"data:") {
        let key = start + key;
        let before = text[..key].strip_suffix("string").unwrap_or(&text[..key]);
        let begins = before.is_empty()
            || before.ends_with([' ', '\n', '\t', '"', '\''])
            || before.ends_with("\\n");
        // `stringData:` has a hint of its own.
        if begins && before.len() == key && key >= done {
            done = yaml::entries(text, key, end, found);
        }
    }
}
