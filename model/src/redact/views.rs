//! The same text as somebody else reads it: a server decodes what a URL encodes, a
//! shell puts the words of a list side by side. What is a secret there is one here.

use std::ops::Range;

/// Encoded text is encoded again where one URL stands in another.
const LAYERS: usize = 3;
/// A view takes some thirty times the memory of what it shows: no more is read in one.
const LONGEST: usize = 256 << 10;

/// Words that begin what tells of a secret only with the word after them.
const BEGINNINGS: &[&str] = &[
    "7z",
    "7za",
    "7zr",
    "account",
    "backup",
    "basic",
    "bearer",
    "civo",
    "echo",
    "encryption",
    "http",
    "https",
    "identified",
    "license",
    "login",
    "master",
    "mongo",
    "mot",
    "net",
    "recovery",
    "shared",
    "signing",
    "sqlplus",
    "ssws",
    "storage",
    "twine",
    "weka",
    "zip",
];

/// Where such a word ends in a quote, a list is read again.
pub(super) fn hints() -> impl Iterator<Item = String> {
    let words = BEGINNINGS.iter();
    words.flat_map(|word| ["\"", "'", "\\"].map(|quote| format!("{word}{quote}")))
}

/// In which parts of a text a hint stands: a list without any is not read again.
pub(super) struct Hints {
    /// Bytes of the text for each bit.
    step: usize,
    bits: [u64; 4],
}

impl Hints {
    pub(super) fn of(text: &str) -> Self {
        Self {
            step: text.len() / 256 + 1,
            bits: [0; 4],
        }
    }

    pub(super) fn add(&mut self, at: usize) {
        let part = at / self.step;
        if let Some(bits) = self.bits.get_mut(part / 64) {
            *bits |= 1 << (part % 64);
        }
    }

    fn is_empty(&self) -> bool {
        self.bits == [0; 4]
    }

    /// Whether a hint may stand there.
    fn any(&self, range: Range<usize>) -> bool {
        (range.start / self.step..=range.end / self.step).any(|part| {
            let bits = self.bits.get(part / 64).copied().unwrap_or_default();
            bits & 1 << (part % 64) != 0
        })
    }
}

/// A text as it is read, and where in the record each byte of it comes from.
pub(super) struct TextView {
    pub(super) text: String,
    places: Vec<SourceOffset>,
}

/// Where a byte of a view stands in the record; `None` between two words of a list.
pub(super) type SourceOffset = Option<(usize, usize)>;

impl TextView {
    pub(super) fn new() -> Self {
        Self {
            text: String::new(),
            places: Vec::new(),
        }
    }

    /// A text without what stands between its pieces.
    pub(super) fn without(text: &str, seams: &[Range<usize>]) -> Self {
        let mut view = Self::new();
        let mut from = 0;
        for seam in seams.iter().chain([&(text.len()..text.len())]) {
            if seam.start >= from && text.get(from..seam.start).is_some() {
                view.copy(text, from..seam.start);
                from = seam.end;
            }
        }
        view
    }

    pub(super) fn push(&mut self, letter: char, place: SourceOffset) {
        self.text.push(letter);
        self.places.resize(self.text.len(), place);
    }

    /// Takes a part of the record as it stands.
    pub(super) fn copy(&mut self, record: &str, part: Range<usize>) {
        self.text.push_str(&record[part.clone()]);
        self.places.extend(part.map(|at| Some((at, at + 1))));
    }

    /// The parts of the record that a part of the view stands for. Words of a list are
    /// parts of their own, so that it stays a list.
    pub(super) fn in_record(&self, part: Range<usize>) -> Vec<Range<usize>> {
        let mut parts: Vec<Range<usize>> = Vec::new();
        let mut is_near = false;
        for place in self.places.get(part).unwrap_or_default() {
            let Some((from, to)) = *place else {
                is_near = false;
                continue;
            };
            // Where pieces were put together a part ends as well.
            match parts.last_mut().filter(|last| is_near && from <= last.end) {
                Some(last) => last.end = last.end.max(to),
                None => parts.push(from..to),
            }
            is_near = true;
        }
        parts
    }
}

/// Shows every other reading of a text.
pub(super) fn of(text: &str, hints: &Hints, see: &mut dyn FnMut(&TextView)) {
    // Up to where each kind of reading has been shown.
    let (mut decoded, mut listed) = (0, 0);
    let bytes = text.as_bytes();
    // Most texts have no hint, and then no list of interest. One search for both signs
    // else: it is most of the cost.
    let opens = if hints.is_empty() { b'%' } else { b'[' };
    // In a query a hint of two words has a plus between them.
    let mut queried = 0;
    if is_query(bytes) {
        queried = query(text, 0, see);
    }
    for at in memchr::memchr_iter(b'?', bytes) {
        if at >= queried {
            queried = query(text, at, see);
        }
    }
    if !hints.is_empty() || writes_letters(bytes) {
        escaped(text, see);
    }
    if !hints.is_empty() {
        super::words::numbered(text, see);
        if let Some(view) = super::dressed::undressed(text) {
            see(&view);
        }
    }
    for at in memchr::memchr2_iter(b'%', opens, bytes) {
        // A list begins with a quote, most brackets do not.
        if bytes[at] == b'[' {
            let is_list = matches!(
                bytes.get(at + 1),
                Some(b'"' | b'\'' | b'\\' | b' ' | b'\n' | b'\r' | b'\t')
            );
            if is_list && at >= listed {
                let (view, end) = list(text, at, hints);
                if let Some(view) = view {
                    see(&view);
                }
                listed = end;
            }
        } else if at >= decoded && is_sign(text.as_bytes(), at) {
            decoded = encoded(text, decoded..at, see);
        }
    }
}

/// `labelSelector=a+b`: a query without its address, in which a plus may be a space.
fn is_query(bytes: &[u8]) -> bool {
    const LONGEST: usize = 64;
    let name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.-".contains(byte);
    let begin = &bytes[..bytes.len().min(LONGEST)];
    let length = begin.iter().take_while(|byte| name(byte)).count();
    length > 0 && begin.get(length) == Some(&b'=') && memchr::memchr(b'+', bytes).is_some()
}

/// Whether a letter is written in digits that needs none: the words that tell of a secret
/// may be written so.
fn writes_letters(bytes: &[u8]) -> bool {
    memchr::memmem::find_iter(bytes, b"\\u00").any(|at| {
        let digits = bytes.get(at + 4..at + 6).unwrap_or_default();
        let is_letter = |high: u8| (b'4'..=b'7').contains(&high);
        digits.first().copied().is_some_and(is_letter)
    })
}

/// `%3D`: a sign that is written in hexadecimal digits.
fn is_sign(bytes: &[u8], at: usize) -> bool {
    matches!(bytes.get(at..at + 3), Some([b'%', high, low])
        if high.is_ascii_hexdigit() && low.is_ascii_hexdigit())
}

/// A sign of three letters ends right before a place.
pub(super) fn follows_sign(bytes: &[u8], at: usize) -> bool {
    at >= 3 && is_sign(bytes, at - 3)
}

/// Decodes what is percent-encoded around a sign: a run without spaces and quotes, so
/// that what is decoded cannot reach out of the text that it stands in. An `&` that is
/// not encoded itself parts one field of a query from the next. Gives the run's end.
fn encoded(text: &str, before: Range<usize>, see: &mut dyn FnMut(&TextView)) -> usize {
    let bytes = text.as_bytes();
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'`<>&\\".contains(byte);
    let start = bytes[before.clone()]
        .iter()
        .rposition(ends)
        .map_or(before.start, |found| before.start + found + 1);
    let end = bytes[before.end..]
        .iter()
        .position(ends)
        .map_or(bytes.len(), |after| before.end + after);
    let start = boundary(text, start.max(before.end.saturating_sub(LONGEST)));
    let end = boundary(text, end.min(before.end + LONGEST));
    let mut view = TextView::new();
    view.copy(text, start..end);
    let has_plus = bytes[start..end].contains(&b'+');
    for _ in 0..LAYERS {
        let Some(next) = decoded(&view, false) else {
            break;
        };
        see(&next);
        // In a query a plus is a space, unless it is a plus.
        if has_plus && let Some(spaced) = decoded(&view, true) {
            see(&spaced);
        }
        view = next;
    }
    end
}

/// How much of a query is read behind the first quote in it.
const QUOTED: usize = 4 << 10;

/// A query in which a plus stands for a space and nothing else is encoded. Some write
/// quotes as they are in it; what reads it again goes on behind them. Gives the end.
fn query(text: &str, at: usize, see: &mut dyn FnMut(&TextView)) -> usize {
    let bytes = text.as_bytes();
    let ends = |byte: &u8| byte.is_ascii_whitespace();
    let quotes = |byte: &u8| ends(byte) || b"\"'`<>\\".contains(byte);
    let most = bytes.len().min(at + LONGEST);
    let first = bytes[at..most].iter().position(quotes);
    let first = first.map_or(most, |run| at + run);
    let most = bytes.len().min(first + QUOTED);
    let end = bytes[first..most].iter().position(ends);
    let end = boundary(text, end.map_or(most, |run| first + run));
    let query = &bytes[at..end];
    let first = &bytes[at..first];
    if let Some((plain, list)) = super::words::parameters(text, at..end) {
        see(&plain);
        see(&list);
    }
    if !query.contains(&b'+') || !first.contains(&b'=') || first.contains(&b'%') {
        return end;
    }
    // In base64 a plus may be one that was not encoded: between letters it stays, once.
    for is_base64 in [false, true] {
        let mut view = TextView::new();
        for (offset, letter) in text[at..end].char_indices() {
            let from = at + offset;
            let near = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
            let is_letter = is_base64 && near(from.wrapping_sub(1)) && near(from + 1);
            let place = Some((from, from + letter.len_utf8()));
            view.push(
                if letter == '+' && !is_letter {
                    ' '
                } else {
                    letter
                },
                place,
            );
        }
        see(&view);
    }
    end
}

/// The next place at which a character begins.
fn boundary(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// One layer of encoding less; `None` where there is none.
fn decoded(view: &TextView, plus_is_space: bool) -> Option<TextView> {
    let bytes = view.text.as_bytes();
    let mut next = TextView::new();
    let mut letters = view.text.char_indices();
    let mut any = false;
    while let Some((at, letter)) = letters.next() {
        let place = view.places.get(at).copied().flatten();
        if let Some((decoded, width)) = sign(bytes, at) {
            let last = view.places.get(at + width - 1).copied().flatten();
            next.push(decoded, place.zip(last).map(|(from, to)| (from.0, to.1)));
            any = true;
            for _ in 1..width {
                letters.next();
            }
        } else if letter == '+' && plus_is_space {
            next.push(' ', place);
        } else {
            let last = view.places.get(at + letter.len_utf8() - 1);
            let last = last.copied().flatten();
            next.push(letter, place.zip(last).map(|(from, to)| (from.0, to.1)));
        }
    }
    any.then_some(next)
}

/// The letter that is encoded at a place, and in how many bytes.
pub(super) fn sign(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let mut letters = [0; 4];
    for count in 1..=letters.len() {
        let from = at + (count - 1) * 3;
        if !is_sign(bytes, from) {
            return None;
        }
        let digit = |at: usize| char::from(bytes[at]).to_digit(16);
        let value = digit(from + 1)? * 16 + digit(from + 2)?;
        letters[count - 1] = u8::try_from(value).ok()?;
        if let Ok(text) = std::str::from_utf8(&letters[..count]) {
            return Some((text.chars().next()?, count * 3));
        }
    }
    None
}

/// How far around a letter that is written in digits a text is read again.
const NEAR: usize = 1 << 10;

/// Go writes `&`, `<` and `>` in JSON as `\u0026` and so on, Python every letter that
/// is not ASCII: a secret goes on behind it.
fn escaped(text: &str, see: &mut dyn FnMut(&TextView)) {
    let bytes = text.as_bytes();
    let mut seen = 0;
    for at in memchr::memmem::find_iter(bytes, b"\\u") {
        if at < seen || json_letter(bytes, at).is_none() {
            continue;
        }
        let mut next = boundary(text, at.saturating_sub(NEAR));
        let end = boundary(text, (at + NEAR).min(bytes.len()));
        let mut view = TextView::new();
        while next < end {
            if let Some((letter, width)) = json_letter(bytes, next) {
                view.push(letter, Some((next, next + width)));
                next += width;
                continue;
            }
            let plain = memchr::memchr(b'\\', &bytes[next + 1..end.max(next + 1)]);
            let to = plain.map_or(end, |plain| next + 1 + plain);
            view.copy(text, next..to);
            next = to;
        }
        see(&view);
        seen = at + NEAR / 2;
    }
}

/// The letter that JSON, or JSON in JSON, has at a place in digits, and in how many
/// bytes. Quotes and what ends a line end a value as well, and stay what they are.
fn json_letter(bytes: &[u8], at: usize) -> Option<(char, usize)> {
    let rest = bytes.get(at..)?;
    let slashes = rest.iter().take_while(|byte| **byte == b'\\').count();
    let (b'u', digits) = (*rest.get(slashes)?, rest.get(slashes + 1..slashes + 5)?) else {
        return None;
    };
    if slashes == 0 {
        return None;
    }
    let digits = std::str::from_utf8(digits).ok()?;
    if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    let code = u32::from_str_radix(digits, 16).ok()?;
    // Half of a letter beyond the first 65,536.
    let letter = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
    let ends = letter.is_control() || letter.is_whitespace() || "\"'`\\".contains(letter);
    (!ends).then_some((letter, slashes + 5))
}

/// `["Cookie:","a=b"]`: the words of a list of at least two texts, side by side; and
/// the end of the list, or where there is none the place it was looked for.
fn list(text: &str, at: usize, hints: &Hints) -> (Option<TextView>, usize) {
    let Some((first, mut end)) = word(text, at + 1) else {
        return (None, at);
    };
    let quote = quote_of(text, &first);
    let mut words = vec![first];
    while end - at < LONGEST
        && let Some((next, next_end)) = following(text, end, quote)
    {
        words.push(next);
        end = next_end;
    }
    if words.len() < 2 || !hints.any(at..end) {
        return (None, end);
    }
    let mut view = TextView::new();
    for word in words {
        if !view.text.is_empty() {
            view.push(' ', None);
        }
        view.copy(
            text,
            word.start..boundary(text, word.end.min(word.start + LONGEST)),
        );
    }
    (Some(view), end)
}

/// The quote that a word stands in, with its backslashes.
fn quote_of<'t>(text: &'t str, word: &Range<usize>) -> &'t str {
    let before = &text.as_bytes()[..word.start];
    let slashes = before[..before.len().saturating_sub(1)]
        .iter()
        .rev()
        .take_while(|byte| **byte == b'\\')
        .count();
    &text[word.start.saturating_sub(1 + slashes)..word.start]
}

/// The word in quotes that begins at a place behind spaces, and where its quote ends.
fn word(text: &str, at: usize) -> Option<(Range<usize>, usize)> {
    let rest = &text.as_bytes()[at..];
    let at = at + rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let (slashes, _, from) = super::value::quote(text, at)?;
    let to = super::value::at(text, at).range.end;
    // A text may be cut off before the quote.
    let end = (to + slashes + 1).min(text.len());
    text.is_char_boundary(end).then_some((from..to, end))
}

/// The next word of a list, in the same quotes; Python writes a word that has a `'` in
/// the other ones.
fn following(text: &str, end: usize, quote: &str) -> Option<(Range<usize>, usize)> {
    let rest = text.get(end..)?;
    let next = rest.trim_ascii_start().strip_prefix(',')?;
    let found = word(text, text.len() - next.len())?;
    let own = quote_of(text, &found.0);
    (own == quote || own.len() == 1 && quote.len() == 1).then_some(found)
}
