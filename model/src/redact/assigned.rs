//! The value behind the sign of a key: where it begins and ends in quotes, in YAML, on
//! the next line, as several words; and what of it is a secret.

use std::borrow::Cow;
use std::ops::Range;

use super::keyed::before;
use super::value::{self, Value, is_mixed, is_number, is_random, is_strong};
use super::{MASK, Rule, SecretSpan, yaml};

/// The value behind the sign of a key, with the tags of YAML before it.
pub(super) fn assigned(
    text: &str,
    from: usize,
    rule: Rule,
    key: (Option<&str>, &str),
    harmless: &dyn Fn(&str) -> bool,
) -> Option<SecretSpan> {
    let behind = match key.1.trim_end().ends_with(':') {
        true => yaml::behind_tags(text, from),
        false => from,
    };
    // `db_password: str = '…'`: a type stands between.
    if let Some(value) = behind_type(text, from) {
        return value_at(text, value, rule, (key.0, "="), harmless);
    }
    // `Secret("…")`, or a line that ends behind the sign: what comes before the quote tells nothing.
    if let Some(value) = behind_call(text, from).or_else(|| quoted_line(text, from)) {
        return value_at(text, value, rule, (key.0, "="), harmless);
    }
    // The lines below are told by a rule of their own.
    if behind > from && matches!(text[behind..].trim_end(), "|" | ">" | "|-" | ">-" | "|+") {
        return None;
    }
    if behind > from
        && let Some((range, mask)) = value_at(text, behind, rule, key, harmless)
    {
        // What looks like a tag might be a word of the password.
        return Some((from..range.end, mask));
    }
    value_at(text, from, rule, key, harmless)
}

fn value_at(
    text: &str,
    from: usize,
    rule: Rule,
    (key_quote, between): (Option<&str>, &str),
    harmless: &dyn Fn(&str) -> bool,
) -> Option<SecretSpan> {
    if let Some(range) = yaml::block(text, from) {
        return Some((range, MASK.into()));
    }
    // In prose a colon is followed by what is wrong with the token.
    let prose = between.contains(':') && key_quote.is_none();
    if let Some((folded, emitted)) = yaml::folded_block(text, from) {
        let is_secret = !harmless(emitted) && (rule == Rule::Password || is_random(emitted));
        return is_secret.then(|| (folded, MASK.into()));
    }
    if let Some(next) = next_line(text, from) {
        let emitted = &text[next.clone()];
        let is_secret = match rule {
            Rule::Password => is_strong(emitted, 6),
            _ => is_mixed(emitted, 16),
        };
        let is_key = emitted.contains([':', '=']);
        return (is_secret && !is_key && !harmless(emitted)).then(|| (next, MASK.into()));
    }
    if let Some(range) = tripled(text, from) {
        let is_secret = !harmless(&text[range.clone()]);
        return is_secret.then(|| (range, MASK.into()));
    }
    let mut value = value::at(text, from);
    let has_value_s_key = between.contains('{');
    let opens_call = between.contains("Some(") || between.ends_with('(');
    if (opens_call || has_value_s_key) && !value.is_quoted {
        return None;
    }
    // `{"token":{"value":"the"}}` may be one of a text.
    if has_value_s_key && rule != Rule::Password && !is_random(&text[value.range.clone()]) {
        return None;
    }
    if value.is_quoted {
        // `["password:","value"]`: the quote ends the word, the list is read elsewhere.
        if key_quote.is_none()
            && text[value.range.clone()]
                .trim_start()
                .starts_with([',', ']', '{'])
        {
            return None;
        }
        let first = value.range.clone();
        value.range.end = last_end(text, &first, between.contains('['));
        return masked(text, value, |_| !harmless(&text[first]));
    }
    let emitted = &text[value.range.clone()];
    // The block has a rule of its own, which knows where it ends.
    if emitted.starts_with("-----BEGIN") {
        return None;
    }
    if harmless(emitted) || (prose && rule == Rule::Keyed && !is_random(emitted)) {
        return None;
    }
    match key_quote {
        // In JSON only numbers stand bare: `"db-secret": failed to …` is prose.
        Some(quote) if quote.ends_with('"') => (is_number(emitted) && emitted != "+")
            .then(|| (value.range, Cow::Owned(format!("{quote}{MASK}{quote}")))),
        _ => {
            let mut range = value.range;
            if rule == Rule::Password && key_quote.is_none() {
                range.end = phrase_end(text, from, range.end);
            }
            Some((range, MASK.into()))
        }
    }
}

pub(super) fn masked(
    text: &str,
    value: Value,
    is_secret: impl FnOnce(&str) -> bool,
) -> Option<SecretSpan> {
    let mut range = value.range;
    let mut emitted = &text[range.clone()];
    if !value.is_quoted {
        // A sentence ends behind its last word.
        emitted = emitted.trim_end_matches(['.', ',', ':', ';', ')', '!']);
        range.end = range.start + emitted.len();
    }
    (!range.is_empty() && !emitted.starts_with("-----BEGIN") && is_secret(emitted))
        .then(|| (range, MASK.into()))
}

/// A text over several lines between three quotes.
fn tripled(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let (_, _, behind) = value::quote(text, from)?;
    // In JSON, and in JSON in JSON, each stands behind backslashes.
    let one = &text[from..behind];
    let quote = one.repeat(3);
    let rest = rest.strip_prefix(quote.as_str())?;
    let length = rest.find(quote.as_str()).unwrap_or(rest.len());
    let start = from + quote.len();
    let mut range = start..start + length;
    // Ends of lines are no part of it, however they are written.
    loop {
        let left = &text[range.clone()];
        let bare = left.trim();
        let bare = bare.strip_prefix("\\n").unwrap_or(bare);
        let skipped = left.trim_start();
        let skipped = skipped.strip_prefix("\\n").unwrap_or(skipped);
        let bare = bare.strip_suffix("\\n").unwrap_or(bare);
        range.start = range.end - skipped.len();
        range.end = range.start + bare.len().min(skipped.len());
        if bare.len() == left.len() {
            break;
        }
    }
    (!range.is_empty()).then_some(range)
}

/// Where the value begins behind the type of a variable.
fn behind_type(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let name = rest.trim_start_matches(|letter: char| {
        letter.is_ascii_alphanumeric() || "_[]|.".contains(letter)
    });
    let sign = name.strip_prefix(" = ")?.trim_start_matches(['b', 'r']);
    let is_value = name.len() < rest.len() && sign.starts_with(['"', '\'', '\\']);
    is_value.then(|| text.len() - sign.len())
}

/// Where the quote of a value is that stands in what hides it: `Secret("…")`, `SecretStr(b'…')`.
fn behind_call(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let name = |letter: char| letter.is_ascii_alphanumeric() || "_:.".contains(letter);
    let inner = rest.trim_start_matches(name);
    if !rest.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        return None;
    }
    let quote = behind_line_ends(inner.strip_prefix('(')?);
    let sign = quote.trim_start_matches(['b', 'r']);
    (value::quote(sign, 0).is_some()).then(|| text.len() - sign.len())
}

/// Where the quote of a value is that stands on the line below its key, unless it is a key
/// itself.
fn quoted_line(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let next = behind_line_ends(rest);
    let at = text.len() - next.len();
    if next.len() == rest.len() || value::quote(text, at).is_none() {
        return None;
    }
    let range = value::at(text, at).range;
    let end = range.end;
    // A sentence below is none.
    if text[range].contains(char::is_whitespace) {
        return None;
    }
    let behind = text[end..]
        .trim_start_matches(['\\', '"', '\''])
        .trim_start();
    (!behind.starts_with(':')).then_some(at)
}

/// A text without the ends of lines, and spaces, that it begins with, as they are or as JSON
/// writes them.
fn behind_line_ends(text: &str) -> &str {
    let mut rest = text;
    loop {
        let next = rest.trim_start();
        let name = next.trim_start_matches('\\');
        let is_end = name.len() < next.len() && name.starts_with(['n', 'r', 't']);
        match is_end {
            // The sign behind so many backslashes.
            true => rest = &name[1..],
            false => return next,
        }
    }
}

/// Where the last value ends that a key has: in a list there may be several, and what
/// plans a change tells the old one and the new one.
fn last_end(text: &str, first: &Range<usize>, is_list: bool) -> usize {
    const MOST: usize = 100;
    let mut end = first.end;
    for _ in 0..MOST {
        let Some((slashes, _, behind)) = value::quote(text, end) else {
            break;
        };
        let rest = text[behind..].trim_start();
        let next = match rest.strip_prefix("->") {
            Some(next) => next,
            None => match rest.strip_prefix(',').filter(|_| is_list) {
                Some(next) => next,
                None => break,
            },
        };
        let next = next.trim_start();
        let at = text.len() - next.len();
        let Some((own, _, _)) = value::quote(text, at) else {
            break;
        };
        if own != slashes {
            break;
        }
        end = value::at(text, at).range.end;
    }
    end
}

/// `X-Auth-Token:` and its value on a line of its own, as in a list of arguments with
/// one word a line.
fn next_line(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    // As it is, or as JSON, or JSON in JSON, writes it.
    let rest = match rest.strip_prefix('\n') {
        Some(rest) => rest,
        None => {
            let name = rest.trim_start_matches('\\');
            let is_written = name.len() < rest.len();
            name.strip_prefix('n').filter(|_| is_written)?
        }
    };
    let rest = rest.trim_start_matches(' ');
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let rest = rest.trim_start_matches(' ');
    let word = &rest[..rest
        .find([' ', '\n', '\\', '"', '\''])
        .unwrap_or(rest.len())];
    let behind = &rest[word.len()..];
    let ends = behind.is_empty() || behind.starts_with(['\n', '\\', '"']);
    let start = text.len() - rest.len();
    (ends && !word.is_empty()).then_some(start..start + word.len())
}

/// Where a value without quotes ends that may have several words: a passphrase, or a
/// password that has a line of its own, as in files of settings.
fn phrase_end(text: &str, from: usize, end: usize) -> usize {
    // A longer key is none of a file of settings.
    let near = before(text, from);
    let line = near.rfind('\n').map_or(0, |before| before + 1);
    let key = near[line..].trim_end_matches(['=', ':', ' ', '\t']);
    let key = key.trim_start().trim_start_matches("export ");
    let name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let has_line = !key.is_empty() && key.bytes().all(name);
    let is_phrase = key.len() >= 10 && key.is_char_boundary(key.len() - 10) && {
        key[key.len() - 10..].eq_ignore_ascii_case("passphrase")
    };
    let all = words_end(text, end);
    let more = text[end..all].split_whitespace().count();
    // A line of many words is a sentence about a password.
    if is_phrase || (has_line && more <= FEW) {
        all
    } else {
        end
    }
}

/// So many words may follow the first one of a password.
const FEW: usize = 4;

/// The end of the words that go on behind a value: a sign, an option or another key
/// ends them.
pub(super) fn words_end(text: &str, mut end: usize) -> usize {
    const MOST: usize = 12;
    for _ in 0..MOST {
        let Some(rest) = text.get(end..).filter(|rest| rest.starts_with(' ')) else {
            break;
        };
        let word = rest.trim_start_matches(' ');
        let ends = |letter: char| letter.is_whitespace() || "\"'\\,;&|<>()[]{}#".contains(letter);
        let length = word.find(ends).unwrap_or(word.len());
        let is_key = word[..length].contains(['=', ':']) || word.starts_with('-');
        if length == 0 || is_key {
            break;
        }
        end = text.len() - word.len() + length;
    }
    end
}
