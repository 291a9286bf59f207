//! Private keys over several lines, and long runs of base64: what a key is made of
//! when its lines come one by one.

use std::ops::Range;

use memchr::memmem;

use super::{MASK, SecretSpan};

pub(super) const HINTS: &[&str] = &[
    "-----begin",
    "---- begin",
    "private-lines:",
    "-----end",
    "---- end",
];

/// A block is no longer than this.
const LONGEST: usize = 64 << 10;
/// Lines of keys have at least so many letters.
const RUN: usize = 60;

/// In a text of one line a word of a key has at least so many.
const SHORT: usize = 16;

/// What stands between the lines that begin and end a private key.
pub(super) fn of(text: &str, at: usize) -> Option<Range<usize>> {
    let rest = &text[at..];
    if rest.len() >= 14 && rest.as_bytes()[..14].eq_ignore_ascii_case(b"private-lines:") {
        return Some(at + 14..at + 14 + putty(&rest[14..]));
    }
    if let Some(label) = ends(rest) {
        return label.contains("PRIVATE").then(|| above(text, at)).flatten();
    }
    let head = rest.trim_start_matches('-');
    let head_at = at + rest.len() - head.len();
    let line = &head[..head.find("----")?];
    if line.len() > 60 || !line.contains("PRIVATE") {
        return None;
    }
    let behind = &head[line.len()..];
    let from = head_at + line.len() + behind.bytes().take_while(|byte| *byte == b'-').count();
    let body_text = &text[from..];
    let mut near = body_text.len().min(LONGEST);
    while !body_text.is_char_boundary(near) {
        near -= 1;
    }
    let near = &body_text[..near];
    let end = match near.find("-----END").or_else(|| near.find("---- END")) {
        Some(end) => end,
        None => body(body_text),
    };
    (end > 0).then_some(from..from + end)
}

/// What the line that ends a block says of it; `None` for the one that begins it.
fn ends(text: &str) -> Option<&str> {
    let head = text.trim_start_matches('-').trim_start();
    let label = head.strip_prefix("END ")?;
    let label = &label[..label.find("----")?];
    (label.len() <= 60).then_some(label)
}

/// The lines of a key above the one that ends it, where the one that begins it is not
/// there; it masks them itself where it is.
fn above(text: &str, end: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut from = end;
    while end - from < LONGEST {
        let Some(line) = line_before(bytes, from) else {
            break;
        };
        from = line;
    }
    // What was masked already ends in a bracket, and is no line of it.
    (from < end).then_some(from..end)
}

/// Where the line of base64 begins that ends right before a place, or before what ends
/// a line; a shorter word may be one of prose.
fn line_before(bytes: &[u8], at: usize) -> Option<usize> {
    let mut end = at;
    loop {
        let before = &bytes[..end];
        let written = before
            .strip_suffix(b"\\n")
            .or_else(|| before.strip_suffix(b"\\r"));
        match (written, before.last()) {
            (Some(rest), _) => {
                let slashes = rest.iter().rev().take_while(|byte| **byte == b'\\');
                end = rest.len() - slashes.count();
            }
            (None, Some(byte)) if byte.is_ascii_whitespace() => end -= 1,
            _ => break,
        }
    }
    let line = &bytes[..end];
    let padding = line
        .iter()
        .rev()
        .take_while(|byte| **byte == b'=')
        .count()
        .min(2);
    let letters = line[..end - padding]
        .iter()
        .rev()
        .take_while(|byte| is_base64(**byte))
        .count();
    let mut start = end - padding - letters;
    // `\nMIIE…`: the letter belongs to the end of a line.
    if start > 0 && bytes[start - 1] == b'\\' && matches!(bytes.get(start), Some(b'n' | b'r')) {
        start += 1;
    }
    let word = &bytes[start..end];
    let any = |what: fn(&u8) -> bool| word.iter().any(what);
    let is_line = padding > 0
        || word.len() >= SHORT
        || (any(u8::is_ascii_digit) && any(u8::is_ascii_alphabetic));
    (is_line && !word.is_empty()).then_some(start)
}

/// `PuTTY` tells how many lines there are, and behind them what proves them.
fn putty(text: &str) -> usize {
    let near = &text.as_bytes()[..text.len().min(LONGEST)];
    if let Some(end) = memmem::find(near, b"Private-MAC:") {
        return end;
    }
    let number = |letter: char| letter == ' ' || letter.is_ascii_digit();
    let lines = text.trim_start_matches(number);
    text.len() - lines.len() + body(lines)
}

/// How far what could be a key's lines goes on; a quote or a sentence ends it.
fn body(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut line = 0;
    // Whether a whole line of the key was read: then its cut rest may be short.
    let mut is_known = false;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\n' => line = at + 1,
            b'\\' if matches!(bytes.get(at + 1), Some(b'n' | b'r' | b't' | b'\\')) => {
                at += 1;
                line = at + 1;
            }
            b'A'..=b'Z'
            | b'a'..=b'z'
            | b'0'..=b'9'
            | b'+'
            | b'/'
            | b'='
            | b':'
            | b','
            | b'-'
            | b'.'
            | b'\r'
            | b'\t'
            | b'('
            | b')' => {}
            // `Proc-Type: 4,ENCRYPTED` is a head; `INFO the key is …` is none.
            b' ' if bytes[line..at].contains(&b':') => {}
            b' ' if bytes[line..at].iter().all(|byte| *byte == b' ') => line = at + 1,
            // Lines that were put into one.
            b' ' if at - line >= SHORT && bytes[line..at].iter().all(|b| is_base64(*b)) => {
                is_known |= at - line >= RUN;
                line = at + 1;
            }
            b' ' if is_known => return line + rest(&bytes[line..at]),
            b' ' => return line,
            _ => return at,
        }
        at += 1;
    }
    at
}

/// How much of a word behind a key's lines is the rest of a line that was cut.
fn rest(word: &[u8]) -> usize {
    let length = word.iter().take_while(|byte| is_base64(**byte)).count();
    let (line, behind) = word.split_at(length);
    let any = |what: fn(&u8) -> bool| line.iter().skip(1).any(what);
    // Words of prose have neither.
    let is_line = any(u8::is_ascii_digit) || any(u8::is_ascii_uppercase);
    let ends = behind.iter().all(|byte| b"=).,:".contains(byte));
    if is_line && ends { length } else { 0 }
}

/// Adds runs of base64 that are as long as the lines of a key, and are no path, number
/// or name.
pub(super) fn runs(text: &str, found: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let mut at = RUN - 1;
    let mut more: Vec<SecretSpan> = Vec::new();
    // A run of that length has a letter at one of every so many places.
    while let Some(byte) = bytes.get(at) {
        if !is_base64(*byte) {
            at += RUN;
            continue;
        }
        let start = bytes[..at]
            .iter()
            .rposition(|byte| !is_base64(*byte))
            .map_or(0, |before| before + 1);
        let mut end = bytes[at..]
            .iter()
            .position(|byte| !is_base64(*byte))
            .map_or(bytes.len(), |after| at + after);
        if end - start >= RUN {
            // `\nMIIE…`: the letter belongs to the end of a line.
            let start = match bytes[..start] {
                [.., b'\\'] if bytes.get(start) == Some(&b'n') => start + 1,
                _ => start,
            };
            let key = key_start(&bytes[start..end]).map(|key| start + key);
            if let Some(start) = key.filter(|start| !is_public(bytes, *start)) {
                end = with_padding(bytes, end);
                more.push((start..end, MASK.into()));
                // The key's next lines, of which the last one is short.
                while let Some(line) = line_behind(bytes, end) {
                    end = line.end;
                    more.push((line, MASK.into()));
                }
            }
        }
        at = end + RUN;
    }
    if more.is_empty() {
        return;
    }
    more.retain(|(run, _)| {
        found
            .iter()
            .all(|(one, _)| run.end <= one.start || one.end <= run.start)
    });
    found.append(&mut more);
    found.sort_by_key(|(range, _)| range.start);
}

fn with_padding(bytes: &[u8], end: usize) -> usize {
    let padding = bytes[end..].iter().take(2);
    end + padding.take_while(|byte| **byte == b'=').count()
}

/// The line of base64 right below a place, alone in its line.
fn line_behind(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let rest = &bytes[at..];
    let rest = rest.strip_prefix(b"\r").unwrap_or(rest);
    let rest = rest
        .strip_prefix(b"\n")
        .or_else(|| rest.strip_prefix(b"\\n"))?;
    let indent = rest.iter().take_while(|byte| **byte == b' ').count();
    let start = bytes.len() - rest.len() + indent;
    let letters = bytes[start..].iter().take_while(|byte| is_base64(**byte));
    let end = with_padding(bytes, start + letters.count());
    let word = &bytes[start..end];
    let any = |what: fn(&u8) -> bool| word.iter().any(what);
    let is_mixed = any(u8::is_ascii_uppercase) && any(u8::is_ascii_lowercase);
    let is_line =
        word.ends_with(b"=") || (word.len() >= SHORT && is_mixed && any(u8::is_ascii_digit));
    let is_alone = matches!(
        bytes.get(end),
        None | Some(b'\n' | b'\r' | b'\\' | b'"' | b'\'')
    );
    (is_line && is_alone).then_some(start..end)
}

/// What looks like a key and everybody may know: public keys of SSH, which begin with
/// the name of their kind, and the ids by which AWS finds a request.
fn is_public(bytes: &[u8], start: usize) -> bool {
    const KINDS: [&[u8]; 7] = [
        b"AAAAB3NzaC1yc2E",
        b"AAAAB3NzaC1kc3M",
        b"AAAAC3NzaC1lZDI1NTE5",
        b"AAAAE2VjZHNhLXNoYTIt",
        b"AAAAGnNrLXNzaC1lZDI1NTE5",
        b"AAAAInNrLWVjZHNhLXNoYTIt",
        b"AAAAIHNzaC1lZDI1NTE5LWNlcnQ",
    ];
    const IDS: [&[u8]; 4] = [b"x-amz-id-2", b"hostid", b"host id", b"extended request id"];
    if KINDS.iter().any(|kind| bytes[start..].starts_with(kind)) {
        return true;
    }
    let near = &bytes[start.saturating_sub(40)..start];
    let signs = |byte: &u8| b"\"'\\:=<>, []".contains(byte);
    let behind = near.iter().rev().take_while(|byte| signs(byte)).count();
    let name = &near[..near.len() - behind];
    IDS.iter().any(|id| {
        behind > 0
            && name
                .get(name.len().saturating_sub(id.len())..)
                .is_some_and(|end| end.eq_ignore_ascii_case(id))
    })
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

/// Where a key begins in a run: behind the folders of a path, if it stands in one.
fn key_start(run: &[u8]) -> Option<usize> {
    const FOLDERS: usize = 4;
    if is_key(run) {
        return Some(0);
    }
    let is_path = run.first() == Some(&b'/');
    let slashes = run.iter().enumerate().filter(|(_, byte)| **byte == b'/');
    let mut behind = slashes.map(|(at, _)| at + 1).take(FOLDERS);
    behind.find(|at| is_path && run.len() - at >= RUN && is_key(&run[*at..]))
}

/// Whether a run has what chance gives: all kinds of letters, and few slashes.
fn is_key(run: &[u8]) -> bool {
    let count = |what: fn(&&u8) -> bool| run.iter().filter(what).count();
    let slashes = count(|byte| **byte == b'/');
    let longest = run
        .split(|byte| *byte == b'/')
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0);
    let digits = count(|byte| byte.is_ascii_digit());
    let capitals = count(|byte| byte.is_ascii_uppercase());
    let small = count(|byte| byte.is_ascii_lowercase());
    let most = run.len();
    // Names have few capitals among their letters; where there are as many as chance gives, one digit is enough, and so
    // are more of the slashes that a path has.
    let is_mixed = capitals * 4 >= most && small * 4 >= most && digits > 0;
    let is_made = is_mixed
        && slashes <= 2 + most / 10
        && longest >= 12
        && (digits * 20 >= most || slashes <= 2 + most / 20);
    let is_likely = digits * 20 >= most
        && capitals * 6 >= most
        && small * 6 >= most
        && slashes <= 2 + most / 20
        && longest >= 16;
    is_made || is_likely
}
