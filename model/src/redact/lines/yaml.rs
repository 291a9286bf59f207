//! What lines of YAML, and of JSON that stands in lines, say about those below them
//! where each is a record of its own.

use std::ops::Range;

use memchr::memmem;

use super::super::yaml::behind_key;
use super::redact;

/// A Secret has no more lines before its values.
const HEAD: usize = 200;

/// A line ends in the sign of a block, behind a key that tells of a secret. Gives how
/// far in the key is.
pub(super) fn opens_block(text: &str) -> Option<usize> {
    // Any value would do that is a secret wherever one is meant.
    const VALUE: &str = "aZ3kQ9xLm2Wv7TbR4nYc8HfJ";
    let key = text.trim_end_matches(['+', '-']);
    let key = key.strip_suffix(['|', '>'])?.trim_end();
    // `!!str` before the sign.
    let key = match key.rsplit_once(' ') {
        Some((before, tag)) if tag.starts_with(['!', '&']) => before.trim_end(),
        _ => key,
    };
    if !key.ends_with([':', '=']) {
        return None;
    }
    let emitted = format!("{key} {VALUE}");
    let has_secret = memmem::find(redact(&emitted).as_bytes(), VALUE.as_bytes()).is_none();
    // Behind other words a key is anywhere: what is further in than the text is below it.
    let name = key.trim_start().trim_start_matches("- ");
    let is_first = !name.contains([' ', '(']);
    has_secret.then(|| if is_first { indent(text) } else { 0 })
}

/// A line of a block: further in than its key. Some writers cut the spaces off; then
/// one line, if it is one word.
pub(super) fn of_block(text: &str, key: usize, before: usize) -> Option<Range<usize>> {
    let own = indent(text);
    let is_word = before == 0 && !text.contains([' ', ':']);
    (text.len() > own && (own > key || is_word)).then_some(own..text.len())
}

/// The key and the value that a line ends in, `name: DB_PASSWORD`, if the value is one
/// word and the key one that matters; also in JSON. It is asked of every line.
pub(super) fn last_field(text: &str) -> Option<(&'static str, &str)> {
    const LONGEST: usize = 256;
    if text.len() > LONGEST {
        return None;
    }
    let space = memchr::memrchr(b' ', text.as_bytes())?;
    let key = text[..space].strip_suffix(':')?.trim_end_matches('"');
    let known = ["name", "kind", "apiVersion"];
    let key = known.iter().find(|known| {
        let before = key.strip_suffix(**known);
        before.is_some_and(|before| !before.ends_with(|letter: char| letter.is_alphanumeric()))
    })?;
    Some((key, text[space + 1..].trim_matches(['"', '\'', ','])))
}

/// The name of `- name: DB_PASSWORD`, whose value is told on the next line.
pub(super) fn named<'t>((key, name): (&str, &'t str)) -> Option<&'t str> {
    const LONGEST: usize = 128;
    let is_name = key == "name" && name.len() <= LONGEST;
    (is_name && super::super::fields::may_be_secret(name)).then_some(name)
}

/// `value: |-` below such a name: the value is on the lines below. Gives how far in it is.
pub(super) fn value_block(text: &str) -> Option<usize> {
    let key = text.trim_end_matches(['+', '-']).strip_suffix(['|', '>'])?;
    (key.trim() == "value:").then(|| indent(text))
}

/// The value of a line `value: …` below such a name.
pub(super) fn of_name(text: &str, name: &str) -> Option<Range<usize>> {
    let at = memmem::find(text.as_bytes(), b"value")?;
    let before = text[..at].trim_end_matches('"');
    let is_first = before.is_empty() || before.ends_with([' ', '\t']);
    let rest = text[at + 5..].trim_start_matches('"').strip_prefix(':')?;
    let value = rest.trim().trim_end_matches(',').trim_matches(['"', '\'']);
    if !is_first || value.is_empty() {
        return None;
    }
    let clean = redact(&format!("- name: {name}\n  value: {value}")).into_owned();
    let start = text.len() - rest.len() + rest.find(value)?;
    (!clean.ends_with(value)).then(|| start..start + value.len())
}

/// How far a Secret of Kubernetes was read that stands in lines.
#[derive(Debug, Default)]
pub(super) struct SecretLines {
    /// How far in the key of the values is that are read.
    data: Option<usize>,
    /// Whether it is one: `apiVersion: v1` and `data:` may be of others as well.
    is_sure: bool,
    lines: usize,
}

impl SecretLines {
    /// What a line begins that ends in a key and a value.
    pub(super) fn opened(field: (&str, &str)) -> Option<Self> {
        let is_sure = field == ("kind", "Secret");
        (is_sure || field == ("apiVersion", "v1")).then_some(Self {
            is_sure,
            ..Self::default()
        })
    }

    /// Whether what a line begins is more telling than this.
    pub(super) fn ends_before(&self, next: &Self) -> bool {
        next.is_sure || !self.is_sure
    }

    /// The value of a line of it, and whether it goes on.
    pub(super) fn hidden(&mut self, text: &str) -> (Option<Range<usize>>, bool) {
        self.lines += 1;
        let own = indent(text);
        let is_other = last_field(text).is_some_and(|(key, value)| {
            let is_own = text[own..]
                .trim_start_matches(['-', ' ', '"'])
                .starts_with(key);
            key == "kind" && value != "Secret" && is_own && self.data.is_none()
        });
        if self.lines > HEAD || text == "---" || is_other {
            return (None, false);
        }
        let key = text
            .trim_end_matches([' ', '{'])
            .trim_end_matches([':', '"']);
        let key = key[own.min(key.len())..].trim_matches('"');
        if matches!(key, "data" | "stringData") && text.trim_end_matches([' ', '{']).ends_with(':')
        {
            self.is_sure |= key == "stringData";
            self.data = Some(own);
            return (None, true);
        }
        let Some(data) = self.data else {
            return (None, self.is_sure);
        };
        if own <= data {
            self.data = None;
            return (None, self.is_sure);
        }
        let line = text[own..].trim_end_matches(',');
        let value = line[behind_key(line)..].trim_matches(['"', '\'']);
        let Some(start) = memmem::rfind(text.as_bytes(), value.as_bytes()) else {
            return (None, true);
        };
        let is_sign = value
            .trim_matches(['|', '>', '-', '+', '{', '}'])
            .is_empty();
        if !self.is_sure && !is_encoded(value) {
            return (None, false);
        }
        // The values are what is read, not the lines before them.
        self.lines = 0;
        ((!is_sign).then(|| start..start + value.len()), true)
    }
}

/// Base64, as the values of Secrets are written; those of others are plain.
fn is_encoded(value: &str) -> bool {
    let bytes = value.trim_end_matches('=').as_bytes();
    let base64 = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    value.len() >= 8
        && value.len().is_multiple_of(4)
        && bytes.iter().all(base64)
        && (super::super::value::has_both_cases(value) || value.ends_with('='))
}

pub(super) fn indent(text: &str) -> usize {
    text.len() - text.trim_start().len()
}
