//! The literals of a pattern, one of which any match must contain.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A set larger than this guards nothing.
const MOST: usize = 64;
/// A literal shorter than this is in every other line.
const SHORTEST: usize = 3;
/// More sets than this rule out nothing more.
const SETS: usize = 3;

/// Sets of lower-case texts: any text that `pattern` matches holds at least
/// one of each set, comparing ASCII letters without case. Empty where no set
/// is worth searching for.
///
/// `K` (Kelvin) and `ſ` are not taken for `k` and `s`, though case-blind
/// patterns match them.
pub(super) fn required(pattern: &str) -> Vec<Vec<String>> {
    let Ok(hir) = regex_syntax::parse(pattern) else {
        return Vec::new();
    };
    let mut sets = match hir.kind() {
        HirKind::Concat(parts) => candidates(parts),
        _ => any_of(&hir).into_iter().collect(),
    };
    for set in &mut sets {
        set.sort_unstable();
        set.dedup();
    }
    sets.retain(|set| shortest(set) >= SHORTEST);
    // The longest literals first, of those the smallest sets.
    sets.sort_by_key(|set| (usize::MAX - shortest(set), set.len()));
    sets.truncate(SETS);
    sets
}

fn any_of(hir: &Hir) -> Option<Vec<String>> {
    if let Some(text) = exact(hir) {
        return (!text.is_empty()).then(|| vec![text]);
    }
    match hir.kind() {
        HirKind::Capture(capture) => any_of(&capture.sub),
        HirKind::Repetition(repetition) if repetition.min > 0 => any_of(&repetition.sub),
        HirKind::Concat(parts) => best_of(parts),
        HirKind::Alternation(branches) => {
            let mut union = Vec::new();
            for branch in branches {
                union.extend(any_of(branch)?);
            }
            (union.len() <= MOST).then_some(union)
        }
        _ => None,
    }
}

/// The longest of the sets, of those the smallest; the first of equals.
fn best_of(parts: &[Hir]) -> Option<Vec<String>> {
    let sets = candidates(parts).into_iter().rev();
    sets.max_by_key(|set| (shortest(set), usize::MAX - set.len()))
}

/// What each part of a sequence requires; neighbouring literals as one.
fn candidates(parts: &[Hir]) -> Vec<Vec<String>> {
    let mut sets = Vec::new();
    let mut run = String::new();
    for part in parts {
        if let Some(text) = exact(part) {
            run.push_str(&text);
            continue;
        }
        sets.push(vec![std::mem::take(&mut run)]);
        sets.extend(any_of(part));
    }
    sets.push(vec![run]);
    sets.retain(|set| shortest(set) > 0);
    sets
}

fn shortest(set: &[String]) -> usize {
    set.iter().map(String::len).min().unwrap_or(0)
}

/// The one lower-case text that `hir` matches.
fn exact(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Literal(literal) => {
            Some(std::str::from_utf8(&literal.0).ok()?.to_ascii_lowercase())
        }
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
            only.map(String::from)
        }
        HirKind::Capture(capture) => exact(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(exact).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::required;

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
}
