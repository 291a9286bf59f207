//! Secrets never reach a table, an answer or a log.
//!
//! One pass looks for words that stand near secrets; only there a pattern is
//! tried, anchored at the word, so text without secrets costs next to nothing
//! and uids, hashes and image digests are left alone.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use regex::Regex;

const MASK: &str = "[redacted]";

/// What to try where a hint is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// The whole match of a pattern for a token that is known by its form.
    Form(usize),
    /// The value that belongs to a key such as `password`.
    Password,
    /// The same for words that also name harmless things: `token`, `secret`.
    Keyed,
}

/// Words near secrets, in lower case, and what to try there.
const HINTS: &[(&str, Rule)] = &[
    ("bearer ", Rule::Form(0)),
    ("authorization", Rule::Form(1)),
    ("akia", Rule::Form(2)),
    ("asia", Rule::Form(2)),
    ("-----begin", Rule::Form(3)),
    ("://", Rule::Form(4)),
    ("xox", Rule::Form(5)),
    ("xapp-", Rule::Form(5)),
    ("hooks.slack.com/services/", Rule::Form(6)),
    ("eyj", Rule::Form(7)),
    ("ghp_", Rule::Form(8)),
    ("gho_", Rule::Form(8)),
    ("ghs_", Rule::Form(8)),
    ("ghu_", Rule::Form(8)),
    ("ghr_", Rule::Form(8)),
    ("github_pat_", Rule::Form(8)),
    ("glpat-", Rule::Form(8)),
    ("hf_", Rule::Form(9)),
    ("sk-", Rule::Form(10)),
    ("aiza", Rule::Form(11)),
    ("wandb", Rule::Form(12)),
    ("password", Rule::Password),
    ("passwd", Rule::Password),
    ("passphrase", Rule::Password),
    ("api_key", Rule::Password),
    ("apikey", Rule::Password),
    ("api-key", Rule::Password),
    ("access_key", Rule::Password),
    ("private_key", Rule::Password),
    ("secret", Rule::Keyed),
    ("token", Rule::Keyed),
];

/// Patterns of [`Rule::Form`]; the last group is what is masked.
const FORMS: &[&str] = &[
    r"^(?i:bearer)\s+([A-Za-z0-9._~+/=-]{8,})",
    r#"^(?i:authorization)\\?["']?\s*[:=]\s*\[?\\?["']?(?i:(?:basic|bearer|token|digest)\s+)([^\s"',\\]{4,})"#,
    r"^((?:AKIA|ASIA)[0-9A-Z]{16})(?:[^0-9A-Za-z]|$)",
    r"^-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----((?s:.*?))(?:-----END [A-Z ]{0,20}PRIVATE KEY-----|$)",
    r#"^://[^\s/:@"'\\]{0,100}:([^\s/@"'\\]{1,200})@"#,
    r"^(xox[abeoprs]-[A-Za-z0-9-]{10,}|xapp-[A-Za-z0-9-]{10,})",
    r"^(?i:hooks\.slack\.com/services/)([A-Za-z0-9/_-]+)",
    r"^(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*)",
    r"^(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,}|glpat-[A-Za-z0-9_-]{20,})",
    r"^(hf_[A-Za-z0-9]{30,})",
    r"^(sk-[A-Za-z0-9_-]{20,})",
    r"^(AIza[0-9A-Za-z_-]{35})",
    r"^(?i:wandb[^\n]{0,40}?(?:key|login|api)[^\n]{0,40}?)\b([0-9a-f]{40})(?:[^0-9a-f]|$)",
];

struct Patterns {
    hints: AhoCorasick,
    forms: Vec<Regex>,
    /// `key = "value"`, `"key":"value"`
    quoted: Regex,
    /// `\"key\":\"value\"`: JSON in a JSON string
    escaped: Regex,
    /// `key=value`, `key: value`
    bare: Regex,
    /// `"name":"KEY","value":"value"`, also escaped or in YAML
    pair: Regex,
    /// `--key value`, `"--key","value"`
    argument: Regex,
}

/// What may follow the hint and still be the key's name.
macro_rules! key {
    ($rest:literal) => {
        concat!(
            r"^[A-Za-z]+(?:[_-]?[Kk](?:ey|EY)|[_-](?:[Aa]ccess|ACCESS)[_-]?(?:[Kk]ey|KEY))?",
            $rest
        )
    };
}

static PATTERNS: LazyLock<Option<Patterns>> = LazyLock::new(|| {
    let hints = AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::LeftmostLongest)
        .kind(Some(AhoCorasickKind::DFA))
        .build(HINTS.iter().map(|(hint, _)| hint))
        .ok()?;
    let forms = FORMS
        .iter()
        .map(|form| Regex::new(form))
        .collect::<Result<_, _>>()
        .ok()?;
    Some(Patterns {
        hints,
        forms,
        quoted: Regex::new(key!(r#"["']?\s*[:=]\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)')"#)).ok()?,
        escaped: Regex::new(key!(r#"(?:\\+")?\s*[:=]\s*\\+"([^"\\]*)"#)).ok()?,
        bare: Regex::new(key!(r#"(["']?\s*[:=]\s*)([^\s"'&,;{}\[\]\\]+)"#)).ok()?,
        pair: Regex::new(
            r#"^[A-Za-z]+([_-]\w+)?(?:\\*["']?\s*,\s*\\*"value\\*"\s*:\s*\\*"|["']?\s*\n\s*value:[ \t]*["']?)([^"\\\n]+)"#,
        )
        .ok()?,
        argument: Regex::new(key!(r#"(?:\s+|\\*"\s*,\s*\\*")([^\s"\\-][^\s"\\]*)"#)).ok()?,
    })
});

/// Takes secrets out of a text.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let Some(patterns) = PATTERNS.as_ref() else {
        // The patterns are constants and tested; if they ever failed to build,
        // showing nothing is the safe side.
        return Cow::Borrowed(MASK);
    };
    let mut out = String::new();
    let mut done = 0;
    for hint in patterns.hints.find_iter(text) {
        if hint.start() < done {
            continue;
        }
        let rule = HINTS[hint.pattern().as_usize()].1;
        let Some((secret, mask)) = patterns.secret(text, hint.range(), rule) else {
            continue;
        };
        out.push_str(&text[done..secret.start]);
        out.push_str(mask);
        done = secret.end;
    }
    if done == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[done..]);
    Cow::Owned(out)
}

impl Patterns {
    /// Where the secret is and what to put in its place.
    fn secret(
        &self,
        text: &str,
        hint: Range<usize>,
        rule: Rule,
    ) -> Option<(Range<usize>, &'static str)> {
        let rest = &text[hint.start..];
        let found = match rule {
            Rule::Form(form) => {
                if starts_inside_word(text, hint.start) && !matches!(form, 3 | 4 | 6 | 12) {
                    return None;
                }
                self.forms[form]
                    .captures(rest)?
                    .get(1)
                    .filter(|found| form != 0 || random(found.as_str()))?
            }
            Rule::Password | Rule::Keyed => return self.keyed(text, hint, rule),
        };
        Some((hint.start + found.start()..hint.start + found.end(), MASK))
    }

    fn keyed(
        &self,
        text: &str,
        hint: Range<usize>,
        rule: Rule,
    ) -> Option<(Range<usize>, &'static str)> {
        let rest = &text[hint.start..];
        // What follows decides quickly in the common case `secretName`, `tokens`.
        let word = hint.len();
        let shift = |range: Range<usize>| hint.start + range.start..hint.start + range.end;
        let harmless = |value: &str| {
            names_no_secret(value) || (rule == Rule::Keyed && (is_number(value) || is_name(value)))
        };
        // `arn:aws:secretsmanager:…:secret:name` is no key and value either.
        let in_arn = text[..hint.start].ends_with(':') && rest[word..].starts_with(':');
        if !follows_key(rest, word) || in_arn {
            return None;
        }
        if let Some(found) = self.quoted.captures(rest) {
            let value = found.get(1).or(found.get(2))?;
            return (!harmless(value.as_str())).then(|| (shift(value.range()), MASK));
        }
        if let Some(value) = self.escaped.captures(rest).and_then(|found| found.get(1)) {
            return (!harmless(value.as_str())).then(|| (shift(value.range()), MASK));
        }
        if let Some(found) = self.pair.captures(rest) {
            let (suffix, value) = (found.get(1), found.get(2)?);
            let elsewhere = suffix.is_some_and(|suffix| says_where(suffix.as_str()));
            return (!elsewhere && !harmless(value.as_str())).then(|| (shift(value.range()), MASK));
        }
        if let Some(found) = self.bare.captures(rest) {
            let (between, value) = (found.get(1)?, found.get(2)?);
            // In prose a colon is followed by what is wrong with the token.
            let prose = between.as_str().contains(':') && !between.as_str().contains(['"', '\'']);
            if harmless(value.as_str()) || (prose && rule == Rule::Keyed && !random(value.as_str()))
            {
                return None;
            }
            let in_json = between.as_str().starts_with('"');
            if in_json && !is_number(value.as_str()) {
                // In JSON only numbers stand bare: `"db-secret": failed to …` is prose.
                return None;
            }
            let mask = if in_json { "\"[redacted]\"" } else { MASK };
            return Some((shift(value.range()), mask));
        }
        if is_option(text, hint.start)
            && let Some(value) = self.argument.captures(rest).and_then(|found| found.get(1))
            && !harmless(value.as_str())
        {
            return Some((shift(value.range()), MASK));
        }
        None
    }
}

/// Whether the key can end near its hint; cheaper than the patterns.
fn follows_key(rest: &str, word: usize) -> bool {
    match rest.as_bytes().get(word) {
        None => false,
        Some(b'"' | b'\'' | b'\\' | b':' | b'=' | b' ' | b'\t' | b'\n' | b'_' | b'-') => true,
        Some(next) => next.eq_ignore_ascii_case(&b'k'),
    }
}

fn starts_inside_word(text: &str, at: usize) -> bool {
    text[..at]
        .bytes()
        .next_back()
        .is_some_and(|before| before.is_ascii_alphanumeric() || before == b'-')
}

/// The key is a command's option: `--db-password`.
fn is_option(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let word = before
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        .count();
    before[at - word..].starts_with(b"--")
}

/// A value that only says that there is one, or where it is.
fn names_no_secret(value: &str) -> bool {
    const WORDS: &[&str] = &[
        "",
        "true",
        "false",
        "null",
        "none",
        "nil",
        "required",
        "incorrect",
        "invalid",
        "expired",
        "missing",
        "unset",
        "empty",
        "is",
        "not",
        "authentication",
        "redacted",
        MASK,
    ];
    value.starts_with(['$', '<', '*'])
        || value.starts_with("[redacted")
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
}

/// `DB_PASSWORD_FILE`: the value is a place, not the secret.
fn says_where(suffix: &str) -> bool {
    ["FILE", "PATH", "DIR", "NAME", "URL"]
        .iter()
        .any(|word| suffix.to_ascii_uppercase().ends_with(word))
}

/// `pod-identity-webhook`: the name of an object that holds a secret.
fn is_name(value: &str) -> bool {
    value.contains('-') && value.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

fn is_number(value: &str) -> bool {
    value
        .bytes()
        .all(|b| b.is_ascii_digit() || matches!(b, b'.' | b',' | b'-' | b'+' | b'e'))
}

/// Whether it looks made by a machine and not like a word of prose.
fn random(value: &str) -> bool {
    value.len() >= 8 && (value.bytes().any(|b| b.is_ascii_digit()) || value.len() >= 24)
}

#[cfg(test)]
mod tests;
