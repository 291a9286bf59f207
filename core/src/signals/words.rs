//! The words by which lines are found that a signal may be made of.
//!
//! Most come from the patterns: a text that matches holds one of their literals. A `when` whose
//! pattern has none, or one that stands in half of all lines, says `words` itself; and a file may
//! say words that count without any signal (`[words]`), which are short and so spare the longer
//! ones that hold them. The built-in signals on lines of programs have these alone: whatever their
//! patterns hold beside would stand in too many lines, and in too long a question to a log store.

use std::collections::BTreeSet;

use whathappened_model::line_word::LineWord;

use super::file::{Signal, When};
use super::literals::{Literal, required_literals};

/// Lines of machines.
const MACHINES: &str = "node.log";

/// Lines of programs, and lines of machines.
pub(super) const OF_LINES: [&str; 2] = ["log.line", MACHINES];

/// A longer literal is cut: what is searched for stays small, and so do questions to log stores.
const LONGEST: usize = 24;
/// No cut leaves less than this.
const SHORTEST: usize = 12;

/// What is looked for in lines of one fact.
#[derive(Debug, Default)]
pub(super) struct LineWords {
    /// In order: what files say, then what comes from patterns.
    pub(super) words: Vec<LineWord>,
    /// Signals, each with a pattern that nothing of this finds.
    pub(super) wordless: Vec<String>,
}

impl LineWords {
    /// The words of `fact`: `plain` from the files' own lists, the rest from the signals, each
    /// with whether it is a person's own.
    pub(super) fn of(
        fact: &str,
        plain: impl Iterator<Item = (String, bool)>,
        signals: &[(&Signal, bool)],
    ) -> Self {
        let mut found = Self::default();
        for (text, own) in plain {
            let word = LineWord::plain(&text);
            found.add(LineWord { own, ..word });
        }
        let mut whens: Vec<(&Signal, &When, bool)> = Vec::new();
        let has_all = fact == MACHINES;
        for (signal, own) in signals.iter().filter(|(_, own)| *own || has_all) {
            let of_fact = signal
                .when
                .iter()
                .filter(|when| when.fact.0.iter().any(|one| one == fact));
            whens.extend(of_fact.map(|when| (*signal, when, *own)));
        }
        for (_, when, own) in &whens {
            for text in when.words.iter().flatten() {
                let written = Some(text.clone());
                let word = LineWord::new(text, false, false);
                found.add(LineWord {
                    own: *own,
                    written,
                    ..word
                });
            }
        }
        let stated = found.words.len();
        let mut derived = BTreeSet::new();
        for (signal, when, own) in whens {
            // Facts with neither words nor a message are made of lines that others find.
            if when.words.is_some() || when.reason.is_some() {
                continue;
            }
            for pattern in when.message.iter().flat_map(|patterns| &patterns.0) {
                let sets = required_literals(pattern);
                let is_found = |literal: &Literal| {
                    let mut stated = found.words[..stated].iter();
                    stated.any(|word| finds(word, &literal.text, literal.written.as_deref()))
                };
                if sets.iter().any(|set| set.iter().all(is_found)) {
                    continue;
                }
                match sets.into_iter().next() {
                    Some(set) => derived.extend(set.iter().map(|literal| LineWord {
                        own,
                        ..word(literal)
                    })),
                    None => found.wordless.push(signal.name.clone()),
                }
            }
        }
        for word in derived {
            found.add(word);
        }
        found.without_longer();
        found
    }

    fn add(&mut self, word: LineWord) {
        match self.words.iter_mut().find(|known| known.part == word.part) {
            Some(known) => {
                // What is built in is no less so for a person's own signal.
                known.own &= word.own;
                if known.written != word.written {
                    known.written = None;
                }
            }
            None => self.words.push(word),
        }
    }

    /// Leaves out what another word is part of: that one finds the same lines. A person's own
    /// does not stand for a built-in one.
    fn without_longer(&mut self) {
        let all = self.words.clone();
        self.words.retain(|word| {
            let mut others = all
                .iter()
                .filter(|other| other.part != word.part && (!other.own || word.own));
            !others.any(|other| finds(other, &word.part, word.written.as_deref()))
        });
    }
}

/// Whether whoever looks for `word` finds each line that holds a text, also where letters count
/// as they are written.
fn finds(word: &LineWord, text: &str, written: Option<&str>) -> bool {
    text.contains(&word.part)
        && word
            .written
            .as_deref()
            .is_none_or(|own| written.is_some_and(|text| text.contains(own)))
}

/// What of a literal is searched for: nothing that JSON writes in another way, and not too much.
fn word(literal: &Literal) -> LineWord {
    let text = literal.written.as_deref().unwrap_or(&literal.text);
    let is_escaped =
        |c: char| c.is_control() || !c.is_ascii() || matches!(c, '"' | '\\' | '<' | '>' | '&');
    let pieces = text.split(is_escaped);
    // The first of the longest.
    let longest = pieces.reduce(|best, piece| {
        if piece.len() > best.len() {
            piece
        } else {
            best
        }
    });
    let piece = longest.unwrap_or_default();
    let begins = text.starts_with(piece);
    let mut kept = piece;
    if piece.len() > LONGEST {
        let cut = &piece[..LONGEST];
        kept = match cut.rfind(' ') {
            Some(at) if at >= SHORTEST => &cut[..at],
            _ => cut,
        };
    }
    let continues = begins && literal.continues;
    let is_cut = kept.len() < piece.len() && !piece[kept.len()..].starts_with(' ');
    let goes_on = is_cut || (text.ends_with(kept) && literal.goes_on);
    LineWord {
        written: literal.written.is_some().then(|| kept.to_owned()),
        ..LineWord::new(kept, continues, goes_on)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str) -> Vec<(String, String)> {
        let set = required_literals(pattern)
            .into_iter()
            .next()
            .unwrap_or_default();
        set.iter()
            .map(word)
            .map(|word| (word.part, word.phrase))
            .collect()
    }

    #[test]
    fn long_literals_are_cut_between_words_and_where_json_writes_them_otherwise() {
        for (pattern, part, phrase) in [
            (
                r"Loop (?P<loop>\d+) of the Manifold ran dry",
                " of the manifold ran dry",
                "of the manifold ran dry",
            ),
            (
                r"Sending SIGTERM to remaining processes",
                "sending sigterm to",
                "sending sigterm to",
            ),
            (r#"msg="Stopping /(?P<unit>\S+)"#, "stopping /", "stopping"),
            (
                r"remounting_the_whole_filesystem now",
                "remounting_the_whole_fil",
                "remounting_the_whole_fil",
            ),
            (
                r"a lost remounting_the_whole_filesystem",
                "a lost remounting_the_wh",
                "a lost",
            ),
        ] {
            assert_eq!(
                of(pattern),
                [(part.to_owned(), phrase.to_owned())],
                "{pattern}"
            );
        }
    }
}
