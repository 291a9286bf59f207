//! Finds many names in a text at once.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// Finds names in texts where nothing of a name goes on before or after them.
#[derive(Debug, Default)]
pub(super) struct NameFinder {
    words: HashSet<String>,
    /// For the first part of names how many parts the longest of them has.
    first: HashMap<String, usize>,
}

impl NameFinder {
    pub(super) fn new<'a>(words: impl Iterator<Item = &'a String>) -> Self {
        let mut finder = Self::default();
        for word in words {
            let word = word.to_ascii_lowercase();
            let parts = parts(&word);
            // A single letter is in every text.
            let (Some(first), true) = (parts.first(), word.len() > 1) else {
                continue;
            };
            let longest = finder
                .first
                .entry(word[first.clone()].to_owned())
                .or_default();
            *longest = parts.len().max(*longest);
            // What stands around the parts of a label's value is no part of them.
            let end = parts.last().map_or(word.len(), |last| last.end);
            finder.words.insert(word[first.start..end].to_owned());
        }
        finder
    }

    /// Where its words stand in a text in lower case.
    pub(super) fn ranges(&self, lower: &str) -> Vec<Range<usize>> {
        let mut ranges = Vec::new();
        if self.words.is_empty() {
            return ranges;
        }
        let parts = parts(lower);
        let mut at = 0;
        while let Some(part) = parts.get(at) {
            let longest = self.first.get(&lower[part.clone()]).copied();
            let found = longest.and_then(|longest| {
                let last = (at + longest).min(parts.len());
                (at..last).rev().find(|last| {
                    let end = parts.get(*last).map_or(part.end, |part| part.end);
                    self.words.contains(&lower[part.start..end])
                })
            });
            let Some(last) = found else {
                at += 1;
                continue;
            };
            ranges.push(part.start..parts.get(last).map_or(part.end, |part| part.end));
            at = last + 1;
        }
        ranges
    }
}

/// The runs of letters and digits of a text.
pub(super) fn parts(text: &str) -> Vec<Range<usize>> {
    let mut parts = Vec::new();
    let mut begun = None;
    for (at, letter) in text.char_indices() {
        match (letter.is_alphanumeric(), begun) {
            (true, None) => begun = Some(at),
            (false, Some(from)) => {
                parts.push(from..at);
                begun = None;
            }
            _ => {}
        }
    }
    if let Some(from) = begun {
        parts.push(from..text.len());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::NameFinder;
    use crate::access_filter::protected_names::cover;

    #[test]
    fn a_name_is_hidden_where_it_stands_alone_or_in_a_longer_one() {
        let words = ["blue-0", "blue", "team b/x_y"].map(str::to_owned);
        let finder = NameFinder::new(words.iter());
        for (text, hidden) in [
            ("pod blue-0 died", "pod [hidden] died"),
            ("BLUE-0.svc:blue", "[hidden].svc:[hidden]"),
            ("blue-01", "[hidden]-01"),
            ("(Team B/x_y) é", "([hidden]) é"),
            ("ü blue", "ü [hidden]"),
        ] {
            let found = cover(text, finder.ranges(&text.to_ascii_lowercase()));
            assert_eq!(found.as_deref(), Some(hidden), "{text}");
        }
        for text in ["", "bluebird", "é", "team", "0-blues"] {
            assert!(finder.ranges(text).is_empty(), "{text}");
        }
    }
}
