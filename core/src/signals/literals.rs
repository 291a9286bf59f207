//! The literals of a pattern, one of which any match must contain.

use regex_syntax::hir::{Class, Hir, HirKind};

/// A set larger than this guards nothing.
const MOST: usize = 64;
/// A literal shorter than this is in every other line.
const SHORTEST: usize = 3;

/// Lower-case texts, at least one of which is in every text that `pattern`
/// matches, comparing ASCII letters without case. `None` where there is no
/// such set worth searching for.
///
/// `K` (Kelvin) and `ſ` are not taken for `k` and `s`, though case-blind
/// patterns match them.
pub(super) fn required(pattern: &str) -> Option<Vec<String>> {
    let hir = regex_syntax::parse(pattern).ok()?;
    let mut set = any_of(&hir)?;
    set.sort_unstable();
    set.dedup();
    (shortest(&set) >= SHORTEST).then_some(set)
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

fn best_of(parts: &[Hir]) -> Option<Vec<String>> {
    let mut candidates = Vec::new();
    let mut run = String::new();
    for part in parts {
        if let Some(text) = exact(part) {
            run.push_str(&text);
            continue;
        }
        candidates.push(vec![std::mem::take(&mut run)]);
        candidates.extend(any_of(part));
    }
    candidates.push(vec![run]);
    // The longest, of those the fewest; the first of equals.
    candidates
        .into_iter()
        .rev()
        .max_by_key(|set| (shortest(set), usize::MAX - set.len()))
        .filter(|set| shortest(set) > 0)
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
        for (pattern, literals) in [
            (r"^\S+ CUDA out of memory", &[" cuda out of memory"][..]),
            (r"(?i)out of memory", &["out of memory"]),
            (
                r"(?:step|iteration)[ =:]+(?P<step>\d+)",
                &["iteration", "step"],
            ),
            (
                r"\d+ (?:Insufficient (?P<resource>\S+)|Too many pods)",
                &["insufficient ", "too many pods"],
            ),
        ] {
            assert_eq!(required(pattern).unwrap(), literals, "{pattern}");
        }
    }

    #[test]
    fn says_where_there_is_nothing_to_search_for() {
        for pattern in [r"^\d+$", r"(?:timeout|\d+)", r"a|bcdef", r"(?:error)?"] {
            assert_eq!(required(pattern), None, "{pattern}");
        }
    }
}
