//! Finds where a JSON object ends without parsing it, and whether it is a list.
//!
//! It looks only at quotes, brackets and what stands before them. That is
//! enough to notice a record that was cut off in the middle of a line, which
//! would otherwise swallow the good records after it.

use super::foreign::WRAPPERS;

/// What the scanner came upon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The bytes end inside the object.
    More,
    /// The object ends before this offset.
    End(usize),
    /// The array of a `List`'s items starts before this offset.
    Items(usize),
    /// An array of objects that an answer or file wraps records in, under this
    /// key, starts before this offset.
    Wrapped(usize, &'static str),
    /// The array of a query answer's result starts before this offset.
    QueryResult(usize),
    /// It is no JSON, from this offset on.
    Bad(usize, &'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Key {
    Other,
    Items,
    Kind,
    Status,
    Data,
    ResultType,
    Result,
    /// One of [`WRAPPERS`].
    Wrapper(&'static str),
}

/// Elasticsearch wraps `hits` in `hits`.
const HITS: &str = "hits";

/// The deepest nesting looked into; `serde_json`'s own limit.
const MAX_DEPTH: u32 = 128;

/// The state after the bytes seen so far; resumable at any byte.
#[derive(Clone, Debug)]
pub(super) struct Scanner {
    at: usize,
    depth: u32,
    /// One bit a level, the innermost lowest: set for an object.
    objects: u128,
    /// The last byte outside strings that is no white space; `"` for a string.
    before: u8,
    in_string: bool,
    escaped: bool,
    string_start: usize,
    is_key: bool,
    key: Key,
    in_data: bool,
    /// In the object around a search answer's array of the same name.
    in_hits: bool,
    answers: bool,
    /// Envelope keys are no longer looked for.
    plain: bool,
    /// Wrappers are looked for: they stand around everything else.
    outermost: bool,
    /// A wrapper's array was opened; its first item tells whether it is one.
    opened: Option<&'static str>,
    kind: Option<(usize, usize)>,
    result_type: Option<(usize, usize)>,
}

impl Scanner {
    /// Starts at an object's opening brace; `outermost` where it stands in no list.
    pub(super) fn new(outermost: bool) -> Self {
        Self {
            at: 0,
            depth: 0,
            objects: 0,
            before: b':',
            in_string: false,
            escaped: false,
            string_start: 0,
            is_key: false,
            key: Key::Other,
            in_data: false,
            in_hits: false,
            answers: false,
            plain: false,
            outermost,
            opened: None,
            kind: None,
            result_type: None,
        }
    }

    /// Goes on after the first `n` bytes were given up; what is left is only
    /// skipped over, so envelope keys no longer matter.
    pub(super) fn rebase(&mut self, n: usize) {
        self.at = self.at.saturating_sub(n);
        self.plain = true;
        self.opened = None;
        self.is_key = false;
        self.kind = None;
        self.result_type = None;
    }

    /// Goes on after the array that [`Step::Items`] announced was closed.
    pub(super) fn close_array(&mut self) {
        self.at = 0;
        self.depth -= 1;
        self.objects >>= 1;
        self.before = b']';
        self.rebase(0);
    }

    /// The envelope's `kind`, where it came before the items.
    pub(super) fn kind<'a>(&self, object: &'a [u8]) -> Option<&'a str> {
        text(object, self.kind)
    }

    /// The answer's `resultType`, where it came before the result.
    pub(super) fn result_type<'a>(&self, object: &'a [u8]) -> Option<&'a str> {
        text(object, self.result_type)
    }

    /// Looks on. `object` starts at the opening brace (or where `rebase` said).
    pub(super) fn step(&mut self, object: &[u8]) -> Step {
        while self.at < object.len() {
            if self.in_string {
                match self.string(object) {
                    None => continue,
                    Some(step) => return step,
                }
            }
            let byte = object[self.at];
            if let Some(key) = self.opened
                && !byte.is_ascii_whitespace()
            {
                self.opened = None;
                if byte == b'{' {
                    return Step::Wrapped(self.at, key);
                }
            }
            self.at += 1;
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => continue,
                b'"' => {
                    self.in_string = true;
                    self.string_start = self.at;
                    self.is_key = !self.plain
                        && self.objects & 1 == 1
                        && (self.depth == 1 || (self.depth == 2 && (self.in_data || self.in_hits)))
                        && matches!(self.before, b'{' | b',');
                    self.before = b'"';
                    continue;
                }
                b'{' | b'[' => {
                    if let Some(step) = self.open(byte) {
                        return step;
                    }
                }
                b'}' | b']' => {
                    if let Some(step) = self.close(byte) {
                        return step;
                    }
                }
                b',' if self.depth <= 2 => self.key = Key::Other,
                _ => {}
            }
            self.before = byte;
        }
        Step::More
    }

    fn open(&mut self, byte: u8) -> Option<Step> {
        let in_object = self.objects & 1 == 1;
        let fits = if in_object || self.depth == 0 {
            self.before == b':'
        } else {
            matches!(self.before, b'[' | b',')
        };
        if !fits {
            return Some(Step::Bad(
                self.at - 1,
                "not JSON: a value where none can be",
            ));
        }
        if self.depth == MAX_DEPTH {
            return Some(Step::Bad(
                self.at - 1,
                "not usable: nested more than 128 levels deep",
            ));
        }
        self.depth += 1;
        self.objects = self.objects << 1 | u128::from(byte == b'{');
        if self.plain || self.depth > 3 {
            return None;
        }
        let key = std::mem::replace(&mut self.key, Key::Other);
        match (key, byte, self.depth) {
            (Key::Items, b'[', 2) => {
                self.before = byte;
                Some(Step::Items(self.at))
            }
            (Key::Wrapper(key), b'[', 2) if self.outermost && self.kind.is_none() => {
                self.opened = Some(key);
                None
            }
            (Key::Wrapper(HITS), b'{', 2) if self.outermost && self.kind.is_none() => {
                self.in_hits = true;
                None
            }
            (Key::Wrapper(HITS), b'[', 3) if self.in_hits => {
                self.opened = Some(HITS);
                None
            }
            (Key::Result, b'[', 3) if self.answers => {
                self.before = byte;
                Some(Step::QueryResult(self.at))
            }
            (Key::Data, b'{', 2) => {
                self.in_data = true;
                None
            }
            _ => None,
        }
    }

    fn close(&mut self, byte: u8) -> Option<Step> {
        if (self.objects & 1 == 1) != (byte == b'}') {
            return Some(Step::Bad(self.at - 1, "not JSON: brackets do not match"));
        }
        self.depth -= 1;
        self.objects >>= 1;
        if self.depth <= 1 {
            self.in_data = false;
            self.in_hits = false;
            self.key = Key::Other;
        }
        (self.depth == 0).then_some(Step::End(self.at))
    }

    /// Goes to the string's end; `None` to look on.
    fn string(&mut self, object: &[u8]) -> Option<Step> {
        if self.escaped {
            self.escaped = false;
            self.at += 1;
            return None;
        }
        match string_stop(&object[self.at..]) {
            None => {
                self.at = object.len();
                return Some(Step::More);
            }
            Some(n) => self.at += n + 1,
        }
        match object[self.at - 1] {
            b'\\' => {
                self.escaped = true;
                None
            }
            b'"' => {
                self.in_string = false;
                if self.is_key {
                    self.key = key(&object[self.string_start..self.at - 1]);
                    self.is_key = false;
                } else if self.key != Key::Other {
                    self.value_string();
                }
                None
            }
            _ => Some(Step::Bad(
                self.at - 1,
                "not JSON: the line ends inside a string",
            )),
        }
    }

    fn value_string(&mut self) {
        let span = (self.string_start, self.at - 1);
        match std::mem::replace(&mut self.key, Key::Other) {
            Key::Kind if self.depth == 1 => self.kind = Some(span),
            Key::ResultType if self.depth == 2 => {
                self.result_type = Some(span);
                self.answers = true;
            }
            // An object's status is an object, an answer's is a word.
            Key::Status if self.depth == 1 => self.answers = true,
            _ => {}
        }
    }
}

/// The first byte that matters inside a string. Most strings of an object are
/// shorter than what a vectorised search needs to get going.
#[inline]
fn string_stop(bytes: &[u8]) -> Option<usize> {
    const SHORT: usize = 16;
    let head = bytes.len().min(SHORT);
    for (n, byte) in bytes[..head].iter().enumerate() {
        if matches!(byte, b'"' | b'\\' | b'\n') {
            return Some(n);
        }
    }
    memchr::memchr3(b'"', b'\\', b'\n', &bytes[head..]).map(|n| n + head)
}

fn key(name: &[u8]) -> Key {
    match name {
        b"items" => Key::Items,
        b"kind" => Key::Kind,
        b"status" => Key::Status,
        b"data" => Key::Data,
        b"resultType" => Key::ResultType,
        b"result" => Key::Result,
        _ => WRAPPERS
            .iter()
            .find(|wrapper| wrapper.as_bytes() == name)
            .map_or(Key::Other, |wrapper| Key::Wrapper(wrapper)),
    }
}

fn text(object: &[u8], span: Option<(usize, usize)>) -> Option<&str> {
    let (start, end) = span?;
    std::str::from_utf8(object.get(start..end)?).ok()
}

#[cfg(test)]
mod tests;
