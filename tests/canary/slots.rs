//! Records with their slots filled: secrets, numbers and times.

use std::fmt::Write as _;
use std::sync::LazyLock;

use chrono::{DateTime, Duration, Utc};
use regex::{Captures, Regex};

use super::letters::Letters;
use super::trap::Trap;
use super::{HARMLESS, Kind};

/// `<<json pod.annotation>>`, `<<below 4 yaml.message>>`, `<<iso+30>>`, `<<k>>`.
static SLOT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"<<([a-z0-9]+)(?:([.]?)\+(\d+)|(?: (\d+))? ([a-z0-9.]+))?>>").unwrap()
});
/// `<<an:24>>` in a kind.
static SECRET: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"<<(\w+):(\d+)>>").unwrap());
/// Seconds between two kinds.
const APART: i64 = 40;

pub(super) struct Writer<'k> {
    kinds: &'k [Kind],
    step: usize,
    trap: Trap,
    places: Vec<String>,
}

impl<'k> Writer<'k> {
    pub(super) fn new(kinds: &'k [Kind], step: usize) -> Self {
        Self {
            kinds,
            step,
            trap: Trap::default(),
            places: Vec::new(),
        }
    }

    pub(super) fn finish(self) -> (Trap, Vec<String>) {
        (self.trap, self.places)
    }

    /// A text in which only numbers and times are filled in.
    pub(super) fn plain(&self, text: &str, kind: usize) -> String {
        SLOT.replace_all(text, |slot: &Captures<'_>| {
            plain(slot, kind).unwrap_or_else(|| slot[0].to_owned())
        })
        .into_owned()
    }

    /// A record with all its slots; `None` if no secret belongs in it.
    pub(super) fn filled(&mut self, text: &str, kind: usize) -> Option<String> {
        let mut out = String::with_capacity(text.len() * 2);
        let mut from = 0;
        let mut any = false;
        for slot in SLOT.captures_iter(text) {
            let whole = slot.get(0).unwrap();
            out.push_str(&text[from..whole.start()]);
            from = whole.end();
            if let Some(filled) = plain(&slot, kind) {
                out.push_str(&filled);
                continue;
            }
            let width: usize = slot
                .get(4)
                .map_or(0, |width| width.as_str().parse().unwrap());
            // A cell ends at the sign that some commands have.
            let fits = &slot[1] != "cells" || !self.kinds[kind].template.contains('|');
            let secret = if fits {
                self.secret(kind, &slot[5])
            } else {
                None
            };
            any |= secret.is_some();
            let secret = secret.unwrap_or_else(|| "x".to_owned());
            out.push_str(&written(&slot[1], width, &secret));
        }
        out.push_str(&text[from..]);
        any.then_some(out)
    }

    /// The text of a kind for a place; `None` if that pair is left out this time.
    pub(super) fn secret(&mut self, kind: usize, place: &str) -> Option<String> {
        let known = self.places.iter().position(|known| known == place);
        let number = known.unwrap_or_else(|| {
            self.places.push(place.to_owned());
            self.places.len() - 1
        });
        if kind != HARMLESS && !(kind + number).is_multiple_of(self.step) {
            return None;
        }
        let kinds = self.kinds;
        let mut letters = Letters::of(&kinds[kind].name, place);
        let text = SECRET.replace_all(&kinds[kind].template, |part: &Captures<'_>| {
            let made = letters.made(&part[1], part[2].parse().unwrap());
            self.trap.set(&made, &part[1], (kind, number));
            made
        });
        Some(text.into_owned())
    }
}

fn plain(slot: &Captures<'_>, kind: usize) -> Option<String> {
    let begin = DateTime::parse_from_rfc3339("2026-11-20T10:00:00Z").unwrap();
    let number = i64::try_from(kind).unwrap();
    let seconds = || slot[3].parse::<i64>().unwrap();
    let time =
        || -> DateTime<Utc> { (begin + Duration::seconds(number * APART + seconds())).into() };
    let is_bare = slot.get(2).is_some_and(|dot| !dot.as_str().is_empty());
    Some(match &slot[1] {
        "k" => format!("{kind:03}"),
        "n" => kind.to_string(),
        "iso" if is_bare => time().format("%Y-%m-%dT%H:%M:%S").to_string(),
        "iso" => time().format("%Y-%m-%dT%H:%M:%SZ").to_string(),
        "plain" => time().format("%Y-%m-%d %H:%M:%S").to_string(),
        "rfc" => time().format("%a, %d %b %Y %H:%M:%S +0000").to_string(),
        "maas" => time().format("%a, %d %b. %Y %H:%M:%S").to_string(),
        "s" => time().timestamp().to_string(),
        _ => return None,
    })
}

/// A text as its place writes it.
fn written(form: &str, width: usize, text: &str) -> String {
    let line = || {
        text.split('\n')
            .map(str::trim)
            .collect::<Vec<_>>()
            .join(" ")
    };
    let spaces = " ".repeat(width);
    match form {
        "raw" => text.to_owned(),
        "line" => line(),
        "cells" => line(),
        "json" => json(text),
        "json2" => json(&json(text)),
        "jsonl" => json(&line()),
        "jsonlines" => text.lines().map(json).collect::<Vec<_>>().join("\n"),
        "words" => {
            let words = text
                .split_whitespace()
                .map(|word| format!("\"{}\"", json(word)));
            words.collect::<Vec<_>>().join(",")
        }
        "below" => text
            .lines()
            .map(|line| format!("{spaces}{line}"))
            .collect::<Vec<_>>()
            .join("\n"),
        "list" => {
            let words = text
                .split_whitespace()
                .map(|word| format!("{spaces}{word}"));
            words.collect::<Vec<_>>().join("\n")
        }
        "url" => encoded(text),
        // A line that was cut in two, as a runtime does with long ones.
        "half1" => line()
            .chars()
            .take(line().chars().count() * 2 / 3)
            .collect(),
        "half2" => line()
            .chars()
            .skip(line().chars().count() * 2 / 3)
            .collect(),
        other => panic!("no form {other}"),
    }
}

/// A text inside a string of JSON.
fn json(text: &str) -> String {
    let quoted = serde_json::to_string(text).unwrap();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As a client encodes a query.
fn encoded(text: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-.~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}
