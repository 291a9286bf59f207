//! One pass over a text that says which patterns can match it at all.

use std::collections::BTreeMap;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};

use super::error::SignalError;
use super::literals;

/// Patterns over free text, guarded by the literals they need.
#[derive(Debug, Default)]
pub(super) struct Scanner {
    search: Option<AhoCorasick>,
    /// For each literal: the guards that it is in, each with the bit of its set.
    literals: Vec<Vec<(u32, u8)>>,
    guards: Vec<Guard>,
    /// Entries with a pattern that needs no literal.
    pub(super) unguarded: Vec<u32>,
}

/// What one pattern of an entry needs.
#[derive(Debug)]
struct Guard {
    entry: u32,
    /// A bit for each set of literals, one of which must be there.
    sets: u8,
}

impl Scanner {
    /// `patterns` of each entry, in order: any of them may match.
    pub(super) fn new<'a>(
        patterns: impl Iterator<Item = (u32, &'a [String])>,
    ) -> Result<Self, SignalError> {
        let mut texts = BTreeMap::<String, Vec<(u32, u8)>>::new();
        let mut scanner = Self::default();
        for (entry, patterns) in patterns {
            let needs: Vec<_> = patterns
                .iter()
                .map(|text| literals::required(text))
                .collect();
            if needs.iter().any(Vec::is_empty) {
                scanner.unguarded.push(entry);
                continue;
            }
            for sets in needs {
                let guard = u32::try_from(scanner.guards.len()).unwrap_or(u32::MAX);
                let mut bits = 0;
                for (position, set) in sets.into_iter().enumerate() {
                    bits |= 1 << position;
                    for text in set {
                        texts.entry(text).or_default().push((guard, 1 << position));
                    }
                }
                scanner.guards.push(Guard { entry, sets: bits });
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
            scanner.literals = texts.into_values().collect();
        }
        Ok(scanner)
    }

    /// Adds the entries that may match `text`, some more than once.
    pub(super) fn candidates(&self, text: &str, into: &mut Vec<u32>) {
        into.extend(&self.unguarded);
        let Some(search) = &self.search else { return };
        let mut seen: Vec<u8> = Vec::new();
        for hit in search.find_overlapping_iter(text) {
            if seen.is_empty() {
                seen.resize(self.guards.len(), 0);
            }
            for &(guard, bit) in &self.literals[hit.pattern().as_usize()] {
                let (guard, seen) = (&self.guards[guard as usize], &mut seen[guard as usize]);
                let complete = *seen == guard.sets;
                *seen |= bit;
                if *seen == guard.sets && !complete && into.last() != Some(&guard.entry) {
                    into.push(guard.entry);
                }
            }
        }
    }
}
