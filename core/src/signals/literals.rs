//! The literals of a pattern, one of which any match must contain.

use regex_syntax::hir::{Class, Hir, HirKind, Look};

/// A set larger than this guards nothing.
const MOST: usize = 64;
/// A literal shorter than this is in every other line.
const SHORTEST: usize = 3;
/// More sets than this rule out nothing more.
const SETS: usize = 3;

/// A text that stands in a match.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Literal {
    /// In lower case.
    pub(super) text: String,
    /// As it is written, where only one way of writing it matches.
    pub(super) written: Option<String>,
    /// A letter, digit or underscore may stand right before it in a match.
    pub(super) continues: bool,
    /// The same right after it.
    pub(super) goes_on: bool,
}

/// Sets of lower-case texts: any text that `pattern` matches holds at least
/// one of each set, comparing ASCII letters without case. Empty where no set
/// is worth searching for.
///
/// `K` (Kelvin) and `ſ` are not taken for `k` and `s`, though case-blind
/// patterns match them.
pub(super) fn required(pattern: &str) -> Vec<Vec<String>> {
    let texts = |set: Vec<Literal>| set.into_iter().map(|literal| literal.text).collect();
    required_literals(pattern).into_iter().map(texts).collect()
}

/// The same sets, with what is known of where their texts begin and end.
pub(super) fn required_literals(pattern: &str) -> Vec<Vec<Literal>> {
    let Ok(hir) = regex_syntax::parse(pattern) else {
        return Vec::new();
    };
    // Whoever writes a pattern begins and ends it with whole words.
    let mut sets = match hir.kind() {
        HirKind::Concat(parts) => candidates(parts, (false, false)),
        _ => any_of(&hir, (false, false)).into_iter().collect(),
    };
    for set in &mut sets {
        set.sort_unstable();
        set.dedup_by(|other, first| {
            let same = other.text == first.text;
            if same {
                first.continues |= other.continues;
                first.goes_on |= other.goes_on;
                if first.written != other.written {
                    first.written = None;
                }
            }
            same
        });
    }
    sets.retain(|set| shortest(set) >= SHORTEST);
    // The longest literals first, of those the smallest sets.
    sets.sort_by_key(|set| (usize::MAX - shortest(set), set.len()));
    sets.truncate(SETS);
    sets
}

/// Whether characters of a word may stand right before and right after.
type Around = (bool, bool);

fn any_of(hir: &Hir, around: Around) -> Option<Vec<Literal>> {
    if let Some((text, is_exact)) = exact(hir) {
        return (!text.is_empty()).then(|| vec![literal(text, is_exact, around)]);
    }
    match hir.kind() {
        HirKind::Capture(capture) => any_of(&capture.sub, around),
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            any_of(&repetition.sub, (true, true))
        }
        HirKind::Concat(parts) => best_of(parts, around),
        HirKind::Alternation(branches) => {
            let mut union = Vec::new();
            for branch in branches {
                union.extend(any_of(branch, around)?);
            }
            (union.len() <= MOST).then_some(union)
        }
        _ => None,
    }
}

fn literal(text: String, is_exact: bool, (continues, goes_on): Around) -> Literal {
    Literal {
        text: text.to_ascii_lowercase(),
        written: is_exact.then_some(text),
        continues,
        goes_on,
    }
}

/// The longest of the sets, of those the smallest; the first of equals.
fn best_of(parts: &[Hir], around: Around) -> Option<Vec<Literal>> {
    let sets = candidates(parts, around).into_iter().rev();
    sets.max_by_key(|set| (shortest(set), usize::MAX - set.len()))
}

/// What each part of a sequence requires; neighbouring literals as one.
fn candidates(parts: &[Hir], around: Around) -> Vec<Vec<Literal>> {
    let between = |from: usize, to: usize| {
        let before = parts[..from].iter().rev().map(|part| edge(part, true));
        let after = parts[to..].iter().map(|part| edge(part, false));
        (joined(before, around.0), joined(after, around.1))
    };
    let mut sets = Vec::new();
    let (mut run, mut from, mut all_exact) = (String::new(), 0, true);
    for (at, part) in parts.iter().enumerate() {
        if let Some((text, is_exact)) = exact(part) {
            run.push_str(&text);
            all_exact &= is_exact;
            continue;
        }
        let text = std::mem::take(&mut run);
        sets.push(vec![literal(text, all_exact, between(from, at))]);
        (from, all_exact) = (at + 1, true);
        sets.extend(any_of(part, between(at, at + 1)));
    }
    sets.push(vec![literal(run, all_exact, between(from, parts.len()))]);
    sets.retain(|set| shortest(set) > 0);
    sets
}

/// Whether a character of a word may be what comes next, going through `edges`.
fn joined(edges: impl Iterator<Item = (bool, bool)>, beyond: bool) -> bool {
    for (may_be_word, may_be_empty) in edges {
        if may_be_word {
            return true;
        }
        if !may_be_empty {
            return false;
        }
    }
    beyond
}

/// Whether what `hir` matches may begin, or `last` end, with a character of a word, and
/// whether it may be empty.
fn edge(hir: &Hir, last: bool) -> (bool, bool) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    match hir.kind() {
        HirKind::Empty => (false, true),
        HirKind::Look(Look::WordAsciiNegate | Look::WordUnicodeNegate) => (true, false),
        HirKind::Look(_) => (false, false),
        HirKind::Literal(literal) => {
            let text = std::str::from_utf8(&literal.0).unwrap_or_default();
            let c = if last {
                text.chars().next_back()
            } else {
                text.chars().next()
            };
            (c.is_none_or(is_word), false)
        }
        HirKind::Class(Class::Unicode(class)) => {
            let holds = |c: char| {
                class
                    .ranges()
                    .iter()
                    .any(|r| r.start() <= c && c <= r.end())
            };
            (
                ('a'..='z')
                    .chain('A'..='Z')
                    .chain('0'..='9')
                    .chain(['_'])
                    .any(holds),
                false,
            )
        }
        HirKind::Class(Class::Bytes(_)) => (true, false),
        HirKind::Repetition(repetition) => {
            let (word, empty) = edge(&repetition.sub, last);
            (word, empty || repetition.min == 0)
        }
        HirKind::Capture(capture) => edge(&capture.sub, last),
        HirKind::Concat(parts) => {
            let edges: Vec<_> = parts.iter().map(|part| edge(part, last)).collect();
            let empty = edges.iter().all(|(_, empty)| *empty);
            let word = if last {
                joined(edges.into_iter().rev(), false)
            } else {
                joined(edges.into_iter(), false)
            };
            (word, empty)
        }
        HirKind::Alternation(branches) => branches
            .iter()
            .map(|branch| edge(branch, last))
            .fold((false, false), |(word, empty), one| {
                (word || one.0, empty || one.1)
            }),
    }
}

fn shortest(set: &[Literal]) -> usize {
    set.iter()
        .map(|literal| literal.text.len())
        .min()
        .unwrap_or(0)
}

/// The one text that `hir` matches, and whether letters count as they are written; else
/// it is in lower case.
fn exact(hir: &Hir) -> Option<(String, bool)> {
    match hir.kind() {
        HirKind::Literal(literal) => Some((std::str::from_utf8(&literal.0).ok()?.to_owned(), true)),
        HirKind::Class(Class::Unicode(class)) => {
            let mut only = None;
            for range in class.ranges() {
                for letter in range.start()..=range.end() {
                    if matches!(letter, '\u{212a}' | '\u{17f}') {
                        continue;
                    }
                    let letter = letter.to_ascii_lowercase();
                    if only.is_some_and(|only| only != letter) {
                        return None;
                    }
                    only = Some(letter);
                }
            }
            only.map(|letter| (letter.to_string(), !letter.is_ascii_alphabetic()))
        }
        HirKind::Capture(capture) => exact(&capture.sub),
        HirKind::Concat(parts) => {
            let mut whole = (String::new(), true);
            for part in parts {
                let (text, is_exact) = exact(part)?;
                whole.0.push_str(&text);
                whole.1 &= is_exact;
            }
            Some(whole)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{required, required_literals};

    #[test]
    fn finds_what_any_match_contains() {
        for (pattern, sets) in [
            (
                r"^\S+ CUDA out of memory",
                &[&[" cuda out of memory"][..]][..],
            ),
            (r"(?i)out of memory", &[&["out of memory"]]),
            (
                r"(?:step|iteration)[ =:]+(?P<step>\d+)",
                &[&["iteration", "step"]],
            ),
            (
                r"\d+ (?:Insufficient (?P<resource>\S+)|Too many pods)",
                &[&["insufficient ", "too many pods"]],
            ),
            (
                r"(?i)\bloss\s*=\s*(?:nan|[-+]?inf)\b",
                &[&["loss"], &["inf", "nan"]],
            ),
        ] {
            assert_eq!(required(pattern), sets, "{pattern}");
        }
    }

    #[test]
    fn says_where_there_is_nothing_to_search_for() {
        for pattern in [r"^\d+$", r"(?:timeout|\d+)", r"a|bcdef", r"(?:error)?"] {
            assert_eq!(required(pattern), Vec::<Vec<String>>::new(), "{pattern}");
        }
    }

    #[test]
    fn says_where_words_are_cut_and_what_is_written_in_one_way_alone() {
        let found = |pattern: &str| {
            let first = required_literals(pattern).remove(0).remove(0);
            (first.text, first.written, first.continues, first.goes_on)
        };
        let written = |text: &str| Some(text.to_owned());
        for (pattern, text, as_written, continues, goes_on) in [
            (
                "Out of memory: Kill(?:ed)? p",
                "out of memory: kill",
                written("Out of memory: Kill"),
                false,
                true,
            ),
            (r"\w+Error at", "error at", written("Error at"), true, false),
            (
                r"\berror at\b \w+",
                "error at",
                written("error at"),
                false,
                false,
            ),
            (r"(?i)Out Of Memory", "out of memory", None, false, false),
            (
                r"x*: lost, (?P<why>\S+)",
                ": lost, ",
                written(": lost, "),
                true,
                true,
            ),
        ] {
            let wanted = (text.to_owned(), as_written, continues, goes_on);
            assert_eq!(found(pattern), wanted, "{pattern}");
        }
    }
}
