//! Filter patterns. A regular expression stands between percent signs, knows no
//! groups and no flags, and a pattern holds 1,024 characters.

use crate::log_store::EvidenceWords;

/// The longest pattern.
const LONGEST: usize = 1_024;

/// Patterns that together find every line with a telling word.
pub(super) fn evidence(evidence: &EvidenceWords) -> Vec<String> {
    packed(evidence.words.iter().map(|word| match &word.written {
        Some(written) => escaped(written),
        None => any_case(&word.part),
    }))
}

/// Patterns that together find every line with one of these names.
pub(super) fn names<'n>(names: impl Iterator<Item = &'n str>) -> Vec<String> {
    packed(names.map(escaped))
}

/// Alternatives put together into as few patterns as hold them.
fn packed(alternatives: impl Iterator<Item = String>) -> Vec<String> {
    let mut patterns: Vec<String> = Vec::new();
    for alternative in alternatives.filter(|a| !a.is_empty() && a.len() + 2 <= LONGEST) {
        match patterns.last_mut() {
            Some(last) if last.len() + alternative.len() + 3 <= LONGEST => {
                last.push('|');
                last.push_str(&alternative);
            }
            _ => patterns.push(alternative),
        }
    }
    patterns.iter().map(|inner| format!("%{inner}%")).collect()
}

fn any_case(word: &str) -> String {
    let mut out = String::new();
    for c in word.chars() {
        match c {
            ' ' => out.push_str("\\s"),
            c if c.is_ascii_alphabetic() => {
                out.push('[');
                out.push(c.to_ascii_uppercase());
                out.push(c.to_ascii_lowercase());
                out.push(']');
            }
            c => out.push_str(&escaped(&c.to_string())),
        }
    }
    out
}

/// Letters, digits and some signs stand for themselves, a space for any white
/// space; what no pattern may hold stands for any character.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c),
            ':' | '_' | '#' | '=' | '@' | '/' | ';' | ',' | '-' => out.push(c),
            ' ' => out.push_str("\\s"),
            '^' | '$' | '?' | '[' | ']' | '{' | '}' | '|' | '\\' | '*' | '+' | '.' => {
                out.push('\\');
                out.push(c);
            }
            _ => out.push('.'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log_store::LineSubject;

    #[test]
    fn patterns_are_short_enough_and_find_every_word_in_any_case() {
        for about in [
            LineSubject::Pods(Vec::new()),
            LineSubject::Nodes(Vec::new()),
        ] {
            let words = about.evidence();
            let patterns = evidence(&words);
            assert!(patterns.len() <= 6, "{} of {about:?}", patterns.len());
            let as_regex: Vec<regex::Regex> = patterns
                .iter()
                .map(|pattern| regex::Regex::new(pattern.trim_matches('%')).unwrap())
                .collect();
            for pattern in &patterns {
                assert!(pattern.len() <= LONGEST);
                assert!(pattern.starts_with('%') && pattern.ends_with('%'));
                assert!(!pattern.contains(['(', ')', '!', ' ']));
            }
            for word in &words.words {
                let texts = match &word.written {
                    Some(written) => vec![written.clone()],
                    None => vec![word.part.to_uppercase(), format!("x{}y", word.part)],
                };
                for text in texts {
                    assert!(as_regex.iter().any(|r| r.is_match(&text)), "{text}");
                    assert!(words.is_in(&text));
                }
            }
        }
        assert_eq!(names(["a.b-0", "c%"].into_iter()), ["%a\\.b-0|c.%"]);
        let many: Vec<String> = (0..100).map(|n| format!("a-long-pods-name-{n}")).collect();
        assert_eq!(names(many.iter().map(String::as_str)).len(), 2);
    }
}
