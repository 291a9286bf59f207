//! Values that stand beside the name of their key without a sign of their own: in the
//! next cell of a table, behind dots, as the second of a pair, in the field before.

use std::ops::Range;

use memchr::memmem;

use super::pattern::{Pattern, Unready};
use super::value;

/// What divides the cells of a table.
const DIVIDERS: [char; 4] = ['|', '│', '┃', '║'];
/// A name, or a value and what parts it from its name, is no longer.
const LONGEST: usize = 300;
/// The field before a name is looked for so far back.
const NEAR: usize = 600;

/// What ends right before a place without the name that the place stands in; no more
/// than is near, so that no text is read over and over.
fn before_name(text: &str, at: usize, near: usize) -> (usize, &str) {
    let mut from = at.saturating_sub(near);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let before = text[from..at].trim_end_matches(|letter: char| {
        letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-' | '.')
    });
    (from, before)
}

pub(super) struct Beside {
    /// From behind the word up to the next cell.
    cell: Pattern,
    /// From behind the word to the end of the dots.
    leader: Pattern,
    /// From behind the word up to the quote of the second of a pair.
    pair: Pattern,
    /// From the end of a value up to the word that is the value of `name`.
    earlier: Pattern,
    /// `value="…" name="`, which a name follows.
    attribute: Pattern,
    /// `value: … name: ` in lines of YAML, or in one.
    yaml: Pattern,
    /// `{password,"`, from behind the word up to the quote.
    tuple: Pattern,
}

impl Beside {
    pub(super) const fn new() -> Self {
        Self {
            cell: Pattern::new(r"^[A-Za-z0-9_-]{0,24}[ \t]*[|│┃║][ \t]*"),
            leader: Pattern::new(
                r"^[A-Za-z0-9_-]{0,24}[ \t]*(?:\.{3,}|…+|·{3,}|_{4,}|-+>|→)[ \t]*:?[ \t]*",
            ),
            pair: Pattern::new(r#"^[A-Za-z0-9_-]{0,24}\\*["']\s*,\s*[bu]?(\\*["'])"#),
            earlier: Pattern::new(
                r#"^\\*["']\s*,\s*\\*["'](?i:name|key)\\*["']\s*:\s*\\*["'][A-Za-z0-9_.-]{0,80}$"#,
            ),
            attribute: Pattern::new(
                r#"\bvalue\s*=\s*\\*["']([^"'\\<>]{1,300})\\*["']\s+(?i:name|key|id)\s*=\s*\\*["']$"#,
            ),
            yaml: Pattern::new(
                r#"(?:^|[\s"-]|\\n)value:[ \t]+(?:\\*["'])?([^\s"'\\]{1,300})\\*["']?(?:(?:[ \t]*(?:\n|\\+n))+[ \t]*|([ \t]+))(?:name|key):[ \t]+\\*["']?$"#,
            ),
            tuple: Pattern::new(r#"^[A-Za-z0-9_]{0,24}\s*,\s*(?:<<)?(\\*["'])"#),
        }
    }

    #[cfg(test)]
    pub(super) fn patterns(&self) -> [&Pattern; 7] {
        [
            &self.cell,
            &self.leader,
            &self.pair,
            &self.earlier,
            &self.attribute,
            &self.yaml,
            &self.tuple,
        ]
    }

    /// Where the value is that stands beside a key, which begins and ends there.
    pub(super) fn value(
        &self,
        text: &str,
        key: Range<usize>,
    ) -> Result<Option<Range<usize>>, Unready> {
        let (_, name) = before_name(text, key.start, LONGEST);
        let mut end = text.len().min(key.end + LONGEST);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = &text[..end];
        let rest = &text[key.end..];
        if name.ends_with(['"', '\''])
            && let Some(second) = self.pair(text, name, key.end)?
        {
            return Ok(Some(second));
        }
        if name.ends_with('{')
            && let Some(quote) = self
                .tuple
                .ready()?
                .captures(rest)
                .and_then(|found| found.get(1))
        {
            let range = value::at(text, key.end + quote.start()).range;
            let behind = text[range.end..].trim_start_matches(['"', '\'', '\\']);
            return Ok(behind.starts_with(['}', '>']).then_some(range));
        }
        // Most keys end otherwise, and patterns cost more than this.
        let behind = rest
            .as_bytes()
            .iter()
            .find(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b' ' | b'\t')));
        if !matches!(behind, Some(b'|' | b'.' | b'_' | b'-' | 0x80..)) {
            return Ok(None);
        }
        let line = name.trim_end_matches([' ', '\t']);
        let is_cell = line.is_empty() || line.ends_with(['\n', '"']) || line.ends_with(DIVIDERS);
        if is_cell && let Some(cell) = self.cell.ready()?.find(rest) {
            let from = key.end + cell.end();
            let ends = |letter: char| letter.is_whitespace() || "\"\\".contains(letter);
            let length = text[from..]
                .find(|letter| ends(letter) || DIVIDERS.contains(&letter))
                .unwrap_or(text.len() - from);
            // A row goes on, unless it began with the key: `|token| matches!(…)` is none.
            let behind = text[from + length..].trim_start_matches([' ', '\t']);
            let is_row = !line.ends_with(DIVIDERS) || behind.starts_with(DIVIDERS);
            return Ok(is_row.then_some(from..from + length));
        }
        let leader = self.leader.ready()?.find(rest);
        Ok(leader.map(|leader| value::at(text, key.end + leader.end()).range))
    }

    /// `("password", "value")` or `["password", "value"]`, and no third.
    fn pair(&self, text: &str, before: &str, word: usize) -> Result<Option<Range<usize>>, Unready> {
        let before = before.trim_end_matches(['"', '\'', '\\']);
        let before = before.strip_suffix(['b', 'u']).unwrap_or(before);
        if !before.trim_end().ends_with(['(', '[']) {
            return Ok(None);
        }
        let found = self.pair.ready()?.captures(&text[word..]);
        let Some(quote) = found.and_then(|found| found.get(1)) else {
            return Ok(None);
        };
        let quote = word + quote.start();
        let range = value::at(text, quote).range;
        let behind = text[range.end..].trim_start_matches(['"', '\'', '\\']);
        let behind = behind.trim_start();
        let behind = behind.strip_prefix(',').unwrap_or(behind).trim_start();
        let is_second = behind.is_empty() || behind.starts_with([')', ']']);
        Ok(is_second.then_some(range))
    }

    /// `{"value":"…","name":"DB_PASSWORD"}`: the value before the name of its key.
    pub(super) fn earlier(&self, text: &str, at: usize) -> Result<Option<Range<usize>>, Unready> {
        let (from, name) = before_name(text, at, NEAR);
        if name.trim_end_matches(['"', '\'', '\\']).ends_with('=')
            && let Some(value) = self
                .attribute
                .ready()?
                .captures(name)
                .and_then(|found| found.get(1))
        {
            return Ok(Some(from + value.start()..from + value.end()));
        }
        // Cheap for all that stands elsewhere.
        let line = name
            .trim_end_matches(['"', '\'', '\\'])
            .trim_end_matches([' ', '\t']);
        if (line.ends_with("name:") || line.ends_with("key:"))
            && let Some(found) = self.yaml.ready()?.captures(name)
        {
            // In one line a sentence may say so, too.
            let value = found
                .get(1)
                .filter(|value| found.get(2).is_none() || value::is_strong(value.as_str(), 6));
            return Ok(value.map(|value| from + value.start()..from + value.end()));
        }
        let Some(range) = value_before(text, at) else {
            return Ok(None);
        };
        let is_earlier = self.earlier.ready()?.is_match(&text[range.end..at]);
        Ok(is_earlier.then_some(range))
    }
}

/// Where a field that is called a value stands before the field whose value begins at a place, and that is called a name.
fn value_before(text: &str, at: usize) -> Option<Range<usize>> {
    let (from, name) = before_name(text, at, NEAR);
    let key = name
        .strip_suffix(['"', '\''])?
        .trim_end_matches([' ', ':', '\\']);
    let key = key.strip_suffix(['"', '\''])?.trim_end_matches('\\');
    if !key.ends_with("name") && !key.ends_with("key") && !key.ends_with("Name") {
        return None;
    }
    let field = ["value", "Value"]
        .iter()
        .filter_map(|word| memmem::rfind(key.as_bytes(), word.as_bytes()))
        .max()?;
    let sign = field + "value".len();
    let rest = key[sign..].trim_start_matches(['\\', '"', '\'', ' ', ':']);
    // Up to the quote that the value stands behind.
    let begin = key.len() - rest.len();
    let quote = key[..begin].trim_end_matches(['"', '\'']);
    let quote = from + quote.trim_end_matches('\\').len();
    let range = value::at(&text[..at], quote).range;
    (range.start == from + begin).then_some(range)
}
