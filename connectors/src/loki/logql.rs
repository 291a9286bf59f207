//! `LogQL` as text: strings, patterns, selectors and filters.
//!
//! Strings are Go's, in double quotes. Patterns are RE2's: those of matchers and
//! of label filters must fit the whole value, those of line filters any part.
//! A matcher that fits the empty string also fits streams without the label.

use std::fmt::{self, Write as _};

/// A Go string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '"' | '\\' => {
                out.push('\\');
                out.push(letter);
            }
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            control if control.is_control() => {
                // Writing to a string does not fail.
                let _always = write!(out, "\\u{:04x}", u32::from(control));
            }
            other => out.push(other),
        }
    }
    out.push('"');
    out
}

/// A pattern that fits just this text.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        if r"\.+*?()|[]{}^$".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

/// A pattern that fits just one of these texts.
pub(super) fn one_of<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let all: Vec<String> = texts.into_iter().map(literal).collect();
    all.join("|")
}

/// A pattern for line filters: one of the texts, not as part of a longer name.
pub(super) fn as_words<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    format!("(^|[^a-zA-Z0-9-])({})($|[^a-zA-Z0-9-])", one_of(texts))
}

/// How a label's value is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchOp {
    Is,
    Fits,
    FitsNot,
}

impl MatchOp {
    fn text(self) -> &'static str {
        match self {
            Self::Is => "=",
            Self::Fits => "=~",
            Self::FitsNot => "!~",
        }
    }
}

/// One condition on a label.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Matcher {
    pub(super) name: String,
    pub(super) op: MatchOp,
    pub(super) value: String,
}

impl Matcher {
    pub(super) fn new(name: &str, op: MatchOp, value: impl Into<String>) -> Self {
        Self {
            name: name.to_owned(),
            op,
            value: value.into(),
        }
    }

    /// Streams that have the label at all.
    pub(super) fn there(name: &str) -> Self {
        Self::new(name, MatchOp::Fits, ".+")
    }

    /// Streams that do not have it.
    pub(super) fn missing(name: &str) -> Self {
        Self::new(name, MatchOp::Is, "")
    }
}

impl fmt::Display for Matcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}{}", self.name, self.op.text(), quoted(&self.value))
    }
}

/// Which streams, and which of their lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Query {
    /// All of these; at least one must not fit the empty string.
    pub(super) streams: Vec<Matcher>,
    /// Filters, each with its operator, in order.
    pub(super) filters: Vec<String>,
}

impl Query {
    pub(super) fn of(streams: Vec<Matcher>) -> Self {
        Self {
            streams,
            filters: Vec::new(),
        }
    }

    /// Keeps lines that hold this text.
    #[must_use]
    pub(super) fn holding(mut self, text: &str) -> Self {
        self.filters.push(format!("|= {}", quoted(text)));
        self
    }

    /// Keeps lines that this pattern fits some part of.
    #[must_use]
    pub(super) fn fitting(mut self, pattern: &str) -> Self {
        self.filters.push(format!("|~ {}", quoted(pattern)));
        self
    }

    /// Keeps lines of which any of the conditions holds. Without a parser before
    /// it, this looks at structured metadata.
    #[must_use]
    pub(super) fn any(mut self, conditions: &[Matcher]) -> Self {
        if !conditions.is_empty() {
            let all: Vec<String> = conditions.iter().map(Matcher::to_string).collect();
            self.filters.push(format!("| {}", all.join(" or ")));
        }
        self
    }

    /// The same with matchers that this Loki asks every question to have.
    #[must_use]
    pub(super) fn requiring<'n>(&self, names: impl Iterator<Item = &'n String>) -> Self {
        let mut all = self.clone();
        for name in names {
            if !all.names(name) {
                all.streams.push(Matcher::there(name));
            }
        }
        all
    }

    /// Whether a matcher of it names this label.
    pub(super) fn names(&self, label: &str) -> bool {
        self.streams.iter().any(|one| one.name == label)
    }

    /// Only the streams: `{a="b"}`.
    pub(super) fn selector(&self) -> String {
        let all: Vec<String> = self.streams.iter().map(Matcher::to_string).collect();
        format!("{{{}}}", all.join(","))
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.selector())?;
        for filter in &self.filters {
            write!(f, " {filter}")?;
        }
        Ok(())
    }
}

/// A name as Loki can have it: others are written with `_`.
pub(super) fn label_name(name: &str) -> String {
    let fits = |at: usize, letter: char| {
        letter == '_' || letter.is_ascii_alphabetic() || at > 0 && letter.is_ascii_digit()
    };
    name.chars()
        .enumerate()
        .map(|(at, letter)| if fits(at, letter) { letter } else { '_' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_users_stays_text() {
        assert_eq!(quoted(r#"a"b\c`"#), r#""a\"b\\c`""#);
        assert_eq!(quoted("a\nb\u{1}é"), "\"a\\nb\\u0001é\"");
        assert_eq!(literal("run.7-(x)"), r"run\.7-\(x\)");
        assert_eq!(one_of(["a.b", "c"]), r"a\.b|c");
        let names = regex::Regex::new(&as_words(["run-1"])).unwrap();
        assert!(names.is_match("pod/run-1: x") && names.is_match("run-1"));
        assert!(!names.is_match("run-10") && !names.is_match("my-run-1"));
        assert_eq!(label_name("k8s.pod-name"), "k8s_pod_name");
        assert_eq!(label_name("0a"), "_a");
    }

    #[test]
    fn queries_read_as_they_should() {
        let query = Query::of(vec![
            Matcher::new("pod", MatchOp::Fits, one_of(["a.1", "b"])),
            Matcher::missing("k8s_pod_name"),
        ])
        .any(&[
            Matcher::new("x", MatchOp::Is, "1"),
            Matcher::new("y", MatchOp::FitsNot, "2"),
        ])
        .holding("\"")
        .fitting("(?i)a|b");
        assert_eq!(
            query.to_string(),
            r#"{pod=~"a\\.1|b",k8s_pod_name=""} | x="1" or y!~"2" |= "\"" |~ "(?i)a|b""#
        );
        let required = ["pod".to_owned(), "env".to_owned()];
        assert_eq!(
            query.requiring(required.iter()).selector(),
            r#"{pod=~"a\\.1|b",k8s_pod_name="",env=~".+"}"#
        );
    }
}
