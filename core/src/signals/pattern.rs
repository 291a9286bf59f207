//! A regular expression, bounded in size, compiled when it is first needed.

use std::sync::OnceLock;

use regex::{Captures, Regex, RegexBuilder};

use super::error::SignalError;
use super::values::AnyOf;

/// Bytes that one compiled pattern may take; far above any sensible one.
const SIZE: usize = 1 << 20;

/// Where in a file patterns stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatternSource<'a> {
    pub(super) file: &'a str,
    pub(super) rule: &'a str,
    /// The file is compiled in and tested, so that its patterns need no check
    /// at every start.
    pub(super) trusted: bool,
}

#[derive(Debug)]
pub(super) struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    fn new(text: &str, trusted: bool) -> Result<Self, Box<regex::Error>> {
        let compiled = OnceLock::new();
        if !trusted {
            let regex = compile(text)?;
            compiled.get_or_init(|| Some(regex));
        }
        let text = text.to_owned();
        Ok(Self { text, compiled })
    }

    fn regex(&self) -> Option<&Regex> {
        let compiled = self.compiled.get_or_init(|| compile(&self.text).ok());
        compiled.as_ref()
    }

    pub(super) fn is_in(&self, text: Option<&str>) -> bool {
        text.is_some_and(|text| self.regex().is_some_and(|regex| regex.is_match(text)))
    }

    pub(super) fn captures<'t>(&self, text: &'t str) -> Option<Captures<'t>> {
        self.regex()?.captures(text)
    }

    /// The named groups, in order.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.text.split("(?").skip(1).filter_map(|rest| {
            let name = rest.strip_prefix("P<").or_else(|| rest.strip_prefix('<'))?;
            Some(name.split_once('>')?.0)
        })
    }
}

/// The patterns of a field.
pub(super) fn patterns(
    place: PatternSource<'_>,
    field: &str,
    texts: &AnyOf,
) -> Result<Vec<Pattern>, SignalError> {
    let pattern = |text: &String| {
        Pattern::new(text, place.trusted).map_err(|error| SignalError::Field {
            file: place.file.to_owned(),
            rule: place.rule.to_owned(),
            field: field.to_owned(),
            problem: error.to_string(),
        })
    };
    texts.0.iter().map(pattern).collect()
}

fn compile(text: &str) -> Result<Regex, Box<regex::Error>> {
    RegexBuilder::new(text)
        .size_limit(SIZE)
        .build()
        .map_err(Box::new)
}
