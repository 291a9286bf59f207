//! Secrets over several lines, where each line is a record of its own.
//!
//! What is promised: between the lines that begin and end a private key every line that
//! can be a part of it goes, also the last one, which is short and looks like nothing;
//! so do the lines of base64 behind one that was long enough to be known by itself,
//! where the beginning is not there; the password below `machine` and `login` of a
//! `.netrc`; the value of `password: |` on the lines below, that of `- name: DB_PASSWORD`
//! on the next one; and the values of a Secret of Kubernetes (`lines/yaml.rs`).
//! What others say between the lines of a key (several workers write to one stream)
//! stays, unless it is one word of nothing but letters and digits.

mod tail;
mod yaml;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use memchr::memmem::{self, Finder, FinderRev};

use super::{MASK, redact};
use tail::Tail;
use yaml::SecretLines;

/// A key of 16,384 bits has some 200 lines; more are not taken for one.
const LONGEST: usize = 400;
/// So many lines that are none of the key, and it is over though its end did not come.
const STRANGERS: usize = 50;
/// A shorter line behind a line of base64 may be a word.
const SHORT: usize = 20;
/// A line of base64 that begins a key's rest.
const LONG: usize = 60;
/// The lines of a block of YAML.
const BLOCK: usize = 50;

static BEGIN: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("PRIVATE KEY"));
static MACHINE: LazyLock<FinderRev<'static>> = LazyLock::new(|| FinderRev::new("machine "));
static PUTTY: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("Private-Lines:"));

/// What the lines of a stream so far say about the next one.
#[derive(Debug, Default)]
pub struct Lines {
    open: Option<Open>,
}

#[derive(Debug)]
enum Open {
    /// Between the lines that begin and end a key.
    Key { lines: usize, strangers: usize },
    /// Behind a line that looks like one of a key.
    Rest { strangers: usize },
    /// Below the `machine NAME` of a `.netrc`, so many lines; one that tells the account has
    /// to come where that may have been a sentence.
    Machine { lines: usize, has_login: bool },
    /// Below `password: |`, whose key is so far in.
    Block { indent: usize, lines: usize },
    /// Below the name of a value, and comments below it.
    Name(String),
    /// Behind what a value should follow.
    Tail(Tail),
    /// In a Secret of Kubernetes.
    Secret(SecretLines),
}

impl Lines {
    /// The part of a line that is a secret because of the lines before it. It has to be
    /// asked for every line of a stream, in order.
    pub fn hidden(&mut self, text: &str) -> Option<Range<usize>> {
        let text = text.trim_end();
        // A line of a key may stand in quotes, or in a column of a table.
        let bare = unwrapped(text);
        let hidden = match &mut self.open {
            None => None,
            Some(Open::Key { lines, strangers }) => {
                if ends_key(bare) {
                    self.open = None;
                    return None;
                }
                let hidden = of_key(bare);
                *lines += 1;
                *strangers = if hidden.is_some() { 0 } else { *strangers + 1 };
                if *lines > LONGEST || *strangers > STRANGERS {
                    self.open = None;
                }
                hidden
            }
            Some(Open::Rest { strangers }) => {
                let hidden = of_key(text).filter(|part| part.len() >= SHORT);
                *strangers += usize::from(hidden.is_none());
                if *strangers > 1 {
                    self.open = None;
                }
                hidden
            }
            Some(Open::Machine { lines, has_login }) => {
                let hidden = of_machine(text).filter(|_| *has_login);
                *lines += 1;
                *has_login |= first(text) == "login";
                // Between them stand the name and the account.
                let goes_on = ["login", "account", "port"].contains(&first(text));
                if hidden.is_some() || !goes_on || *lines > 4 {
                    self.open = None;
                }
                hidden
            }
            Some(Open::Block { indent, lines }) => {
                let hidden = yaml::of_block(text, *indent, *lines);
                *lines += 1;
                if hidden.is_none() || *lines > BLOCK {
                    self.open = None;
                }
                hidden
            }
            Some(Open::Name(name)) => {
                let hidden = yaml::of_name(text, name);
                let says_nothing = text.is_empty() || text.trim_start().starts_with('#');
                if let Some(indent) = yaml::value_block(text) {
                    self.open = Some(Open::Block { indent, lines: 0 });
                    return None;
                }
                if !says_nothing {
                    self.open = None;
                }
                hidden
            }
            Some(Open::Tail(tail)) => {
                let (hidden, goes_on) = tail.hidden(text);
                if goes_on {
                    return hidden;
                }
                self.open = None;
                hidden
            }
            Some(Open::Secret(secret)) => {
                let (hidden, goes_on) = secret.hidden(text);
                if !goes_on {
                    self.open = None;
                }
                hidden
            }
        };
        if let Some(is_within) = is_machine(text) {
            self.open = Some(Open::Machine {
                lines: 0,
                has_login: !is_within || text.contains(" login "),
            });
        } else if let Some(next) = opened(text)
            .or_else(|| (bare != text).then(|| opened(bare)).flatten())
            .or_else(|| Tail::opened(text).map(Open::Tail))
        {
            // What stands in a key, or in a Secret, begins little else.
            let is_within = match (&self.open, &next) {
                (Some(Open::Key { .. }), Open::Key { .. }) => false,
                (Some(Open::Key { .. }), _) => true,
                (Some(Open::Secret(_)), Open::Name(_) | Open::Rest { .. } | Open::Tail(_)) => true,
                (Some(Open::Secret(own)), Open::Secret(next)) => {
                    !own.ends_before(next) && !text.trim_start().starts_with("- ")
                }
                _ => false,
            };
            if !is_within {
                self.open = Some(next);
            }
        }
        hidden
    }
}

/// A record of one line without its hidden part: the message, and the record that the
/// message stood in.
pub fn without(message: &str, raw: &str, hidden: Range<usize>) -> (String, String) {
    let secret = message.get(hidden.clone()).unwrap_or(message);
    let mut clean = message.to_owned();
    if message.get(hidden.clone()).is_some() {
        clean.replace_range(hidden, MASK);
    } else {
        MASK.clone_into(&mut clean);
    }
    let raw = if memmem::find(raw.as_bytes(), secret.as_bytes()).is_some() {
        Cow::Owned(raw.replace(secret, MASK))
    } else {
        // It was written otherwise there.
        Cow::Borrowed(MASK)
    };
    (redact(&clean).into_owned(), redact(&raw).into_owned())
}

/// The raw text of a record of several lines, of which the message was redacted: there each line has a prefix of its own, so
/// that a key at the end of one and its value on the next are not seen beside each other. What is gone from the message
/// goes from the raw text, too.
#[must_use]
pub fn hidden_in_raw(message: &str, clean: &str, raw: String) -> String {
    /// What is shorter is a word of others, too.
    const LEAST: usize = 5;
    if message == clean {
        return raw;
    }
    let (before, after): (Vec<&str>, Vec<&str>) =
        (message.lines().collect(), clean.lines().collect());
    // A secret of several lines leaves fewer of them.
    let pairs: Vec<(&str, &str)> = if before.len() == after.len() {
        before.into_iter().zip(after).collect()
    } else {
        vec![(message, clean)]
    };
    let mut raw = raw;
    for (before, after) in pairs.into_iter().filter(|(before, after)| before != after) {
        for secret in gone(before, after).lines().map(str::trim) {
            if secret.len() >= LEAST && secret != MASK {
                raw = raw.replace(secret, MASK);
            }
        }
    }
    raw
}

/// What a text had between what it and another begin and end with.
fn gone<'t>(before: &'t str, after: &str) -> &'t str {
    let same = |(one, other): &(char, char)| one == other;
    let length = |(one, _): (char, char)| one.len_utf8();
    let begin = before.chars().zip(after.chars());
    let begin: usize = begin.take_while(same).map(length).sum();
    let (rest, other) = (&before[begin..], &after[begin..]);
    let end = rest.chars().rev().zip(other.chars().rev());
    let end: usize = end.take_while(same).map(length).sum();
    &rest[..rest.len() - end]
}

/// What a line opens for those below it.
fn opened(text: &str) -> Option<Open> {
    let bytes = text.as_bytes();
    match bytes.last()? {
        b'-' => {
            let begins = BEGIN.find(bytes).is_some()
                && memmem::rfind(bytes, b"- BEGIN ")
                    .or_else(|| memmem::rfind(bytes, b"-BEGIN "))
                    .is_some_and(|at| memmem::find(&bytes[at..], b"END ").is_none());
            begins.then_some(KEY).or_else(|| block(text))
        }
        b'|' | b'>' | b'+' => block(text),
        b'0'..=b'9' if PUTTY.find(bytes).is_some() => Some(KEY),
        last if bytes.len() >= LONG && (is_letter(*last) || *last == b'=') => {
            let line = &text[of_key(text).filter(|part| part.len() >= LONG)?];
            // What stands before it may tell that it is none.
            let is_masked = !redact(text).ends_with(line);
            is_masked.then_some(Open::Rest { strangers: 0 })
        }
        b'"' | b'\'' | b',' | b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' => {
            let field = yaml::last_field(text)?;
            match SecretLines::opened(field) {
                Some(secret) => Some(Open::Secret(secret)),
                None => Some(Open::Name(yaml::named(field)?.to_owned())),
            }
        }
        _ => None,
    }
}

fn block(text: &str) -> Option<Open> {
    let indent = yaml::opens_block(text)?;
    Some(Open::Block { indent, lines: 0 })
}

const KEY: Open = Open::Key {
    lines: 0,
    strangers: 0,
};

/// A line without the end of the quotes or of the column that it stands in.
fn unwrapped(text: &str) -> &str {
    let text = text.trim_end_matches(['"', '\'', ',', '|', ' ']);
    text.strip_suffix("\\n").unwrap_or(text)
}

fn ends_key(text: &str) -> bool {
    let bytes = text.as_bytes();
    memmem::find(bytes, b"-END ").is_some()
        || memmem::find(bytes, b"- END ").is_some()
        || memmem::find(bytes, b"Private-MAC:").is_some()
}

/// The last word of a line, if it can be a line of a key: all of the line, or behind
/// what a logger puts before it.
fn of_key(text: &str) -> Option<Range<usize>> {
    let before = text
        .rfind([' ', '\t', '"', '\''])
        .map_or(0, |space| space + 1);
    let word = &text[before..];
    let is_one = !word.is_empty() && word.bytes().all(|byte| is_letter(byte) || byte == b'=');
    // Alone in its line, or in its quotes or column.
    let head = text[..before].trim_end();
    let is_alone = head.is_empty() || head.ends_with(['"', '\'', '|']);
    let is_long = word.len() >= 16 && word.bytes().any(|byte| byte.is_ascii_digit());
    (is_one && (is_alone || is_long && super::value::has_both_cases(word)))
        .then_some(before..text.len())
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/')
}

fn first(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// `machine NAME` or `machine NAME login NAME` at the end of a line. Gives whether there
/// is anything before it, which may be a sentence about a machine.
fn is_machine(text: &str) -> Option<bool> {
    let text = text.trim_start();
    if text == "default" {
        return Some(false);
    }
    let at = MACHINE.rfind(text.as_bytes())?;
    let before = &text[..at];
    let mut words = text[at..].split_whitespace().skip(2);
    let is_it = (before.is_empty() || before.ends_with(' '))
        && words.next().is_none_or(|word| word == "login")
        && words.count() <= 1;
    is_it.then_some(!before.is_empty())
}

/// The word behind `password`, where a line has no third one.
fn of_machine(text: &str) -> Option<Range<usize>> {
    let rest = text.trim_start().strip_prefix("password")?;
    let word = rest.trim_start();
    let is_one = !word.is_empty() && word.len() < rest.len() && !word.contains(char::is_whitespace);
    is_one.then(|| text.len() - word.len()..text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = "MIIEpAIBAAKCAQEA7bq0Fz3Qm1xVtYw8RkLs2JdNhGfPcUo5TeXiWaZy9vBnMuKj";
    const LAST: &str = "qL8s0WbX3nVtYw8RkLs2JdNhGfPcUo5TeXiWaZy9vBnM";

    fn emitted(lines: &[&str]) -> Vec<String> {
        let mut before = Lines::default();
        let one = |line: &&str| match before.hidden(line) {
            Some(hidden) => without(line, line, hidden).0,
            None => redact(line).into_owned(),
        };
        lines.iter().map(one).collect()
    }

    #[test]
    fn the_last_short_line_of_a_key_goes() {
        for (begin, end) in [
            (
                "-----BEGIN RSA PRIVATE KEY-----",
                "-----END RSA PRIVATE KEY-----",
            ),
            (
                "-----BEGIN OPENSSH PRIVATE KEY-----",
                "-----END OPENSSH PRIVATE KEY-----",
            ),
            (
                "-----BEGIN PGP PRIVATE KEY BLOCK-----",
                "-----END PGP PRIVATE KEY BLOCK-----",
            ),
            (
                "---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----",
                "---- END SSH2 ENCRYPTED PRIVATE KEY ----",
            ),
            ("Private-Lines: 14", "Private-MAC: 00"),
        ] {
            let clean = emitted(&[
                begin,
                LINE,
                "INFO step 12 loss=0.5",
                LAST,
                "Qw==",
                "=aBcD",
                end,
                "done",
            ]);
            assert_eq!(clean[1], MASK, "{begin}");
            assert_eq!(clean[2], "INFO step 12 loss=0.5");
            assert_eq!(clean[3..6], [MASK, MASK, MASK], "{begin}");
            assert_eq!(clean[7], "done");
        }
    }

    #[test]
    fn a_key_without_its_beginning_goes() {
        let clean = emitted(&[LINE, LAST, "done", "trainer", LAST]);
        assert_eq!(clean, [MASK, MASK, "done", "trainer", LAST]);
    }

    #[test]
    fn a_logger_s_words_before_a_key_s_line_stay() {
        let line = format!("12:00:01 INFO {LAST}");
        let clean = emitted(&["12:00:01 INFO -----BEGIN PRIVATE KEY-----", &line]);
        assert_eq!(clean[1], "12:00:01 INFO [redacted]");
    }

    #[test]
    fn a_key_goes_from_quotes_and_columns_too() {
        for (before, after) in [("msg=\"", "\""), ("b'", "\\n'"), ("| ", " |")] {
            let wrapped = |text: &str| format!("{before}{text}{after}");
            let begin = wrapped("-----BEGIN RSA PRIVATE KEY-----");
            let end = wrapped("-----END RSA PRIVATE KEY-----");
            let clean = emitted(&[&begin, &wrapped(LINE), &wrapped("Qw=="), &end, "done"]);
            for line in &clean[1..3] {
                assert_eq!(line, &wrapped(MASK));
            }
            assert_eq!(clean[4], "done");
        }
    }

    #[test]
    fn the_value_of_a_block_on_the_next_line_goes() {
        assert_eq!(
            emitted(&[
                "db:",
                "  password: |",
                "    two words",
                "    more",
                "  next: 1"
            ])[2..],
            ["    [redacted]", "    [redacted]", "  next: 1"]
        );
        assert_eq!(
            emitted(&["password: |", "hunter", "next"]),
            ["password: |", MASK, "next"]
        );
        assert_eq!(
            emitted(&["password: |-", "    qwlrmxzkvbnt", "next: 1"])[1..],
            ["    [redacted]", "next: 1"]
        );
        let healthy = [
            "script: |",
            "  python train.py",
            "a | b |",
            "hunter",
            "x: >",
            "y",
        ];
        assert_eq!(emitted(&healthy), healthy);
    }

    #[test]
    fn the_password_of_a_netrc_goes_over_lines() {
        let clean = emitted(&[
            "machine api.lab.example",
            "  login trainer",
            "  password qwlrmxzkvbnt",
            "machine b login trainer",
            "password zxcvbnmlkjh",
            "default",
            "login x",
            "password asdfghjkl",
        ]);
        assert_eq!(clean[2], "  password [redacted]");
        assert_eq!(clean[4], "password [redacted]");
        assert_eq!(clean[7], "password [redacted]");
        let healthy = [
            "machine api.lab.example",
            "password is not set",
            "password qwlrmxzkvbnt",
            "machine gpu-7 is down",
            "password authentication",
            "machine",
        ];
        assert_eq!(emitted(&healthy), healthy);
    }

    #[test]
    fn a_certificate_and_ordinary_lines_stay() {
        let healthy = [
            "-----BEGIN CERTIFICATE REQUEST-----",
            "-----END CERTIFICATE REQUEST-----",
            "------",
            "trainer",
            "0123456789abcdef0123456789abcdef01234567",
            "NCCL INFO Channel 00/02 : 0 1",
        ];
        assert_eq!(emitted(&healthy), healthy);
    }

    #[test]
    fn the_record_around_a_hidden_line_loses_it_too() {
        let raw = format!("{{\"log\":\"{LAST}\\n\",\"stream\":\"stderr\"}}");
        let (message, raw) = without(LAST, &raw, 0..LAST.len());
        assert_eq!(message, MASK);
        assert_eq!(raw, "{\"log\":\"[redacted]\\n\",\"stream\":\"stderr\"}");
        assert_eq!(without("a\"b", "a\\\"b", 0..3).1, MASK);
    }
}
