//! The value that belongs to a key such as `password`, in whatever notation.

use std::ops::Range;

use super::assigned::{assigned, masked};
use super::beside::Beside;
use super::pattern::{Pattern, Unready};
use super::value::{
    self, is_hex_key, is_likely, is_mixed, is_name, is_number, is_path, is_strong, names_no_secret,
    starts_inside_word,
};
use super::{MASK, Rule, SecretSpan, pass, yaml};

/// What may follow a word and still be the key's name.
macro_rules! key {
    ($rest:literal) => {
        concat!(
            r"^(?:[._-]?(?i:access[._-]?key|key(?:[_-]base)?|value|str(?:ing)?|bytes|hash|data|b64|base64|prod|dev|staging|test|live|v?\d{1,3}))?",
            $rest
        )
    };
}

pub(super) struct Keys {
    /// Between the name of a key and its value.
    between: Pattern,
    /// `"name":"KEY","value":"value"`, also escaped or in YAML.
    pair: Pattern,
    /// `--key value`, `"--key","value"`.
    argument: Pattern,
    /// `the password for x is value`.
    sentence: Pattern,
    /// `login name `, before `password value`.
    login: Pattern,
    /// `use value as the `, before `password`.
    role: Pattern,
    /// `<password>value</`, from behind the word.
    element: Pattern,
    /// `ApiKey("value")`, from behind the word up to the quote.
    call: Pattern,
    /// `<name>KEY</name><value>value</`, from behind the word up to the value.
    property: Pattern,
    /// Values that stand beside their key.
    beside: Beside,
}

impl Keys {
    pub(super) const fn new() -> Self {
        Self {
            between: Pattern::new(key!(
                r#"(\\*["'])?\]?(?:\s*(?:=>|:=|::[ \t]|\\{0,4}[:=]|[：＝]|%3[DdAa])|[ \t]+\([^()\n"'\\]{1,60}\)[ \t]*:)[ \t]*(?:\[\s*|Some\((?:\s|\\+n)*|string\(\d+\)[ \t]*|\{\s*\\*["'](?i:value|plaintext|string)\\*["']\s*:\s*)?"#
            )),
            pair: Pattern::new(
                r#"^[A-Za-z]{0,40}([_-]\w{1,80})?(?:\\*["']?\s*,\s*\\*"(?:v|[A-Za-z]{0,20}V)alue\\*"\s*:\s*|\\*["']\s+value\s*=\s*|\\*["']?(?:[ \t]*(?:#[^\n"\\]{0,200})?(?:\n|\\+n))+\s*value:[ \t]*|\\*["']?(?:[ \t]+(?:#[^\n"\\]{0,80}?[ \t])?[ \t]*|\s*,\s*)(value:)[ \t]+)"#,
            ),
            argument: Pattern::new(key!(
                r#"(?:\s*(?:\n|\\n)\s*-\s+|([ \t]*(?:\n|\\+n)[ \t]*|[ \t]+-[ \t]+)|[ \t]+|\\*["']\s*,(?:\s|\\+[nrt])*)"#
            )),
            sentence: Pattern::new(
                r#"^(?i)(?:\s+(?:for|of|to)\s+(?:(?:key|user|account|host)\s+)?(?:\\*'[^'\n]{1,200}'|\\*"[^"\n]{1,200}"|[\w.@/-]+)(?:\s*:)?)?\s+(?:(?:is|was|are|set to|changed to|ist|lautet|est|es|provided|supplied|given|specified|received|=|:)\s*:?\s*)?`?"#,
            ),
            login: Pattern::new(
                r"(?i)(?:login|user|account|machine)\s+\S{1,80}?(?:\s+|\s*\\+[nrt](?:\s|\\+[nrt])*)$",
            ),
            role: Pattern::new(
                r"(?i)(\S{6,200})\s+as\s+(?:(?:an?|the|your|my|its|our|their|new|root|admin|database|db)\s+){0,3}$",
            ),
            // Go writes `<` and `>` in JSON as `\u003c` and `\u003e`.
            element: Pattern::new(key!(
                r#"(?:\s[^<>\n]{0,200}?)?(?:>|&gt;|\\+u003[eE])(?:<!\[CDATA\[)?([^<&\n]{1,4000}?)(?:\]\]>|\]\]\\+u003[eE]|</|&lt;/|\\+u003[cC]/|$)"#
            )),
            call: Pattern::new(key!(r#"\(\s*(\\*["'][^\s"'\\]{6,200})"#)),
            property: Pattern::new(
                r"^(?:[._-][A-Za-z0-9._-]{1,60})?(?:</|\\+u003[cC]/|&lt;/)(?i:name|key)(?:>|\\+u003[eE]|&gt;)(?:\s|\\+[nrt])*(?:<|\\+u003[cC]|&lt;)(?i:value|string)(?:>|\\+u003[eE]|&gt;)([^<>&\s\\]{1,4000})",
            ),
            beside: Beside::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        let own = [
            &self.between,
            &self.pair,
            &self.argument,
            &self.sentence,
            &self.login,
            &self.role,
            &self.element,
            &self.call,
            &self.property,
        ];
        own.into_iter().chain(self.beside.patterns())
    }

    pub(super) fn secret(&self, text: &str, hint: Range<usize>, rule: Rule) -> Option<SecretSpan> {
        let rest = hint.start..text.len();
        self.find(text, hint, rule)
            .unwrap_or_else(|Unready| Some((rest, MASK.into())))
    }

    fn find(
        &self,
        text: &str,
        hint: Range<usize>,
        rule: Rule,
    ) -> Result<Option<SecretSpan>, Unready> {
        // A hint may hold the sign between key and value.
        let word = match text.as_bytes().get(hint.end - 1) {
            Some(b'=' | b':' | b'"' | b'\'' | b'\\' | b' ' | b'\t') => hint.end - 1,
            _ => hint.end,
        };
        // And the one that begins an option.
        let start = hint.start + usize::from(text[hint.clone()].starts_with('-'));
        let is_weak = matches!(rule, Rule::Weak | Rule::Pass);
        if is_weak && starts_inside_word(text, start) && !text[..start].ends_with('-') {
            return Ok(None);
        }
        // Beside the name of a user it says what it is.
        let rule = match rule {
            Rule::Weak | Rule::Pass if follows_user(text, hint.start) => Rule::Password,
            Rule::Pass if pass::is_round(text, start..word) => Rule::Weak,
            rule => rule,
        };
        let rest = &text[word..];
        let harmless = |value: &str| {
            names_no_secret(value)
                || is_path(value)
                || (rule == Rule::Keyed && (is_number(value) || is_name(value)))
                || (rule == Rule::Weak && !is_likely(value) && !is_mixed(value, 20))
                || (rule == Rule::Pass && !pass::is_password(value))
        };
        // What follows decides quickly in the common case `secretName`, `tokens`.
        // `arn:aws:secretsmanager:…:secret:name` is no key and value either.
        let in_arn = text[..hint.start].ends_with(':')
            && rest.starts_with(':')
            && ![": ", ":\n", ":\\"].iter().any(|sign| rest.starts_with(sign))
            // `[1,0]<stderr>:password:` says whose line it is.
            && !text[..hint.start].ends_with(">:");
        if rule == Rule::Password
            && text[..hint.start].ends_with(' ')
            && let Some(emitted) = self.role(text, hint.start)?
        {
            return Ok(Some((emitted, MASK.into())));
        }
        if rest.is_empty()
            && let Some(secret) = self.beside(text, hint.start..word, rule, &harmless)?
        {
            return Ok(Some(secret));
        }
        if !follows_key(rest) || in_arn {
            return Ok(None);
        }
        if let Some(token) = token(text, &hint) {
            return Ok(Some((token, MASK.into())));
        }
        if let Some(secret) = self.beside(text, hint.start..word, rule, &harmless)? {
            return Ok(Some(secret));
        }
        if opens_element(text, hint.start)
            && let Some(value) = self
                .element
                .ready()?
                .captures(rest)
                .and_then(|found| found.get(1))
        {
            let range = word + value.start()..word + value.end();
            // Where no end is, a value was cut off; or it is a word in brackets.
            let is_cut = range.end == text.len();
            let is_one_word = !value.as_str().contains([' ', '"']);
            let is_likely = rule == Rule::Password && is_strong(value.as_str(), 6);
            let is_prose = is_cut && !(is_one_word && is_likely);
            let is_secret = !is_prose && !harmless(value.as_str().trim());
            return Ok(is_secret.then(|| (range, MASK.into())));
        }
        let is_property = rest.starts_with(['<', '\\', '&', '.', '_', '-']);
        if is_property
            && let Some(found) = self.property.ready()?.captures(rest)
            && let Some(value) = found.get(1)
        {
            let range = word + value.start()..word + value.end();
            return Ok((!harmless(value.as_str())).then(|| (range, MASK.into())));
        }
        if let Some(found) = self.between.ready()?.captures(rest) {
            let from = word + found.get_match().end();
            let key_quote = found.get(1).map(|quote| quote.as_str());
            let between = found.get_match().as_str();
            // `password (str): the user's` describes one.
            if between.trim_end().ends_with("):") && is_described(text, from) {
                return Ok(None);
            }
            return Ok(assigned(text, from, rule, (key_quote, between), &harmless));
        }
        if let Some(found) = self.pair.ready()?.captures(rest) {
            let elsewhere = found
                .get(1)
                .is_some_and(|suffix| says_where(suffix.as_str()));
            let from = word + found.get_match().end();
            if let Some(block) = yaml::block(text, from).filter(|_| !elsewhere) {
                return Ok(Some((block, MASK.into())));
            }
            if let Some((folded, emitted)) = yaml::folded_block(text, from) {
                let is_secret = !elsewhere && !harmless(emitted) && is_strong(emitted, 6);
                return Ok(is_secret.then(|| (folded, MASK.into())));
            }
            let value = value::at(text, from);
            // In one line a sentence may say so, too: `token value: x`.
            let is_field = found.get(2).is_none() || is_named(text, hint.start);
            return Ok(masked(text, value, |value| {
                is_field && !elsewhere && !harmless(value)
            }));
        }
        if let Some(quote) = self
            .call
            .ready()?
            .captures(rest)
            .and_then(|found| found.get(1))
        {
            let value = value::at(text, word + quote.start());
            return Ok(masked(text, value, |value| {
                !harmless(value) && is_strong(value, 6) && !value.contains(char::is_whitespace)
            }));
        }
        // The pattern is tried first: an option may be as long as the text.
        if self.argument.ready()?.is_match(rest)
            && is_option(text, start)
            && let Some(argument) = self.argument.ready()?.captures(rest)
        {
            let value = value::at(text, word + argument.get_match().end());
            // A line below an option may be what a manual says of it.
            let is_apart = argument.get(1).is_some();
            return Ok(masked(text, value, |value| {
                !harmless(value) && !value.starts_with('-') && (!is_apart || is_strong(value, 6))
            }));
        }
        if matches!(rule, Rule::Weak | Rule::Pass) {
            return Ok(None);
        }
        let Some(sentence) = self.sentence.ready()?.find(rest) else {
            return Ok(None);
        };
        let value = value::at(text, word + sentence.end());
        let is_login =
            rule == Rule::Password && self.login.ready()?.is_match(before(text, hint.start));
        Ok(masked(text, value, |value| match rule {
            _ if harmless(value) => false,
            Rule::Password => is_login || is_strong(value, 6),
            // `secret podName:…`: another key begins.
            _ if value.contains(':') => false,
            _ => is_mixed(value, 20) || (is_phrase(text, &hint) && is_hex_key(value)),
        }))
    }

    /// What stands beside the key, if it looks like a secret: names of columns and of
    /// fields stand side by side as well.
    fn beside(
        &self,
        text: &str,
        key: Range<usize>,
        rule: Rule,
        harmless: &dyn Fn(&str) -> bool,
    ) -> Result<Option<SecretSpan>, Unready> {
        if let Some(range) = self.beside.earlier(text, key.start)? {
            let name = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
            let suffix = text[key.end..].split(|letter| !name(letter)).next();
            let elsewhere = suffix.is_some_and(says_where);
            let is_secret = !elsewhere && !harmless(&text[range.clone()]);
            return Ok(is_secret.then(|| (range, MASK.into())));
        }
        let Some(range) = self.beside.value(text, key)? else {
            return Ok(None);
        };
        let emitted = &text[range.clone()];
        let is_secret = match rule {
            Rule::Password => is_strong(emitted, 6),
            _ => is_likely(emitted),
        };
        Ok((is_secret && !harmless(emitted)).then(|| (range, MASK.into())))
    }

    /// What is used as the password that a sentence then names.
    fn role(&self, text: &str, at: usize) -> Result<Option<Range<usize>>, Unready> {
        let from = floor(text, at.saturating_sub(300));
        let before = &text[from..at];
        if memchr::memmem::find(before.as_bytes(), b" as ").is_none() {
            return Ok(None);
        }
        let found = self.role.ready()?.captures(before);
        let Some(emitted) = found.and_then(|found| found.get(1)) else {
            return Ok(None);
        };
        let quotes = ['"', '\'', '`', '\\', ',', '('];
        let value = emitted.as_str().trim_matches(quotes);
        let skipped = emitted.as_str().len() - emitted.as_str().trim_start_matches(quotes).len();
        let start = from + emitted.start() + skipped;
        let is_secret = is_strong(value, 6) && !names_no_secret(value) && !is_path(value);
        let is_secret = is_secret && !value.contains(['"', '=']);
        Ok(is_secret.then(|| start..start + value.len()))
    }
}

/// A token that begins with `secret_`, which is no key then: of Notion, 43 letters; or in parts, a name, 32
/// and 32. A form of its own for that word would stand in the way of `secret_value=…`.
fn token(text: &str, hint: &Range<usize>) -> Option<Range<usize>> {
    let rest = text.get(hint.end..)?.strip_prefix('_')?;
    if !text[hint.clone()].eq_ignore_ascii_case("secret") {
        return None;
    }
    let letters = |text: &str| text.bytes().take_while(u8::is_ascii_alphanumeric).count();
    let name = letters(rest);
    let in_parts = || {
        let key = rest[name..].strip_prefix('_')?;
        let is_key = letters(key) == 32 && key[32..].starts_with('.');
        let last = is_key.then(|| letters(&key[33..]))?;
        (name > 0 && last >= 32).then_some(name + 1 + 33 + last)
    };
    let length = match name {
        43 if is_mixed(&rest[..43], 43) => 43,
        _ => in_parts()?,
    };
    Some(hint.end + 1..hint.end + 1 + length)
}

/// Words follow that are no value but tell of one.
fn is_described(text: &str, from: usize) -> bool {
    let value = value::at(text, from).range;
    let ends = text[value.end..].trim_start_matches(['"', '\'', ' ', '\t']);
    let is_last = ends.is_empty() || ends.starts_with(['\n', '\\', ',', ';', '|', '}', '<']);
    !is_last && !is_strong(&text[value], 6)
}

/// The key is several words: `encryption key`.
fn is_phrase(text: &str, hint: &Range<usize>) -> bool {
    text[hint.clone()].ends_with("key") && text[hint.clone()].contains([' ', '\t'])
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

/// Whether the key can end near its hint; cheaper than the patterns.
fn follows_key(rest: &str) -> bool {
    match rest.as_bytes().first() {
        None => false,
        Some(
            b'"' | b'\'' | b'\\' | b':' | b'=' | b' ' | b'\t' | b'\n' | b'_' | b'-' | b'%' | b'>'
            | b'&' | b'(' | b'|' | b',' | b']',
        ) => true,
        // Points that lead to the value, or a name in parts: `secret.key`.
        Some(b'.') => {
            rest.starts_with("...")
                || rest
                    .as_bytes()
                    .get(1)
                    .is_some_and(|next| next.eq_ignore_ascii_case(&b'k'))
        }
        // A type that hides what it holds: `SecretStr('…')`.
        Some(b'S' | b'B') => ["Str(", "String(", "Bytes("]
            .iter()
            .any(|kind| rest.starts_with(kind)),
        // A sign that divides columns, or points; a colon as Chinese is written with.
        Some(0xe2 | 0xef) => true,
        // The end of an element of XML that is a name.
        Some(b'<') => rest.starts_with("</"),
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
    let (before_word, word) = before.split_at(at - word);
    // A file that makes an image, and shells that have no sign between a name and its value.
    let sets: [&[u8]; 6] = [
        b"ENV ",
        b"ARG ",
        b"setenv ",
        b"set -x ",
        b"set -gx ",
        b"set -Ux ",
    ];
    if sets.iter().any(|begin| before_word.ends_with(begin)) {
        return true;
    }
    word.starts_with(b"--")
        || (word.starts_with(b"-")
            && matches!(
                before.get((at - word.len()).wrapping_sub(1)),
                None | Some(b' ' | b'"' | b'\'' | b'\t')
            ))
}

/// What stands shortly before a place.
pub(super) fn before(text: &str, at: usize) -> &str {
    &text[floor(text, at.saturating_sub(120))..at]
}

/// The next place at which a character begins.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// Whether a user is named just before a key of which the word alone says little: `user: bob, pass: …`.
fn follows_user(text: &str, key: usize) -> bool {
    const NEAR: usize = 60;
    let mut from = key.saturating_sub(NEAR);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text[from..key].to_ascii_lowercase();
    let word = before.rfind("user").or_else(|| before.rfind("login"));
    // On the same line, and with a sign between it and its name.
    word.is_some_and(|at| {
        let after = &before[at..];
        !after.contains('\n') && after.contains([':', '='])
    })
}

/// `DB_PASSWORD_FILE`: the value is a place, not the secret.
fn says_where(suffix: &str) -> bool {
    [
        "FILE", "PATH", "DIR", "NAME", "URL", "ID", "TTL", "TYPE", "COUNT", "SECONDS",
    ]
    .iter()
    .any(|word| suffix.to_ascii_uppercase().ends_with(word))
}
