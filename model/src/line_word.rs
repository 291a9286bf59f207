//! Texts by which the few lines of a log are found that may mean something.
//!
//! The signals say them (`whathappened_core::signals`); what reads logs and what asks
//! log stores for lines searches for them, so that the rest is never taken apart.

/// A text that a line must hold, one of many.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LineWord {
    /// The text in lower case; ASCII letters of lines count in any case.
    pub part: String,
    /// The same as it is written, where lines are known to write it so.
    pub written: Option<String>,
    /// For stores that know whole words alone: its words in sequence, in lower case, each
    /// after a space. What stands between them does not count.
    pub phrase: String,
    /// It counts within longer words, too, wherever a store can look for that: `oom` in `OOMKilled`.
    pub within: bool,
    /// It is of a person's own signals.
    pub own: bool,
}

impl LineWord {
    /// A text that begins and ends as words do, unless it is cut: `continues` where
    /// letters may stand right before it, `goes_on` where they may right after it.
    #[must_use]
    pub fn new(text: &str, continues: bool, goes_on: bool) -> Self {
        Self {
            part: text.to_ascii_lowercase(),
            written: None,
            phrase: phrase(text, continues, goes_on),
            within: false,
            own: false,
        }
    }

    /// A text that is looked for as it stands, by whatever a store offers for parts of lines.
    #[must_use]
    pub fn plain(text: &str) -> Self {
        let part = text.to_ascii_lowercase();
        Self {
            phrase: part.clone(),
            part,
            written: None,
            within: true,
            own: false,
        }
    }
}

/// The whole words of a text: those at its ends count where they are not cut. Of a
/// text that has no others those that are cut have to do.
fn phrase(text: &str, continues: bool, goes_on: bool) -> String {
    let all = whole_words(text);
    let mut words = all.as_slice();
    // A stop joins what stands around it to one word in some stores: `train.service`.
    let joins = |c: Option<char>, is_cut: bool| c.is_some_and(|c| c == '.' || is_cut && is_word(c));
    if joins(text.chars().next(), continues) && words.len() > 1 {
        words = &words[1..];
    }
    if joins(text.chars().next_back(), goes_on) && words.len() > 1 {
        words = &words[..words.len() - 1];
    }
    words.join(" ")
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The words of a text, in lower case.
#[must_use]
pub fn whole_words(text: &str) -> Vec<String> {
    let words = text
        .split(|c: char| !is_word(c))
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_is_no_word() {
        for (text, continues, goes_on, phrase) in [
            ("NVRM: Xid", false, false, "nvrm xid"),
            ("Out of memory: Kill", false, true, "out of memory"),
            (
                ".service: Main process exited",
                true,
                false,
                "main process exited",
            ),
            ("oom-kill:constraint=", true, true, "kill constraint"),
            ("segfault", true, true, "segfault"),
        ] {
            let word = LineWord::new(text, continues, goes_on);
            assert_eq!(word.phrase, phrase, "{text}");
            assert_eq!(word.part, text.to_lowercase());
        }
    }
}
