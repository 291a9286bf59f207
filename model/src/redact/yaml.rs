//! What YAML puts between a key and its value, and what is left of that where its lines
//! were put into one.

use std::ops::Range;

use super::MASK;
use super::assigned::words_end;
use super::value::{self, names_no_secret};

/// How a line ends in a text, or in JSON, or in JSON in JSON: so many bytes.
fn line_end(text: &str) -> Option<usize> {
    match text.strip_prefix("\r\n").or(text.strip_prefix('\n')) {
        Some(next) => Some(text.len() - next.len()),
        None => {
            let slashes = text.bytes().take_while(|byte| *byte == b'\\').count();
            let is_end = slashes > 0 && text.as_bytes().get(slashes) == Some(&b'n');
            is_end.then_some(slashes + 1)
        }
    }
}

fn spaces(text: &str) -> usize {
    text.bytes().take_while(|byte| *byte == b' ').count()
}

/// `password: |` and the lines below that are further in.
pub(super) fn block(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = &text[from..];
    let sign = rest.strip_prefix(['|', '>'])?;
    let sign = sign.trim_start_matches(['+', '-']);
    let line = |text: &str| -> Option<usize> {
        let end = line_end(text)?;
        let space = spaces(&text[end..]);
        (space > 0).then_some(end + space)
    };
    let begin = line(sign)?;
    let mut end = begin;
    while let Some(left) = sign.get(end..).filter(|left| !left.is_empty()) {
        let stop = left.find(['\n', '"', '\\']).unwrap_or(left.len());
        end += stop;
        match sign.get(end..).and_then(line) {
            Some(more) => end += more,
            None => break,
        }
    }
    let start = from + rest.len() - sign.len();
    Some(start + begin..start + end)
}

/// `password: | value next: 1`: a block whose lines were put into one. It ends where
/// the next key begins; its first word says whether it is a secret.
pub(super) fn folded_block(text: &str, from: usize) -> Option<(Range<usize>, &str)> {
    let rest = text.get(from..)?.strip_prefix(['|', '>'])?;
    let rest = rest.trim_start_matches(['+', '-']).strip_prefix(' ')?;
    let rest = rest.trim_start_matches(' ');
    let start = text.len() - rest.len();
    let first = value::at(text, start).range;
    let emitted = text.get(first.clone())?;
    Some((start..words_end(text, first.end), emitted))
}

/// `!!str value`, `&name value`: the place of the value, where a tag or an anchor
/// stands before one in its line.
pub(super) fn behind_tags(text: &str, from: usize) -> usize {
    let mut at = from;
    while let Some(tag) = text.get(at..).filter(|rest| rest.starts_with(['!', '&'])) {
        let name = |byte: &u8| byte.is_ascii_alphanumeric() || b"!&/_:.-".contains(byte);
        let length = tag.bytes().take_while(|byte| name(byte)).count();
        let space = spaces(&tag[length..]);
        let rest = &tag[length + space..];
        // A password may begin like a tag; then nothing follows it.
        if space == 0 || rest.is_empty() || rest.starts_with('=') || line_end(rest).is_some() {
            break;
        }
        at += length + space;
    }
    at
}

/// Adds the values of the entries below a key that begins at a place: of the lines that
/// are further in, or of `key: value` in the same line up to a key of the object itself.
/// Gives where they end.
pub(super) fn entries(text: &str, key: usize, to: usize, found: &mut Vec<Range<usize>>) -> usize {
    let Some(colon) = text[key..].find(':').map(|colon| key + colon + 1) else {
        return key;
    };
    let rest = text[colon..].trim_start_matches(' ');
    let mut at = text.len() - rest.len();
    if line_end(rest).is_none() {
        return flat(text, at, to, found);
    }
    let before = text[..key].trim_end_matches("string");
    let indent = before.len() - before.trim_end_matches(' ').len();
    while at < to
        && let Some(end) = line_end(&text[at..])
    {
        let inner = spaces(&text[at + end..]);
        let line = at + end + inner;
        let length = text[line..].find(['\n', '\\', '"']);
        // A value in quotes belongs to its line.
        let length = match length {
            Some(quote)
                if text[line + quote..].starts_with('"')
                    && text[..line + quote].ends_with(": ") =>
            {
                let value = value::at(text, line + quote).range;
                value.end + 1 - line
            }
            length => length.unwrap_or(text.len() - line),
        };
        let length = length.min(text.len() - line);
        if inner <= indent && length > 0 {
            break;
        }
        let part = line..line + length;
        push(
            text,
            part.start + behind_key(&text[part.clone()])..part.end,
            found,
        );
        at = line + length;
    }
    at
}

/// Where the value of `key: value` begins; without a key the line is one of a value.
pub(super) fn behind_key(line: &str) -> usize {
    match line.split_once(':') {
        Some((key, value))
            if !key.contains(' ') && (value.is_empty() || value.starts_with(' ')) =>
        {
            line.len() - value.trim_start_matches(' ').len()
        }
        _ => 0,
    }
}

fn flat(text: &str, from: usize, to: usize, found: &mut Vec<Range<usize>>) -> usize {
    /// Keys of a Secret that are none of its entries.
    const OWN: [&str; 7] = [
        "apiVersion:",
        "kind:",
        "metadata:",
        "type:",
        "immutable:",
        "data:",
        "stringData:",
    ];
    let mut at = from;
    let mut key = false;
    while at < to.min(text.len()) {
        let word = text[at..].split(' ').next().unwrap_or_default();
        let stop = word.find(['\n', ',', ')', ']', '}']).unwrap_or(word.len());
        if OWN.contains(&word) {
            break;
        }
        if word.ends_with(':') {
            key = true;
        } else if stop > 0 {
            // The first word says whether there are entries at all.
            if !key {
                break;
            }
            push(text, at..at + stop, found);
        }
        if stop < word.len() {
            break;
        }
        at += word.len() + 1;
    }
    at
}

fn push(text: &str, part: Range<usize>, found: &mut Vec<Range<usize>>) {
    let Some(emitted) = text.get(part.clone()) else {
        return;
    };
    let bare = emitted.trim_matches(['"', '\'', ' ', '\\']);
    let start = part.start + emitted.find(bare).unwrap_or(0);
    let is_sign = bare
        .trim_end_matches(['+', '-'])
        .trim_matches(['|', '>', '{', '}'])
        .is_empty();
    if !is_sign && !names_no_secret(bare) && !bare.ends_with(MASK) {
        found.push(start..start + bare.len());
    }
}
