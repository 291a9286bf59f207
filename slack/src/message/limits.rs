//! How much a message may hold.

/// How much a message may hold. Slack does not document the unit in which it
/// counts, so [`length`] counts the larger of those in question, of the text as
/// it is sent, and all but the whole stay well under what is documented.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Blocks of a message.
    pub blocks: usize,
    /// Text of a section.
    pub section: usize,
    /// Text of a header.
    pub header: usize,
    /// Text of a context's element.
    pub context: usize,
    /// Buttons in a row.
    pub buttons: usize,
    /// Text of a button.
    pub button: usize,
    /// Value of a button.
    pub value: usize,
    /// Address of a link.
    pub url: usize,
    /// The text beside the blocks, which notifications show.
    pub fallback: usize,
    /// All texts of a message's blocks together: past some 13,000 the whole
    /// message is turned away although each block is right.
    pub message: usize,
}

/// What we keep to.
pub const LIMITS: Limits = Limits {
    blocks: 48,
    section: 2_700,
    header: 140,
    context: 1_800,
    buttons: 20,
    button: 70,
    value: 1_900,
    url: 2_900,
    fallback: 3_500,
    message: 9_500,
};

/// How long Slack takes a text to be: in units of UTF-16, which are never fewer
/// than characters.
#[must_use]
pub fn length(text: &str) -> usize {
    text.chars().map(char::len_utf16).sum()
}

/// The beginning of a text, at most `limit` long, with a `…` where it was cut.
pub(super) fn clip(text: &str, limit: usize) -> String {
    if length(text) <= limit {
        return text.to_owned();
    }
    let mut used = 1;
    let kept = text.chars().take_while(|c| {
        used += c.len_utf16();
        used <= limit
    });
    let mut kept: String = kept.collect();
    kept.truncate(kept.trim_end().len());
    kept.push('…');
    kept
}

/// Text from outside without what could hide or reorder the rest of it.
pub(super) fn visible(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => c,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        c if c.is_control() => '\u{fffd}',
        c => c,
    };
    text.replace("\r\n", "\n").chars().map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(length("aé漢🚀"), 5);
        assert_eq!(clip("🚀🚀🚀", 6), "🚀🚀🚀");
        assert_eq!(clip("🚀🚀🚀", 5), "🚀🚀…");
        assert_eq!(clip("🚀🚀🚀", 4), "🚀…");
        assert_eq!(clip("one two", 5), "one…");
    }

    #[test]
    fn nothing_hides() {
        assert_eq!(
            visible("a\u{1b}[2J\u{202e}b\r\nc"),
            "a\u{fffd}[2J\u{fffd}b\nc"
        );
    }
}
