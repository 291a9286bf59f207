//! One pass over a text that says which patterns can match it at all.

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::error::SignalError;
use super::literals;

/// Patterns over free text, guarded by the literals they need.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    search: Option<AhoCorasick>,
    /// For each literal: which entries need it.
    entries: Vec<Vec<u32>>,
    /// Entries with a pattern that needs no literal.
    pub(super) unguarded: Vec<u32>,
    last: u32,
}

impl Scanner {
    /// `patterns` of each entry: any of them may match.
    pub(super) fn new<'a>(
        patterns: impl Iterator<Item = (u32, &'a [String])>,
    ) -> Result<Self, SignalError> {
        let mut texts = std::collections::BTreeMap::<String, Vec<u32>>::new();
        let mut scanner = Self::default();
        for (entry, patterns) in patterns {
            scanner.last = scanner.last.max(entry);
            let sets: Option<Vec<_>> = patterns
                .iter()
                .map(|text| literals::required(text))
                .collect();
            let Some(sets) = sets else {
                scanner.unguarded.push(entry);
                continue;
            };
            for text in sets.into_iter().flatten() {
                let entries = texts.entry(text).or_default();
                if entries.last() != Some(&entry) {
                    entries.push(entry);
                }
            }
        }
        if !texts.is_empty() {
            let search = AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .match_kind(MatchKind::Standard)
                .kind(Some(AhoCorasickKind::DFA))
                .build(texts.keys())
                .map_err(|error| SignalError::TooLarge(error.to_string()))?;
            scanner.search = Some(search);
            scanner.entries = texts.into_values().collect();
        }
        Ok(scanner)
    }

    /// Adds the entries that may match `text`, each once, in order.
    pub(super) fn candidates(&self, text: &str, into: &mut Vec<u32>) {
        into.extend(&self.unguarded);
        let Some(search) = &self.search else { return };
        let mut seen: Vec<u64> = Vec::new();
        for hit in search.find_overlapping_iter(text) {
            if seen.is_empty() {
                seen.resize(self.last as usize / 64 + 1, 0);
            }
            for &entry in &self.entries[hit.pattern().as_usize()] {
                let (word, bit) = (entry as usize / 64, 1 << (entry % 64));
                if seen[word] & bit == 0 {
                    seen[word] |= bit;
                    into.push(entry);
                }
            }
        }
    }
}
