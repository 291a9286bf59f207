//! Text that came from outside, made safe to show and measured.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Whether a terminal might act on the character, or hide or reorder text by it.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

/// One line of text with every control, bidirectional and invisible character
/// written out; a line break becomes `↵` between spaces, a tab a space.
pub(crate) fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text
        .trim_end_matches(['\n', '\r'])
        .replace("\r\n", "\n")
        .chars()
    {
        match c {
            '\n' => shown.push_str(" ↵ "),
            '\t' => shown.push(' '),
            c => push_escaped(&mut shown, c),
        }
    }
    Cow::Owned(shown)
}

/// As [`escape`], but line breaks stay and tabs too: for CSV, which quotes them.
pub(crate) fn escape_lines(text: &str) -> Cow<'_, str> {
    if !text.contains(|c| is_unsafe(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    for c in text.replace("\r\n", "\n").chars() {
        if c == '\n' || c == '\t' {
            shown.push(c);
        } else {
            push_escaped(&mut shown, c);
        }
    }
    Cow::Owned(shown)
}

/// A text as one part of a path, or as a value in a query.
#[must_use]
pub fn in_address(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            safe.push(char::from(byte));
        } else {
            // Writing to a String cannot fail.
            let _ = write!(safe, "%{byte:02X}");
        }
    }
    safe
}

fn push_escaped(shown: &mut String, c: char) {
    // Writing to a String cannot fail.
    let _ = match c {
        '\r' => write!(shown, "\\r"),
        c if !is_unsafe(c) => write!(shown, "{c}"),
        c if u32::from(c) < 0x100 => write!(shown, "\\x{:02x}", u32::from(c)),
        c => write!(shown, "\\u{{{:x}}}", u32::from(c)),
    };
}

/// JSON text in which those characters are `\uXXXX` escapes: the same values,
/// safe to show. JSON's own layout has none of them but line breaks.
pub(crate) fn escape_json(json: &str) -> Cow<'_, str> {
    let must = |c: char| is_unsafe(c) && c != '\n';
    if !json.contains(must) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if must(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                // Writing to a String cannot fail.
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    Cow::Owned(safe)
}

/// Columns that the text takes on a terminal.
pub(crate) fn width(text: &str) -> usize {
    text.width()
}

/// Whether the text takes more than `columns`; reads no further than it must.
pub(crate) fn is_wider(text: &str, columns: usize) -> bool {
    let mut used = 0;
    text.chars().any(|c| {
        used += c.width().unwrap_or(0);
        used > columns
    })
}

/// Characters of who did something; names of people, accounts and components are shorter.
pub(crate) const ACTOR: usize = 120;

/// The text, cut where it has more than `limit` characters, with how many more there are.
pub(crate) fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(limit) else {
        return Cow::Borrowed(text);
    };
    let more = text[end..].chars().count();
    Cow::Owned(format!("{}… ({more} more characters)", &text[..end]))
}

/// Splits where the first part takes at most `columns`, after a separator if
/// there is one in its second half; the first part is never empty.
pub(crate) fn split_at_width(text: &str, columns: usize) -> (&str, &str) {
    let mut used = 0;
    let mut hard = text.len();
    let mut soft = None;
    for (at, c) in text.char_indices() {
        used += c.width().unwrap_or(0);
        if used > columns && at > 0 {
            hard = at;
            break;
        }
        if "-_./:,;=&?@|".contains(c) && used > columns / 2 {
            soft = Some(at + c.len_utf8());
        }
    }
    if hard == text.len() {
        return (text, "");
    }
    text.split_at(soft.unwrap_or(hard))
}

/// The text with its middle left out where it takes more than `columns`: names
/// of pods and nodes differ at their ends.
pub(crate) fn middle(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let keep = columns.saturating_sub(1);
    let (mut head, mut used) = (String::new(), 0);
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > keep / 2 {
            break;
        }
        head.push(c);
    }
    let (mut tail, mut used) = (Vec::new(), 0);
    for c in text.chars().rev() {
        used += c.width().unwrap_or(0);
        if used > keep - keep / 2 {
            break;
        }
        tail.push(c);
    }
    Cow::Owned(format!(
        "{head}…{}",
        tail.into_iter().rev().collect::<String>()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_text_becomes_visible() {
        assert_eq!(escape("plain é 漢"), "plain é 漢");
        assert_eq!(escape("\u{1b}[2J\u{1b}]0;x\u{7}"), "\\x1b[2J\\x1b]0;x\\x07");
        assert_eq!(
            escape("a\u{9b}31m\u{202e}b\u{200b}"),
            "a\\x9b31m\\u{202e}b\\u{200b}"
        );
        assert_eq!(
            escape("one\r\ntwo\tthree\rfour\n"),
            "one ↵ two three\\rfour"
        );
        assert_eq!(escape_lines("one\r\ntwo\u{1b}"), "one\ntwo\\x1b");
    }

    #[test]
    fn json_keeps_its_values() {
        let text = "\u{9b}1m \u{202e} \u{e0041} \u{7f} é";
        let json = serde_json::to_string(text).unwrap();
        let safe = escape_json(&json);
        assert_eq!(safe, r#""\u009b1m \u202e \udb40\udc41 \u007f é""#);
        assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(clip("漢字", 2), "漢字");
        assert_eq!(clip("漢字漢字", 1), "漢… (3 more characters)");
    }

    #[test]
    fn names_lose_their_middle() {
        assert_eq!(middle("short", 5), "short");
        assert_eq!(
            middle("gke-train-a100-pool-7c1d-0004", 15),
            "gke-tra…1d-0004"
        );
        assert_eq!(middle("漢字漢字", 5), "漢…字");
        assert_eq!(middle("abc", 1), "…");
        assert_eq!(middle("abc", 0), "…");
    }

    #[test]
    fn long_words_break_at_separators() {
        assert_eq!(
            split_at_width("registry.example/team/image", 20),
            ("registry.example/", "team/image")
        );
        assert_eq!(split_at_width("aaaaaaaa", 3), ("aaa", "aaaaa"));
        assert_eq!(split_at_width("漢字", 1), ("漢", "字"));
        assert_eq!(split_at_width("ab", 9), ("ab", ""));
    }
}
