//! The value that belongs to a key such as `password`, in whatever notation.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use super::value::{
    self, Value, is_mixed, is_name, is_number, is_path, is_random, is_strong, names_no_secret,
};
use super::{Found, MASK, Rule};

/// Words in keys, in lower case.
pub(super) const KEYS: &[(&str, Rule)] = &[
    ("password", Rule::Password),
    ("passwd", Rule::Password),
    ("passphrase", Rule::Password),
    ("passcode", Rule::Password),
    ("_pwd", Rule::Password),
    // A shorter word would stand in the way of `_password`.
    ("_pass=", Rule::Password),
    ("_pass:", Rule::Password),
    ("_pass\"", Rule::Password),
    ("_pass\\", Rule::Password),
    ("\"pass\"", Rule::Password),
    ("\"pass\\", Rule::Password),
    (" pass=", Rule::Password),
    ("&pass=", Rule::Password),
    ("?pass=", Rule::Password),
    (";pass=", Rule::Password),
    ("-pass=", Rule::Password),
    ("pwd=", Rule::Keyed),
    ("pwd:", Rule::Keyed),
    ("api_key", Rule::Password),
    ("apikey", Rule::Password),
    ("api-key", Rule::Password),
    ("api key", Rule::Keyed),
    ("access_key", Rule::Password),
    ("accesskey", Rule::Keyed),
    ("access-key", Rule::Keyed),
    ("private_key", Rule::Password),
    ("privatekey", Rule::Password),
    ("private-key", Rule::Keyed),
    ("account_key", Rule::Keyed),
    ("accountkey", Rule::Keyed),
    ("encryption_key", Rule::Password),
    ("encryption-key", Rule::Keyed),
    ("encryptionkey", Rule::Keyed),
    ("signing_key", Rule::Password),
    ("signing-key", Rule::Keyed),
    ("master_key", Rule::Password),
    ("auth_key", Rule::Password),
    ("authkey", Rule::Password),
    ("auth-key", Rule::Keyed),
    ("app_key", Rule::Keyed),
    ("app-key", Rule::Keyed),
    ("application_key", Rule::Keyed),
    ("license_key", Rule::Password),
    ("storage_key", Rule::Password),
    ("client-key-data", Rule::Password),
    ("credential", Rule::Keyed),
    ("secret", Rule::Keyed),
    ("token", Rule::Keyed),
];

/// What may follow a word and still be the key's name.
macro_rules! key {
    ($rest:literal) => {
        concat!(
            r"^(?:[_-]?(?i:access[_-]?key|key|value|hash|data|b64|base64|prod|dev|staging|test|live|v?\d{1,3}))?",
            $rest
        )
    };
}

pub(super) struct Keys {
    /// Between the name of a key and its value.
    between: Regex,
    /// `"name":"KEY","value":"value"`, also escaped or in YAML.
    pair: Regex,
    /// `--key value`, `"--key","value"`.
    argument: Regex,
    /// `the password for x is value`.
    sentence: Regex,
    /// `login name `, before `password value`.
    login: Regex,
}

impl Keys {
    pub(super) fn new() -> Option<Self> {
        let regex = |pattern: &str| Regex::new(pattern).ok();
        Some(Self {
            between: regex(key!(
                r#"(\\*["'])?\s*(?:=>|:=|[:=]|%3[DdAa])[ \t]*(?:\[\s*)?"#
            ))?,
            pair: regex(
                r#"^[A-Za-z]*([_-]\w+)?(?:\\*["']?\s*,\s*\\*"[Vv]alue\\*"\s*:\s*|["']?\s*(?:\n|\\n)\s*value:[ \t]*)"#,
            )?,
            argument: regex(key!(r#"(?:[ \t]+|\\*["']\s*,\s*|\s*(?:\n|\\n)\s*-\s+)"#))?,
            sentence: regex(
                r#"^(?i)(?:\s+(?:for|of|to)\s+[\w.@/-]+)?\s+(?:(?:is|was|are|set to|changed to|=|:)\s*:?\s*)?"#,
            )?,
            login: regex(r"(?i)(?:login|user|account)\s+\S{1,80}\s+$")?,
        })
    }

    pub(super) fn secret(&self, text: &str, hint: Range<usize>, rule: Rule) -> Option<Found> {
        // A hint may hold the sign between key and value.
        let word = match text.as_bytes().get(hint.end - 1) {
            Some(b'=' | b':' | b'"' | b'\\') => hint.end - 1,
            _ => hint.end,
        };
        let rest = &text[word..];
        let harmless = |value: &str| {
            names_no_secret(value)
                || is_path(value)
                || (rule == Rule::Keyed && (is_number(value) || is_name(value)))
        };
        // What follows decides quickly in the common case `secretName`, `tokens`.
        // `arn:aws:secretsmanager:…:secret:name` is no key and value either.
        let in_arn = text[..hint.start].ends_with(':') && rest.starts_with(':');
        if !follows_key(rest) || in_arn {
            return None;
        }
        if let Some(found) = self.between.captures(rest) {
            let from = word + found.get(0)?.end();
            let key_quote = found.get(1).map(|quote| quote.as_str());
            let between = found.get(0)?.as_str();
            return assigned(text, from, rule, (key_quote, between), &harmless);
        }
        if let Some(found) = self.pair.captures(rest) {
            let elsewhere = found
                .get(1)
                .is_some_and(|suffix| says_where(suffix.as_str()));
            let value = value::at(text, word + found.get(0)?.end());
            return masked(text, value, |value| !elsewhere && !harmless(value));
        }
        let argument = self.argument.find(rest);
        if let Some(argument) = argument.filter(|_| is_option(text, hint.start)) {
            let value = value::at(text, word + argument.end());
            return masked(text, value, |value| {
                !harmless(value) && !value.starts_with('-')
            });
        }
        let sentence = self.sentence.find(rest)?;
        let value = value::at(text, word + sentence.end());
        let is_login = rule == Rule::Password && self.login.is_match(before(text, hint.start));
        masked(text, value, |value| match rule {
            _ if harmless(value) => false,
            Rule::Password => is_login || is_strong(value, 6),
            _ => is_mixed(value, 20),
        })
    }
}

/// The value behind the sign of a key.
fn assigned(
    text: &str,
    from: usize,
    rule: Rule,
    (key_quote, between): (Option<&str>, &str),
    harmless: &dyn Fn(&str) -> bool,
) -> Option<Found> {
    if let Some(range) = yaml_block(text, from) {
        return Some((range, MASK.into()));
    }
    let value = value::at(text, from);
    if value.is_quoted {
        return masked(text, value, |value| !harmless(value));
    }
    let told = &text[value.range.clone()];
    // The block has a rule of its own, which knows where it ends.
    if told.starts_with("-----BEGIN") {
        return None;
    }
    // In prose a colon is followed by what is wrong with the token.
    let prose = between.contains(':') && key_quote.is_none();
    if harmless(told) || (prose && rule == Rule::Keyed && !is_random(told)) {
        return None;
    }
    match key_quote {
        // In JSON only numbers stand bare: `"db-secret": failed to …` is prose.
        Some(quote) if quote.ends_with('"') => {
            is_number(told).then(|| (value.range, Cow::Owned(format!("{quote}{MASK}{quote}"))))
        }
        _ => Some((value.range, MASK.into())),
    }
}

fn masked(text: &str, value: Value, is_secret: impl FnOnce(&str) -> bool) -> Option<Found> {
    let mut range = value.range;
    let mut told = &text[range.clone()];
    if !value.is_quoted {
        // A sentence ends behind its last word.
        told = told.trim_end_matches(['.', ',', ':', ';', ')', '!']);
        range.end = range.start + told.len();
    }
    (!range.is_empty() && !told.starts_with("-----BEGIN") && is_secret(told))
        .then(|| (range, MASK.into()))
}

/// `password: |` and the lines below that are further in.
fn yaml_block(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = &text[from..];
    let sign = rest.strip_prefix(['|', '>'])?;
    let sign = sign.trim_start_matches(['+', '-']);
    let line = |text: &str| -> Option<usize> {
        let end = match text.strip_prefix("\r\n").or(text.strip_prefix('\n')) {
            Some(next) => text.len() - next.len(),
            None => {
                // In JSON, or in JSON in JSON.
                let slashes = text.bytes().take_while(|byte| *byte == b'\\').count();
                let is_end = slashes > 0 && text.as_bytes().get(slashes) == Some(&b'n');
                is_end.then_some(slashes + 1)?
            }
        };
        let space = text[end..].bytes().take_while(|byte| *byte == b' ').count();
        (space > 0).then_some(end + space)
    };
    let begin = line(sign)?;
    let mut end = begin;
    while let Some(left) = sign.get(end..).filter(|left| !left.is_empty()) {
        let stop = left.find(['\n', '"', '\\']).unwrap_or(left.len());
        end += stop;
        match sign.get(end..).and_then(line) {
            Some(more) => end += more,
            None => break,
        }
    }
    let start = from + rest.len() - sign.len();
    Some(start + begin..start + end)
}

/// Whether the key can end near its hint; cheaper than the patterns.
fn follows_key(rest: &str) -> bool {
    match rest.as_bytes().first() {
        None => false,
        Some(b'"' | b'\'' | b'\\' | b':' | b'=' | b' ' | b'\t' | b'\n' | b'_' | b'-' | b'%') => {
            true
        }
        Some(next) => next.eq_ignore_ascii_case(&b'k') || next.is_ascii_digit(),
    }
}

/// The key is a command's option: `--db-password`, `-token`.
fn is_option(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let word = before
        .iter()
        .rev()
        .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        .count();
    let word = &before[at - word..];
    word.starts_with(b"--")
        || (word.starts_with(b"-")
            && matches!(
                before.get((at - word.len()).wrapping_sub(1)),
                None | Some(b' ' | b'"' | b'\'' | b'\t')
            ))
}

/// What stands shortly before a place.
fn before(text: &str, at: usize) -> &str {
    let mut from = at.saturating_sub(120);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    &text[from..at]
}

/// `DB_PASSWORD_FILE`: the value is a place, not the secret.
fn says_where(suffix: &str) -> bool {
    [
        "FILE", "PATH", "DIR", "NAME", "URL", "ID", "TTL", "TYPE", "COUNT", "SECONDS",
    ]
    .iter()
    .any(|word| suffix.to_ascii_uppercase().ends_with(word))
}
