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
            r#"^[A-Za-z]+(?:[_-]\w+)?(?:\\*["']?\s*,\s*\\*"value\\*"\s*:\s*\\*"|["']?\s*\n\s*value:[ \t]*["']?)([^"\\\n]+)"#,
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
        let harmless =
            |value: &str| names_no_secret(value) || (rule == Rule::Keyed && is_number(value));
        if !follows_key(rest, word) {
            return None;
        }
        if let Some(found) = self.quoted.captures(rest) {
            let value = found.get(1).or(found.get(2))?;
            return (!harmless(value.as_str())).then(|| (shift(value.range()), MASK));
        }
        for pattern in [&self.escaped, &self.pair] {
            if let Some(value) = pattern.captures(rest).and_then(|found| found.get(1)) {
                return (!harmless(value.as_str())).then(|| (shift(value.range()), MASK));
            }
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
            return Some((
                shift(value.range()),
                if in_json { "\"[redacted]\"" } else { MASK },
            ));
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
mod tests {
    use super::*;

    #[test]
    fn secrets_go() {
        let jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
        let hex = "0123456789abcdef0123456789abcdef01234567";
        for (text, secret) in [
            (format!("Authorization: Bearer {jwt}"), jwt),
            ("curl -H 'authorization: Basic dXNlcjpwYXNz'".to_owned(), "dXNlcjpwYXNz"),
            ("\"Authorization\":[\"Bearer abc123def456\"]".to_owned(), "abc123def456"),
            (format!("got {jwt} here"), jwt),
            ("key AKIAIOSFODNN7EXAMPLE.".to_owned(), "AKIAIOSFODNN7EXAMPLE"),
            ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(), "wJalrXUtnFEMI/K7"),
            ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI".to_owned(), "wJalrXUtnFEMI"),
            ("\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQ\\n-----END PRIVATE KEY-----\\n\"".to_owned(), "MIIEvQ"),
            ("-----BEGIN RSA PRIVATE KEY-----\nMIIEvQ\n".to_owned(), "MIIEvQ"),
            ("redis://user:hunter2@redis:6379/0".to_owned(), "hunter2"),
            ("postgres://:hunter2@db/x".to_owned(), "hunter2"),
            ("password=hunter2&x=1".to_owned(), "hunter2"),
            ("Password: hunter".to_owned(), "hunter"),
            ("{\"db_password\":\"hun\\\"ter 2\"}".to_owned(), "ter 2"),
            ("{\"password\":12345678}".to_owned(), "12345678"),
            ("{\"a\":\"{\\\"token\\\":\\\"abcdef99\\\"}\"}".to_owned(), "abcdef99"),
            ("{\"name\":\"DB_PASSWORD\",\"value\":\"hunter2\"}".to_owned(), "hunter2"),
            ("{\\\"name\\\":\\\"API_TOKEN_V2\\\",\\\"value\\\":\\\"hunter2\\\"}".to_owned(), "hunter2"),
            ("- name: DB_PASSWORD\n  value: hunter2\n".to_owned(), "hunter2"),
            ("--token abc123 --x".to_owned(), "abc123"),
            ("[\"--db-password\",\"hunter2\"]".to_owned(), "hunter2"),
            ("xoxb-123456789012-abcdef".to_owned(), "123456789012"),
            ("https://hooks.slack.com/services/T000/B000/XXXX".to_owned(), "XXXX"),
            ("ghp_0123456789abcdefghij0123456789abcdef".to_owned(), "0123456789abcdefghij"),
            ("OPENAI sk-proj-0123456789abcdefghijkl".to_owned(), "0123456789abcdefghijkl"),
            (format!("wandb login {hex}"), hex),
            (format!("WANDB_API_KEY={hex}"), hex),
            ("api_key: \"zzz\"".to_owned(), "zzz"),
            ("refresh token=abc".to_owned(), "abc"),
        ] {
            let clean = redact(&text);
            assert!(!clean.contains(secret), "{text} -> {clean}");
            assert!(clean.contains("[redacted]"), "{text} -> {clean}");
            assert_eq!(redact(&clean), clean, "not stable: {text}");
        }
    }

    #[test]
    fn json_stays_json() {
        for text in [
            r#"{"password":12345678,"b":"x"}"#,
            r#"{"env":[{"name":"DB_PASSWORD","value":"hunter2"}],"c":{"token":"ab\"c"}}"#,
        ] {
            serde_json::from_str::<serde_json::Value>(&redact(text)).unwrap();
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "INFO train step=10 loss=4.1667 tokens_per_s=95530 rank=0",
            "{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}}",
            "{\"name\":\"kube-api-access-x\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{}}]}}",
            "{\"secret\":{\"secretName\":\"default-token-abc12\"}}",
            "{\"name\":\"DB_PASSWORD\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"db\",\"key\":\"password\"}}}",
            "{\"name\":\"MAX_TOKENS_PER_BATCH\",\"value\":\"4096\"}",
            "{\"name\":\"TOKENIZERS_PARALLELISM\",\"value\":\"false\"}",
            "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
            "4f0a36c4-7264-4802-b1ca-c0bc9a38ca26",
            "MountVolume.SetUp failed for volume \"x\" : secret \"db-password\" not found",
            "couldn't find key password in Secret research/db",
            "invalid token: signature is invalid",
            "https://registry.local:5000/team/image@sha256:0123",
            "rbac.authorization.k8s.io/v1",
            "Bearer authentication failed",
            "task-0123456789abcdefghijklmnop",
            "commit 0123456789abcdef0123456789abcdef01234567",
            "password=$(DB_PASSWORD) token=<unset>",
            "max_token=512 secret_count=3",
            "wandb: Run data is saved locally in /w/wandb/run-20261121",
        ] {
            assert_eq!(redact(text), text);
        }
    }

    #[test]
    fn odd_text_does_no_harm() {
        for text in [
            "password",
            "token=",
            "secret\u{fffd}=é",
            "://",
            "éAKIA",
            "password=é",
            "--token é",
        ] {
            let _text = redact(text);
        }
    }
}
