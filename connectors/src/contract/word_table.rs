//! Words that are searched for from the moment on that whoever loads the signals says them.

use std::sync::{Arc, PoisonError, RwLock};

use whathappened_model::line_word::LineWord;

/// Words, with the searches that are made of them.
pub(crate) trait WordSearch: Sized {
    /// Makes the searches.
    ///
    /// # Errors
    /// When there are too many words to search for.
    fn new(words: Vec<LineWord>) -> Result<Self, String>;

    /// What they are made of.
    fn words(&self) -> &[LineWord];
}

/// The words that count now; none until some are said.
pub(crate) struct WordTable<S> {
    known: RwLock<Option<Arc<S>>>,
    /// The built-in ones: tests of this package read as the tool does with its own signals.
    #[cfg(test)]
    built_in: fn(&whathappened_core::signals::Ruleset) -> &[LineWord],
    #[cfg(test)]
    once: std::sync::Once,
}

impl<S: WordSearch> WordTable<S> {
    #[cfg(not(test))]
    pub(crate) const fn new() -> Self {
        Self {
            known: RwLock::new(None),
        }
    }

    #[cfg(test)]
    pub(crate) const fn new(
        built_in: fn(&whathappened_core::signals::Ruleset) -> &[LineWord],
    ) -> Self {
        Self {
            known: RwLock::new(None),
            built_in,
            once: std::sync::Once::new(),
        }
    }

    /// What is searched for now.
    pub(crate) fn get(&self) -> Option<Arc<S>> {
        #[cfg(test)]
        self.once.call_once(|| {
            let rules = whathappened_core::signals::Ruleset::built_in().unwrap();
            self.add((self.built_in)(&rules)).unwrap();
        });
        let known = self.known.read();
        known.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks for these words, too, in all that is read from now on.
    ///
    /// # Errors
    /// When there are too many to search for.
    pub(crate) fn add<'w>(
        &self,
        words: impl IntoIterator<Item = &'w LineWord>,
    ) -> Result<(), String> {
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        let mut all = known
            .as_ref()
            .map_or_else(Vec::new, |known| known.words().to_vec());
        let before = all.len();
        for word in words {
            if !all.contains(word) {
                all.push(word.clone());
            }
        }
        if known.is_none() || all.len() > before {
            *known = Some(Arc::new(S::new(all)?));
        }
        Ok(())
    }
}
