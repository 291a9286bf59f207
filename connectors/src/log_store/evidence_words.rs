//! What lines that may tell something hold.

use aho_corasick::AhoCorasick;
use whathappened_model::line_word::LineWord;

use super::contract::LineSubject;
use crate::{logs, node_log};

/// Looks for these words, too, in everything that is read from now on and in every
/// question to a log store. Whoever loads the signals says them, once, before anything is read:
/// those of lines of machines and those of lines of programs. Letters count in any
/// case. Words that were said before stay.
///
/// # Errors
/// When there are too many to search for.
pub fn look_for<'w>(
    machines: impl IntoIterator<Item = &'w LineWord>,
    programs: impl IntoIterator<Item = &'w LineWord>,
) -> Result<(), String> {
    node_log::look_for(machines)?;
    logs::look_for(programs)
}

/// Words of lines that may be evidence. A store asks for them as well as it can:
/// it may give more lines, never fewer.
#[derive(Clone, Debug)]
pub struct EvidenceWords {
    /// One of them is in each telling line, in any case.
    pub words: Vec<LineWord>,
    search: Option<AhoCorasick>,
}

impl EvidenceWords {
    fn new(words: Vec<LineWord>) -> Self {
        let parts = words.iter().map(|word| word.part.as_str());
        let builder = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .build(parts);
        Self {
            search: builder.ok(),
            words,
        }
    }

    /// For stores that know whole words alone: those whose phrases find every line, without what
    /// another phrase finds.
    #[must_use]
    pub fn phrases(&self) -> Vec<&LineWord> {
        let spaced = |word: &LineWord| format!(" {} ", word.phrase);
        let all: Vec<String> = self.words.iter().map(spaced).collect();
        let mut found = Vec::new();
        for (at, (word, phrase)) in self.words.iter().zip(&all).enumerate() {
            let mut others = all.iter().enumerate();
            let is_found = others.any(|(other, shorter)| {
                let is_part = phrase.contains(shorter.as_str());
                other != at && is_part && (shorter != phrase || other < at)
            });
            if word.within || !is_found {
                found.push(word);
            }
        }
        found
    }

    /// Whether a text holds one of them.
    #[must_use]
    pub fn is_in(&self, text: &str) -> bool {
        self.search
            .as_ref()
            .is_none_or(|search| search.is_match(text))
    }
}

impl LineSubject {
    /// What telling lines of these hold: machines say other things than programs.
    #[must_use]
    pub fn evidence(&self) -> EvidenceWords {
        EvidenceWords::new(match self {
            Self::Nodes(_) => node_log::asked(),
            Self::Pods(_) | Self::Experiment(_) => logs::asked(),
        })
    }
}
