//! Filters in Cloud Logging's query language.
//!
//! Texts stand in double quotes, AND, OR and NOT in capitals; AND binds tighter
//! than OR, so that every OR is in brackets here. `=` compares without case, `=~`
//! is RE2 and matches anywhere unless anchored.

use crate::time::{Nanos, rfc3339};

/// The longest filter that is taken, in characters.
pub(super) const LONGEST: usize = 20_000;

/// A text in double quotes.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            // Nothing that is looked for holds one, and none may stand in a filter.
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// `field="a"`, or `field=("a" OR "b")`; `None` where there is no value.
pub(super) fn is_any<'a>(field: &str, values: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let values: Vec<String> = values.into_iter().map(quoted).collect();
    match values.as_slice() {
        [] => None,
        [one] => Some(format!("{field}={one}")),
        _ => Some(format!("{field}=({})", values.join(" OR "))),
    }
}

/// Whether a path ends with one of `ends`, which are names and slashes only:
/// see [`is_name`].
pub(super) fn ends_with_any<'a>(
    field: &str,
    ends: impl IntoIterator<Item = &'a str>,
) -> Option<String> {
    let ends: Vec<&str> = ends.into_iter().collect();
    if ends.is_empty() {
        return None;
    }
    let pattern = format!("(^|/)({})$", ends.join("|"));
    Some(format!("{field}=~{}", quoted(&pattern)))
}

/// Entries of one log; the slashes of its name stay as they are.
pub(super) fn log(id: &str) -> String {
    format!("log_id({})", quoted(id))
}

/// `[from, to)`.
pub(super) fn between(from: Nanos, to: Nanos) -> String {
    format!(
        "timestamp>={} AND timestamp<{}",
        quoted(&rfc3339(from)),
        quoted(&rfc3339(to))
    )
}

/// All of them.
pub(super) fn all(parts: impl IntoIterator<Item = String>) -> String {
    parts.into_iter().collect::<Vec<_>>().join(" AND ")
}

/// One of them, in brackets.
pub(super) fn either(parts: impl IntoIterator<Item = String>) -> String {
    let parts: Vec<String> = parts.into_iter().collect();
    match parts.as_slice() {
        [one] => one.clone(),
        _ => format!("({})", parts.join(" OR ")),
    }
}

/// Whether Google could have given something this name: small letters, digits
/// and hyphens. Such a name means itself in a pattern.
pub(super) fn is_name(text: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (1..=63).contains(&text.len())
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.bytes().all(good)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_quoted_whatever_they_hold() {
        for (text, want) in [
            ("gpu-1", r#""gpu-1""#),
            (r#"a" OR "b"#, r#""a\" OR \"b""#),
            (r"c:\d", r#""c:\\d""#),
            ("a\nb", r#""a b""#),
            ("größe", r#""größe""#),
        ] {
            assert_eq!(quoted(text), want);
        }
    }

    #[test]
    fn parts_are_put_together_so_that_and_and_or_do_not_mix() {
        assert_eq!(is_any("a", []), None);
        assert_eq!(is_any("a", ["1"]).unwrap(), r#"a="1""#);
        assert_eq!(is_any("a", ["1", "2"]).unwrap(), r#"a=("1" OR "2")"#);
        assert_eq!(
            ends_with_any("r", ["instances/a", "zones/z/instances/b"]).unwrap(),
            r#"r=~"(^|/)(instances/a|zones/z/instances/b)$""#
        );
        let one = either([log("x/y")]);
        assert_eq!(one, r#"log_id("x/y")"#);
        assert_eq!(
            all([between(0, 1), either(["a=\"1\"".to_owned(), one])]),
            concat!(
                r#"timestamp>="1970-01-01T00:00:00Z" AND timestamp<"1970-01-01T00:00:00.000000001Z""#,
                r#" AND (a="1" OR log_id("x/y"))"#
            )
        );
    }

    #[test]
    fn only_what_google_could_have_named_is_looked_for() {
        for name in ["a", "gke-lab-gpu-1a2b3c4d-x9z8", "us-central1-a"] {
            assert!(is_name(name), "{name}");
        }
        let long = "a".repeat(64);
        for name in [
            "",
            "-a",
            "1a",
            "A",
            "a_b",
            "a.b",
            "a|b",
            "a)$",
            long.as_str(),
        ] {
            assert!(!is_name(name), "{name}");
        }
    }
}
