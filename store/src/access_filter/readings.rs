//! The ways in which a text can be read: as it stands, and with what programs write in
//! place of letters decoded. A name that is percent-encoded, coloured or behind a written
//! `\t` is still the name.

use std::ops::Range;

/// How often a text is decoded: an encoded text may have been encoded again.
const DEPTH: usize = 5;

/// The longest of HTML's words that are decoded, with its `;`.
const ENTITY: usize = 8;

/// Letters that nobody sees; a name goes on behind them.
const UNSEEN: [char; 8] = [
    '\u{ad}', '\u{200b}', '\u{200c}', '\u{200d}', '\u{2060}', '\u{180e}', '\u{feff}', '\u{34f}',
];

/// Hyphens that are not the one of names.
const HYPHENS: [char; 7] = [
    '\u{2010}', '\u{2011}', '\u{2012}', '\u{2013}', '\u{2212}', '\u{fe63}', '\u{ff0d}',
];

const ESCAPE: char = '\u{1b}';

/// A text in lower case, and where it came from.
pub(super) struct Reading {
    pub(super) lower: String,
    /// Of each byte, where in the text it came from; as it stands where there is none.
    from: Option<Vec<Range<usize>>>,
}

impl Reading {
    /// Where in the text something stands that was found here.
    pub(super) fn place(&self, found: &Range<usize>) -> Range<usize> {
        let Some(from) = &self.from else {
            return found.clone();
        };
        let start = from.get(found.start).map_or(0, |place| place.start);
        let last = found.end.checked_sub(1).and_then(|last| from.get(last));
        start..last.map_or(start, |place| place.end.max(start))
    }
}

/// A letter and where it came from.
type Letter = (char, Range<usize>);

/// All ways to read a text, as it stands first.
pub(super) fn readings(text: &str) -> Vec<Reading> {
    let mut readings = vec![Reading {
        lower: text.to_ascii_lowercase(),
        from: None,
    }];
    let is_plain = |byte: u8| byte.is_ascii() && !matches!(byte, b'%' | b'\\' | b'&' | b'[' | 0x1b);
    if text.bytes().all(is_plain) {
        return readings;
    }
    let (letters, is_coloured) = decoded(text, Some(' '));
    readings.extend(letters.map(reading));
    // A colour within a name is no end of it.
    if is_coloured {
        readings.extend(decoded(text, None).0.map(reading));
    }
    readings
}

fn reading(letters: Vec<Letter>) -> Reading {
    let mut lower = String::with_capacity(letters.len());
    let mut from = Vec::with_capacity(letters.len());
    for (letter, place) in letters {
        lower.push(letter.to_ascii_lowercase());
        from.resize(lower.len(), place);
    }
    Reading {
        lower,
        from: Some(from),
    }
}

/// A text decoded as far as it goes, if that changes it, with something in place of each
/// colour; and whether there was one.
fn decoded(text: &str, colour: Option<char>) -> (Option<Vec<Letter>>, bool) {
    let ends = text.char_indices();
    let mut letters: Vec<Letter> = ends
        .map(|(at, letter)| (letter, at..at + letter.len_utf8()))
        .collect();
    let (mut is_other, mut is_coloured) = (false, false);
    for _again in 0..DEPTH {
        let mut pass = Pass {
            letters: &letters,
            colour,
            read: Vec::with_capacity(letters.len()),
            is_other: false,
            is_coloured: false,
        };
        pass.run();
        let (read, was_other) = (pass.read, pass.is_other);
        is_coloured |= pass.is_coloured;
        letters = read;
        if !was_other {
            break;
        }
        is_other = true;
    }
    (is_other.then_some(letters), is_coloured)
}

/// One time through a text.
struct Pass<'a> {
    letters: &'a [Letter],
    colour: Option<char>,
    read: Vec<Letter>,
    is_other: bool,
    is_coloured: bool,
}

impl Pass<'_> {
    fn at(&self, at: usize) -> Option<char> {
        self.letters.get(at).map(|(letter, _)| *letter)
    }

    fn run(&mut self) {
        let mut at = 0;
        while let Some((letter, place)) = self.letters.get(at) {
            let found = match *letter {
                '%' => self.number(at + 1, 2, 16).map(|byte| (Some(byte), 3)),
                '\\' => self.escape(at),
                '&' => self.entity(at),
                '[' | '^' | ESCAPE | '␛' => self.sequence(at),
                unseen if UNSEEN.contains(&unseen) => Some((None, 1)),
                hyphen if HYPHENS.contains(&hyphen) => Some((Some('-'), 1)),
                wide @ '\u{ff01}'..='\u{ff5e}' => {
                    let narrow = u32::from(wide).checked_sub(0xfee0);
                    narrow.and_then(char::from_u32).map(|one| (Some(one), 1))
                }
                _ => None,
            };
            let Some((by, len)) = found else {
                self.read.push((*letter, place.clone()));
                at += 1;
                continue;
            };
            self.is_other = true;
            let end = self
                .letters
                .get(at + len - 1)
                .map_or(place.end, |one| one.1.end);
            self.read.extend(by.map(|by| (by, place.start..end)));
            at += len;
        }
    }

    /// A letter by its number in so many digits.
    fn number(&self, from: usize, digits: usize, radix: u32) -> Option<char> {
        let mut number = 0_u32;
        for at in from..from + digits {
            number = number * radix + self.at(at)?.to_digit(radix)?;
        }
        // A byte of a letter that has several ends a word, and so does half of a pair.
        let is_letter = number < 0x80 || digits > 3;
        Some(char::from_u32(number).filter(|_| is_letter).unwrap_or(' '))
    }

    /// `\n`, `\u002d`, `\x2f`, `\033`, `\"`, however many backslashes there are.
    fn escape(&self, from: usize) -> Option<(Option<char>, usize)> {
        let mut at = from;
        while self.at(at) == Some('\\') {
            at += 1;
        }
        let (by, len) = match self.at(at)? {
            'u' => (self.number(at + 1, 4, 16)?, 5),
            'x' => (self.number(at + 1, 2, 16)?, 3),
            '0' if self.at(at + 1) == Some('3') => (self.number(at, 3, 8)?, 3),
            'e' if self.at(at + 1) == Some('[') => (ESCAPE, 1),
            'n' | 'r' | 'f' | 'v' => ('\n', 1),
            't' | 'a' | 'b' | '0' => ('\t', 1),
            sign @ ('"' | '\'' | '/') => (sign, 1),
            _ => return None,
        };
        Some((Some(by), at + len - from))
    }

    /// `&quot;`, `&#47;`, `&#x2f;`
    fn entity(&self, from: usize) -> Option<(Option<char>, usize)> {
        let mut name = String::new();
        for at in from + 1..from + 1 + ENTITY {
            match self.at(at)? {
                ';' => {
                    let by = match name.as_str() {
                        "quot" => '"',
                        "amp" => '&',
                        "lt" => '<',
                        "gt" => '>',
                        "apos" => '\'',
                        "nbsp" => ' ',
                        number => {
                            let number = number.strip_prefix('#')?;
                            let hex = number.strip_prefix(['x', 'X']);
                            let code = match hex {
                                Some(hex) => u32::from_str_radix(hex, 16),
                                None => number.parse(),
                            };
                            char::from_u32(code.ok()?)?
                        }
                    };
                    return Some((Some(by), at + 1 - from));
                }
                letter => name.push(letter),
            }
        }
        None
    }

    /// A colour or another sequence for terminals, also one that lost its first letter.
    fn sequence(&mut self, from: usize) -> Option<(Option<char>, usize)> {
        let begin = match (self.at(from)?, self.at(from + 1)) {
            (ESCAPE | '␛', _) => from + 1,
            ('^', Some('[')) if self.at(from + 2) == Some('[') => from + 2,
            ('[', Some('0'..='9')) => from,
            _ => return None,
        };
        let mut end = begin + 1;
        match self.at(begin) {
            Some('[') => {
                while matches!(self.at(end), Some('\u{20}'..='\u{3f}')) {
                    end += 1;
                }
                // Brackets about a number are no colour, and nobody writes others by halves.
                let last = self.at(end);
                if begin == from && last != Some('m') || !matches!(last, Some('@'..='~')) {
                    return None;
                }
                end += 1;
            }
            Some(']') => {
                while !matches!(self.at(end), None | Some('\u{7}' | ESCAPE)) {
                    end += 1;
                }
                end += usize::from(self.at(end) == Some('\u{7}'));
            }
            _ => end = begin,
        }
        self.is_coloured = true;
        Some((self.colour, end.max(from + 1) - from))
    }
}

#[cfg(test)]
mod tests {
    use super::readings;

    #[test]
    fn a_text_is_read_as_it_stands_and_decoded() {
        for (text, read) in [
            ("a%2Fb", "a/b"),
            ("a%252fB", "a/b"),
            ("a%25252Fb 100%", "a/b 100%"),
            ("a%C3%BCb", "a  b"),
            (r"a\tb\\nc", "a\tb\nc"),
            (r"a\u002db\x2fc\u00fcd", "a-b/cüd"),
            (r"a\u200bb\ud83dc", "ab c"),
            (r#"{\"a\":\"b\"}"#, r#"{"a":"b"}"#),
            ("&quot;a&quot;&#47;&#x2f;&amp;lt;&", "\"a\"//<&"),
            ("\x1b[1;31mred\x1b[0m", " red "),
            (r"\u001b[1mred\x1b[0m\033[2K\e[m.", "  red    ."),
            ("[1mred[0m ^[[3mx ␛[my", " red   x  y"),
            ("\x1b]0;title\x07x\x1b", " x "),
            ("a\u{200b}b\u{2011}c\u{ff41}", "ab-ca"),
        ] {
            let all = readings(text);
            assert_eq!(all[0].lower, text.to_ascii_lowercase());
            assert_eq!(all[1].lower, read, "{text}");
            let whole = all[1].place(&(0..all[1].lower.len()));
            assert!(text.is_char_boundary(whole.start) && text.is_char_boundary(whole.end));
        }
        assert_eq!(readings("qu\x1b[1mok\x1b[0mka")[2].lower, "quokka");
        for text in [
            "",
            "plain",
            "50% of [3] & more",
            r"C:\Windows [1] \ %zz &so; ü",
        ] {
            assert_eq!(readings(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn what_was_found_is_where_it_stands() {
        let text = r"é in%2Fquokka%2Dlab\t\x41";
        let all = readings(text);
        let at = all[1].lower.find("quokka-lab").unwrap();
        let place = all[1].place(&(at..at + 10));
        assert_eq!(&text[place], "quokka%2Dlab");
    }
}
