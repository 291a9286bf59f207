//! A pattern that is compiled when a text first has a word of it: of some hundred, most are never
//! needed, and compiling them all would be a good part of a short answer.

use std::sync::OnceLock;

use regex::Regex;

pub(super) struct Pattern {
    text: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(super) const fn new(text: &'static str) -> Self {
        Self {
            text,
            compiled: OnceLock::new(),
        }
    }

    /// Nothing if it is no pattern, which a test makes sure of. Whoever looks for secrets then hides all
    /// that it could have been looked for in.
    pub(super) fn regex(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| Regex::new(self.text).ok());
        compiled.as_ref()
    }

    /// The same where several patterns are tried.
    pub(super) fn ready(&self) -> Result<&Regex, Unready> {
        self.regex().ok_or(Unready)
    }
}

/// A pattern is none.
pub(super) struct Unready;

#[cfg(test)]
mod tests {
    use super::super::keyed::Keys;
    use super::super::{all_forms, commands};
    use super::Pattern;

    #[test]
    fn every_pattern_compiles() {
        let commands = commands::COMMANDS.iter().map(|command| command.options);
        for text in all_forms().map(|form| form.pattern).chain(commands) {
            assert!(Pattern::new(text).regex().is_some(), "{text}");
        }
        for pattern in Keys::new().patterns() {
            assert!(pattern.regex().is_some(), "{}", pattern.text);
        }
    }
}
