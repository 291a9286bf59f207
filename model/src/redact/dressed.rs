//! A text as it was dressed for a page or a terminal: quotes of HTML and colours stand
//! in the way of the words that tell of a secret.

use memchr::memmem;

use super::views::TextView;

/// No more of a text is read again.
const LONGEST: usize = 256 << 10;
/// How HTML writes signs.
const SIGNS: [(&str, char); 14] = [
    ("&quot;", '"'),
    ("&#34;", '"'),
    ("&#x22;", '"'),
    ("&apos;", '\''),
    ("&#39;", '\''),
    ("&#x27;", '\''),
    ("&lt;", '<'),
    ("&gt;", '>'),
    ("&amp;", '&'),
    ("&#61;", '='),
    ("&#x3d;", '='),
    ("&equals;", '='),
    ("&#58;", ':'),
    ("&colon;", ':'),
];
/// How a colour begins: in a terminal, in JSON, in what a program prints of its texts.
const COLOURS: [&str; 5] = ["\x1b[", "u001b[", "u001B[", "x1b[", "033["];

/// The text without what it was dressed in; `None` where there is nothing of that.
pub(super) fn undressed(text: &str) -> Option<TextView> {
    let bytes = text.as_bytes();
    let any = |sign: &[u8]| memmem::find(bytes, sign).is_some();
    let is_page = any(b"&quot;") || any(b"&#") || any(b"&equals;") || any(b"&colon;");
    let is_coloured =
        any(b"\x1b[") || any(b"u001b[") || any(b"u001B[") || any(b"x1b[") || any(b"\\033[");
    if text.len() > LONGEST || !(is_page || is_coloured) {
        return None;
    }
    let mut view = TextView::new();
    let mut done = 0;
    let mut at = 0;
    while let Some(next) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr3(b'&', b'\x1b', b'\\', rest))
    {
        at += next;
        let rest = &text[at..];
        let sign = SIGNS.iter().find(|(name, _)| rest.starts_with(name));
        let length = sign.map(|(name, _)| name.len()).or_else(|| colour(rest));
        let Some(length) = length else {
            at += 1;
            continue;
        };
        view.copy(text, done..at);
        if let Some((_, letter)) = sign {
            view.push(*letter, Some((at, at + length)));
        }
        at += length;
        done = at;
    }
    view.copy(text, done..text.len());
    Some(view)
}

/// The length of what sets a colour at the beginning of a text.
fn colour(text: &str) -> Option<usize> {
    let name = text.trim_start_matches('\\');
    let begin = COLOURS.iter().find_map(|begin| name.strip_prefix(begin))?;
    let end = begin.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == ';');
    let end = end.strip_prefix(['m', 'K'])?;
    Some(text.len() - end.len())
}
