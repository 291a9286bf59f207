//! Texts of others on their way to a terminal, which obeys what it is shown.

use std::borrow::Cow;

/// A name as a terminal may show it: one line, and nothing that moves the cursor,
/// turns the direction of what follows or is not seen at all.
#[must_use]
pub fn line(name: &str) -> Cow<'_, str> {
    let is_plain = |letter: char| {
        !letter.is_control()
            && !matches!(letter, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
    };
    if name.chars().all(is_plain) {
        return Cow::Borrowed(name);
    }
    let mut out = String::with_capacity(name.len());
    for letter in name.chars() {
        if is_plain(letter) {
            out.push(letter);
        } else {
            out.extend(letter.escape_default());
        }
    }
    Cow::Owned(out)
}

/// A text of several lines, each as [`line()`] shows it.
#[must_use]
pub fn lines(text: &str) -> String {
    let lines: Vec<Cow<'_, str>> = text.lines().map(line).collect();
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::{line, lines};

    #[test]
    fn a_terminal_is_told_nothing_that_it_obeys() {
        assert_eq!(line("a\u{1b}[2J\nb"), "a\\u{1b}[2J\\nb");
        assert_eq!(line("/données/é"), "/données/é");
        assert_eq!(lines("one\ntw\u{202e}o"), "one\ntw\\u{202e}o");
    }
}
