//! `pass` and `pw`: a password, or one of several rounds of some work, as in `second pass: …`.

use std::ops::Range;

use super::keyed::before;
use super::value::{is_hex_key, is_number, is_strong};

/// What is said of a round, before the word.
const ROUNDS: &str = "a all another any backward bwd check checks compiler each every extra final first forward \
fourth fwd inference initial last lint lowering multi next no one optimization per previous render second single test \
tests the third training warmup";

/// What a round is called, or how it ended, behind the sign.
const OUTCOMES: &str = "analysis backward cleanup collecting compile compiling complete completed compute disabled enabled \
evaluating evaluation failure failures finished forward inference inlining initial lowered lowering optimization \
optimizing optional pending profile profiling reduction running scanning skipped started succeeded success successful \
training validation warmup";

/// What rounds are counted in.
const COUNTED: &str = "batch epoch iter iteration layer level phase rank round stage step test";

/// Passwords are longer.
const LEAST: usize = 6;

/// Whether the word at a place, which ends before its sign, is one of several rounds, or
/// begins a sentence about one.
pub(super) fn is_round(text: &str, word: Range<usize>) -> bool {
    // `--- PASS: TestRead (0.00s)`
    if &text[word.clone()] == "PASS" && text[word.end..].starts_with(':') {
        return true;
    }
    let head = before(text, word.start);
    let line = head.rfind('\n').map_or(head, |end| &head[end + 1..]);
    let last = line.trim_end_matches([' ', '\t']);
    // A word of its own right before it; a sign parts two keys.
    let is_beside = last.len() < line.len();
    let last = last.rsplit(char::is_whitespace).next().unwrap_or_default();
    let last = last.to_ascii_lowercase();
    // `21st`
    let number = last.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let is_number = number.len() < last.len() && ["st", "nd", "rd", "th"].contains(&number);
    let is_round_name = is_number || ROUNDS.split(' ').any(|word| word == last);
    if is_beside && is_round_name {
        return true;
    }
    is_sentence(&text[word.end..])
}

/// A colon, and words of prose: `: collecting garbage`.
fn is_sentence(rest: &str) -> bool {
    let Some(value) = rest.strip_prefix(':') else {
        return false;
    };
    let value = value.trim_start_matches([' ', '\t']);
    let ends = |letter: char| letter.is_whitespace() || "\"'\\,;&|<>()[]{}".contains(letter);
    let length = value.find(ends).unwrap_or(value.len());
    let (word, rest) = value.split_at(length);
    let plain = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_lowercase());
    let next = rest.strip_prefix(' ').unwrap_or_default();
    let next = &next[..next.find(ends).unwrap_or(next.len())];
    plain(word) && plain(next.trim_end_matches('.'))
}

/// Whether what stands behind the sign can be one.
pub(super) fn is_password(value: &str) -> bool {
    let is_word = value.bytes().all(|byte| byte.is_ascii_alphabetic());
    let is_known = || {
        OUTCOMES
            .split(' ')
            .any(|word| value.eq_ignore_ascii_case(word))
    };
    if value.len() < LEAST || is_number(value) {
        return false;
    }
    // A uid, a hash or an address.
    let hex = |byte: u8| byte.is_ascii_hexdigit() || b"-x".contains(&byte);
    if value.bytes().all(hex) {
        return is_hex_key(value) || is_word;
    }
    if is_word {
        return !is_known();
    }
    // `epoch=1`, `test_a::case_1` and `epoch100` are names of rounds.
    let name = value.trim_end_matches(|letter: char| letter.is_ascii_digit());
    let is_counted = COUNTED
        .split(' ')
        .any(|word| name.eq_ignore_ascii_case(word));
    let has_sign = value.contains(['=', '(', '[', ',']) || value.contains("::");
    !is_counted && !has_sign && is_strong(value, LEAST)
}

#[cfg(test)]
mod tests {
    use crate::redact::redact;

    #[test]
    fn a_password_behind_pass_goes() {
        for text in [
            "pass: qlwkejrhtzui",
            "connecting with pass: qlwkejrhtzui",
            "{'user': 'bob', pass: qlwkejrhtzui}",
            "pass=qlwkejrhtzui",
            "x;pw=Ab3dEfgHij7k",
            "host: db\npass: hunter\nport: 1",
            "args pass: Ab3dEfgHij7k next: 1",
            "sbatch --export=ALL pass: qlwkejrhtzui",
        ] {
            let clean = redact(text);
            assert!(clean.contains("[redacted]"), "{text}: {clean}");
            let secrets = ["qlwkejrhtzui", "hunter", "Ab3dEfgHij7k"];
            assert!(
                !secrets.iter().any(|one| clean.contains(one)),
                "{text}: {clean}"
            );
        }
    }

    #[test]
    fn a_round_of_some_work_stays() {
        for text in [
            "second pass: forward",
            "forward pass: compute",
            "backward pass: 12.5 ms",
            "pass: collecting garbage",
            "pass: 3/10",
            "Pass: training",
            "21st pass: lowered",
            "--- PASS: TestReadFile (0.00s)",
            "PASS: gcc.dg/pr12345.c (test for excess errors)",
            "optimization pass: inlining",
            "pass=1 of 2",
            "all checks pass: nothing to do",
            "pass: forward",
            "the 21st pass: qlwkejrhtzui",
        ] {
            assert_eq!(redact(text), text);
        }
    }
}
