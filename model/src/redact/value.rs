//! Where a value begins and ends, and whether it can be a secret.

use std::ops::Range;

use super::MASK;
use super::views::follows_sign;

/// The value that stands at a place, and in how many backslashes its quotes are.
pub(super) struct Value {
    pub(super) range: Range<usize>,
    pub(super) is_quoted: bool,
}

/// Backslashes, then a quote: how many of them, which quote, and where it ends.
pub(super) fn quote(text: &str, at: usize) -> Option<(usize, u8, usize)> {
    let rest = text.as_bytes().get(at..)?;
    let backslashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    match rest.get(backslashes) {
        Some(quote @ (b'"' | b'\'')) => Some((backslashes, *quote, at + backslashes + 1)),
        _ => None,
    }
}

/// What stands at a place: in quotes up to their end, else up to where it ends by itself.
pub(super) fn at(text: &str, at: usize) -> Value {
    match quote(text, at) {
        Some((backslashes, quote, from)) => Value {
            range: from..quoted_end(text, from, backslashes, quote),
            is_quoted: true,
        },
        None => Value {
            range: at..bare_end(text, at),
            is_quoted: false,
        },
    }
}

/// The end of what is in quotes that stand behind so many backslashes. A text may
/// be cut off before it.
fn quoted_end(text: &str, from: usize, backslashes: usize, quote: u8) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    let mut run = 0;
    while let Some(next) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr3(b'\\', b'"', quote, rest))
    {
        // What stands between two of these signs parts them.
        if next > 0 {
            run = 0;
        }
        at += next;
        let byte = &bytes[at];
        if *byte == b'\\' {
            run += 1;
        } else {
            let closes = match backslashes {
                0 => quote == b'\'' || run % 2 == 0,
                _ => run <= backslashes,
            };
            if *byte == quote && closes {
                return at - run.min(backslashes);
            }
            // The text around it ends here, too.
            if *byte == b'"' && backslashes > 0 && run == 0 {
                return at;
            }
            run = 0;
        }
        at += 1;
    }
    text.len()
}

/// The end of a value without quotes. What stands in the middle of it belongs to it,
/// unless another key begins there.
fn bare_end(text: &str, from: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = from;
    while let Some(byte) = bytes.get(at) {
        let next = bytes.get(at + 1).copied().unwrap_or(b' ');
        let goes_on = match byte {
            b' ' | b'\t' | b'\n' | b'\r' => false,
            // `\n` in JSON is an end of line, `\"` one of a quote.
            b'\\' if next == b'\\' => bytes.get(at + 2).is_some_and(is_inner),
            b'\\' => false,
            b'"' | b'\'' | b'`' => at > from && is_inner(&next),
            b'&' | b';' | b',' => is_inner(&next) && !is_key(text, at + 1),
            b'|' | b'/' => key_sign(text, at + 1).is_none_or(|sign| is_padding(text, sign)),
            b'{' | b'[' | b'(' | b'<' => true,
            b'}' | b']' | b')' | b'>' => is_inner(&next),
            _ => true,
        };
        if !goes_on {
            break;
        }
        at += 1;
    }
    // A character is not cut in two: only ASCII ends a value.
    at
}

fn is_inner(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric() || !byte.is_ascii() || b"$!#%^*_+=?/.@~-".contains(byte)
}

/// `name=` or `name:` follows.
fn is_key(text: &str, at: usize) -> bool {
    key_sign(text, at).is_some()
}

/// Where the sign stands behind the name that follows.
fn key_sign(text: &str, at: usize) -> Option<usize> {
    let rest = &text.as_bytes()[at..];
    let name = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(byte))
        .count();
    (name > 0 && matches!(rest.get(name), Some(b'=' | b':'))).then_some(at + name)
}

/// Whether the sign behind a name is the padding of base64 and begins no value.
fn is_padding(text: &str, sign: usize) -> bool {
    let after = text[sign..].strip_prefix('=');
    after.is_some_and(|after| {
        let next = after.chars().next();
        // In JSON, and in shells, a quote ends it.
        next.is_none_or(|next| {
            matches!(next, '=' | '"' | '\'' | '\\' | ',' | '}') || next.is_whitespace()
        })
    })
}

pub(super) fn starts_inside_word(text: &str, at: usize) -> bool {
    text[..at]
        .bytes()
        .next_back()
        .is_some_and(|before| before.is_ascii_alphanumeric() || before == b'-')
        && !follows_escape(&text.as_bytes()[..at])
        // `%3D` in a URL is none either.
        && !follows_sign(text.as_bytes(), at)
}

/// Whether a text ends in what is no letter though it is written with one: `\n` and `\u001b`
/// in JSON, `\x1b` in Python, and what gives a terminal its colours.
fn follows_escape(before: &[u8]) -> bool {
    /// The longest `\u001b[38;5;208;1m`.
    const LONGEST: usize = 24;
    if let [
        ..,
        b'\\',
        b'n' | b't' | b'r' | b'b' | b'f' | b'v' | b'a' | b'0',
    ] = before
    {
        return true;
    }
    let hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    match before {
        [.., b'\\', b'x', one, two] if hex(&[*one, *two]) => return true,
        _ => {}
    }
    if let Some([b'\\', b'u', digits @ ..]) = before.len().checked_sub(6).map(|at| &before[at..])
        && hex(digits)
    {
        return true;
    }
    let near = &before[before.len().saturating_sub(LONGEST)..];
    let Some(bracket) = near.iter().rposition(|byte| *byte == b'[') else {
        return false;
    };
    let (escape, colour) = near.split_at(bracket);
    let is_colour = colour.split_last().is_some_and(|(last, numbers)| {
        let numbers = numbers.get(1..).unwrap_or_default();
        let plain = |byte: &u8| byte.is_ascii_digit() || *byte == b';';
        last.is_ascii_alphabetic() && numbers.iter().all(plain)
    });
    let escapes: [&[u8]; 6] = [b"\x1b", b"u001b", b"u001B", b"x1b", b"033", b"\\e"];
    is_colour && escapes.iter().any(|known| escape.ends_with(known))
}

/// A value that only says that there is one, or where it is.
pub(super) fn names_no_secret(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "",
        "-",
        "|",
        ">",
        "true",
        "false",
        "null",
        "none",
        "nil",
        "yes",
        "ok",
        "pass",
        "passed",
        "fail",
        "required",
        "incorrect",
        "invalid",
        "expired",
        "missing",
        "unset",
        "empty",
        "is",
        "was",
        "not",
        "no",
        "must",
        "should",
        "cannot",
        "could",
        "wrong",
        "failed",
        "for",
        "from",
        "the",
        "authentication",
        "redacted",
        "hidden",
        "masked",
        "omitted",
        "undefined",
        MASK,
    ];
    is_reference(value)
        || is_duration(value)
        || value.starts_with("[redacted")
        || value.starts_with("redacted]")
        || (value.len() > 2 && value.bytes().all(|byte| b"*xX.-".contains(&byte)))
        || WORDS
            .iter()
            .any(|word| value.trim_start_matches('(').eq_ignore_ascii_case(word))
}

/// `55.356µs`: how long something took, under a key that names what was done.
fn is_duration(value: &str) -> bool {
    let unit = value.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    unit.len() < value.len() && ["ns", "µs", "us", "ms", "s"].contains(&unit)
}

/// `$(NAME)`, `${NAME}`, `$NAME`, `<name>`, `{{ … }}`, `%s`: what will stand there is
/// not here.
fn is_reference(value: &str) -> bool {
    let inside = |open: &str, close: &str| {
        value.starts_with(open) && (value.ends_with(close) || !value.contains(close))
    };
    let is_variable = value.strip_prefix('$').is_some_and(|name| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    });
    inside("$(", ")")
        || inside("${", "}")
        || inside("<", ">")
        || value.starts_with("{{")
        || value.starts_with("***")
        || matches!(value, "%s" | "%v" | "%q" | "%d" | "{}" | "?")
        || is_variable
}

/// `pod-identity-webhook`: the name of an object that holds a secret.
pub(super) fn is_name(value: &str) -> bool {
    value.contains('-') && value.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

/// `/var/run/secrets/token`: where it is.
pub(super) fn is_path(value: &str) -> bool {
    (value.starts_with('/') && value[1..].contains('/') && !is_base64_key(value))
        || value.starts_with("./")
        || value.starts_with("~/")
}

/// One key of 64 begins with a slash, and more have another one.
fn is_base64_key(value: &str) -> bool {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte);
    matches!(value.len(), 40 | 44 | 64 | 88) && is_mixed(value, 40) && value.bytes().all(base64)
}

pub(super) fn is_number(value: &str) -> bool {
    value
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b'+' | b'e'))
}

/// Whether it looks made by a machine and not like a word of prose.
pub(super) fn is_random(value: &str) -> bool {
    value.len() >= 8 && (value.bytes().any(|b| b.is_ascii_digit()) || value.len() >= 24)
}

pub(super) fn has_both_cases(value: &str) -> bool {
    let has = |what: fn(&u8) -> bool| value.as_bytes().iter().any(what);
    has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
}

/// Whether a word of a sentence is no word: letters with digits or signs.
pub(super) fn is_strong(value: &str, least: usize) -> bool {
    let has = |what: fn(&u8) -> bool| value.as_bytes().iter().any(what);
    let signs = |byte: &u8| b"$!#%^&*@+=?~".contains(byte);
    value.len() >= least
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || has(signs))
        && !value.contains("://")
}

/// Upper case, lower case and digits.
pub(super) fn is_mixed(value: &str, least: usize) -> bool {
    value.len() >= least && has_both_cases(value) && value.bytes().any(|b| b.is_ascii_digit())
}

/// A key of 128, 192, 256 or 512 bits in hexadecimal digits. Git's hashes have 40.
pub(super) fn is_hex_key(value: &str) -> bool {
    matches!(value.len(), 32 | 48 | 64 | 128)
        && value.bytes().all(|byte| byte.is_ascii_hexdigit())
        && value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether it looks like a secret under a key that tells little, such as `pass`: no
/// number, count, time, version, path, uid, or name of several words.
pub(super) fn is_likely(value: &str) -> bool {
    let is_hex = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    if value
        .strip_prefix("0x")
        .unwrap_or(value)
        .bytes()
        .all(is_hex)
    {
        return is_hex_key(value);
    }
    let signs = ['_', '-', '.', '/', ':', ',', '(', ')', '[', ']', '{', '}'];
    let Some(longest) = value.split(signs).max_by_key(|part| part.len()) else {
        return false;
    };
    // Kubernetes ends names in up to ten letters of its own.
    let least = if value.contains(signs) { 11 } else { 8 };
    let count = |what: fn(&u8) -> bool| longest.as_bytes().iter().filter(|byte| what(byte)).count();
    let letters = count(u8::is_ascii_alphabetic);
    // `matches!` is a word.
    let is_odd = count(|byte| !byte.is_ascii_alphabetic()) >= 2;
    // `epoch100`: a word and its number.
    let word = longest.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_numbered = longest.len() < 10 && word.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_strong(longest, least) && is_odd && letters >= 3 && !is_numbered && !is_path(value)
}
