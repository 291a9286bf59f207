//! The words of a command that stand apart: each in a parameter of an address, as an API
//! server is asked to run them in a container, or in a numbered field, as the audit of a
//! kernel and what dumps a program's arguments tell them.

use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem;
use regex::Regex;

use super::views::{TextView, sign};

/// Parameters that may be there once for each word of a command.
const NAMES: [&str; 5] = ["command", "cmd", "arg", "args", "argv"];
/// A command has no more words.
const MOST: usize = 4_000;

/// The words of a command in a query: as they stand in a line, and as a list.
pub(super) fn parameters(text: &str, query: Range<usize>) -> Option<(TextView, TextView)> {
    let whole = text.get(query.clone())?;
    // Most queries have none.
    NAMES
        .iter()
        .find(|name| memmem::find(whole.as_bytes(), name.as_bytes()).is_some())?;
    let mut words = Vec::new();
    let mut at = query.start + 1;
    while words.len() < MOST
        && let Some(rest) = text.get(at..query.end)
    {
        let ends = |letter: char| letter.is_whitespace() || "\"'`<>&\\".contains(letter);
        let length = rest.find(ends).unwrap_or(rest.len());
        if let Some((name, value)) = rest[..length].split_once('=')
            && NAMES.contains(&name)
        {
            words.push(at + length - value.len()..at + length);
        }
        let Some(sign) = ampersand(&rest[length..]) else {
            break;
        };
        at += length + sign;
    }
    (words.len() > 1).then(|| (line(text, &words, false), line(text, &words, true)))
}

/// How long the sign between two parameters is, as addresses, pages and JSON write it.
fn ampersand(text: &str) -> Option<usize> {
    if text.starts_with("&amp;") {
        return Some("&amp;".len());
    }
    if text.starts_with('&') {
        return Some(1);
    }
    let name = text.trim_start_matches('\\');
    let slashes = text.len() - name.len();
    (slashes > 0 && name.starts_with("u0026")).then_some(slashes + "u0026".len())
}

/// Decoded words side by side, or as a list in quotes.
fn line(text: &str, words: &[Range<usize>], is_list: bool) -> TextView {
    let bytes = text.as_bytes();
    let mut view = TextView::new();
    let between = |view: &mut TextView, signs: &str| {
        for letter in signs.chars() {
            view.push(letter, None);
        }
    };
    between(&mut view, if is_list { "[\"" } else { "" });
    for (number, word) in words.iter().enumerate() {
        if number > 0 {
            between(&mut view, if is_list { "\",\"" } else { " " });
        }
        let mut at = word.start;
        while at < word.end {
            let Some(letter) = text[at..].chars().next() else {
                break;
            };
            let (letter, width) = match sign(bytes, at) {
                Some(decoded) => decoded,
                None if letter == '+' => (' ', 1),
                None => (letter, letter.len_utf8()),
            };
            // In a list a quote would end the word.
            let shown = match letter {
                '"' | '\\' if is_list => '\'',
                letter => letter,
            };
            view.push(shown, Some((at, at + width)));
            at += width;
        }
    }
    between(&mut view, if is_list { "\"]" } else { "" });
    view
}

/// `a0="mysql"`, `argv[1]="--password"`.
static NUMBERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = r#"\b(?:a|argv\[)(\d{1,4})\]?[ \t]*[=:][ \t]*(?:\\*"([^"\\]*)\\*"|\\*'([^'\\]*)\\*'|([^\s"'\\]+))"#;
    Regex::new(pattern).ok()
});

/// Shows the words of a command whose fields are numbered.
pub(super) fn numbered(text: &str, see: &mut dyn FnMut(&TextView)) {
    let bytes = text.as_bytes();
    let any = |sign: &[u8]| memmem::find(bytes, sign).is_some();
    let has_arguments = any(b" a1=") || any(b"\ta1=") || any(b"argv[");
    let Some(pattern) = NUMBERED.as_ref().filter(|_| has_arguments) else {
        return;
    };
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut next = None;
    let mut show = |words: &mut Vec<Range<usize>>| {
        if words.len() > 1 {
            let mut view = TextView::new();
            for word in words.iter() {
                if !view.text.is_empty() {
                    view.push(' ', None);
                }
                view.copy(text, word.clone());
            }
            see(&view);
        }
        words.clear();
    };
    for field in pattern.captures_iter(text) {
        let number: Option<u32> = field.get(1).and_then(|digits| digits.as_str().parse().ok());
        let Some(value) = field.iter().skip(2).flatten().next() else {
            continue;
        };
        if number != next || words.len() >= MOST {
            show(&mut words);
        }
        words.push(value.range());
        next = number.map(|number| number + 1);
    }
    show(&mut words);
}
