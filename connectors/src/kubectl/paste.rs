//! Takes off what tickets and chats put around pasted text.

/// A line as it was printed, and its number in the file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'t> {
    pub(super) number: u64,
    pub(super) text: &'t str,
}

impl<'t> Line<'t> {
    /// How far right the text stands.
    pub(super) fn indent(&self) -> usize {
        self.text.len() - self.text.trim_start_matches(' ').len()
    }

    pub(super) fn is_blank(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// The line moved left.
    pub(super) fn dedent(self, by: usize) -> Self {
        let by = by.min(self.indent());
        Self {
            text: &self.text[by..],
            ..self
        }
    }

    /// The text without leading spaces.
    pub(super) fn words(&self) -> &'t str {
        self.text.trim()
    }
}

/// The lines of a text, without carriage returns, trailing spaces and the
/// marks of a quotation.
pub(super) fn lines(text: &str) -> Vec<Line<'_>> {
    let plain = || {
        (1..)
            .zip(text.split('\n'))
            .map(|(number, text)| (number, text.trim_end()))
    };
    let (mut quoted, mut all) = (0_usize, 0_usize);
    for (_, text) in plain().filter(|(_, text)| !text.is_empty()) {
        all += 1;
        quoted += usize::from(text.starts_with('>'));
    }
    // A mark before nearly every line is a quotation, one here and there is text.
    let is_quotation = quoted * 10 >= all * 8 && quoted > 1;
    plain()
        .map(|(number, text)| {
            let text = if is_quotation { unquoted(text) } else { text };
            Line { number, text }
        })
        .collect()
}

fn unquoted(text: &str) -> &str {
    let inside = text.strip_prefix('>').unwrap_or(text);
    inside.strip_prefix(' ').unwrap_or(inside)
}

/// Whether a line opens or closes a block of code.
pub(super) fn is_fence(text: &str) -> bool {
    let text = text.trim();
    text.strip_prefix("```")
        .or_else(|| text.strip_prefix("~~~"))
        .is_some_and(|rest| rest.len() < 20 && rest.bytes().all(|b| b.is_ascii_alphanumeric()))
        || matches!(text, "{code}" | "{noformat}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_and_line_ends_go() {
        let emitted = |text| lines(text).iter().map(|line| line.text).collect::<Vec<_>>();
        assert_eq!(
            emitted("> Name:   x  \r\n>\r\n>   y\r\n"),
            ["Name:   x", "", "  y", ""]
        );
        assert_eq!(
            emitted("> step\nother\nlines"),
            ["> step", "other", "lines"]
        );
    }

    #[test]
    fn fences_are_told_from_text() {
        for text in ["```", "  ```yaml", "~~~", "{noformat}"] {
            assert!(is_fence(text), "{text}");
        }
        for text in ["``", "``` not this", "x```"] {
            assert!(!is_fence(text), "{text}");
        }
    }
}
