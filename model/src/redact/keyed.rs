//! The value that belongs to a key such as `password`, in whatever notation.

use std::borrow::Cow;
use std::ops::Range;

use regex::Regex;

use super::beside::Beside;
use super::value::{
    self, Value, is_hex_key, is_likely, is_mixed, is_name, is_number, is_path, is_random,
    is_strong, names_no_secret, starts_inside_word,
};
use super::{MASK, Rule, SecretSpan, yaml};

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
    (" pass=", Rule::Keyed),
    ("&pass=", Rule::Keyed),
    ("?pass=", Rule::Keyed),
    (";pass=", Rule::Keyed),
    ("-pass=", Rule::Keyed),
    ("_pass'", Rule::Password),
    ("_pass =", Rule::Weak),
    ("pass phrase", Rule::Password),
    ("pass_phrase", Rule::Password),
    ("pass-phrase", Rule::Password),
    ("storepass", Rule::Password),
    ("keypass", Rule::Password),
    ("rediscli_auth", Rule::Password),
    ("pwd=", Rule::Keyed),
    ("pwd:", Rule::Keyed),
    ("pwd\"", Rule::Weak),
    ("pwd'", Rule::Weak),
    ("pwd\\", Rule::Weak),
    ("_pw=", Rule::Keyed),
    ("_pw:", Rule::Keyed),
    ("_pw\"", Rule::Keyed),
    ("_pw'", Rule::Keyed),
    ("_pw\\", Rule::Keyed),
    ("_pw =", Rule::Keyed),
    // Words that say something else more often: a value has to look like a secret.
    ("pw=", Rule::Weak),
    ("pw:", Rule::Weak),
    ("pw\"", Rule::Weak),
    ("pw'", Rule::Weak),
    ("pw\\", Rule::Weak),
    ("pw =", Rule::Weak),
    ("-pw ", Rule::Weak),
    ("pass=", Rule::Weak),
    ("pass:", Rule::Weak),
    ("pass\"", Rule::Weak),
    ("pass'", Rule::Weak),
    ("pass\\", Rule::Weak),
    ("pass =", Rule::Weak),
    ("-pass ", Rule::Weak),
    ("routing_key", Rule::Weak),
    ("routing-key", Rule::Weak),
    ("routingkey", Rule::Weak),
    ("integration_key", Rule::Weak),
    ("integration-key", Rule::Weak),
    ("integrationkey", Rule::Weak),
    ("ingestion_key", Rule::Weak),
    ("write_key", Rule::Weak),
    ("server_key", Rule::Weak),
    ("service_key", Rule::Weak),
    ("consumer_key", Rule::Weak),
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
    ("licence_key", Rule::Password),
    ("client_assertion", Rule::Password),
    ("code_verifier", Rule::Weak),
    ("storage_key", Rule::Password),
    ("client-key-data", Rule::Password),
    ("key_base", Rule::Password),
    ("presharedkey", Rule::Password),
    ("preshared_key", Rule::Password),
    ("preshared-key", Rule::Password),
    ("pre_shared_key", Rule::Password),
    ("pre-shared-key", Rule::Password),
    ("fernet_key", Rule::Password),
    ("hmac_key", Rule::Keyed),
    ("hmackey", Rule::Keyed),
    ("aes_key", Rule::Keyed),
    ("aeskey", Rule::Keyed),
    ("jwt_key", Rule::Keyed),
    ("certificate-key", Rule::Keyed),
    ("unseal_key", Rule::Password),
    // In words a key is told by what it is for; a plain `key` has many meanings.
    ("encryption key", Rule::Keyed),
    ("signing key", Rule::Keyed),
    ("secret key", Rule::Keyed),
    ("private key", Rule::Keyed),
    ("master key", Rule::Keyed),
    ("shared key", Rule::Keyed),
    ("account key", Rule::Keyed),
    ("storage key", Rule::Keyed),
    ("access key", Rule::Keyed),
    ("license key", Rule::Keyed),
    ("licence key", Rule::Keyed),
    // In other languages than English.
    ("passwort", Rule::Password),
    ("kennwort", Rule::Password),
    ("contraseña", Rule::Password),
    ("CONTRASEÑA", Rule::Password),
    ("contrase\\u00f1a", Rule::Password),
    ("contrasena", Rule::Password),
    ("mot de passe", Rule::Password),
    ("mot_de_passe", Rule::Password),
    ("motdepasse", Rule::Password),
    ("credential", Rule::Keyed),
    ("credentials", Rule::Keyed),
    ("secret", Rule::Keyed),
    ("token", Rule::Keyed),
];

/// What may follow a word and still be the key's name.
macro_rules! key {
    ($rest:literal) => {
        concat!(
            r"^(?:[_-]?(?i:access[_-]?key|key(?:[_-]base)?|value|hash|data|b64|base64|prod|dev|staging|test|live|v?\d{1,3}))?",
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
    /// `use value as the `, before `password`.
    role: Regex,
    /// `<password>value</`, from behind the word.
    element: Regex,
    /// `ApiKey("value")`, from behind the word up to the quote.
    call: Regex,
    /// Values that stand beside their key.
    beside: Beside,
}

impl Keys {
    pub(super) fn new() -> Option<Self> {
        let regex = |pattern: &str| Regex::new(pattern).ok();
        Some(Self {
            between: regex(key!(
                r#"(\\*["'])?\s*(?:=>|:=|[:=]|%3[DdAa])[ \t]*(?:\[\s*|Some\()?"#
            ))?,
            pair: regex(
                r#"^[A-Za-z]{0,40}([_-]\w{1,80})?(?:\\*["']?\s*,\s*\\*"[Vv]alue\\*"\s*:\s*|\\*["']?\s*(?:\n|\\+n)\s*value:[ \t]*|\\*["']?[ \t]+(value:)[ \t]+)"#,
            )?,
            argument: regex(key!(r#"(?:[ \t]+|\\*["']\s*,\s*|\s*(?:\n|\\n)\s*-\s+)"#))?,
            sentence: regex(
                r#"^(?i)(?:\s+(?:for|of|to)\s+(?:(?:key|user|account|host)\s+)?(?:\\*'[^'\n]{1,200}'|\\*"[^"\n]{1,200}"|[\w.@/-]+)(?:\s*:)?)?\s+(?:(?:is|was|are|set to|changed to|ist|lautet|est|es|provided|supplied|given|specified|received|=|:)\s*:?\s*)?"#,
            )?,
            login: regex(
                r"(?i)(?:login|user|account|machine)\s+\S{1,80}?(?:\s+|\s*\\+[nrt](?:\s|\\+[nrt])*)$",
            )?,
            role: regex(
                r"(?i)(\S{6,200})\s+as\s+(?:(?:an?|the|your|my|its|our|their|new|root|admin|database|db)\s+){0,3}$",
            )?,
            // Go writes `<` and `>` in JSON as `\u003c` and `\u003e`.
            element: regex(key!(
                r#"(?:\s[^<>\n]{0,200}?)?(?:>|&gt;|\\+u003[eE])([^<&\n]{1,4000}?)(?:</|&lt;/|\\+u003[cC]/|$)"#
            ))?,
            call: regex(key!(r#"\(\s*(\\*["'][^\s"'\\]{6,200})"#))?,
            beside: Beside::new()?,
        })
    }

    pub(super) fn secret(&self, text: &str, hint: Range<usize>, rule: Rule) -> Option<SecretSpan> {
        // A hint may hold the sign between key and value.
        let word = match text.as_bytes().get(hint.end - 1) {
            Some(b'=' | b':' | b'"' | b'\'' | b'\\' | b' ') => hint.end - 1,
            _ => hint.end,
        };
        // And the one that begins an option.
        let start = hint.start + usize::from(text[hint.clone()].starts_with('-'));
        if rule == Rule::Weak && starts_inside_word(text, start) && !text[..start].ends_with('-') {
            return None;
        }
        let rest = &text[word..];
        let harmless = |value: &str| {
            names_no_secret(value)
                || is_path(value)
                || (rule == Rule::Keyed && (is_number(value) || is_name(value)))
                || (rule == Rule::Weak && !is_likely(value))
        };
        // What follows decides quickly in the common case `secretName`, `tokens`.
        // `arn:aws:secretsmanager:…:secret:name` is no key and value either.
        let in_arn = text[..hint.start].ends_with(':') && rest.starts_with(':');
        if rule == Rule::Password
            && text[..hint.start].ends_with(' ')
            && let Some(emitted) = self.role(text, hint.start)
        {
            return Some((emitted, MASK.into()));
        }
        if !follows_key(rest) || in_arn {
            return None;
        }
        if let Some(token) = notion(text, &hint) {
            return Some((token, MASK.into()));
        }
        if let Some(secret) = self.beside(text, hint.start..word, rule, &harmless) {
            return Some(secret);
        }
        if opens_element(text, hint.start)
            && let Some(value) = self.element.captures(rest).and_then(|found| found.get(1))
        {
            let range = word + value.start()..word + value.end();
            // Where no end is, a value was cut off; or it is a word in brackets.
            let is_cut = range.end == text.len();
            let is_one_word = !value.as_str().contains([' ', '"']);
            let is_likely = rule == Rule::Password && is_strong(value.as_str(), 6);
            let is_prose = is_cut && !(is_one_word && is_likely);
            return (!is_prose && !harmless(value.as_str().trim())).then(|| (range, MASK.into()));
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
            // In one line a sentence may say so, too: `token value: x`.
            let is_field = found.get(2).is_none() || is_named(text, hint.start);
            return masked(text, value, |value| {
                is_field && !elsewhere && !harmless(value)
            });
        }
        if let Some(quote) = self.call.captures(rest).and_then(|found| found.get(1)) {
            let value = value::at(text, word + quote.start());
            return masked(text, value, |value| {
                !harmless(value) && is_strong(value, 6) && !value.contains(char::is_whitespace)
            });
        }
        let argument = self.argument.find(rest);
        if let Some(argument) = argument.filter(|_| is_option(text, start)) {
            let value = value::at(text, word + argument.end());
            return masked(text, value, |value| {
                !harmless(value) && !value.starts_with('-')
            });
        }
        if rule == Rule::Weak {
            return None;
        }
        let sentence = self.sentence.find(rest)?;
        let value = value::at(text, word + sentence.end());
        let is_login = rule == Rule::Password && self.login.is_match(before(text, hint.start));
        masked(text, value, |value| match rule {
            _ if harmless(value) => false,
            Rule::Password => is_login || is_strong(value, 6),
            // `secret podName:…`: another key begins.
            _ if value.contains(':') => false,
            _ => is_mixed(value, 20) || (is_phrase(text, &hint) && is_hex_key(value)),
        })
    }

    /// What stands beside the key, if it looks like a secret: names of columns and of
    /// fields stand side by side as well.
    fn beside(
        &self,
        text: &str,
        key: Range<usize>,
        rule: Rule,
        harmless: &dyn Fn(&str) -> bool,
    ) -> Option<SecretSpan> {
        if let Some(range) = self.beside.earlier(text, key.start) {
            let name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let suffix = text[key.end..].split(|letter| !name(letter)).next();
            let elsewhere = suffix.is_some_and(says_where);
            let is_secret = !elsewhere && !harmless(&text[range.clone()]);
            return is_secret.then(|| (range, MASK.into()));
        }
        let range = self.beside.value(text, key)?;
        let emitted = &text[range.clone()];
        let is_secret = match rule {
            Rule::Password => is_strong(emitted, 6),
            _ => is_likely(emitted),
        };
        (is_secret && !harmless(emitted)).then(|| (range, MASK.into()))
    }

    /// What is used as the password that a sentence then names.
    fn role(&self, text: &str, at: usize) -> Option<Range<usize>> {
        let from = floor(text, at.saturating_sub(300));
        let before = &text[from..at];
        memchr::memmem::find(before.as_bytes(), b" as ")?;
        let emitted = self.role.captures(before)?.get(1)?;
        let quotes = ['"', '\'', '`', '\\', ',', '('];
        let value = emitted.as_str().trim_matches(quotes);
        let skipped = emitted.as_str().len() - emitted.as_str().trim_start_matches(quotes).len();
        let start = from + emitted.start() + skipped;
        let is_secret = is_strong(value, 6) && !names_no_secret(value) && !is_path(value);
        (is_secret && !value.contains(['"', '='])).then(|| start..start + value.len())
    }
}

/// `secret_` and 43 letters: a token of Notion, not a key and its value.
fn notion(text: &str, hint: &Range<usize>) -> Option<Range<usize>> {
    let rest = text.as_bytes().get(hint.end..)?.strip_prefix(b"_")?;
    let letters = rest.iter().take_while(|b| b.is_ascii_alphanumeric());
    let is_token = letters.count() == 43 && text[hint.clone()].eq_ignore_ascii_case("secret");
    let range = hint.end + 1..hint.end + 44;
    (is_token && is_mixed(&text[range.clone()], 43)).then_some(range)
}

/// The key is several words: `encryption key`.
fn is_phrase(text: &str, hint: &Range<usize>) -> bool {
    text[hint.clone()].ends_with("key") && text[hint.clone()].contains(' ')
}

/// The word is the value of `name:`.
fn is_named(text: &str, at: usize) -> bool {
    let name = |letter: char| letter.is_ascii_alphanumeric() || "_-.".contains(letter);
    let before = before(text, at).trim_end_matches(name);
    let before = before.trim_end_matches(['"', '\'', '\\', ' ']);
    before.ends_with("name:")
}

/// The word stands in an opening tag: `<db-password`.
fn opens_element(text: &str, at: usize) -> bool {
    let before = &text.as_bytes()[..at];
    let name = before
        .iter()
        .rev()
        .take(100)
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"_-:.".contains(byte))
        .count();
    let (before, name) = before.split_at(at - name);
    before.ends_with(b"<")
        || before.ends_with(b"&lt;")
        || (before.ends_with(b"\\") && name.to_ascii_lowercase().starts_with(b"u003c"))
}

/// The value behind the sign of a key, with the tags of YAML before it.
fn assigned(
    text: &str,
    from: usize,
    rule: Rule,
    key: (Option<&str>, &str),
    harmless: &dyn Fn(&str) -> bool,
) -> Option<SecretSpan> {
    let behind = match key.1.trim_end().ends_with(':') {
        true => yaml::behind_tags(text, from),
        false => from,
    };
    // The lines below are told by a rule of their own.
    if behind > from && matches!(text[behind..].trim_end(), "|" | ">" | "|-" | ">-" | "|+") {
        return None;
    }
    if behind > from
        && let Some((range, mask)) = value_at(text, behind, rule, key, harmless)
    {
        // What looks like a tag might be a word of the password.
        return Some((from..range.end, mask));
    }
    value_at(text, from, rule, key, harmless)
}

fn value_at(
    text: &str,
    from: usize,
    rule: Rule,
    (key_quote, between): (Option<&str>, &str),
    harmless: &dyn Fn(&str) -> bool,
) -> Option<SecretSpan> {
    if let Some(range) = yaml::block(text, from) {
        return Some((range, MASK.into()));
    }
    // In prose a colon is followed by what is wrong with the token.
    let prose = between.contains(':') && key_quote.is_none();
    if let Some((folded, emitted)) = yaml::folded_block(text, from) {
        let is_secret = !harmless(emitted) && (rule == Rule::Password || is_random(emitted));
        return is_secret.then(|| (folded, MASK.into()));
    }
    if let Some(next) = next_line(text, from) {
        let emitted = &text[next.clone()];
        let is_secret = match rule {
            Rule::Password => is_strong(emitted, 6),
            _ => is_mixed(emitted, 16),
        };
        let is_key = emitted.contains([':', '=']);
        return (is_secret && !is_key && !harmless(emitted)).then(|| (next, MASK.into()));
    }
    let value = value::at(text, from);
    if between.ends_with('(') && !value.is_quoted {
        return None;
    }
    if value.is_quoted {
        // `["password:","value"]`: the quote ends the word, the list is read elsewhere.
        if key_quote.is_none()
            && text[value.range.clone()]
                .trim_start()
                .starts_with([',', ']', '{'])
        {
            return None;
        }
        return masked(text, value, |value| !harmless(value));
    }
    let emitted = &text[value.range.clone()];
    // The block has a rule of its own, which knows where it ends.
    if emitted.starts_with("-----BEGIN") {
        return None;
    }
    if harmless(emitted) || (prose && rule == Rule::Keyed && !is_random(emitted)) {
        return None;
    }
    match key_quote {
        // In JSON only numbers stand bare: `"db-secret": failed to …` is prose.
        Some(quote) if quote.ends_with('"') => (is_number(emitted) && emitted != "+")
            .then(|| (value.range, Cow::Owned(format!("{quote}{MASK}{quote}")))),
        _ => {
            let mut range = value.range;
            if rule == Rule::Password && key_quote.is_none() {
                range.end = phrase_end(text, from, range.end);
            }
            Some((range, MASK.into()))
        }
    }
}

fn masked(text: &str, value: Value, is_secret: impl FnOnce(&str) -> bool) -> Option<SecretSpan> {
    let mut range = value.range;
    let mut emitted = &text[range.clone()];
    if !value.is_quoted {
        // A sentence ends behind its last word.
        emitted = emitted.trim_end_matches(['.', ',', ':', ';', ')', '!']);
        range.end = range.start + emitted.len();
    }
    (!range.is_empty() && !emitted.starts_with("-----BEGIN") && is_secret(emitted))
        .then(|| (range, MASK.into()))
}

/// `X-Auth-Token:` and its value on a line of its own, as in a list of arguments with
/// one word a line.
fn next_line(text: &str, from: usize) -> Option<Range<usize>> {
    let rest = text.get(from..)?;
    let rest = rest.strip_prefix('\n').or(rest.strip_prefix("\\n"))?;
    let rest = rest.trim_start_matches(' ');
    let rest = rest.strip_prefix("- ").unwrap_or(rest);
    let rest = rest.trim_start_matches(' ');
    let word = &rest[..rest
        .find([' ', '\n', '\\', '"', '\''])
        .unwrap_or(rest.len())];
    let behind = &rest[word.len()..];
    let ends = behind.is_empty() || behind.starts_with(['\n', '\\', '"']);
    let start = text.len() - rest.len();
    (ends && !word.is_empty()).then_some(start..start + word.len())
}

/// Where a value without quotes ends that may have several words: a passphrase, or a
/// password that has a line of its own, as in files of settings.
fn phrase_end(text: &str, from: usize, end: usize) -> usize {
    // A longer key is none of a file of settings.
    let near = before(text, from);
    let line = near.rfind('\n').map_or(0, |before| before + 1);
    let key = near[line..].trim_end_matches(['=', ':', ' ', '\t']);
    let key = key.trim_start().trim_start_matches("export ");
    let name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
    let has_line = !key.is_empty() && key.bytes().all(name);
    let is_phrase = key.len() >= 10 && key.is_char_boundary(key.len() - 10) && {
        key[key.len() - 10..].eq_ignore_ascii_case("passphrase")
    };
    let all = words_end(text, end);
    let more = text[end..all].split_whitespace().count();
    // A line of many words is a sentence about a password.
    if is_phrase || (has_line && more <= FEW) {
        all
    } else {
        end
    }
}

/// So many words may follow the first one of a password.
const FEW: usize = 4;

/// The end of the words that go on behind a value: a sign, an option or another key
/// ends them.
pub(super) fn words_end(text: &str, mut end: usize) -> usize {
    const MOST: usize = 12;
    for _ in 0..MOST {
        let Some(rest) = text.get(end..).filter(|rest| rest.starts_with(' ')) else {
            break;
        };
        let word = rest.trim_start_matches(' ');
        let ends = |letter: char| letter.is_whitespace() || "\"'\\,;&|<>()[]{}#".contains(letter);
        let length = word.find(ends).unwrap_or(word.len());
        let is_key = word[..length].contains(['=', ':']) || word.starts_with('-');
        if length == 0 || is_key {
            break;
        }
        end = text.len() - word.len() + length;
    }
    end
}

/// Whether the key can end near its hint; cheaper than the patterns.
fn follows_key(rest: &str) -> bool {
    match rest.as_bytes().first() {
        None => false,
        Some(
            b'"' | b'\'' | b'\\' | b':' | b'=' | b' ' | b'\t' | b'\n' | b'_' | b'-' | b'%' | b'>'
            | b'&' | b'(' | b'|' | b',',
        ) => true,
        Some(b'.') => rest.starts_with("..."),
        // A sign that divides columns, or points.
        Some(0xe2) => true,
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
    &text[floor(text, at.saturating_sub(120))..at]
}

/// The next place at which a character begins.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// `DB_PASSWORD_FILE`: the value is a place, not the secret.
fn says_where(suffix: &str) -> bool {
    [
        "FILE", "PATH", "DIR", "NAME", "URL", "ID", "TTL", "TYPE", "COUNT", "SECONDS",
    ]
    .iter()
    .any(|word| suffix.to_ascii_uppercase().ends_with(word))
}
